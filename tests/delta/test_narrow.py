"""Where a change meets an aggregate or a window, the others of its groups are left out at the scans."""

from __future__ import annotations

import pytest

from rennet.delta.change import Change
from rennet.delta.narrow import narrowed
from rennet.delta.rules import Derivation
from rennet.plan.expressions import Attribute, alias
from rennet.plan.ir import INNER, SEMI, Aggregate, Join, Node, Once, Scan, State, Union, join, project
from tests.laws.queries import catalyst, column, count, extreme, total


def source(name: str) -> Scan:
    return Scan(name, (column("id", "int"), column("at", "int"), column("k", "int")))


def semi_joins(plan: Node) -> list[Join]:
    return [node for node in plan.walk() if isinstance(node, Join) and node.how == SEMI]


def grouped(rows: Node) -> tuple[Aggregate, tuple[Attribute, ...]]:
    key, at, k = rows.output
    calls = (extreme("Max", at), total(k), count())
    made = Aggregate((key,), (key, *(alias(c, f"a{i}") for i, c in enumerate(calls))), (rows,))
    return made, made.output


@pytest.mark.parametrize(("column_met", "scans"), [(0, 1), (1, 2)])
def test_by_the_key_or_by_a_witness(column_met: int, scans: int) -> None:
    """By a column of the groups the table is read once; by an extreme, once more to find the groups."""
    rows, columns = grouped(source("r"))
    few = source("s")
    made, met = narrowed(rows, few, catalyst("EqualTo", columns[column_met], few.output[0]))
    assert met is few and isinstance(made, Aggregate)
    below = [node.left for node in semi_joins(made)]
    assert len(below) == scans and all(isinstance(node, Scan) for node in below)
    assert made.output == rows.output


@pytest.mark.parametrize("column_met", [2, 3])
def test_what_no_row_has_shows_no_group(column_met: int) -> None:
    rows, columns = grouped(source("r"))
    few = source("s")
    assert narrowed(rows, few, catalyst("EqualTo", columns[column_met], few.output[0])) == (rows, few)


def test_plain_rows_are_left_to_the_join() -> None:
    rows, few = source("r"), source("s")
    assert narrowed(rows, few, catalyst("EqualTo", rows.output[0], few.output[0])) == (rows, few)
    assert narrowed(grouped(rows)[0], few, None)[1] is few


def test_what_is_more_than_read_is_computed_once() -> None:
    rows, columns = grouped(source("r"))
    few, _ = grouped(source("s"))
    _, met = narrowed(rows, few, catalyst("EqualTo", columns[0], few.output[0]))
    assert isinstance(met, Once) and met.child is few


def test_through_projections_and_unions() -> None:
    one, two = source("r"), source("q")
    parts = tuple(project(each, (each.output[0], each.output[1], each.output[2])) for each in (one, two))
    both = Union((column("id", "int"), column("at", "int"), column("k", "int")), parts)
    rows, columns = grouped(both)
    few = source("s")
    made, _ = narrowed(rows, few, catalyst("EqualTo", columns[0], few.output[2]))
    assert [type(node.left) for node in semi_joins(made)] == [Scan, Scan]


def test_what_only_grows_is_read_once() -> None:
    rows, _ = grouped(source("r"))
    for grows, scans in ((True, 1), (False, 2)):
        change = Derivation({"r": grows}).change(rows)
        assert isinstance(change, Change) and change.delta is not None
        read = {id(n): n for n in change.delta.walk() if isinstance(n, Scan) and n.state is not State.DELTA}
        assert len(read) == scans


def test_a_change_meets_few_groups() -> None:
    rows, columns = grouped(source("r"))
    few = source("s")
    plan = join(rows, few, INNER, catalyst("EqualTo", columns[0], few.output[0]))
    change = Derivation({"s": False}).change(plan)
    assert isinstance(change, Change) and change.delta is not None
    (met,) = semi_joins(change.delta)
    assert isinstance(met.left, Scan) and met.left.source == "r"

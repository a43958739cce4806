"""Limits go to the scans, in terms of the columns there; and only where no row can be missed."""

from __future__ import annotations

import pytest

from rennet.delta.bounds import bounded, key_bounds
from rennet.delta.rules import Derivation
from rennet.plan.expressions import Alias, Attribute, Bound, Expr, alias, conjuncts, literal
from rennet.plan.ir import (
    FULL,
    INNER,
    LEFT,
    RIGHT,
    Aggregate,
    Filter,
    Node,
    Once,
    Project,
    Scan,
    Union,
    filter_,
    join,
    project,
)
from tests.laws.queries import catalyst, column, count


def source(name: str) -> Scan:
    return Scan(name, (column("id", "int"), column("at", "int")))


def numbered(rows: Scan) -> Project:
    """The rows with a number that rises with `at`."""
    number = catalyst("Multiply", rows.output[1], literal(10, "int"), type="int")
    return project(rows, (*rows.output, alias(number, "number")))


def asked(rows: Node, value: Expr) -> Node:
    summary = project(source("changes"), (alias(literal(1, "int"), "low"), alias(literal(False), "open")))
    return bounded(rows, (Bound.of(">=", value, summary, 0, opened_by=1),))


def limited(plan: Node) -> dict[str, list[str]]:
    """Per source with limits at its scan, the columns that have them."""
    found: dict[str, list[str]] = {}
    for node in plan.walk():
        if isinstance(node, Filter) and isinstance(node.child, Scan):
            bounds = [part for part in conjuncts(node.condition) if isinstance(part, Bound)]
            names = [e.name for b in bounds for e in b.children[0].walk() if isinstance(e, Attribute)]
            found.setdefault(node.child.source, []).extend(names)
    return found


def test_through_projections_and_filters() -> None:
    rows = numbered(source("r"))
    plan = filter_(rows, catalyst("IsNotNull", rows.output[0]))
    assert limited(asked(plan, plan.output[2])) == {"r": ["at"]}


def test_a_plain_column_is_left_to_spark() -> None:
    rows = source("r")
    assert asked(rows, rows.output[1]) is rows


def test_into_every_part_of_a_union() -> None:
    parts = (numbered(source("r")), numbered(source("s")))
    both = Union(tuple(column(name, "int") for name in ("id", "at", "number")), parts)
    assert limited(asked(both, both.output[2])) == {"r": ["at"], "s": ["at"]}


@pytest.mark.parametrize(("how", "sides"), [(INNER, ["r"]), (LEFT, ["r"]), (RIGHT, []), (FULL, [])])
def test_into_the_side_that_has_the_column(how: str, sides: list[str]) -> None:
    left, right = numbered(source("r")), source("s")
    plan = join(left, right, how, catalyst("EqualTo", left.output[0], right.output[0]))
    assert list(limited(asked(plan, left.output[2]))) == sides


def test_not_below_what_looks_at_several_rows() -> None:
    rows = numbered(source("r"))
    made = Aggregate((rows.output[0],), (rows.output[0], alias(count(), "n")), (rows,))
    double = catalyst("Add", made.output[1], literal(1, "int"), type="int")
    assert asked(made, double) is made
    shared = Once((rows,))
    assert asked(shared, shared.output[2]) is shared


def test_groups_that_change_are_looked_for_between_the_keys() -> None:
    rows = numbered(source("r"))
    plan = Aggregate((rows.output[2],), (rows.output[2], alias(count(), "n")), (rows,))
    change = Derivation({"r": False}).change(plan)
    assert limited(change.delta) == {"r": ["at"] * 4}  # type: ignore[union-attr, arg-type]
    summaries = {id(e.summary) for e in bounds_of(change.delta)}  # type: ignore[union-attr, arg-type]
    assert len(summaries) == 1, "the keys are looked at once for before and after"


def bounds_of(plan: Node) -> list[Bound]:
    filters = [node for node in plan.walk() if isinstance(node, Filter)]
    return [part for node in filters for part in conjuncts(node.condition) if isinstance(part, Bound)]


def test_keys_without_an_order_have_no_limits() -> None:
    wanted = Scan("k", (column("name", "string"), column("id", "int")))
    assert key_bounds(wanted.output[:1], project(wanted, wanted.output[:1])) == ()
    limits = key_bounds(wanted.output, wanted)
    assert [limit.children[0] for limit in limits] == [wanted.output[1]] * 2
    named = [e for limit in limits for e in limit.summary.exprs]  # type: ignore[union-attr]
    assert all(isinstance(e, Alias) for e in named)

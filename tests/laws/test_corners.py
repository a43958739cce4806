"""The corners where incremental views usually break, each by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from rennet.delta.generate import RefreshPlan, candidates
from rennet.plan.expressions import Expr, alias, literal
from rennet.plan.ir import (
    ANTI,
    EXISTENCE,
    FULL,
    INNER,
    LEFT,
    RIGHT,
    SEMI,
    Aggregate,
    Filter,
    Node,
    Project,
    State,
    Union,
)
from rennet.testing.bags import World
from rennet.testing.values import bag
from tests.laws.cases import Case
from tests.laws.queries import average, catalyst, count, extreme, joined, moments, scan, total, values
from tests.laws.refreshing import built, refreshed, shown
from tests.laws.test_rules import holds

Rows = Sequence[tuple[Any, ...]]


def on(op: str, left: Node, right: Node) -> Expr:
    return catalyst(op, left.output[0], right.output[0])


def self_join(how: str, op: str) -> Node:
    left, right = scan("r"), scan("r")
    return joined(left, right, how, on(op, left, right))


def by_key(*calls: Expr, having: Callable[[Aggregate], Expr] | None = None) -> Node:
    """SELECT k, … FROM r GROUP BY k"""
    source = scan("r")
    key, value = source.output
    made = [alias(_over(call, value), f"a{i}") for i, call in enumerate(calls)]
    grouped = Aggregate((key,), (key, *made), (source,))
    return grouped if having is None else Filter(having(grouped), (grouped,))


def overall(*calls: Expr) -> Node:
    source = scan("r")
    made = [alias(_over(call, source.output[1]), f"a{i}") for i, call in enumerate(calls)]
    return Aggregate((), tuple(made), (source,))


V = Expr("the value", type="int")
"""Stands for the second column of `r`."""


def _over(call: Expr, value: Expr) -> Expr:
    return call.transform(lambda part: value if part is V else None)


def at_least(least: int) -> Callable[[Aggregate], Expr]:
    return lambda grouped: catalyst("GreaterThan", grouped.output[-1], literal(least))


def with_constants() -> Node:
    left, right = scan("r"), values([(0,), (None,), (0,)], ("c", "int"))
    return joined(left, right, FULL, on("EqualTo", left, right))


def sum_of_sums() -> Node:
    below = by_key(total(V))
    return Aggregate((), (alias(total(below.output[1]), "s"),), (below,))


def union_with_itself() -> Node:
    source = scan("r")
    return Union(source.output, (source, source, scan("r")))


def hidden_key() -> Node:
    below = by_key(count())
    return Project((alias(below.output[1], "n"),), (below,))


POSITIVE = catalyst("GreaterThan", V, literal(0, "int"))
SUMS = (count(), count(V), total(V), average(V), moments("VariancePop", V))
QUERIES: dict[str, Node] = {
    **{
        f"{how} self join on {op}": self_join(how, op)
        for how in (INNER, LEFT, RIGHT, FULL, SEMI, ANTI, EXISTENCE)
        for op in ("EqualTo", "EqualNullSafe", "LessThan")
    },
    "cross join": joined(scan("r"), scan("r"), INNER, None),
    "join with constants": with_constants(),
    "sums by key": by_key(*SUMS),
    "sums": overall(*SUMS),
    "extremes by key": by_key(extreme("Min", V), extreme("Max", V)),
    "merged extremes by key": by_key(extreme("Min", V), extreme("Max", V, condition=POSITIVE), total(V)),
    "merged extremes": overall(extreme("Min", V), extreme("Max", V)),
    "extremes": overall(extreme("Min", V), count(V, distinct=True)),
    "distinct": by_key(),
    "sums of distinct values": by_key(count(V, distinct=True), total(V, distinct=True)),
    "having a count": by_key(count(), having=at_least(1)),
    "having a sum": by_key(total(V), having=at_least(0)),
    "having an extreme": by_key(extreme("Max", V), having=at_least(0)),
    "filtered aggregate": by_key(
        total(V, condition=POSITIVE),
        average(V, condition=POSITIVE),
        moments("VariancePop", V, condition=POSITIVE),
        count(condition=catalyst("IsNull", V)),
    ),
    "by a constant": Aggregate((literal(1, "int"),), (alias(count(), "n"),), (scan("r"),)),
    "sum of sums": sum_of_sums(),
    "union with itself": union_with_itself(),
    "key that is not shown": hidden_key(),
    "rows": scan("r"),
}

NOTHING: Rows = []
CHANGES: dict[str, tuple[Rows, Rows]] = {
    "nothing, and then nothing": (NOTHING, NOTHING),
    "the first row": (NOTHING, [(1, 1)]),
    "the last row goes": ([(1, 1)], NOTHING),
    "everything goes": ([(0, 0), (1, 1), (None, 2), (1, None)], NOTHING),
    "a key that is NULL": ([(None, 1)], [(None, 1), (None, 2)]),
    "a NULL key goes": ([(None, 1), (1, 1)], [(1, 1)]),
    "a value that is NULL": ([(1, 1)], [(1, 1), (1, None)]),
    "the last value that is not NULL goes": ([(1, 1), (1, None)], [(1, None)]),
    "one of three copies goes": ([(1, 1), (1, 1), (1, 1)], [(1, 1), (1, 1)]),
    "two more copies": ([(1, 1)], [(1, 1), (1, 1), (1, 1)]),
    "a row changes its key": ([(0, 1), (1, 1)], [(1, 1), (1, 1)]),
    "a key becomes NULL": ([(1, 1)], [(None, 1)]),
    "a key is swapped": ([(0, 1), (1, 2)], [(1, 1), (0, 2)]),
    "the same sum of other values": ([(1, 0), (1, 2)], [(1, 1), (1, 1)]),
    "the extreme goes": ([(1, 0), (1, 1), (1, 2)], [(1, 1)]),
    "a group comes and one goes": ([(0, 0), (0, 1)], [(2, 0), (2, 1)]),
    "from above the limit to below": ([(1, 1), (1, 1)], [(1, 0)]),
    "from below the limit to above": ([(1, 0)], [(1, 1), (1, 1)]),
    "the sum becomes NULL": ([(1, 2)], [(1, None)]),
    "a negative sum": ([(1, 1)], [(1, -2), (1, 1)]),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("query", QUERIES)
def test_corner(query: str, change: str) -> None:
    before, after = (bag(rows) for rows in CHANGES[change])
    world = World({"r": before}, {"r": after}, strict=True)
    case = Case(QUERIES[query], world, {"r": False})
    holds(case)
    layout = case.layout
    stored, wanted = (built(layout, world, state) for state in (State.BEFORE, State.AFTER))
    assert shown(layout, stored) == case.before
    assert shown(layout, wanted) == case.after
    for plan in candidates(layout, case.derivation).values():
        if isinstance(plan, RefreshPlan):
            assert refreshed(plan, stored, world) == wanted, plan.technique

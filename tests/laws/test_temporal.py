"""What looks at the clock changes by itself: over any query, below any other, sources changed or not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rennet.delta.generate import RefreshPlan, candidates
from rennet.plan.expressions import AFTER, Attribute, Expr, alias, call, literal
from rennet.plan.ir import Aggregate, Node, State, filter_, project
from tests.laws.cases import LAW, Case, compositions
from tests.laws.queries import catalyst, count, total
from tests.laws.refreshing import built, refreshed, shown
from tests.laws.test_rules import holds

NOW = Expr("Moment", type="int", nullable=False, text=AFTER)


def number(plan: Node) -> Attribute:
    found = [column for column in plan.output if column.type == "int"]
    assume(found)
    return found[0]


def since(plan: Node) -> Node:
    return filter_(plan, catalyst("GreaterThanOrEqual", number(plan), NOW))


def not_yet_or_unknown(plan: Node) -> Node:
    unknown = catalyst("IsNull", plan.output[-1])
    return filter_(plan, catalyst("Or", catalyst("LessThan", number(plan), NOW), unknown))


def flagged(plan: Node) -> Node:
    flag = call(
        "if", catalyst("LessThan", number(plan), NOW), literal(1, "int"), literal(2, "int"), type="int"
    )
    return project(plan, (*plan.output[:1], alias(flag, "flag")))


def sum_of_the_recent(plan: Node) -> Node:
    column = number(plan)
    below = since(plan)
    return Aggregate(
        (column,), (alias(column, "k"), alias(count(), "n"), alias(total(column), "s")), (below,)
    )


def filtered_sums(plan: Node) -> Node:
    """HAVING COUNT(*) > now: groups come and go with the clock."""
    column = number(plan)
    grouped = Aggregate((column,), (alias(column, "k"), alias(count(), "n")), (plan,))
    return filter_(grouped, catalyst("GreaterThan", grouped.output[1], NOW))


SHAPES = [since, not_yet_or_unknown, flagged, sum_of_the_recent, filtered_sums]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_a_query_that_looks_at_the_clock(shape: object) -> None:
    @LAW
    @given(compositions(2), st.booleans())
    def law(case: Case, still: bool) -> None:
        assert callable(shape)
        timed = replace(case, plan=shape(case.plan))
        if still:
            before = case.world.before
            timed = replace(timed, world=replace(case.world, after=before, deltas={}, _done={}), changed={})
        holds(timed)
        keeps(timed)

    law()


def keeps(case: Case) -> None:
    """Every technique that can be used gives what the query says, and shows it."""
    layout = case.layout
    for plan in candidates(layout, case.derivation).values():
        if isinstance(plan, RefreshPlan):
            stored = refreshed(plan, built(layout, case.world, State.BEFORE), case.world)
            assert stored == built(layout, case.world, State.AFTER), plan.technique
            assert shown(layout, stored) == case.after

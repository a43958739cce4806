"""A definition with another constant goes on from the rows of the one before it, over any query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rennet.enable.constants import as_now, changed_constants, isolated, with_constants
from rennet.enable.moments import with_moments
from rennet.fingerprint.canonical import canonical
from rennet.plan.expressions import Attribute, Expr, alias, literal
from rennet.plan.ir import INNER, LEFT, Aggregate, Node, Scan, State, filter_, join, project
from rennet.testing.bags import at, evaluate
from tests.laws.cases import LAW, Case, compositions
from tests.laws.queries import catalyst, count, total
from tests.laws.test_rules import holds
from tests.laws.test_temporal import keeps, number

VALUES = st.sampled_from((-1, 0, 1, 2, 3))


def constant(value: int) -> Expr:
    return literal(value, "int")


def above(column: Attribute, value: int) -> Expr:
    return catalyst("GreaterThan", column, constant(value))


def filtered(plan: Node, value: int) -> Node:
    return filter_(plan, above(number(plan), value))


def filtered_with_others(plan: Node, value: int) -> Node:
    unknown = catalyst("IsNull", plan.output[-1])
    parts = (catalyst("Or", above(number(plan), value), unknown), catalyst("IsNotNull", plan.output[0]))
    return filter_(plan, catalyst("And", *parts))


def summed(plan: Node, value: int) -> Node:
    column = number(plan)
    shown = (alias(column, "k"), alias(count(), "n"), alias(total(column), "s"))
    return Aggregate((column,), shown, (filtered(plan, value),))


def counted_cases(plan: Node, value: int) -> Node:
    column = number(plan)
    flag = catalyst("If", above(column, value), literal(1, "int"), literal(0, "int"), type="int")
    return Aggregate((plan.output[0],), (alias(plan.output[0], "k"), alias(total(flag), "s")), (plan,))


def with_itself(how: str) -> Callable[[Node, int], Node]:
    def joined(plan: Node, value: int) -> Node:
        copies = tuple(alias(column, column.name) for column in plan.output)
        other = project(plan, copies)
        left, right = number(plan), number(other)
        return join(plan, other, how, catalyst("And", catalyst("EqualTo", left, right), above(right, value)))

    joined.__name__ = how
    return joined


SHAPES = [filtered, filtered_with_others, summed, counted_cases, with_itself(INNER), with_itself(LEFT)]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_a_changed_constant(shape: Callable[[Node, int], Node]) -> None:
    @LAW
    @given(compositions(2), VALUES, VALUES, st.booleans())
    def law(case: Case, before: int, after: int, still: bool) -> None:
        assume(before != after)
        old, new = shape(case.plan, before), shape(case.plan, after)
        made = with_moments(with_constants(new, old))
        assert isolated(made)
        case = replace(case, plan=made)
        if still:
            before_alone = replace(case.world, after=case.world.before, deltas={}, _done={})
            case = replace(case, world=before_alone, changed={})
        assert case.before == evaluate(at(old, State.BEFORE), case.world)
        assert case.after == evaluate(at(new, State.AFTER), case.world)
        holds(case)
        keeps(case)

    law()


@LAW
@given(compositions(2), st.sampled_from(SHAPES), VALUES, VALUES)
def test_the_old_constants_put_back_mean_the_old_query(
    case: Case, shape: Callable[[Node, int], Node], before: int, after: int
) -> None:
    old, new = shape(case.plan, before), shape(case.plan, after)
    judged = with_constants(new, old, rebuilt=False)
    names = tuple(str(i) for i in range(len(new.output)))
    assert canonical(judged, names) == canonical(old, names)
    assert canonical(as_now(judged), names) == canonical(new, names)
    found = changed_constants(judged)
    assert [(each.before, each.after) for each in found] == (
        [] if before == after else [(constant(before), constant(after))]
    )


def test_constants_of_other_types_are_left_alone() -> None:
    column = Attribute("AttributeReference", type="int", id=1, name="a")
    short, long = (
        catalyst("EqualTo", column, literal(value, kind)) for value, kind in ((1, "int"), (2, "bigint"))
    )
    missing = catalyst("EqualTo", column, literal(None, "int"))
    plans = [filter_(Scan("t", (column,)), each) for each in (short, long, missing)]
    for old in plans:
        for new in plans:
            assert with_constants(new, old) == new

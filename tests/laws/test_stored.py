"""The rows of a new definition, computed from the stored rows of the old one, are those of its query."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import assume, given
from hypothesis import strategies as st

from rennet.delta.stored import from_stored
from rennet.enable.layout import Layout, lay_out, peel
from rennet.enable.order import without_order
from rennet.fingerprint.canonical import makings
from rennet.plan.expressions import alias, call, literal
from rennet.plan.ir import Aggregate, Node, State, Window, filter_, project
from rennet.testing.bags import evaluate
from tests.laws.cases import LAW, Case, compositions, grouped, windows
from tests.laws.queries import catalyst, count
from tests.laws.refreshing import built

VIEWS = st.one_of(compositions(3), grouped(), grouped(sums=True), windows())


def laid_out(plan: Node) -> Layout:
    return lay_out(without_order(plan))


def carried_over(case: Case, new: Node) -> bool:
    """Whether the rows can be carried over; if so, they are right."""
    before, after = laid_out(case.plan), laid_out(new)
    rows = from_stored(after, before)
    if rows is None:
        return False
    world = replace(case.world, stored=built(before, case.world, State.BEFORE), _done={})
    assert evaluate(rows, world) == built(after, case.world, State.BEFORE)
    return True


def has_twins(case: Case) -> bool:
    """Are there columns that only their place tells apart, as those of a table joined with itself?"""
    found = makings(case.plan)
    return len(set(found)) < len(found)


@LAW
@given(VIEWS, st.data())
def test_columns_dropped_renamed_and_put_in_another_order(case: Case, data: st.DataObject) -> None:
    columns = data.draw(st.permutations(case.plan.output))
    some = columns[: data.draw(st.integers(1, len(columns)))]
    new = project(case.plan, tuple(alias(column, f"new_{i}") for i, column in enumerate(some)))
    assert carried_over(case, new) or has_twins(case)


@LAW
@given(VIEWS, st.data())
def test_a_column_of_stored_columns_is_added(case: Case, data: st.DataObject) -> None:
    column = data.draw(st.sampled_from(case.plan.output))
    missing = alias(call("isnull", column, type="boolean", nullable=False), "missing")
    assert carried_over(case, project(case.plan, (*case.plan.output, missing))) or has_twins(case)


@LAW
@given(windows(), st.data())
def test_a_column_is_added_below_a_window(case: Case, data: st.DataObject) -> None:
    """Spark computes what a query shows beside a window function below the window."""
    top = peel(case.plan)
    assume(isinstance(top, Window) and top is case.plan and not top.peers)
    assert isinstance(top, Window)
    column = data.draw(st.sampled_from(top.child.output))
    missing = alias(call("isnull", column, type="boolean", nullable=False), "missing")
    new = replace(top, children=(project(top.child, (*top.child.output, missing)),))
    assert carried_over(case, new) or has_twins(case)


@LAW
@given(grouped(), st.data())
def test_aggregates_are_dropped(case: Case, data: st.DataObject) -> None:
    top = peel(case.plan)
    assume(isinstance(top, Aggregate) and top is case.plan)
    assert isinstance(top, Aggregate)
    some = data.draw(st.permutations(top.exprs))[: data.draw(st.integers(1, len(top.exprs)))]
    new = replace(top, exprs=tuple(some))
    alike = laid_out(new).merges == laid_out(top).merges
    assert carried_over(case, new) or not alike


@LAW
@given(grouped(sums=True), st.sampled_from((0, 1, 2)), st.sampled_from((0, 1, 2)))
def test_another_having(case: Case, old: int, new: int) -> None:
    top = peel(case.plan)
    assume(isinstance(top, Aggregate))
    assert isinstance(top, Aggregate)
    counted = replace(top, exprs=(*top.exprs, alias(count(), "many")))
    plans = [
        filter_(counted, catalyst("GreaterThan", counted.output[-1], literal(value, "bigint")))
        for value in (old, new)
    ]
    assume(laid_out(plans[0]).merges)
    assert carried_over(replace(case, plan=plans[0]), plans[1])


@LAW
@given(VIEWS, st.booleans(), st.data())
def test_other_rows_are_not_carried_over(case: Case, less: bool, data: st.DataObject) -> None:
    """A filter more, or one less: what is below a group or was never stored cannot be told."""
    column = data.draw(st.sampled_from(case.plan.output))
    filtered = filter_(case.plan, call("isnotnull", column, type="boolean", nullable=False))
    if less:
        carried_over(replace(case, plan=filtered), case.plan)
    else:
        carried_over(case, filtered)

"""A refresh leaves the backing table as if it had been computed anew, whichever technique is taken."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rennet.delta.generate import CANDIDATES, RefreshPlan, candidates
from rennet.delta.rules import Derivation
from rennet.errors import Technique
from rennet.plan.ir import State
from rennet.plan.reading import used_columns
from rennet.testing.bags import World
from rennet.testing.values import Bag, bag
from tests.laws.cases import BRIEFLY, LAW, Case, compositions, grouped, growing, windows
from tests.laws.queries import SCHEMAS
from tests.laws.refreshing import all_refresh, built, refreshed, shown

TECHNIQUES = dict(CANDIDATES)

VIEWS: dict[Technique, st.SearchStrategy[Case]] = {
    Technique.APPEND_ONLY: growing(),
    Technique.GROUP_AGGREGATE: grouped(sums=True),
    Technique.GENERIC_AGGREGATE: grouped(keyed=True),
    Technique.WINDOW_FUNCTION: windows(keyed=True),
    Technique.PARTITION_OVERWRITE: st.one_of(grouped(keyed=True), windows(keyed=True), compositions(3)),
    Technique.ROW_BASED: compositions(3),
    Technique.COMPLETE_RECOMPUTE: compositions(3),
}
"""Where each technique can be used: one with no plan for any of its views fails its law."""

ANY_VIEW = st.one_of(grouped(), grouped(sums=True), windows(), compositions(3))


def keeps(case: Case, technique: Technique) -> None:
    layout = case.layout
    plan = TECHNIQUES[technique](layout, case.derivation)
    assume(isinstance(plan, RefreshPlan))
    assert isinstance(plan, RefreshPlan)
    stored = refreshed(plan, built(layout, case.world, State.BEFORE), case.world)
    assert stored == built(layout, case.world, State.AFTER)
    assert shown(layout, stored) == case.after


def test_every_technique_is_held_to_the_laws() -> None:
    assert VIEWS.keys() >= TECHNIQUES.keys(), "add views for the new technique"


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_a_technique(technique: Technique) -> None:
    LAW(given(VIEWS[technique])(lambda case: keeps(case, technique)))()


@LAW
@given(ANY_VIEW)
def test_all_techniques_agree(case: Case) -> None:
    all_refresh(case)


@LAW
@given(ANY_VIEW)
def test_columns_that_nobody_reads_need_not_be_read(case: Case) -> None:
    layout = case.layout
    used = used_columns(layout.plan)

    def blank(source: str, row: tuple[object, ...]) -> tuple[object, ...]:
        columns = [column.name for column in SCHEMAS[source]]
        kept = (v if name in used[source] else None for name, v in zip(columns, row, strict=False))
        return (*kept, row[-1])

    deltas = {name: bag(blank(name, row) for row in case.world.delta(name).elements()) for name in used}
    world = replace(case.world, deltas=deltas, _done={})
    stored, wanted = (built(layout, case.world, state) for state in (State.BEFORE, State.AFTER))
    for plan in candidates(layout, case.derivation).values():
        if isinstance(plan, RefreshPlan):
            assert refreshed(plan, stored, world) == wanted, plan.technique


@LAW
@given(ANY_VIEW)
def test_users_see_their_query(case: Case) -> None:
    layout = case.layout
    assert [c.name for c in layout.columns[: layout.user_columns]] == [c.name for c in case.plan.output]
    assert shown(layout, built(layout, case.world, State.BEFORE)) == case.before
    assert shown(layout, built(layout, case.world, State.AFTER)) == case.after


@LAW
@given(ANY_VIEW)
def test_keys_tell_rows_apart(case: Case) -> None:
    """At most one stored row a key, and no two columns of the table with one id."""
    layout = case.layout
    assert len({c.id for c in layout.columns}) == len(layout.columns)
    if not layout.unique:
        return
    ids = [c.id for c in layout.columns]
    stored = built(layout, case.world, State.AFTER)
    keys = [tuple(row[ids.index(k.id)] for k in layout.keys) for row in stored.elements()]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_feed_everything_then_nothing_then_take_everything_away(technique: Technique) -> None:
    @BRIEFLY
    @given(VIEWS[technique])
    def law(case: Case) -> None:
        full = case.world.after
        empty = {source: bag() for source in full}
        layout = case.layout
        stored = built(layout, replace(case.world, after=empty, _done={}), State.AFTER)
        for before, after in ((empty, full), (full, full), (full, empty)):
            world = replace(
                case.world,
                before=before,
                after=after,
                deltas={s: _units(World(before, after).delta(s)) for s in full},
                _done={},
            )
            grows = dict.fromkeys(SCHEMAS, after is full)
            plan = TECHNIQUES[technique](layout, Derivation(grows))
            if not isinstance(plan, RefreshPlan):
                plan = TECHNIQUES[Technique.COMPLETE_RECOMPUTE](layout, Derivation(grows))
            assert isinstance(plan, RefreshPlan)
            stored = refreshed(plan, stored, world)
            assert stored == built(layout, world, State.AFTER)

    law()


def _units(delta: Bag) -> Bag:
    """Row by row, as files have them."""
    made = bag()
    for *row, weight in delta:
        made[(*row, 1 if weight > 0 else -1)] += abs(weight)
    return made

"""What `rennet.execute.apply` does to a backing table, done to a bag."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rennet.delta.generate import Alike, Keyed, Partitions, Placed, RefreshPlan, candidates
from rennet.enable.layout import Layout
from rennet.plan.ir import State
from rennet.testing.bags import World, at, evaluate
from rennet.testing.values import Bag, bag
from tests.laws.cases import Case, written


def built(layout: Layout, world: World, state: State) -> Bag:
    """The backing table, computed in full."""
    return evaluate(at(layout.plan, state), world)


def all_refresh(case: Case, made: Callable[[RefreshPlan], RefreshPlan] = lambda plan: plan) -> None:
    """Whatever is `made` of each technique's plan, it brings the backing table up to date."""
    layout = case.layout
    stored, wanted = (built(layout, case.world, state) for state in (State.BEFORE, State.AFTER))
    for plan in candidates(layout, case.derivation).values():
        if isinstance(plan, RefreshPlan):
            assert refreshed(made(plan), stored, case.world) == wanted, plan.technique


def refreshed(plan: RefreshPlan, stored: Bag, world: World) -> Bag:
    """The backing table after one refresh."""
    here = replace(world, stored=stored, _done={})
    arrived = bag() if plan.inserted is None else evaluate(plan.inserted, here)
    if plan.repair is not None and evaluate(plan.repair.keys, here):
        arrived += evaluate(plan.repair.rows, here)
    if plan.everything:
        return arrived
    kept = stored
    if isinstance(plan.removed, Keyed):
        keys = evaluate(plan.removed.keys, here)
        kept = Counter({row: n for row, n in stored.items() if not _named(plan.removed, row, keys)})
    elif isinstance(plan.removed, Alike):
        kept = _without(stored, evaluate(plan.removed.delta, here))
    elif isinstance(plan.removed, Placed):
        places = {row[-1] for row in evaluate(plan.removed.rows, here)}
        kept = bag([row for place, row in enumerate(stored.elements()) if place not in places])
    elif isinstance(plan.removed, Partitions):
        assert plan.inserted is not None
        place = [column.name for column in plan.inserted.output].index(plan.removed.column)
        gone = plan.removed.values
        kept = Counter({row: n for row, n in stored.items() if written(row[place]) not in gone})
    return kept + arrived


def _named(removed: Keyed, row: tuple[Any, ...], keys: Bag) -> bool:
    if removed.within is None:
        return _key(removed, row) in keys
    value = row[removed.within]
    for *key, low, high, whole in keys:
        if value is None:
            between = removed.unknown
        else:
            between = (low is None or value >= low) and (high is None or value <= high)
        if tuple(key) == _key(removed, row) and (whole or between):
            return True
    return False


def _key(removed: Keyed, row: tuple[object, ...]) -> tuple[object, ...]:
    return tuple(row[i] for i in removed.columns)


def _without(stored: Bag, lost: Bag) -> Bag:
    """As many copies less as the weights say; each row is named once, and all it takes away is there."""
    kept = stored.copy()
    assert len({row[:-1] for row in lost}) == lost.total(), "a lost row is named twice"
    for *content, weight in lost:
        assert weight < 0, "a lost row that is gained"
        kept[tuple(content)] += weight
        assert kept[tuple(content)] >= 0, "more copies are lost than there are"
    return +kept


def shown(layout: Layout, stored: Bag) -> Bag:
    """What the view on top of the backing table gives the user."""
    made: Bag = Counter()
    ids = [column.id for column in layout.columns]
    for row, copies in stored.items():
        if layout.visible is None or row[ids.index(layout.visible.id)]:
            made[row[: layout.user_columns]] += copies
    return made

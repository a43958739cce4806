"""What is expected of windows with short frames: changes that lie here and there concern all between them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rennet.cost.choose import Costs
from rennet.cost.learned import Learned
from rennet.cost.operators import operators
from rennet.cost.sizes import Flows, Statistics
from rennet.delta.generate import RefreshPlan, candidates
from rennet.delta.rules import Derivation
from rennet.enable.layout import lay_out
from rennet.errors import Technique
from rennet.plan.expressions import Expr, alias, literal
from rennet.plan.ir import Join, Window
from tests.cost.test_costs import MILLION, RATES, statistics
from tests.laws.queries import HERE, over_window, scan, total


def moving_sum() -> Window:
    """By each value of the first column, the sum over the second and the six before it."""
    source = scan("r")
    series, day = source.output
    order = Expr("SortOrder", (day,), type=day.type, text=f"{day.name} ASC NULLS FIRST")
    week = over_window(total(day), (series,), (order,), (literal(-6, "int"), HERE), by_rows=False)
    return Window((alias(week, "week"),), (series,), (order,), (source,))


def refreshes() -> dict[Technique, RefreshPlan]:
    found = candidates(lay_out(moving_sum()), Derivation({"r": False}))
    return {technique: plan for technique, plan in found.items() if isinstance(plan, RefreshPlan)}


def looked_at_again(of: Statistics) -> float:
    """The rows of which windows are computed again."""
    plan = refreshes()[Technique.WINDOW_FUNCTION]
    assert plan.inserted is not None
    window = next(node for node in plan.inserted.walk() if isinstance(node, Window))
    assert isinstance(window.child, Join)
    return Flows(of).of(window).rows


def estimates(of: Statistics) -> dict[Technique, float]:
    costs = Costs(of, Learned(), RATES)
    return {technique: costs.of(plan).total for technique, plan in refreshes().items()}


@pytest.mark.parametrize(
    ("changed", "least", "most"), [(100, 0, 0.02), (10_000, 0.5, 0.9), (200_000, 0.95, 1)]
)
def test_the_more_changes_the_more_lies_between_them(changed: int, least: float, most: float) -> None:
    share = looked_at_again(statistics(MILLION, changed, MILLION)) / MILLION
    assert least <= share <= most


def test_new_rows_lie_together() -> None:
    changed = statistics(MILLION, 10_000, MILLION)
    assert looked_at_again(replace(changed, growing={"r"})) < looked_at_again(changed)


def test_a_few_changes_are_traced_and_many_are_not() -> None:
    few, many = (estimates(statistics(MILLION, changed, MILLION)) for changed in (100, 200_000))
    assert few[Technique.WINDOW_FUNCTION] < 0.3 * few[Technique.COMPLETE_RECOMPUTE]
    assert many[Technique.WINDOW_FUNCTION] > many[Technique.COMPLETE_RECOMPUTE]


def test_all_stored_rows_of_the_keys_go() -> None:
    plan = refreshes()[Technique.WINDOW_FUNCTION]
    done = operators(plan, statistics(MILLION, 200_000, MILLION))
    (marked,) = (each.units for each in done if each.text == "Mark deleted rows")
    assert marked > MILLION

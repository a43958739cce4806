"""The cost model: how much work a refresh is, what it costs, what is learned, and what is chosen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rennet.cost.choose import WORTH_KNOWING, WORTH_RECOMPUTING, WORTH_TRYING, Costs, choose
from rennet.cost.learned import DEFAULT, Learned, Reader
from rennet.cost.operators import Kind, Operator, operators
from rennet.cost.rates import read_rates, shipped, write_rates
from rennet.cost.sizes import Flows, Statistics, TableSize
from rennet.delta.generate import RefreshPlan, candidates
from rennet.delta.keys import group_columns
from rennet.delta.rules import Derivation
from rennet.enable.layout import Layout, lay_out
from rennet.errors import Policy, Technique
from rennet.execute.costing import experience
from rennet.plan.expressions import alias, fresh_copy, same
from rennet.plan.ir import INNER, LEFT, Aggregate, Scan, State, join, project
from tests.laws.queries import scan, total

pytestmark = pytest.mark.learning

MILLION = 1_000_000
RATES = shipped()


def statistics(
    facts: float, changed: float, view: float | None = None, keys: Layout | None = None
) -> Statistics:
    """Table `r` with so many rows, of which some changed, and a view of so many rows."""
    found = () if keys is None or keys.grouped is None else (
        frozenset(c.id for c in group_columns(keys.grouped)),
    )  # fmt: skip
    return Statistics(
        {"r": TableSize(facts * 20, facts), "s": TableSize(20_000, 1000)},
        {"r": TableSize(changed * 20, changed)},
        TableSize(0 if view is None else view * 20, view),
        found,
    )


def grouped() -> Layout:
    source = scan("r")
    key, value = source.output[:2]
    return lay_out(Aggregate((key,), (key, alias(total(value), "total")), (source,)))


def plans(layout: Layout, grows: bool = False) -> dict[Technique, RefreshPlan]:
    found = candidates(layout, Derivation({"r": grows}))
    return {t: plan for t, plan in found.items() if isinstance(plan, RefreshPlan)}


def totals_by_day(other: str) -> tuple[Layout, Aggregate]:
    """Sums by key of `r`, joined with another table: the view has no row for each group by itself."""
    source, dimension = scan("r"), scan(other)
    key, value = source.output[:2]
    sums = Aggregate((key,), (key, alias(total(value), "total")), (source,))
    return lay_out(join(sums, dimension, INNER, same(key, dimension.output[0]))), sums


@pytest.mark.parametrize(("other", "told"), [("s", True), ("t", False)])
def test_the_rows_of_a_view_tell_of_the_groups_they_come_from(other: str, told: bool) -> None:
    """Unless they may come from the other side of a join: then many may have met one group."""
    layout, sums = totals_by_day(other)
    found = statistics(MILLION, 0, 800_000)
    found = replace(found, now={**found.now, "t": TableSize(20 * MILLION, MILLION)}, query=layout.plan)
    groups = Flows(found).of(sums).rows
    assert groups == (800_000 if told else pytest.approx(MILLION**0.75))


def test_the_first_refresh_teaches_how_many_groups_there_are() -> None:
    """Before it, the rows of the view are not known; what it cost is divided by what it found."""
    layout = grouped()
    before = Costs(statistics(MILLION, 0, None, layout))
    (aggregate,) = (n for n in layout.plan.walk() if isinstance(n, Aggregate))
    assert Flows(before.statistics).of(aggregate).rows == pytest.approx(MILLION**0.75)
    learned = experience(before, plans(layout)[Technique.COMPLETE_RECOMPUTE], 900_000, 10.0, 1)
    (written,) = (found for shape, found in learned.records.items() if shape.startswith("write"))
    assert written[0].units >= 900_000


def test_a_share_survives_joins() -> None:
    """A thousandth of the dimension meets a thousandth of the facts."""
    facts, other = scan("r"), scan("s")
    found = replace(statistics(MILLION, 0), changes={"s": TableSize(20, 1)})
    assert isinstance(other, Scan)
    changed = other.at(State.DELTA)
    both = join(facts, changed, INNER, same(facts.output[0], changed.output[0]))
    assert Flows(found).of(both).rows == pytest.approx(MILLION / 1000)


def test_groups_are_counted_in_the_view() -> None:
    layout = grouped()
    assert layout.grouped is not None
    known = Flows(statistics(MILLION, 10, view=50, keys=layout))
    assert known.of(layout.grouped).rows == 50
    renamed = project(layout.grouped.child, tuple(fresh_copy(c) for c in layout.grouped.child.output))
    again = Aggregate((renamed.output[0],), (renamed.output[0],), (renamed,))
    assert known.of(again).rows == 50


def test_there_are_no_more_groups_than_rows_that_bring_their_keys() -> None:
    facts, other = scan("r"), scan("s")
    both = join(other, facts, LEFT, same(facts.output[0], other.output[0]))
    renamed = project(both, (fresh_copy(other.output[1]), facts.output[1]))
    brought = Aggregate((renamed.output[0],), (renamed.output[0],), (renamed,))
    assert Flows(statistics(MILLION, 0)).of(brought).rows == 1000
    found = Aggregate((renamed.output[1],), (renamed.output[1],), (renamed,))
    assert Flows(statistics(MILLION, 0)).of(found).rows > 1000


def units(plan: RefreshPlan, found: Statistics, kind: Kind) -> float:
    return sum(each.units for each in operators(plan, found) if each.kind is kind)


def test_merging_reads_the_changes_and_not_the_source() -> None:
    layout = grouped()
    found = statistics(MILLION, 10, view=50, keys=layout)
    made = plans(layout)
    merged = units(made[Technique.GROUP_AGGREGATE], found, Kind.SCAN)
    assert merged < 10_000 < units(made[Technique.COMPLETE_RECOMPUTE], found, Kind.SCAN)


def test_what_is_computed_once_is_counted_once() -> None:
    layout = grouped()
    found = statistics(MILLION, 10, view=50, keys=layout)
    shapes = [each.shape for each in operators(plans(layout)[Technique.GENERIC_AGGREGATE], found)]
    scans = [shape for shape in shapes if shape.startswith("scan")]
    assert len(scans) == len(set(scans)) == 2


def test_shapes_do_not_depend_on_the_ids_of_columns() -> None:
    found = statistics(MILLION, 10)
    first, second = (
        [each.shape for each in operators(plans(grouped())[Technique.COMPLETE_RECOMPUTE], found)]
        for _ in range(2)
    )
    assert first == second


def test_small_changes_are_traced_and_large_ones_are_not() -> None:
    layout = grouped()
    found = plans(layout)
    small = Costs(statistics(10 * MILLION, 1000, view=MILLION, keys=layout))
    assert choose(found, Policy.AUTO, small).plan.technique is Technique.GROUP_AGGREGATE
    large = Costs(statistics(10 * MILLION, 20 * MILLION, view=MILLION, keys=layout))
    choice = choose(found, Policy.AUTO, large)
    assert choice.plan.technique is Technique.COMPLETE_RECOMPUTE
    assert "INCREMENTAL_PLAN_REJECTED_BY_COST_MODEL" in choice.reason
    stubborn = choose(found, Policy.INCREMENTAL, large)
    assert stubborn.plan.technique is not Technique.COMPLETE_RECOMPUTE


def test_an_estimate_that_no_refresh_has_tested_is_tested() -> None:
    """What was measured when the view was made says little about a refresh that does something else."""
    layout = grouped()
    found = plans(layout)
    full = found[Technique.COMPLETE_RECOMPUTE]
    made = Learned(full=5.0, turns=1)
    for changed, tested in ((40 * MILLION, True), (2000 * MILLION, False)):
        costs = Costs(statistics(100 * MILLION, changed, view=10 * MILLION, keys=layout))
        estimates = {technique: costs.of(plan).total for technique, plan in found.items()}
        share = min(v for t, v in estimates.items() if t is not full.technique) / estimates[full.technique]
        assert (1.0 < share <= WORTH_TRYING) is tested, share
        assert choose(found, Policy.AUTO, costs).plan is full
        choice = choose(found, Policy.AUTO, replace(costs, learned=made))
        assert (choice.plan is not full) is tested
        assert ("no refresh of this view has tested that" in choice.reason) is tested
        known = replace(made, incremental=9.0)
        assert choose(found, Policy.AUTO, replace(costs, learned=known)).plan is full


def test_tiny_tables_are_not_recomputed_to_save_nothing() -> None:
    layout = grouped()
    all_of_it = Costs(statistics(10, 20, view=5, keys=layout))
    assert choose(plans(layout), Policy.AUTO, all_of_it).plan.technique is Technique.GROUP_AGGREGATE


def test_readers_of_the_view_count() -> None:
    """A refresh that is dearer itself is chosen when it saves those below more."""
    layout = grouped()
    costs = Costs(statistics(10 * MILLION, 20 * MILLION, view=MILLION, keys=layout))
    saved = replace(costs, readers=(Reader("below", 1.0, 500.0),))
    choice = choose(plans(layout), Policy.AUTO, saved)
    assert choice.plan.technique is not Technique.COMPLETE_RECOMPUTE
    assert "the views that read it" in choice.reason


def test_the_past_replaces_the_rates() -> None:
    layout = grouped()
    found = statistics(MILLION, 1000, view=50, keys=layout)
    plan = plans(layout)[Technique.GROUP_AGGREGATE]
    costs = Costs(found)
    before = costs.of(plan)
    assert {each.basis for each in before.operators} == {DEFAULT}
    learned = Learned().with_refresh(before.operators, 3.0, 7, RATES)
    after = Costs(found, learned).of(plan)
    assert after.seconds == pytest.approx(3.0)
    assert {each.basis for each in after.operators} == {"version 7"}


def test_the_past_is_scaled_to_the_size_of_today() -> None:
    once = Learned().with_refresh([Learned().cost(operator(1000), RATES)], 2.0, 1, RATES)
    assert once.cost(operator(2000), RATES).seconds == pytest.approx(4.0)
    assert once.cost(operator(500), RATES).seconds == pytest.approx(1.0)


def test_a_cost_that_was_mostly_fixed_is_not_multiplied_by_a_million() -> None:
    once = Learned().with_refresh([Learned().cost(operator(1), RATES)], 0.1, 1, RATES)
    far = once.cost(operator(MILLION), RATES).seconds
    assert far < 0.1 + 10 * MILLION * RATES[Kind.AGGREGATE] + 1e-6


def test_the_nearest_size_counts() -> None:
    learned = Learned()
    for units_, seconds in ((1000, 1.0), (100_000, 2.0)):
        learned = learned.with_refresh([learned.cost(operator(units_), RATES)], seconds, units_, RATES)
    assert learned.cost(operator(1100), RATES).basis == "version 1000"
    assert learned.cost(operator(90_000), RATES).basis == "version 100000"


def test_a_technique_that_lost_is_tried_again_unless_it_was_dearer_by_far() -> None:
    lost = Learned().with_refresh([Learned().cost(operator(1000), RATES)], 2.0, 1, RATES)
    other = Operator(Kind.SCAN, "Scan", "scan x", 1000)
    seen = [lost.cost(operator(1000), RATES, fading=True).seconds]
    for version in range(2, 12):
        lost = lost.with_refresh([lost.cost(other, RATES)], 1.0, version, RATES)
        seen.append(lost.cost(operator(1000), RATES, fading=True).seconds)
    assert seen[0] == pytest.approx(2.0)
    assert seen == sorted(seen, reverse=True)
    assert seen[-1] == pytest.approx(1.0)
    assert lost.cost(operator(1000), RATES).seconds == pytest.approx(2.0)


def test_what_was_learned_is_kept_as_text() -> None:
    learned = Learned().with_refresh([Learned().cost(operator(1000), RATES)], 2.0, 1, RATES)
    assert Learned.from_json(learned.to_json()) == learned
    assert Learned.from_json({}) == Learned()


def test_a_view_knows_what_it_costs_as_a_reader() -> None:
    costed = [Learned().cost(operator(1000), RATES)]
    both = Learned().with_refresh(costed, 5.0, 1, RATES, full=True).with_refresh(costed, 1.0, 2, RATES)
    assert both.reader("v") == Reader("v", 1.0, 5.0)
    assert Learned.from_json(both.to_json()).reader("v") == both.reader("v")


def test_rates_are_kept_as_text() -> None:
    assert read_rates(write_rates(RATES)) == pytest.approx(RATES)
    with pytest.raises(ValueError, match="nonsense"):
        read_rates('{"nonsense": 1}')


def operator(units_: float) -> Operator:
    return Operator(Kind.AGGREGATE, "Aggregate", "aggregate x", units_)


def test_what_is_cheap_anyway_is_not_tested() -> None:
    layout = grouped()
    found = plans(layout)
    full = found[Technique.COMPLETE_RECOMPUTE]
    costs = Costs(statistics(3 * MILLION, 2.4 * MILLION, view=MILLION // 3, keys=layout))
    best = min(costs.of(plan).total for plan in found.values() if plan is not full)
    whole = costs.of(full).total
    assert whole + WORTH_RECOMPUTING < best < whole * WORTH_TRYING and whole < WORTH_KNOWING, (best, whole)
    assert choose(found, Policy.AUTO, replace(costs, learned=Learned(full=1.0, turns=1))).plan is full

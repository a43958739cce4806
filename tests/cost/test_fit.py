"""Plans fitted to the sizes that are known."""

from __future__ import annotations

from dataclasses import replace

from rennet.cost.fit import Fitting
from rennet.cost.sizes import Flows, TableSize
from rennet.delta.generate import RefreshPlan
from rennet.errors import Technique
from rennet.plan.expressions import same
from rennet.plan.ir import (
    ANTI,
    FULL,
    INNER,
    LEFT,
    RIGHT,
    SEMI,
    Aggregate,
    Join,
    Node,
    Once,
    Scan,
    State,
    join,
)
from rennet.testing.bags import World, evaluate
from rennet.testing.values import bag
from tests.cost.test_costs import MILLION, statistics
from tests.laws.queries import scan


def changes() -> Node:
    source = scan("s")
    assert isinstance(source, Scan)
    return source.at(State.DELTA)


FACTS, FEW = scan("r"), changes()
ON = same(FACTS.output[0], FEW.output[0])
SIZES = replace(statistics(10 * MILLION, 0), changes={"s": TableSize(2000, 100)})


def fitting() -> Fitting:
    return Fitting(Flows(SIZES))


def test_the_changes_are_sent_where_spark_can() -> None:
    sides = {how: fitting().sent(join(FACTS, FEW, how, ON)) for how in (INNER, LEFT, SEMI, ANTI, RIGHT, FULL)}
    assert sides == {INNER: 1, LEFT: 1, SEMI: 1, ANTI: 1, RIGHT: None, FULL: None}
    turned = {how: fitting().sent(join(FEW, FACTS, how, ON)) for how in (INNER, LEFT, RIGHT)}
    assert turned == {INNER: 0, LEFT: None, RIGHT: 0}


def test_rows_that_may_have_met_many_others_are_not_sent() -> None:
    met = join(FACTS, FEW, INNER, ON)
    third = scan("r")
    assert fitting().sent(join(third, met, INNER, same(third.output[0], met.output[0]))) is None


def test_a_large_side_is_pruned_for_a_small_outer_one() -> None:
    made = fitting().node(join(FEW, FACTS, LEFT, ON))
    assert isinstance(made, Join) and made.left is FEW  # only read: keeping it would cost more
    assert isinstance(made.right, Join) and made.right.how == SEMI
    world = World(
        {"r": bag([(1, 2), (3, 4), (None, 5)]), "s": bag()},
        {"r": bag([(1, 2), (3, 4), (None, 5)]), "s": bag()},
        {"s": bag([(1, 9, 1), (7, 9, 1), (None, 8, -1)])},
    )
    plain = replace_state(join(FEW, FACTS, LEFT, ON))
    assert evaluate(replace_state(made), world) == evaluate(plain, world)


def test_what_an_operator_moves_is_what_it_is_given_unless_a_side_is_sent() -> None:
    met = join(FACTS, FEW, SEMI, ON)
    plan = RefreshPlan(Technique.ROW_BASED, met)
    assert fitting().moved(plan) == 0
    grouped = RefreshPlan(Technique.ROW_BASED, Aggregate(FACTS.output, FACTS.output, (FACTS,)))
    assert fitting().moved(grouped) > 16 << 20
    of_few = RefreshPlan(Technique.ROW_BASED, Aggregate(FACTS.output, FACTS.output, (met,)))
    assert 0 < fitting().moved(of_few) < 16 << 20


def test_few_rows_are_told_from_many() -> None:
    assert fitting().few(FEW) and not fitting().few(FACTS)


def test_what_met_others_may_be_any_number_of_rows() -> None:
    keys = join(FACTS, FEW, SEMI, ON)
    assert fitting().unsure(keys) and not fitting().unsure(join(FEW, FACTS, SEMI, ON))
    assert not fitting().unsure(join(FACTS, FEW, INNER, ON))  # too many to be sent, by all that is known


def replace_state(plan: Node) -> Node:
    """Whole tables are read as they are now."""

    def now(node: Node) -> Node:
        return node.at(State.AFTER) if isinstance(node, Scan) and node.state is State.CURRENT else node

    return plan.transform_up(now)


def test_small_sides_are_left_alone() -> None:
    small = Fitting(Flows(replace(SIZES, now={"r": TableSize(2000, 100), "s": TableSize(2000, 100)})))
    plan = join(FEW, FACTS, LEFT, ON)
    assert small.node(plan) is plan


def affected(facts: Node) -> Once:
    """The facts that meet a change: nobody knows how many those are."""
    return Once((join(facts, FEW, SEMI, same(facts.output[0], FEW.output[0])),))


def test_a_large_side_is_pruned_by_what_the_outer_one_was_selected_by() -> None:
    facts, inner = scan("r"), scan("s")
    plan = join(affected(facts), inner, LEFT, same(facts.output[0], inner.output[0]))
    large = replace(SIZES, now={"r": TableSize(10 * MILLION), "s": TableSize(1000 * MILLION, MILLION)})
    made = Fitting(Flows(large)).node(plan)
    assert isinstance(made, Join) and made.left is plan.left
    assert isinstance(made.right, Join) and made.right.how == SEMI and made.right.left is inner
    outer, rows = (
        bag([(1, 2), (3, 4), (None, 5), (7, 1)]),
        bag([(1, 2, 0), (1, 3, 0), (3, 4, 0), (None, 5, 0)]),
    )
    moved = {"s": bag([(1, 9, 1), (7, 9, 1), (None, 8, -1)])}
    world = World({"r": outer, "s": rows}, {"r": outer, "s": rows}, moved)
    assert evaluate(replace_state(made), world) == evaluate(replace_state(plan), world)


def test_changes_that_are_dear_to_read_are_read_once() -> None:
    plan = RefreshPlan(Technique.ROW_BASED, join(FEW, FACTS, LEFT, ON))
    cheap = fitting().fitted(plan).inserted
    assert isinstance(cheap, Join) and cheap.left is FEW
    dear = replace(SIZES, changes={"s": TableSize(100 * MILLION, 100)})
    made = Fitting(Flows(dear)).fitted(plan).inserted
    assert isinstance(made, Join) and isinstance(made.left, Once)
    found = [node for node in made.walk() if isinstance(node, Once)]
    assert len(found) == 2 and found[0] is found[1]
    linear = RefreshPlan(Technique.ROW_BASED, FEW)
    assert Fitting(Flows(dear)).fitted(linear).inserted is FEW

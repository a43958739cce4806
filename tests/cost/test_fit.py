"""Plans fitted to the sizes that are known."""

from __future__ import annotations

from dataclasses import replace

from rennet.cost.fit import Fitting
from rennet.cost.sizes import Flows, TableSize
from rennet.plan.expressions import same
from rennet.plan.ir import ANTI, FULL, INNER, LEFT, RIGHT, SEMI, Join, Node, Scan, State, join
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


def replace_state(plan: Node) -> Node:
    """Whole tables are read as they are now."""

    def now(node: Node) -> Node:
        return node.at(State.AFTER) if isinstance(node, Scan) and node.state is State.CURRENT else node

    return plan.transform_up(now)


def test_small_sides_are_left_alone() -> None:
    small = Fitting(Flows(replace(SIZES, now={"r": TableSize(2000, 100), "s": TableSize(2000, 100)})))
    plan = join(FEW, FACTS, LEFT, ON)
    assert small.node(plan) is plan

"""The small change algebra the rules are written in."""

from __future__ import annotations

from rennet.delta.change import Change, effectivize, renamed, total, weight_of, weighted
from rennet.plan.expressions import alias
from rennet.plan.ir import Union, project
from rennet.testing.bags import World, evaluate, net
from rennet.testing.values import bag
from tests.laws.queries import column, values

ROWS = values([("a",), ("a",), (None,)], ("x", "string"))


def test_weighted_rows_count_as_often_as_they_are_there() -> None:
    assert net(evaluate(weighted(ROWS, +1), World())) == {("a",): 2, (None,): 1}
    assert net(evaluate(weighted(ROWS, -2), World())) == {("a",): -4, (None,): -2}


def test_the_weight_is_the_last_column() -> None:
    made = weighted(ROWS, 1)
    assert weight_of(made) == made.output[-1]
    assert made.output[:-1] == ROWS.output


def test_renamed_keeps_rows_and_weight() -> None:
    made = weighted(ROWS, 1)
    wanted = (column("y", "string"),)
    under = renamed(made, wanted)
    assert under.output == (*wanted, weight_of(made))
    assert evaluate(under, World()) == evaluate(made, World())


def test_renamed_to_its_own_columns_computes_nothing() -> None:
    made = weighted(ROWS, 1)
    assert renamed(made, ROWS.output).exprs == made.output


def test_the_total_of_one_is_itself() -> None:
    made = weighted(ROWS, 1)
    assert total([made]) is made


def test_the_total_has_a_weight_of_its_own() -> None:
    """Each part has another weight column: the sum must not be taken for one of them."""
    parts = [weighted(ROWS, 1), weighted(ROWS, -1)]
    summed = total(list(parts))
    assert isinstance(summed, Union)
    assert weight_of(summed) not in [weight_of(part) for part in parts]
    assert net(evaluate(summed, World())) == {}


def test_effectivize_takes_null_for_a_value() -> None:
    leaf = values([(None, 1), (None, 2), ("a", 1), ("a", -1), ("b", 0)], ("x", "string"), ("w", "bigint"))
    assert evaluate(effectivize(leaf), World()) == bag([(None, 3)])


def test_a_change_without_a_delta_is_none() -> None:
    assert not Change(ROWS, ROWS).changed
    assert Change(ROWS, ROWS, weighted(ROWS, 1)).changed


def test_a_weight_may_have_been_computed() -> None:
    made = weighted(ROWS, 1)
    doubled = project(made, (*made.output[:-1], alias(weight_of(made), "__mv_weight")))
    assert net(evaluate(effectivize(doubled), World())) == {("a",): 2, (None,): 1}

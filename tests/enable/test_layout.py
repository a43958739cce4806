"""What the backing table holds."""

from __future__ import annotations

from rennet.enable.layout import CONTENT, PREFIX, VISIBLE, Layout, lay_out, plain
from rennet.plan.expressions import Expr, alias, literal
from rennet.plan.ir import Aggregate, Filter, Node, Project, State, Window
from rennet.testing.bags import World
from rennet.testing.values import bag
from tests.laws.queries import END, START, average, catalyst, count, extreme, over_window, scan, total
from tests.laws.refreshing import built, shown


def names(layout: Layout) -> list[str]:
    return [column.name for column in layout.columns]


def grouped(*calls: Expr, shows_key: bool = True) -> Aggregate:
    source = scan("r")
    key = source.output[:1]
    made = tuple(alias(_over(call, source), f"a{i}") for i, call in enumerate(calls))
    return Aggregate(key, (*(key if shows_key else ()), *made), (source,))


V = Expr("the value", type="int")


def _over(call: Expr, source: Node) -> Expr:
    return call.transform(lambda part: source.output[1] if part is V else None)


def test_rows_have_a_hash_of_their_content() -> None:
    layout = lay_out(scan("r"))
    assert names(layout) == ["k", "v", CONTENT]
    assert layout.user_columns == 2
    assert not layout.unique


def test_rows_that_cannot_be_hashed_have_none() -> None:
    plan = Project((alias(Expr("parse_json", type="variant"), "m"),), (scan("r"),))
    assert lay_out(plan) == plain(plan)


def test_what_is_always_recomputed_has_no_hidden_columns() -> None:
    assert names(plain(scan("r"))) == ["k", "v"]


def test_sums_share_their_states() -> None:
    """COUNT(*), COUNT(v), SUM(v) and AVG(v) need three sums: rows, rows that have a value, values."""
    layout = lay_out(grouped(count(), count(V), total(V), average(V)))
    assert len(layout.states) == 3
    assert layout.merges


def test_a_column_without_nulls_needs_no_count_of_its_own() -> None:
    source = scan("s")
    made = (alias(count(source.output[2]), "n"), alias(total(source.output[2]), "t"))
    layout = lay_out(Aggregate(source.output[:1], made, (source,)))
    assert len(layout.states) == 2


def test_a_key_the_user_shows_is_stored_once() -> None:
    layout = lay_out(grouped(count()))
    assert layout.keys == layout.columns[:1]
    assert [name for name in names(layout) if name.startswith(PREFIX)] == ["__mv_rows"]


def test_a_key_the_user_does_not_show_is_stored_hidden() -> None:
    for layout in (
        lay_out(grouped(count(), shows_key=False)),
        lay_out(grouped(extreme("Min", V), shows_key=False)),
    ):
        (key,) = layout.keys
        assert key in layout.columns[layout.user_columns :]
        assert key.name == "__mv_key_0"


def test_one_aggregate_that_cannot_be_added_up_makes_the_group_recomputed() -> None:
    layout = lay_out(grouped(count(), count(V, distinct=True)))
    assert not layout.merges
    assert layout.unique


def test_grouping_by_a_constant_is_not_kept_by_adding() -> None:
    """Nothing would tell an empty input, which has no row, from a group of no rows."""
    source = scan("r")
    layout = lay_out(Aggregate((literal(1, "int"),), (alias(count(), "n"),), (source,)))
    assert not layout.merges
    assert not layout.unique


def test_a_having_is_a_flag() -> None:
    below = grouped(count())
    layout = lay_out(Filter(catalyst("GreaterThan", below.output[1], literal(1)), (below,)))
    assert names(layout)[-1] == VISIBLE
    world = World(after={"r": bag([(1, 1), (2, 1), (2, 2)])})
    stored = built(layout, world, State.AFTER)
    assert stored.total() == 2
    assert shown(layout, stored) == bag([(2, 2)])


def test_what_stands_over_a_having_is_computed_for_shown_groups_only() -> None:
    """1 / (n - 1) fails for groups of one row, which the query never shows."""
    below = grouped(count())
    key, rows = below.output
    having = Filter(catalyst("GreaterThan", rows, literal(1)), (below,))
    fewer = catalyst("Subtract", rows, literal(1), type="bigint")
    quotient = catalyst("Divide", literal(1), fewer, type="double")
    layout = lay_out(Project((key, alias(quotient, "q")), (having,)))
    world = World(after={"r": bag([(1, 1), (2, 1), (2, 2)])})
    assert shown(layout, built(layout, world, State.AFTER)) == bag([(2, 1)])


def test_a_second_filter_is_looked_at_for_shown_groups_only() -> None:
    below = grouped(count())
    _, rows = below.output
    fewer = catalyst("Subtract", rows, literal(1), type="bigint")
    quotient = catalyst("Divide", literal(1), fewer, type="double")
    first = Filter(catalyst("GreaterThan", rows, literal(1)), (below,))
    second = Filter(catalyst("GreaterThan", quotient, literal(0, "double")), (first,))
    layout = lay_out(second)
    world = World(after={"r": bag([(1, 1), (2, 1), (2, 2)])})
    assert shown(layout, built(layout, world, State.AFTER)) == bag([(2, 2)])


def test_windows_carry_their_partition() -> None:
    source = scan("r")
    key, value = source.output
    made = over_window(count(), (key,), (), (START, END), True)
    window = Window((alias(made, "n"),), (key,), (), (source,))
    layout = lay_out(Project((value, window.output[-1]), (window,)))
    assert names(layout)[:2] == ["v", "n"]
    assert [column.name for column in layout.keys] == ["__mv_key_0"]
    assert layout.windowed is window
    assert not layout.unique
    assert lay_out(window).keys == (key,)


def test_a_window_over_everything_has_no_partition_to_replace() -> None:
    source = scan("r")
    made = over_window(count(), (), (), (START, END), True)
    layout = lay_out(Window((alias(made, "n"),), (), (), (source,)))
    assert layout.windowed is None
    assert layout.content is not None

"""Ties, and what is done about them."""

from __future__ import annotations

from rennet.enable.determinism import obstacles
from rennet.enable.moments import with_moments
from rennet.enable.order import decided, with_ties_broken, without_order
from rennet.plan.expressions import AggregateCall, Attribute, Expr, alias, literal
from rennet.plan.ir import Limited, Node, PassThrough, Window, filter_
from tests.laws.queries import HERE, START, column, count, over_window, scan, values


def by(attribute: Attribute) -> Expr:
    return Expr("SortOrder", (attribute,), type=attribute.type, text=f"{attribute.name} ASC NULLS FIRST")


def window(child: Node, function: Expr, by_rows: bool = True) -> Window:
    """`function OVER (ORDER BY the first column)`"""
    order = (by(child.output[0]),)
    made = over_window(function, (), order, (START, HERE), by_rows)
    return Window((alias(made, "w"),), (), order, (child,))


ROW_NUMBER = Expr("RowNumber", type="int", nullable=False)


def orders(plan: Node) -> list[list[str]]:
    windows = [node for node in plan.walk() if isinstance(node, Window)]
    keys = [[e.children[0] for e in (*node.order, *node.peers)] for node in windows]
    return [[key.name for key in each if isinstance(key, Attribute)] for each in keys]


def test_row_numbers_are_decided_by_all_columns() -> None:
    assert orders(with_ties_broken(window(scan("r"), ROW_NUMBER))) == [["k", "v"]]


def test_the_definition_of_the_window_says_the_same() -> None:
    made = with_ties_broken(window(scan("r"), ROW_NUMBER))
    assert isinstance(made, Window)
    (function,) = made.exprs
    *keys, _ = function.children[0].children[1].children
    assert tuple(keys) == made.order


def test_peers_stay_peers() -> None:
    """By RANGE, tied rows are in the frame together: their order does not matter."""
    plan = window(scan("r"), count(), by_rows=False)
    assert with_ties_broken(plan) is plan


def test_an_order_by_all_columns_is_left_alone() -> None:
    leaf = values([(1,)], ("a", "int"))
    plan = window(leaf, ROW_NUMBER)
    assert with_ties_broken(plan) is plan


def test_orders_are_dropped() -> None:
    source = scan("r")
    plan = filter_(PassThrough("Sort", (by(source.output[0]),), (source,)), literal(True, "boolean"))
    assert without_order(plan) == filter_(source, literal(True, "boolean"))


def test_the_order_of_a_limit_is_not() -> None:
    source = scan("r")
    ordered = PassThrough("Sort", (by(source.output[0]),), (source,))
    count_ = literal(1, "int")
    plan = Limited("GlobalLimit", count_, (Limited("LocalLimit", count_, (ordered,)),))
    assert without_order(plan) is plan
    assert not decided(plan)


def test_ties_that_cannot_be_broken_are_an_obstacle() -> None:
    leaf = values([], ("a", "int"), ("m", "map<int,int>"))
    assert obstacles(with_ties_broken(window(leaf, ROW_NUMBER)))


def test_rows_of_a_range_are_put_in_order_before_the_window_counts_along_them() -> None:
    """Ordering tied rows in the window itself would change the frame."""
    source = scan("r")
    nth = Expr("NthValue", (source.output[1], literal(1, "int")), type="int")
    made = with_ties_broken(window(source, nth, by_rows=False))
    assert isinstance(made, Window)
    assert not obstacles(made)
    assert made.order == window(source, nth, by_rows=False).order
    assert made.peers


def test_a_limit_is_ordered_by_all_columns() -> None:
    source = scan("r")
    ordered = PassThrough("Sort", (by(source.output[0]),), (source,))
    plan = with_ties_broken(Limited("GlobalLimit", literal(1, "int"), (ordered,)))
    assert isinstance(plan, Limited)
    assert decided(plan)


def test_columns_are_told_apart_by_id() -> None:
    assert column("a", "int") != column("a", "int")


def test_the_order_of_peers_outlives_what_is_done_about_the_clock() -> None:
    source = scan("r")
    later = Expr("DateAdd", (Expr("CurrentDate", type="date"), source.output[1]), type="date")
    nth = AggregateCall("NthValue", (later, literal(1, "int")), type="date")
    ordered = with_ties_broken(window(source, nth, by_rows=False))
    (made,) = (node for node in with_moments(ordered).walk() if isinstance(node, Window))
    assert orders(made) == orders(ordered) == [["k", "v"]]

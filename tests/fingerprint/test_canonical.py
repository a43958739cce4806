"""Canonical plans without Spark: what may be swapped, what may not, and how much work it is."""

from __future__ import annotations

from cProfile import Profile
from itertools import count

import pytest

from rennet.fingerprint.canonical import canonical, fingerprint
from rennet.fingerprint.compare import KEPT, difference, kept, same
from rennet.plan.expressions import AggregateCall, Alias, Attribute, Expr, alias, call, literal
from rennet.plan.ir import (
    ANTI,
    FULL,
    INNER,
    LEFT,
    RIGHT,
    SEMI,
    Aggregate,
    Filter,
    Node,
    Project,
    Scan,
    Union,
    join,
    project,
)

_ids = count(1)


def scan(name: str, *columns: str) -> Scan:
    output = tuple(Attribute("AttributeReference", type="int", id=next(_ids), name=c) for c in columns)
    return Scan(f"/{name}", output)


def column(node: Node, name: str) -> Attribute:
    return next(a for a in node.output if a.name == name)


def equal(left: Expr, right: Expr) -> Expr:
    return call("=", left, right, type="boolean")


def text(plan: Node) -> str:
    return canonical(plan, tuple(a.name for a in plan.output))


def joined(how: str, turned: bool) -> Node:
    t, u = scan("t", "id", "x"), scan("u", "id", "y")
    on = equal(column(u, "id"), column(t, "id")) if turned else equal(column(t, "id"), column(u, "id"))
    made = join(u, t, how, on) if turned else join(t, u, how, on)
    return project(made, (column(t, "x"),))


@pytest.mark.parametrize("how", [INNER, FULL])
def test_sides_that_may_be_swapped(how: str) -> None:
    assert text(joined(how, False)) == text(joined(how, True))


def test_a_right_join_is_a_left_join_turned() -> None:
    assert text(joined(LEFT, False)) == text(joined(RIGHT, True))
    assert text(joined(LEFT, False)) != text(joined(RIGHT, False))


@pytest.mark.parametrize("how", [SEMI, ANTI])
def test_tests_commute_with_filters(how: str) -> None:
    def made(filter_first: bool) -> Node:
        t, u = scan("t", "id", "x"), scan("u", "id")
        on = equal(column(t, "id"), column(u, "id"))
        condition = equal(column(t, "x"), literal(1, "int"))
        if filter_first:
            return join(Filter(condition, (t,)), u, how, on)
        return Filter(condition, (join(t, u, how, on),))

    assert text(made(True)) == text(made(False))


def test_the_same_ids_on_both_sides_are_told_apart() -> None:
    """Spark renames only the outer ids of a table joined with itself: below, they are the same ones."""
    t = scan("t", "id", "x")
    copy = tuple(alias(a, a.name) for a in t.output)
    other = project(t, copy)
    on = equal(t.output[0], other.output[1])
    first = project(join(t, other, INNER, on), (t.output[0],))
    second = project(join(t, other, INNER, on), (alias(other.output[0], "id"),))
    assert text(first) != text(second)


def test_unused_columns_do_not_count() -> None:
    narrow, wide = scan("t", "id"), scan("t", "a", "id", "b")
    assert text(project(narrow, narrow.output)) == text(project(wide, (column(wide, "id"),)))


def test_union_is_a_bag() -> None:
    def made(*names: str) -> Node:
        parts = [scan(name, "id") for name in names]
        return Union(parts[0].output, tuple(parts))

    assert text(made("t", "u")) == text(made("u", "t"))
    assert text(made("t", "t")) != text(made("t"))
    assert text(made("t", "t", "u")) != text(made("t", "u", "u"))


def test_columns_crossed_in_a_union() -> None:
    def made(crossed: bool) -> Node:
        t, u = scan("t", "a", "b"), scan("u", "a", "b")
        right = project(u, u.output[::-1]) if crossed else u
        return Union(t.output, (t, right))

    assert text(made(False)) != text(made(True))


def test_repeated_aggregates_are_one() -> None:
    def made(repeat: bool) -> Node:
        t = scan("t", "k", "x")
        calls = [AggregateCall("Sum", (t.output[1],), type="bigint", text="sum") for _ in range(2)]
        first = alias(calls[0], "a")
        grouped = Aggregate((t.output[0],), (first, *([alias(calls[1], "b")] if repeat else [])), (t,))
        second: Attribute | Alias = grouped.output[1] if repeat else alias(first.attribute, "b")
        return project(grouped, (first.attribute, second))

    assert text(made(True)) == text(made(False))


def test_random_columns_are_not_one() -> None:
    def made(twice: bool) -> Node:
        t = scan("t", "id")
        rand = [alias(Expr("Rand", type="double", deterministic=False, text="rand()"), n) for n in "ab"]
        rand = [Alias(**{**r.__dict__, "deterministic": False}) for r in rand]
        below = Project(tuple(rand), (t,))
        a, b = below.output
        return project(below, (a, b if twice else alias(a, "b")))

    assert text(made(True)) != text(made(False))


def chain(operators: int) -> Node:
    """Filters, projections and joins on top of each other."""
    plan: Node = scan("t0", "id", "x")
    for number in range(operators // 4):
        other = scan(f"t{number % 7}", "id", "x")
        plan = join(plan, other, INNER, equal(plan.output[0], other.output[0]))
        condition = call("<", plan.output[1], literal(number, "int"), type="boolean")
        plan = Filter(condition, (plan,))
        total = alias(call("+", plan.output[3], literal(number, "int"), type="int"), "x")
        plan = project(plan, (plan.output[0], total))
    return plan


def test_work_grows_less_than_with_the_square_of_the_number_of_operators() -> None:
    assert sum(1 for _ in chain(100).walk()) >= 100
    assert _calls(chain(200)) < 3.5 * _calls(chain(100))


def _calls(plan: Node) -> int:
    """How many functions are called to hash the plan: unlike time, the same on every machine."""
    profile = Profile()
    profile.runcall(lambda: fingerprint(canonical(plan, ("id", "x"))))
    return sum(entry.callcount for entry in profile.getstats())


def test_terms_that_double_stay_small() -> None:
    plan: Node = scan("t", "x")
    for _ in range(40):
        plan = project(plan, (alias(call("+", plan.output[0], plan.output[0], type="int"), "x"),))
    assert len(canonical(plan, ("x",))) < 1_000_000


def test_the_newest_common_version_decides() -> None:
    assert same(["1:a"], ["2:x", "1:a"])
    assert not same(["1:b"], ["2:x", "1:a"])
    assert not same(["2:y", "1:a"], ["2:x", "1:a"])
    assert same(["2:x", "1:b"], ["2:x", "1:a"])
    assert same(["10:x", "9:b"], ["10:x", "9:a"])
    assert not same(["3:x"], ["2:x", "1:x"])


def test_difference_shows_before_and_after() -> None:
    assert difference("a\nb\nc", "a\nB\nc") == ":\n  - b\n  + B"
    assert difference("", "a") == ""
    assert "more lines" in difference("\n".join("abcdefgh"), "\n".join("ABCDEFGH"))
    assert kept("x" * (KEPT + 1)) == ""

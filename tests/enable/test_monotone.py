"""Functions that rise: what the proofs claim, tried out without Spark."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rennet.enable.monotone import DAYS, MOMENTS, rising
from rennet.plan.expressions import Attribute, Expr, cast, literal
from rennet.plan.inverse import Rising, source_limit
from rennet.testing.values import over_rows
from tests.laws.cases import LAW
from tests.laws.queries import catalyst, column

TYPES = ("tinyint", "smallint", "int", "bigint")


@st.composite
def functions(draw: st.DrawFn, of: Attribute, depth: int) -> Expr:
    """Sums, products, differences and casts of a column and constants, rising or not."""
    if depth == 0 or draw(st.integers(0, 4)) == 0:
        return of
    inner = draw(functions(of, depth - 1))
    kind = draw(st.sampled_from(("Add", "Subtract", "Multiply", "Cast", "Both")))
    if kind == "Cast":
        return cast(inner, draw(st.sampled_from(TYPES)))
    if kind == "Both":
        return catalyst("Add", inner, draw(functions(of, depth - 1)), type=inner.type)
    constant = literal(draw(st.integers(-3, 1000)), inner.type)
    return catalyst(kind, inner, constant, type=inner.type)


@LAW
@given(st.data())
def test_a_limit_at_the_source_is_implied(data: st.DataObject) -> None:
    """f(c) ≥ b ⇒ c ≥ v, f(c) ≤ b ⇒ c ≤ v"""
    of = column("c", data.draw(st.sampled_from(TYPES)))
    function = data.draw(functions(of, 4))
    known = rising(function)
    if known is None:
        return
    compute = over_rows(function, (of,))
    inside = st.integers(known.low, known.high)
    value = data.draw(inside | st.integers(max(known.low, -200), min(known.high, 200)))
    limit = compute((value,)) + data.draw(st.integers(-2, 2))
    for sign in (">=", "<="):
        found = source_limit(sign, limit, known, lambda v: compute((v,)))
        if found is None:
            continue
        for tried in (value, found - 1, found, found + 1):
            passes = compute((tried,)) >= limit if sign == ">=" else compute((tried,)) <= limit
            assert not passes or (tried >= found if sign == ">=" else tried <= found)


@LAW
@given(st.integers(0, 5), st.lists(st.integers(-30, 30), min_size=41, max_size=41), st.integers(-40, 40))
def test_what_falls_back_within_its_slack_is_still_implied(slack: int, noise: list[int], limit: int) -> None:
    """Any function with f(a) ≤ f(b) for a + slack ≤ b: here one made so by taking the largest so far."""
    values: list[int] = []
    for place, drawn in enumerate(noise):
        floor = max(values[: max(place - slack + 1, 0)], default=-100)
        values.append(max(drawn, floor))
    known = Rising(column("c", "int"), 0, 40, slack)
    for sign in (">=", "<="):
        found = source_limit(sign, limit, known, lambda v: values[v])
        if found is not None:
            passing = [c for c, v in enumerate(values) if (v >= limit if sign == ">=" else v <= limit)]
            assert all(c >= found if sign == ">=" else c <= found for c in passing)


def test_what_has_no_value_says_nothing() -> None:
    known = Rising(column("c", "int"), 0, 100)
    assert source_limit(">=", 50, known, lambda v: None) is None
    assert source_limit(">=", 50, known, lambda v: v if v != 50 else None) is None
    assert source_limit(">=", 0, known, lambda v: v) is None
    assert source_limit("<=", 100, known, lambda v: v) is None
    assert source_limit(">=", 50, known, lambda v: v) == 50


def test_nothing_is_claimed_where_numbers_overflow() -> None:
    times = catalyst("Multiply", column("c", "int"), literal(1000, "int"), type="int")
    known = rising(times)
    assert known is not None and known.high * 1000 < 1 << 31 <= (known.high + 1) * 2 * 1000


def test_local_time_has_a_slack() -> None:
    day = cast(column("at", "timestamp"), "date")
    known = rising(day)
    assert known is not None and known.slack == 2 * 86_400_000_000 and (known.low, known.high) == MOMENTS
    year = rising(catalyst("Year", day, type="int"))
    assert year is not None and year.slack == known.slack
    exact = rising(cast(column("at", "timestamp_ntz"), "date"))
    assert exact is not None and exact.slack == 0


def test_dates_are_those_of_the_years_1_to_9999() -> None:
    known = rising(catalyst("Year", column("d", "date"), type="int"))
    assert known is not None and (known.low, known.high) == DAYS


def test_two_columns_prove_nothing() -> None:
    both = catalyst("Add", column("a", "int"), column("b", "int"), type="int")
    assert rising(both) is None
    assert rising(literal(1)) is None

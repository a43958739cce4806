"""Which values of a column a rising function of it can come from, found by trying some of them.

Values are whole numbers, as Spark keeps them: dates are days, timestamps microseconds, since 1970.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rennet.plan.expressions import Attribute


@dataclass(frozen=True)
class Rising:
    """Where a function of a column is known to rise: for a + slack ≤ b in low … high, f(a) ≤ f(b)."""

    column: Attribute
    low: int
    high: int
    slack: int = 0


def source_limit(sign: str, limit: int, rising: Rising, function: Callable[[int], int | None]) -> int | None:
    """The value v for which f(c) ≥ limit implies c ≥ v, or f(c) ≤ limit implies c ≤ v, within low … high.

    None if no value is ruled out, or if the function cannot be computed where that is tried.
    """
    if sign == ">=":
        ruled_out = _last(lambda v: _below(function(v), limit), rising.low, rising.high, +1)
        found = None if ruled_out is None else ruled_out + 1 - rising.slack
    else:
        ruled_out = _last(lambda v: _below(limit, function(v)), rising.high, rising.low, -1)
        found = None if ruled_out is None else ruled_out - 1 + rising.slack
    return found if found is not None and rising.low < found < rising.high else None


def _last(holds: Callable[[int], bool | None], first: int, last: int, step: int) -> int | None:
    """A value that the test holds for and the next does not, if it holds for the first one: by bisection."""
    if not holds(first):
        return None
    if holds(last):
        return last
    while abs(last - first) > 1:
        middle = first + step * (abs(last - first) // 2)
        answer = holds(middle)
        if answer is None:
            return None
        first, last = (middle, last) if answer else (first, middle)
    return first


def _below(value: int | None, other: int | None) -> bool | None:
    return None if value is None or other is None else value < other

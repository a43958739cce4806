"""Comparing bags of rows: without Spark."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from rennet.testing.fuzz.compare import bag, difference

NAN = float("nan")


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        ([(1, "a"), (2, "b")], [(2, "b"), (1, "a")]),
        ([(0.1 + 0.2, "a")], [(0.3, "a")]),
        ([(NAN,)], [(NAN,)]),
        ([([1, 2], {"a": 1, "b": 2})], [([1, 2], {"b": 2, "a": 1})]),
        ([(Decimal("1.0"),)], [(Decimal("1.00"),)]),
        ([(1.0,), (1.0 + 1e-12,)], [(1.0,), (1.0,)]),
    ],
)
def test_equal(found: list[Any], wanted: list[Any]) -> None:
    assert difference(bag(found), bag(wanted)) == ""


@pytest.mark.parametrize(
    ("found", "wanted", "said"),
    [
        ([(1,), (1,)], [(1,)], "2 rows instead of 1; too much: (1); missing: none"),
        ([(1,)], [(None,)], "too much: (1); missing: (None)"),
        ([([1, 2],)], [([2, 1],)], "too much: ((1, 2)); missing: ((2, 1))"),
        ([(1.0,), (2.0,)], [(1.0,), (1.0,)], "too much: (2.0); missing: (1.0)"),
        ([(n,) for n in range(6)], [], "and 2 more; missing: none"),
    ],
)
def test_different(found: list[Any], wanted: list[Any], said: str) -> None:
    assert said in difference(bag(found), bag(wanted))

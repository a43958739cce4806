"""Bags of rows collected from Spark: equal up to rounding of floating-point numbers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

RELATIVE, ABSOLUTE = 1e-7, 1e-7
SHOWN = 4
"""So many differing rows are shown."""

Tuple = tuple[Any, ...]


def plain(value: Any) -> Any:
    """A value that can be hashed; NaN equals itself, the order inside arrays matters."""
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else value
    if isinstance(value, dict):
        return frozenset((plain(key), plain(each)) for key, each in value.items())
    if isinstance(value, list | tuple):
        return tuple(plain(each) for each in value)
    return bytes(value) if isinstance(value, bytearray) else value


def bag(rows: Iterable[Any]) -> Counter[Tuple]:
    """Rows with their numbers of copies."""
    return Counter(tuple(plain(value) for value in row) for row in rows)


def difference(found: Counter[Tuple], wanted: Counter[Tuple]) -> str:
    """What is too much and what is missing; nothing when the bags are equal."""
    extra = list((found - wanted).elements())
    missing = list((wanted - found).elements())
    if not extra and not missing:
        return ""
    for row in list(extra):
        match = next((other for other in missing if _close(row, other)), None)
        if match is not None:
            extra.remove(row)
            missing.remove(match)
    if not extra and not missing:
        return ""
    return (
        f"{sum(found.values())} rows instead of {sum(wanted.values())}; "
        f"too much: {_some(extra)}; missing: {_some(missing)}"
    )


def _close(one: Any, other: Any) -> bool:
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(_close(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return bool(one == other)


def _some(rows: list[Tuple]) -> str:
    more = f" and {len(rows) - SHOWN} more" if len(rows) > SHOWN else ""
    return ", ".join(_shown(row) for row in rows[:SHOWN]) + more if rows else "none"


def _shown(row: Tuple) -> str:
    return f"({', '.join(str(v) if isinstance(v, Decimal) else repr(v) for v in row)})"

"""Kinds of values, and random ones: few, skewed, often NULL.

Doubles are multiples of a quarter, so that sums of them are exact whatever their order. What is computed
with rounding (an average, a deviation) is APPROXIMATE: it may be shown and aggregated, but nothing may
be decided by it.
"""

from __future__ import annotations

from random import Random

INT, DECIMAL, DOUBLE, STRING = "int", "decimal", "double", "string"
DATE, TIMESTAMP, BOOLEAN = "date", "timestamp", "boolean"
INTS, STRINGS, STRUCT, MAP = "array<int>", "array<string>", "struct", "map"
APPROXIMATE = "approximate"

NUMBERS = (INT, DECIMAL, DOUBLE)
SCALARS = (INT, DECIMAL, DOUBLE, STRING, DATE, TIMESTAMP, BOOLEAN)
NESTED = (INTS, STRINGS, STRUCT, MAP)
KEYS = (INT, STRING, DATE, BOOLEAN, DECIMAL)
"""Kinds to join and group by: their values are few, so they meet."""
UNORDERED = (MAP, APPROXIMATE)
"""Kinds that cannot decide an order, a group or a partner."""

TYPES: dict[str, tuple[str, ...]] = {
    INT: ("INT", "BIGINT", "INT", "SMALLINT"),
    DECIMAL: ("DECIMAL(10,2)", "DECIMAL(6,1)", "DECIMAL(18,4)"),
    DOUBLE: ("DOUBLE", "DOUBLE", "FLOAT"),
    STRING: ("STRING",),
    DATE: ("DATE",),
    TIMESTAMP: ("TIMESTAMP", "TIMESTAMP", "TIMESTAMP_NTZ"),
    BOOLEAN: ("BOOLEAN",),
    INTS: ("ARRAY<INT>",),
    STRINGS: ("ARRAY<STRING>",),
    STRUCT: ("STRUCT<a: INT, b: STRING>",),
    MAP: ("MAP<STRING, INT>",),
}
"""SQL types a column of each kind may have."""

WORDS = ("a", "b", "abc", "B", "", "x y", "zz", "ä")


def value(rng: Random, kind: str) -> str:
    """A random value as a SQL literal, small ones most often; never NULL."""
    return LITERALS[kind](rng)


def nullable(rng: Random, kind: str, share: float = 0.15) -> str:
    """A random value as a SQL literal, or NULL."""
    return "NULL" if rng.random() < share else value(rng, kind)


def low(rng: Random, count: int) -> int:
    """A number below `count`; the lower the likelier."""
    return int(count * rng.random() ** 2.5)


def _int(rng: Random) -> str:
    return str(low(rng, 8)) if rng.random() < 0.8 else str(rng.randint(-40, 120))


def _decimal(rng: Random) -> str:
    return f"{low(rng, 12) * 5 - 10}.{rng.choice('0005')}BD"


def _double(rng: Random) -> str:
    return f"{low(rng, 40) / 4 - 1:.2f}D"


def _string(rng: Random) -> str:
    return f"'{WORDS[low(rng, len(WORDS))]}'"


def _date(rng: Random) -> str:
    return f"DATE'2024-0{1 + low(rng, 3)}-{1 + low(rng, 28):02}'"


def _timestamp(rng: Random) -> str:
    return f"TIMESTAMP'2024-01-{1 + low(rng, 5):02} {low(rng, 24):02}:{rng.choice(('00', '30'))}:00'"


def _boolean(rng: Random) -> str:
    return rng.choice(("true", "false", "true"))


def _array(rng: Random, kind: str, sql_type: str) -> str:
    if rng.random() < 0.15:
        return f"CAST(array() AS {sql_type})"
    elements = [nullable(rng, kind, 0.1) for _ in range(rng.randint(1, 3))]
    made = f"array({', '.join(elements)})"
    # Of NULLs alone Spark cannot know what they are elements of.
    return made if set(elements) != {"NULL"} else f"CAST({made} AS {sql_type})"


def _ints(rng: Random) -> str:
    return _array(rng, INT, "ARRAY<INT>")


def _strings(rng: Random) -> str:
    return _array(rng, STRING, "ARRAY<STRING>")


def _struct(rng: Random) -> str:
    return (
        f"named_struct('a', CAST({nullable(rng, INT)} AS INT), 'b', CAST({nullable(rng, STRING)} AS STRING))"
    )


def _map(rng: Random) -> str:
    return (
        f"map('a', {nullable(rng, INT)}, 'b', {_int(rng)})"
        if rng.random() < 0.7
        else f"map('a', {_int(rng)})"
    )


LITERALS = {
    INT: _int,
    DECIMAL: _decimal,
    DOUBLE: _double,
    STRING: _string,
    DATE: _date,
    TIMESTAMP: _timestamp,
    BOOLEAN: _boolean,
    INTS: _ints,
    STRINGS: _strings,
    STRUCT: _struct,
    MAP: _map,
    APPROXIMATE: _double,
}

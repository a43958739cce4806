"""Random expressions over columns, as SQL text.

None may fail on any data: ANSI mode is on, so there is no division, no cast that can overflow, no index
out of bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from rennet.testing.fuzz import values
from rennet.testing.fuzz.tree import Column
from rennet.testing.fuzz.values import (
    APPROXIMATE,
    BOOLEAN,
    DATE,
    DECIMAL,
    DOUBLE,
    INT,
    INTS,
    MAP,
    NUMBERS,
    SCALARS,
    STRING,
    STRINGS,
    STRUCT,
    TIMESTAMP,
)

Form = Callable[["Expressions", int], str]


class Expressions:
    """Expressions over one set of columns."""

    def __init__(self, rng: Random, columns: Sequence[Column]) -> None:
        self.rng = rng
        self.columns = columns

    def of(self, kinds: Sequence[str]) -> list[str]:
        return [column.name for column in self.columns if column.kind in kinds]

    def leaf(self, kind: str) -> str:
        """A column of that kind, else a literal."""
        found = self.of((kind,))
        return self.rng.choice(found) if found and self.rng.random() < 0.85 else values.value(self.rng, kind)

    def make(self, kind: str, depth: int) -> str:
        if depth <= 0 or self.rng.random() < 0.2:
            return self.leaf(kind)
        forms = [form for form, needs in FORMS[kind] if not needs or self.of((needs,))]
        return self.rng.choice(forms)(self, depth - 1)

    def condition(self, depth: int) -> str:
        if depth > 0 and self.rng.random() < 0.35:
            left, right = self.condition(depth - 1), self.condition(depth - 1)
            return self.rng.choice((f"({left} AND {right})", f"({left} OR {right})", f"NOT ({left})"))
        found = [column for column in self.columns if column.kind in SCALARS]
        if not found:
            return self._on_others()
        column = self.rng.choice(found)
        other = self.make(column.kind, 1) if self.rng.random() < 0.4 else values.value(self.rng, column.kind)
        return self._on(column, other)

    def _on(self, column: Column, other: str) -> str:
        name, kind = column.name, column.kind
        literals = ", ".join(values.nullable(self.rng, kind, 0.1) for _ in range(3))
        forms = [f"{name} {sign} {other}" for sign in ("=", "<>", "<", ">=", "<=>")]
        forms += [f"{name} IS NULL", f"{name} IS NOT NULL", f"{name} IN ({literals})"]
        forms += [f"{name} IS DISTINCT FROM {other}", f"coalesce({name}, {other}) = {other}"]
        if kind == STRING:
            forms += [f"{name} LIKE '%b%'", f"length({name}) > 1", f"startswith({name}, 'a')"]
        if kind == BOOLEAN:
            forms += [name, f"NOT {name}"]
        if kind in (INT, DECIMAL, DOUBLE, DATE):
            forms.append(f"{name} BETWEEN {values.value(self.rng, kind)} AND {other}")
        return self.rng.choice(forms)

    def _on_others(self) -> str:
        names = [column.name for column in self.columns]
        return f"{self.rng.choice(names)} IS NOT NULL" if names else "true"


def scalar(rng: Random, columns: Sequence[Column], kind: str, depth: int = 1) -> str:
    """An expression of that kind."""
    return Expressions(rng, columns).make(kind, depth)


def predicate(rng: Random, columns: Sequence[Column], depth: int = 1) -> str:
    """A condition."""
    return Expressions(rng, columns).condition(depth)


def _two(template: str, first: str, second: str) -> Form:
    return lambda e, depth: template.format(e.make(first, depth), e.make(second, depth))


def _one(template: str, kind: str) -> Form:
    return lambda e, depth: template.format(e.make(kind, depth))


def _any_null(e: Expressions, depth: int) -> str:
    return f"CAST({e.rng.choice([c.name for c in e.columns])} IS NULL AS INT)" if e.columns else "0"


def _choice(kind: str) -> list[tuple[Form, str]]:
    """What every kind has."""

    def case(e: Expressions, depth: int) -> str:
        return f"CASE WHEN {e.condition(0)} THEN {e.make(kind, depth)} ELSE {e.make(kind, depth)} END"

    def partial(e: Expressions, depth: int) -> str:
        return f"CASE WHEN {e.condition(0)} THEN {e.make(kind, depth)} END"

    def either(e: Expressions, depth: int) -> str:
        return f"coalesce({e.make(kind, depth)}, {values.value(e.rng, kind)})"

    def chosen(e: Expressions, depth: int) -> str:
        return f"if({e.condition(0)}, {e.make(kind, depth)}, NULL)"

    return [(case, ""), (partial, ""), (either, ""), (chosen, "")]


def _number(kind: str, two: str) -> list[tuple[Form, str]]:
    return [
        (_two("({0} + {1})", kind, kind), kind),
        (_two("({0} - {1})", kind, kind), kind),
        (_one(f"({{0}} * {two})", kind), kind),
        (_one("(- {0})", kind), kind),
        (_one("abs({0})", kind), kind),
        (_two("greatest({0}, {1})", kind, kind), kind),
        (_two("least({0}, {1})", kind, kind), kind),
        (_two("nullif({0}, {1})", kind, kind), kind),
    ]


FORMS: dict[str, list[tuple[Form, str]]] = {
    INT: [
        *_number(INT, "2"),
        *_choice(INT),
        (_one("({0} % 3)", INT), INT),
        (_one("length({0})", STRING), STRING),
        (_one("month({0})", DATE), DATE),
        (_one("hour({0})", TIMESTAMP), TIMESTAMP),
        (_one("size({0})", INTS), INTS),
        (_one("CAST({0} AS INT)", BOOLEAN), BOOLEAN),
        (_one("{0}.a", STRUCT), STRUCT),
        (_one("try_element_at({0}, 'a')", MAP), MAP),
        (_one("get({0}, 0)", INTS), INTS),
        (_any_null, ""),
    ],
    DECIMAL: [
        *_number(DECIMAL, "2"),
        *_choice(DECIMAL),
        (_one("CAST({0} AS DECIMAL(12,2))", INT), INT),
        (_one("round({0}, 1)", DECIMAL), DECIMAL),
    ],
    DOUBLE: [
        *_number(DOUBLE, "0.5D"),
        *_choice(DOUBLE),
        (_one("CAST({0} AS DOUBLE)", INT), INT),
        (_one("floor({0})", DOUBLE), DOUBLE),
    ],
    STRING: [
        *_choice(STRING),
        (_two("concat({0}, {1})", STRING, STRING), STRING),
        (_two("concat_ws('-', {0}, {1})", STRING, STRING), STRING),
        (_one("upper({0})", STRING), STRING),
        (_one("substr({0}, 1, 1)", STRING), STRING),
        (_one("trim({0})", STRING), STRING),
        (_one("CAST({0} AS STRING)", INT), INT),
        (_one("CAST({0} AS STRING)", DATE), DATE),
        (_one("CAST({0} AS STRING)", BOOLEAN), BOOLEAN),
        (_one("{0}.b", STRUCT), STRUCT),
        (_one("get({0}, 1)", STRINGS), STRINGS),
        (_one("array_join({0}, '|')", STRINGS), STRINGS),
    ],
    DATE: [
        *_choice(DATE),
        (_one("date_add({0}, 3)", DATE), DATE),
        (_one("last_day({0})", DATE), DATE),
        (_one("trunc({0}, 'MM')", DATE), DATE),
        (_one("CAST({0} AS DATE)", TIMESTAMP), TIMESTAMP),
    ],
    TIMESTAMP: [
        *_choice(TIMESTAMP),
        (_one("({0} + INTERVAL 1 HOUR)", TIMESTAMP), TIMESTAMP),
        (_one("date_trunc('DAY', {0})", TIMESTAMP), TIMESTAMP),
        (_one("CAST({0} AS TIMESTAMP)", DATE), DATE),
    ],
    BOOLEAN: [
        *_choice(BOOLEAN),
        (lambda e, depth: f"({e.condition(depth)})", ""),
        (_two("({0} AND {1})", BOOLEAN, BOOLEAN), BOOLEAN),
        (_one("array_contains({0}, 1)", INTS), INTS),
        (_one("exists({0}, x -> x > 1)", INTS), INTS),
    ],
    INTS: [
        *_choice(INTS),
        (_two("array({0}, {1})", INT, INT), ""),
        (_one("sort_array({0})", INTS), INTS),
        (_one("array_distinct({0})", INTS), INTS),
        (_one("transform({0}, x -> x + 1)", INTS), INTS),
        (_one("filter({0}, x -> x > 1)", INTS), INTS),
    ],
    STRINGS: [
        *_choice(STRINGS),
        (_two("array({0}, {1})", STRING, STRING), ""),
        (_one("split({0}, '')", STRING), STRING),
        (_one("sort_array({0}, false)", STRINGS), STRINGS),
    ],
    STRUCT: [
        (_two("named_struct('a', CAST({0} AS INT), 'b', {1})", INT, STRING), ""),
    ],
    MAP: [(_one("map('a', {0})", INT), "")],
    APPROXIMATE: [(_one("sqrt(abs({0}))", NUMBERS[0]), "")],
}
"""Per kind, ways to compute a value of it, and the kind of column each needs."""

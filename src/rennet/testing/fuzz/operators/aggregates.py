"""GROUP BY with every kind of aggregate, grouping sets and PIVOT."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from rennet.testing.fuzz import values
from rennet.testing.fuzz.maker import Make, Maker
from rennet.testing.fuzz.tree import Clause, Column, Item, Relation, keep
from rennet.testing.fuzz.values import (
    APPROXIMATE,
    BOOLEAN,
    DATE,
    DECIMAL,
    DOUBLE,
    INT,
    INTS,
    STRING,
    STRINGS,
    TIMESTAMP,
)

Call = tuple[str, str]
"""Text and kind of an aggregate."""
ORDERED = (INT, DECIMAL, DOUBLE, STRING, DATE, TIMESTAMP)
EXACT = (INT, DECIMAL, DOUBLE)


class Calls:
    """Aggregate calls over the columns of one relation."""

    def __init__(self, maker: Maker, columns: Sequence[Column]) -> None:
        self.maker = maker
        self.columns = [c for c in columns if c.kind not in values.UNORDERED]

    def value(self, kinds: Sequence[str], depth: int = 1) -> tuple[str, str]:
        """An argument of one of the kinds, preferably one there are columns of."""
        there = [c.kind for c in self.columns if c.kind in kinds]
        kind = self.maker.one(there or kinds)
        return self.maker.scalar(self.columns, kind, depth), kind

    def count(self) -> Call:
        text, _ = self.value(values.SCALARS)
        other, _ = self.value(values.SCALARS)
        return self.maker.one(
            ("count(*)", f"count({text})", f"count({text}, {other})", f"count_if({self.truth()})")
        ), INT

    def truth(self) -> str:
        return self.maker.predicate(self.columns)

    def sum(self) -> Call:
        text, kind = self.value(EXACT)
        return f"{self.maker.one(('sum', 'sum', 'sum', 'try_sum'))}({text})", kind

    def avg(self) -> Call:
        text, kind = self.value(EXACT)
        return (
            f"{self.maker.one(('avg', 'mean', 'try_avg'))}({text})",
            DECIMAL if kind == DECIMAL else APPROXIMATE,
        )

    def extreme(self) -> Call:
        text, kind = self.value(ORDERED)
        return f"{self.maker.one(('min', 'max'))}({text})", kind

    def spread(self) -> Call:
        text, _ = self.value((INT, DOUBLE))
        names = ("stddev", "stddev_pop", "variance", "var_pop", "skewness", "kurtosis")
        return f"{self.maker.one(names)}({text})", APPROXIMATE

    def together(self) -> Call:
        one, _ = self.value((INT, DOUBLE))
        other, _ = self.value((INT, DOUBLE))
        names = ("corr", "covar_pop", "covar_samp", "regr_count", "regr_avgx", "regr_slope", "regr_sxy")
        name = self.maker.one(names)
        return f"{name}({one}, {other})", INT if name == "regr_count" else APPROXIMATE

    def distinct(self) -> Call:
        text, kind = self.value((*EXACT, STRING, DATE, BOOLEAN))
        other, _ = self.value(ORDERED)
        forms: list[Call] = [(f"count(DISTINCT {text})", INT), (f"count(DISTINCT {text}, {other})", INT)]
        if kind in EXACT:
            forms.append((f"sum(DISTINCT {text})", kind))
        return self.maker.one(forms)

    def collected(self) -> Call:
        text, kind = self.value((INT, STRING))
        name = self.maker.one(("collect_list", "collect_set", "array_agg"))
        return f"sort_array({name}({text}))", INTS if kind == INT else STRINGS

    def joined(self) -> Call:
        text, _ = self.value((STRING,))
        return f"listagg({text}, ',') WITHIN GROUP (ORDER BY {text})", STRING

    def middle(self) -> Call:
        text, _ = self.value((INT, DOUBLE))
        forms = (
            f"percentile({text}, 0.25)",
            f"median({text})",
            f"percentile_cont(0.5) WITHIN GROUP (ORDER BY {text})",
            f"percentile_disc(0.5) WITHIN GROUP (ORDER BY {text} DESC)",
        )
        return self.maker.one(forms), APPROXIMATE

    def mode(self) -> Call:
        text, kind = self.value((INT, STRING, DATE))
        return f"mode({text}, true)", kind

    def by(self) -> Call:
        """max_by with an order that leaves only equal values tied."""
        text, kind = self.value((INT, STRING, DATE))
        order, _ = self.value(ORDERED)
        return f"{self.maker.one(('max_by', 'min_by'))}({text}, struct({order}, {text}))", kind

    def booleans(self) -> Call:
        return f"{self.maker.one(('bool_and', 'bool_or', 'every', 'any'))}({self.truth()})", BOOLEAN

    def bits(self) -> Call:
        text, _ = self.value((INT,))
        return f"{self.maker.one(('bit_and', 'bit_or', 'bit_xor'))}({text})", INT

    def sketch(self) -> Call:
        text, _ = self.value((INT, STRING, DATE))
        return f"approx_count_distinct({text})", INT

    def any(self) -> Call:
        """One of them, perhaps of some rows only, perhaps inside an expression."""
        maker = self.maker
        text, kind = maker.one(FUNCTIONS)(self)
        if maker.chance(0.2) and "sort_array" not in text and "WITHIN" not in text:
            text = f"{text} FILTER (WHERE {self.truth()})"
        if kind == INT and maker.chance(0.15):
            other, _ = self.count()
            text = maker.one((f"({text}) + {other}", f"coalesce({text}, 0)", f"- ({text})"))
        return text, kind


FUNCTIONS: tuple[Callable[[Calls], Call], ...] = (
    Calls.count, Calls.count, Calls.sum, Calls.sum, Calls.sum, Calls.avg, Calls.avg, Calls.extreme,
    Calls.extreme, Calls.spread, Calls.together, Calls.distinct, Calls.distinct, Calls.collected,
    Calls.middle, Calls.mode,
    Calls.by, Calls.booleans, Calls.bits, Calls.joined, Calls.sketch,
)  # fmt: skip
"""What is drawn from; the common ones more often."""
ADDED = (Calls.count, Calls.sum, Calls.sum, Calls.avg)
"""Those that can be kept by adding."""


def calls(maker: Maker, columns: Sequence[Column], count: int) -> list[Item]:
    """Aggregates: often only those that are kept by adding."""
    made = Calls(maker, columns)
    adding = maker.chance(0.35)
    return [maker.item(kind, text) for text, kind in _drawn(maker, made, adding, count)]


def _drawn(maker: Maker, made: Calls, adding: bool, count: int) -> list[Call]:
    drawn = []
    for _ in range(count):
        text, kind = maker.one(ADDED)(made) if adding else made.any()
        drawn.append((text, kind))
    if any("listagg" in text for text, _ in drawn):  # Spark runs that beside DISTINCT only if nobody reads it
        drawn = [(text.replace("(DISTINCT ", "("), kind) for text, kind in drawn]
    return drawn


def group_keys(maker: Maker, child: Relation, low: int, high: int) -> tuple[Relation, list[Column]]:
    """Columns to group by."""
    usable = [c for c in child.columns if c.kind not in values.UNORDERED]
    found = maker.some(usable, low, high)
    if len(found) >= low:
        return child, found
    child, column = maker.having(child, INT)
    return child, [column]


def having(maker: Maker, child: Relation, share: float = 0.3) -> Clause:
    if not maker.chance(share):
        return Clause("HAVING", ())
    made = Calls(maker, child.columns)
    number, _ = made.value((INT,))
    forms = (f"count(*) > {maker.number(0, 3)}", f"sum({number}) > 3", f"min({number}) IS NOT NULL")
    return Clause("HAVING", (maker.one((*forms, f"count(DISTINCT {number}) > 1")),), " AND ")


def grouped(maker: Maker, depth: int) -> Relation:
    """GROUP BY columns or expressions."""
    child, keys = group_keys(maker, maker.child("aggregate", depth), 1, 3)
    shown = [keep(key) for key in keys if maker.chance(0.85)]
    by = [key.name for key in keys]
    if maker.chance(0.2):
        kind = maker.one((INT, STRING, DATE))
        text = maker.scalar(child.columns, kind)
        if not text[0].isdigit() and text[0] not in "'-D":
            by.append(text)
            shown.append(maker.item(kind, text))
    if maker.chance(0.1):  # any row of a group will do for its key
        shown.append(maker.item(keys[0].kind, f"{maker.one(('first', 'last', 'any_value'))}({keys[0].name})"))
    items = (*shown, *calls(maker, child.columns, maker.number(1, 3)))
    clauses = (Clause("GROUP BY", tuple(by), droppable=False), having(maker, child))
    template = "SELECT {i0} FROM {r0} AS s {w0} {w1}"
    return Relation("aggregate", template, items, (child,), clauses, rows=child.rows / 2)


def whole(maker: Maker, depth: int) -> Relation:
    """Aggregates of all rows."""
    child = maker.child("aggregate.global", depth)
    items = tuple(calls(maker, child.columns, maker.number(1, 3)))
    clause = having(maker, child, 0.1)
    return Relation("aggregate.global", "SELECT {i0} FROM {r0} AS s {w0}", items, (child,), (clause,), rows=1)


def sets(op: str, maker: Maker, depth: int) -> Relation:
    """GROUPING SETS, ROLLUP and CUBE."""
    child, keys = group_keys(maker, maker.child(op, depth), 2, 2)
    names = [key.name for key in keys]
    both = ", ".join(names)
    forms = [f"({both})", f"({names[0]})", "()", f"({names[-1]})"]
    parts = {
        "grouping_sets": tuple(maker.some(forms, 2, 4)),
        "rollup": tuple(names),
        "cube": tuple(names),
    }[op]
    head = {
        "grouping_sets": "GROUP BY GROUPING SETS (",
        "rollup": "GROUP BY ROLLUP (",
        "cube": "GROUP BY CUBE (",
    }[op]
    if op == "grouping_sets":
        parts = parts if any(names[0] in part for part in parts) else (forms[0], *parts)
    items = [keep(key) for key in keys if any(key.name in part for part in parts)]
    items += calls(maker, child.columns, maker.number(1, 2))
    if maker.chance(0.3):
        items.append(maker.item(INT, f"grouping({names[0]})"))
    if maker.chance(0.3):
        items.append(maker.item(INT, "grouping_id()"))
    clauses = (Clause(head, parts, tail=")", droppable=False), having(maker, child, 0.15))
    template = "SELECT {i0} FROM {r0} AS s {w0} {w1}"
    return Relation(op, template, tuple(items), (child,), clauses, rows=child.rows)


def pivoted(maker: Maker, depth: int) -> Relation:
    """PIVOT: a column per listed value, grouped by the others."""
    child = maker.child("pivot", depth)
    kind = maker.one([c.kind for c in child.columns if c.kind in (INT, STRING)] or [INT])
    child, spread = maker.having(child, kind)
    keys = [c for c in child.columns if c.kind not in values.UNORDERED and c != spread]
    kept = maker.some(keys, 1, 1)
    number = maker.item(INT, maker.scalar(child.columns, INT))
    below = Relation(
        "", "SELECT {i0} FROM {r0} AS s", (*map(keep, kept), keep(spread), number), (child,), rows=child.rows
    )
    call, made = maker.one(
        ((f"sum({number.column.name})", INT), (f"max({number.column.name})", INT), ("count(*)", INT))
    )
    literals = list(dict.fromkeys(maker.literal(kind) for _ in range(3)))
    cells = [Column(maker.name(), made) for _ in literals]
    listed = ", ".join(f"{text} AS {cell.name}" for text, cell in zip(literals, cells, strict=True))
    template = f"SELECT {{i0}} FROM {{r0}} AS s PIVOT ({call} FOR {spread.name} IN ({listed}))"
    items = tuple(keep(c) for c in (*kept, *cells))
    return Relation("pivot", template, items, (below,), rows=max(1.0, child.rows / 2))


OPERATORS: dict[str, Make] = {
    "aggregate": grouped,
    "aggregate.global": whole,
    "grouping_sets": partial(sets, "grouping_sets"),
    "rollup": partial(sets, "rollup"),
    "cube": partial(sets, "cube"),
    "pivot": pivoted,
}

"""Subqueries in WHERE, SELECT, CASE and HAVING: EXISTS, IN and scalar ones, correlated and not."""

from __future__ import annotations

from functools import partial

from rennet.testing.fuzz import values
from rennet.testing.fuzz.maker import Make, Maker
from rennet.testing.fuzz.operators.joins import match, shown, sides
from rennet.testing.fuzz.tree import Clause, Column, Item, Relation, keep


class Parts:
    """Outer and inner relation with a column of each that may be compared."""

    def __init__(self, maker: Maker, op: str, depth: int) -> None:
        self.outer, self.inner, self.one, self.other = match(maker, *sides(maker, op, depth))
        sign = maker.one(("=", "=", "=", "<=>", "<"))
        self.correlation = f"{self.other.name} {sign} {self.one.name}"

    def where(self, maker: Maker, correlated: bool) -> Clause:
        """The inner WHERE: the correlation, perhaps more."""
        parts = [self.correlation] if correlated else []
        if maker.chance(0.4):
            parts.append(f"({maker.predicate(self.inner.columns)})")
        return Clause("WHERE", tuple(parts), " AND ")

    def relation(self, op: str, template: str, items: tuple[Item, ...], where: Clause) -> Relation:
        return Relation(op, template, items, (self.outer, self.inner), (where,), rows=self.outer.rows)


def _existence(maker: Maker, parts: Parts, op: str) -> tuple[str, Clause]:
    """A condition on a subquery, with `{r1}` and `{w0}` in it."""
    if op.startswith("exists"):
        return "EXISTS (SELECT 1 FROM {r1} AS i {w0})", parts.where(maker, True)
    if op.startswith("not_exists"):
        return "NOT EXISTS (SELECT 1 FROM {r1} AS i {w0})", parts.where(maker, True)
    word = "NOT IN" if op.startswith("not_in") else "IN"
    text = f"{parts.one.name} {word} (SELECT {parts.other.name} FROM {{r1}} AS i {{w0}})"
    return text, parts.where(maker, False)


def in_where(op: str, maker: Maker, depth: int) -> Relation:
    """WHERE with EXISTS, NOT EXISTS, IN or NOT IN."""
    parts = Parts(maker, op, depth)
    condition, where = _existence(maker, parts, op)
    more = maker.predicate(parts.outer.columns)
    text = maker.one((condition, condition, f"{condition} AND ({more})", f"({condition}) OR ({more})"))
    template = f"SELECT {{i0}} FROM {{r0}} AS o WHERE {text}"
    return parts.relation(op, template, shown(maker, parts.outer.columns), where)


def in_select(op: str, maker: Maker, depth: int) -> Relation:
    """EXISTS or IN as a value, perhaps inside CASE."""
    parts = Parts(maker, op, depth)
    condition, where = _existence(maker, parts, op)
    made = Column(maker.name(), values.BOOLEAN)
    if maker.chance(0.5):
        condition = f"CASE WHEN {condition} THEN 1 ELSE 0 END"
        made = Column(made.name, values.INT)
    elif " IN (" in condition:  # Spark itself says NULL or false, depending on what is around it
        condition = f"coalesce({condition}, false)"
    template = f"SELECT {{i0}}, {condition} AS {made.name} FROM {{r0}} AS o"
    below = parts.relation("", template, shown(maker, parts.outer.columns), where)
    return _with_column(op, below, made)


def _with_column(op: str, below: Relation, made: Column) -> Relation:
    """A column that the template computes must be seen as an item: select all once more."""
    items = tuple(keep(c) for c in (*below.columns, made))
    (clause,) = below.clauses
    inner = below.template.replace("{i0}", ", ".join(item.column.name for item in below.items))
    return Relation(
        op, f"SELECT {{i0}} FROM ({inner}) AS v", items, below.children, (clause,), rows=below.rows
    )


def _single_value(maker: Maker, parts: Parts, correlated: bool) -> tuple[str, str, Clause]:
    """A subquery of one value, and its kind."""
    kinds = (values.INT, values.STRING, values.DECIMAL, values.DATE)
    kind = maker.one([c.kind for c in parts.inner.columns if c.kind in kinds] or kinds)
    value = maker.scalar(parts.inner.columns, kind)
    calls = [f"max({value})", f"min({value})"]
    calls += [f"sum({value})"] if kind in (values.INT, values.DECIMAL) else []
    call = maker.one(calls)
    if maker.chance(0.3):
        kind, call = (
            values.INT,
            maker.one(("count(*)", f"count({value})", f"coalesce(sum(length({value})), 0)")),
        )
    return f"(SELECT {call} FROM {{r1}} AS i {{w0}})", kind, parts.where(maker, correlated)


def scalar_in_select(op: str, maker: Maker, depth: int) -> Relation:
    """A scalar subquery in the SELECT list, perhaps inside an expression."""
    parts = Parts(maker, op, depth)
    text, kind, where = _single_value(maker, parts, op.startswith("scalar.correlated"))
    if maker.chance(0.3):
        text = f"coalesce({text}, {maker.literal(kind)})"
    made = Column(maker.name(), kind)
    template = f"SELECT {{i0}}, {text} AS {made.name} FROM {{r0}} AS o"
    return _with_column(op, parts.relation("", template, shown(maker, parts.outer.columns), where), made)


def scalar_in_where(op: str, maker: Maker, depth: int) -> Relation:
    """A scalar subquery that rows are compared with."""
    parts = Parts(maker, op, depth)
    text, kind, where = _single_value(maker, parts, op.startswith("scalar.correlated"))
    mine = maker.scalar(parts.outer.columns, kind)
    sign = maker.one(("<", ">=", "<>", "=", "<=>"))
    template = f"SELECT {{i0}} FROM {{r0}} AS o WHERE {mine} {sign} {text}"
    return parts.relation(op, template, shown(maker, parts.outer.columns), where)


def in_having(op: str, maker: Maker, depth: int) -> Relation:
    """HAVING with a subquery."""
    parts = Parts(maker, op, depth)
    number = maker.scalar(parts.outer.columns, values.INT)
    items = (keep(parts.one), maker.item(values.INT, f"sum({number})"), maker.item(values.INT, "count(*)"))
    if op == "having.in":
        word = maker.one(("IN", "NOT IN"))
        text = f"{parts.one.name} {word} (SELECT {parts.other.name} FROM {{r1}} AS i {{w0}})"
    else:
        least = f"min({maker.scalar(parts.inner.columns, values.INT)})"
        text = f"sum({number}) > (SELECT {least} FROM {{r1}} AS i {{w0}})"
    template = f"SELECT {{i0}} FROM {{r0}} AS o GROUP BY {parts.one.name} HAVING {text}"
    return parts.relation(op, template, items, parts.where(maker, False))


EXISTENCE = ("exists", "not_exists", "in", "not_in")
OPERATORS: dict[str, Make] = {
    **{f"{name}.where": partial(in_where, f"{name}.where") for name in EXISTENCE},
    **{f"{name}.select": partial(in_select, f"{name}.select") for name in EXISTENCE},
    **{
        f"scalar.{how}.{place}": partial(make, f"scalar.{how}.{place}")
        for how in ("correlated", "alone")
        for place, make in (("select", scalar_in_select), ("where", scalar_in_where))
    },
    "having.in": partial(in_having, "having.in"),
    "having.scalar": partial(in_having, "having.scalar"),
}

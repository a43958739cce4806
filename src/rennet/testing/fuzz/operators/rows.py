"""Operators on single rows, LIMIT and CTEs."""

from __future__ import annotations

from dataclasses import replace

from rennet.testing.fuzz import values
from rennet.testing.fuzz.maker import WIDEST, Make, Maker
from rennet.testing.fuzz.tree import Clause, Column, Item, Relation, keep, selected


def project(maker: Maker, depth: int) -> Relation:
    """Some columns, some expressions."""
    child = maker.child("project", depth)
    items = [keep(c) for c in maker.some(child.columns, 1, WIDEST - 2)]
    usable = [c for c in child.columns if c.kind != values.APPROXIMATE]
    for _ in range(maker.number(1, 2)):
        kind = maker.one([c.kind for c in usable if c.kind in values.SCALARS] or values.SCALARS)
        if maker.chance(0.3):
            kind = maker.one((*values.SCALARS, *values.NESTED))
        items.append(maker.item(kind, maker.scalar(usable, kind, 2)))
    return selected(child, tuple(items), "project")


def filtered(maker: Maker, depth: int) -> Relation:
    """WHERE."""
    child = maker.child("filter", depth)
    where = Clause("WHERE", (maker.predicate(child.columns, 2),), " AND ")
    return _passing(child, "filter", "SELECT {i0} FROM {r0} AS s {w0}", where, 0.6)


def _passing(child: Relation, op: str, template: str, clause: Clause, share: float = 1.0) -> Relation:
    items = tuple(keep(c) for c in child.columns)
    return Relation(op, template, items, (child,), (clause,), rows=child.rows * share)


def distinct(maker: Maker, depth: int) -> Relation:
    """SELECT DISTINCT."""
    child = maker.exact(maker.child("distinct", depth))
    items = tuple(keep(c) for c in maker.some(child.columns, 1, 3))
    return Relation("distinct", "SELECT DISTINCT {i0} FROM {r0} AS s", items, (child,), rows=child.rows * 0.7)


def limited(maker: Maker, depth: int) -> Relation:
    """ORDER BY every column LIMIT n, perhaps OFFSET m."""
    child = maker.exact(maker.child("limit", depth))
    order = Clause("ORDER BY", (maker.order(maker.shuffled(child.columns)),), droppable=False)
    offset = f" OFFSET {maker.number(1, 3)}" if maker.chance(0.3) else ""
    template = f"SELECT {{i0}} FROM {{r0}} AS s {{w0}} LIMIT {maker.number(1, 8)}{offset}"
    return replace(_passing(child, "limit", template, order), rows=5)


def with_cte(maker: Maker, depth: int) -> Relation:
    """WITH name AS (…): the body is used once or more in the query below."""
    body = maker.child("cte", depth)
    name = f"q{maker.name()[1:]}"
    maker.shared.append((name, body))
    main = maker.child("cte", depth)
    maker.shared.pop()
    items = tuple(keep(c) for c in main.columns)
    template = f"WITH {name} AS {{r0}} SELECT {{i0}} FROM {{r1}} AS s"
    return Relation("cte", template, items, (body, main), rows=main.rows)


# -- generators ---------------------------------------------------------------------------------------------


def _generated(
    maker: Maker, op: str, child: Relation, call: str, made: list[Column], rows: float = 2.0
) -> Relation:
    """A generator in one of the ways to write it; some columns of the child stay."""
    names = ", ".join(column.name for column in made)
    outer = maker.chance(0.35)
    view = f"LATERAL VIEW {'OUTER ' if outer else ''}{call} g AS {names}"
    joined = f"CROSS JOIN LATERAL {call.replace('(', '_outer(', 1) if outer else call} AS g({names})"
    written = maker.one((view, view, joined)) if op != "stack" else view
    items = tuple(keep(c) for c in (*maker.some(child.columns, 1, 3), *made))
    template = f"SELECT {{i0}} FROM {{r0}} AS s {written}"
    return Relation(op, template, items, (child,), rows=child.rows * rows)


def exploded(maker: Maker, depth: int) -> Relation:
    """explode: a row per element."""
    kind = maker.one((values.INTS, values.STRINGS))
    child, column = maker.having(maker.child("explode", depth), kind)
    element = values.INT if kind == values.INTS else values.STRING
    return _generated(maker, "explode", child, f"explode({column.name})", [Column(maker.name(), element)])


def exploded_map(maker: Maker, depth: int) -> Relation:
    """explode of a map: a row per key."""
    child, column = maker.having(maker.child("explode.map", depth), values.MAP)
    made = [Column(maker.name(), values.STRING), Column(maker.name(), values.INT)]
    return _generated(maker, "explode.map", child, f"explode({column.name})", made)


def positions(maker: Maker, depth: int) -> Relation:
    """posexplode: a row per element, with its position."""
    child, column = maker.having(maker.child("posexplode", depth), values.INTS)
    made = [Column(maker.name(), values.INT), Column(maker.name(), values.INT)]
    return _generated(maker, "posexplode", child, f"posexplode({column.name})", made)


def _number_and_text(maker: Maker, child: Relation) -> tuple[str, str]:
    return maker.scalar(child.columns, values.INT), maker.scalar(child.columns, values.STRING)


def inlined(maker: Maker, depth: int) -> Relation:
    """inline: a row per struct."""
    child = maker.child("inline", depth)
    structs = ", ".join(
        "struct(CAST({} AS BIGINT) AS a, {} AS b)".format(*_number_and_text(maker, child)) for _ in range(2)
    )
    made = [Column(maker.name(), values.INT), Column(maker.name(), values.STRING)]
    return _generated(maker, "inline", child, f"inline(array({structs}))", made)


def stacked(maker: Maker, depth: int) -> Relation:
    """stack: so many rows of the given values."""
    child = maker.child("stack", depth)
    cells = ", ".join("CAST({} AS BIGINT), {}".format(*_number_and_text(maker, child)) for _ in range(2))
    made = [Column(maker.name(), values.INT), Column(maker.name(), values.STRING)]
    return _generated(maker, "stack", child, f"stack(2, {cells})", made)


def unpivoted(maker: Maker, depth: int) -> Relation:
    """UNPIVOT: some columns of one kind become rows."""
    child = maker.child("unpivot", depth)
    kind = maker.one([c.kind for c in child.columns if c.kind in values.SCALARS] or [values.INT])
    first, second = (Item(Column(maker.name(), kind), (maker.scalar(child.columns, kind),)) for _ in range(2))
    kept = tuple(keep(c) for c in maker.some(child.columns, 1, 2))
    below = selected(child, (*kept, first, second))
    label, cell = Column(maker.name(), values.STRING), Column(maker.name(), kind)
    nulls = maker.one((" INCLUDE NULLS", " EXCLUDE NULLS", ""))
    template = (
        f"SELECT {{i0}} FROM {{r0}} AS s UNPIVOT{nulls} ({cell.name} FOR {label.name} IN "
        f"({first.column.name} AS p, {second.column.name} AS q))"
    )
    items = tuple(keep(c) for c in (*(item.column for item in kept), label, cell))
    return Relation("unpivot", template, items, (below,), rows=child.rows * 2)


OPERATORS: dict[str, Make] = {
    "project": project,
    "filter": filtered,
    "distinct": distinct,
    "limit": limited,
    "cte": with_cte,
    "explode": exploded,
    "explode.map": exploded_map,
    "posexplode": positions,
    "inline": inlined,
    "stack": stacked,
    "unpivot": unpivoted,
}

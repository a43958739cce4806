"""Where rows come from: tables, views, CTEs, VALUES and range()."""

from __future__ import annotations

from collections.abc import Sequence

from rennet.testing.fuzz import values
from rennet.testing.fuzz.maker import WIDEST, Make, Maker
from rennet.testing.fuzz.tree import Column, Relation


def named(maker: Maker, op: str, source: str, columns: Sequence[Column], rows: float) -> Relation:
    """SELECT some columns of something named, under new names."""
    chosen = maker.some(columns, min(2, len(columns)), WIDEST)
    items = tuple(maker.item(column.kind, column.name) for column in chosen)
    return Relation(op, f"SELECT {{i0}} FROM {source}", items, rows=rows, reads=source)


def table(maker: Maker, depth: int) -> Relation:
    """A Delta table."""
    chosen = maker.one(maker.tables)
    return named(maker, "table", chosen.name, chosen.columns, max(1.0, len(chosen.rows)))


def view(maker: Maker, depth: int) -> Relation:
    """A plain view."""
    chosen = maker.one(maker.views)
    return named(maker, "view", chosen.name, chosen.table.columns, max(1.0, len(chosen.table.rows)))


def reference(maker: Maker, depth: int) -> Relation:
    """A CTE that is in scope."""
    name, body = maker.one(maker.shared)
    return named(maker, "cte.reference", name, body.columns, body.rows)


def constants(maker: Maker, depth: int) -> Relation:
    """VALUES: the first row has no NULL, so that every column has a type."""
    kinds = [
        values.INT,
        *(maker.one((values.STRING, values.INT, values.DATE)) for _ in range(maker.number(1, 2))),
    ]
    count = maker.number(1, 4)
    first = [maker.literal(kind) for kind in kinds]
    rows = [first, *([values.nullable(maker.rng, kind, 0.2) for kind in kinds] for _ in range(count - 1))]
    text = ", ".join(f"({', '.join(row)})" for row in rows)
    items = tuple(maker.item(kind, f"col{n + 1}") for n, kind in enumerate(kinds))
    return Relation("values", f"SELECT {{i0}} FROM VALUES {text}", items, rows=count)


def numbers(maker: Maker, depth: int) -> Relation:
    """The numbers up to some small one."""
    count = maker.number(1, 6)
    items = (maker.item(values.INT, "id"), maker.item(values.STRING, "CAST(id % 2 AS STRING)"))
    return Relation("range", f"SELECT {{i0}} FROM range({count})", items, rows=count)


LEAVES: dict[str, Make] = {
    "table": table,
    "view": view,
    "cte.reference": reference,
    "values": constants,
    "range": numbers,
}

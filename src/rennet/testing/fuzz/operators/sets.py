"""UNION, INTERSECT and EXCEPT, with and without ALL."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from rennet.testing.fuzz import values
from rennet.testing.fuzz.maker import Make, Maker
from rennet.testing.fuzz.tree import Column, Item, Relation

WORDS = {
    "union.all": "UNION ALL",
    "union": "UNION",
    "intersect": "INTERSECT",
    "intersect.all": "INTERSECT ALL",
    "except": "EXCEPT",
    "except.all": "EXCEPT ALL",
}


def combined(op: str, maker: Maker, depth: int) -> Relation:
    """Two relations, each with as many columns, of the same kinds; few, so that rows meet."""
    left = maker.exact(maker.child(op, depth))
    right = maker.exact(maker.child(op, depth - maker.number(0, 1)))
    items = []
    for column in maker.some(left.columns, 1, 3):
        items.append(
            Item(Column(maker.name(), column.kind), (column.name, _match(maker, right, column.kind)))
        )
    template = f"SELECT {{i0}} FROM {{r0}} AS s {WORDS[op]} SELECT {{i1}} FROM {{r1}} AS s"
    return Relation(op, template, tuple(items), (left, right), rows=left.rows + right.rows)


def _match(maker: Maker, other: Relation, kind: str) -> str:
    found = maker.of_kind(other, (kind,))
    if found:
        return maker.one(found).name
    if kind in values.NESTED:
        return maker.literal(kind)
    return maker.scalar(other.columns, kind)


def _maker(op: str) -> Callable[[Maker, int], Relation]:
    return partial(combined, op)


OPERATORS: dict[str, Make] = {op: _maker(op) for op in WORDS}

"""Joins of every kind."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from rennet.testing.fuzz import values
from rennet.testing.fuzz.maker import LARGEST, WIDEST, Make, Maker
from rennet.testing.fuzz.tree import Clause, Column, Item, Relation, keep, selected

WORDS = {
    "join.inner": "JOIN",
    "join.left": "LEFT JOIN",
    "join.right": "RIGHT JOIN",
    "join.full": "FULL JOIN",
    "join.semi": "LEFT SEMI JOIN",
    "join.anti": "LEFT ANTI JOIN",
}


def sides(maker: Maker, op: str, depth: int, square: bool = False) -> tuple[Relation, Relation]:
    """Two relations; small ones if every row meets every other."""
    left = maker.child(op, depth)
    right = maker.child(op, depth - maker.number(0, 1))
    if square and left.rows * right.rows > LARGEST:
        right = few(maker, right)
        if left.rows * right.rows > LARGEST:
            left = few(maker, left)
    return left, right


def few(maker: Maker, child: Relation) -> Relation:
    """At most a dozen of the rows, by a total order."""
    below = maker.exact(child)
    items = tuple(keep(c) for c in below.columns)
    order = Clause("ORDER BY", (", ".join(c.name for c in below.columns),), droppable=False)
    template = "SELECT {i0} FROM {r0} AS s {w0} LIMIT 12"
    return Relation("", template, items, (below,), (order,), rows=12)


def match(maker: Maker, left: Relation, right: Relation) -> tuple[Relation, Relation, Column, Column]:
    """A column of each side, of one kind, computed where there is none."""
    shared = [kind for kind in values.KEYS if maker.of_kind(left, (kind,)) and maker.of_kind(right, (kind,))]
    kind = maker.one(shared) if shared else values.INT
    left, one = maker.having(left, kind)
    right, other = maker.having(right, kind)
    return left, right, one, other


def shown(maker: Maker, columns: Sequence[Column]) -> tuple[Item, ...]:
    return tuple(keep(c) for c in maker.some(columns, min(len(columns), 2), WIDEST))


def equal(op: str, maker: Maker, depth: int) -> Relation:
    """A join by equal columns, perhaps null-safe, perhaps with a condition more."""
    left, right, one, other = match(maker, *sides(maker, op, depth))
    sign = "<=>" if maker.chance(0.15) else "="
    parts = [f"{one.name} {sign} {other.name}"]
    both = (*left.columns, *right.columns)
    if maker.chance(0.35):
        parts.append(f"({maker.predicate(both)})")
    columns = left.columns if op in ("join.semi", "join.anti") else both
    template = f"SELECT {{i0}} FROM {{r0}} AS l {WORDS[op]} {{r1}} AS r {{w0}}"
    on = Clause("ON", tuple(parts), " AND ")
    rows = max(left.rows, right.rows, left.rows * right.rows / 5)
    return Relation(op, template, shown(maker, columns), (left, right), (on,), rows=rows)


def ranged(op: str, maker: Maker, depth: int) -> Relation:
    """A join by an inequality."""
    left, right, one, other = match(maker, *sides(maker, op, depth, square=True))
    how = op.replace("range", "join")
    texts = [f"{one.name} < {other.name}", f"{one.name} >= {other.name}", f"{one.name} <> {other.name}"]
    if one.kind in (values.INT, values.DECIMAL):
        texts.append(f"{one.name} BETWEEN {other.name} - 1 AND {other.name} + 2")
    columns = left.columns if op in ("range.semi", "range.anti") else (*left.columns, *right.columns)
    template = f"SELECT {{i0}} FROM {{r0}} AS l {WORDS[how]} {{r1}} AS r {{w0}}"
    on = Clause("ON", (maker.one(texts),), " AND ")
    rows = left.rows * right.rows / 2
    return Relation(op, template, shown(maker, columns), (left, right), (on,), rows=rows)


def crossed(maker: Maker, depth: int) -> Relation:
    """Every row with every other."""
    left, right = sides(maker, "join.cross", depth, square=True)
    columns = shown(maker, (*left.columns, *right.columns))
    sign = maker.one((" CROSS JOIN", ","))
    template = f"SELECT {{i0}} FROM {{r0}} AS l{sign} {{r1}} AS r"
    return Relation("join.cross", template, columns, (left, right), rows=left.rows * right.rows)


def by_name(op: str, maker: Maker, depth: int) -> Relation:
    """USING and NATURAL: the key has one name on both sides."""
    left, right, one, other = match(maker, *sides(maker, op, depth))
    key = Column(maker.name("k"), one.kind)
    left, right = (
        selected(side, (Item(key, (column.name,)), *(keep(c) for c in side.columns if c != column)))
        for side, column in ((left, one), (right, other))
    )
    rest = (*left.columns[1:], *right.columns[1:])
    items = (maker.item(key.kind, key.name), *(keep(c) for c in maker.some(rest, 0, WIDEST - 1)))
    how = maker.one(("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"))
    if op == "join.using":
        template = f"SELECT {{i0}} FROM {{r0}} AS l {how} {{r1}} AS r USING ({key.name})"
    else:
        template = f"SELECT {{i0}} FROM {{r0}} AS l NATURAL {how} {{r1}} AS r"
    rows = max(left.rows, right.rows, left.rows * right.rows / 5)
    return Relation(op, template, items, (left, right), rows=rows)


def self_join(maker: Maker, depth: int) -> Relation:
    """The same relation twice, under other names."""
    left = maker.child("join.self", depth)
    right = maker.renewed(left)
    left, right, one, other = match(maker, left, right)
    how = WORDS[maker.one(("join.inner", "join.left", "join.full"))]
    parts = [f"{one.name} = {other.name}"]
    ordered = [n for n, c in enumerate(left.columns) if c.kind in values.SCALARS and n < len(right.columns)]
    if ordered and maker.chance(0.5):
        at = maker.one(ordered)
        parts.append(f"{left.columns[at].name} < {right.columns[at].name}")
    template = f"SELECT {{i0}} FROM {{r0}} AS l {how} {{r1}} AS r {{w0}}"
    on = Clause("ON", tuple(parts), " AND ")
    items = shown(maker, (*left.columns, *right.columns))
    return Relation("join.self", template, items, (left, right), (on,), rows=left.rows * 3)


def lateral(maker: Maker, depth: int) -> Relation:
    """A subquery that looks at the row on its left: an aggregate, or the rows that match."""
    left, right, one, other = match(maker, *sides(maker, "join.lateral", depth))
    where = Clause("WHERE", (f"{other.name} = {one.name}",), " AND ", droppable=False)
    how = maker.one((",", " LEFT JOIN", " CROSS JOIN"))
    number = maker.scalar(right.columns, values.INT)
    made = Column(maker.name(), values.INT)
    value = maker.one((f"max({number})", f"sum({number})", "count(*)", number))
    on = " ON true" if how == " LEFT JOIN" else ""
    template = (
        f"SELECT {{i0}} FROM {{r0}} AS l{how} LATERAL (SELECT {value} AS {made.name} FROM {{r1}} AS r {{w0}})"
        f" AS g{on}"
    )
    items = (*shown(maker, left.columns), keep(made))
    return Relation("join.lateral", template, items, (left, right), (where,), rows=left.rows * 2)


OPERATORS: dict[str, Make] = {
    **{op: partial(equal, op) for op in WORDS},
    **{op.replace("join", "range"): partial(ranged, op.replace("join", "range")) for op in WORDS},
    "join.cross": crossed,
    "join.using": partial(by_name, "join.using"),
    "join.natural": partial(by_name, "join.natural"),
    "join.self": self_join,
    "join.lateral": lateral,
}

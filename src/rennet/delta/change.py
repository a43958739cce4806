"""What a node was, what it is, and how it changed.

A delta is a bag with signed multiplicities: the node's own columns and, last, a BIGINT weight. Weights
are any integers, because duplicates are legal in SQL; a row may appear several times, and what counts is
the sum. `T' = T + ΔT` is the law every rule must keep.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from rennet.delta.keys import changed_keys
from rennet.plan.expressions import Attribute, Expr, Named, alias, attribute_of, call, differs, literal
from rennet.plan.ir import Aggregate, Node, Once, Project, Union, filter_, project

WEIGHT = "__mv_weight"


@dataclass(frozen=True)
class Change:
    """A node before and after, and the difference; no delta means nothing changed."""

    before: Node
    after: Node
    delta: Node | None = None
    grows: bool = True
    """Every weight is one: rows only arrive, each for itself."""
    where: Node | None = None
    """Rows with some of the node's columns: every row of the delta agrees with one of them in all of those.
    It says which keys changed before the delta is computed, or without computing it."""
    _keys: dict[tuple[int, ...], Once] = field(default_factory=dict, compare=False, repr=False)

    @property
    def changed(self) -> bool:
        return self.delta is not None

    def telling(self, columns: tuple[Attribute, ...]) -> Node:
        """Rows that have all values of these columns that the delta has, together, and perhaps others."""
        assert self.delta is not None
        known = self.where is not None and {column.id for column in columns} <= self.where.ids
        return self.where if known and self.where is not None else self.delta

    def keys(self, columns: tuple[Attribute, ...]) -> Once:
        """The distinct values of these columns that changed, computed once whoever asks."""
        asked = tuple(column.id for column in columns)
        if asked not in self._keys:
            self._keys[asked] = Once((changed_keys(self.telling(columns), columns),))
        return self._keys[asked]


def weight_of(delta: Node) -> Attribute:
    """A delta's last column."""
    return delta.output[-1]


def weighted(rows: Node, weight: int) -> Project:
    """Plain rows as a delta, each counting `weight`."""
    return project(rows, (*rows.output, alias(literal(weight), WEIGHT)))


def renamed(delta: Node, columns: tuple[Attribute, ...]) -> Project:
    """A delta under other ids, by position."""
    pairs = zip(delta.output[:-1], columns, strict=True)
    named: list[Named] = [old if old == new else alias(old, new.name, new.id) for old, new in pairs]
    return project(delta, (*named, weight_of(delta)))


def with_arrivals(rows: Node, delta: Node) -> Node:
    """T + ΔT, for rows that only arrive: each of them counts once."""
    arrived = project(delta, delta.output[:-1])
    pairs = zip(rows.output, arrived.output, strict=True)
    columns = (replace(a, nullable=a.nullable or b.nullable) for a, b in pairs)
    return Union(tuple(columns), (rows, arrived))


def total(parts: list[Node]) -> Node:
    """The sum of deltas of the same columns."""
    if len(parts) == 1:
        return parts[0]
    weight = alias(literal(0), WEIGHT).attribute
    columns = zip(*(part.output[:-1] for part in parts), strict=True)
    merged = (replace(each[0], nullable=any(column.nullable for column in each)) for each in columns)
    return Union((*merged, weight), tuple(parts))


def effectivize(delta: Node, maps: Collection[Attribute] = ()) -> Node:
    """Each distinct row once, with the sum of its weights, and none with weight zero.

    Of the columns that are maps the spelling is compared: Spark compares them byte by byte, and the bytes of
    a NULL inside of one mean nothing.
    """
    columns = delta.output[:-1]
    weight = alias(call("sum", weight_of(delta), type="bigint"), WEIGHT)
    spelled = tuple(alias(_spelling(column), f"__mv_spelled_{i}") for i, column in enumerate(maps))
    rows = project(delta, (*delta.output, *spelled)) if maps else delta
    telling = (*(c for c in columns if c not in maps), *(s.attribute for s in spelled))
    shown = (alias(call("any_value", c, type=c.type), c.name) if c in maps else c for c in columns)
    grouped = Aggregate(telling, (*shown, weight), (rows,))
    return filter_(grouped, differs(attribute_of(weight), literal(0)))


def _spelling(column: Attribute) -> Expr:
    """What a map holds, key by key, and where it holds NULL: a hash passes over those."""
    entries = call("sort_array", call("map_entries", column))
    nothing = literal("", "string")
    return call("coalesce", call("to_json", entries), nothing, type="string", nullable=False)

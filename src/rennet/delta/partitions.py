"""Stage 4: views whose partitions are made of the same partitions of their changed sources.

Which partitions of a source changed is in its log, so no data is read to find out what to do again; and a
partition of the view is taken away by its files, so none is read to find what to delete.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rennet.delta.temporal import is_temporal
from rennet.plan.expressions import (
    Attribute,
    Expr,
    Named,
    Subquery,
    attribute_of,
    call,
    cast,
    columns_of,
    disjunction,
    equalities,
    literal,
    value_of,
)
from rennet.plan.ir import (
    ANTI,
    EXISTENCE,
    INNER,
    LEFT,
    RIGHT,
    SEMI,
    SINGLE,
    Aggregate,
    Constant,
    Filter,
    Generate,
    Join,
    Node,
    PassThrough,
    Project,
    Scan,
    Slice,
    State,
    Union,
    Window,
    filter_,
)

Values = frozenset[str | None]
Touched = Mapping[str, Mapping[str, Values]]
"""Per changed source, by the names of its partition columns: the values under which rows changed, as text."""
Origins = dict[int, frozenset[tuple[str, str]]]
"""Columns, by id, such that rows with one value depend on no changed row with another value in the partition
columns given with it, which are of every changed source below."""

TYPES = frozenset({"date", "string", "boolean", "tinyint", "smallint", "int", "bigint"})
"""Types whose values are equal if and only if the log writes them alike."""
KEEPS_LEFT = (INNER, LEFT, SEMI, ANTI, EXISTENCE, SINGLE)
MANY = 500
"""More partitions than that are not listed in a condition."""


def partitioned_alike(
    plan: Node, wanted: tuple[str, ...], touched: Touched
) -> tuple[Attribute, Values] | None:
    """The column of the view's partitions, and the values to do again; None if more may have changed."""
    if any(is_temporal(node) for node in plan.walk()):
        return None
    found = _Tracing(touched).of(plan)
    if not found:
        return None
    for name in wanted:
        for column in plan.output:
            if column.name.lower() == name.lower() and column.id in found and column.type in TYPES:
                values = Values().union(*(touched[s][c] for s, c in found[column.id]))
                return (column, values) if len(values) <= MANY else None
    return None


def sliced(plan: Node, column: Attribute, values: Values, touched: Touched) -> Node:
    """σP(Q(T')), with the changed sources cut down to P before anything else is done with them"""
    origins = _Tracing(touched).of(plan) or {}
    only = dict(origins[column.id])

    def cut(node: Node) -> Node:
        if not isinstance(node, Scan) or node.source not in only or node.state is not State.AFTER:
            return node
        if sum(source == node.source for source, _ in origins[column.id]) > 1:
            return node
        by = next(each for each in node.output if each.name == only[node.source])
        return Slice(_among(by, values), (node,))

    return filter_(plan.transform_up(cut), _among(column, values))


def _among(column: Attribute, values: Values) -> Expr:
    named = sorted(value for value in values if value is not None)
    parts = [call("=", column, cast(literal(v, "string"), column.type), type="boolean") for v in named]
    if None in values:
        parts.append(call("isnull", column, type="boolean", nullable=False))
    return disjunction(parts)


class _Tracing:
    """Follows partition columns up a plan; None stands for a plan in which nothing changed."""

    def __init__(self, touched: Touched) -> None:
        self.touched = touched

    def of(self, node: Node) -> Origins | None:
        if isinstance(node, Scan):
            return self._scan(node)
        if isinstance(node, Constant):
            return None
        below = [self.of(child) for child in node.children]
        if all(each is None for each in below):
            return None
        rule = TRACED.get(type(node))
        asks = any(isinstance(part, Subquery) for e in node.expressions for part in e.walk())
        return {} if rule is None or asks else rule(node, below)

    def _scan(self, node: Scan) -> Origins | None:
        if node.source not in self.touched:
            return None
        known = self.touched[node.source]
        return {c.id: frozenset({(node.source, c.name)}) for c in node.output if c.name in known}


def _renamed(exprs: tuple[Named, ...], found: Origins) -> Origins:
    """Columns that are handed on as they are."""
    values = ((attribute_of(each).id, value_of(each)) for each in exprs)
    return {id: found[v.id] for id, v in values if isinstance(v, Attribute) and v.id in found}


def _project(node: Project, below: list[Origins | None]) -> Origins:
    return _renamed(node.exprs, below[0] or {})


def _same(node: Node, below: list[Origins | None]) -> Origins:
    """Every row stems from one row below."""
    ids = node.ids
    return {id: origins for id, origins in (below[0] or {}).items() if id in ids}


def _aggregate(node: Aggregate, below: list[Origins | None]) -> Origins:
    """A group lies in one partition if the column is a key of it."""
    keys = {key.id for key in node.grouping if isinstance(key, Attribute)}
    return _renamed(node.exprs, {id: o for id, o in (below[0] or {}).items() if id in keys})


def _window(node: Window, below: list[Origins | None]) -> Origins:
    keys = {key.id for key in columns_of(node.partition)}
    return {id: origins for id, origins in (below[0] or {}).items() if id in keys & node.ids}


def _union(node: Union, below: list[Origins | None]) -> Origins:
    found: Origins = {}
    for place, column in enumerate(node.output):
        parts = [
            each.get(child.output[place].id)
            for child, each in zip(node.children, below, strict=True)
            if each is not None
        ]
        if all(part is not None for part in parts):
            found[column.id] = frozenset[tuple[str, str]]().union(*(part for part in parts if part))
    return found


def _join(node: Join, below: list[Origins | None]) -> Origins:
    """Rows meet within a partition if the condition says so, or if one of the sides did not change."""
    if node.how == RIGHT:
        return _meeting(node, node.right, below[1], node.left, below[0])
    if node.how not in KEEPS_LEFT:
        return {}
    found = _meeting(node, node.left, below[0], node.right, below[1])
    if node.how == INNER:
        found |= _meeting(node, node.right, below[1], node.left, below[0])
    return found


def _meeting(node: Join, kept: Node, mine: Origins | None, other: Node, theirs: Origins | None) -> Origins:
    """Columns of the side that keeps its rows."""
    if theirs is None:
        return dict(mine or {})
    found: Origins = {}
    for one, two in _equal_columns(node.condition):
        for a, b in ((one, two), (two, one)):
            if a.id in kept.ids and b.id in other.ids and b.id in theirs and (mine is None or a.id in mine):
                found[a.id] = theirs[b.id] | (mine[a.id] if mine is not None else frozenset())
    return found


def _equal_columns(condition: Expr | None) -> list[tuple[Attribute, Attribute]]:
    pairs = [part.children for part in equalities(condition)]
    return [
        (a, b) for a, b in pairs if isinstance(a, Attribute) and isinstance(b, Attribute) and a.type == b.type
    ]


TRACED: dict[type[Node], Callable[[Any, list[Origins | None]], Origins]] = {
    Project: _project,
    Filter: _same,
    Generate: _same,
    PassThrough: _same,
    Aggregate: _aggregate,
    Window: _window,
    Union: _union,
    Join: _join,
}
"""The operators that a partition's rows can be followed through."""

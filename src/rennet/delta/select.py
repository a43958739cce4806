"""What may be asked of a node's inputs, when it is asked of the node: which rows to look at at all."""

from __future__ import annotations

from typing import TypeVar

from rennet.delta.keys import group_columns
from rennet.plan.expressions import (
    AggregateCall,
    Attribute,
    Expr,
    Named,
    Subquery,
    attribute_of,
    columns_of,
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
    Filter,
    Join,
    Node,
    PassThrough,
    Project,
    Union,
    Window,
)

Asked = TypeVar("Asked")
"""What a value is to be compared with: a column of other rows, a limit."""
OF_THE_LEFT = frozenset({LEFT, SEMI, ANTI, EXISTENCE, SINGLE})
"""Joins that put out left rows, each by itself."""


def selected_below(node: Node, asked: tuple[tuple[Expr, Asked], ...]) -> list[tuple[tuple[Expr, Asked], ...]]:
    """σ(f(T)) = σ(f(σ(T))): per input, what may be asked of its rows when it is asked of the node's

    Nothing where the rows of one key are not kept together, or where a row left out would be missed.
    """
    if isinstance(node, Project):
        return [_kept(through(node.exprs, asked), node.child.ids)]
    if isinstance(node, Filter | PassThrough):
        return [asked]
    if isinstance(node, Aggregate):
        return [_kept(through(node.exprs, asked), frozenset(c.id for c in group_columns(node)))]
    if isinstance(node, Window):
        return [_kept(asked, frozenset(c.id for c in columns_of(node.partition)))]
    if isinstance(node, Union):
        return [renamed(node, child, asked) for child in node.children]
    if isinstance(node, Join):
        left = _kept(asked, node.left.ids) if node.how in (INNER, *OF_THE_LEFT) else ()
        right = _kept(asked, node.right.ids) if node.how in (INNER, RIGHT) else ()
        return [left, right]
    return [() for _ in node.children]


def reads(expression: Expr, ids: frozenset[int]) -> bool:
    """Is it a function of these columns, of one at least, and of nothing else?"""
    return bool(expression.references) and computable(expression, ids)


def computable(expression: Expr, ids: frozenset[int]) -> bool:
    parts = list(expression.walk())
    settled = all(e.deterministic and not isinstance(e, Subquery | AggregateCall) for e in parts)
    return settled and expression.references <= ids


def through(exprs: tuple[Named, ...], keys: tuple[tuple[Expr, Asked], ...]) -> tuple[tuple[Expr, Asked], ...]:
    """The keys as functions of what lies below."""
    values = {attribute_of(e).id: value_of(e) for e in exprs}
    return tuple((_replaced(mine, values), theirs) for mine, theirs in keys)


def renamed(node: Union, child: Node, keys: tuple[tuple[Expr, Asked], ...]) -> tuple[tuple[Expr, Asked], ...]:
    values: dict[int, Expr] = {a.id: b for a, b in zip(node.output, child.output, strict=True)}
    return tuple((_replaced(mine, values), theirs) for mine, theirs in keys)


def _replaced(expression: Expr, values: dict[int, Expr]) -> Expr:
    return expression.transform(lambda e: values.get(e.id) if isinstance(e, Attribute) else None)


def _kept(keys: tuple[tuple[Expr, Asked], ...], ids: frozenset[int]) -> tuple[tuple[Expr, Asked], ...]:
    """The keys that are functions of these columns; fewer keys only select more."""
    return tuple((mine, theirs) for mine, theirs in keys if reads(mine, ids))

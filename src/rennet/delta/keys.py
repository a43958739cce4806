"""The keys of changed rows, and the rows that have them."""

from __future__ import annotations

from rennet.plan.expressions import Attribute, Expr, alias, conjunction, same
from rennet.plan.ir import SEMI, Aggregate, Join, Node, join, project


def columns_of(expressions: tuple[Expr, ...]) -> tuple[Attribute, ...]:
    """Those that are plain columns: enough to be safe, since fewer keys only select more."""
    return tuple(dict.fromkeys(e for e in expressions if isinstance(e, Attribute)))


def group_columns(node: Aggregate) -> tuple[Attribute, ...]:
    """The columns that tell groups apart; a constant in GROUP BY tells nothing apart."""
    return columns_of(node.grouping)


def changed_keys(delta: Node, keys: tuple[Attribute, ...]) -> Node:
    """The distinct values of `keys` in a delta, in columns of their own."""
    copies = tuple(alias(key, f"__mv_key_{i}") for i, key in enumerate(keys))
    columns = tuple(copy.attribute for copy in copies)
    return Aggregate(columns, columns, (project(delta, copies),))


def restricted(rows: Node, keys: tuple[Attribute, ...], changed: Node) -> Join:
    """T ⋉ K: the rows whose keys are among the changed ones, NULL being a key like any other."""
    return join(rows, changed, SEMI, matching(keys, changed.output))


def matching(left: tuple[Attribute, ...], right: tuple[Attribute, ...]) -> Expr:
    """Null-safe equality, column by column."""
    return conjunction([same(a, b) for a, b in zip(left, right, strict=True)])

"""Operators that look at several rows together: only the keys that changed are looked at again."""

from __future__ import annotations

from rennet.delta.change import Change, total, weighted
from rennet.plan.expressions import Attribute, Expr, alias, conjunction, same
from rennet.plan.ir import SEMI, Aggregate, Join, Node, join, project


def aggregate_rule(node: Aggregate, inputs: tuple[Change, ...]) -> Node:
    """Δ γ(T) = γ(T' ⋉ K) − γ(T ⋉ K), K = the groups in ΔT

    Holds for any deterministic aggregate. A group that lost its last row is in the second term only, one
    that is new in the first only. Without grouping columns K selects everything, and both terms have
    their one row even over nothing.
    """
    (child,) = inputs
    assert child.delta is not None
    keys = group_columns(node)
    old, new = child.before, child.after
    if keys:
        old = restricted(old, keys, changed_keys(child.delta, keys))
        new = restricted(new, keys, changed_keys(child.delta, keys))
    gained = weighted(node.with_children((new,)), +1)
    lost = weighted(node.with_children((old,)), -1)
    return total([gained, lost])


def group_columns(node: Aggregate) -> tuple[Attribute, ...]:
    """The columns that tell groups apart; a constant in GROUP BY tells nothing apart."""
    return tuple(dict.fromkeys(e for e in node.grouping if isinstance(e, Attribute)))


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

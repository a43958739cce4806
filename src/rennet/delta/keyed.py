"""Operators that look at several rows together: only the keys that changed are looked at again."""

from __future__ import annotations

from rennet.delta.change import Change, total, weighted
from rennet.plan.expressions import Attribute, Expr, alias, conjunction, same
from rennet.plan.ir import SEMI, Aggregate, GroupMap, Join, Limited, Node, Window, join, project


def aggregate_rule(node: Aggregate, inputs: tuple[Change, ...]) -> Node:
    """Δ γ(T) = γ(T' ⋉ K) − γ(T ⋉ K), K = the groups in ΔT

    Holds for any deterministic aggregate. A group that lost its last row is in the second term only, one
    that is new in the first only. Without grouping columns K selects everything, and both terms have
    their one row even over nothing.
    """
    (child,) = inputs
    return _recomputed(node, child, group_columns(node))


def window_rule(node: Window, inputs: tuple[Change, ...]) -> Node:
    """Δ ω(T) = ω(T' ⋉ K) − ω(T ⋉ K), K = the partitions in ΔT"""
    (child,) = inputs
    return _recomputed(node, child, _columns(node.partition))


def group_map_rule(node: GroupMap, inputs: tuple[Change, ...]) -> Node:
    """Δ f(T) = f(T' ⋉ K) − f(T ⋉ K), K = the groups in ΔT"""
    (child,) = inputs
    return _recomputed(node, child, node.keys)


def limit_rule(node: Limited, inputs: tuple[Change, ...]) -> Node:
    """Δ top(T) = top(T') − top(T)"""
    (child,) = inputs
    return _recomputed(node, child, ())


def _recomputed(node: Node, child: Change, keys: tuple[Attribute, ...]) -> Node:
    """The node over what its keys touch after the changes, less the same before."""
    assert child.delta is not None
    old, new = child.before, child.after
    if keys:
        changed = changed_keys(child.delta, keys)
        old, new = restricted(old, keys, changed), restricted(new, keys, changed)
    gained = weighted(node.with_children((new,)), +1)
    lost = weighted(node.with_children((old,)), -1)
    return total([gained, lost])


def _columns(expressions: tuple[Expr, ...]) -> tuple[Attribute, ...]:
    """Those that are plain columns: enough to be safe, since fewer keys only select more."""
    return tuple(dict.fromkeys(e for e in expressions if isinstance(e, Attribute)))


def group_columns(node: Aggregate) -> tuple[Attribute, ...]:
    """The columns that tell groups apart; a constant in GROUP BY tells nothing apart."""
    return _columns(node.grouping)


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

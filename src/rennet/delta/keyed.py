"""Operators that look at several rows together: only the keys that changed are looked at again."""

from __future__ import annotations

from rennet.delta.bounds import key_bounds
from rennet.delta.change import Change, total, weighted, with_arrivals
from rennet.delta.keys import group_columns
from rennet.delta.narrow import having
from rennet.plan.expressions import Attribute
from rennet.plan.ir import Aggregate, GroupMap, Limited, Node, Once


def aggregate_rule(node: Aggregate, inputs: tuple[Change, ...]) -> Node:
    """Δ γ(T) = γ(T' ⋉ K) − γ(T ⋉ K), K = the groups in ΔT

    Holds for any deterministic aggregate. A group that lost its last row is in the second term only, one
    that is new in the first only. Without grouping columns K selects everything, and both terms have
    their one row even over nothing.
    """
    (child,) = inputs
    return recomputed(node, child, group_columns(node))


def group_map_rule(node: GroupMap, inputs: tuple[Change, ...]) -> Node:
    """Δ f(T) = f(T' ⋉ K) − f(T ⋉ K), K = the groups in ΔT"""
    (child,) = inputs
    return recomputed(node, child, node.keys)


def limit_rule(node: Limited, inputs: tuple[Change, ...]) -> Node:
    """Δ top(T) = top(T') − top(T)"""
    (child,) = inputs
    return recomputed(node, child, ())


def recomputed(node: Node, child: Change, keys: tuple[Attribute, ...]) -> Node:
    """The node over what its keys touch after the changes, less the same before.

    Rows that only arrive have keys that changed: T' ⋉ K = (T ⋉ K) + ΔT, and T is read once.
    """
    assert child.delta is not None
    old, new = child.before, child.after
    if keys:
        changed = child.keys(keys)
        bounds = key_bounds(keys, changed)
        old = having(old, keys, changed, bounds)
        if child.grows:
            old = Once((old,))
            new = with_arrivals(old, child.delta)
        else:
            new = having(new, keys, changed, bounds)
    gained = weighted(node.with_children((new,)), +1)
    lost = weighted(node.with_children((old,)), -1)
    return total([gained, lost])

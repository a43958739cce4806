"""Joins, on any condition.

Two facts carry all of them. An inner join is linear in both inputs. A left outer, semi, anti or existence
join is linear in its left input: each left row yields its rows by itself, looking at the right. So only
left rows that a changed right row matches have to look again.
"""

from __future__ import annotations

from dataclasses import replace

from rennet.delta.change import Change, renamed, total, weight_of, weighted
from rennet.delta.narrow import narrowed
from rennet.plan.expressions import literal
from rennet.plan.ir import (
    ANTI,
    INNER,
    LEFT,
    RIGHT,
    SEMI,
    Join,
    Node,
    Once,
    filter_,
    join,
    joined_columns,
    project,
)


def inner_join_rule(node: Join, inputs: tuple[Change, ...]) -> Node:
    """Δ(L ⋈ R) = ΔL ⋈ R + L' ⋈ ΔR

    R is the state before the changes and L' the state after them, so that a row deleted on both sides
    is retracted once, and two rows inserted together meet once.
    """
    left, right = inputs
    parts: list[Node] = []
    if left.delta is not None:
        few, delta = narrowed(right.before, left.delta, node.condition)
        parts.append(_joined(node, delta, few))
    if right.delta is not None:
        few, delta = narrowed(left.after, right.delta, node.condition)
        parts.append(_joined(node, few, delta))
    return total(parts)


def left_join_rule(node: Join, inputs: tuple[Change, ...]) -> Node:
    """Δ(L ⟕ R) = ΔL ⟕ R + (A ⟕ R' − A ⟕ R), A = L' ⋉ ΔR

    Also for semi, anti, existence and single joins in place of ⟕. A holds every left row whose matches may
    have changed; the rows of L' that no changed row matches see the same right side before and after.
    """
    left, right = inputs
    parts: list[Node] = []
    if left.delta is not None:
        few, delta = narrowed(right.before, left.delta, node.condition)
        parts.append(_joined(node, delta, few))
    if right.delta is not None:
        few, delta = narrowed(left.after, right.delta, node.condition)
        affected = Once((join(few, delta, SEMI, node.condition),))
        for state, weight in ((right.after, +1), (right.before, -1)):
            few, _ = narrowed(state, affected, node.condition)
            parts.append(weighted(_rows(node, affected, few), weight))
    return total(parts)


def right_join_rule(node: Join, inputs: tuple[Change, ...]) -> Node:
    """Δ(L ⟖ R) = L ⟖ ΔR + (L' ⟖ B − L ⟖ B), B = R' ⋉ ΔL"""
    left, right = inputs
    parts: list[Node] = []
    if right.delta is not None:
        few, delta = narrowed(left.before, right.delta, node.condition)
        parts.append(_joined(node, few, delta))
    if left.delta is not None:
        few, delta = narrowed(right.after, left.delta, node.condition)
        affected = Once((join(few, delta, SEMI, node.condition),))
        for state, weight in ((left.after, +1), (left.before, -1)):
            few, _ = narrowed(state, affected, node.condition)
            parts.append(weighted(_rows(node, few, affected), weight))
    return total(parts)


def full_join_rule(node: Join, inputs: tuple[Change, ...]) -> Node:
    """Δ(L ⟗ R) = Δ(L ⟕ R) + NULLs × Δ(R ▷ L)"""
    left, right = inputs
    outer = left_join_rule(join(node.left, node.right, LEFT, node.condition), (left, right))
    alone = left_join_rule(join(node.right, node.left, ANTI, node.condition), (right, left))
    nobody = filter_(left.after, literal(False, "boolean"))
    padded = join(nobody, alone, RIGHT, None)
    ordered = project(padded, (*node.output, weight_of(alone)))
    return total([renamed(outer, node.output), ordered])


def _joined(node: Join, left: Node, right: Node) -> Node:
    """The join of a delta with a state, the weight at the end."""
    made = _rows(node, left, right)
    known = node.ids | node.left.ids | node.right.ids
    (weight,) = (a for a in made.output if a.id not in known)
    return project(made, (*node.output, weight))


def _rows(node: Join, left: Node, right: Node) -> Join:
    """The same kind of join, hints included, with the columns its new inputs have."""
    if node.how in (INNER, LEFT, RIGHT):
        output = joined_columns(left, right, node.how)
    else:
        output = (*left.output, *node.output[len(node.left.output) :])
    return replace(node, children=(left, right), output=output)

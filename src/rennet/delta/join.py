"""Joins."""

from __future__ import annotations

from rennet.delta.change import Change, total
from rennet.plan.ir import INNER, Join, Node, join, project


def inner_join_rule(node: Join, inputs: tuple[Change, ...]) -> Node:
    """Δ (L ⋈ R) = ΔL ⋈ R + L' ⋈ ΔR

    R is the state before the changes and L' the state after them, so that a row deleted on both sides
    is retracted once, and two rows inserted together meet once.
    """
    left, right = inputs
    parts: list[Join] = []
    if left.delta is not None:
        parts.append(join(left.delta, right.before, INNER, node.condition))
    if right.delta is not None:
        parts.append(join(left.after, right.delta, INNER, node.condition))
    return total([_weight_last(part, node) for part in parts])


def _weight_last(part: Join, node: Join) -> Node:
    """A join with a delta has the weight among its columns: put it at the end."""
    (weight,) = (a for a in part.output if a.id not in node.ids)
    return project(part, (*node.output, weight))

"""Operators that can be applied to the change alone: Δ f(T) = f(ΔT)."""

from __future__ import annotations

from rennet.delta.change import Change, renamed, total, weight_of
from rennet.plan.ir import Filter, Node, Project, Union


def project_rule(node: Project, inputs: tuple[Change, ...]) -> Node:
    """Δ π(T) = π(ΔT)"""
    (child,) = inputs
    assert child.delta is not None
    return Project((*node.exprs, weight_of(child.delta)), (child.delta,))


def filter_rule(node: Filter, inputs: tuple[Change, ...]) -> Node:
    """Δ σ(T) = σ(ΔT)"""
    (child,) = inputs
    assert child.delta is not None
    return Filter(node.condition, (child.delta,))


def union_rule(node: Union, inputs: tuple[Change, ...]) -> Node:
    """Δ (A + B) = ΔA + ΔB"""
    return total([renamed(each.delta, node.output) for each in inputs if each.delta is not None])

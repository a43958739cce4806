"""Operators that can be applied to the change alone: Δ f(T) = f(ΔT)."""

from __future__ import annotations

from dataclasses import replace

from rennet.delta.change import Change, renamed, total, weight_of
from rennet.plan.expressions import fresh_copy
from rennet.plan.ir import Expand, Filter, Generate, Node, PassThrough, Project, Union, project


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


def generate_rule(node: Generate, inputs: tuple[Change, ...]) -> Node:
    """Δ explode(T) = explode(ΔT)"""
    (child,) = inputs
    assert child.delta is not None
    kept = (*node.kept, len(child.delta.output) - 1)
    made = replace(node, children=(child.delta,), kept=kept)
    return project(made, (*node.output, weight_of(child.delta)))


def expand_rule(node: Expand, inputs: tuple[Change, ...]) -> Node:
    """Δ expand(T) = expand(ΔT)"""
    (child,) = inputs
    assert child.delta is not None
    weight = weight_of(child.delta)
    lists = tuple((*each, weight) for each in node.projections)
    copy = fresh_copy(weight).attribute
    return Expand(lists, (*node.output, copy), (child.delta,))


def pass_through_rule(node: PassThrough, inputs: tuple[Change, ...]) -> Node:
    """Δ sort(T) = ΔT: a bag has no order"""
    (child,) = inputs
    assert child.delta is not None
    return child.delta


def union_rule(node: Union, inputs: tuple[Change, ...]) -> Node:
    """Δ (A + B) = ΔA + ΔB"""
    return total([renamed(each.delta, node.output) for each in inputs if each.delta is not None])

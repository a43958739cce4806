"""Operators that look at the clock change even when their input does not.

c₀ is the condition at the moment of the last refresh, c₁ at this one's. The same law holds for any constant
that differs between two refreshes, because the definition was replaced by one with another constant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rennet.delta.change import Change, total, weight_of, weighted
from rennet.plan.expressions import (
    BEFORE,
    MOVING,
    Expr,
    Named,
    alias,
    call,
    columns_of,
    conjunction,
    disjunction,
    literal,
    same,
    value_of,
)
from rennet.plan.ir import Filter, Node, Project, filter_, project

NULL_INTOLERANT = {"GreaterThan", "GreaterThanOrEqual", "LessThan", "LessThanOrEqual", "EqualTo", "Add",
                   "Subtract", "DateAdd", "DateSub", "TimestampAddInterval", "DateAddInterval", "Literal",
                   "Moment", "Carried", "AttributeReference", "Cast"}  # fmt: skip
"""Expressions that are NULL exactly when an argument is."""


def temporal_filter_rule(node: Filter, inputs: tuple[Change, ...]) -> Node:
    """Δ σc(T) = σc₁(ΔT) + σ(c₁ ∧ ¬c₀)(T) − σ(c₀ ∧ ¬c₁)(T)"""
    (child,) = inputs
    now, then = node.condition, earlier(node.condition)
    entered = filter_(child.before, conjunction([now, _fails(then)]))
    left = filter_(child.before, conjunction([then, _fails(now)]))
    parts: list[Node] = [weighted(entered, +1), weighted(left, -1)]
    if child.delta is not None:
        changed = Filter(now, (child.delta,))
        parts.append(project(changed, (*node.output, weight_of(child.delta))))
    return total(parts)


def temporal_project_rule(node: Project, inputs: tuple[Change, ...]) -> Node:
    """Δ πe(T) = πe₁(ΔT) + (πe₁ − πe₀)(σ(e₁ ≠ e₀)(T))"""
    (child,) = inputs
    then = at_earlier_moment(node)
    assert isinstance(then, Project)
    pairs = [(value_of(a), value_of(b)) for a, b in zip(node.exprs, then.exprs, strict=True) if a != b]
    moved = [call("not", same(new, old), type="boolean", nullable=False) for new, old in pairs]
    touched = filter_(child.before, disjunction(moved))
    parts: list[Node] = [
        weighted(Project(node.exprs, (touched,)), +1),
        weighted(Project(then.exprs, (touched,)), -1),
    ]
    if child.delta is not None:
        parts.append(Project((*node.exprs, weight_of(child.delta)), (child.delta,)))
    return total(parts)


def is_temporal(node: Node) -> bool:
    """Does the node itself look at the clock, or at a constant that changed?"""
    return any(part.op in MOVING for e in node.expressions for part in e.walk())


def earlier(expression: Expr) -> Expr:
    """The same expression at the moment of the last refresh."""
    return expression.transform(lambda part: replace(part, text=BEFORE) if part.op in MOVING else None)


def at_earlier_moment(node: Node) -> Node:
    """The node as it was at the last refresh, over the same input."""
    if isinstance(node, Filter):
        return Filter(earlier(node.condition), node.children)
    if isinstance(node, Project):
        return Project(tuple(_named(e) for e in node.exprs), node.children)
    return node


def _named(named: Named) -> Named:
    old = earlier(value_of(named))
    return named if old == value_of(named) else alias(old, named.name, named.id)


def _fails(condition: Expr) -> Expr:
    """Not true: false or NULL, in a form whose parts Delta can compare with the statistics of a file."""
    not_true = call("not", condition, type="boolean")
    if not condition.nullable:
        return not_true
    parts = list(condition.walk())
    if any(part.op not in NULL_INTOLERANT for part in parts):
        return call("not", call("<=>", condition, literal(True, "boolean")), type="boolean")
    unknown = [call("isnull", column, type="boolean") for column in columns_of(parts) if column.nullable]
    return disjunction([not_true, *unknown])


TEMPORAL_RULES: dict[type[Node], Callable[[Any, tuple[Change, ...]], Node]] = {
    Filter: temporal_filter_rule,
    Project: temporal_project_rule,
}

"""Stage 1: scalar subqueries that Catalyst leaves as expressions become joins.

Catalyst rewrites correlated subqueries and predicates to joins itself. What remains is the uncorrelated
scalar subquery. Its value is a column of a cross join with its one row; if it may have none or several, an
aggregate over it has one.
"""

from __future__ import annotations

from dataclasses import replace

from rennet.plan.expressions import (
    DECIDED,
    AggregateCall,
    Attribute,
    Expr,
    Named,
    Subquery,
    alias,
    call,
    cast,
    literal,
)
from rennet.plan.ir import INNER, Aggregate, Filter, Node, Project, join, project


def subqueries_to_joins(plan: Node) -> Node:
    """σ(x > (SELECT max(y) FROM t)) = σ(x > m)(T × γ(max(y) AS m))"""
    return plan.transform_up(_rewritten)


def _rewritten(node: Node) -> Node:
    found = list(dict.fromkeys(_scalars(node)))
    if not found or not isinstance(node, Filter | Project | Aggregate):
        return node
    child, values = node.child, dict[Subquery, Attribute]()
    for subquery in found:
        assert subquery.plan is not None
        below = subqueries_to_joins(subquery.plan)
        if not one_row(below):
            below = _at_most_one(below)
        if below.ids & child.ids:
            return node
        child = join(child, below, INNER, None)
        values[subquery] = below.output[0]

    def value(expression: Expr) -> Expr | None:
        return values.get(expression) if isinstance(expression, Subquery) else None

    if isinstance(node, Filter):
        made = Filter(node.condition.transform(value), (child,))
        return project(made, node.output)
    exprs: tuple[Named, ...] = tuple(e.transform(value) for e in node.exprs)  # type: ignore[misc]
    if isinstance(node, Project):
        return Project(exprs, (child,))
    return replace(node, exprs=exprs, children=(child,), handle=None)


def _at_most_one(plan: Node) -> Node:
    """The value of the only row, NULL over nothing; several rows are an error, as in Spark."""
    value = plan.output[0]
    rows = alias(AggregateCall("Count", (literal(1),), type="bigint", nullable=False), "__mv_rows")
    only = AggregateCall("First", (value,), type=value.type, text=DECIDED)
    found = alias(only, "__mv_value")
    counted = Aggregate((), (rows, found), (plan,))
    too_many = literal("a subquery used as a value returned more than one row", "string")
    single = call("<=", rows.attribute, literal(1), type="boolean")
    failure = cast(call("raise_error", too_many), value.type)
    scalar = call("if", single, found.attribute, failure, type=value.type)
    return project(counted, (alias(scalar, "__mv_scalar"),))


def _scalars(node: Node) -> list[Subquery]:
    parts = [part for expression in node.expressions for part in expression.walk()]
    return [p for p in parts if isinstance(p, Subquery) and p.op == "ScalarSubquery" and not p.children]


def one_row(plan: Node) -> bool:
    """Is it a global aggregate, which has one row even over nothing?"""
    while isinstance(plan, Project):
        plan = plan.child
    return isinstance(plan, Aggregate) and not plan.grouping

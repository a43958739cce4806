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
    Alias,
    Attribute,
    Expr,
    Named,
    Subquery,
    alias,
    attribute_of,
    call,
    cast,
    literal,
)
from rennet.plan.ir import INNER, Aggregate, Filter, Node, Project, join, project


def subqueries_to_joins(plan: Node) -> Node:
    """σ(x > (SELECT max(y) FROM t)) = σ(x > m)(T × γ(max(y) AS m))"""
    return plan.transform_up(_rewritten)


def _rewritten(node: Node) -> Node:
    if isinstance(node, Aggregate) and any(_is_beside_calls(e) for e in node.exprs):
        above = _apart(node)
        return _rewritten(above.with_children((_rewritten(above.child),)))
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


def _apart(node: Aggregate) -> Project:
    """γ(k, f(v) + s) = π(k, a + s)(γ(k, f(v) AS a)), s being a subquery

    The value of s is the same for all groups, and there even where a global aggregate has no rows.
    """
    calls: dict[Expr, Alias] = {}

    def call_below(expression: Expr) -> Expr | None:
        if not isinstance(expression, AggregateCall):
            return None
        made = calls.setdefault(expression, alias(expression, f"__mv_call_{len(calls)}"))
        return made.attribute

    above: list[Named] = []
    below: list[Named] = []
    for expression in node.exprs:
        if _is_beside_calls(expression):
            above.append(expression.transform(call_below))  # type: ignore[arg-type]
        else:
            above.append(attribute_of(expression))
            below.append(expression)
    shown = {each.id for each in below}
    groups = [each for each in node.grouping if isinstance(each, Attribute) and each.id not in shown]
    inner = replace(node, exprs=(*below, *groups, *calls.values()), handle=None)
    return Project(tuple(above), (inner,))


def _is_beside_calls(expression: Expr) -> bool:
    """Has it a scalar subquery that is not inside of an aggregate function?"""
    if isinstance(expression, AggregateCall):
        return False
    return _is_scalar(expression) or any(_is_beside_calls(child) for child in expression.children)


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
    return [part for part in parts if isinstance(part, Subquery) and _is_scalar(part)]


def _is_scalar(expression: Expr) -> bool:
    """Is it a subquery used as a value, and uncorrelated?"""
    found = isinstance(expression, Subquery) and expression.op == "ScalarSubquery"
    return found and not expression.children


def one_row(plan: Node) -> bool:
    """Is it a global aggregate, which has one row even over nothing?"""
    while isinstance(plan, Project):
        plan = plan.child
    return isinstance(plan, Aggregate) and not plan.grouping

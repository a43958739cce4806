"""Changing expressions inside Catalyst's own nodes, whatever the node."""

from __future__ import annotations

from collections.abc import Callable

from rennet.jvm import JavaObject, Jvm

Change = Callable[[JavaObject], JavaObject]
EXPRESSION = "org.apache.spark.sql.catalyst.expressions.Expression"
SUBQUERY = "org.apache.spark.sql.catalyst.expressions.SubqueryExpression"


def is_subquery(jvm: Jvm, expression: JavaObject) -> bool:
    return bool(jvm.loaded(SUBQUERY).isInstance(expression))


def map_expressions(jvm: Jvm, plan: JavaObject, change: Change) -> JavaObject:
    """A copy of a node whose own expressions are changed, argument by argument."""
    arguments = [plan.productElement(i) for i in range(plan.productArity())]
    array = jvm.gateway.new_array(jvm.root.java.lang.Object, len(arguments))
    for i, argument in enumerate(arguments):
        array[i] = _argument(jvm, argument, change)
    return plan.makeCopy(array)


def _argument(jvm: Jvm, argument: JavaObject, change: Change) -> JavaObject:
    if _is(jvm, EXPRESSION, argument):
        return change(argument)
    if _is(jvm, "scala.Some", argument):
        return jvm.some(_argument(jvm, argument.get(), change))
    if _is(jvm, "scala.collection.Seq", argument):
        return jvm.seq(_argument(jvm, item, change) for item in jvm.items(argument))
    return argument


def _is(jvm: Jvm, name: str, thing: JavaObject) -> bool:
    return hasattr(thing, "_target_id") and bool(jvm.loaded(name).isInstance(thing))


def map_subqueries(jvm: Jvm, expression: JavaObject, plan: Change, change: Change) -> JavaObject:
    """Change an expression's children and, if it is a subquery, the plan it runs."""
    children = jvm.items(expression.children())
    made = [change(child) for child in children]
    if any(new is not old for new, old in zip(made, children, strict=True)):
        expression = expression.withNewChildren(jvm.seq(made))
    if is_subquery(jvm, expression):
        return expression.withNewPlan(plan(expression.plan()))
    return expression

"""Stage 1: the analyzed plan, without what only looks different.

Catalyst's own rules do Catalyst's work. Each is an object that can be called alone; the whole optimizer
is never run, because it would replace `current_timestamp()` by a value and fold away empty relations.
"""

from __future__ import annotations

from collections.abc import Callable

from rennet.jvm import JavaObject, Jvm
from rennet.plan.surgery import map_expressions, map_subqueries

OPTIMIZER = "org.apache.spark.sql.catalyst.optimizer."
ANALYSIS = "org.apache.spark.sql.catalyst.analysis."

BEFORE_SUBQUERIES: tuple[str, ...] = (
    ANALYSIS + "EliminateView",
    ANALYSIS + "EliminateSubqueryAliases",
    OPTIMIZER + "ReplaceExpressions",
    # After this, every group is told apart by plain columns; a subquery among them is rewritten below.
    OPTIMIZER + "PullOutGroupingExpressions",
    OPTIMIZER + "RewriteWithExpression",
)
SUBQUERIES: tuple[str, ...] = (
    # Subqueries become joins: correlated predicates must be pulled up before they are rewritten.
    OPTIMIZER + "OptimizeOneRowRelationSubquery",
    OPTIMIZER + "PullOutNestedDataOuterRefExpressions",
    OPTIMIZER + "PullupCorrelatedPredicates",
    OPTIMIZER + "RewritePredicateSubquery",
    OPTIMIZER + "RewriteCorrelatedScalarSubquery",
    OPTIMIZER + "RewriteLateralSubquery",
)
AFTER_SUBQUERIES: tuple[str, ...] = (
    # Set operations become joins and aggregates.
    OPTIMIZER + "RewriteExceptAll",
    OPTIMIZER + "RewriteIntersectAll",
    OPTIMIZER + "ReplaceIntersectWithSemiJoin",
    OPTIMIZER + "ReplaceExceptWithAntiJoin",
    OPTIMIZER + "ReplaceDistinctWithAggregate",
    OPTIMIZER + "ReplaceDeduplicateWithAggregate",
    OPTIMIZER + "EliminateResolvedHint",
    OPTIMIZER + "CombineFilters",
    OPTIMIZER + "CombineUnions",
    OPTIMIZER + "CollapseProject",
    OPTIMIZER + "RemoveNoopOperators",
    # Again: rewritten subqueries bring aliases of their own.
    ANALYSIS + "EliminateSubqueryAliases",
)
"""Order matters where a comment says so."""


def normalize(jvm: Jvm, analyzed: JavaObject) -> JavaObject:
    """Views and CTEs inlined, subqueries as joins, filters merged, projections collapsed; same result."""
    plan = jvm.type(OPTIMIZER + "InlineCTE")(True, False).apply(analyzed)
    return _finished(jvm, _without_subqueries(jvm, plan))


def _applied(jvm: Jvm, rules: tuple[str, ...], plan: JavaObject) -> JavaObject:
    for rule in rules:
        plan = jvm.singleton(rule).apply(plan)
    return plan


def _without_subqueries(jvm: Jvm, plan: JavaObject) -> JavaObject:
    """Subqueries as joins, those inside of others first: Catalyst's rules do not look into them."""
    plan = _applied(jvm, BEFORE_SUBQUERIES, plan)
    if not has_subqueries(jvm, plan):
        return plan
    return _applied(jvm, SUBQUERIES, _inside_subqueries(jvm, plan, _without_subqueries))


def _finished(jvm: Jvm, plan: JavaObject) -> JavaObject:
    """What comes last, in the subqueries that stay too: those that are values."""
    return _inside_subqueries(jvm, _applied(jvm, AFTER_SUBQUERIES, plan), _finished)


def has_subqueries(jvm: Jvm, plan: JavaObject) -> bool:
    """Is there a subquery among the expressions of a plan, or of a plan below it?"""
    patterns = jvm.singleton("org.apache.spark.sql.catalyst.trees.TreePattern")
    return bool(plan.containsPattern(patterns.PLAN_EXPRESSION()))


def _inside_subqueries(
    jvm: Jvm, plan: JavaObject, rewritten: Callable[[Jvm, JavaObject], JavaObject]
) -> JavaObject:
    """The plan with the plans of its subqueries rewritten."""
    if not has_subqueries(jvm, plan):
        return plan

    def change(expression: JavaObject) -> JavaObject:
        return map_subqueries(jvm, expression, lambda inner: rewritten(jvm, inner), change)

    children = jvm.items(plan.children())
    made = [_inside_subqueries(jvm, child, rewritten) for child in children]
    if any(new is not old for new, old in zip(made, children, strict=True)):
        plan = plan.withNewChildren(jvm.seq(made))
    return map_expressions(jvm, plan, change)

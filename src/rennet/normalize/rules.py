"""Stage 1: the analyzed plan, without what only looks different.

Catalyst's own rules do Catalyst's work. Each is an object that can be called alone; the whole optimizer
is never run, because it would replace `current_timestamp()` by a value and fold away empty relations.
"""

from __future__ import annotations

from rennet.jvm import JavaObject, Jvm

OPTIMIZER = "org.apache.spark.sql.catalyst.optimizer."
ANALYSIS = "org.apache.spark.sql.catalyst.analysis."

RULES: tuple[str, ...] = (
    ANALYSIS + "EliminateView",
    ANALYSIS + "EliminateSubqueryAliases",
    OPTIMIZER + "ReplaceExpressions",
    # After this, every group is told apart by plain columns; a subquery among them is rewritten below.
    OPTIMIZER + "PullOutGroupingExpressions",
    OPTIMIZER + "RewriteWithExpression",
    # Subqueries become joins: correlated predicates must be pulled up before they are rewritten.
    OPTIMIZER + "OptimizeOneRowRelationSubquery",
    OPTIMIZER + "PullOutNestedDataOuterRefExpressions",
    OPTIMIZER + "PullupCorrelatedPredicates",
    OPTIMIZER + "RewritePredicateSubquery",
    OPTIMIZER + "RewriteCorrelatedScalarSubquery",
    OPTIMIZER + "RewriteLateralSubquery",
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
    for rule in RULES:
        plan = jvm.singleton(rule).apply(plan)
    return plan

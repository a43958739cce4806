"""Does what a query means follow from its text and the tables it names alone?"""

from __future__ import annotations

from rennet.jvm import JavaObject, Jvm
from rennet.normalize.rules import has_subqueries
from rennet.plan.catalyst import PYTHON
from rennet.plan.ir import Foreign, Node

OPERATORS = {"Project", "Filter", "Join", "Aggregate", "Union", "Window", "Sort", "Distinct", "Generate",
             "Expand", "GlobalLimit", "LocalLimit", "SubqueryAlias", "WithCTE", "CTERelationDef"}  # fmt: skip
LEAVES = {"LogicalRelation", "LocalRelation", "OneRowRelation", "CTERelationRef"}
OF_USERS = {*PYTHON, "ScalaUDF", "ScalaUDAF", "ScalaAggregator", "SQLScalarFunction", "HiveSimpleUDF",
            "HiveGenericUDF", "HiveGenericUDTF", "HiveUDAFFunction", "ApplyFunctionExpression",
            "VariableReference"}  # fmt: skip
"""Functions whose code, and variables whose value, may be another at the next refresh."""


def follows_from_tables(jvm: Jvm, analyzed: JavaObject, answer: Node) -> bool:
    """No view of the catalog below a deterministic query, no function of the user's in it, no files.

    `answer` is what became of the analyzed plan.
    """
    nodes = list(answer.walk())
    if any(isinstance(node, Foreign) for node in nodes):
        return False
    called = {part.op for node in nodes for e in node.expressions for part in e.walk()}
    return not called & OF_USERS and _reads_tables_only(jvm, analyzed)


def _reads_tables_only(jvm: Jvm, plan: JavaObject) -> bool:
    """Is every operator of an analyzed plan one that stands in the text? A subquery is not looked into."""
    if has_subqueries(jvm, plan):
        return False
    pending = [plan]
    while pending:
        node = pending.pop()
        children = jvm.items(node.children())
        if node.nodeName() not in (OPERATORS if children else LEAVES):
            return False
        pending += children
    return True

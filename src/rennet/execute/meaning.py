"""What the meaning of a query follows from, beside its text."""

from __future__ import annotations

from rennet.jvm import JavaObject, Jvm
from rennet.normalize.rules import has_subqueries
from rennet.plan.catalyst import PYTHON
from rennet.plan.ir import Foreign, Node
from rennet.storage.names import ViewName

OPERATORS = {"Project", "Filter", "Join", "Aggregate", "Union", "Window", "Sort", "Distinct", "Generate",
             "Expand", "GlobalLimit", "LocalLimit", "SubqueryAlias", "WithCTE", "CTERelationDef"}  # fmt: skip
LEAVES = {"LogicalRelation", "LocalRelation", "OneRowRelation", "CTERelationRef"}
OF_USERS = {*PYTHON, "ScalaUDF", "ScalaUDAF", "ScalaAggregator", "SQLScalarFunction", "HiveSimpleUDF",
            "HiveGenericUDF", "HiveGenericUDTF", "HiveUDAFFunction", "ApplyFunctionExpression",
            "VariableReference"}  # fmt: skip
"""Functions whose code, and variables whose value, may be another at the next refresh."""


def views_below(jvm: Jvm, analyzed: JavaObject, answer: Node) -> tuple[ViewName, ...] | None:
    """The views of the catalog that a deterministic query reads, if its meaning follows from its text, from
    theirs and from tables; None if there is more to it: a function of the user's, a subquery, files.

    `answer` is what became of the analyzed plan.
    """
    nodes = list(answer.walk())
    if any(isinstance(node, Foreign) for node in nodes):
        return None
    called = {part.op for node in nodes for e in node.expressions for part in e.walk()}
    return None if called & OF_USERS else _views(jvm, analyzed)


def _views(jvm: Jvm, plan: JavaObject) -> tuple[ViewName, ...] | None:
    """Those of an analyzed plan, if every other operator stands in a text. A subquery is not looked into."""
    if has_subqueries(jvm, plan):
        return None
    found: dict[ViewName, None] = {}
    pending = [plan]
    while pending:
        node = pending.pop()
        kind, children = node.nodeName(), jvm.items(node.children())
        if kind == "View" and not node.isTempView():
            found[_name(jvm, node)] = None
        elif kind not in (OPERATORS if children else LEAVES):
            return None
        pending += children
    return tuple(found)


def _name(jvm: Jvm, view: JavaObject) -> ViewName:
    identifier = view.desc().identifier()
    return ViewName(str(jvm.value(identifier.database())), str(identifier.table()))

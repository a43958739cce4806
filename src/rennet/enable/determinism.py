"""Stage 3: what makes two runs of the same query over the same data differ."""

from __future__ import annotations

from collections.abc import Iterator

from rennet.enable.order import FOLLOWING, decided, undecided
from rennet.errors import Issue, IssueSubType, IssueType
from rennet.plan.expressions import DECIDED, TIME_FUNCTIONS, AggregateCall, Expr, Subquery, without_ids
from rennet.plan.ir import Foreign, Limited, Node, Other, Scan, Window

SAMPLING = {"Sample"}
RECURSION = {"UnionLoopRef", "CTERelationRef"}
"""Leaves that stand for what a recursive CTE has found so far."""
ORDER_DEPENDENT = {"First", "Last", "AnyValue", "CollectList", "CollectSet", "CollectUnion", "CollectTopK",
                   "MaxBy", "MinBy", "MaxMinByK", "ListAgg", "Mode", "PandasMode", "ApproximatePercentile",
                   "HistogramNumeric", "VectorAvg", "VectorSum"}  # fmt: skip
"""Aggregates whose result may depend on the order of the rows, or of tied ones.

Spark calls most of them deterministic; but what was stored could not be computed again to be taken back.
"""
SKETCHES = ("ApproxTopK", "Hll", "Kll", "Theta", "Tuple")
"""Beginnings of the names of aggregates that build sketches, whose bytes depend on the order of the rows."""
PYTHON_FUNCTIONS = {"PythonUDF", "PythonUDAF", "ScalaUDF"}


def obstacles(plan: Node) -> list[Issue]:
    """Everything in a plan that only a full recompute can honour, each reason once."""
    return list(dict.fromkeys(_obstacles(plan)))


def _obstacles(plan: Node) -> Iterator[Issue]:
    for node in plan.walk():
        yield from _of_node(node)
        for expression in node.expressions:
            for part in expression.walk():
                yield from _of_expression(part)
                if isinstance(part, AggregateCall) and _left_open(part, isinstance(node, Window)):
                    text = f"{part.text or part.op}, which depends on the order of rows,"
                    yield _nondeterministic(text, IssueSubType.NON_DETERMINISTIC_EXPRESSION)


def _of_node(node: Node) -> Iterator[Issue]:
    if isinstance(node, Foreign) and node.kind == "streaming":
        yield _nondeterministic("a streaming source", IssueSubType.STREAMING_SOURCE)
    elif isinstance(node, Foreign) and node.kind in RECURSION:
        text = "a recursive CTE: a change may reach any depth of the recursion"
        yield Issue(IssueType.PLAN_NOT_INCREMENTALIZABLE, text, IssueSubType.OPERATOR_NOT_SUPPORTED)
    elif isinstance(node, Foreign):
        name = node.name or node.kind
        yield Issue(IssueType.INPUT_NOT_IN_DELTA, f"{name} is not a Delta table: its changes cannot be read")
    elif isinstance(node, Scan) and any(a.name == "_metadata" for a in node.output):
        text = "_metadata of a source (changes when files are compacted)"
        yield _nondeterministic(text, IssueSubType.NON_DETERMINISTIC_EXPRESSION)
    elif isinstance(node, Limited) and not decided(node):
        text = "which rows a LIMIT takes is left open by its order (order by every column to fix it)"
        yield _nondeterministic(text, IssueSubType.NON_DETERMINISTIC_EXPRESSION)
    elif isinstance(node, Window) and undecided(node):
        text = "a window function that counts along rows its order does not tell apart"
        yield _nondeterministic(text, IssueSubType.NON_DETERMINISTIC_EXPRESSION)
    elif isinstance(node, Other) and node.kind in SAMPLING:
        yield _nondeterministic("sampling", IssueSubType.NON_DETERMINISTIC_EXPRESSION)


def _of_expression(expression: Expr) -> Iterator[Issue]:
    if expression.op in TIME_FUNCTIONS:
        what = f"{expression.text or expression.op}, used otherwise than to compare columns with,"
        yield _nondeterministic(what, IssueSubType.TIME_FUNCTION)
    elif isinstance(expression, Subquery):
        if expression.plan is not None:
            yield from _obstacles(expression.plan)
        text = f"the subquery {expression.op} is not rewritten to a join"
        kind = IssueType.PLAN_NOT_INCREMENTALIZABLE
        yield Issue(kind, text, IssueSubType.SUBQUERY_EXPRESSION)
    elif not expression.deterministic and all(child.deterministic for child in expression.children):
        python = expression.op in PYTHON_FUNCTIONS
        subtype = IssueSubType.USER_DEFINED_FUNCTION if python else IssueSubType.NON_DETERMINISTIC_EXPRESSION
        yield _nondeterministic(expression.text or expression.op, subtype)


def _left_open(aggregate: AggregateCall, in_window: bool) -> bool:
    """Does its result depend on the order of the rows it sees? In a window, `enable.order` sees to that."""
    if aggregate.text.endswith(DECIDED) or (in_window and aggregate.op in FOLLOWING):
        return False
    return aggregate.op in ORDER_DEPENDENT or aggregate.op.startswith(SKETCHES)


def _nondeterministic(what: str, subtype: IssueSubType) -> Issue:
    text = f"{without_ids(what)} may give another result each time"
    return Issue(IssueType.PLAN_NOT_DETERMINISTIC, text, subtype)

"""What only a full recompute can honour."""

from __future__ import annotations

import pytest

from rennet.enable.determinism import obstacles
from rennet.errors import IssueSubType, IssueType
from rennet.plan.expressions import AggregateCall, Expr, Subquery, alias, call, literal
from rennet.plan.ir import Aggregate, Foreign, Limited, Node, Other, PassThrough, Scan, filter_, project
from tests.laws.queries import column, scan


def with_(expression: Expr) -> Node:
    return project(scan("r"), (alias(expression, "x"),))


def limited(*columns: int) -> Node:
    source = scan("r")
    order = tuple(Expr("SortOrder", (source.output[i],), text="ASC") for i in columns)
    return Limited("GlobalLimit", literal(1, "int"), (PassThrough("Sort", order, (source,)),))


RAND = Expr("Rand", deterministic=False, text="rand()")

CASES = [
    (with_(RAND), IssueSubType.NON_DETERMINISTIC_EXPRESSION),
    (with_(Expr("PythonUDF", deterministic=False, text="f")), IssueSubType.USER_DEFINED_FUNCTION),
    (with_(Expr("CurrentTimestamp", text="now()")), IssueSubType.TIME_FUNCTION),
    (filter_(scan("r"), call(">", RAND, literal(0))), IssueSubType.NON_DETERMINISTIC_EXPRESSION),
    (
        Aggregate((), (alias(AggregateCall("First", deterministic=False), "x"),), (scan("r"),)),
        IssueSubType.NON_DETERMINISTIC_EXPRESSION,
    ),
    (
        Aggregate((), (alias(AggregateCall("Sum", (RAND,), deterministic=False), "x"),), (scan("r"),)),
        IssueSubType.NON_DETERMINISTIC_EXPRESSION,
    ),
    (
        Aggregate((), (alias(AggregateCall("Sum", condition=RAND), "x"),), (scan("r"),)),
        IssueSubType.NON_DETERMINISTIC_EXPRESSION,
    ),
    (Other("Sample", (), (scan("r"),)), IssueSubType.NON_DETERMINISTIC_EXPRESSION),
    (Foreign("streaming", "s", ()), IssueSubType.STREAMING_SOURCE),
    (Scan("r", (column("_metadata", "struct<>"),)), IssueSubType.NON_DETERMINISTIC_EXPRESSION),
    (limited(0), IssueSubType.NON_DETERMINISTIC_EXPRESSION),
    (with_(Subquery("ScalarSubquery", plan=with_(RAND))), IssueSubType.NON_DETERMINISTIC_EXPRESSION),
]


@pytest.mark.parametrize(("plan", "subtype"), CASES)
def test_obstacle(plan: Node, subtype: IssueSubType) -> None:
    found = obstacles(plan)
    assert subtype in [issue.subtype for issue in found]
    assert IssueType.PLAN_NOT_DETERMINISTIC in [issue.type for issue in found]


def test_a_reason_is_given_once() -> None:
    assert len(obstacles(project(with_(RAND), (alias(RAND, "y"), alias(RAND, "z"))))) == 1


def test_only_the_innermost_is_named() -> None:
    (issue,) = obstacles(with_(Expr("Add", (RAND, literal(1)), deterministic=False, text="rand() + 1")))
    assert "rand() may" in issue.message


def test_a_table_that_is_not_delta() -> None:
    (issue,) = obstacles(Foreign("csv", "orders", ()))
    assert issue.type is IssueType.INPUT_NOT_IN_DELTA


def test_a_limit_by_every_column_is_decided() -> None:
    assert obstacles(limited(0, 1)) == []


def test_ordinary_queries_have_none() -> None:
    assert obstacles(with_(call("+", literal(1), literal(2)))) == []


def test_aggregates_that_depend_on_the_order_of_rows_are_an_obstacle() -> None:
    """Spark calls them deterministic, but what was stored could not be computed again."""
    source = scan("r")
    call_ = AggregateCall("CollectList", (source.output[1],), type="array<int>")
    plan = Aggregate((source.output[0],), (alias(call_, "xs"),), (source,))
    (issue,) = obstacles(plan)
    assert issue.type == "PLAN_NOT_DETERMINISTIC"

"""A refresh does not depend on columns that nobody reads: plans without them change the same rows."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given

from rennet.cost.fit import fewer_columns, mapped
from rennet.delta.generate import RefreshPlan
from rennet.plan.expressions import Bound, Expr
from rennet.plan.ir import Filter, Node, Scan, project
from tests.laws.cases import LAW, Case
from tests.laws.refreshing import all_refresh
from tests.laws.test_refreshes import ANY_VIEW


@LAW
@given(ANY_VIEW)
def test_plans_with_fewer_columns_change_the_same_rows(case: Case) -> None:
    all_refresh(case, lambda plan: reading_all(fewer_columns(plan), scans_of(plan)))


def scans_of(plan: RefreshPlan) -> list[Scan]:
    found: list[Scan] = []

    def note(tree: Node) -> Node:
        for node in tree.walk():
            if isinstance(node, Scan):
                found.append(node)
            parts = (part for e in node.expressions for part in e.walk() if isinstance(part, Bound))
            for bound in parts:
                if bound.summary is not None:
                    note(bound.summary)
        return tree

    mapped(plan, note)
    return found


def reading_all(plan: RefreshPlan, scans: list[Scan]) -> RefreshPlan:
    """The same plan for the evaluator, whose tables have all their columns."""

    def looked_up(part: Expr) -> Expr | None:
        if isinstance(part, Bound) and part.summary is not None:
            return replace(part, summary=part.summary.transform_up(whole))
        return None

    def whole(node: Node) -> Node:
        if isinstance(node, Filter):
            return replace(node, condition=node.condition.transform(looked_up))
        if not isinstance(node, Scan):
            return node
        alike = (s for s in scans if (s.source, s.state) == (node.source, node.state))
        return project(next(s for s in alike if node.ids <= s.ids), node.output)

    return mapped(plan, lambda tree: tree.transform_up(whole))

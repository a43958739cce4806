"""Which techniques there are for a view, and why not the others."""

from __future__ import annotations

from rennet.delta.generate import Alike, Keyed, Placed, RefreshPlan, candidates
from rennet.delta.rules import Derivation
from rennet.enable.layout import lay_out
from rennet.errors import Issue, IssueSubType, IssueType, Technique
from rennet.plan.expressions import Expr, alias
from rennet.plan.ir import Aggregate, Filter, Node, Once, Other, Project, Window
from tests.laws.queries import END, START, catalyst, count, extreme, over_window, scan, total

V = Expr("the value", type="int")
"""Stands for the second column of `r`."""

Found = dict[Technique, RefreshPlan | Issue]


def found(plan: Node, **changed: bool) -> Found:
    return candidates(lay_out(plan), Derivation(changed))


def possible(techniques: Found) -> set[Technique]:
    return {technique for technique, plan in techniques.items() if isinstance(plan, RefreshPlan)}


def by_key(*calls: Expr) -> Aggregate:
    source = scan("r")
    made = tuple(alias(call, f"a{i}") for i, call in enumerate(calls))
    return Aggregate(source.output[:1], (source.output[0], *made), (source,))


def summed() -> Aggregate:
    source = scan("r")
    key, value = source.output
    return Aggregate((key,), (key, alias(total(value), "s")), (source,))


def test_rows() -> None:
    assert possible(found(scan("r"), r=False)) == {Technique.ROW_BASED, Technique.COMPLETE_RECOMPUTE}


def test_rows_that_only_arrive() -> None:
    techniques = found(scan("r"), r=True)
    assert possible(techniques) == {
        Technique.APPEND_ONLY,
        Technique.ROW_BASED,
        Technique.COMPLETE_RECOMPUTE,
    }
    append = techniques[Technique.APPEND_ONLY]
    assert isinstance(append, RefreshPlan)
    assert append.removed is None


def test_rows_are_found_by_content() -> None:
    plan = found(scan("r"), r=False)[Technique.ROW_BASED]
    assert isinstance(plan, RefreshPlan)
    assert isinstance(plan.removed, Alike)


def test_groups_are_found_by_key() -> None:
    techniques = found(summed(), r=False)
    assert possible(techniques) == {
        Technique.GROUP_AGGREGATE,
        Technique.GENERIC_AGGREGATE,
        Technique.ROW_BASED,
        Technique.COMPLETE_RECOMPUTE,
    }
    merged = techniques[Technique.GROUP_AGGREGATE]
    assert isinstance(merged, RefreshPlan)
    assert isinstance(merged.removed, Placed)
    assert [column.name for column in merged.removed.rows.output] == ["__mv_file", "__mv_row"]
    for technique in (Technique.GENERIC_AGGREGATE, Technique.ROW_BASED):
        plan = techniques[technique]
        assert isinstance(plan, RefreshPlan)
        assert isinstance(plan.removed, Keyed)
        assert plan.removed.columns == (0,)
        assert len(plan.removed.keys.output) == 1
        assert any(isinstance(node, Once) for node in plan.removed.keys.walk())


def test_aggregates_of_growing_sources_take_rows_away() -> None:
    refused = found(summed(), r=True)[Technique.APPEND_ONLY]
    assert isinstance(refused, Issue)
    assert refused.subtype is IssueSubType.SOURCE_HAS_DELETES


def grouped_by_key(call: Expr) -> Aggregate:
    source = scan("r")
    over = call.transform(lambda part: source.output[1] if part is V else None)
    return Aggregate(source.output[:1], (alias(over, "m"),), (source,))


def test_distinct_values_are_not_kept_by_adding() -> None:
    refused = found(grouped_by_key(count(V, distinct=True)), r=False)[Technique.GROUP_AGGREGATE]
    assert isinstance(refused, Issue)
    assert refused.subtype is IssueSubType.AGGREGATE_WITH_UNSUPPORTED_EXPRESSION


def test_extremes_are_looked_up_again_only_if_rows_may_go() -> None:
    plan = grouped_by_key(extreme("Max", V))
    for growing in (True, False):
        made = found(plan, r=growing)[Technique.GROUP_AGGREGATE]
        assert isinstance(made, RefreshPlan)
        assert (made.repair is None) == growing


def test_one_group_is_not_recomputed_by_key() -> None:
    source = scan("r")
    plan = Aggregate((), (alias(count(), "n"),), (source,))
    techniques = found(plan, r=False)
    assert Technique.GROUP_AGGREGATE in possible(techniques)
    assert Technique.GENERIC_AGGREGATE not in possible(techniques)


def test_windows_are_replaced_by_partition() -> None:
    source = scan("r")
    made = over_window(count(), source.output[:1], (), (START, END), True)
    plan = Window((alias(made, "n"),), source.output[:1], (), (source,))
    assert Technique.WINDOW_FUNCTION in possible(found(plan, r=False))
    whole = Window((alias(made, "n"),), (), (), (source,))
    assert Technique.WINDOW_FUNCTION not in possible(found(whole, r=False))


def test_rows_that_cannot_be_hashed_are_not_looked_for() -> None:
    source = scan("r")
    plan = Project((alias(Expr("parse_json", type="variant"), "m"),), (source,))
    assert possible(found(plan, r=False)) == {Technique.COMPLETE_RECOMPUTE}


def test_without_changes_there_is_nothing_to_do() -> None:
    for plan in (scan("r"), summed()):
        techniques = found(plan, s=True)
        assert possible(techniques) == {Technique.COMPLETE_RECOMPUTE}
        reasons = [issue for issue in techniques.values() if isinstance(issue, Issue)]
        assert all(issue.type is IssueType.NOT_THIS_SHAPE for issue in reasons)


def test_what_has_no_rule_can_be_recomputed() -> None:
    source = scan("r")
    techniques = found(Other("Sample", source.output, (source,)), r=True)
    assert possible(techniques) == {Technique.COMPLETE_RECOMPUTE}
    refused = techniques[Technique.ROW_BASED]
    assert isinstance(refused, Issue)
    assert refused.type is IssueType.PLAN_NOT_INCREMENTALIZABLE


def test_a_having_keeps_the_groups_it_hides() -> None:
    grouped = by_key(count())
    plan = Filter(catalyst("GreaterThan", grouped.output[1], grouped.output[1]), (grouped,))
    layout = lay_out(plan)
    assert layout.visible is not None
    assert possible(candidates(layout, Derivation({"r": False}))) >= {Technique.GROUP_AGGREGATE}

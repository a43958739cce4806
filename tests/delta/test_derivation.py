"""The walk that applies the rules."""

from __future__ import annotations

import pytest

from rennet.delta.change import Change
from rennet.delta.rules import GROWING, RULES, Derivation, rule_name
from rennet.errors import Issue, IssueSubType, IssueType
from rennet.plan.expressions import literal
from rennet.plan.ir import ANTI, INNER, Foreign, Join, Node, Other, Scan, State, filter_
from tests.laws.queries import column, joined, scan, values


def change(plan: Node, **changed: bool) -> Change:
    derived = Derivation(changed).change(plan)
    assert isinstance(derived, Change)
    return derived


def test_a_source_that_changed_has_both_states_and_a_delta() -> None:
    source = scan("r")
    derived = change(source, r=True)
    assert derived.before == source.at(State.BEFORE)
    assert derived.after == source.at(State.AFTER)
    assert isinstance(derived.delta, Scan)
    assert derived.delta.state is State.DELTA
    assert derived.delta.output[:-1] == source.output
    assert derived.grows


def test_a_source_that_did_not_change_is_read_once() -> None:
    derived = change(scan("r"), s=True)
    assert derived.before is derived.after
    assert not derived.changed


def test_constants_do_not_change() -> None:
    leaf = values([(1,)], ("c", "int"))
    assert change(leaf, r=True) == Change(leaf, leaf)


def test_a_node_is_derived_once() -> None:
    source = scan("r")
    derivation = Derivation({"r": False})
    assert derivation.change(source) is derivation.change(source)


def test_two_scans_of_one_source_have_weights_of_their_own() -> None:
    left, right = scan("r"), scan("r")
    deltas = [change(each, r=True).delta for each in (left, right)]
    weights = {delta.output[-1].id for delta in deltas if delta is not None}
    assert len(weights) == 2


@pytest.mark.parametrize(
    "plan",
    [
        Other("Sample", scan("r").output, (scan("r"),)),
        Foreign("csv", "f", (column("a", "int"),)),
        Join("LeftSingle", None, (scan("r"), scan("s")), ()),
    ],
    ids=lambda plan: plan.op,
)
def test_what_has_no_rule_is_an_issue(plan: Node) -> None:
    derived = Derivation({"r": False}).change(filter_(plan, literal(True, "boolean")))
    assert isinstance(derived, Issue)
    assert derived.type is IssueType.PLAN_NOT_INCREMENTALIZABLE
    assert derived.subtype is IssueSubType.OPERATOR_NOT_SUPPORTED


def test_what_has_no_rule_does_no_harm_if_nothing_below_it_changed() -> None:
    source = scan("r")
    derived = Derivation({"s": False}).change(Other("Sample", source.output, (source,)))
    assert isinstance(derived, Change)
    assert not derived.changed


def test_growth_needs_a_rule_that_keeps_it_and_inputs_that_have_it() -> None:
    left, right = scan("r"), scan("s")
    assert change(joined(left, right, INNER, None), r=True, s=True).grows
    assert not change(joined(left, right, INNER, None), r=True, s=False).grows
    assert not change(joined(left, right, ANTI, None), r=True, s=True).grows


def test_growing_rules_are_rules() -> None:
    assert RULES.keys() >= GROWING


def test_the_kind_of_a_join_is_part_of_its_rule_name() -> None:
    assert rule_name(joined(scan("r"), scan("s"), ANTI, None)) == "Join.anti"
    assert rule_name(scan("r")) == "Scan"

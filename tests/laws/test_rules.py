"""T' = T + ΔT: for every rule alone, over other rules, and for whatever can be made of them.

The naive twin of every rule is the same: evaluate the query over the sources before, evaluate it over the
sources after, and subtract.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rennet.delta.change import Change, effectivize
from rennet.delta.rules import RULES, Derivation
from rennet.errors import Issue
from rennet.plan.ir import ANTI, EXISTENCE, FULL, INNER, LEFT, RIGHT, SEMI, Node, Scan
from rennet.testing.bags import evaluate, minus, net, plus
from rennet.testing.values import Bag
from tests.laws.cases import BRIEFLY, LAW, Case, alone, compositions, growing, grown, met, over
from tests.laws.queries import STRATEGIES


def naive(case: Case) -> Bag:
    """Q(T') − Q(T)"""
    return minus(case.after, case.before)


def change_of(case: Case) -> Change:
    derived = case.derivation.change(case.plan)
    assert not isinstance(derived, Issue), derived
    return derived


def holds(case: Case) -> None:
    """Every part of a derived change is what it says."""
    change = change_of(case)
    for part in (change.before, change.after):
        assert part.output == case.plan.output
    assert evaluate(change.before, case.world) == case.before
    assert evaluate(change.after, case.world) == case.after
    if change.delta is None:
        assert case.before == case.after
        return
    assert change.delta.output[:-1] == case.plan.output
    delta = net(evaluate(change.delta, case.world))
    assert delta == naive(case)
    assert plus(case.before, delta) == case.after
    if change.grows:
        assert all(weight > 0 for weight in delta.values())
    if change.where is not None:
        shown = change.delta.output
        places = [[column.id for column in shown].index(column.id) for column in change.where.output]
        told = evaluate(change.where, case.world).keys()
        assert {tuple(row[i] for i in places) for row in evaluate(change.delta, case.world)} <= told


def test_every_rule_is_held_to_the_laws() -> None:
    assert RULES.keys() <= STRATEGIES.keys(), "add a strategy for the new rule to tests/laws/queries.py"


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_over_sources(rule: str) -> None:
    LAW(given(alone(rule))(holds))()


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_over_other_rules(rule: str) -> None:
    BRIEFLY(given(over(rule))(holds))()


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_over_what_grows(rule: str) -> None:
    BRIEFLY(given(grown(rule))(holds))()


@pytest.mark.parametrize("how", [INNER, LEFT, RIGHT, FULL, SEMI, ANTI, EXISTENCE])
def test_joins_with_what_looks_at_many_rows(how: str) -> None:
    LAW(given(met(how))(holds))()


@LAW
@given(compositions())
def test_compositions(case: Case) -> None:
    holds(case)


@LAW
@given(growing())
def test_what_grows_has_positive_weights_only(case: Case) -> None:
    """Row by row, not only in sum: appending relies on it."""
    change = change_of(case)
    assert change.grows
    if change.delta is not None:
        assert all(row[-1] == 1 for row in evaluate(change.delta, case.world))


@LAW
@given(compositions(3))
def test_effectivize(case: Case) -> None:
    change = change_of(case)
    if change.delta is None:
        return
    rows = evaluate(change.delta, case.world)
    effective = evaluate(effectivize(change.delta), case.world)
    assert net(effective) == net(rows)
    assert all(row[-1] != 0 for row in effective)
    assert len({row[:-1] for row in effective}) == effective.total()


@LAW
@given(compositions())
def test_sources_that_did_not_change_change_nothing(case: Case) -> None:
    derived = Derivation({}).change(case.plan)
    assert isinstance(derived, Change)
    assert not derived.changed
    assert evaluate(derived.before, case.world) == evaluate(derived.after, case.world) == case.after


@LAW
@given(compositions(), st.data())
def test_a_delta_reads_no_change_of_an_unchanged_source(case: Case, data: st.DataObject) -> None:
    """A source that is not said to have changed has no old version to read."""
    changed = {name: case.changed[name] for name in case.changed if data.draw(st.booleans())}
    derived = Derivation(changed).change(case.plan)
    assert isinstance(derived, Change)
    parts: list[Node] = [p for p in (derived.before, derived.after, derived.delta) if p is not None]
    for node in (node for part in parts for node in part.walk()):
        if isinstance(node, Scan) and node.source not in changed:
            assert node.state.value == "after"


def test_a_column_said_to_have_no_nulls_has_none() -> None:
    """Left by Spark's analyzer as it finds it in an analyzed plan, such a column may lose its NULL check."""

    @LAW
    @given(compositions(2))
    def law(case: Case) -> None:
        change = change_of(case)
        for part in (change.before, change.after, change.delta):
            for node in part.walk() if part is not None else ():
                rows = evaluate(node, case.world)
                for i, column in enumerate(node.output):
                    assert column.nullable or all(row[i] is not None for row in rows), node.op

    law()

"""A refresh does not depend on what is known of sizes: plans that are fitted to them change the same rows."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import replace
from unittest.mock import patch

from hypothesis import given

from rennet.cost import fit
from rennet.cost.fit import Fitting, mapped, trees
from rennet.cost.sizes import Flows, Statistics, TableSize
from rennet.cost.states import looked_at_once
from rennet.delta.generate import RefreshPlan, candidates
from rennet.delta.rules import Derivation
from rennet.enable.layout import lay_out
from rennet.errors import Technique
from rennet.plan.expressions import same
from rennet.plan.ir import LEFT, Node, Scan, State, join
from rennet.plan.reading import distinct
from rennet.testing.bags import World
from rennet.testing.values import bag
from tests.laws.cases import LAW, Case
from tests.laws.queries import SCHEMAS, scan
from tests.laws.refreshing import all_refresh, built, refreshed
from tests.laws.test_pruning import reading_all, scans_of
from tests.laws.test_refreshes import ANY_VIEW

LARGE, LITTLE = TableSize(20_000, 1000), TableSize(200, 10)


def every_way_is_worth_it() -> AbstractContextManager[object]:
    return patch.multiple(fit, WORTH_PRUNING=0, LARGER=0, WORTH_KEEPING=0)


def fitting() -> Fitting:
    return Fitting(Flows(Statistics(dict.fromkeys(SCHEMAS, LARGE), dict.fromkeys(SCHEMAS, LITTLE), LARGE)))


@LAW
@given(ANY_VIEW)
def test_fitted_plans_change_the_same_rows(case: Case) -> None:
    with every_way_is_worth_it():
        all_refresh(case, lambda plan: reading_all(fitting().fitted(plan), scans_of(plan)))


def outer_join() -> tuple[Case, RefreshPlan]:
    """Both sides change: the right one is looked at before for two sets of keys, and after for one."""
    left, right = scan("r"), scan("s")
    plan = join(left, right, LEFT, same(left.output[0], right.output[0]))
    now = {"r": bag([(1, 2), (2, 2), (3, 4), (None, 5)]), "s": bag([(1, 2, 7), (3, 1, 7), (5, 5, 5)])}
    then = {"r": bag([(1, 2), (2, 1), (None, 5)]), "s": bag([(1, 2, 7), (1, 2, 7), (2, 8, 8), (5, 5, 5)])}
    deltas = {"r": bag([(2, 1, -1), (2, 2, 1), (3, 4, 1)]),
              "s": bag([(1, 2, 7, -1), (2, 8, 8, -1), (3, 1, 7, 1)])}  # fmt: skip
    case = Case(plan, World(then, now, deltas), {"r": False, "s": False})
    made = candidates(lay_out(plan), Derivation(case.changed))[Technique.ROW_BASED]
    assert isinstance(made, RefreshPlan)
    return case, made


def states_read(plan: RefreshPlan, source: str) -> set[State]:
    """In which states the rows of a table are read, changes left out."""
    scans = (node for node in distinct(trees(plan)) if isinstance(node, Scan) and node.source == source)
    return {node.state for node in scans} - {State.DELTA}


def test_a_table_is_looked_at_once_in_one_state() -> None:
    case, plan = outer_join()
    assert states_read(plan, "s") == {State.AFTER, State.BEFORE}
    with every_way_is_worth_it():
        fitted = fitting().fitted(plan)
    assert states_read(fitted, "s") == {State.AFTER}
    stored, wanted = (built(case.layout, case.world, state) for state in (State.BEFORE, State.AFTER))
    assert refreshed(reading_all(fitted, scans_of(plan)), stored, case.world) == wanted


def test_a_small_table_is_looked_at_as_it_is() -> None:
    _, plan = outer_join()
    assert not looked_at_once(trees(plan), lambda _: False)


def test_values_that_are_equal_but_not_the_same_are_read_in_both_states() -> None:
    """Of 0.0 and -0.0 one went, but the group that both are in cannot say which."""
    _, plan = outer_join()

    def inexact(node: Node) -> Node:
        if not isinstance(node, Scan) or node.source != "s":
            return node
        return replace(
            node, output=tuple(replace(c, type="double") if c.name == "d" else c for c in node.output)
        )

    doubles = mapped(plan, lambda tree: tree.transform_up(inexact))
    with every_way_is_worth_it():
        assert State.BEFORE in states_read(fitting().fitted(doubles), "s")

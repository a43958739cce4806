"""What rennet does to orders leaves every query a legal answer, and only one."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from rennet.enable.determinism import obstacles
from rennet.enable.order import with_ties_broken, without_order
from rennet.plan.ir import PassThrough, State
from rennet.plan.reading import sources
from rennet.testing.bags import at, evaluate
from tests.laws.cases import ANY, DERIVED, LAW, Case, compositions, worlds
from tests.laws.queries import Draw, Maker, windowed


@st.composite
def open_ties(draw: Draw) -> Case:
    """Windows as users write them."""
    maker = Maker(draw, sorted(DERIVED))
    plan = windowed(maker, maker.leaf())
    return Case(plan, *worlds(maker, sources(plan), ANY))


@LAW
@given(open_ties())
def test_broken_ties_give_a_legal_answer(case: Case) -> None:
    """The one in which tied rows are taken in the order of their content."""
    decided = with_ties_broken(case.plan)
    assert decided.output == case.plan.output
    legal = evaluate(at(case.plan, State.AFTER), replace(case.world, strict=False, _done={}))
    assert evaluate(at(decided, State.AFTER), case.world) == legal


@LAW
@given(compositions(3))
def test_a_view_has_no_order(case: Case) -> None:
    """Only what a LIMIT counts along is kept."""
    plain = without_order(case.plan)
    assert plain.output == case.plan.output
    assert evaluate(at(plain, State.AFTER), case.world) == case.after
    assert not isinstance(plain, PassThrough)


@LAW
@given(compositions(3))
def test_nothing_here_has_to_be_recomputed(case: Case) -> None:
    """The laws are about queries that rennet refreshes incrementally."""
    assert obstacles(case.plan) == []

"""T ⋉ K wherever it ends up in T: neither more nor fewer rows than a semi join on top would leave."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rennet.delta.keys import changed_keys, matching
from rennet.delta.narrow import having
from rennet.plan.ir import FULL, INNER, LEFT, RIGHT, SEMI, State, join
from rennet.testing.bags import at, evaluate
from tests.laws.cases import BRIEFLY, LAW, Case, compositions, met


def selects_exactly(case: Case, data: st.DataObject) -> None:
    """The keys are some of the plan's columns, as its rows had them before."""
    plan, before = at(case.plan, State.AFTER), at(case.plan, State.BEFORE)
    places = data.draw(st.sets(st.sampled_from(range(len(plan.output))), min_size=1, max_size=3))
    keys = tuple(plan.output[place] for place in sorted(places))
    old = tuple(before.output[place] for place in sorted(places))
    wanted = changed_keys(before, old)
    on_top = join(plan, wanted, SEMI, matching(keys, wanted.output))
    assert evaluate(having(plan, keys, wanted), case.world) == evaluate(on_top, case.world)


@LAW
@given(compositions(3), st.data())
def test_of_anything(case: Case, data: st.DataObject) -> None:
    selects_exactly(case, data)


@pytest.mark.parametrize("how", [INNER, LEFT, RIGHT, FULL])
def test_of_joins_with_what_looks_at_many_rows(how: str) -> None:
    BRIEFLY(given(met(how), st.data())(selects_exactly))()

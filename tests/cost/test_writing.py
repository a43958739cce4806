"""Which way to write is the cheapest: no Spark is needed to know."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rennet.cost.choose import Costs, choose
from rennet.cost.operators import Kind, operators
from rennet.cost.rates import shipped
from rennet.cost.sizes import Backing, Statistics
from rennet.cost.writing import way_of, worth_rewriting
from rennet.delta.generate import Partitions, RefreshPlan, candidates
from rennet.delta.rules import Derivation
from rennet.enable.layout import Layout, lay_out
from rennet.errors import IssueType, Policy, Technique
from rennet.ways import Loss, Way
from tests.cost.test_costs import MILLION, grouped, plans, statistics
from tests.laws.queries import scan

RATES = shipped()


def worth(bytes_: float, rows: float, lost: float, columns: int = 4) -> bool:
    return worth_rewriting(columns, RATES, Loss(bytes_, rows, lost))


def test_a_large_file_that_loses_most_of_its_rows_is_written_again() -> None:
    assert worth(20 * MILLION, MILLION, 0.9 * MILLION)
    assert not worth(20 * MILLION, MILLION, 0.01 * MILLION)


def test_a_small_file_is_not_worth_a_job() -> None:
    assert not worth(20_000, 1000, 990)


def test_once_worth_it_more_loss_does_not_make_it_less_so() -> None:
    told = [worth(20 * MILLION, MILLION, share / 100 * MILLION) for share in range(100)]
    assert told == sorted(told) and True in told


def test_the_more_columns_the_dearer_it_is() -> None:
    half = (20 * MILLION, MILLION, MILLION / 2)
    assert worth(*half, columns=4) and not worth(*half, columns=40)


def rows_traced() -> Layout:
    return lay_out(scan("r"))


def known(changed: float, **backing: object) -> Statistics:
    found = statistics(MILLION, changed, view=MILLION)
    return replace(found, backing=replace(Backing(files=10, columns=3), **backing))  # type: ignore[arg-type]


def work(found: Statistics) -> dict[str, float]:
    plan = plans(rows_traced())[Technique.ROW_BASED]
    return {each.text: each.units for each in operators(plan, found)}


@pytest.mark.parametrize(("changed", "share"), [(2, 0.1), (8, 0.4), (1000, 1.0)])
def test_without_vectors_scattered_rows_have_their_files_written_again(changed: float, share: float) -> None:
    """As many files as rows go, half of the changes, up to all there are."""
    found = work(known(changed, vectors=False))
    assert "Mark deleted rows" not in found
    assert found["Read files that lose rows"] == pytest.approx(20 * MILLION * share, rel=0.1)
    assert found["Write those again"] == pytest.approx(found["Tell rows that stay from others"] * 3)
    marked = work(known(changed))
    assert "Mark deleted rows" in marked and "Write those again" not in marked


def test_a_full_recompute_is_chosen_where_writing_again_is_dearer() -> None:
    """Scattered changes touch every file: what is saved on the sources does not pay for finding the rows."""
    layout = rows_traced()
    found = candidates(layout, Derivation({"r": False}))
    sizes = statistics(10 * MILLION, 1000, view=10 * MILLION)
    with_vectors, without = (
        Costs(replace(sizes, backing=Backing(100, len(layout.stored), vectors))) for vectors in (True, False)
    )
    assert choose(found, Policy.AUTO, with_vectors).plan.technique is Technique.ROW_BASED
    dear = choose(found, Policy.AUTO, without)
    assert dear.plan.technique is Technique.COMPLETE_RECOMPUTE
    assert str(IssueType.INCREMENTAL_PLAN_REJECTED_BY_COST_MODEL) in dear.reason
    assert choose(found, Policy.INCREMENTAL, without).plan.technique is Technique.ROW_BASED


def test_every_plan_says_how_its_rows_will_be_written() -> None:
    made, found = plans(grouped()), known(10)
    assert way_of(made[Technique.COMPLETE_RECOMPUTE], found) is Way.OVERWRITE
    assert way_of(made[Technique.GROUP_AGGREGATE], found) is Way.DELETION_VECTORS
    assert way_of(made[Technique.GROUP_AGGREGATE], known(10, vectors=False)) is Way.REWRITE
    grown = plans(rows_traced(), grows=True)[Technique.APPEND_ONLY]
    assert way_of(grown, found) is Way.APPEND
    sliced = RefreshPlan(Technique.PARTITION_OVERWRITE, grown.inserted, Partitions("p", frozenset({"1"})))
    assert way_of(sliced, found) is Way.PARTITIONS
    told = Costs(found).of(sliced)
    assert told.to_dict()["written_by"] == "PARTITIONS" and RATES[Kind.WRITE] > 0

"""CPU time by operator: stages are Spark's own figures, what they are divided by is checked here."""

from __future__ import annotations

import pytest

from rennet.cost.learned import Learned
from rennet.cost.operators import Kind, Operator
from rennet.cost.rates import shipped
from rennet.cost.spent import Execution, Physical, Stage, by_kind, divided, execution, value

RATES = shipped()
ROWS = "number of output rows"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("2,844,153", 2_844_153),
        ("12.5 KiB", 12.5 * 1024),
        ("1031.0 B", 1031),
        ("432 ms", 0.432),
        ("total (min, med, max (stageId: taskId))\n5.9 s (1.6 s, 1.7 s, 2.6 s (stage 28.0: task 30))", 5.9),
        ("(min, med, max (stageId: taskId)):\n(1, 1, 1 (stage 28.0: task 31))", 0),
    ],
)
def test_metrics_are_texts_that_begin_with_a_number(text: str, number: float) -> None:
    assert value(text) == pytest.approx(number)


def spread(total: str, stage: int) -> str:
    return f"total (min, med, max (stageId: taskId))\n{total} (0 ms, 1 ms, 2 ms (stage {stage}.0: task 5))"


def grouped(named: bool) -> Execution:
    """A scan and a partial aggregate in one stage, the final aggregate and a write in another."""
    nodes = {
        0: Physical("HashAggregate", {ROWS: "20"}, (1,), frozenset({8}) if named else frozenset()),
        1: Physical("Exchange", {"shuffle records written": "40", "data size": "2.0 KiB"}, (2,)),
        2: Physical("HashAggregate", {ROWS: "40"}, (3,)),
        3: Physical("Scan parquet t", {ROWS: "1,000,000"}),
    }
    return Execution(nodes, {7: Stage(3.0, 8e6, shuffled_rows=40), 8: Stage(0.5, written_rows=20)})


@pytest.mark.parametrize("named", [True, False])
def test_the_time_of_a_stage_is_divided_among_its_own_operators(named: bool) -> None:
    """Stages are told by their number where metrics name it, else by the rows they sent."""
    found = divided([grouped(named)], 3, RATES)
    assert sum(each.seconds for each in found) == pytest.approx(3.5)
    below = [each for each in found if each.rows >= 40 or each.kind is Kind.SHUFFLE]
    assert sum(each.seconds for each in below) == pytest.approx(3.0, rel=0.05)
    (written,) = (each for each in found if each.kind is Kind.WRITE)
    assert written.rows == 20 and 0 < written.seconds < 0.5


def test_stages_nobody_claims_are_shared_by_the_operators_that_are_left() -> None:
    nodes = {0: Physical("Window", {}, (1,)), 1: Physical("Scan parquet t", {ROWS: "1,000"})}
    found = divided([Execution(nodes, {3: Stage(1.0), 4: Stage(2.0)})], 1, RATES)
    assert sum(each.seconds for each in found) == pytest.approx(3.0)
    assert {each.kind for each in found} == {Kind.WINDOW, Kind.SCAN, Kind.COMMIT}


def test_stages_with_little_to_do_are_mostly_fixed_cost() -> None:
    """So a small refresh is not expected to take nothing after a large one."""
    nodes = {0: Physical("Filter", {ROWS: "3"}, (1,)), 1: Physical("Scan parquet t", {ROWS: "10"})}
    found = divided([Execution(nodes, {3: Stage(0.08, 500.0)})], 1, RATES)
    assert by_kind(found)[Kind.COMMIT] > 0.07


def test_a_plan_whose_operators_do_nothing_counts_as_jobs() -> None:
    found = divided([Execution({0: Physical("LocalTableScan")}, {3: Stage(1.0)})], 1, RATES)
    assert by_kind(found) == {Kind.COMMIT: 1.0}


def test_a_graph_is_read_as_the_status_store_has_it() -> None:
    """Operators that were compiled together are listed alone as well, and have the stages of all."""
    inner = {"id": 2, "name": "Filter", "metrics": [{"name": ROWS, "accumulatorId": 11}]}
    compiled = {"id": 1, "name": "WholeStageCodegen (1)", "nodes": [inner]}
    graph = {
        "allNodes": [
            {"id": 0, "name": "AdaptiveSparkPlan", "metrics": []},
            inner,
            {**compiled, "metrics": [{"name": "duration", "accumulatorId": 12}]},
        ],
        "edges": [{"fromId": 2, "toId": 0}],
    }
    found = execution(graph, {"11": "5", "12": spread("8 ms", 4)}, {4: Stage(1.0)})
    assert set(found.nodes) == {0, 2}
    assert found.nodes[2].stages == {4} and found.nodes[2].count(ROWS) == 5
    assert found.nodes[0].children == (2,)


def test_a_reader_of_an_exchange_is_not_taken_for_its_writer() -> None:
    metrics = [{"name": "data size", "accumulatorId": 1}, {"name": "fetch wait time", "accumulatorId": 2}]
    graph = {"allNodes": [{"id": 0, "name": "Exchange", "metrics": metrics}], "edges": []}
    found = execution(graph, {"1": spread("8.0 KiB", 4), "2": spread("1 ms", 5)}, {})
    assert found.nodes[0].stages == {4}


def expected(kind: Kind, units: float) -> Operator:
    return Operator(kind, str(kind), f"shape of {kind}", units)


def test_a_kind_of_work_is_remembered_by_what_it_took() -> None:
    """A window that took nearly everything does not make the scan look dear."""
    costed = [Learned().cost(expected(kind, 1e8), RATES) for kind in (Kind.SCAN, Kind.WINDOW)]
    learned = Learned().with_refresh(costed, 10.0, 1, RATES, spent={Kind.WINDOW: 9.5, Kind.SCAN: 0.5})
    again = {k: learned.cost(expected(k, 1e8), RATES).seconds for k in (Kind.SCAN, Kind.WINDOW)}
    assert again == {Kind.SCAN: pytest.approx(0.5), Kind.WINDOW: pytest.approx(9.5)}


def test_what_nobody_expected_is_shared_and_the_sum_is_what_was_spent() -> None:
    costed = [Learned().cost(expected(kind, 1e8), RATES) for kind in (Kind.SCAN, Kind.BROADCAST_JOIN)]
    spent = {Kind.SHUFFLE_JOIN: 3.0, Kind.SCAN: 1.0, Kind.PYTHON: 4.0}
    learned = Learned().with_refresh(costed, 8.0, 1, RATES, spent=spent)
    again = [learned.cost(expected(k, 1e8), RATES).seconds for k in (Kind.SCAN, Kind.BROADCAST_JOIN)]
    assert again == [pytest.approx(2.0), pytest.approx(6.0)]


def test_no_kind_is_believed_to_take_many_times_what_it_takes_elsewhere() -> None:
    """A scan of marked rows filters by a hidden column: no filter of forty rows took half a second."""
    costed = [Learned().cost(expected(*each), RATES) for each in ((Kind.SCAN, 1e8), (Kind.ROWS, 40))]
    learned = Learned().with_refresh(costed, 1.0, 1, RATES, spent={Kind.SCAN: 0.5, Kind.ROWS: 0.5})
    assert learned.cost(expected(Kind.SCAN, 1e8), RATES).seconds == pytest.approx(1.0, rel=0.001)
    assert learned.cost(expected(Kind.ROWS, 40), RATES).seconds < 0.001

"""Shrinking, on failures that are made up: without Spark."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count

import pytest

from rennet.testing.fuzz.cases import Batch, Case, batches, coverage
from rennet.testing.fuzz.operators import LEAVES
from rennet.testing.fuzz.outcome import Failure, Kind
from rennet.testing.fuzz.scenario import scenario
from rennet.testing.fuzz.shrink import Shrinker
from rennet.testing.fuzz.tree import operators
from tests.scenarios.runner import load


def batch_with(op: str) -> Batch:
    """A batch of one large query with that operator, over a table, below others."""
    for batch in batches(4, coverage()):
        for case in batch.cases:
            _, *below = case.query.walk()
            over_a_table = any(node.op == op and node.names_read() for node in below)
            if over_a_table and len(operators(case.query)) > 4 and batch.tables[0].rows:
                return replace(batch, cases=(case,))
    raise AssertionError(op)


def shrunk(batch: Batch, fails: Callable[[Batch, Case], bool]) -> Batch:
    ticks = count()
    judge = lambda b: {case.number for case in b.cases if fails(b, case)}  # noqa: E731
    assert judge(batch)
    return Shrinker(batch, judge, 10_000, lambda: next(ticks)).shrunk()


@pytest.mark.parametrize("op", ["window.rank", "join.full", "union", "exists.select", "rollup"])
def test_operators_around_the_culprit_go(op: str) -> None:
    small = shrunk(batch_with(op), lambda _, case: op in operators(case.query))
    (case,) = small.cases
    left = operators(case.query)
    assert left[0] == op
    assert set(left[1:]) <= set(LEAVES)


def test_changes_and_rows_go() -> None:
    batch = batch_with("filter")
    row = batch.tables[0].rows[-1]

    def fails(found: Batch, case: Case) -> bool:
        return any(row in table.rows for table in found.tables) and len(found.changes) > 0

    small = shrunk(batch, fails)
    assert [table.rows for table in small.tables if table.rows] == [(row,)]
    assert len(small.changes) == 1
    assert len(small.changes[0].statements) <= 1


def test_nothing_goes_when_time_is_up() -> None:
    batch = batch_with("distinct")
    assert Shrinker(batch, lambda b: {0}, -1).shrunk().cases == batch.cases


def test_the_scenario_can_be_loaded(tmp_path) -> None:  # type: ignore[no-untyped-def]
    batch = batch_with("aggregate")
    failure = Failure(batch.cases[0], 0, "insert", "AUTO", Kind.WRONG_ROWS, "too much:\n none")
    path = tmp_path / "found.ivm"
    path.write_text(scenario(batch, failure))
    loaded = load(path)
    assert loaded.setup == batch.setup
    assert list(loaded.views.values()) == [batch.cases[0].sql]
    assert [c[1] for c in loaded.changes] == [list(c.statements) for c in batch.changes if c.statements]

"""The other measuring benchmarks, small: they must run to the end, and what they read must be right."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from rennet.bench.micro import decisions, fixed, growth, reading
from rennet.bench.micro.shapes import named

pytestmark = pytest.mark.slow


def _silent(_: str) -> None:
    """Nobody watches."""


def test_fixed_costs(spark: SparkSession) -> None:
    taken = {each.case: each for each in fixed.run(spark, _silent, repeat=2, warm_up=1)}
    assert set(taken) == {case.name for case in fixed.CASES}
    assert all(each.equal and len(each.samples) == 2 for each in taken.values())
    assert [sample.jobs for sample in taken["no_change"].samples] == [0, 0]
    assert all(sample.rows_written == 1 for sample in taken["append_only"].samples)


def test_growing_tables(spark: SparkSession) -> None:
    shapes = named(["append_only_filter", "update_projection_clustered"])
    grown = list(growth.run(spark, shapes, (0.002, 0.004), _silent, changes=20, repeat=1))
    assert [(each.rows, each.equal) for each in grown] == [(2_000, True), (4_000, True)] * 2
    assert all(each.heap_megabytes > 0 and len(each.samples) == 1 for each in grown)


def test_reading_after_refreshes(spark: SparkSession) -> None:
    settings = reading.Settings(rows=20_000, refreshes=2, changes=20, repeat=2)
    (read,) = reading.run(spark, named(["aggregate_many_groups"]), settings, _silent)
    assert read.equal
    assert len(read.view) == len(read.fresh) == 2
    assert read.files >= read.fresh_files > 0
    assert len(read.view) == len(read.fresh) == len(read.marked) == 2
    marked, fresh = ((each[0].jobs or 0) for each in (read.marked, read.fresh))
    assert marked == fresh + 2  # of Delta's own, on its log


def test_decisions(spark: SparkSession) -> None:
    settings = decisions.Settings(rows=2_000, fractions=(0.01, 1.0))
    (decided,) = decisions.run(spark, named(["aggregate_many_groups"]), settings, _silent)
    assert decided.differences == ()
    assert [(cell.fraction, cell.history) for cell in decided.cells] == [
        (0.01, False),
        (1.0, False),
        (0.01, True),
        (1.0, True),
    ]
    for cell in decided.cells:
        assert {"GROUP_AGGREGATE", "COMPLETE_RECOMPUTE"} <= set(cell.cpu_seconds)

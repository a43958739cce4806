"""Every shape, small: the contenders must agree, or what they measure is void."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rennet.bench.micro.contenders import FULL
from rennet.bench.micro.micro import Settings, difference, measure, unequal
from rennet.bench.micro.shape import Shape
from rennet.bench.micro.shapes import CLUSTERED, SHAPES

SMALL = Settings(rows=2_000, changes=20, repeat=1, warm_up=0)


QUICK = {"append_only_filter"}
"""All the others are in the sweep."""
CASES = [
    pytest.param(shape, id=shape.name, marks=() if shape.name in QUICK else pytest.mark.slow)
    for shape in (*SHAPES, CLUSTERED[0])
]


@pytest.mark.parametrize("shape", CASES)
def test_contenders_agree(spark: SparkSession, shape: Shape, tmp_path: Path) -> None:
    measured = measure(spark, shape, SMALL, tmp_path, lambda _: None)
    assert measured.differences == {}
    assert measured.result_rows > 0
    assert measured.techniques != ["COMPLETE_RECOMPUTE"]
    full, hand, duckdb, rennet = (measured.samples[who][0] for who in ("full", "hand", "duckdb", "rennet"))
    assert full.rows_written == measured.result_rows == duckdb.rows_written
    for sample in (hand, rennet):
        assert sample.jobs and sample.rows_read and sample.cpu_seconds > 0
        assert sample.rows_written is not None and sample.rows_written > 0


def test_a_difference_is_told(spark: SparkSession) -> None:
    one, two = spark.sql("SELECT 1 AS a"), spark.sql("SELECT * FROM VALUES (1), (1) AS t(a)")
    other = spark.sql("SELECT 1 AS b")
    assert unequal({FULL: one, "same": one, "twice": two, "other": other}) == ["twice", "other"]
    assert difference(one, one) == ""
    assert difference(one, two).startswith("0 rows missing, 1 too many")
    assert difference(two, one).startswith("1 rows missing, 0 too many")
    assert "columns" in difference(one, other)

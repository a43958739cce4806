"""Full recomputes that leave equal rows alone, for the sake of the views that read them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from rennet import Engine
from rennet.cost.learned import Reader
from rennet.errors import Technique

FULL = Technique.COMPLETE_RECOMPUTE
POOR = Reader("below", incremental=0.01, full=1000.0)
"""A view that would pay dearly for reading everything again."""


@pytest.fixture
def engine(spark: SparkSession) -> Iterator[Engine]:
    spark.sql("CREATE SCHEMA spare")
    spark.sql("CREATE TABLE spare.t (k INT, v DOUBLE, s STRING) USING delta")
    spark.sql("INSERT INTO spare.t SELECT id % 40, id % 40, IF(id % 5 = 0, NULL, 'x') FROM range(200)")
    made = Engine(spark)
    made.create_materialized_view("spare.above", "SELECT k, v + 1 AS w, s FROM spare.t")
    made.create_materialized_view("spare.below", "SELECT k, COUNT(*) AS n FROM spare.above GROUP BY k")
    yield made
    spark.sql("DROP SCHEMA spare CASCADE")


def test_only_rows_that_differ_are_written(spark: SparkSession, engine: Engine) -> None:
    spark.sql("DELETE FROM spare.t WHERE k = 3 AND s IS NOT NULL")
    spark.sql("INSERT INTO spare.t VALUES (50, 0.0, NULL), (50, 0.0, NULL), (50, 1.0, 'y')")
    result = engine.refresh("spare.above", technique=FULL, readers=[POOR])
    assert (result.technique, result.rows_inserted, result.rows_deleted) == (FULL, 3, 5)
    assert "only rows that differ" in result.reason
    assert engine.verify("spare.above").equal
    below = engine.refresh("spare.below")
    assert below.technique is Technique.GROUP_AGGREGATE
    assert (below.rows_inserted, below.rows_deleted) == (1, 1)
    assert engine.verify("spare.below").equal
    # And the next incremental refresh finds what it expects.
    spark.sql("UPDATE spare.t SET v = v + 1 WHERE k = 7")
    assert engine.refresh("spare.above", technique="ROW_BASED").technique is Technique.ROW_BASED
    assert engine.verify("spare.above").equal


def test_copies_of_a_row_are_counted(spark: SparkSession, engine: Engine) -> None:
    spark.sql("INSERT INTO spare.t SELECT * FROM spare.t WHERE k < 3")
    result = engine.refresh("spare.above", technique=FULL, readers=[POOR])
    assert (result.rows_inserted, result.rows_deleted) == (15, 0)
    spark.sql("DELETE FROM spare.t WHERE k = 1")
    result = engine.refresh("spare.above", technique=FULL, readers=[POOR])
    assert (result.rows_inserted, result.rows_deleted) == (0, 10)
    assert engine.verify("spare.above").equal


def test_everything_is_replaced_when_most_of_it_differs(spark: SparkSession, engine: Engine) -> None:
    spark.sql("UPDATE spare.t SET v = v + 1 WHERE k < 30")
    result = engine.refresh("spare.above", technique=FULL, readers=[POOR])
    assert (result.rows_inserted, result.rows_deleted) == (200, 200)
    assert engine.verify("spare.above").equal


@pytest.mark.parametrize("readers", [[], [Reader("below", incremental=1.0, full=1.0)]])
def test_nobody_compares_for_nobody(spark: SparkSession, engine: Engine, readers: list[Reader]) -> None:
    spark.sql("DELETE FROM spare.t WHERE k = 3")
    result = engine.refresh("spare.above", technique=FULL, readers=readers)
    assert (result.rows_inserted, result.rows_deleted) == (195, 200)


def test_a_query_that_may_answer_differently_is_replaced(spark: SparkSession, engine: Engine) -> None:
    engine.create_materialized_view("spare.chance", "SELECT k, rand() AS r FROM spare.t")
    spark.sql("DELETE FROM spare.t WHERE k = 3")
    result = engine.refresh("spare.chance", readers=[POOR])
    assert (result.technique, result.rows_inserted, result.rows_deleted) == (FULL, 195, 200)

"""Queries are read again only if something they were read from is another."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from rennet import Engine, Technique, api
from tests.schemas import in_schema


@pytest.fixture
def engine(spark: SparkSession) -> Iterator[Engine]:
    with in_schema(spark, "remember"):
        spark.sql("CREATE TABLE t (k INT, v INT) USING delta")
        spark.sql("INSERT INTO t VALUES (1, 10), (2, 20)")
        made = Engine(spark)
        made.create_materialized_view("m", "SELECT *, v + 1 AS more FROM t")
        yield made


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was read, as it happens."""
    found: list[str] = []
    analyze = api.analyze

    def noted(*given: object) -> object:
        found.append(str(given[1]))
        return analyze(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(api, "analyze", noted)
    return found


def refresh(engine: Engine) -> Technique:
    engine.spark.sql("INSERT INTO t (k, v) VALUES (3, 30)")
    technique = engine.refresh("m").technique
    assert engine.verify("m").equal
    return technique


def test_it_is_read_once(engine: Engine, reads: list[str]) -> None:
    assert [refresh(engine) for _ in range(3)] == 3 * [Technique.APPEND_ONLY]
    assert len(reads) == 0
    engine.spark.sql("DELETE FROM t WHERE k = 3")
    assert engine.refresh("m").technique is Technique.ROW_BASED
    assert engine.verify("m").equal
    assert len(reads) == 0


def test_views_on_the_way(engine: Engine, reads: list[str]) -> None:
    engine.spark.sql("CREATE VIEW w AS SELECT k, v FROM m WHERE v > 10")
    engine.create_materialized_view("n", "SELECT k, SUM(v) AS v FROM w GROUP BY k")
    for _ in range(2):
        refresh(engine)
        assert engine.refresh("n").technique is Technique.GROUP_AGGREGATE
    engine.create_materialized_view("n", "SELECT k, SUM(v) AS v FROM w GROUP BY k", replace=True)
    assert len(reads) == 1
    engine.spark.sql("CREATE OR REPLACE VIEW w AS SELECT k, v FROM m WHERE v > 20")
    assert engine.refresh("n").technique is Technique.COMPLETE_RECOMPUTE
    assert engine.verify("n").equal
    assert len(reads) == 2
    engine.create_materialized_view("m", "SELECT k, v + 100 AS v FROM t", replace=True)
    assert engine.refresh("n").technique is Technique.COMPLETE_RECOMPUTE
    assert engine.verify("n").equal


def test_a_table_with_another_column(engine: Engine, reads: list[str]) -> None:
    refresh(engine)
    engine.spark.sql("ALTER TABLE t ADD COLUMN w INT")
    assert refresh(engine) is Technique.COMPLETE_RECOMPUTE
    assert engine.spark.table("m").columns == ["k", "v", "w", "more"]
    assert len(reads) == 1


def test_a_setting(engine: Engine, reads: list[str]) -> None:
    refresh(engine)
    engine.spark.conf.set("spark.sql.groupByOrdinal", "false")
    try:
        refresh(engine)
    finally:
        engine.spark.conf.unset("spark.sql.groupByOrdinal")
    assert len(reads) == 1


def test_a_temporary_view_that_hides_the_table(engine: Engine, reads: list[str]) -> None:
    refresh(engine)
    engine.spark.sql("CREATE TEMPORARY VIEW t AS SELECT 7 AS k, 8 AS v")
    try:
        engine.spark.sql("INSERT INTO remember.t VALUES (4, 40)")
        assert engine.refresh("m").technique is Technique.COMPLETE_RECOMPUTE
        assert engine.spark.table("m").collect() == [(7, 8, 9)]
    finally:
        engine.spark.sql("DROP VIEW t")
    assert len(reads) == 1


def test_another_definition(engine: Engine, reads: list[str]) -> None:
    refresh(engine)
    engine.create_materialized_view("m", "SELECT k, v * 2 AS v FROM t", replace=True)
    refresh(engine)
    assert engine.spark.table("m").columns == ["k", "v"]
    assert "SELECT k, v * 2 AS v FROM t" in reads

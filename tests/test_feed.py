"""Change files of views: whoever reads what changed in a large view does not look for it in all its rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import pytest
from pyspark.sql import SparkSession

from rennet import Engine
from rennet.errors import Technique
from rennet.execute import apply
from rennet.jvm import Jvm
from rennet.storage.changes import changes_since
from rennet.storage.transaction import Transaction
from tests.schemas import in_schema

QUERY = "SELECT k, v + 1 AS w, s, day FROM t WHERE v < 100"
CHANGES = (
    "UPDATE t SET v = v + 1 WHERE k % 100 = 3",
    "DELETE FROM t WHERE k = 5 AND s IS NULL",
    "INSERT INTO t VALUES (50, 0.0, NULL, NULL), (50, 0.0, NULL, NULL), (5, NULL, 'y', DATE'2024-01-01')",
)


@pytest.fixture
def engine(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    monkeypatch.setattr(apply, "WORTH_A_FEED", 10)
    with in_schema(spark, "feed"):
        spark.sql("CREATE TABLE t (k INT, v DOUBLE, s STRING, day DATE) USING delta "
                  "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")  # fmt: skip
        spark.sql("INSERT INTO t SELECT id % 800, id % 40, IF(id % 5 = 0, NULL, 'x'), "
                  "date_add(DATE'2024-01-01', CAST(id % 2 AS INT)) FROM range(4000)")  # fmt: skip
        yield Engine(spark)


def changed(spark: SparkSession, engine: Engine, view: str, version: int) -> Counter[Any]:
    """What Delta itself says of a version: rows, each with its number of copies, those gone below zero."""
    table = engine.find(view).backing.sql
    rows = spark.sql(f"SELECT * FROM table_changes('{table}', {version}, {version})").collect()
    found: Counter[Any] = Counter()
    for row in rows:
        kept = [value for name, value in row.asDict().items() if not name.startswith("_")]
        found[tuple(kept)] += 1 if row["_change_type"] == "insert" else -1
    return found


def how_it_is_read(engine: Engine, view: str, version: int, column: str = "s") -> str:
    """From which files a view's refresh would learn what changed in its source up to a version."""
    provenance = engine.find(view).provenance
    assert provenance is not None
    (before,) = provenance.sources
    return changes_since(Jvm.of(engine.spark), before, replace(before, version=version), [column]).reader


def feed_files(engine: Engine) -> list[Path]:
    return list(Path(urlparse(engine.find("above").path).path).glob("_change_data/**/*.parquet"))


def held(spark: SparkSession, view: str) -> Counter[Any]:
    return Counter(tuple(row) for row in spark.table(view).collect())


@pytest.mark.parametrize("layout", [{}, {"partitioned_by": ["day"]}])
def test_the_feed_has_all_changes_and_readers_use_it(
    spark: SparkSession, engine: Engine, layout: dict[str, Any]
) -> None:
    engine.create_materialized_view("above", QUERY, **layout)
    engine.create_materialized_view("below", "SELECT s, COUNT(*) AS n, SUM(w) AS w FROM above GROUP BY s")
    engine.create_materialized_view("beside", "SELECT k, s FROM above WHERE w > 3")
    for statement in CHANGES[:2]:
        before = held(spark, "above")
        spark.sql(statement)
        spark.sql(CHANGES[2])
        result = engine.refresh("above", technique=Technique.ROW_BASED)
        after = Counter(held(spark, "above"))
        after.subtract(before)
        assert result.version is not None
        assert how_it_is_read(engine, "below", result.version) == "change_feed"
        assert changed(spark, engine, "above", result.version) == {r: n for r, n in after.items() if n}
        for view in ("below", "beside"):
            read = engine.refresh(view)
            assert read.technique is not Technique.COMPLETE_RECOMPUTE
        for view in ("above", "below", "beside"):
            assert engine.verify(view).equal


def test_small_views_write_none(spark: SparkSession, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apply, "WORTH_A_FEED", 100_000)
    engine.create_materialized_view("above", QUERY)
    spark.sql(CHANGES[0])
    engine.refresh("above", technique=Technique.ROW_BASED)
    assert not feed_files(engine)
    monkeypatch.setattr(apply, "WORTH_A_FEED", 10)
    spark.sql("DELETE FROM t WHERE k % 100 = 4")
    spark.sql(CHANGES[2])
    engine.refresh("above", technique=Technique.ROW_BASED)
    assert feed_files(engine)


@pytest.mark.parametrize("beside", [True, False])
def test_it_is_the_same_however_rows_are_written(
    spark: SparkSession, engine: Engine, monkeypatch: pytest.MonkeyPatch, beside: bool
) -> None:
    """While those that go are looked for, or afterwards."""
    if not beside:
        monkeypatch.setattr(apply.Arrival, "begin", lambda self, lost: None)
    with monkeypatch.context() as counted:
        calls: list[object] = []
        write = Transaction.append_beside
        counted.setattr(Transaction, "append_beside", lambda *given: calls.append(given) or write(*given))
        engine.create_materialized_view("above", QUERY)
        before = held(spark, "above")
        spark.sql(CHANGES[0])
        version = engine.refresh("above", technique=Technique.ROW_BASED).version
        assert bool(calls) is beside
    after = Counter(held(spark, "above"))
    after.subtract(before)
    assert version is not None
    assert changed(spark, engine, "above", version) == {row: n for row, n in after.items() if n}


def test_a_view_with_a_column_of_the_feeds_has_none(spark: SparkSession, engine: Engine) -> None:
    engine.create_materialized_view("above", "SELECT k AS _change_type, v FROM t")
    spark.sql(CHANGES[0])
    assert engine.refresh("above", technique=Technique.ROW_BASED).rows_deleted == 40
    assert engine.verify("above").equal


def test_users_may_do_without(spark: SparkSession, engine: Engine) -> None:
    engine.create_materialized_view("above", QUERY, properties={"delta.enableChangeDataFeed": "false"})
    spark.sql(CHANGES[0])
    engine.refresh("above", technique=Technique.ROW_BASED)
    assert not feed_files(engine)
    assert engine.verify("above").equal

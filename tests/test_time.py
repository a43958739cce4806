"""Views that look at the clock, at hours the test sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest
from pyspark.sql import SparkSession

from rennet import Engine, Technique
from rennet.errors import IssueSubType

NOON = datetime(2024, 3, 10, 12, tzinfo=UTC)
VIEWS = {
    "recent": "SELECT id, g FROM t WHERE at > current_timestamp() - INTERVAL 3 HOURS AND k > 0",
    "or_small": "SELECT id FROM t WHERE at < now() - INTERVAL 2 HOURS OR x = 3",
    "sums": "SELECT g, sum(CASE WHEN at < now() THEN x END) s, count_if(at > now()) n FROM t GROUP BY g",
    "outer_join": "SELECT t.id, u.name FROM t LEFT JOIN u ON t.k = u.k AND t.at < now()",
    "having": "SELECT g, max(at) AS last FROM t GROUP BY g HAVING max(at) < now()",
    "windowed": "SELECT id, sum(CASE WHEN at < now() THEN x END) OVER (PARTITION BY g ORDER BY id) s FROM t",
    "days": "SELECT id, datediff(current_date(), at) AS age FROM t",
}


@pytest.fixture
def clock(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[timedelta], None]]:
    spark.sql("DROP SCHEMA IF EXISTS timed CASCADE")
    spark.sql("CREATE SCHEMA timed")
    spark.catalog.setCurrentDatabase("timed")
    hours = [NOON]
    monkeypatch.setattr("rennet.execute.situation.clock", lambda: hours[0])

    def pass_(time: timedelta) -> None:
        hours[0] += time

    yield pass_
    spark.catalog.setCurrentDatabase("default")


def filled(spark: SparkSession) -> Engine:
    spark.sql("CREATE TABLE t (id INT, g STRING, k INT, x INT, at TIMESTAMP) USING delta")
    spark.sql("CREATE TABLE u (k INT, name STRING) USING delta")
    hours = (-30, -2, -1, None, 1, 5)
    rows = [
        (i, "ab"[i % 2], i % 3, i, None if h is None else NOON + timedelta(hours=h))
        for i, h in enumerate(hours)
    ]
    spark.createDataFrame(rows, "id int, g string, k int, x int, at timestamp").write.insertInto("t")
    spark.sql("INSERT INTO u VALUES (1, 'one'), (2, 'two')")
    return Engine(spark)


def test_time_passes(spark: SparkSession, clock: Callable[[timedelta], None]) -> None:
    engine = filled(spark)
    for name, query in VIEWS.items():
        engine.create_materialized_view(name, query)
    for hours, change in (
        (2, None),
        (0, "DELETE FROM t WHERE id = 1"),
        (4, "INSERT INTO t VALUES (9, 'a', 1, 3, TIMESTAMP'2024-03-10 17:00:00Z')"),
        (30, "UPDATE u SET name = 'uno' WHERE k = 1"),
    ):
        clock(timedelta(hours=hours))
        if change is not None:
            spark.sql(change)
        for name in VIEWS:
            result = engine.refresh(name)
            assert result.technique is not Technique.COMPLETE_RECOMPUTE, f"{name}: {result.reason}"
            assert engine.verify(name), f"{name} after {hours} hours"


def test_nothing_happened_but_time(spark: SparkSession, clock: Callable[[timedelta], None]) -> None:
    engine = filled(spark)
    engine.create_materialized_view("recent", VIEWS["recent"])
    clock(timedelta(hours=3))
    result = engine.refresh("recent")
    assert (result.rows_inserted, result.rows_deleted) == (0, 2)


def test_a_time_that_is_shown_is_recomputed(spark: SparkSession, clock: Callable[[timedelta], None]) -> None:
    engine = filled(spark)
    engine.create_materialized_view("stamped", "SELECT id, now() AS seen FROM t")
    clock(timedelta(hours=1))
    result = engine.refresh("stamped")
    assert result.technique is Technique.COMPLETE_RECOMPUTE
    assert IssueSubType.TIME_FUNCTION in result.reason
    assert engine.verify("stamped")

"""Files that lose rows, written again: without deletion vectors, and with them where that is cheaper."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from rennet.errors import ConcurrentRefreshError
from rennet.jvm import Jvm
from rennet.storage.commits import domains
from rennet.storage.sources import current, delta_log
from rennet.storage.transaction import Transaction
from rennet.storage.vectors import FILE, ROW
from rennet.ways import Loss

from .conftest import Tables, without_statistics

DOMAIN = "rennet.provenance"
OFF = ("feature.domainMetadata=supported", "enableChangeDataFeed=true", "enableDeletionVectors=false")
ON = (*OFF[:2], "enableDeletionVectors=true")
COLUMNS = "id BIGINT NOT NULL, v STRING, p STRING"


def filled(tables: Tables, *properties: str, partitioned: str = "") -> tuple[str, str]:
    """Four files, or more by partition; every row is there twice."""
    name, path = tables.make(COLUMNS, *properties, partitioned=partitioned)
    rows = "SELECT id DIV 2 AS id, 'v' AS v, CONCAT('x y%', id % 3) AS p FROM range(0, 2000, 1, 4)"
    tables.spark.sql(f"INSERT INTO {name} {rows}")
    return name, path


def places(txn: Transaction, condition: str) -> DataFrame:
    return txn.target().where(condition).select(FILE, ROW)


def new(spark: SparkSession, low: int, high: int) -> DataFrame:
    return spark.range(low, high, 1, 1).selectExpr("id", "'new' AS v", "'x y%7' AS p")


def held(spark: SparkSession, name: str) -> Counter[Any]:
    return Counter(tuple(row) for row in spark.table(name).collect())


def fed(spark: SparkSession, name: str, version: int) -> dict[Any, int]:
    """What Delta's own feed says of a version; rows that stay are not in it, with either sign."""
    feed = spark.sql(f"SELECT id, v, p, _change_type FROM table_changes('{name}', {version}, {version})")
    signs = {"insert": 1, "delete": -1}
    found: Counter[Any] = Counter()
    for *row, change in feed.collect():
        assert found[tuple(row)] * signs[change] >= 0, row
        found[tuple(row)] += signs[change]
    return dict(found)


def difference(after: Counter[Any], before: Counter[Any]) -> dict[Any, int]:
    left = Counter(after)
    left.subtract(before)
    return {row: count for row, count in left.items() if count}


def vectors(jvm: Jvm, path: str) -> int:
    files = current(jvm, delta_log(jvm, path)).allFiles()
    return int(files.where("deletionVector IS NOT NULL").count())


@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize(("extra", "partitioned"), [((), ""), ((), "p"), (("columnMapping.mode=name",), "")])
def test_without_deletion_vectors(
    jvm: Jvm, tables: Tables, spark: SparkSession, few: bool, extra: tuple[str, ...], partitioned: str
) -> None:
    name, path = filled(tables, *OFF, *extra, partitioned=partitioned)
    for step in range(2):
        before = held(spark, name)
        with Transaction(jvm, path) as txn:
            dead = f"id % 500 = {step}"
            assert txn.delete(places(txn, dead).unionAll(places(txn, dead)), exactly=4, few=few) == 4
            assert txn.append(new(spark, 5100 + step, 5102)).rows == 2 - step
            assert txn.written_by == "REWRITE"
            version = txn.commit({DOMAIN: f"step {step}"})
        change = difference(held(spark, name), before)
        assert sum(change.values()) == -2 - step and change == fed(spark, name, version)
        assert {row[0] for row in change} == {step, step + 500, *range(5100 + step, 5102)}
    assert domains(jvm, path) == {DOMAIN: "step 1"}
    assert not vectors(jvm, path)


def test_only_deletes_whole_files_and_none(jvm: Jvm, tables: Tables, spark: SparkSession) -> None:
    name, path = filled(tables, *OFF)
    for dead in ("id % 10 = 1", "id < 250", "id < 0"):
        before = held(spark, name)
        with Transaction(jvm, path) as txn:
            gone = txn.delete(places(txn, dead), exactly=10_000)
            assert txn.delete(places(txn, dead), exactly=gone) == gone  # none were deleted before
            version = txn.commit({})
        change = difference(held(spark, name), before)
        assert -sum(change.values()) == gone and change == (fed(spark, name, version) if gone else {})
    assert not spark.table(name).where("id < 250").count()


def test_without_a_feed_and_without_statistics(jvm: Jvm, tables: Tables, spark: SparkSession) -> None:
    name, path = tables.make(COLUMNS, OFF[0], OFF[2])
    with without_statistics(spark):
        new(spark, 0, 100).write.format("delta").mode("append").saveAsTable(name)
    with Transaction(jvm, path) as txn:
        assert txn.delete(places(txn, "id < 10")) == 10
        assert txn.append(new(spark, 200, 203)).rows == 3
        txn.commit({})
    assert sorted(row[0] for row in held(spark, name)) == [*range(10, 100), 200, 201, 202]


def test_someone_else_was_quicker(jvm: Jvm, tables: Tables, spark: SparkSession) -> None:
    name, path = filled(tables, *OFF)
    with Transaction(jvm, path) as slow:
        slow.delete(places(slow, "id = 2"))
        spark.sql(f"DELETE FROM {name} WHERE id = 3")
        with pytest.raises(ConcurrentRefreshError):
            slow.commit({DOMAIN: "slow"})
    assert spark.table(name).count() == 1998 and domains(jvm, path) == {}


@pytest.mark.parametrize("feed", [True, False])
def test_files_that_lose_most_of_their_rows(
    jvm: Jvm, tables: Tables, spark: SparkSession, feed: bool
) -> None:
    """The first file loses nearly all, the second a little, and the third everything."""
    name, path = filled(tables, *(ON if feed else (ON[0], ON[2])))
    steps = ("id < 20 OR id = 300", "id < 240 OR id BETWEEN 301 AND 302 OR id BETWEEN 500 AND 749")
    for dead, ways in zip(steps, ("DELETION_VECTORS", "DELETION_VECTORS + REWRITE"), strict=True):
        before = held(spark, name)
        with Transaction(jvm, path, _mostly) as txn:
            gone = txn.delete(places(txn, dead))
            assert txn.append(new(spark, 5000, 5003)).rows == 3
            assert txn.written_by == ways
            version = txn.commit({})
        change = difference(held(spark, name), before)
        assert sum(change.values()) == 3 - gone
        if feed:
            assert change == fed(spark, name, version)
    assert vectors(jvm, path) == 1


def _mostly(loss: Loss) -> bool:
    return loss.lost > 0.5 * loss.rows


def test_ways(jvm: Jvm, tables: Tables, spark: SparkSession) -> None:
    _, path = filled(tables, *ON, partitioned="p")
    with Transaction(jvm, path) as txn:
        assert txn.written_by == ""
        txn.append(new(spark, 0, 1))
        assert txn.written_by == "APPEND"
        txn.delete_partitions("p", {"x y%0"})
        assert txn.written_by == "PARTITIONS"
    with Transaction(jvm, path) as txn:
        txn.overwrite(new(spark, 0, 1))
        assert txn.written_by == "OVERWRITE"

"""One commit per refresh: what it does to rows, provenance, change feed, and to its competitors."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from rennet.errors import ConcurrentRefreshError, PlanError
from rennet.jvm import Jvm
from rennet.storage.commits import domains, history
from rennet.storage.transaction import Transaction
from rennet.storage.vectors import FILE, ROW

from .conftest import Tables, without_statistics

DOMAIN = "rennet.provenance"
TABLE = ("enableDeletionVectors=true", "feature.domainMetadata=supported", "enableChangeDataFeed=true")


@pytest.fixture
def table(tables: Tables) -> tuple[str, str]:
    name, path = tables.make("id BIGINT NOT NULL, v STRING, d DECIMAL(30, 10)", *TABLE)
    rows = (
        "SELECT id, 'v', CAST(12345678901234567890.1234567891 AS DECIMAL(30, 10)) FROM range(0, 1000, 1, 4)"
    )
    tables.spark.sql(f"INSERT INTO {name} {rows}")
    return name, path


def rows(spark: SparkSession, low: int, high: int) -> DataFrame:
    return spark.range(low, high, 1, 1).selectExpr("id", "'new' AS v", "CAST(1 AS DECIMAL(30, 10)) AS d")


def positions(txn: Transaction, condition: str) -> DataFrame:
    return txn.target().where(condition).select(FILE, ROW)


def ids(spark: SparkSession, name: str) -> list[int]:
    return [row.id for row in spark.table(name).select("id").orderBy("id").collect()]


@contextmanager
def no_jobs(spark: SparkSession, allowed: int = 0) -> Iterator[None]:
    spark.sparkContext.setJobGroup("counted", "counted")
    tracker = spark.sparkContext.statusTracker()
    before = len(tracker.getJobIdsForGroup("counted"))
    yield
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    assert len(tracker.getJobIdsForGroup("counted")) - before <= allowed


def test_replace_rows(jvm: Jvm, spark: SparkSession, table: tuple[str, str]) -> None:
    name, path = table
    expected = set(range(1000))
    for step in range(3):
        with Transaction(jvm, path) as txn:
            # The second file of four loses its last row in the third step.
            dead = f"id % 7 = {step}" if step < 2 else "id BETWEEN 250 AND 499"
            gone = {row.id for row in txn.target().where(dead).select("id").collect()}
            twice = positions(txn, dead).unionAll(positions(txn, dead))
            assert txn.delete(twice) == len(gone)
            low = 2000 + 10 * step
            written = txn.append(rows(spark, low, low + 10))
            assert (written.rows, written.files) == (10, 1) and written.bytes > 0
            version = txn.commit({DOMAIN: f"step {step}"}, app=("app", step))
        expected = (expected - gone) | set(range(low, low + 10))
        assert ids(spark, name) == sorted(expected)
        assert domains(jvm, path) == {DOMAIN: f"step {step}"}
        feed = spark.read.option("readChangeFeed", True).option("startingVersion", version).table(name)
        seen = {(row.id, row._change_type) for row in feed.collect()}
        assert seen == {(i, "delete") for i in gone} | {(i, "insert") for i in range(low, low + 10)}
    # Statistics stay usable: bounds are kept to the last digit, and files can be skipped by them.
    old = sum(i < 1000 for i in expected)
    assert spark.table(name).where("d > 12345678901234567890.1234567890").count() == old
    assert spark.sql(f"SELECT COUNT(*), MIN(id), MAX(id) FROM {name}").first() == (len(expected), 2, 2029)
    removed = [entry for entry in _actions(path, version) if "remove" in entry]
    added = [entry for entry in _actions(path, version) if "add" in entry]
    assert len(removed) == 1 and len(added) == 1


def _actions(path: str, version: int) -> list[dict[str, dict[str, object]]]:
    text = Path(path, "_delta_log", f"{version:020d}.json").read_text()
    return [json.loads(line) for line in text.splitlines()]


def test_files_without_statistics(jvm: Jvm, tables: Tables, spark: SparkSession) -> None:
    name, path = tables.make("id BIGINT, v STRING, d DECIMAL(30, 10)", *TABLE)
    with without_statistics(spark):
        rows(spark, 0, 100).write.format("delta").mode("append").saveAsTable(name)
    with Transaction(jvm, path) as txn:
        assert txn.delete(positions(txn, "id < 10")) == 10
        txn.commit({})
    assert ids(spark, name) == list(range(10, 100))


def test_nothing_to_delete(jvm: Jvm, spark: SparkSession, table: tuple[str, str]) -> None:
    name, path = table
    with Transaction(jvm, path) as txn:
        assert txn.delete(positions(txn, "id < 0")) == 0
        with pytest.raises(PlanError, match="once"):
            txn.delete(positions(txn, "id = 1"))
        txn.commit({DOMAIN: "looked"})
    assert ids(spark, name) == list(range(1000))


def test_provenance_alone_runs_no_job(jvm: Jvm, spark: SparkSession, table: tuple[str, str]) -> None:
    _, path = table
    with no_jobs(spark), Transaction(jvm, path) as txn:
        assert txn.domains() == {}
        version = txn.commit({DOMAIN: "a", "other": "b"})
    with no_jobs(spark):
        assert domains(jvm, path) == {DOMAIN: "a", "other": "b"}
        commits = list(history(jvm, path))
    assert [commit.version for commit in commits] == [2, 1, 0] and commits[0].version == version
    assert commits[0].domains == {DOMAIN: "a", "other": "b"} and commits[1].domains == {}
    assert commits[0].timestamp_ms >= commits[2].timestamp_ms > 1_600_000_000_000
    with no_jobs(spark, allowed=1), Transaction(jvm, path) as txn:
        txn.append(rows(spark, 5000, 5001))
        txn.commit({DOMAIN: "c"})


def test_overwrite(jvm: Jvm, spark: SparkSession, table: tuple[str, str]) -> None:
    name, path = table
    with Transaction(jvm, path) as txn:
        txn.delete(positions(txn, "id < 5"))
        txn.commit({})
    with Transaction(jvm, path) as txn:
        txn.overwrite(rows(spark, 0, 10))
        txn.commit({DOMAIN: "full"})
    assert ids(spark, name) == list(range(10))
    with Transaction(jvm, path) as txn:
        assert txn.overwrite(rows(spark, 0, 0)).rows == 0
        txn.commit({})
    assert ids(spark, name) == []


def test_nothing_is_visible_without_a_commit(jvm: Jvm, spark: SparkSession, table: tuple[str, str]) -> None:
    name, path = table
    with Transaction(jvm, path) as txn:
        txn.delete(positions(txn, "id < 5"))
        txn.append(rows(spark, 2000, 2001))
    with pytest.raises(PlanError, match="over"):
        txn.commit({})
    assert ids(spark, name) == list(range(1000))


def test_rows_must_fit(jvm: Jvm, spark: SparkSession, table: tuple[str, str]) -> None:
    _, path = table
    with Transaction(jvm, path) as txn:
        with pytest.raises(PlanError, match="unknown=\\['x'\\]"):
            txn.append(rows(spark, 0, 1).withColumn("x", F.lit(1)))
        with pytest.raises(PlanError, match="id is string"):
            txn.append(rows(spark, 0, 1).withColumn("id", F.col("id").cast("string")))
        with pytest.raises((Py4JJavaError, PySparkException), match=r"NOT NULL|NOT_NULL"):
            nulls = rows(spark, 0, 1).withColumn("id", F.expr("IF(id = 0, NULL, id)"))
            txn.append(nulls)
    with Transaction(jvm, path) as txn:
        txn.append(rows(spark, 3000, 3001).select("d", "v", F.col("id").alias("ID")))
        txn.commit({})
    assert spark.read.format("delta").load(path).where("id = 3000 AND v = 'new'").count() == 1


def test_conflicts(jvm: Jvm, spark: SparkSession, table: tuple[str, str]) -> None:
    name, path = table
    with Transaction(jvm, path) as slow, Transaction(jvm, path) as quick:
        quick.commit({DOMAIN: "quick"})
        slow.append(rows(spark, 2000, 2001))
        with pytest.raises(ConcurrentRefreshError):
            slow.commit({DOMAIN: "slow"})
    for change in (f"INSERT INTO {name} VALUES (7000, 'x', 1)", f"DELETE FROM {name} WHERE id = 1"):
        with Transaction(jvm, path) as slow:
            slow.delete(positions(slow, "id = 2"))
            spark.sql(change)
            with pytest.raises(ConcurrentRefreshError):
                slow.commit({DOMAIN: "slow"})
    with Transaction(jvm, path) as slow:
        slow.overwrite(rows(spark, 0, 1))
        spark.sql(f"INSERT INTO {name} VALUES (7001, 'x', 1)")
        with pytest.raises(ConcurrentRefreshError):
            slow.commit({DOMAIN: "slow"})
    assert domains(jvm, path) == {DOMAIN: "quick"}
    assert ids(spark, name) == [0, *range(2, 1000), 7000, 7001]


def test_partitions_with_odd_names(jvm: Jvm, tables: Tables, spark: SparkSession) -> None:
    name, path = tables.make("id BIGINT, p STRING", *TABLE, partitioned="p")
    spark.sql(f"INSERT INTO {name} SELECT id, CONCAT('x y%', id % 3) FROM range(30)")
    for step in range(2):
        with Transaction(jvm, path) as txn:
            assert txn.delete(positions(txn, f"id % 10 = {step}")) == 3
            txn.commit({})
    assert ids(spark, name) == [i for i in range(30) if i % 10 > 1]


def test_rows_are_written_while_others_are_deleted(
    jvm: Jvm, spark: SparkSession, table: tuple[str, str]
) -> None:
    name, path = table
    spark.sparkContext.setJobGroup("beside", "beside")
    with Transaction(jvm, path, rewriting=lambda _: True) as txn:
        written = txn.append_beside(rows(spark, 2000, 2010))
        assert txn.delete(positions(txn, "id < 100")) == 100
        assert written().rows == 10
        txn.commit({DOMAIN: "one"})
    assert ids(spark, name) == [*range(100, 1000), *range(2000, 2010)]
    assert txn.written_by == "DELETION_VECTORS"  # to write a file again would be a second write
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    assert len(spark.sparkContext.statusTracker().getJobIdsForGroup("beside")) >= 2


def test_what_cannot_be_written_beside_is_told_by_whoever_waits(
    jvm: Jvm, spark: SparkSession, table: tuple[str, str]
) -> None:
    name, path = table
    before = ids(spark, name)
    nothing = rows(spark, 0, 1).selectExpr("CAST(NULL AS BIGINT) AS id", "v", "d")
    with Transaction(jvm, path) as txn:
        written = txn.append_beside(nothing)
        txn.delete(positions(txn, "id < 100"))
        with pytest.raises((PySparkException, Py4JJavaError), match=r"NOT.NULL|null"):
            written()
    with Transaction(jvm, path) as txn:  # and if nobody waits, nothing is lost either
        txn.append_beside(rows(spark, 3000, 3001))
    assert ids(spark, name) == before


def test_files_are_not_written_again_beside_their_rows(jvm: Jvm, tables: Tables, spark: SparkSession) -> None:
    name, path = tables.make("id BIGINT, v STRING, d DECIMAL(30, 10)", "feature.domainMetadata=supported")
    with Transaction(jvm, path) as txn, pytest.raises(PlanError, match="written again"):
        txn.append_beside(rows(spark, 0, 1))
    assert ids(spark, name) == []

"""A refresh runs in settings that fit the work, and the first one is work like any other."""

from __future__ import annotations

import gc
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rennet import Engine
from rennet.errors import Technique
from rennet.execute.workspace import LITTLE, SMALL_WORK, TINY_WORK, WORTH_A_CORE, fit, lightly, workspace
from rennet.jvm import Jvm
from rennet.plan.dataframe import MOST_IN_DRIVER
from rennet.storage import catalog, tables
from rennet.storage.names import ViewName
from rennet.storage.sources import current, delta_log

PARTITIONS = "spark.sql.shuffle.partitions"
CODE = "spark.sql.codegen.wholeStage"


@pytest.fixture
def fitted(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[int, bool]]]:
    """Sizes that refreshes were fitted to, and whether they were heavy."""
    seen: list[tuple[int, bool]] = []
    monkeypatch.setattr(
        "rennet.execute.refresh.fit", lambda jvm, size, heavy=False: seen.append((size, heavy))
    )
    spark.sql("CREATE OR REPLACE TABLE sized (k INT, v STRING) USING delta")
    spark.sql("INSERT INTO sized SELECT CAST(id % 9 AS INT), uuid() FROM range(2000)")
    yield seen
    spark.sql("DROP TABLE sized")


def test_the_first_refresh_is_as_large_as_what_it_reads(
    spark: SparkSession, fitted: list[tuple[int, bool]]
) -> None:
    engine = Engine(spark)
    size = spark.sql("DESCRIBE DETAIL sized").first()["sizeInBytes"]  # type: ignore[index]
    engine.create_materialized_view("sized_counts", "SELECT k, count(*) AS n FROM sized GROUP BY k")
    assert fitted == [(size, True)]
    spark.sql("INSERT INTO sized VALUES (1, 'a')")
    engine.refresh("sized_counts")
    assert fitted[1][0] > size and not fitted[1][1]
    engine.drop("sized_counts")


def test_what_is_not_a_table_counts(spark: SparkSession, fitted: list[tuple[int, bool]]) -> None:
    engine = Engine(spark)
    engine.create_materialized_view("sized_range", "SELECT id FROM range(100000) WHERE id < 2")
    assert fitted == [(800_000, True)]
    engine.drop("sized_range")


@pytest.mark.parametrize(
    ("size", "heavy", "partitions", "compiled"),
    [
        (TINY_WORK - 1, True, "1", "false"),
        (WORTH_A_CORE - 1, True, "1", "true"),
        (SMALL_WORK - 1, False, "1", "true"),
        (SMALL_WORK - 1, True, "2", "true"),
        (SMALL_WORK, True, "7", "true"),
    ],
)
def test_all_cores_for_heavy_work(jvm: Jvm, size: int, heavy: bool, partitions: str, compiled: str) -> None:
    with workspace(jvm) as inside:
        conf = inside.spark.conf
        conf.set(CODE, "true")
        conf.set(PARTITIONS, "7")
        fit(inside, size, heavy)
        assert (conf.get(PARTITIONS), conf.get(CODE)) == (partitions, compiled)


def test_sessions_of_past_work_are_forgotten(spark: SparkSession) -> None:
    engine = Engine(spark)
    spark.sql("CREATE OR REPLACE TABLE often (k INT) USING delta")
    engine.create_materialized_view("often_seen", "SELECT k + 1 AS k FROM often")
    counts = []
    for turn in range(3):
        spark.sql(f"INSERT INTO often VALUES ({turn})")
        engine.refresh("often_seen")
        gc.collect()
        counts.append(sum(isinstance(each, Jvm) for each in gc.get_objects()))
    assert counts[0] == counts[1] == counts[2]
    engine.drop("often_seen")
    spark.sql("DROP TABLE often")


def test_a_log_is_listed_once_in_a_piece_of_work(spark: SparkSession, jvm: Jvm, tmp_path: Path) -> None:
    spark.range(3).write.format("delta").save(str(tmp_path))
    log, begun = delta_log(jvm, str(tmp_path)), jvm.begin()
    time.sleep(0.01)  # what is listed in the millisecond of the beginning may be listed again
    assert current(begun, log).version() == 0
    folder = tmp_path / "_delta_log"  # somebody else commits
    shutil.copy(folder / f"{0:020}.json", folder / f"{1:020}.json")
    assert current(begun, log).version() == 0
    assert current(begun, log, anew=True).version() == 1
    shutil.copy(folder / f"{0:020}.json", folder / f"{2:020}.json")
    assert current(jvm.begin(), log).version() == 2


def test_a_catalog_of_several_processes_is_asked_once_unless_it_was_changed(
    spark: SparkSession, jvm: Jvm, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalog, "_answers", lambda _: None)
    name = ViewName("default", "asked")
    with workspace(jvm) as inside:
        assert tables.location_of(inside, name) is None
        spark.sql("CREATE TABLE asked (k INT) USING delta")  # somebody else
        assert tables.location_of(inside, name) is None
        assert tables.location_of(jvm, name) is not None
        tables.discard(inside.spark, ViewName("default", "other"))
        assert tables.location_of(inside, name) == tables.location_of(jvm, name)
    spark.sql("DROP TABLE asked")


def test_tiny_tables_may_change_much(spark: SparkSession) -> None:
    engine = Engine(spark)
    for table in ("left_part", "right_part"):
        spark.sql(f"CREATE OR REPLACE TABLE {table} (k INT, v INT) USING delta")
        spark.sql(f"INSERT INTO {table} SELECT id, id % 7 FROM range(300)")
    query = "SELECT l.k, r.k AS other, l.v + r.v AS v FROM left_part l CROSS JOIN right_part r"
    engine.create_materialized_view("product", query)
    spark.sql("UPDATE left_part SET v = v + 1 WHERE k % 5 = 0")
    done = engine.refresh("product", technique=Technique.ROW_BASED)
    assert 2 * done.rows_inserted > MOST_IN_DRIVER
    assert (done.rows_inserted, done.rows_deleted) == (18_000, 18_000)
    assert engine.verify("product")
    engine.drop("product")
    for table in ("left_part", "right_part"):
        spark.sql(f"DROP TABLE {table}")


def test_little_work_on_large_sources_does_not_adapt(spark: SparkSession) -> None:
    adapts = "spark.sql.adaptive.enabled"
    with workspace(Jvm.of(spark)) as jvm:
        jvm.spark.conf.set(adapts, "true")
        before = jvm.spark.conf.get(PARTITIONS)
        with lightly(jvm, 1000):
            assert (jvm.spark.conf.get(adapts), jvm.spark.conf.get(PARTITIONS)) == ("false", "1")
        assert (jvm.spark.conf.get(adapts), jvm.spark.conf.get(PARTITIONS)) == ("true", before)
        with lightly(jvm, LITTLE + 1):
            assert jvm.spark.conf.get(adapts) == "true"

"""A refresh that has nothing to do, and does not even look at the query where it need not."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from pyspark.sql import SparkSession

from rennet import Engine, Technique
from rennet.errors import ViewNotFoundError
from tests.schemas import in_schema

JOINED = "SELECT t.k, s, sum(v) AS total FROM t JOIN u ON t.k = u.k GROUP BY t.k, s"


@pytest.fixture
def engine(spark: SparkSession) -> Iterator[Engine]:
    with in_schema(spark, "still"):
        spark.sql("CREATE TABLE t (k INT, v INT) USING delta")
        spark.sql("CREATE TABLE u (k INT, s STRING) USING delta")
        spark.sql("INSERT INTO t VALUES (1, 10), (2, 20)")
        spark.sql("INSERT INTO u VALUES (1, 'one'), (2, 'two')")
        yield Engine(spark)


@pytest.fixture
def blind(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Queries cannot be looked at."""

    def refused(*_: object) -> None:
        raise AssertionError("the query was looked at")

    monkeypatch.setattr(Engine, "_query", refused)
    return monkeypatch


def test_versions_are_enough(engine: Engine, blind: pytest.MonkeyPatch) -> None:
    engine.create_materialized_view("m", JOINED)
    result = engine.refresh("m")
    assert (result.technique, result.version, result.jobs) == (Technique.NO_OP, None, 0)
    assert [source["from"] == source["to"] for source in result.sources] == [True, True]
    assert engine.history("m").first()["technique"] == "NO_OP"  # type: ignore[index]
    engine.spark.sql("INSERT INTO u VALUES (3, 'three')")
    with pytest.raises(AssertionError, match="looked at"):
        engine.refresh("m")
    blind.undo()
    assert engine.refresh("m").technique is not Technique.NO_OP
    assert engine.verify("m").equal


def test_a_name_that_stands_for_another_table(engine: Engine, tmp_path: Path) -> None:
    """The table of the last refresh is as it was, but it is not the one the query means any more."""
    spark = engine.spark
    for name, value in (("old", 1), ("new", 2)):
        spark.sql(f"CREATE TABLE {name} (k INT) USING delta LOCATION '{tmp_path}/{name}'")
        spark.sql(f"INSERT INTO {name} VALUES ({value})")
    spark.sql("ALTER TABLE old RENAME TO named")
    engine.create_materialized_view("m", "SELECT k FROM named")
    assert engine.refresh("m").technique is Technique.NO_OP
    spark.sql("ALTER TABLE named RENAME TO old")
    spark.sql("ALTER TABLE new RENAME TO named")
    assert engine.refresh("m").technique is Technique.COMPLETE_RECOMPUTE
    assert spark.table("m").collect() == [(2,)]


def test_a_view_below_that_was_replaced(engine: Engine) -> None:
    spark = engine.spark
    spark.sql("CREATE VIEW w AS SELECT k FROM t WHERE v > 10")
    engine.create_materialized_view("m", "SELECT k FROM w")
    engine.create_materialized_view("s", "SELECT k FROM u WHERE k IN (SELECT k FROM w)")
    spark.sql("CREATE OR REPLACE VIEW w AS SELECT k FROM t")
    for name in ("m", "s"):
        assert engine.refresh(name).technique is not Technique.NO_OP
        assert spark.table(name).count() == 2


@pytest.mark.parametrize(
    "query",
    [
        "SELECT k, double_it(v) AS v FROM t",
        "SELECT k, python_double(v) AS v FROM t",
        "SELECT k FROM t WHERE v < unix_seconds(now())",
        "SELECT k, v FROM (SELECT k, rand() AS v FROM t)",
    ],
)
def test_what_may_mean_something_else(engine: Engine, query: str) -> None:
    spark = engine.spark
    spark.sql("CREATE FUNCTION double_it(x INT) RETURNS INT RETURN x * 2")
    spark.udf.register("python_double", lambda x: x * 2, "int")
    engine.create_materialized_view("m", query)
    provenance = engine.find("m").provenance
    assert provenance is not None and not provenance.follows_from_tables


def test_what_was_asked_for(engine: Engine) -> None:
    engine.create_materialized_view("m", JOINED)
    assert engine.refresh("m", full=True).technique is Technique.COMPLETE_RECOMPUTE
    spark = engine.spark
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        assert "TIME_ZONE_CHANGED" in engine.refresh("m").reason
    finally:
        spark.conf.set("spark.sql.session.timeZone", str(before))


def still(engine: Engine) -> None:
    """Nothing changed, and that is remembered."""
    for _ in range(2):
        assert engine.refresh("m").technique is Technique.NO_OP


def folder(engine: Engine, table: str) -> Path:
    found = engine.spark.sql(f"DESCRIBE DETAIL {table}").first()
    assert found is not None
    return Path(found["location"].removeprefix("file:"))


def as_another_process(table: Path) -> None:
    """Commit a file once more, under another name, without a word to Spark or Delta."""
    log = table / "_delta_log"
    newest = max(log.glob("*.json"))
    added = next(json.loads(line)["add"] for line in newest.read_text().splitlines() if '"add"' in line)
    copy = f"{uuid4()}.parquet"
    shutil.copy(table / added["path"], table / copy)
    commit = log / f"{int(newest.stem) + 1:020d}.json"
    commit.write_text(json.dumps({"add": {**added, "path": copy}}))


def test_nothing_is_asked_twice(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the logs are on a local disk, Delta is not asked, and nothing is read, if there is no commit."""
    engine.create_materialized_view("m", JOINED)
    still(engine)
    for module in ("sources", "tables"):
        monkeypatch.delattr(f"rennet.storage.{module}.delta_log")
    still(engine)


def test_a_commit_of_another_process(engine: Engine) -> None:
    engine.create_materialized_view("m", JOINED)
    still(engine)
    as_another_process(folder(engine, "u"))
    assert engine.refresh("m").technique is not Technique.NO_OP
    assert engine.spark.sql("SELECT sum(total) FROM m").first()[0] > 30  # type: ignore[index]
    assert engine.verify("m").equal
    still(engine)


def test_a_table_made_anew_at_the_same_place(engine: Engine, tmp_path: Path) -> None:
    """By another process: the catalog and the versions are as they were, the rows and the id are not."""
    spark = engine.spark
    for name, value in (("old", 1), ("new", 2)):
        spark.sql(f"CREATE TABLE {name} (k INT) USING delta LOCATION '{tmp_path}/{name}'")
        spark.sql(f"INSERT INTO {name} VALUES ({value})")
    engine.create_materialized_view("m", "SELECT k FROM old")
    still(engine)
    shutil.rmtree(tmp_path / "old")
    shutil.copytree(tmp_path / "new", tmp_path / "old")
    assert engine.refresh("m").technique is Technique.COMPLETE_RECOMPUTE
    assert spark.table("m").collect() == [(2,)]
    still(engine)


def test_a_table_made_anew_elsewhere(engine: Engine, tmp_path: Path) -> None:
    other = engine.spark.newSession()
    for value in (1, 2):
        other.sql("DROP TABLE IF EXISTS still.named")
        other.sql(f"CREATE TABLE still.named (k INT) USING delta LOCATION '{tmp_path}/{value}'")
        other.sql(f"INSERT INTO still.named VALUES ({value})")
        if value == 1:
            engine.create_materialized_view("m", "SELECT k FROM named")
        else:
            assert engine.refresh("m").technique is Technique.COMPLETE_RECOMPUTE
        assert engine.spark.table("m").collect() == [(value,)]
        still(engine)


def test_a_view_that_someone_else_replaced(engine: Engine) -> None:
    other = Engine(engine.spark.newSession())
    engine.create_materialized_view("m", JOINED)
    still(engine)
    other.create_materialized_view("still.m", "SELECT k FROM still.t", replace=True)
    found = engine.refresh("m")
    assert [source["name"] for source in found.sources] == ["spark_catalog.still.t"]
    assert engine.find("m").definition.query == "SELECT k FROM still.t"
    still(engine)
    engine.spark.sql("INSERT INTO u VALUES (3, 'three')")
    still(engine)
    other.drop("still.m")
    with pytest.raises(ViewNotFoundError, match="does not exist"):
        engine.refresh("m")


def test_a_view_that_someone_else_refreshed(engine: Engine) -> None:
    """What is known of the view is read again: it has been made from rows that were not there before."""
    other = Engine(engine.spark.newSession())
    engine.create_materialized_view("m", JOINED)
    still(engine)
    engine.spark.sql("INSERT INTO t VALUES (1, 5)")
    assert other.refresh("still.m").technique is not Technique.NO_OP
    still(engine)


def test_settings_of_a_view_that_is_remembered(engine: Engine) -> None:
    engine.create_materialized_view("m", JOINED)
    still(engine)
    before = str(engine.spark.conf.get("spark.sql.ansi.enabled"))
    engine.spark.conf.set("spark.sql.ansi.enabled", "false" if before == "true" else "true")
    try:
        assert "spark.sql.ansi.enabled" in engine.refresh("m").reason
        still(engine)
    finally:
        engine.spark.conf.set("spark.sql.ansi.enabled", before)

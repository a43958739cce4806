"""A refresh that has nothing to do, and does not even look at the query where it need not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rennet import Engine, Technique
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

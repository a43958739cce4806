"""Bad input gets a clear error that says what to do, and leaves nothing behind."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from rennet import Engine, RennetError
from rennet.errors import (
    AlreadyExistsError,
    InvalidNameError,
    InvalidQueryError,
    NotIncrementalError,
    SessionError,
    SourceError,
    ViewNotFoundError,
)
from rennet.session import check
from tests.reading import names_of_tables
from tests.schemas import in_schema


@pytest.fixture
def engine(spark: SparkSession) -> Iterator[Engine]:
    with in_schema(spark, "bad"):
        spark.sql("CREATE TABLE t (id INT, v STRING) USING delta")
        yield Engine(spark)


def left(spark: SparkSession) -> list[str]:
    return sorted(names_of_tables(spark, "bad"))


@pytest.mark.parametrize(
    ("name", "query", "error", "words"),
    [
        ("v", "SELECT * FROM nowhere", SourceError, "nowhere"),
        ("v", "DROP TABLE t", InvalidQueryError, "not a query"),
        ("v", "INSERT INTO t VALUES (1, 'a')", InvalidQueryError, "not a query"),
        ("v", "WITH x AS (SELECT 1) INSERT INTO t SELECT 1, 'a'", InvalidQueryError, "not a query"),
        ("v", "SELEC 1", InvalidQueryError, "parse"),
        ("v", "", InvalidQueryError, "empty"),
        ("v", "SELECT id, v AS id FROM t", InvalidQueryError, "Two columns are named id"),
        ("v", "SELECT id + 1 FROM t", InvalidQueryError, "no name of its own"),
        ("v", "SELECT id AS __mv_x FROM t", InvalidQueryError, "reserved"),
        ("v", "SELECT NULL AS n FROM t", InvalidQueryError, "void"),
        ("v", "SELECT missing FROM t", InvalidQueryError, "missing"),
        ("t", "SELECT id FROM t", AlreadyExistsError, "not a materialized view"),
        ("__mv_v", "SELECT id FROM t", InvalidNameError, "reserved"),
        ("v; DROP TABLE t", "SELECT id FROM t", InvalidNameError, "not a name"),
        ("`v``; DROP TABLE t`", "SELECT id FROM t", InvalidNameError, "not a name"),
        ("../../etc", "SELECT id FROM t", InvalidNameError, "not a name"),
        ("", "SELECT id FROM t", InvalidNameError, "not a name"),
        ("other.bad.v", "SELECT id FROM t", InvalidNameError, "catalog"),
        ("nosuch.v", "SELECT id FROM t", SourceError, "schema nosuch"),
    ],
)
def test_create(engine: Engine, name: str, query: str, error: type[RennetError], words: str) -> None:
    before = left(engine.spark)
    with pytest.raises(error, match=words):
        engine.create_materialized_view(name, query)
    assert left(engine.spark) == before == ["t"]


def test_failed_first_refresh_leaves_nothing(engine: Engine) -> None:
    engine.spark.sql("INSERT INTO t VALUES (0, 'a')")
    with pytest.raises(Exception, match="DIVIDE_BY_ZERO"):
        engine.create_materialized_view("v", "SELECT 1 / id AS x FROM t")
    assert left(engine.spark) == ["t"]


def test_function_must_return_a_dataframe(engine: Engine) -> None:
    with pytest.raises(InvalidQueryError, match="must return a DataFrame"):
        engine.create_materialized_view("v", lambda: 1)  # type: ignore[arg-type, return-value]


def test_unknown_view(engine: Engine) -> None:
    for act in (engine.refresh, engine.verify, engine.history, engine.drop):
        with pytest.raises(ViewNotFoundError, match="nothere"):
            act("nothere")
    with pytest.raises(ViewNotFoundError, match="not a materialized view"):
        engine.refresh("t")
    engine.drop("nothere", if_exists=True)


def test_dropped_source_keeps_the_last_state(engine: Engine) -> None:
    engine.spark.sql("INSERT INTO t VALUES (1, 'a')")
    engine.create_materialized_view("v", "SELECT id FROM t")
    engine.spark.sql("DROP TABLE t")
    with pytest.raises(SourceError, match="t"):
        engine.refresh("v")
    assert [row.id for row in engine.spark.table("v").collect()] == [1]
    failed = engine.history("v").first()
    assert failed is not None
    assert failed.technique == "FAILED"
    engine.drop("v")
    assert left(engine.spark) == []


def test_source_that_is_not_delta(engine: Engine) -> None:
    spark = engine.spark
    spark.sql("CREATE TABLE p (id INT) USING parquet")
    spark.sql("INSERT INTO p VALUES (1)")
    explained = engine.explain("SELECT id FROM p")
    assert not explained.incremental
    assert "INPUT_NOT_IN_DELTA" in explained.reason
    engine.create_materialized_view("v", "SELECT id FROM p")
    spark.sql("INSERT INTO p VALUES (2)")
    assert engine.refresh("v").technique == "COMPLETE_RECOMPUTE"
    assert sorted(row.id for row in spark.table("v").collect()) == [1, 2]
    with pytest.raises(NotIncrementalError, match="INPUT_NOT_IN_DELTA"):
        engine.create_materialized_view("w", "SELECT id FROM p", policy="INCREMENTAL STRICT")
    assert "w" not in left(spark)


def test_non_deterministic_query_is_always_recomputed(engine: Engine) -> None:
    engine.create_materialized_view("v", "SELECT id, rand() AS r FROM t")
    result = engine.refresh("v")
    assert result.technique == "COMPLETE_RECOMPUTE"
    assert "NON_DETERMINISTIC_EXPRESSION" in result.reason


def test_sessions_that_cannot_be_used() -> None:
    class Connect:
        """What a Spark Connect session looks like from here."""

    with pytest.raises(SessionError, match="Spark Connect"):
        check(Connect())  # type: ignore[arg-type]


def test_session_without_delta(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["rennet.session"], "DELTA_CATALOG", "something.else")
    with pytest.raises(SessionError, match="no Delta"):
        Engine(spark)


def test_a_view_whose_rows_are_gone_says_so(engine: Engine) -> None:
    engine.create_materialized_view("v", "SELECT id FROM t")
    engine.spark.sql(f"DROP TABLE {engine.find('v').backing.sql}")
    with pytest.raises(SourceError, match="is gone"):
        engine.refresh("v")
    engine.drop("v")

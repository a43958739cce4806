"""The engine as its users meet it: definitions, storage, provenance, policies, SQL."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import rennet.api
from rennet import Engine, Technique
from rennet.errors import (
    AlreadyExistsError,
    ConcurrentRefreshError,
    DefinitionMissingError,
    NotIncrementalError,
)
from rennet.execute.situation import Situation
from rennet.jvm import Jvm
from rennet.storage.provenance import PROVENANCE_DOMAIN
from rennet.storage.transaction import Transaction
from tests.reading import names_of_tables

pytestmark = pytest.mark.as_users_read


@pytest.fixture
def engine(spark: SparkSession) -> Iterator[Engine]:
    spark.sql("DROP SCHEMA IF EXISTS eng CASCADE")
    spark.sql("CREATE SCHEMA eng")
    spark.catalog.setCurrentDatabase("eng")
    spark.sql(
        "CREATE TABLE t (id INT NOT NULL COMMENT 'the key', v STRING) USING delta "
        "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
    )
    spark.sql("INSERT INTO t VALUES (1, 'a'), (2, NULL), (2, NULL)")
    yield Engine(spark)
    spark.catalog.setCurrentDatabase("default")


def rows(frame: DataFrame) -> list[str]:
    return sorted(str(tuple(row)) for row in frame.collect())


ODD = """SELECT id AS `a.b`, v AS `with space`, id AS `Ünïcode`, id AS `select`, v AS `MiXed`,
 named_struct('x y', id, 'd', array(v)) AS `nested`, map('k', id) AS m,
 CAST(id AS DECIMAL(38,18)) AS d18, CAST('12345678901234567890123456789012345678' AS DECIMAL(38,0)) AS d38
 FROM t"""


def test_columns_are_exactly_the_users(engine: Engine) -> None:
    engine.create_materialized_view("odd", ODD)
    expected, found = engine.spark.sql(ODD), engine.spark.table("odd")
    assert found.schema.simpleString() == expected.schema.simpleString()
    assert [f.nullable for f in found.schema] == [f.nullable for f in expected.schema]
    assert rows(found) == rows(expected)
    assert engine.verify("odd")


def test_comments(engine: Engine) -> None:
    engine.sql("CREATE MATERIALIZED VIEW v (i COMMENT 'it''s', w) COMMENT 'a view' AS SELECT id, v FROM t")
    described = {row.col_name: row.comment for row in engine.sql("DESCRIBE MATERIALIZED VIEW v").collect()}
    assert described["i"] == "it's"
    assert engine.find("v").definition.comment == "a view"
    engine.create_materialized_view("plain", "SELECT id FROM t")
    assert engine.spark.table("plain").schema["id"].metadata.get("comment") == "the key"


def test_no_change_starts_no_job_and_reads_nothing(engine: Engine) -> None:
    engine.create_materialized_view("v", "SELECT id, COUNT(*) AS n FROM t GROUP BY id")
    first = engine.refresh("v")
    assert (first.technique, first.jobs, first.version) == (Technique.NO_OP, 0, None)
    engine.spark.sql("OPTIMIZE t")
    moved = engine.refresh("v")
    assert moved.technique is Technique.NO_OP
    assert (moved.jobs, moved.rows_inserted, moved.rows_deleted) == (0, 0, 0)


def test_one_commit_holds_data_and_provenance(engine: Engine, jvm: Jvm) -> None:
    engine.create_materialized_view("v", "SELECT id, COUNT(*) AS n FROM t GROUP BY id")
    before = engine.find("v").provenance
    engine.spark.sql("DELETE FROM t WHERE id = 2")
    result = engine.refresh("v")
    view = engine.find("v")
    assert before is not None and view.provenance is not None
    versions = engine.spark.sql(f"DESCRIBE HISTORY {view.backing.sql}").count()
    assert result.version == versions - 1 == 2  # created, filled, refreshed
    assert view.provenance.technique == result.technique
    assert view.provenance.sources[0].version == before.sources[0].version + 1
    assert view.provenance.fingerprint == before.fingerprint
    assert {"spark.sql.ansi.enabled", "spark.sql.session.timeZone"} <= view.provenance.configuration.keys()


def test_another_engine_goes_on_where_one_stopped(engine: Engine) -> None:
    engine.create_materialized_view("v", "SELECT id, COUNT(*) AS n FROM t GROUP BY id")
    engine.spark.sql("INSERT INTO t VALUES (3, 'c')")
    other = Engine(engine.spark.newSession())
    other.spark.catalog.setCurrentDatabase("default")
    result = other.refresh("eng.v")
    assert result.technique is Technique.GROUP_AGGREGATE
    assert other.verify("eng.v")


def test_functions_define_views_and_must_be_known(engine: Engine) -> None:
    def large(spark: SparkSession) -> DataFrame:
        return spark.table("eng.t").where("id > 1")

    engine.create_materialized_view("v", large)
    engine.spark.sql("INSERT INTO t VALUES (9, 'z')")
    assert engine.refresh("v").technique is Technique.APPEND_ONLY
    other = Engine(engine.spark)
    with pytest.raises(DefinitionMissingError, match="large"):
        other.refresh("v")
    assert other.create_materialized_view("v", large) is None  # unchanged: the data are kept
    assert other.refresh("v").technique is Technique.NO_OP


def test_recreating(engine: Engine) -> None:
    text = "SELECT id, v FROM t WHERE id > 1"
    engine.create_materialized_view("v", text)
    path = engine.find("v").path
    assert engine.create_materialized_view("v", "select  id, v\nfrom t -- same\nwhere id > 1") is None
    assert engine.create_materialized_view("v", text) is None
    assert engine.find("v").path == path
    with pytest.raises(AlreadyExistsError, match="OR REPLACE"):
        engine.create_materialized_view("v", "SELECT id FROM t")
    engine.create_materialized_view("v", "SELECT id FROM t", replace=True)
    assert engine.spark.table("v").columns == ["id"]
    assert engine.verify("v")


def test_chain_survives_a_full_refresh_upstream(engine: Engine) -> None:
    engine.create_materialized_view("base", "SELECT id, COUNT(*) AS n FROM t GROUP BY id")
    engine.create_materialized_view("top", "SELECT n, COUNT(*) AS ids FROM base GROUP BY n")
    engine.spark.sql("INSERT INTO t VALUES (7, 'x')")
    engine.refresh("base")
    assert engine.refresh("top").technique is not Technique.COMPLETE_RECOMPUTE
    assert engine.verify("top")
    engine.refresh("base", full=True)
    engine.refresh("top")
    assert engine.verify("top")


def test_interrupted_refresh_leaves_the_last_state(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    engine.create_materialized_view("v", "SELECT id, COUNT(*) AS n FROM t GROUP BY id")
    before = rows(engine.spark.table("v"))
    engine.spark.sql("DELETE FROM t WHERE id = 2")

    def broken(*_: object, **__: object) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Transaction, "commit", broken)
        with pytest.raises(KeyboardInterrupt):
            engine.refresh("v")
    assert rows(engine.spark.table("v")) == before
    assert engine.refresh("v").technique is Technique.GROUP_AGGREGATE
    assert engine.verify("v")


def test_a_refresh_that_lost_a_race_writes_nothing(engine: Engine, jvm: Jvm) -> None:
    engine.create_materialized_view("v", "SELECT id, COUNT(*) AS n FROM t GROUP BY id")
    view = engine.find("v")
    with Transaction(jvm, view.path) as slow:
        engine.spark.sql("INSERT INTO t VALUES (5, 'e')")
        engine.refresh("v")
        with pytest.raises(ConcurrentRefreshError):
            slow.commit({PROVENANCE_DOMAIN: "{}"})
    assert engine.verify("v")


@pytest.mark.parametrize("change", ["INSERT INTO t VALUES (5, 'e')", "OPTIMIZE t"])
def test_a_refresh_that_was_overtaken_before_it_began_writes_nothing(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    """The changes it has found lead from rows that are no longer there."""
    engine.create_materialized_view("v", "SELECT id, v FROM t")
    engine.spark.sql(change)
    assess, other = rennet.api.assess, Engine(engine.spark)

    def overtaken(*arguments: Any, **named: Any) -> Situation:
        found = assess(*arguments, **named)
        monkeypatch.setattr(rennet.api, "assess", assess)
        engine.spark.sql("INSERT INTO t VALUES (6, 'f')")
        other.refresh("v")
        return found

    monkeypatch.setattr(rennet.api, "assess", overtaken)
    with pytest.raises(ConcurrentRefreshError):
        engine.refresh("v")
    assert engine.verify("v")
    assert engine.refresh("v").technique is Technique.NO_OP


def test_policies(engine: Engine) -> None:
    engine.create_materialized_view("f", "SELECT id FROM t", policy="FULL")
    engine.create_materialized_view("s", "SELECT id FROM t", policy="INCREMENTAL STRICT")
    engine.spark.sql("INSERT INTO t VALUES (4, 'd')")
    assert engine.refresh("f").technique is Technique.COMPLETE_RECOMPUTE
    assert engine.refresh("s").technique is Technique.APPEND_ONLY
    engine.spark.sql("INSERT OVERWRITE t SELECT 1, 'x'")
    assert engine.refresh("s").technique is Technique.ROW_BASED
    engine.spark.sql("CREATE OR REPLACE TABLE t (id INT NOT NULL, v STRING) USING delta")
    with pytest.raises(NotIncrementalError, match="This refresh cannot be incremental"):
        engine.refresh("s")
    assert engine.refresh("s", full=True).technique is Technique.COMPLETE_RECOMPUTE


def test_forced_techniques(engine: Engine) -> None:
    engine.create_materialized_view("v", "SELECT id, COUNT(*) AS n FROM t GROUP BY id")
    engine.spark.sql("INSERT INTO t VALUES (1, 'b')")
    with pytest.raises(NotIncrementalError, match="APPEND_ONLY cannot be used"):
        engine.refresh("v", technique="APPEND_ONLY")
    assert engine.refresh("v", technique="ROW_BASED").technique is Technique.ROW_BASED
    assert engine.verify("v")


def test_verify_sees_what_is_wrong(engine: Engine) -> None:
    engine.create_materialized_view("v", "SELECT id, v FROM t")
    backing = engine.find("v").backing
    engine.spark.sql(f"UPDATE {backing.sql} SET id = 99 WHERE id = 1")
    found = engine.verify("v")
    assert not found
    assert (found.missing, found.extra) == (1, 1)
    assert found.missing_rows == ({"id": 1, "v": "a"},)
    assert found.extra_rows == ({"id": 99, "v": "a"},)


def test_settings_that_change_meaning(engine: Engine) -> None:
    engine.create_materialized_view("v", "SELECT id FROM t")
    engine.spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        result = engine.refresh("v")
    finally:
        engine.spark.conf.set("spark.sql.session.timeZone", "UTC")
    assert "TIME_ZONE_CHANGED" in result.reason


def test_sql_statements(engine: Engine) -> None:
    engine.sql(
        "CREATE MATERIALIZED VIEW v REFRESH POLICY INCREMENTAL SCHEDULE EVERY 2 HOURS "
        "TBLPROPERTIES ('owner' = 'me') CLUSTER BY (id) AS SELECT id, v FROM t"
    )
    again = engine.sql("CREATE OR REPLACE MATERIALIZED VIEW v CLUSTER BY (id) AS SELECT id, v FROM t").first()
    assert again is not None and again.technique == "NO_OP"
    engine.sql("ALTER MATERIALIZED VIEW v ADD SCHEDULE CRON '0 0 6 * * ?' AT TIME ZONE 'Europe/Berlin'")
    (shown,) = engine.sql("SHOW MATERIALIZED VIEWS IN eng").collect()
    assert (shown.name, shown.technique) == ("v", "COMPLETE_RECOMPUTE")
    assert "CRON" in shown.schedule
    (explained,) = engine.sql("EXPLAIN CREATE MATERIALIZED VIEW w AS SELECT DISTINCT v FROM t").collect()
    assert "GROUP_AGGREGATE" in explained.plan
    (refreshed,) = engine.sql("REFRESH MATERIALIZED VIEW v FULL").collect()
    assert refreshed.technique == "COMPLETE_RECOMPUTE"
    details = {r.col_name: r.data_type for r in engine.sql("DESC MATERIALIZED VIEW EXTENDED v").collect()}
    assert "eng.t@v" in details["Sources"]
    assert engine.sql("SELECT 1 AS one").first() is not None
    engine.sql("DROP MATERIALIZED VIEW v")
    assert engine.sql("SHOW MATERIALIZED VIEWS IN eng").collect() == []
    assert names_of_tables(engine.spark) == ["t"]


def test_subquery_inside_case(engine: Engine) -> None:
    query = "SELECT id, CASE WHEN id > (SELECT AVG(id) FROM t) THEN 'high' ELSE v END AS c FROM t"
    engine.create_materialized_view("v", query)
    engine.spark.sql("INSERT INTO t VALUES (100, 'x')")
    assert engine.refresh("v").technique is Technique.ROW_BASED
    assert engine.verify("v")


def test_functions_of_time_are_recomputed_and_verified_at_their_moment(engine: Engine) -> None:
    query = (
        "SELECT id, current_timestamp() AS at, current_date() AS on FROM t WHERE now() > DATE '2020-01-01'"
    )
    engine.create_materialized_view("v", query)
    result = engine.refresh("v")
    assert result.technique is Technique.COMPLETE_RECOMPUTE
    assert "TIME_FUNCTION" in result.reason
    assert engine.verify("v")


def test_a_view_below_changes_the_hidden_columns(engine: Engine) -> None:
    engine.sql("CREATE VIEW base AS SELECT count(*) AS n FROM t GROUP BY v, id % 2")
    engine.create_materialized_view("counts", "SELECT n FROM base")
    engine.sql("CREATE OR REPLACE VIEW base AS SELECT count(*) AS n FROM t GROUP BY id % 2, v")
    engine.sql("INSERT INTO t VALUES (3, 'c')")
    result = engine.refresh("counts")
    assert result.technique is Technique.COMPLETE_RECOMPUTE
    assert "QUERY_FINGERPRINT_CHANGED" in result.reason
    assert engine.verify("counts")
    engine.sql("DELETE FROM t WHERE id = 3")
    assert engine.refresh("counts").technique is Technique.GROUP_AGGREGATE
    assert engine.verify("counts")

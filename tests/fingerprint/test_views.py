"""What fingerprints are for: views that go on, views that are recomputed, and what the user is told."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from rennet import Engine
from rennet.errors import AlreadyExistsError, Technique
from rennet.jvm import Jvm
from rennet.storage.provenance import PROVENANCE_DOMAIN
from rennet.storage.transaction import Transaction


@pytest.fixture
def engine(spark: SparkSession) -> Iterator[Engine]:
    before = spark.catalog.currentDatabase()
    spark.sql("CREATE SCHEMA prints")
    spark.catalog.setCurrentDatabase("prints")
    spark.sql("CREATE TABLE t (id INT, name STRING) TBLPROPERTIES ('delta.enableDeletionVectors' = true)")
    spark.sql("INSERT INTO t SELECT id, concat('n', id % 3) FROM range(50)")
    yield Engine(spark)
    spark.catalog.setCurrentDatabase(before)
    spark.sql("DROP SCHEMA prints CASCADE")


def grow(engine: Engine) -> None:
    engine.spark.sql("INSERT INTO t VALUES (100, 'n1')")


def test_views_of_the_first_version_go_on(engine: Engine, jvm: Jvm) -> None:
    """Provenance as 0.1.0 wrote it: one fingerprint, no text."""
    engine.create_materialized_view("v", "SELECT name, COUNT(*) AS n FROM t GROUP BY name")
    view = engine.find("v")
    assert view.provenance is not None
    old = json.loads(view.provenance.to_json())
    (first,) = old.pop("older_fingerprints")
    old.pop("meaning")
    assert first.startswith("1:")
    with Transaction(jvm, view.path) as transaction:
        transaction.commit({PROVENANCE_DOMAIN: json.dumps({**old, "fingerprint": first})}, "OLD")
    grow(engine)
    assert engine.refresh("v").technique is Technique.GROUP_AGGREGATE
    after = engine.find("v").provenance
    assert after is not None and after.fingerprint == view.provenance.fingerprint


def test_refactored_queries_keep_their_data(engine: Engine) -> None:
    engine.create_materialized_view("v", "SELECT id, name FROM t WHERE id > 1 AND name = 'n1'")
    text = "WITH q AS (SELECT * FROM t WHERE 'n1' = name) SELECT a.id, a.name FROM q AS a WHERE NOT a.id <= 1"
    assert engine.create_materialized_view("v", text) is None
    grow(engine)
    assert engine.refresh("v").technique is Technique.APPEND_ONLY
    assert engine.verify("v")
    with pytest.raises(AlreadyExistsError):
        engine.create_materialized_view("v", text.replace("<= 1", "<= 2"))


def test_a_changed_view_below_is_told_with_before_and_after(engine: Engine) -> None:
    engine.spark.sql("CREATE VIEW base AS SELECT id, name FROM t WHERE name = 'n1'")
    engine.create_materialized_view("v", "SELECT id FROM base")
    engine.spark.sql("CREATE OR REPLACE VIEW base AS SELECT id, name FROM t WHERE name = 'n2'")
    result = engine.refresh("v")
    assert result.technique is Technique.COMPLETE_RECOMPUTE
    assert result.reason.startswith("QUERY_FINGERPRINT_CHANGED")
    before, after = (line for line in result.reason.splitlines() if line.strip().startswith(("- ", "+ ")))
    assert "n1" in before and "n2" in after
    assert engine.verify("v")


def test_hidden_columns_are_never_mixed_up(engine: Engine) -> None:
    """The same groups, but the first hidden key would now be the second."""
    engine.spark.sql("CREATE VIEW base AS SELECT count(*) AS n FROM t GROUP BY name, CAST(id % 2 AS STRING)")
    engine.create_materialized_view("v", "SELECT n FROM base")
    engine.spark.sql(
        "CREATE OR REPLACE VIEW base AS SELECT count(*) AS n FROM t GROUP BY CAST(id % 2 AS STRING), name"
    )
    grow(engine)
    engine.refresh("v")
    assert engine.verify("v")
    grow(engine)
    engine.refresh("v")
    assert engine.verify("v")


def test_a_column_nobody_uses_may_come(engine: Engine) -> None:
    engine.create_materialized_view("v", "SELECT id FROM t WHERE name = 'n1'")
    engine.spark.sql("ALTER TABLE t ADD COLUMN more STRING")
    engine.spark.sql("INSERT INTO t VALUES (100, 'n1', 'x')")
    assert engine.refresh("v").technique is Technique.APPEND_ONLY
    assert engine.verify("v")


def test_python_functions_are_known_again(engine: Engine) -> None:
    """The same function, made and pickled anew, is the same; another one is not."""

    def made(step: int) -> object:
        def query(spark: SparkSession) -> DataFrame:
            plus = F.udf(lambda x: x + step, "int", useArrow=False)
            return spark.table("prints.t").select("id", plus("id").alias("more"))

        return query

    engine.create_materialized_view("v", made(1))  # type: ignore[arg-type]
    other = Engine(engine.spark)
    assert other.create_materialized_view("v", made(1)) is None  # type: ignore[arg-type]
    with pytest.raises(AlreadyExistsError):
        other.create_materialized_view("v", made(2))  # type: ignore[arg-type]

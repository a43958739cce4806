"""Views without deletion vectors: a refresh writes the files again that lose rows, as Delta's MERGE would."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession

from rennet import Engine
from rennet.errors import Technique
from rennet.jvm import Jvm
from rennet.storage.provenance import Provenance
from rennet.storage.sources import current, delta_log
from tests.schemas import in_schema
from tests.test_feed import changed, held, how_it_is_read

OFF = {"delta.enableDeletionVectors": "false"}
VIEWS = {
    Technique.ROW_BASED: "SELECT g, v + 1 AS w, s FROM t WHERE v < 90",
    Technique.GROUP_AGGREGATE: "SELECT g, s, COUNT(*) AS n, SUM(v) AS v FROM t GROUP BY g, s",
    Technique.WINDOW_FUNCTION: "SELECT g, v, s, rank() OVER (PARTITION BY g ORDER BY v, s) AS r FROM t",
}
CHANGES = (
    "UPDATE t SET v = v + 7 WHERE g % 10 = 3",
    "DELETE FROM t WHERE g = 5 OR v = 11",
    "INSERT INTO t VALUES (3, 1, 'x'), (3, 1, 'x'), (3, 1, 'x'), (900, 1, NULL), (900, 1, NULL)",
    "DELETE FROM t WHERE g = 900 OR v = 1 AND g < 40",
)


@pytest.fixture
def engine(spark: SparkSession) -> Iterator[Engine]:
    with in_schema(spark, "rewriting"):
        spark.sql("CREATE TABLE t (g INT, v INT, s STRING) USING delta")
        spark.sql("INSERT INTO t SELECT id % 60, id % 20, IF(id % 5 = 0, NULL, 'x') FROM range(600)")
        yield Engine(spark)


def marked_files(engine: Engine, view: str) -> int:
    """How many files of a view have a deletion vector."""
    jvm = Jvm.of(engine.spark)
    files = current(jvm, delta_log(jvm, engine.find(view).path)).allFiles()
    return int(files.where("deletionVector IS NOT NULL").count())


@pytest.mark.parametrize("technique", VIEWS)
def test_refreshes_without_deletion_vectors(engine: Engine, technique: Technique) -> None:
    engine.create_materialized_view("v", VIEWS[technique], properties=OFF)
    for statement in CHANGES:
        engine.spark.sql(statement)
        result = engine.refresh("v", technique=technique)
        assert result.technique is technique
        assert engine.verify("v").equal, statement
        assert not marked_files(engine, "v")


@pytest.mark.parametrize("layout", [{}, {"partitioned_by": ["g"]}])
def test_views_below_read_what_changed(engine: Engine, layout: dict[str, Any]) -> None:
    """Not the rows that were only written again: neither Delta's own feed nor a view has them."""
    spark = engine.spark
    engine.create_materialized_view("v", "SELECT g % 4 AS g, v, s FROM t", properties=OFF, **layout)
    engine.create_materialized_view("below", "SELECT g, SUM(v) AS v, COUNT(*) AS n FROM v GROUP BY g")
    for statement in CHANGES:
        before = held(spark, "v")
        spark.sql(statement)
        result = engine.refresh("v", technique=Technique.ROW_BASED)
        assert result.version is not None
        after = held(spark, "v")
        after.subtract(before)
        assert changed(spark, engine, "v", result.version) == {row: n for row, n in after.items() if n}
        if result.rows_deleted:
            assert result.written_by == "REWRITE"
            assert how_it_is_read(engine, "below", result.version, "g") == "change_feed"
        read = engine.refresh("below", technique=Technique.GROUP_AGGREGATE)
        assert read.written_by == "DELETION_VECTORS"
        assert engine.verify("below").equal and engine.verify("v").equal


def test_the_way_is_on_record_and_explained(engine: Engine) -> None:
    engine.create_materialized_view("v", VIEWS[Technique.GROUP_AGGREGATE], properties=OFF)
    engine.spark.sql(CHANGES[0])
    found = engine.explain("v")
    ways = {each["technique"]: each.get("written_by") for each in found.techniques}
    assert ways[Technique.GROUP_AGGREGATE] == "REWRITE" and ways[Technique.COMPLETE_RECOMPUTE] == "OVERWRITE"
    assert "REWRITE" in str(found)
    engine.refresh("v", technique=Technique.GROUP_AGGREGATE)
    engine.refresh("v")
    told = [row["written_by"] for row in engine.history("v").collect()]
    assert told == [None, "REWRITE", "OVERWRITE"]
    provenance = engine.find("v").provenance
    assert provenance is not None
    older = {k: v for k, v in json.loads(provenance.to_json()).items() if k != "written_by"}
    assert Provenance.from_json(json.dumps(older)).written_by == ""


def test_the_property_may_change(engine: Engine) -> None:
    """Vectors that are there are read; no new ones are made once they are turned off."""
    engine.create_materialized_view("v", VIEWS[Technique.ROW_BASED])
    for value, statement in zip(("true", "false", "false", "true"), CHANGES, strict=True):
        engine.sql(f"ALTER MATERIALIZED VIEW v SET TBLPROPERTIES ('delta.enableDeletionVectors' = '{value}')")
        engine.spark.sql(statement)
        result = engine.refresh("v", technique=Technique.ROW_BASED)
        expected = "DELETION_VECTORS" if value == "true" else "REWRITE"
        assert result.written_by == (expected if result.rows_deleted else "APPEND")
        assert engine.verify("v").equal, statement

"""Views without deletion vectors: a refresh writes the files again that lose rows, as Delta's MERGE would."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from rennet import Engine
from rennet.errors import Technique
from rennet.jvm import Jvm
from rennet.storage.sources import current, delta_log
from tests.schemas import in_schema

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

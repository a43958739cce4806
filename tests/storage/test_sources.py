"""Pinning sources, and reading a plan's leaves at the pinned version."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession

from rennet.errors import SourceError
from rennet.jvm import JavaObject, Jvm
from rennet.storage import sources
from rennet.storage.sources import (
    SourceVersion,
    is_delta,
    name_and_path,
    pin,
    relation_at,
    scala_map,
    snapshot,
    travelled_to,
)

from .conftest import Tables


def leaf(jvm: Jvm, spark: SparkSession, query: str) -> JavaObject:
    found = jvm.items(jvm.analyzed(spark.sql(query)).collectLeaves())
    assert len(found) == 1
    return found[0]


def source(jvm: Jvm, name: str, path: str) -> SourceVersion:
    return pin(jvm, [(name, path)])[0]


def test_pin(jvm: Jvm, tables: Tables) -> None:
    made = [tables.make("id INT") for _ in range(2)]
    tables.spark.sql(f"INSERT INTO {made[1][0]} VALUES (1)")
    pinned = pin(jvm, made)
    assert [entry.version for entry in pinned] == [0, 1]
    assert SourceVersion.from_dict(pinned[0].to_dict()) == pinned[0]
    with pytest.raises(SourceError, match="not a Delta table"):
        pin(jvm, [("nothing", str(tables.root / "nothing"))])


def test_pin_reads_until_nothing_moves(jvm: Jvm, monkeypatch: pytest.MonkeyPatch) -> None:
    class Moving:
        def __init__(self, versions: Iterator[int]) -> None:
            self.versions = versions

        def version(self) -> int:
            return next(self.versions)

        def metadata(self) -> Any:
            return self

        def id(self) -> str:
            return "id"

    monkeypatch.setattr(sources, "delta_log", lambda jvm, path: Moving(logs[path]))
    monkeypatch.setattr(sources, "current", lambda jvm, log, anew: log)
    logs = {"a": iter([1, 2, 2]), "b": iter([5, 5, 5])}
    assert [entry.version for entry in pin(jvm, [("a", "a"), ("b", "b")])] == [2, 5]
    logs = {"a": iter(range(100)), "b": iter([5] * 100)}
    with pytest.raises(SourceError, match="changed during each"):
        pin(jvm, [("a", "a"), ("b", "b")])


def test_leaves(jvm: Jvm, tables: Tables, spark: SparkSession) -> None:
    name, path = tables.make("id INT")
    table = leaf(jvm, spark, f"SELECT * FROM {name}")
    assert is_delta(table)
    assert name_and_path(jvm, table) == (f"spark_catalog.default.{name}", f"file:{path}")
    assert travelled_to(table) is None
    assert travelled_to(leaf(jvm, spark, f"SELECT * FROM {name} VERSION AS OF 0")) == 0
    by_path = leaf(jvm, spark, f"SELECT * FROM delta.`{path}`")
    assert is_delta(by_path) and name_and_path(jvm, by_path)[1] == f"file:{path}"
    assert not is_delta(leaf(jvm, spark, "SELECT * FROM range(3)"))
    spark.range(3).write.parquet(f"{path}.parquet")
    assert not is_delta(leaf(jvm, spark, f"SELECT * FROM parquet.`{path}.parquet`"))


@pytest.mark.parametrize(("mapping", "few_files"), [("none", 24), ("name", 24), ("name", 0)])
def test_relation_at(
    jvm: Jvm,
    tables: Tables,
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
    mapping: str,
    few_files: int,
) -> None:
    monkeypatch.setattr(sources, "FEW_FILES", few_files)
    name, path = tables.make(
        "id BIGINT, v STRING", "enableDeletionVectors=true", f"columnMapping.mode={mapping}"
    )
    for start in (0, 100):
        spark.sql(f"INSERT INTO {name} SELECT id, 'v' FROM range({start}, {start + 100}, 1, 1)")
    spark.sql(f"DELETE FROM {name} WHERE id % 10 = 0")
    old = source(jvm, name, path)
    spark.sql(f"DELETE FROM {name} WHERE id % 10 = 1")
    spark.sql(f"ALTER TABLE {name} ADD COLUMNS (extra INT)")
    spark.sql(f"INSERT INTO {name} VALUES (1000, 'w', 1)")
    query = f"SELECT * FROM {name} WHERE id < 50"
    plan = jvm.analyzed(spark.sql(query))
    found = jvm.items(plan.collectLeaves())[0]
    pinned = relation_at(jvm, found, old)
    assert pinned.output().equals(found.output())
    frame = jvm.dataframe(pinned).where("id < 50")
    assert frame.count() == 45
    assert frame.where("extra IS NOT NULL").count() == 0
    executed = frame._jdf.queryExecution()
    assert "LessThan(id,50)" in executed.executedPlan().toString()
    scan = executed.executedPlan().collectLeaves().head()
    index = scan.relation().location()
    if few_files:
        assert index.getClass().getSuperclass().getSimpleName() == "TahoeBatchFileIndex"
    else:
        assert index.getClass().getSimpleName() == "PreparedDeltaFileIndex"
        assert index.preparedScan().files().size() == 1
    now = source(jvm, name, path)
    assert jvm.dataframe(relation_at(jvm, found, now)).count() == 161


def test_relation_at_another_schema(jvm: Jvm, tables: Tables, spark: SparkSession) -> None:
    name, path = tables.make("id BIGINT, v STRING", "columnMapping.mode=name")
    spark.sql(f"INSERT INTO {name} VALUES (1, 'a')")
    old = source(jvm, name, path)
    spark.sql(f"ALTER TABLE {name} DROP COLUMN v")
    spark.sql(f"ALTER TABLE {name} ADD COLUMNS (v STRING)")
    found = leaf(jvm, spark, f"SELECT * FROM {name}")
    with pytest.raises(SourceError, match="column v"):
        relation_at(jvm, found, old)
    assert jvm.dataframe(relation_at(jvm, found, old, ["id"])).select("id").collect() == [(1,)]


def test_snapshot_of_a_recreated_table(jvm: Jvm, tables: Tables, spark: SparkSession) -> None:
    name, path = tables.make("id BIGINT")
    old = source(jvm, name, path)
    assert snapshot(jvm, old).version() == 0
    with pytest.raises(SourceError, match="no longer there"):
        snapshot(jvm, SourceVersion(name, path, old.table_id, 7))
    with pytest.raises(SourceError, match="created again"):
        snapshot(jvm, SourceVersion(name, path, "another", 0))


def test_entries_of_a_map(jvm: Jvm) -> None:
    found = scala_map(jvm, {"a": "b", "c": "c"})
    assert [jvm.entry(found, key) for key in ("a", "c", "d")] == ["b", "c", None]

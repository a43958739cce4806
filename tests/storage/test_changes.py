"""Every kind of commit: the changes read from the log equal the difference of the two versions."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame

from rennet.errors import IssueType
from rennet.jvm import Jvm
from rennet.storage import changes
from rennet.storage.changes import SOURCE_ROW, WEIGHT, ChangeKind, SourceChange, changes_since, read_changes
from rennet.storage.sources import SourceVersion, delta_log, pin

from .conftest import Tables

DV = "enableDeletionVectors=true"
CDF = "enableChangeDataFeed=true"
ROWS = "enableRowTracking=true"
MAPPED = "columnMapping.mode=name"


class Watched:
    """A table, the version it was at, and what read_changes says happened since."""

    def __init__(self, jvm: Jvm, tables: Tables, *properties: str, partitioned: str = "") -> None:
        self.jvm, self.spark = jvm, tables.spark
        self.name, self.path = tables.make("id BIGINT, k INT, v STRING", *properties, partitioned=partitioned)
        self.insert(0, 200, files=2)
        self.mark()

    def sql(self, text: str) -> None:
        self.spark.sql(text.format(t=self.name))

    def insert(self, low: int, high: int, files: int = 1) -> None:
        rows = f"SELECT id, CAST(id % 5 AS INT), CONCAT('v', id) FROM range({low}, {high}, 1, {files})"
        self.sql(f"INSERT INTO {{t}} {rows}")

    def mark(self) -> None:
        self.old = self.now()

    def now(self) -> SourceVersion:
        return pin(self.jvm, [(self.name, self.path)])[0]

    def change(self, used: Sequence[str] = ("id", "k", "v")) -> SourceChange:
        return changes_since(self.jvm, self.old, self.now(), used)

    def at(self, version: int, columns: Sequence[str]) -> DataFrame:
        frame = self.spark.read.format("delta").option("versionAsOf", version).load(self.path)
        missing = [f"NULL AS {column}" for column in columns if column not in frame.columns]
        return frame.selectExpr("*", *missing).select(*columns)

    def truth(self, row_ids: bool) -> Counter[tuple[object, ...]]:
        columns = self.spark.read.format("delta").load(self.path).columns
        bag: Counter[tuple[object, ...]] = Counter()
        for sign, version in ((1, self.now().version), (-1, self.old.version)):
            frame = self.at(version, columns)
            if row_ids:
                reading = self.spark.read.format("delta").option("versionAsOf", version).load(self.path)
                frame = reading.selectExpr(*columns, "_metadata.row_id")
            for row in frame.collect():
                bag[tuple(row)] += sign
        return Counter({row: weight for row, weight in bag.items() if weight})

    def check(self, kind: ChangeKind | None = None, row_ids: bool = False) -> SourceChange:
        change = self.change()
        assert change.issue is None
        frame = read_changes(self.jvm, change, row_ids)
        extra = [SOURCE_ROW] if row_ids else []
        assert frame.columns == [*self.spark.read.format("delta").load(self.path).columns, *extra, WEIGHT]
        bag: Counter[tuple[object, ...]] = Counter()
        for row in frame.collect():
            bag[tuple(row)[:-1]] += row[WEIGHT]
        assert {row: weight for row, weight in bag.items() if weight} == self.truth(row_ids)
        if kind is not None:
            assert change.kind == kind
        return change


def merge(table: Watched) -> None:
    table.sql(
        "MERGE INTO {t} t USING (SELECT id * 7 AS id FROM range(0, 40)) s ON t.id = s.id "
        "WHEN MATCHED AND t.k = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET v = 'merged' "
        "WHEN NOT MATCHED THEN INSERT (id, k, v) VALUES (s.id, 9, 'new')"
    )


def update(table: Watched) -> None:
    table.sql("UPDATE {t} SET v = 'updated' WHERE id % 10 = 3")


def delete(table: Watched) -> None:
    table.sql("DELETE FROM {t} WHERE id BETWEEN 50 AND 55 OR id = 150")


def optimize(table: Watched) -> None:
    table.sql("OPTIMIZE {t}")


def insert(table: Watched) -> None:
    table.insert(200, 230)


SETUPS = {
    "plain": (),
    "dv": (DV,),
    "cdf": (CDF,),
    "dv cdf": (DV, CDF),
    "dv rows": (DV, ROWS),
    "rows": (ROWS,),
    "mapped dv": (MAPPED, DV),
}


def some(quick: Sequence[str], slow: Sequence[str]) -> list[Any]:
    """Setups: those to try every time, and those to try in a sweep."""
    return [*quick, *(pytest.param(name, marks=pytest.mark.slow) for name in slow)]


@pytest.fixture
def one_file(jvm: Jvm) -> Iterator[None]:
    """A file for each write: of many, those of a change feed would be larger than the table."""
    before = jvm.spark.conf.get("spark.sql.shuffle.partitions", "2")
    jvm.spark.conf.set("spark.sql.shuffle.partitions", "1")
    yield
    jvm.spark.conf.set("spark.sql.shuffle.partitions", before or "2")


@pytest.mark.parametrize("setup", some(["plain", "cdf", "dv rows"], ["dv", "dv cdf", "rows", "mapped dv"]))
def test_a_mix_of_commits(jvm: Jvm, tables: Tables, setup: str, one_file: None) -> None:
    table = Watched(jvm, tables, *SETUPS[setup])
    tracked = ROWS in SETUPS[setup]
    for step in (merge, update, insert, delete):
        step(table)
    change = table.check(ChangeKind.GENERAL)
    assert change.has_row_ids == tracked
    if setup in ("plain", "cdf"):
        assert change.reader == ("change_feed" if setup == "cdf" else "files")
    assert change.changed_rows is not None and change.changed_bytes > 0 and change.full_bytes > 0
    if tracked:
        table.check(row_ids=True)


@pytest.mark.parametrize("setup", some(["dv cdf", "mapped dv"], ["cdf", "dv rows", "rows"]))
def test_changes_around_a_compaction(jvm: Jvm, tables: Tables, setup: str) -> None:
    table = Watched(jvm, tables, *SETUPS[setup])
    for step in (delete, insert, optimize, update):
        step(table)
    table.check(ChangeKind.GENERAL, row_ids=ROWS in SETUPS[setup])


@pytest.mark.parametrize(
    ("setup", "step"), [("plain", merge), ("dv", merge), ("dv", delete), ("dv cdf", update)]
)
def test_partitioned(jvm: Jvm, tables: Tables, setup: str, step: Callable[[Watched], None]) -> None:
    table = Watched(jvm, tables, *SETUPS[setup], partitioned="k")
    step(table)
    table.check(ChangeKind.GENERAL)


def test_partitioned_and_mapped(jvm: Jvm, tables: Tables) -> None:
    table = Watched(jvm, tables, MAPPED, DV, CDF, ROWS, partitioned="k")
    for step in (merge, optimize, delete, insert):
        step(table)
    table.check(ChangeKind.GENERAL)
    table.check(row_ids=True)


def test_nothing(jvm: Jvm, tables: Tables) -> None:
    table = Watched(jvm, tables, DV)
    assert table.check(ChangeKind.NONE).changed_rows == 0
    table.sql("ALTER TABLE {t} SET TBLPROPERTIES ('a' = 'b')")
    optimize(table)
    table.sql("OPTIMIZE {t} ZORDER BY (id)")
    table.sql("DELETE FROM {t} WHERE id < 0")
    assert not table.check(ChangeKind.NONE).rewritten


def test_purge_alone_is_nothing(jvm: Jvm, tables: Tables) -> None:
    table = Watched(jvm, tables, DV)
    delete(table)
    table.mark()
    table.sql("REORG TABLE {t} APPLY (PURGE)")
    table.check(ChangeKind.NONE)


def test_append(jvm: Jvm, tables: Tables) -> None:
    table = Watched(jvm, tables)
    insert(table)
    change = table.check(ChangeKind.APPEND)
    assert (change.changed_rows, change.rewritten, change.carries_over) == (30, False, False)
    optimize(table)
    assert table.check(ChangeKind.APPEND).changed_rows == 30
    table.sql("DELETE FROM {t} WHERE id >= 225")
    table.check(ChangeKind.GENERAL)


def test_rows_that_came_and_went(jvm: Jvm, tables: Tables) -> None:
    table = Watched(jvm, tables, DV)
    insert(table)
    table.sql("DELETE FROM {t} WHERE id >= 225")
    assert table.check(ChangeKind.APPEND).changed_rows == 25
    table.sql("DELETE FROM {t} WHERE id >= 200")
    table.check(ChangeKind.NONE)


def test_restore(jvm: Jvm, tables: Tables) -> None:
    table = Watched(jvm, tables, DV, ROWS)
    update(table)
    delete(table)
    deleted = table.now().version
    optimize(table)
    table.sql(f"RESTORE TABLE {{t}} TO VERSION AS OF {table.old.version}")
    table.check(ChangeKind.NONE)
    table.sql(f"RESTORE TABLE {{t}} TO VERSION AS OF {deleted}")
    table.check(ChangeKind.GENERAL, row_ids=True)
    table.old = SourceVersion(table.name, table.path, table.old.table_id, deleted - 1)
    table.check(ChangeKind.GENERAL, row_ids=True)


def test_deleted_rows_come_back(jvm: Jvm, tables: Tables) -> None:
    table = Watched(jvm, tables, DV)
    start = table.old.version
    delete(table)
    table.mark()
    table.sql(f"RESTORE TABLE {{t}} TO VERSION AS OF {start}")
    table.sql("DELETE FROM {t} WHERE id IN (7, 50)")
    table.check(ChangeKind.GENERAL)
    table.sql(f"RESTORE TABLE {{t}} TO VERSION AS OF {start}")
    assert table.check(ChangeKind.GENERAL).changed_rows == 7


def test_rows_lost_and_regained_by_both_vectors(
    jvm: Jvm, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `test_deleted_rows_come_back`, where a vector of the difference would be too long."""
    monkeypatch.setattr(changes, "LONGEST_VECTOR", 0)
    test_deleted_rows_come_back(jvm, tables)


def test_more_rows_than_a_vector_that_tasks_are_given_can_mark(jvm: Jvm, tables: Tables) -> None:
    """Delta hands vectors without a file to tasks as text of at most 64 KB: half a million rows are more."""
    table = Watched(jvm, tables, DV)
    table.insert(1000, 501_000)
    table.sql("DELETE FROM {t} WHERE id >= 1000 AND id % 4 = 0")
    table.mark()
    table.sql("DELETE FROM {t} WHERE id >= 1000 AND id % 4 = 2")
    rows = read_changes(jvm, table.change(), columns=["id"])
    found = rows.selectExpr("count(*)", "sum(id)", "min(id % 4)", f"min({WEIGHT})", f"max({WEIGHT})").first()
    assert tuple(found or ()) == (125_000, sum(range(1002, 501_000, 4)), 2, -1, -1)


@pytest.mark.parametrize("setup", some(["plain", "dv rows"], ["dv cdf"]))
def test_replace_where_and_overwrite(jvm: Jvm, tables: Tables, setup: str) -> None:
    table = Watched(jvm, tables, *SETUPS[setup])
    rows = table.spark.sql("SELECT id, 0 AS k, 'replaced' AS v FROM range(20, 30)")
    writer = rows.write.format("delta").mode("overwrite")
    writer.option("replaceWhere", "id >= 20 AND id < 40").save(table.path)
    assert not table.check(ChangeKind.GENERAL).rewritten
    table.sql("INSERT OVERWRITE {t} SELECT id, 1, 'over' FROM range(10)")
    assert table.check(ChangeKind.GENERAL).rewritten
    table.mark()
    table.sql("TRUNCATE TABLE {t}")
    assert table.check(ChangeKind.GENERAL).rewritten


def test_a_rewrite_without_change_cancels(jvm: Jvm, tables: Tables) -> None:
    table = Watched(jvm, tables)
    table.sql("UPDATE {t} SET v = v WHERE id % 2 = 0")
    change = table.check(ChangeKind.GENERAL)
    assert change.carries_over
    assert read_changes(jvm, change).count() == 0


def test_columns_that_cannot_be_grouped(jvm: Jvm, tables: Tables) -> None:
    table = Watched(jvm, tables)
    table.sql("ALTER TABLE {t} ADD COLUMNS (m MAP<STRING, INT>)")
    table.mark()
    update(table)
    frame = read_changes(jvm, table.change())
    assert frame.groupBy("id").sum(WEIGHT).where(f"`sum({WEIGHT})` <> 0").count() == 0
    assert read_changes(jvm, table.change(), columns=["id", "v"]).where("v = 'updated'").count() == 20


def test_added_column(jvm: Jvm, tables: Tables) -> None:
    for setup in ((DV, MAPPED), (CDF,)):
        table = Watched(jvm, tables, *setup)
        update(table)
        table.sql("ALTER TABLE {t} ADD COLUMNS (extra INT)")
        table.sql("UPDATE {t} SET extra = 1 WHERE id = 5")
        table.check(ChangeKind.GENERAL)


def test_row_tracking_switched_on_later(jvm: Jvm, tables: Tables) -> None:
    table = Watched(jvm, tables, DV)
    table.sql("ALTER TABLE {t} SET TBLPROPERTIES ('delta.enableRowTracking' = 'true')")
    table.check(ChangeKind.NONE)
    delete(table)
    table.check(ChangeKind.GENERAL)


def test_schema_issues(jvm: Jvm, tables: Tables) -> None:
    table = Watched(jvm, tables, MAPPED)
    table.sql("ALTER TABLE {t} DROP COLUMN v")
    assert table.change(["id"]).kind == ChangeKind.NONE
    assert _issue(table.change()) == IssueType.DATA_SCHEMA_CHANGED
    table.sql("ALTER TABLE {t} ADD COLUMNS (v STRING)")
    assert _issue(table.change()) == IssueType.DATA_SCHEMA_CHANGED
    table.mark()
    table.sql("ALTER TABLE {t} RENAME COLUMN k TO kk")
    assert _issue(table.change(["id", "k"])) == IssueType.DATA_SCHEMA_CHANGED
    assert table.change(["id"]).issue is None


def test_type_and_partitioning_issues(jvm: Jvm, tables: Tables) -> None:
    table = Watched(jvm, tables)
    rows = table.spark.sql("SELECT id, 1L AS k, 'x' AS v FROM range(5)")
    writer = rows.write.format("delta").mode("overwrite").option("overwriteSchema", "true")
    writer.save(table.path)
    assert _issue(table.change()) == IssueType.DATA_SCHEMA_CHANGED
    assert table.change(["id", "v"]).rewritten
    writer.partitionBy("k").save(table.path)
    assert _issue(table.change(["id"])) == IssueType.PARTITION_SCHEMA_CHANGED


def _issue(change: SourceChange) -> IssueType | None:
    return change.issue.type if change.issue else None


def test_vacuumed(jvm: Jvm, tables: Tables) -> None:
    table = Watched(jvm, tables)
    update(table)
    table.sql("VACUUM {t} RETAIN 0 HOURS")
    assert _issue(table.change()) == IssueType.DATA_FILE_MISSING
    with_vectors = Watched(jvm, tables, DV)
    delete(with_vectors)
    with_vectors.mark()
    with_vectors.sql("DELETE FROM {t} WHERE id = 1 OR id = 151")
    with_vectors.check(ChangeKind.GENERAL)
    with_vectors.sql("VACUUM {t} RETAIN 0 HOURS")
    assert _issue(with_vectors.change()) == IssueType.DATA_FILE_MISSING


def test_log_cleaned(jvm: Jvm, tables: Tables) -> None:
    table = Watched(jvm, tables)
    insert(table)
    table.insert(300, 310)
    delta_log(jvm, table.path).checkpoint()
    Path(table.path, "_delta_log", f"{table.old.version + 1:020d}.json").unlink()
    assert _issue(table.change()) == IssueType.CHANGE_SET_MISSING


def test_recreated_and_gone_back(jvm: Jvm, tables: Tables) -> None:
    table = Watched(jvm, tables)
    before = SourceVersion(table.name, table.path, table.old.table_id, table.old.version + 5)
    assert _issue(changes_since(jvm, before, table.old, ["id"])) == IssueType.DATA_HAS_CHANGED
    table.sql("CREATE OR REPLACE TABLE {t} (id BIGINT) USING delta")
    assert _issue(table.change(["id"])) == IssueType.SOURCE_RECREATED
    table.mark()
    table.sql("DROP TABLE {t}")
    shutil.rmtree(table.path)
    table.sql(f"CREATE TABLE {{t}} (id BIGINT) USING delta LOCATION '{table.path}'")
    assert _issue(table.change(["id"])) == IssueType.SOURCE_RECREATED


def test_reads_are_pruned(jvm: Jvm, tables: Tables) -> None:
    table = Watched(jvm, tables, DV, partitioned="k")
    merge(table)
    frame = read_changes(jvm, table.change()).where("k = 2 AND id > 10").select("id", WEIGHT)
    plan = frame._jdf.queryExecution().executedPlan().toString()
    assert "GreaterThan(id,10)" in plan
    assert "ReadSchema: struct<id:bigint" in plan
    assert "v:string" not in plan

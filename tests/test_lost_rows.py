"""Rows that go are looked for only in files that can hold them, and all that should go are found."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from rennet import Engine
from rennet.enable import layout
from rennet.errors import Technique
from rennet.jvm import JavaObject, Jvm
from rennet.plan.expressions import Alias, alias, call, literal
from rennet.plan.ir import Node
from rennet.storage import transaction
from rennet.storage.skipping import Spans, narrowed
from rennet.testing.large import treated_as_large
from tests.schemas import in_schema

BATCHES = 4
BY_WINDOW = Technique.WINDOW_FUNCTION
Looked = list[tuple[int, int]]
"""Of how many files how many were read, each time that rows were looked for."""


@pytest.fixture
def engine(spark: SparkSession) -> Iterator[Engine]:
    with in_schema(spark, "lost_rows"), treated_as_large():
        yield Engine(spark)


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> Looked:
    seen: Looked = []

    def noting(jvm: Jvm, at: JavaObject, listed: JavaObject, spans: Spans) -> JavaObject:
        found = narrowed(jvm, at, listed, spans)
        if spans:
            seen.append((listed.size(), found.size()))
        return found

    monkeypatch.setattr(transaction, "narrowed", noting)
    return seen


def filled(
    engine: Engine, columns: str, values: str, query: str, technique: Technique = Technique.ROW_BASED
) -> None:
    """A view with a file for each batch of ten rows of the table."""
    engine.spark.sql(f"CREATE TABLE t ({columns}) USING delta")
    for batch in range(BATCHES):
        first = batch * 10
        engine.spark.sql(f"INSERT INTO t SELECT {values} FROM range({first}, {first + 10}, 1, 1)")
        if batch:
            engine.refresh("w", technique=technique)
        else:
            engine.create_materialized_view("w", query)


def changed(engine: Engine, *changes: str, deleted: int, technique: Technique = Technique.ROW_BASED) -> None:
    for change in changes:
        engine.spark.sql(change)
    result = engine.refresh("w", technique=technique)
    assert result.technique is technique, result.reason
    assert result.rows_deleted == deleted
    assert engine.verify("w")


def test_rows_that_lie_together_are_looked_for_in_their_file(engine: Engine, looked: Looked) -> None:
    filled(engine, "k INT, v INT", "id, id % 7", "SELECT k, v + 1 AS w FROM t")
    changed(engine, "UPDATE t SET v = v + 100 WHERE k BETWEEN 20 AND 23", deleted=4)
    assert looked == [(BATCHES, 1)]
    changed(engine, "DELETE FROM t WHERE k BETWEEN 18 AND 21", deleted=4)
    assert looked[1:] == [(BATCHES + 1, 3)]
    changed(engine, "DELETE FROM t WHERE k IN (0, 39)", deleted=2)
    assert looked[2:] == [(BATCHES + 1, BATCHES)]  # all but the newest, whose w are larger


def test_equal_rows_of_several_files(engine: Engine, looked: Looked) -> None:
    """The second of two equal rows is in a file further on; as many go as were lost."""
    filled(engine, "k INT, v INT", "id, CAST(id DIV 10 % 2 AS INT)", "SELECT v, v * 2 AS w FROM t")
    changed(engine, "DELETE FROM t WHERE k IN (11, 35)", deleted=2)
    assert looked == [(BATCHES, 2)] * 2  # by hash, and then by all columns
    changed(engine, "DELETE FROM t WHERE k BETWEEN 30 AND 39", deleted=9)
    assert looked[2:] == [(BATCHES, 2)]


def test_nulls_are_found_where_they_are(engine: Engine, looked: Looked) -> None:
    filled(
        engine,
        "k INT, v INT",
        "IF(id % 10 = 3, NULL, id), IF(id BETWEEN 20 AND 29, NULL, id)",
        "SELECT k, v + 1 AS w FROM t",
    )
    changed(engine, "DELETE FROM t WHERE k IS NULL AND v = 13", deleted=1)
    assert looked == [(BATCHES, 2)]  # of the file without any v the log has no bounds
    changed(engine, "DELETE FROM t WHERE k = 25", deleted=1)
    changed(engine, "DELETE FROM t WHERE k IS NULL AND v IS NULL", deleted=1)
    changed(engine, "UPDATE t SET v = 0 WHERE k IS NULL OR k = 11", deleted=3)


KINDS = {
    "TINYINT": "CAST(id - 30 AS TINYINT)",
    "BIGINT": "(id - 30) * 1000000000000",
    "DECIMAL(38, 10)": "CAST((id - 30) * 12345678901234567 AS DECIMAL(38, 10)) / 7",
    "DATE": "DATE'1969-12-01' + CAST(id AS INT)",
    "TIMESTAMP": "TIMESTAMP'1969-12-01 01:02:03.456789' + make_dt_interval(CAST(id * 3 AS INT))",
}
OTHERS = {
    "DOUBLE": "IF(id % 10 = 4, double('NaN'), IF(id % 10 = 5, -0.0D, (id - 30) / 7D))",
    "STRING": "repeat(CAST(id AS STRING), 20)",
    "BOOLEAN": "id < 30",
    "TIMESTAMP_NTZ": "TIMESTAMP_NTZ'2020-01-01 00:00:00' + make_dt_interval(CAST(id AS INT))",
    "ARRAY<INT>": "array(CAST(id AS INT), NULL)",
    "STRUCT<a: INT>": "named_struct('a', CAST(id AS INT))",
    "BINARY": "CAST(CAST(id AS STRING) AS BINARY)",
}


@pytest.mark.parametrize("kinds", [KINDS, OTHERS], ids=["compared", "others"])
def test_values_of_every_type(engine: Engine, looked: Looked, kinds: dict[str, str]) -> None:
    columns = ", ".join(f"x{n} {kind}" for n, kind in enumerate(kinds))
    shown = ", ".join(f"x{n}" for n in range(len(kinds)))
    filled(engine, f"id INT, {columns}", f"id, {', '.join(kinds.values())}", f"SELECT {shown} FROM t")
    changed(engine, "DELETE FROM t WHERE id IN (22, 23)", deleted=2)
    assert looked == ([(BATCHES, 1)] if kinds is KINDS else [])
    changed(engine, "UPDATE t SET x0 = NULL WHERE id BETWEEN 26 AND 30", deleted=5)
    changed(engine, "DELETE FROM t WHERE id BETWEEN 24 AND 32", deleted=9)


def test_columns_beyond_those_with_statistics(engine: Engine) -> None:
    many = ", ".join(f"c{n} INT" for n in range(40))
    values = ", ".join(["CAST(NULL AS INT)"] * 36 + ["id"] * 4)
    filled(engine, many, values, "SELECT * FROM t")
    changed(engine, "UPDATE t SET c39 = -1 WHERE c38 BETWEEN 15 AND 23", deleted=9)
    changed(engine, "DELETE FROM t WHERE c38 BETWEEN 15 AND 35", deleted=21)


def test_rows_of_partitions(engine: Engine, looked: Looked) -> None:
    engine.spark.sql("CREATE TABLE t (k INT, day DATE) USING delta")
    engine.spark.sql("INSERT INTO t SELECT id, DATE'2020-01-01' + CAST(id DIV 10 AS INT) FROM range(60)")
    engine.spark.sql("INSERT INTO t VALUES (7, NULL), (NULL, NULL)")
    query = "SELECT k % 5 AS five, day FROM t"
    engine.create_materialized_view("w", query, partitioned_by=("day",))
    changed(engine, "DELETE FROM t WHERE k IN (21, 26)", deleted=2)
    changed(engine, "DELETE FROM t WHERE day IS NULL AND k = 7", "DELETE FROM t WHERE k = 33", deleted=2)
    assert all(read < every for every, read in looked)


def test_the_other_row_of_a_hash_may_be_in_a_file_that_is_not_read(
    engine: Engine, looked: Looked, monkeypatch: pytest.MonkeyPatch
) -> None:
    def by_tens(plan: Node) -> Alias:
        """k and k + 10 have the same hash."""
        made = call("%", plan.output[0], literal(10, "int"), type="int")
        return alias(call("xxhash64", made, type="bigint", nullable=False), layout.CONTENT)

    monkeypatch.setattr(layout, "_content", by_tens)
    filled(engine, "k INT, v INT", "id, id % 7", "SELECT k, v + 1 AS w FROM t")
    changed(engine, "UPDATE t SET v = v + 100 WHERE k BETWEEN 20 AND 23", deleted=4)
    changed(engine, "DELETE FROM t WHERE k BETWEEN 8 AND 31", deleted=24)


def test_rows_of_keys_are_looked_for_where_the_keys_lie(engine: Engine, looked: Looked) -> None:
    largest = "max(v) OVER (PARTITION BY k DIV 2) AS most"
    filled(engine, "k INT, v INT", "IF(id = 35, NULL, id), -id", f"SELECT k, v, {largest} FROM t", BY_WINDOW)
    looked.clear()
    changed(
        engine,
        "UPDATE t SET v = 5 WHERE k = 12",
        "DELETE FROM t WHERE k = 15",
        deleted=4,
        technique=BY_WINDOW,
    )
    assert looked == [(BATCHES, 1)]
    changed(engine, "DELETE FROM t WHERE k IS NULL", deleted=1, technique=BY_WINDOW)
    changed(engine, "INSERT INTO t VALUES (NULL, 1), (13, 2), (39, 1)", deleted=4, technique=BY_WINDOW)
    changed(engine, "UPDATE t SET k = 39 WHERE k IN (0, 17) OR k IS NULL", deleted=8, technique=BY_WINDOW)

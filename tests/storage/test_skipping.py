"""Files are skipped by what the log says of them; never one that holds a row that is looked for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import ByteType, DataType, DateType, DecimalType, LongType, TimestampType

from rennet.jvm import Jvm
from rennet.storage.skipping import DAY, Asked, Excluding, Number, Span, Spans
from rennet.storage.sources import current, delta_log, listed_files
from rennet.storage.transaction import Transaction
from rennet.storage.vectors import FILE
from tests.storage.conftest import Tables, without_statistics

MARKED = "enableDeletionVectors=true"
LONG, WIDE = LongType(), DecimalType(38, 2)


def excluded(
    kind: DataType, span: tuple[Number | None, Number | None, bool], stats: str | None, **more: Any
) -> bool:
    schema = {"type": "struct", "fields": [{"name": "x", "type": kind.jsonValue(), "nullable": True}]}
    for each in schema["fields"]:
        each["metadata"] = {}
    described = {"schemaString": json.dumps(schema), "partitionColumns": ["x"] if more else []}
    return Excluding.of(described, {"x": Span(kind, *span)}).excludes({"path": "f", "stats": stats, **more})


def bounds(low: str, high: str, nulls: int = 0, tight: bool = True) -> str:
    """Statistics as they are written: numbers as they are, the rest in quotes."""
    ends = f'"minValues":{{"x":{low}}},"maxValues":{{"x":{high}}}'
    return f'{{"numRecords":9,{ends},"nullCount":{{"x":{nulls}}},"tightBounds":{str(tight).lower()}}}'


@pytest.mark.parametrize(
    ("low", "high", "gone"),
    [(-9, -6, True), (-9, -5, False), (0, 2, False), (7, 9, False), (8, 9, True), (-9, 9, False)],
)
@pytest.mark.parametrize("tight", [True, False])
def test_a_file_is_excluded_if_all_its_values_lie_elsewhere(
    low: int, high: int, gone: bool, tight: bool
) -> None:
    assert excluded(LONG, (low, high, False), bounds("-5", "7", tight=tight)) is gone


def test_null_is_looked_for_where_there_may_be_one() -> None:
    assert excluded(LONG, (8, 9, True), bounds("-5", "7"))
    assert not excluded(LONG, (8, 9, True), bounds("-5", "7", nulls=1))
    assert not excluded(LONG, (8, 9, True), '{"numRecords":9,"minValues":{"x":1},"maxValues":{"x":2}}')
    assert excluded(LONG, (None, None, True), bounds("-5", "7"))
    assert not excluded(LONG, (None, None, True), bounds("-5", "7", nulls=1, tight=False))


@pytest.mark.parametrize(
    "stats",
    [
        None,
        "",
        '{"numRecords":9}',
        '{"numRecords":9,"minValues":{"y":1},"maxValues":{"y":1},"nullCount":{"y":0}}',
        '{"numRecords":9,"minValues":{"x":1},"maxValues":{},"nullCount":{"x":0}}',
        '{"numRecords":9,"minValues":{},"maxValues":{},"nullCount":{"x":9}}',
        bounds('"1"', '"1"'),
        bounds("true", "true"),
        bounds("null", "null"),
        bounds('{"a":1}', '{"a":1}'),
        bounds("NaN", "NaN"),
    ],
)
def test_what_is_not_known_excludes_nothing(stats: str | None) -> None:
    assert not excluded(LONG, (100, 100, False), stats)


def test_decimals_of_all_digits_are_compared() -> None:
    text = "123456789012345678901234567890123456.78"
    value = Decimal(text)
    next_to_it = Decimal("123456789012345678901234567890123456.79")
    assert not excluded(WIDE, (value, value, False), bounds(text, text))
    assert excluded(WIDE, (next_to_it, next_to_it, False), bounds(text, text))
    assert not excluded(WIDE, (Decimal(5), Decimal(5), False), bounds("-1", "5.0"))


def test_days() -> None:
    assert excluded(DateType(), (0, 3, False), bounds('"1970-01-05"', '"1970-02-01"'))
    assert not excluded(DateType(), (0, 4, False), bounds('"1970-01-05"', '"1970-02-01"'))
    assert not excluded(DateType(), (-900_000, -800_000, False), bounds('"-0500-01-01"', '"1970-02-01"'))
    assert not excluded(DateType(), (5_000_000, 5_000_000, False), bounds('"1970-01-05"', '"+12000-02-01"'))


def test_moments_are_told_apart_by_more_than_a_day() -> None:
    stats = bounds('"1970-01-03T00:00:00.000Z"', '"1970-01-03T01:00:00.000+01:00"')
    for day, gone in ((0, True), (1, False), (2, False), (3, False), (4, True)):
        assert excluded(TimestampType(), (day * DAY, day * DAY, False), stats) is gone
    local = bounds('"1970-01-03T00:00:00.000"', '"1970-01-03T00:00:00.000"')
    assert not excluded(TimestampType(), (0, 0, False), local)


def test_partitions() -> None:
    for text, gone in (("-3", False), ("4", True), (None, True), ("", True), ("odd", False)):
        assert excluded(LONG, (-3, -3, False), None, partitionValues={"x": text}) is gone
    assert not excluded(LONG, (4, 4, True), None, partitionValues={"x": None})
    assert not excluded(LONG, (4, 4, True), None, partitionValues={"other": None})
    moment = {"x": "1970-01-03 00:00:00"}
    assert not excluded(TimestampType(), (0, 0, False), None, partitionValues=moment)


def test_a_column_of_another_type_is_left_out() -> None:
    schema = {
        "type": "struct",
        "fields": [{"name": "x", "type": "byte", "nullable": True, "metadata": {}}],
    }
    described = {"schemaString": json.dumps(schema), "partitionColumns": []}
    excluding = Excluding.of(described, {"x": Span(LONG, 1, 1, False), "y": Span(LONG, 1, 1, False)})
    assert not excluding.spans
    assert Excluding.of(described, {"x": Span(ByteType(), 1, 1, False)}).spans


# -- tables

COLUMNS = {
    "b": ("TINYINT", "CAST(id - 50 AS TINYINT)"),
    "s": ("SMALLINT", "CAST(id * 100 - 4000 AS SMALLINT)"),
    "i": ("INT", "CAST(id * 1000 - 40000 AS INT)"),
    "l": ("BIGINT", "(id - 40) * 100000000000"),
    "d": ("DECIMAL(38, 4)", "CAST((id - 40) * 1000000000000000 AS DECIMAL(38, 4)) / 3 * 1000000000"),
    "m": ("DECIMAL(9, 2)", "CAST((id - 40) / 4 AS DECIMAL(9, 2))"),
    "day": ("DATE", "DATE'1969-12-01' + CAST(id AS INT)"),
    "at": ("TIMESTAMP", "TIMESTAMP'1880-01-01 01:02:03.456789' + make_dt_interval(CAST(id * 500 AS INT))"),
}
LISTED = "spark.databricks.delta.allFilesInCrc.enabled"
WANTED = {(16, 17, 18): 1, (0, 0): 1, (79, 79): 1, (23, 24): 2, (13, 33): 5, (13, 40): 6, (0, 79): 10}
"""Rows that are looked for, and how many files can hold them; 13 and 33 are NULL."""


@pytest.fixture(params=[True, False], ids=["listed", "found by Delta"])
def listed(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[bool]:
    spark.conf.set(LISTED, str(request.param).lower())
    yield request.param
    spark.conf.unset(LISTED)


def spans_of(jvm: Jvm, path: str, rows: str, columns: Iterable[str]) -> Spans:
    wanted = Transaction(jvm, path).target().where(rows).select(*columns)
    asked = Asked.of(zip(columns, wanted.schema, strict=True))
    (answer,) = wanted.selectExpr("0", *asked.aggregates).collect()
    return asked.spans(answer)


def read(jvm: Jvm, path: str, within: Spans) -> tuple[set[int], int]:
    """The ids of rows that are read, and of how many files."""
    found = Transaction(jvm, path).target(within).select("id", FILE).collect()
    return {row[0] for row in found}, len({row[1] for row in found})


def test_all_rows_that_are_looked_for_are_read(spark: SparkSession, tables: Tables, listed: bool) -> None:
    """Ten files of eight rows, each with its part of the values, and one without any."""
    kinds = ", ".join(f"{column} {kind}" for column, (kind, _) in COLUMNS.items())
    name, path = tables.make(f"id INT, {kinds}", MARKED)
    values = ", ".join(f"IF(id % 20 = 13, NULL, {value})" for _, value in COLUMNS.values())
    for first in range(0, 80, 8):
        spark.sql(f"INSERT INTO {name} SELECT id, {values} FROM range({first}, {first + 8}, 1, 1)")
    spark.sql(f"INSERT INTO {name} (id) VALUES (1000)")
    jvm = Jvm.of(spark)
    assert (listed_files(jvm, current(jvm, delta_log(jvm, path))) is not None) is listed
    for ids, files in WANTED.items():
        spans = spans_of(jvm, path, f"id IN {ids}", COLUMNS)
        assert spans.keys() == COLUMNS.keys()
        for column, span in spans.items():
            found, count = read(jvm, path, {column: span})
            assert found >= {*ids}, column
            # The log has no bounds of the one without values; Delta goes by its number of NULLs.
            assert files <= count <= files + listed, (column, ids)


def test_all_rows_of_partitions_are_read(spark: SparkSession, tables: Tables, listed: bool) -> None:
    kinds = "i INT, day DATE, m DECIMAL(9, 2), at TIMESTAMP"
    name, path = tables.make(f"id INT, {kinds}", MARKED, partitioned="i, day, m, at")
    part = "CAST(id DIV 2 AS INT)"
    values = f"-{part}, DATE'1970-01-02' - {part}, {part} / 4, TIMESTAMP'1970-01-01 00:00:00'"
    spark.sql(f"INSERT INTO {name} SELECT id, {values} FROM range(0, 8, 1, 1)")
    spark.sql(f"INSERT INTO {name} SELECT id, NULL, NULL, NULL, NULL FROM range(8, 10, 1, 1)")
    jvm = Jvm.of(spark)
    for ids, files in {(3, 3): 1, (0, 3): 2, (7, 9): 2, (8, 9): 1}.items():
        for column, span in spans_of(jvm, path, f"id IN {ids}", ("i", "day", "m", "at")).items():
            found, count = read(jvm, path, {column: span})
            assert found >= {*ids}, column
            assert count == files or column == "at", (column, ids)


def spans(**given: int) -> Spans:
    return {name: Span(LONG, value, value, False) for name, value in given.items()}


def read_files(spark: SparkSession, path: str, within: Spans) -> int:
    return Transaction(Jvm.of(spark), path).target(within).select(FILE).distinct().count()


def test_columns_without_statistics_exclude_nothing(spark: SparkSession, tables: Tables) -> None:
    many = ", ".join(f"c{n} BIGINT" for n in range(40))
    name, path = tables.make(many, MARKED)
    for part in range(3):
        spark.sql(f"INSERT INTO {name} SELECT {', '.join(['id'] * 40)} FROM range({part}, {part + 1}, 1, 1)")
    assert read_files(spark, path, spans(c31=1)) == 1
    assert read_files(spark, path, spans(c39=1)) == 3
    assert read_files(spark, path, spans(c39=1, c2=7)) == 0


def test_files_without_statistics_are_read(spark: SparkSession, tables: Tables) -> None:
    name, path = tables.make("x BIGINT", MARKED)
    spark.sql(f"INSERT INTO {name} VALUES (1)")
    with without_statistics(spark):
        spark.sql(f"INSERT INTO {name} VALUES (2)")
    spark.sql(f"INSERT INTO {name} VALUES (3)")
    assert read_files(spark, path, spans(x=3)) == 2


def test_a_renamed_column_is_known_by_what_the_log_calls_it(spark: SparkSession, tables: Tables) -> None:
    name, path = tables.make("a BIGINT, b BIGINT", MARKED)
    for part in range(3):
        spark.sql(f"INSERT INTO {name} VALUES ({part}, {10 - part})")
    spark.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
    for before, after in (("a", "c"), ("b", "a"), ("c", "b")):  # the two change places
        spark.sql(f"ALTER TABLE {name} RENAME COLUMN {before} TO {after}")
    assert read_files(spark, path, spans(a=9, b=1)) == 1
    assert read_files(spark, path, spans(a=1)) == 0
    assert read_files(spark, path, spans(c=1)) == 3


def test_rows_marked_as_deleted_leave_bounds_that_hold(spark: SparkSession, tables: Tables) -> None:
    name, path = tables.make("x BIGINT", MARKED)
    for part in range(3):
        spark.sql(f"INSERT INTO {name} SELECT id FROM range({part * 10}, {part * 10 + 10}, 1, 1)")
    spark.sql(f"DELETE FROM {name} WHERE x IN (10, 19)")
    assert read_files(spark, path, spans(x=15)) == 1

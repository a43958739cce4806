"""The contender that is not Spark: DuckDB over Parquet files."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import duckdb
from pyspark.sql import DataFrame
from pyspark.sql.types import (
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    IntegerType,
    LongType,
    StringType,
)

from rennet.bench.micro.contenders import DUCKDB
from rennet.bench.micro.measure import Sample
from rennet.bench.micro.tables import Changed, Tables

MOST_MEMORY = "4GB"
"""As much as the Spark driver of `rennet.session()` has."""


class DuckDb:
    """DuckDB runs the query again over the same rows in Parquet, into a table of a database file."""

    def __init__(self, tables: Tables, folder: Path) -> None:
        self.name = DUCKDB
        self.tables = tables
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._database = duckdb.connect(str(folder / "result.duckdb"))
        self._database.execute(f"SET memory_limit = '{MOST_MEMORY}'")
        self._rows: dict[str, int] = {}

    def create(self) -> None:
        for source in self.tables.names:
            self._load(source)
        self._compute()

    def refresh(self, changed: Changed) -> Sample:
        for source in changed.versions:  # writing the Parquet files is not DuckDB's work
            self._load(source)
        written, wall, cpu = _timed(self._compute)
        return Sample(wall, cpu, None, sum(self._rows.values()), None, written, None)

    def _load(self, source: str) -> None:
        place = self.tables.export(source, self._folder)
        files = f"read_parquet('{place}/*.parquet')"
        self._database.execute(f"CREATE OR REPLACE VIEW {source} AS SELECT * FROM {files}")
        self._rows[source] = self._count(source)

    def _compute(self) -> int:
        text = self.tables.shape.text_for_duckdb({name: name for name in self.tables.names})
        self._database.execute(f"CREATE OR REPLACE TABLE result AS {text}")
        return self._count("result")

    def _count(self, table: str) -> int:
        found = self._database.execute(f"SELECT COUNT(*) FROM {table}").fetchone()
        assert found is not None
        return int(found[0])

    def result(self) -> DataFrame:
        """The result in the types Spark gives it: sums have others in DuckDB."""
        spark = self.tables.spark
        wanted = spark.sql(self.tables.shape.text(self.tables.names)).schema
        place = self._folder / "result.parquet"
        columns = ", ".join(f"CAST({each.name} AS {duckdb_type(each.dataType)})" for each in wanted)
        names = ", ".join(each.name for each in wanted)
        self._database.execute(
            f"COPY (SELECT {columns} FROM (SELECT {names} FROM result)) TO '{place}' (FORMAT parquet)"
        )
        return spark.read.parquet(str(place)).toDF(*wanted.names)

    def close(self) -> None:
        self._database.close()


def _timed(work: Callable[[], int]) -> tuple[int, float, float]:
    """What work in this process, on all its threads, gives and takes: wall and CPU seconds."""
    started, cpu = time.perf_counter(), time.process_time()
    found = work()
    return found, time.perf_counter() - started, time.process_time() - cpu


def duckdb_type(kind: DataType) -> str:
    """DuckDB's name of a type of Spark's."""
    if isinstance(kind, DecimalType):
        return f"DECIMAL({kind.precision},{kind.scale})"
    return DUCKDB_TYPES[type(kind)]


DUCKDB_TYPES: dict[type[DataType], str] = {
    BooleanType: "BOOLEAN",
    DateType: "DATE",
    IntegerType: "INTEGER",
    LongType: "BIGINT",
    StringType: "VARCHAR",
}

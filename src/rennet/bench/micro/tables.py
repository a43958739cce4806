"""A shape's tables: made, changed, and handed to those who refresh."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from rennet.bench.micro.shape import Shape, Source
from rennet.jvm import Jvm
from rennet.storage.sources import pin

PROPERTIES = "'delta.enableChangeDataFeed' = 'true', 'delta.enableDeletionVectors' = 'true'"


@dataclass(frozen=True)
class Changed:
    """The versions of each changed table that its last change wrote."""

    versions: dict[str, tuple[int, int]]

    def feeds(self, names: dict[str, str]) -> dict[str, str]:
        """For each changed table, the change data feed of these versions."""
        return {
            source: f"table_changes('{names[source]}', {first}, {last})"
            for source, (first, last) in self.versions.items()
        }


def _numbers(ids: Sequence[int]) -> str:
    """A table of these numbers, in SQL."""
    rows = ", ".join(f"({number}L)" for number in ids)
    return f"VALUES {rows} AS numbers (id)" if rows else "range(0)"


class Tables:
    """The tables of one shape in a schema of their own, and what has happened to them."""

    def __init__(self, spark: SparkSession, shape: Shape, rows: int, schema: str) -> None:
        self.spark = spark
        self.shape = shape
        self.rows = rows
        self.schema = schema
        self.names = {source.name: f"{schema}.{source.name}" for source in shape.sources}
        self._next = {source.name: source.size(rows) for source in shape.sources}
        self._paths: dict[str, str] = {}
        self._turn = 0

    def create(self) -> None:
        self.spark.sql(f"CREATE SCHEMA IF NOT EXISTS {self.schema}")
        for source in self.shape.sources:
            numbers = f"range(0, {source.size(self.rows)}, 1, {source.files(self.rows)})"
            self.spark.sql(
                f"CREATE TABLE {self.names[source.name]} USING delta TBLPROPERTIES ({PROPERTIES}) "
                f"AS {source.select(self.rows, numbers)}"
            )

    def drop(self) -> None:
        self.spark.sql(f"DROP SCHEMA IF EXISTS {self.schema} CASCADE")

    def change(self, changes: int) -> Changed:
        """One round of changes: about so many rows in all tables together."""
        self._turn += 1
        touched = {change.source: self._version(change.source) for change in self.shape.changes}
        for change in self.shape.changes:
            source = self.shape.source(change.source)
            name = self.names[source.name]
            for statement in change.statements(name, source.size(self.rows), self._turn, changes):
                self.spark.sql(statement)
            added = round(change.inserts * changes)
            if added:
                first = self._next[source.name]
                self._next[source.name] += added
                numbers = f"range({first}, {first + added}, 1, 1)"
                self.spark.sql(f"INSERT INTO {name} {source.select(self.rows, numbers)}")
        for name in touched:
            self._list_files(name)
        return Changed({name: (before + 1, self._version(name)) for name, before in touched.items()})

    def replace(self, changes: int) -> None:
        """The same mix of changes in one commit for each table: for those who need hundreds of rounds.

        Rows follow from their numbers, so that they need not be looked for to be updated: they are replaced.
        One that was deleted before may come again.
        """
        self._turn += 1
        for change in self.shape.changes:
            source = self.shape.source(change.source)
            updated, deleted, added = (
                round(part * changes) for part in (change.updates, change.deletes, change.inserts)
            )
            first = self._next[source.name]
            self._next[source.name] += added
            drawn = Random(f"{source.name} {self._turn}").sample(
                range(source.size(self.rows)), updated + deleted
            )
            self._replace(source, change.assignment, drawn[:updated], range(first, first + added), drawn)

    def _replace(
        self, source: Source, assignment: str, updated: Sequence[int], new: Sequence[int], gone: Sequence[int]
    ) -> None:
        rows = self.spark.sql(source.select(self.rows, _numbers(updated)))
        if assignment:
            column, _, value = assignment.partition(" = ")
            rows = rows.withColumn(column, F.expr(value).cast(rows.schema[column].dataType))
        rows = rows.unionByName(self.spark.sql(source.select(self.rows, _numbers(new))))
        there = f"id IN ({', '.join(map(str, (*gone, *new)))})"
        writer = rows.coalesce(1).write.format("delta").mode("overwrite").option("replaceWhere", there)
        writer.saveAsTable(self.names[source.name])

    def tidy(self) -> None:
        """Put small files together."""
        for name in self.names.values():
            self.spark.sql(f"OPTIMIZE {name}")

    def _list_files(self, source: str) -> None:
        """Delta lists the files of a new version once: whoever read it first would pay for all."""
        self.spark.sql(f"SELECT MAX(id) FROM {self.names[source]} WHERE id < 0").collect()

    def _version(self, source: str) -> int:
        if source not in self._paths:
            row = self.spark.sql(f"DESCRIBE DETAIL {self.names[source]}").first()
            assert row is not None
            self._paths[source] = str(row["location"])
        (now,) = pin(Jvm.of(self.spark), [(source, self._paths[source])])
        return now.version

    def export(self, source: str, folder: Path) -> Path:
        """The rows of a table as they are now, in Parquet files."""
        place = folder / source
        self.spark.table(self.names[source]).write.mode("overwrite").parquet(str(place))
        return place

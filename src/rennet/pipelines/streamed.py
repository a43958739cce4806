"""A streaming table in the catalog: a view over a Delta table, as a materialized view is.

The view shows the user's columns and the visible rows; the table may hold more. A full refresh fills a new
table and then points the view at it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import SparkSession
from pyspark.sql.types import StructField, StructType

from rennet.errors import AlreadyExistsError, PipelineError
from rennet.jvm import Jvm
from rennet.storage.names import ViewName
from rennet.storage.tables import create_table, discard, layout_clause, location, property_of, show

TABLE = "rennet.streaming_table"


@dataclass(frozen=True)
class Layout:
    """How a user wants the table to be stored and described."""

    comment: str = ""
    properties: tuple[tuple[str, str], ...] = ()
    partitioned_by: tuple[str, ...] = ()
    cluster_by: tuple[str, ...] = ()


@dataclass(frozen=True)
class StreamedTable:
    """A streaming table that exists."""

    name: ViewName
    backing: ViewName
    path: str

    @property
    def generation(self) -> int:
        """Grows with every full refresh."""
        return int(self.backing.name.rpartition("__")[2])


def find(jvm: Jvm, name: ViewName) -> StreamedTable | None:
    """The streaming table of that name, if there is one."""
    backing = property_of(jvm, name, TABLE)
    if backing is None:
        return None
    schema, _, table = backing.partition(".")
    found = ViewName(schema, table)
    return StreamedTable(name, found, location(jvm, found))


def create(jvm: Jvm, name: ViewName, columns: StructType, layout: Layout) -> StreamedTable:
    """An empty table of the next generation; nobody sees it before `publish`."""
    spark = jvm.spark
    old = find(jvm, name)
    if old is None and spark.catalog.tableExists(name.sql):
        raise AlreadyExistsError(f"{name} exists and is not a streaming table.", "Choose another name.")
    generation = old.generation + 1 if old else 1
    backing = name.backing(generation)
    discard(spark, backing)
    clause = layout_clause(layout.partitioned_by, layout.cluster_by)
    create_table(spark, backing, _ddl(jvm, columns), columns, clause, layout.properties)
    return StreamedTable(name, backing, location(jvm, backing))


def _ddl(jvm: Jvm, columns: StructType) -> str:
    return str(jvm.type("org.apache.spark.sql.types.DataType").fromJson(columns.json()).toDDL())


def publish(
    spark: SparkSession,
    table: StreamedTable,
    columns: Sequence[StructField],
    layout: Layout,
    visible: str | None = None,
) -> None:
    """Point the view at the table: readers see all of the old one or all of the new one."""
    old = find(Jvm.of(spark), table.name)
    links = ((TABLE, str(table.backing)),)
    show(spark, table.name, table.backing, columns, visible, layout.comment, {}, layout.properties, links)
    if old is not None and old.backing != table.backing:
        discard(spark, old.backing)


def drop(jvm: Jvm, name: ViewName) -> None:
    """Remove the view, then its rows."""
    found = find(jvm, name)
    if found is None:
        raise PipelineError(f"{name} is not a streaming table.")
    jvm.spark.sql(f"DROP VIEW IF EXISTS {name.sql}")
    discard(jvm.spark, found.backing)

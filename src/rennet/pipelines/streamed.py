"""A streaming table in the catalog: a view over a Delta table, as a materialized view is.

The view shows the user's columns and the visible rows; the table may hold more. A full refresh fills a new
table and then points the view at it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import SparkSession
from pyspark.sql.types import StructField, StructType

from rennet.errors import AlreadyExistsError, PipelineError
from rennet.jvm import Jvm
from rennet.storage.names import ViewName, quote, quote_string
from rennet.storage.tables import SETTINGS, discard, location, needs_mapping, property_of

TABLE = "rennet.streaming_table"


@dataclass(frozen=True)
class Layout:
    """How a user wants the table to be stored and described."""

    comment: str = ""
    properties: tuple[tuple[str, str], ...] = ()
    partitioned_by: tuple[str, ...] = ()
    cluster_by: tuple[str, ...] = ()

    def clause(self) -> str:
        if self.partitioned_by:
            return f"PARTITIONED BY ({', '.join(map(quote, self.partitioned_by))})"
        if self.cluster_by:
            return f"CLUSTER BY ({', '.join(map(quote, self.cluster_by))})"
        return ""


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
    backing = property_of(jvm.spark, name, TABLE)
    if backing is None:
        return None
    schema, _, table = backing.partition(".")
    found = ViewName(schema, table)
    return StreamedTable(name, found, location(jvm.spark, found))


def create(jvm: Jvm, name: ViewName, columns: StructType, layout: Layout) -> StreamedTable:
    """An empty table of the next generation; nobody sees it before `publish`."""
    spark = jvm.spark
    old = find(jvm, name)
    if old is None and spark.catalog.tableExists(name.sql):
        raise AlreadyExistsError(f"{name} exists and is not a streaming table.", "Choose another name.")
    generation = old.generation + 1 if old else 1
    backing = name.backing(generation)
    discard(spark, backing)
    properties = dict(SETTINGS)
    if needs_mapping(columns):
        properties["delta.columnMapping.mode"] = "name"
    properties.update({k: v for k, v in layout.properties if k.startswith("delta.")})
    clauses = f"USING delta {layout.clause()} {_pairs(properties)}"
    spark.sql(f"CREATE TABLE {backing.sql} ({_ddl(jvm, columns)}) {clauses}")
    return StreamedTable(name, backing, location(spark, backing))


def _ddl(jvm: Jvm, columns: StructType) -> str:
    return str(jvm.type("org.apache.spark.sql.types.DataType").fromJson(columns.json()).toDDL())


def _pairs(properties: Mapping[str, str]) -> str:
    pairs = (f"{quote_string(k)} = {quote_string(v)}" for k, v in properties.items())
    return f"TBLPROPERTIES ({', '.join(pairs)})"


def publish(
    spark: SparkSession,
    table: StreamedTable,
    columns: Sequence[StructField],
    layout: Layout,
    visible: str | None = None,
) -> None:
    """Point the view at the table: readers see all of the old one or all of the new one."""
    old = find(Jvm.of(spark), table.name)
    own = {k: v for k, v in layout.properties if not k.startswith("delta.")}
    comment = f"COMMENT {quote_string(layout.comment)}" if layout.comment else ""
    named = ", ".join(_column(field) for field in columns)
    chosen = ", ".join(quote(field.name) for field in columns)
    where = f" WHERE {quote(visible)}" if visible else ""
    properties = _pairs({**own, TABLE: str(table.backing)})
    spark.sql(
        f"CREATE OR REPLACE VIEW {table.name.sql} ({named}) {comment} {properties} "
        f"AS SELECT {chosen} FROM {table.backing.sql}{where}"
    )
    if old is not None and old.backing != table.backing:
        discard(spark, old.backing)


def _column(field: StructField) -> str:
    text = (field.metadata or {}).get("comment", "")
    return quote(field.name) + (f" COMMENT {quote_string(text)}" if text else "")


def drop(jvm: Jvm, name: ViewName) -> None:
    """Remove the view, then its rows."""
    found = find(jvm, name)
    if found is None:
        raise PipelineError(f"{name} is not a streaming table.")
    jvm.spark.sql(f"DROP VIEW IF EXISTS {name.sql}")
    discard(jvm.spark, found.backing)

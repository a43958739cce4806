"""The backing table, the view on top of it, and the registry they make together.

A materialized view *is* a catalog view whose property names its backing table. The view selects exactly
the user's columns, so readers always see the last committed refresh and never a hidden column.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import DataType, StructField, StructType

from rennet.errors import AlreadyExistsError, InvalidQueryError, SourceError, ViewNotFoundError
from rennet.jvm import JavaObject, Jvm
from rennet.storage.catalog import catalog_table
from rennet.storage.changes import RESERVED
from rennet.storage.commits import domains_of
from rennet.storage.looks import remembered
from rennet.storage.names import PREFIX, ViewName, quote, quote_string
from rennet.storage.provenance import (
    COSTS_DOMAIN,
    DEFINITION_DOMAIN,
    PROVENANCE_DOMAIN,
    Definition,
    Provenance,
)
from rennet.storage.sources import checksum, current, delta_log, metadata
from rennet.storage.transaction import FEED, PROPERTIES, VECTORS

BACKING, LOCATION = "rennet.backing", "rennet.location"
"""Properties of the catalog's view: the name of its backing table, and the folder of that."""
SETTINGS = {
    **PROPERTIES,
    # Every checkpoint costs several Spark jobs, and a view's log is short.
    "delta.checkpointInterval": "50",
}
"""Properties of a backing table; row tracking is left off: it would add three jobs to every commit."""

NEEDS_MAPPING = re.compile(r"[ ,;{}()\n\t=]")
UNSTORABLE = ("interval", "void", "time")


Properties = Sequence[tuple[str, str]]

UNNAMED = ViewName("", "")


@dataclass(frozen=True)
class MaterializedView:
    """A view found in the catalog, as its backing table describes it."""

    name: ViewName
    backing: ViewName
    path: str
    definition: Definition
    provenance: Provenance | None
    columns: tuple[tuple[str, str], ...]
    """Name and type of every column of the backing table, hidden ones included."""
    bytes: int = 0
    """Of its files; 0 if that is not known without a Spark job."""
    costs: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """What its refreshes have cost, in the words of the cost model."""
    files: int = 1
    vectors: bool = True
    """May rows be marked as deleted in them?"""


def find(jvm: Jvm, name: ViewName) -> MaterializedView:
    """The materialized view of that name, or a clear error."""
    described = catalog_table(jvm, name)
    found = None if described is None else _backing(jvm, described)
    if described is None or found is None:
        kind = "is not a materialized view" if jvm.spark.catalog.tableExists(name.sql) else "does not exist"
        raise ViewNotFoundError(f"{name} {kind}.", "SHOW MATERIALIZED VIEWS lists those there are.")
    path = _property(jvm, described, LOCATION) or location(jvm, found)
    version, stored = remembered(jvm, path, _stored)
    if version < 0:
        raise _gone(found)
    if stored is None:
        raise ViewNotFoundError(f"{name} was never filled.", "DROP MATERIALIZED VIEW it and create it again.")
    return replace(stored, name=name, backing=found)


def _stored(jvm: Jvm, path: str, anew: bool) -> tuple[int, MaterializedView | None]:
    """The version of a backing table and the view it is of, but for the names it has in the catalog."""
    at = current(jvm, delta_log(jvm, path), anew)
    version = int(at.version())
    stored = domains_of(jvm, at) if version >= 0 else {}
    if DEFINITION_DOMAIN not in stored:
        return version, None
    provenance, noted = stored.get(PROVENANCE_DOMAIN), checksum(jvm, at)
    described = metadata(jvm, at)
    schema = StructType.fromJson(json.loads(described["schemaString"]))
    return version, MaterializedView(
        UNNAMED,
        UNNAMED,
        path,
        Definition.from_json(stored[DEFINITION_DOMAIN]),
        Provenance.from_json(provenance) if provenance else None,
        tuple((column.name, column.dataType.simpleString()) for column in schema.fields),
        0 if noted is None else noted.tableSizeBytes(),
        json.loads(stored.get(COSTS_DOMAIN, "{}")),
        1 if noted is None else int(noted.numFiles()),
        described.get("configuration", {}).get(VECTORS) == "true",
    )


def lookup(jvm: Jvm, name: ViewName) -> ViewName | None:
    """The backing table a catalog view names, if it is one of ours."""
    described = catalog_table(jvm, name)
    return None if described is None else _backing(jvm, described)


def _backing(jvm: Jvm, described: JavaObject) -> ViewName | None:
    backing = _property(jvm, described, BACKING)
    if backing is None:
        return None
    schema, _, table = backing.partition(".")
    return ViewName(schema, table)


def property_of(jvm: Jvm, name: ViewName, key: str) -> str | None:
    """A property of a table or view of the catalog, if both are there."""
    described = catalog_table(jvm, name)
    return None if described is None else _property(jvm, described, key)


def _property(jvm: Jvm, described: JavaObject, key: str) -> str | None:
    return jvm.entry(described.properties(), key)


def _change(spark: SparkSession, statement: str) -> None:
    """Change the catalog."""
    spark.sql(statement)
    work = Jvm.of(spark).work
    if work is not None:
        work.catalog.clear()


def location(jvm: Jvm, table: ViewName) -> str:
    """The folder of a catalog table."""
    found = location_of(jvm, table)
    if found is None:
        raise _gone(table)
    return found


def _gone(table: ViewName) -> SourceError:
    return SourceError(f"The backing table {table} is gone.", "DROP MATERIALIZED VIEW and create it again.")


def location_of(jvm: Jvm, table: ViewName) -> str | None:
    """The same, if the catalog has it."""
    described = catalog_table(jvm, table)
    if described is None:
        return None
    stored = jvm.entry(described.storage().properties(), "path")  # what Hive calls its place may be none
    if stored is None:
        return str(described.location().toString())
    return _uri(jvm, stored)


def _uri(jvm: Jvm, path: str) -> str:
    """A path as Spark writes it in a URI."""
    uris = jvm.singleton("org.apache.spark.sql.catalyst.catalog.CatalogUtils")
    return str(jvm.kept(("URI", path), lambda: uris.stringToURI(path).toString()))


def everything(jvm: Jvm, schema: str | None) -> list[ViewName]:
    """All materialized views, of one schema or of all."""
    spark = jvm.spark
    schemas = [schema] if schema else [database.name for database in spark.catalog.listDatabases()]
    names = [
        ViewName(each, row["viewName"])
        for each in schemas
        for row in spark.sql(f"SHOW VIEWS IN {quote(each)}").collect()
        if not row["isTemporary"]
    ]
    return [name for name in names if lookup(jvm, name) is not None]


def check_free(jvm: Jvm, name: ViewName) -> None:
    """An error if the name is taken by something that is not a materialized view."""
    if lookup(jvm, name) is not None:
        return
    spark = jvm.spark
    if not spark.catalog.databaseExists(name.schema):
        raise SourceError(f"The schema {name.schema} does not exist.", f"CREATE SCHEMA {name.schema} first.")
    if spark.catalog.tableExists(name.sql):
        raise AlreadyExistsError(f"{name} exists and is not a materialized view.", "Choose another name.")


def check_schema(schema: StructType) -> None:
    """Columns must have distinct, permitted names and types Delta can store."""
    seen: dict[str, str] = {}
    for column in schema.fields:
        key = column.name.lower()
        if key in seen:
            raise InvalidQueryError(f"Two columns are named {column.name}.", "Give one of them an alias.")
        if key.startswith(PREFIX):
            raise InvalidQueryError(f"Column names that begin with {PREFIX} are reserved.", "Use an alias.")
        seen[key] = column.name
        bad = _unstorable(column.dataType)
        if bad:
            raise InvalidQueryError(
                f"Column {column.name} has type {bad}, which Delta cannot store.", "Cast it."
            )


def _unstorable(kind: DataType) -> str:
    name = kind.simpleString()
    words = re.findall(r"[a-z_]+", re.sub(r"[\w`]+:", "", name))
    return name if any(word in UNSTORABLE for word in words) else ""


def create_backing(spark: SparkSession, name: ViewName, definition: Definition, rows: DataFrame) -> ViewName:
    """An empty table with the rows' schema, in the first generation that is free."""
    generation = 1
    while spark.catalog.tableExists(name.backing(generation).sql):
        generation += 1
    backing = name.backing(generation)
    layout = layout_clause(definition.partitioned_by, definition.cluster_by)
    create_table(spark, backing, rows._jdf.schema().toDDL(), rows.schema, layout, definition.properties)
    return backing


def create_table(
    spark: SparkSession, table: ViewName, ddl: str, schema: StructType, layout: str, properties: Properties
) -> None:
    """An empty backing table; of the user's properties it gets those that are Delta's."""
    wanted = dict(SETTINGS)
    if needs_mapping(schema):
        wanted["delta.columnMapping.mode"] = "name"
    if not any(field.name.lower() in RESERVED for field in schema.fields):  # Delta has its own
        wanted[FEED] = "true"
    wanted.update({k: v for k, v in properties if k.startswith("delta.")})
    _change(spark, f"CREATE TABLE {table.sql} ({ddl}) USING delta {layout} {_properties(wanted)}")


def needs_mapping(kind: DataType) -> bool:
    """Whether a column has a name that Parquet files cannot hold as it is."""
    if isinstance(kind, StructType):
        return any(NEEDS_MAPPING.search(f.name) or needs_mapping(f.dataType) for f in kind.fields)
    parts = (getattr(kind, name, None) for name in ("elementType", "keyType", "valueType"))
    return any(part is not None and needs_mapping(part) for part in parts)


def layout_clause(partitioned_by: Sequence[str], cluster_by: Sequence[str]) -> str:
    if partitioned_by:
        return f"PARTITIONED BY ({', '.join(map(quote, partitioned_by))})"
    if cluster_by:
        return f"CLUSTER BY ({', '.join(map(quote, cluster_by))})"
    return ""


def _properties(properties: dict[str, str]) -> str:
    pairs = (f"{quote_string(k)} = {quote_string(v)}" for k, v in properties.items())
    return f"TBLPROPERTIES ({', '.join(pairs)})"


def settle(spark: SparkSession, table: ViewName, before: Properties, wanted: Properties) -> None:
    """Give a backing table the Delta properties of a changed definition."""
    old, new = ({k: v for k, v in each if k.startswith("delta.")} for each in (before, wanted))
    changed = {k: v for k, v in new.items() if old.get(k) != v}
    gone = [k for k in old if k not in new]
    changed.update({k: SETTINGS[k] for k in gone if k in SETTINGS})
    if changed:
        _change(spark, f"ALTER TABLE {table.sql} SET {_properties(changed)}")
    unset = ", ".join(quote_string(k) for k in gone if k not in SETTINGS)
    if unset:
        _change(spark, f"ALTER TABLE {table.sql} UNSET TBLPROPERTIES IF EXISTS ({unset})")


def publish(
    jvm: Jvm,
    name: ViewName,
    backing: ViewName,
    definition: Definition,
    fields: Sequence[StructField],
    visible: str | None,
) -> None:
    """Create the view, or point it at a new backing table, in one step readers cannot see into."""
    links = ((BACKING, str(backing)), (LOCATION, location(jvm, backing)))
    comments, own = dict(definition.columns), definition.properties
    show(jvm.spark, name, backing, fields, visible, definition.comment, comments, own, links)


def show(
    spark: SparkSession,
    name: ViewName,
    backing: ViewName,
    fields: Sequence[StructField],
    visible: str | None,
    comment: str,
    comments: Mapping[str, str],
    properties: Properties,
    links: Properties,
) -> None:
    """Point a catalog view at a backing table: the user's columns, the visible rows, and the links back."""
    columns = ", ".join(_column(field, comments.get(field.name, "")) for field in fields)
    own = {k: v for k, v in (*properties, *links) if not k.startswith("delta.")}
    described = f"COMMENT {quote_string(comment)}" if comment else ""
    chosen = ", ".join(quote(field.name) for field in fields)
    where = f" WHERE {quote(visible)}" if visible else ""
    _change(
        spark,
        f"CREATE OR REPLACE VIEW {name.sql} ({columns}) {described} {_properties(own)} "
        f"AS SELECT {chosen} FROM {backing.sql}{where}",
    )


def _column(field: StructField, comment: str) -> str:
    text = comment or (field.metadata or {}).get("comment", "")
    return quote(field.name) + (f" COMMENT {quote_string(text)}" if text else "")


def discard(spark: SparkSession, table: ViewName) -> None:
    """Drop a backing table."""
    _change(spark, f"DROP TABLE IF EXISTS {table.sql}")


def remove(spark: SparkSession, name: ViewName, backing: ViewName) -> None:
    """Drop the view first, so that nobody reads it while its rows go."""
    _change(spark, f"DROP VIEW IF EXISTS {name.sql}")
    discard(spark, backing)


def first_line(error: Exception) -> str:
    """What went wrong, in one line."""
    message = error.getMessage() if isinstance(error, AnalysisException) else _told_by_java(error)
    text = message or str(error)
    return text.strip().splitlines()[0] if text.strip() else type(error).__name__


def _told_by_java(error: Exception) -> str | None:
    """Of an error of the JVM, the innermost message: those around it say only where it came through."""
    found, cause = None, getattr(error, "java_exception", None)
    while cause is not None:
        found = cause.getMessage() or found
        cause = cause.getCause()
    return found

"""Stand-ins for datasets that do not exist yet, or not with the columns they are going to have.

A view that is missing is stood in for by an empty view, a streaming table by an empty table; both are
marked, and gone when the analysis ends. One that exists with other columns is shadowed by a temporary view,
which works for names without a schema.
"""

from __future__ import annotations

from types import TracebackType

from pyspark.sql import DataFrame
from pyspark.sql.types import DataType, StructType

from rennet.jvm import Jvm
from rennet.pipelines.catalog import property_of
from rennet.pipelines.definitions import DatasetKind
from rennet.pipelines.graph import Node
from rennet.storage.names import ViewName, quote

MARK = "rennet.stand_in"


class StandIns:
    """Those made during one analysis."""

    def __init__(self, jvm: Jvm) -> None:
        self.jvm = jvm
        self._made: list[tuple[str, ViewName]] = []
        self.shadows: dict[str, str] = {}
        """Temporary views that stand in for a dataset, and its full name."""

    def __enter__(self) -> StandIns:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for what, name in reversed(self._made):
            self.jvm.spark.sql(f"DROP {what} IF EXISTS {name.sql}")
        for shadow in self.shadows:
            self.jvm.spark.catalog.dropTempView(shadow)

    def provide(self, node: Node, schema: StructType, frame: DataFrame | None) -> None:
        """Let later queries see this dataset with these columns; a temporary view is its own query."""
        if node.kind is DatasetKind.SINK:
            return
        if node.kind is DatasetKind.TEMPORARY_VIEW and frame is not None:
            frame.createOrReplaceTempView(quote(node.key))
            self.shadows[node.key] = node.key
            return
        name = ViewName(*node.key.split("."))
        self._clear(name)
        if not self.jvm.spark.catalog.tableExists(name.sql):
            self._make(name, schema, node.kind is DatasetKind.STREAMING_TABLE and not node.is_cdc)
        elif _types(self.jvm.spark.table(name.sql).schema) != _types(schema):
            self.jvm.spark.createDataFrame([], schema).createOrReplaceTempView(quote(name.name))
            self.shadows[name.name] = node.key

    def _clear(self, name: ViewName) -> None:
        """Remove what an analysis that was killed left behind."""
        if property_of(self.jvm.spark, name, MARK) is not None:
            what = "VIEW" if _is_view(self.jvm, name) else "TABLE"
            self.jvm.spark.sql(f"DROP {what} {name.sql}")

    def _make(self, name: ViewName, schema: StructType, table: bool) -> None:
        properties = f"TBLPROPERTIES ('{MARK}' = 'true')"
        if table:
            columns = ", ".join(f"{quote(f.name)} {self._sql(f.dataType)}" for f in schema.fields)
            mapping = f"TBLPROPERTIES ('{MARK}' = 'true', 'delta.columnMapping.mode' = 'name')"
            self.jvm.spark.sql(f"CREATE TABLE {name.sql} ({columns}) USING delta {mapping}")
        else:
            columns = ", ".join(
                f"CAST(NULL AS {self._sql(f.dataType)}) AS {quote(f.name)}" for f in schema.fields
            )
            self.jvm.spark.sql(f"CREATE VIEW {name.sql} {properties} AS SELECT {columns} WHERE false")
        self._made.append(("TABLE" if table else "VIEW", name))

    def _sql(self, kind: DataType) -> str:
        return str(self.jvm.type("org.apache.spark.sql.types.DataType").fromJson(kind.json()).sql())


def _types(schema: StructType) -> list[tuple[str, str]]:
    return [(field.name.lower(), field.dataType.simpleString()) for field in schema.fields]


def _is_view(jvm: Jvm, name: ViewName) -> bool:
    return bool(jvm.spark.catalog.getTable(name.sql).tableType == "VIEW")

"""Reading views in tests, without letting Delta look for their files first.

After every commit Delta replays a table's log in Spark jobs of its own, which takes longer than all else a
test does. The checksum of a small table lists its files: the rows are the same.
"""

from __future__ import annotations

from datetime import UTC, datetime

from pyspark.sql import DataFrame, SparkSession

from rennet import Engine
from rennet.execute.leaves import pinned_query
from rennet.jvm import Jvm
from rennet.storage.sources import pin
from rennet.storage.tables import MaterializedView


def listed(jvm: Jvm, view: MaterializedView) -> DataFrame:
    """The view as the catalog defines it, over the listed files of its table."""
    plan = jvm.analyzed(jvm.spark.table(view.name.sql))
    versions = {source.path: source for source in pin(jvm, [(str(view.backing), view.path)])}
    return pinned_query(jvm, plan, versions, datetime.now(UTC))


def names_of_tables(spark: SparkSession, schema: str | None = None) -> list[str]:
    """Tables and views of a schema; `spark.catalog` would have to be compiled to say so."""
    found = spark.sql("SHOW TABLES" + (f" IN {schema}" if schema else "")).collect()
    return [row["tableName"] for row in found if not row["isTemporary"]]


def shown(engine: Engine, name: str) -> DataFrame:
    return listed(Jvm.of(engine.spark), engine.find(name))

"""Properties of tables and views, wherever they are kept: those of Delta tables are in their logs."""

from __future__ import annotations

from pyspark.sql import SparkSession

from rennet.storage.names import ViewName


def property_of(spark: SparkSession, name: ViewName, key: str) -> str | None:
    """A property of a table or view, if both are there."""
    if not spark.catalog.tableExists(name.sql):
        return None
    found = {row["key"]: row["value"] for row in spark.sql(f"SHOW TBLPROPERTIES {name.sql}").collect()}
    return found.get(key)

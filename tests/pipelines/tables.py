"""What a schema holds."""

from __future__ import annotations

from pyspark.sql import SparkSession


def tables(spark: SparkSession, schema: str) -> list[str]:
    """The tables and views of the schema; SHOW TABLES adds the session's temporary views."""
    shown = spark.sql(f"SHOW TABLES IN {schema}").collect()
    return sorted(row.tableName for row in shown if not row.isTemporary)

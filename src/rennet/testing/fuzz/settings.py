"""Spark for tables of a few rows: there, planning and compiling take longer than running."""

from __future__ import annotations

from pyspark.sql import SparkSession

from rennet.execute.workspace import EXCLUDED_RULES, WRONG_RULE

SETTINGS = {
    "spark.sql.shuffle.partitions": "1",
    "spark.databricks.delta.snapshotPartitions": "1",
    # Every stage of an adaptive query is a job of its own; there is nothing to adapt to.
    "spark.sql.adaptive.enabled": "false",
    # Compiling a query takes longer than running it.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    # Nor is it worth writing out the plan of each for a page nobody looks at.
    "spark.sql.ui.explainMode": "codegen",
}
COMPILERS = "-XX:ReservedCodeCacheSize=400m -XX:+UseSerialGC -XX:NewRatio=1"
COMPILER = f"-XX:TieredStopAtLevel=1 {COMPILERS}"
"""The same for the JVM: the quick compiler, with room for what it makes, or it would throw compiled code away
and compile it again all the time, and for plans, which are large and soon gone."""


def apart(spark: SparkSession) -> SparkSession:
    """A session of its own with these settings: the same tables, other temporary views."""
    made = spark.newSession()
    for name, value in {**SETTINGS, EXCLUDED_RULES: WRONG_RULE}.items():
        made.conf.set(name, value)
    return made

"""What Spark itself says: the query text, over copies of the tables in memory.

Every scan of a Delta table costs Spark jobs of its own, and a query has many scans; so each table is read
once after each change, and the queries run in a session where temporary views stand for the tables.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from rennet.testing.fuzz.cases import Batch
from rennet.testing.fuzz.settings import apart


class Oracle:
    """Answers queries on the tables of one batch as they were when last looked at."""

    def __init__(self, spark: SparkSession, schema: str, batch: Batch) -> None:
        self.tables = spark
        self.schema = schema
        self.batch = batch
        self.session = apart(spark)

    def look(self, changed: Collection[str]) -> None:
        """Copy the tables that changed."""
        for name in changed:
            read = self.tables.table(f"{self.schema}.{name}")._jdf
            copied = self.session._jsparkSession.createDataFrame(read.collectAsList(), read.schema())
            DataFrame(copied, self.session).createOrReplaceTempView(name)
        for view in self.batch.views:
            if view.table.name in changed:
                self.session.sql(f"CREATE OR REPLACE TEMP VIEW {view.name} AS {view.query}")

    def rows(self, sql: str) -> list[Any]:
        """The result of a query."""
        return self.session.sql(sql).collect()

"""What Spark itself says: the query text, over copies of the tables in memory.

Every scan of a Delta table costs Spark jobs of its own, and a query has many scans; so each table is read
once after each change, and the queries run in a session where temporary views stand for the tables.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from rennet.testing.fuzz.settings import apart
from rennet.testing.fuzz.tables import CatalogView


class Oracle:
    """Answers queries on tables of one schema, and views on them, as they were when last looked at."""

    def __init__(
        self, spark: SparkSession, schema: str, views: Sequence[CatalogView] = (), compiled: bool = True
    ) -> None:
        self.tables = spark
        self.schema = schema
        self.views = views
        self.session = apart(spark)
        if compiled:  # rennet's own work on tiny tables is interpreted: what is compiled must say the same
            self.session.conf.set("spark.sql.codegen.factoryMode", "FALLBACK")
        self.session.catalog.setCurrentDatabase(schema)

    def look(self, changed: Collection[str]) -> None:
        """Copy the tables that changed."""
        for name in changed:
            read = self.tables.table(f"{self.schema}.{name}")._jdf
            copied = self.session._jsparkSession.createDataFrame(read.collectAsList(), read.schema())
            DataFrame(copied, self.session).createOrReplaceTempView(name)
        for view in self.views:
            if view.table.name in changed:
                self.session.sql(f"CREATE OR REPLACE TEMP VIEW {view.name} AS {view.query}")

    def rows(self, sql: str) -> list[Any]:
        """The result of a query."""
        return self.session.sql(sql).collect()

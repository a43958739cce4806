"""Those who bring a result up to date: each has a table of its own, filled from the same tables."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from pyspark.sql import DataFrame

from rennet.api import Engine
from rennet.bench.micro.measure import Probe, Sample
from rennet.bench.micro.tables import Changed, Tables

FULL, HAND, DUCKDB = OTHERS = "full", "hand", "duckdb"
RENNET = "rennet"


class Contender(Protocol):
    """One way to keep a result."""

    name: str

    def create(self) -> None:
        """Compute the result for the first time."""

    def refresh(self, changed: Changed) -> Sample:
        """Bring it up to date."""

    def result(self) -> DataFrame:
        """The result as it is now."""

    def close(self) -> None:
        """Give back what is not in the schema of the tables."""


@dataclass
class FullRecompute:
    """Spark runs the query again and overwrites a Delta table."""

    tables: Tables
    probe: Probe
    name: str = FULL

    @property
    def table(self) -> str:
        return f"{self.tables.schema}.kept_in_full"

    @property
    def query(self) -> str:
        return self.tables.shape.text(self.tables.names)

    def create(self) -> None:
        self.tables.spark.sql(f"CREATE TABLE {self.table} USING delta AS {self.query}")

    def refresh(self, changed: Changed) -> Sample:
        statement = f"INSERT OVERWRITE {self.table} {self.query}"
        return self.probe.measured(lambda: self.tables.spark.sql(statement))

    def result(self) -> DataFrame:
        return self.tables.spark.table(self.table)

    def close(self) -> None:
        """Nothing but tables."""


@dataclass
class HandWritten:
    """The statements an expert would write for this shape."""

    tables: Tables
    probe: Probe
    name: str = HAND
    temporary: set[str] = field(default_factory=set)
    """The views its statements read."""

    @property
    def table(self) -> str:
        return f"{self.tables.schema}.kept_by_hand"

    def create(self) -> None:
        shape, names = self.tables.shape, self.tables.names
        rows = (shape.hand.table or shape.query).format_map(names)
        dv = "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
        self.tables.spark.sql(f"CREATE TABLE {self.table} USING delta {dv} AS {rows}")

    def refresh(self, changed: Changed) -> Sample:
        return self.probe.measured(lambda: self._run(changed))

    def _run(self, changed: Changed) -> None:
        hand, spark = self.tables.shape.hand, self.tables.spark
        feeds = {f"changes_of_{source}": feed for source, feed in changed.feeds(self.tables.names).items()}
        for name, feed in feeds.items():
            # Analyzed on its own: in a query that also reads the table, table_changes(…) is the table.
            self._show(spark.sql(f"SELECT * FROM {feed}"), name)
        names = {**self.tables.names, **{name: name for name in feeds}, "target": self.table}
        fresh = spark.sql(hand.fresh.format_map(names)).cache() if hand.fresh else None
        if fresh is not None:
            self._show(fresh, "fresh")
        for statement in hand.statements:
            spark.sql(statement.format_map(names))
        if fresh is not None:
            fresh.unpersist()

    def _show(self, rows: DataFrame, name: str) -> None:
        self.temporary.add(name)
        rows.createOrReplaceTempView(name)

    def result(self) -> DataFrame:
        return self.tables.spark.sql(f"SELECT {self.tables.shape.hand.shown} FROM {self.table}")

    def close(self) -> None:
        """A session outlives the benchmark, and SHOW TABLES shows its temporary views in every schema."""
        for name in self.temporary:
            self.tables.spark.catalog.dropTempView(name)


@dataclass
class Rennet:
    """A materialized view, refreshed as rennet sees fit."""

    tables: Tables
    probe: Probe
    engine: Engine
    name: str = RENNET
    techniques: list[str] = field(default_factory=list)
    """What each refresh was."""

    @property
    def view(self) -> str:
        return f"{self.tables.schema}.kept_by_rennet"

    def create(self) -> None:
        self.engine.create_materialized_view(self.view, self.tables.shape.text(self.tables.names))

    def refresh(self, changed: Changed) -> Sample:
        return self.probe.measured(self._run)

    def _run(self) -> None:
        self.techniques.append(str(self.engine.refresh(self.view).technique))

    def result(self) -> DataFrame:
        return self.tables.spark.table(self.view)

    def close(self) -> None:
        self.engine.drop(self.view, if_exists=True)

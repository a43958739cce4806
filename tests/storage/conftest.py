"""Delta tables of their own for each test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest
from pyspark.sql import SparkSession


@dataclass
class Tables:
    """Fresh table names and paths; `make` creates a Delta table at a path of its own."""

    spark: SparkSession
    root: Path

    def fresh(self) -> tuple[str, str]:
        name = f"t{uuid4().hex[:12]}"
        return name, str(self.root / name)

    def make(self, columns: str, *properties: str, partitioned: str = "") -> tuple[str, str]:
        name, path = self.fresh()
        by = f"PARTITIONED BY ({partitioned})" if partitioned else ""
        given = ", ".join(f"'delta.{entry.split('=')[0]}' = '{entry.split('=')[1]}'" for entry in properties)
        having = f"TBLPROPERTIES ({given})" if given else ""
        self.spark.sql(f"CREATE TABLE {name} ({columns}) USING delta {by} LOCATION '{path}' {having}")
        return name, path


@pytest.fixture
def tables(spark: SparkSession, tmp_path: Path) -> Tables:
    return Tables(spark, tmp_path)


@contextmanager
def without_statistics(spark: SparkSession) -> Iterator[None]:
    """Files that are written inside say nothing about their rows, not even how many there are."""
    spark.conf.set("spark.databricks.delta.stats.collect", "false")
    try:
        yield
    finally:
        spark.conf.unset("spark.databricks.delta.stats.collect")

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest
from pyspark.sql import SparkSession

from rennet.jvm import Jvm
from rennet.session import session

SETTINGS = {
    # VACUUM lists with this many tasks: ten thousand unless told otherwise.
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",
    "spark.databricks.delta.retentionDurationCheck.enabled": "false",
    # Tables here are tiny: compiling a query takes longer than running it.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.sql.shuffle.partitions": "2",
}


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    warehouse = tmp_path_factory.mktemp("warehouse")
    # The same for the JVM's own compiler and collector: together they halve the time of the tests.
    os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    spark = session(warehouse=warehouse, cores=2, memory="2g", config=SETTINGS)
    yield spark
    spark.stop()


@pytest.fixture(scope="session")
def jvm(spark: SparkSession) -> Jvm:
    return Jvm.of(spark)


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

"""What tests of pipelines share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.pipelines.projects import Make, write


@pytest.fixture
def project(tmp_path: Path, spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[Make]:
    """Writes the files of a project in a schema named after the test."""
    name = "".join(c if c.isalnum() else "_" for c in request.node.name.replace("test_", "p_"))[:40].rstrip(
        "_"
    )

    def make(settings: dict[str, str] | None = None, **files: str) -> Path:
        return write(tmp_path, name, settings or {}, **files)

    spark.sql(f"CREATE SCHEMA {name}")
    yield make
    spark.sql(f"DROP SCHEMA {name} CASCADE")

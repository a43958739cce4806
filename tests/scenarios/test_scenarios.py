"""Every scenario file, under every technique that could maintain its views."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.scenarios.runner import Run, load

FILES = sorted(Path(__file__).parent.glob("*.ivm"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_scenario(spark: SparkSession, path: Path) -> None:
    Run(spark, load(path))()

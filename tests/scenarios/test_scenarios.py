"""Every scenario file, under every technique that could maintain its views."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.scenarios.runner import Run, load

HERE = Path(__file__).parent
FILES = sorted(HERE.glob("*.ivm"))
WIDE = sorted((HERE / "wide").glob("*.ivm"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_scenario(spark: SparkSession, path: Path) -> None:
    Run(spark, load(path))()


@pytest.mark.slow
@pytest.mark.parametrize("path", WIDE, ids=lambda path: path.stem)
def test_wide_scenario(spark: SparkSession, path: Path) -> None:
    Run(spark, load(path))()


@pytest.mark.slow
@pytest.mark.parametrize("path", [*FILES, *WIDE], ids=lambda path: path.stem)
def test_scenario_of_another_size(spark: SparkSession, path: Path) -> None:
    """Tables handled like large ones in the other tests are handled like tiny ones, and vice versa."""
    found = load(path)
    Run(spark, replace(found, large=not found.large))()

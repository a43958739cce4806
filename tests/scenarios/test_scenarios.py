"""Every scenario file, under every technique that could maintain its views."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rennet.execute import refresh
from tests.scenarios.runner import Run, load

HERE = Path(__file__).parent
LARGE = {"bounds"}
"""Scenarios of what is done to large tables only."""
FILES = sorted(path for path in HERE.glob("*.ivm") if path.stem not in LARGE)
WIDE = sorted((HERE / "wide").glob("*.ivm"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_scenario(spark: SparkSession, path: Path) -> None:
    Run(spark, load(path))()


@pytest.mark.parametrize("name", ["bounds", "narrowed"])
def test_scenario_with_files_skipped(spark: SparkSession, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The tables are small; here they are treated like large ones."""
    for threshold in ("TINY_WORK", "WORTH_KEY_RANGES"):
        monkeypatch.setattr(refresh, threshold, 0)
    Run(spark, load(HERE / f"{name}.ivm"))()


@pytest.mark.slow
@pytest.mark.parametrize("path", WIDE, ids=lambda path: path.stem)
def test_wide_scenario(spark: SparkSession, path: Path) -> None:
    Run(spark, load(path))()

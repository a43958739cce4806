"""Random queries on Spark: another seed every day."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rennet import Engine
from rennet.testing.fuzz.run import Options, run, seed_of_today
from rennet.testing.fuzz.settings import apart

CASES = 200
MINUTES = 10
"""A slow machine does fewer cases; the report says how many."""


@pytest.mark.slow
def test_random_queries(spark: SparkSession, tmp_path: Path) -> None:
    seed = seed_of_today()
    print(f"rennet fuzz --seed {seed} --cases {CASES}")
    report = run(Engine(apart(spark)), Options(seed, CASES, MINUTES, folder=tmp_path, shrink_seconds=60))
    print("\n".join(report.lines()))
    scenarios = "\n\n".join(path.read_text() for path in report.files)
    assert not report.failures, f"seed {seed}:\n" + "\n".join(map(str, report.failures)) + "\n" + scenarios
    unusable = sum(report.tally.invalid.values())
    assert unusable <= CASES * 0.02, report.tally.invalid

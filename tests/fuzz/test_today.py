"""Random queries, 200 of them, and others every day: the seed is the date, or what RENNET_FUZZ_SEED says."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cache
from itertools import islice

import pytest
from pyspark.sql import SparkSession

from rennet import Engine
from rennet.testing.fuzz.cases import TOGETHER, Batch, batches, coverage
from rennet.testing.fuzz.check import Checker
from rennet.testing.fuzz.outcome import Tally
from tests.conftest import FUZZ_SEED

QUERIES = 200
CHANGES = 2
"""Of each batch's three: what is missing for the third is left to `rennet fuzz`."""


@cache
def todays() -> list[Batch]:
    seed = int(os.environ[FUZZ_SEED])
    return list(islice(batches(seed, coverage(seed)), QUERIES // TOGETHER))


@pytest.mark.learning
@pytest.mark.parametrize("number", range(QUERIES // TOGETHER))
def test_random_queries(spark: SparkSession, number: int) -> None:
    batch = replace(todays()[number], changes=todays()[number].changes[:CHANGES])
    tally = Tally()
    failures = Checker(Engine(spark), threads=2).run(batch, tally, endings=False)
    repeated = [f"rennet fuzz --seed {batch.seed} --case {each.case.number}: {each}" for each in failures]
    assert not failures, "\n".join(repeated)
    assert tally.cases > TOGETHER / 2  # Spark ran most of them, so most were compared
    assert tally.checks > tally.cases

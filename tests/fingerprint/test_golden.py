"""Fingerprints as they were when they were first made: every line of the golden file must hold for ever.

`python -m tests.fingerprint.golden` appends definitions that are not in it yet. A line that changes means
that every view of that kind is recomputed on upgrade: make a new version of the fingerprint instead, and
keep the old one.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from rennet.fingerprint.canonical import VERSION
from rennet.jvm import Jvm
from tests.corpus.data import create

from .golden import GOLDEN, SCHEMA, ZONE, current, recorded


@pytest.fixture(scope="module")
def corpus(spark: SparkSession) -> Iterator[SparkSession]:
    before, zone = spark.catalog.currentDatabase(), spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", ZONE)
    create(spark, SCHEMA)
    yield spark
    spark.conf.set("spark.sql.session.timeZone", str(zone))
    spark.catalog.setCurrentDatabase(before)


def check(spark: SparkSession, known: dict[str, str]) -> None:
    found = current(Jvm.of(spark), known)
    assert {name: found[name] for name in known if found[name] != known[name]} == {}


def test_there_are_enough() -> None:
    assert len(recorded()) >= 360
    assert GOLDEN.name.endswith(f"v{VERSION}.txt")


def test_every_third(corpus: SparkSession) -> None:
    some = dict(list(recorded().items())[::3])
    assert len(some) >= 120
    check(corpus, some)


@pytest.mark.slow
def test_all(corpus: SparkSession) -> None:
    check(corpus, recorded())

"""Fingerprints as they were when they were first made: every line of the golden file must hold for ever.

`python -m tests.fingerprint.golden` appends definitions that are not in it yet. A line that changes means
that every view of that kind is recomputed on upgrade: make a new version of the fingerprint instead, and
keep the old one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from rennet.fingerprint.canonical import VERSION
from rennet.jvm import Jvm
from tests.corpus.data import create
from tests.corpus.sql import SQL

from .golden import GOLDEN, SCHEMA, ZONE, current, meaning, recorded


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


def stable_in_a_subquery(spark: SparkSession, names: Iterable[str]) -> None:
    """Catalyst's rules do not look into subqueries: what they would have replaced there is still in it."""
    jvm = Jvm.of(spark)
    for name in names:
        text = f"SELECT l.* FROM range(3) AS r CROSS JOIN LATERAL ({SQL[name]}) AS l"
        try:
            spark.sql(text)
        except AnalysisException:
            continue  # not a query that can stand there
        assert meaning(jvm, text) == meaning(jvm, text), name


def test_some_in_a_subquery(corpus: SparkSession) -> None:
    stable_in_a_subquery(corpus, list(SQL)[::15])


@pytest.mark.slow
def test_all_in_a_subquery(corpus: SparkSession) -> None:
    stable_in_a_subquery(corpus, SQL)


@pytest.mark.slow
def test_all(corpus: SparkSession) -> None:
    check(corpus, recorded())

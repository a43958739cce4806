"""Catalyst plan → rennet plan → DataFrame: same schema, same rows, for every query of the corpus.

The plan is read twice: as analyzed, and after normalization. Leaves are swapped for reads of the pinned
versions on the way back, so that nothing of the original plan can answer in their place.
"""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession

from rennet.execute.leaves import Leaves
from rennet.execute.planning import _sources
from rennet.jvm import JavaObject, Jvm
from rennet.normalize.rules import normalize
from rennet.plan.catalyst import read
from rennet.plan.dataframe import Writer
from rennet.storage.sources import pin
from tests.corpus.data import create
from tests.corpus.frames import FRAMES, PANDAS_FRAMES
from tests.corpus.registry import Frame
from tests.corpus.sql import SQL

EVERY: dict[str, Frame] = {
    **{name: lambda spark, text=text: spark.sql(text) for name, text in SQL.items()},  # type: ignore[misc]
    **FRAMES,
}


def in_ci(name: str) -> bool:
    """Every third query is run, not only written back; `./dev sweep` runs them all."""
    return list(EVERY).index(name) % 3 == 0


@pytest.fixture(scope="module")
def corpus(spark: SparkSession) -> SparkSession:
    before = spark.catalog.currentDatabase()
    create(spark, "corpus")
    yield spark
    spark.catalog.setCurrentDatabase(before)


def written(jvm: Jvm, plan: JavaObject) -> DataFrame:
    node = read(jvm, plan)
    now = {source.path: source for source in pin(jvm, _sources(node))}
    return Writer(jvm, Leaves(jvm, now, now, {})).dataframe(node)


def rows(frame: DataFrame) -> list[str]:
    return sorted(str(row) for row in frame.collect())


def check(jvm: Jvm, original: DataFrame, run: bool) -> None:
    """Both plans are written back and typed; only if `run` are their rows compared."""
    analyzed = jvm.analyzed(original)
    for plan in (analyzed, normalize(jvm, analyzed)):
        again = written(jvm, plan)
        assert again.schema.simpleString() == original.schema.simpleString()
    if run:
        assert rows(again) == rows(original)


def test_size() -> None:
    assert len(EVERY) >= 150
    assert sum(in_ci(name) for name in EVERY) >= 150


@pytest.mark.parametrize("name", EVERY)
def test_query(corpus: SparkSession, jvm: Jvm, name: str) -> None:
    check(jvm, EVERY[name](corpus), run=in_ci(name))


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY)
def test_query_rows(corpus: SparkSession, jvm: Jvm, name: str) -> None:
    check(jvm, EVERY[name](corpus), run=True)


@pytest.mark.parametrize("name", PANDAS_FRAMES)
def test_pandas(corpus: SparkSession, jvm: Jvm, name: str) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    check(jvm, PANDAS_FRAMES[name](corpus), run=True)

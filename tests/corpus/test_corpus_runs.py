"""Every query of the corpus runs on Spark, twice, with the same rows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import DataFrame, SparkSession

from rennet.session import session

from .data import create
from .frames import FRAMES, PANDAS_FRAMES
from .registry import Frame
from .sql import FAMILIES, SQL

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    running = session(warehouse=tmp_path_factory.mktemp("corpus"), cores=2, memory="2g")
    create(running, "corpus")
    yield running
    running.stop()


def bag(frame: DataFrame) -> tuple[str, list[str]]:
    return frame.schema.json(), sorted(str(row) for row in frame.collect())


def test_size() -> None:
    assert sum(len(family) for family in FAMILIES) == len(SQL), "two SQL queries share a name"
    assert len(SQL) >= 150
    assert len(FRAMES) >= 45


@pytest.mark.parametrize("name", SQL)
def test_sql(spark: SparkSession, name: str) -> None:
    assert bag(spark.sql(SQL[name])) == bag(spark.sql(SQL[name]))


@pytest.mark.parametrize("build", FRAMES.values(), ids=FRAMES.keys())
def test_frame(spark: SparkSession, build: Frame) -> None:
    assert bag(build(spark)) == bag(build(spark))


@pytest.mark.parametrize("build", PANDAS_FRAMES.values(), ids=PANDAS_FRAMES.keys())
def test_pandas_frame(spark: SparkSession, build: Frame) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    assert bag(build(spark)) == bag(build(spark))

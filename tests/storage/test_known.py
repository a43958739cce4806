"""Lists of files that Delta need not plan: what they give, and that they obey filters by partition."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from rennet.jvm import JavaObject, Jvm
from rennet.storage.known import known_files
from rennet.storage.sources import current, delta_log, listed_files, listed_index


@pytest.fixture
def index(spark: SparkSession, jvm: Jvm) -> Iterator[JavaObject]:
    """The files of a table with a file for each of three partitions."""
    spark.sql("CREATE TABLE known (k INT, v INT) USING delta PARTITIONED BY (k)")
    spark.sql("INSERT INTO known SELECT id % 3, id FROM range(0, 9, 1, 1)")
    path = str(spark.sql("DESCRIBE DETAIL known").first()["location"])
    log = delta_log(jvm, path)
    at = current(jvm, log)
    yield listed_index(jvm, log, log.dataPath(), at, listed_files(jvm, at))
    spark.sql("DROP TABLE known")


def test_all_files_are_given_as_they_are(jvm: Jvm, index: JavaObject) -> None:
    """The same list, not a copy that was planned: also to Delta, which asks for all with TRUE."""
    true = jvm.singleton("org.apache.spark.sql.catalyst.expressions.Literal").TrueLiteral()
    for filters in ([], [true]):
        assert index.matchingFiles(jvm.seq(filters), jvm.seq([])) == index.addFiles()
    assert index.addFiles().size() == 3


def test_filters_by_partition_are_obeyed(spark: SparkSession, jvm: Jvm, index: JavaObject) -> None:
    only = jvm.analyzed(spark.table("known").where("k = 1")).condition()
    (found,) = jvm.items(index.matchingFiles(jvm.seq([only]), jvm.seq([])))
    assert found.path().startswith("k=1")


def test_it_is_compiled_once(jvm: Jvm) -> None:
    assert known_files(jvm) is known_files(jvm.clone())

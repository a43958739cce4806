"""How many rows a version has, told without a job."""

from __future__ import annotations

from pyspark.sql import SparkSession

from rennet.jvm import Jvm
from rennet.storage.sources import current, delta_log, rows_held

from .conftest import Tables, without_statistics
from .test_transaction import no_jobs


def held(jvm: Jvm, path: str) -> int | None:
    return rows_held(jvm, current(jvm, delta_log(jvm, path)))


def test_marked_rows_do_not_count(spark: SparkSession, jvm: Jvm, tables: Tables) -> None:
    name, path = tables.make("id BIGINT", "enableDeletionVectors=true")
    spark.sql(f"INSERT INTO {name} SELECT id FROM range(0, 100, 1, 3)")
    spark.sql(f"DELETE FROM {name} WHERE id % 10 = 3")
    with no_jobs(spark):
        assert held(jvm, path) == 90


def test_nothing_is_said_where_a_file_has_no_statistics(
    spark: SparkSession, jvm: Jvm, tables: Tables
) -> None:
    name, path = tables.make("id BIGINT")
    assert held(jvm, path) == 0
    spark.sql(f"INSERT INTO {name} SELECT id FROM range(10)")
    with without_statistics(spark):
        spark.sql(f"INSERT INTO {name} SELECT id FROM range(10)")
    assert held(jvm, path) is None

"""Queries that mean the same have the same fingerprint, and no others."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from rennet.execute.planning import Query as Planned
from rennet.execute.planning import plan_query
from rennet.jvm import Jvm

from .different_pairs import DIFFERENT
from .pairs import EQUAL, SETUP, Query


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[SparkSession]:
    before = spark.catalog.currentDatabase()
    spark.sql("CREATE SCHEMA fp")
    spark.catalog.setCurrentDatabase("fp")
    for statement in SETUP:
        spark.sql(statement)
    yield spark
    spark.catalog.setCurrentDatabase(before)


def planned(spark: SparkSession, query: Query) -> Planned:
    frame = spark.sql(query) if isinstance(query, str) else query(spark)
    jvm = Jvm.of(spark)
    return plan_query(jvm, jvm.analyzed(frame), frame.schema)


def test_there_are_enough() -> None:
    assert len(EQUAL) >= 75 and len(DIFFERENT) >= 75


@pytest.mark.parametrize("name", EQUAL)
def test_equal(tables: SparkSession, name: str) -> None:
    before, now = (planned(tables, query) for query in EQUAL[name])
    assert now.meaning == before.meaning
    assert now.fingerprint == before.fingerprint


@pytest.mark.parametrize("name", DIFFERENT)
def test_different(tables: SparkSession, name: str) -> None:
    before, now = (planned(tables, query) for query in DIFFERENT[name])
    assert now.fingerprint != before.fingerprint

"""Schemas that tests work in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession


@contextmanager
def in_schema(spark: SparkSession, name: str) -> Iterator[None]:
    """A new schema of that name is the current one."""
    spark.sql(f"DROP SCHEMA IF EXISTS {name} CASCADE")
    spark.sql(f"CREATE SCHEMA {name}")
    spark.catalog.setCurrentDatabase(name)
    yield
    spark.catalog.setCurrentDatabase("default")

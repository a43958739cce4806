"""What a table of the three businesses is, and helpers to fill one with the same rows every time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any, TypeVar

from pyspark.sql import SparkSession

T = TypeVar("T")
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Table:
    """Columns as in CREATE TABLE, and the rows."""

    columns: str
    rows: Sequence[Row]


def create(spark: SparkSession, tables: dict[str, Table]) -> None:
    """Write the tables into the current schema, with deletion vectors in every second one."""
    for number, (name, table) in enumerate(tables.items()):
        frame = spark.createDataFrame(list(table.rows), table.columns).coalesce(1)
        vectors = str(number % 2 == 0).lower()
        frame.write.format("delta").option("delta.enableDeletionVectors", vectors).saveAsTable(name)


class Dice(Random):
    """Random, with what tables need: mostly values, sometimes NULL; money, days and moments."""

    def maybe(self, value: T, chance: float = 0.1) -> T | None:
        """The value, or NULL with that chance."""
        return None if self.random() < chance else value

    def skewed(self, count: int) -> int:
        """1 to `count`, small numbers much more often."""
        return min(int(self.expovariate(3.0 / count)) + 1, count)

    def money(self, low: int, high: int) -> Decimal:
        """An amount with cents."""
        return Decimal(self.randint(low * 100, high * 100)) / 100

    def day(self, first: date, last: date) -> date:
        """A day of the span, both ends included."""
        return first + timedelta(days=self.randint(0, (last - first).days))

    def moment(self, first: date, last: date) -> datetime:
        """A minute of the span."""
        day = self.day(first, last)
        return datetime(day.year, day.month, day.day, self.randint(6, 22), self.randint(0, 59))

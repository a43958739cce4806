"""Every analyst's question is a view that stays right, and incremental, while its business goes on."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from pyspark.sql import SparkSession

from rennet import Engine, Technique
from rennet.errors import Policy
from tests.analytics.businesses import BUSINESSES, Business
from tests.analytics.tables import create
from tests.scenarios.runner import bag, same

PARTS = 5
"""The tests of one day run one of so many parts; in as many days, all."""

RECOMPUTED: dict[str, str] = {}
"""The few queries that are computed in full at every refresh, and why that is so."""


def part_of(business: Business, number: int) -> dict[str, str]:
    """Every fifth query, from one on."""
    names = list(business.queries)[number::PARTS]
    return {name: business.queries[name] for name in names}


def today() -> date:
    return datetime.now(UTC).date()


class Watch:
    """A business, the views on it, and all that was found wrong with them."""

    def __init__(self, spark: SparkSession, business: Business, queries: dict[str, str]) -> None:
        self.spark = spark
        self.engine = Engine(spark)
        self.business = business
        self.queries = queries
        self.faults: list[str] = []

    def __call__(self) -> list[str]:
        """Create the views, let things happen, refresh and compare after each."""
        before = self.spark.catalog.currentDatabase()
        schema = f"a_{self.business.name}"
        self.spark.sql(f"DROP SCHEMA IF EXISTS {schema} CASCADE")
        self.spark.sql(f"CREATE SCHEMA {schema}")
        self.spark.catalog.setCurrentDatabase(schema)
        try:
            self._steps()
        finally:
            self.spark.catalog.setCurrentDatabase(before)
        return self.faults

    def _steps(self) -> None:
        create(self.spark, self.business.tables())
        for name, query in self.queries.items():
            self.engine.create_materialized_view(f"{name}__view", query, policy=Policy.INCREMENTAL)
        for title, statements in self.business.changes.items():
            for statement in statements:
                self.spark.sql(statement)
            for name in self.queries:
                self._refresh(name, title)
                self._compare(name, title)

    def _refresh(self, name: str, title: str) -> None:
        """In policy INCREMENTAL, for which no change of so small a table is too large to trace."""
        result = self.engine.refresh(f"{name}__view")
        full = result.technique is Technique.COMPLETE_RECOMPUTE
        if full and name not in RECOMPUTED:
            self.faults.append(f"{name} after {title} was recomputed: {result.reason}")
        elif not full and name in RECOMPUTED:
            self.faults.append(f"{name} after {title} was refreshed by {result.technique}: strike it off the list")

    def _compare(self, name: str, title: str) -> None:
        try:
            wanted = bag(self.spark.sql(self.queries[name]))
            same(bag(self.spark.table(f"{name}__view")), wanted, f"{name} after {title}")
        except AssertionError as difference:
            self.faults.append(str(difference))


@pytest.mark.parametrize("business", BUSINESSES.values(), ids=lambda business: business.name)
def test_part_of_the_day(spark: SparkSession, business: Business) -> None:
    number = today().toordinal() % PARTS
    faults = Watch(spark, business, part_of(business, number))()
    assert not faults, f"part {number}:\n" + "\n".join(faults)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(PARTS))
@pytest.mark.parametrize("business", BUSINESSES.values(), ids=lambda business: business.name)
def test_all(spark: SparkSession, business: Business, number: int) -> None:
    faults = Watch(spark, business, part_of(business, number))()
    assert not faults, "\n".join(faults)


def test_enough_questions_are_asked() -> None:
    assert sum(len(business.queries) for business in BUSINESSES.values()) >= 150
    assert len(RECOMPUTED) <= 3

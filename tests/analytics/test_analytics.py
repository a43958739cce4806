"""Every analyst's question is a view that stays right, and incremental, while its business goes on."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from pyspark.sql import SparkSession

from rennet import Engine, Technique
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
        techniques = {name: self._create(name) for name in self.queries}
        for title, statements in self.business.changes.items():
            for statement in statements:
                self.spark.sql(statement)
            for name, technique in techniques.items():
                self._refresh(name, technique, title)
                self._compare(name, title)

    def _create(self, name: str) -> Technique:
        """Make the view; the technique to force is the first that any change of the sources allows."""
        found = self.engine.explain(self.queries[name])
        usable = [Technique(t["technique"]) for t in found.techniques if t["applicable"]]
        technique = next((t for t in usable if t is not Technique.COMPLETE_RECOMPUTE), usable[0])
        full = technique is Technique.COMPLETE_RECOMPUTE
        if full and name not in RECOMPUTED:
            self.faults.append(f"{name} is not incremental: {found.reason}")
        if not full and name in RECOMPUTED:
            self.faults.append(f"{name} is incremental after all: strike it off the list")
        self.engine.create_materialized_view(f"{name}__view", self.queries[name])
        self._compare(name, "creation")
        return technique

    def _refresh(self, name: str, technique: Technique, title: str) -> None:
        planned = self.engine.explain(f"{name}__view")
        if planned.technique == Technique.NO_OP:
            self.engine.refresh(f"{name}__view")
            return
        result = self.engine.refresh(f"{name}__view", technique=technique)
        if result.technique is not technique:
            self.faults.append(f"{name} after {title}: {result.technique}, {result.reason}")

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

"""Rows that go are found by their hash alone, where that tells them apart, and by all they hold where not."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from rennet import Engine
from rennet.enable import layout
from rennet.errors import Technique
from rennet.plan.expressions import Alias, alias, literal
from rennet.plan.ir import Node
from tests.schemas import in_schema

CHANGES = (
    "UPDATE t SET v = v + 100 WHERE k % 10 = 3",
    "DELETE FROM t WHERE k % 10 = 4",
    "UPDATE t SET v = v - 100 WHERE k % 10 = 3",
)


@pytest.fixture
def engine(spark: SparkSession) -> Iterator[Engine]:
    with in_schema(spark, "hashes"):
        spark.sql("CREATE TABLE t (k INT, v INT, x INT) USING delta")
        spark.sql("INSERT INTO t SELECT id, id % 7, id FROM range(500)")
        yield Engine(spark)


def repeats(engine: Engine, query: str) -> list[bool]:
    """What is noted of a view's rows after each change; its rows are checked each time."""
    engine.create_materialized_view("w", query)
    noted = []
    for change in CHANGES:
        engine.spark.sql(change)
        assert engine.refresh("w", technique=Technique.ROW_BASED).rows_deleted == 50
        assert engine.verify("w")
        provenance = engine.find("w").provenance
        assert provenance is not None
        noted.append(provenance.repeats)
    return noted


def test_different_rows_are_told_by_their_hashes(engine: Engine) -> None:
    assert repeats(engine, "SELECT k, v + 1 AS w FROM t") == [False, False, False]


def test_of_equal_rows_as_many_go_as_were_lost(engine: Engine) -> None:
    assert repeats(engine, "SELECT v + 1 AS w FROM t") == [True, True, True]


def test_another_row_of_the_same_hash_stays(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def same_for_all(plan: Node) -> Alias:
        return alias(literal(7, "bigint"), layout.CONTENT)

    monkeypatch.setattr(layout, "_content", same_for_all)
    assert repeats(engine, "SELECT k, v + 1 AS w FROM t") == [True, True, True]


def test_a_full_recompute_lets_hashes_try_again(engine: Engine) -> None:
    assert repeats(engine, "SELECT v + 1 AS w FROM t")[-1]
    engine.spark.sql("DELETE FROM t WHERE k >= 7")
    engine.refresh("w", full=True)
    engine.spark.sql("DELETE FROM t WHERE k = 1")
    engine.refresh("w", technique=Technique.ROW_BASED)
    provenance = engine.find("w").provenance
    assert provenance is not None
    assert not provenance.repeats
    assert engine.verify("w")


def test_a_row_that_is_missing_is_not_made_up_for_by_another_of_two(engine: Engine) -> None:
    """As a whole there are as many stored rows with the hashes of lost ones as rows were lost."""
    engine.spark.sql("INSERT INTO t VALUES (7, 0, 1000), (900, 1, 900)")
    engine.create_materialized_view("w", "SELECT k, v + 1 AS w FROM t")  # k = 7 is there twice
    engine.spark.sql(
        f"DELETE FROM {engine.find('w').backing.sql} WHERE k = 900"
    )  # nobody should, but who knows
    engine.spark.sql("DELETE FROM t WHERE x >= 900")
    result = engine.refresh("w")
    assert "retract 2 stored rows but only 1 were found" in result.reason
    assert engine.verify("w")

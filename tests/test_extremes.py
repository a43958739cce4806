"""MIN and MAX: groups are looked up in the sources only if they may have lost an extreme."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from pyspark.sql import SparkSession

from rennet import Engine
from rennet.errors import Technique
from rennet.execute import apply
from rennet.plan.ir import Node, union
from tests.schemas import in_schema

QUERY = "SELECT k, MIN(v) AS least, MAX(w * 2) AS most, SUM(v) AS total, MAX(d) AS far FROM t GROUP BY k"


@pytest.fixture
def engine(spark: SparkSession) -> Iterator[Engine]:
    with in_schema(spark, "extremes"):
        spark.sql("CREATE TABLE t (id INT, k INT, v INT, w INT, d DOUBLE, s STRING) USING delta")
        spark.sql(
            "INSERT INTO t SELECT id, id % 5, id, 1000 - id, IF(id = 7, -0.0, NULL), 'a' FROM range(60)"
        )
        engine = Engine(spark)
        engine.create_materialized_view("m", QUERY)
        yield engine


CASES = {
    "another column": ("UPDATE t SET s = 'b'", False),
    "a summed column": ("UPDATE t SET w = w - 5, v = v + 100 WHERE v BETWEEN 20 AND 30", False),
    "the extreme's row, by one as good": ("UPDATE t SET id = id + 1000 WHERE v < 5", False),
    "a better one": ("UPDATE t SET v = v - 1000 WHERE v < 5", False),
    "one that was not the extreme": ("DELETE FROM t WHERE v BETWEEN 20 AND 30", False),
    "the extreme": ("DELETE FROM t WHERE v = 2", True),
    "a worse one": ("UPDATE t SET v = v + 1 WHERE v < 5", True),
    "the sign of zero": ("UPDATE t SET d = 0.0 WHERE d IS NOT NULL", False),
    "the last value": ("UPDATE t SET d = NULL WHERE d IS NOT NULL", True),
}


@pytest.mark.parametrize("case", CASES)
def test_groups_are_looked_up_if_an_extreme_is_gone(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    looked_up: list[int] = []

    def seen(children: Sequence[Node]) -> Node:
        looked_up.append(len(children))
        return union(children)

    monkeypatch.setattr(apply, "union", seen)
    change, expected = CASES[case]
    engine.spark.sql(change)
    assert engine.refresh("m", technique=Technique.GROUP_AGGREGATE)
    assert bool(looked_up) is expected
    assert engine.verify("m")


def test_what_came_and_went_between_two_refreshes_is_not_there(engine: Engine) -> None:
    engine.spark.sql("INSERT INTO t VALUES (70, 1, 1, 2000, 5.0, 'a')")
    engine.spark.sql("DELETE FROM t WHERE v = 1")
    engine.refresh("m", technique=Technique.GROUP_AGGREGATE)
    assert engine.verify("m")

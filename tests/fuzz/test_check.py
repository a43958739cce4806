"""The checker on Spark: it passes what is right, and notices what an engine may do wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pyspark.sql import SparkSession

from rennet import Engine, Technique
from rennet.execute.record import RefreshResult
from rennet.testing.fuzz.cases import Batch, Case
from rennet.testing.fuzz.changes import Change
from rennet.testing.fuzz.check import Checker
from rennet.testing.fuzz.outcome import Kind, Tally
from rennet.testing.fuzz.tables import Table
from rennet.testing.fuzz.tree import Column, Item, Relation

COLUMNS = (Column("id", "int"), Column("k", "int"))
TABLE = Table("t0", COLUMNS, ("BIGINT", "INT"), (("1", "1"), ("2", "1"), ("3", "NULL")))
SCAN = Relation(
    "table",
    "SELECT {i0} FROM t0",
    (Item(Column("c1", "int"), ("id",)), Item(Column("c2", "int"), ("k",))),
    reads="t0",
)
COUNTED = Relation(
    "aggregate",
    "SELECT {i0} FROM {r0} AS s GROUP BY c2",
    (Item(COLUMNS[1], ("c2",)), Item(Column("c3", "int"), ("count(*)",))),
    (SCAN,),
)
BATCH = Batch(
    1,
    (TABLE,),
    (),
    (Change("insert", ("INSERT INTO t0 VALUES (4, 2), (5, 1)",)),),
    (Case(0, SCAN), Case(1, COUNTED)),
)


def test_what_is_right_passes(spark: SparkSession) -> None:
    tally = Tally()
    assert Checker(Engine(spark), fixed="AUTO").run(BATCH, tally) == []
    assert tally.cases == tally.incremental == 2
    assert tally.techniques == {"APPEND_ONLY": 1, "GROUP_AGGREGATE": 2, "ROW_BASED": 1, "NO_OP": 2}


class Forgetful(Engine):
    """Says that nothing changed."""

    def refresh(self, name: str, *_: Any, **__: Any) -> RefreshResult:
        done = super().refresh(name, full=True)
        return replace(done, technique=Technique.NO_OP, version=None, jobs=0)


class Careless(Engine):
    """Loses a row on the way."""

    def refresh(self, name: str, *arguments: Any, **settings: Any) -> RefreshResult:
        done = super().refresh(name, *arguments, **settings)
        self.spark.sql(f"DELETE FROM {self.find(name).backing.sql} WHERE k = 2")
        return done


@pytest.mark.parametrize("engine", [Forgetful, Careless])
def test_what_is_wrong_is_noticed(spark: SparkSession, engine: type[Engine]) -> None:
    batch = replace(BATCH, cases=BATCH.cases[1:])
    (failure,) = Checker(engine(spark), fixed="AUTO").run(batch)
    assert failure.kind is Kind.WRONG_ROWS
    assert failure.title == "insert"
    assert "(2, 1)" in failure.message.partition("missing")[2]

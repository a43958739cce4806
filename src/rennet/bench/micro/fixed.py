"""`rennet bench fixed`: what a refresh of a small view takes, next to a plain append of one row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pyspark.sql import SparkSession

from rennet.api import Engine
from rennet.bench.micro.measure import Probe, Said, Sample
from rennet.bench.micro.summary import figure, medians, ratio, whole
from rennet.bench.micro.tables import PROPERTIES
from rennet.jvm import Jvm

SCHEMA = "bench_fixed"
ROWS = 1_000
REPEAT = 15
WARM_UP = 5
APPEND = "append"
COLUMNS = "id, CAST(id % 50 AS INT) AS customer, CAST(id AS DECIMAL(12,2)) AS amount"


@dataclass(frozen=True)
class Case:
    """Something that happens to a table of a few rows, and what is measured then."""

    name: str
    about: str
    query: str = ""
    change: str = ""

    @property
    def table(self) -> str:
        return f"{SCHEMA}.{self.name}_source"

    @property
    def view(self) -> str:
        return f"{SCHEMA}.{self.name}"


CASES = (
    Case(APPEND, "a plain append of one row, by Spark"),
    Case(
        "aggregate",
        "SUM and COUNT by 50 groups; one row is updated",
        "SELECT customer, SUM(amount) AS total, COUNT(*) AS orders FROM {table} GROUP BY customer",
        "UPDATE {table} SET amount = amount + 1 WHERE id = {turn}",
    ),
    Case(
        "projection",
        "every row; one is updated",
        "SELECT id, customer, amount * 2 AS doubled FROM {table}",
        "UPDATE {table} SET amount = amount + 1 WHERE id = {turn}",
    ),
    Case(
        "append_only",
        "the rows a filter lets through; one is added",
        "SELECT id, customer, amount FROM {table} WHERE amount >= 0",
        f"INSERT INTO {{table}} SELECT {COLUMNS} FROM range({ROWS} + {{turn}}, {ROWS} + {{turn}} + 1, 1, 1)",
    ),
    Case(
        "no_change",
        "SUM by 50 groups; nothing happens",
        "SELECT customer, SUM(amount) AS total FROM {table} GROUP BY customer",
    ),
)


@dataclass
class Taken:
    """The samples of one case."""

    case: str
    about: str
    samples: list[Sample]
    equal: bool = True

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "median": medians(self.samples)}


def run(spark: SparkSession, say: Said, repeat: int = REPEAT, warm_up: int = WARM_UP) -> list[Taken]:
    """All cases, round by round, a different one first each time."""
    engine = Engine(spark)
    probe = Probe(Jvm.of(spark))
    taken = {case.name: Taken(case.name, case.about, []) for case in CASES}
    spark.sql(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
    spark.sql(f"CREATE SCHEMA {SCHEMA}")
    try:
        for case in CASES:
            say(f"making {case.name}")
            _create(spark, engine, case)
        for turn in range(warm_up + repeat):
            say(f"round {turn + 1} of {warm_up + repeat}")
            for place in range(len(CASES)):
                case = CASES[(place + turn) % len(CASES)]
                sample = _sample(spark, engine, probe, case, turn)
                if turn >= warm_up:
                    taken[case.name].samples.append(sample)
        for case in CASES:
            taken[case.name].equal = not case.query or engine.verify(case.view).equal
    finally:
        for case in CASES:
            engine.drop(case.view, if_exists=True)
        spark.sql(f"DROP SCHEMA {SCHEMA} CASCADE")
    return list(taken.values())


def _create(spark: SparkSession, engine: Engine, case: Case) -> None:
    rows = f"SELECT {COLUMNS} FROM range(0, {ROWS}, 1, 1)"
    spark.sql(f"CREATE TABLE {case.table} USING delta TBLPROPERTIES ({PROPERTIES}) AS {rows}")
    if case.query:
        engine.create_materialized_view(case.view, case.query.format(table=case.table))


def _sample(spark: SparkSession, engine: Engine, probe: Probe, case: Case, turn: int) -> Sample:
    if not case.query:
        values = f"VALUES ({ROWS + turn}, {turn % 50}, {turn}.00)"
        return probe.measured(lambda: spark.sql(f"INSERT INTO {case.table} {values}"))
    if case.change:
        spark.sql(case.change.format(table=case.table, turn=turn))
    return probe.measured(lambda: engine.refresh(case.view))


def table(taken: Sequence[Taken]) -> list[dict[str, Any]]:
    """A row for each case: medians, and how they compare with the plain append."""
    plain = medians(next(each for each in taken if each.case == APPEND).samples)
    rows = []
    for each in taken:
        own = medians(each.samples)
        rows.append(
            {
                "case": each.case,
                "about": each.about,
                "wall s": figure(own["wall_seconds"]),
                "CPU s": figure(own["cpu_seconds"]),
                "jobs": whole(own["jobs"]),
                "to append": figure(ratio(own["wall_seconds"], plain["wall_seconds"])),
                "equal": "yes" if each.equal else "NO",
            }
        )
    return rows

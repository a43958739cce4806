"""Windows over two years of days: what a refresh reads and writes when one more day is appended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from typing import Any

from pyspark.sql import SparkSession

from rennet.api import Engine
from rennet.jvm import Jvm

FIRST = date(2022, 1, 1)
DAYS = 730
OVER = "OVER (PARTITION BY key ORDER BY day"
YEAR = "RANGE BETWEEN INTERVAL 364 DAYS PRECEDING AND CURRENT ROW"
VIEWS = {
    "moving year": f"SELECT key, day, SUM(amount) {OVER} {YEAR}) AS total FROM {{table}}",
    "moving year by number": (
        f"SELECT key, number, SUM(amount) {OVER.replace('day', 'number')} RANGE BETWEEN 9999 PRECEDING "
        "AND CURRENT ROW) AS total FROM (SELECT key, amount, "
        "YEAR(day) * 10000 + MONTH(day) * 100 + DAY(day) AS number FROM {table})"
    ),
    "running total": f"SELECT key, day, SUM(amount) {OVER}) AS total FROM {{table}}",
}


def run(spark: SparkSession, keys: int, schema: str = "rennet_bench") -> Iterator[dict[str, Any]]:
    """One row for each view: rows read by its query and by the refresh after a day was appended."""
    spark.sql(f"CREATE SCHEMA IF NOT EXISTS {schema}")
    for number, (title, query) in enumerate(VIEWS.items()):
        yield _measured(spark, title, query, f"{schema}.days_{number}", f"{schema}.view_{number}", keys)


def _measured(
    spark: SparkSession, title: str, query: str, table: str, view: str, keys: int
) -> dict[str, Any]:
    engine = Engine(spark)
    engine.sql(f"DROP MATERIALIZED VIEW IF EXISTS {view}")
    _fill(spark, table, keys)
    text = query.replace("{table}", table)
    engine.sql(f"CREATE MATERIALIZED VIEW {view} AS {text}")
    _append(spark, table, keys, DAYS, DAYS + 1)
    name = table.rpartition(".")[2]
    with scanning(spark) as full:
        spark.sql(text).write.format("noop").mode("overwrite").save()
    with scanning(spark) as refresh:
        result = engine.refresh(view)
    agrees = engine.verify(view).equal
    total, read = full[name], refresh[name]
    return {
        "view": title,
        "technique": str(result.technique),
        "full query reads": total,
        "refresh reads": read,
        "share": round(read / total, 3),
        "of the view": refresh.total() - read,
        "inserted": result.rows_inserted,
        "deleted": result.rows_deleted,
        "seconds": round(result.wall_seconds, 2),
        "verified": agrees,
    }


def _fill(spark: SparkSession, table: str, keys: int) -> None:
    spark.sql(f"DROP TABLE IF EXISTS {table}")
    spark.sql(f"CREATE TABLE {table} (key INT, day DATE, amount DECIMAL(12,2)) USING delta")
    for start in range(0, DAYS, 30):
        _append(spark, table, keys, start, min(start + 30, DAYS))


def _append(spark: SparkSession, table: str, keys: int, start: int, end: int) -> None:
    first = FIRST + timedelta(days=start)
    spark.sql(
        f"INSERT INTO {table} SELECT /*+ COALESCE(1) */ CAST(k.id AS INT), "
        f"DATE_ADD(DATE'{first}', CAST(d.id AS INT)), CAST((k.id * 7 + d.id * 13) % 1000 AS DECIMAL(12,2)) "
        f"FROM range({end - start}) d CROSS JOIN range({keys}) k"
    )


@contextmanager
def scanning(spark: SparkSession) -> Iterator[Counter[str]]:
    """Counts, by table, the rows that Spark's scans of files put out while the block runs."""
    found: Counter[str] = Counter()
    jvm = Jvm.of(spark)
    context = jvm.session.sparkContext()
    store = jvm.session.sharedState().statusStore()
    context.listenerBus().waitUntilEmpty()
    before = max(_executions(jvm, store, 1), default=-1)
    yield found
    context.listenerBus().waitUntilEmpty()
    for number in _executions_after(jvm, store, before):
        metrics = store.executionMetrics(number)
        seen: set[int] = set()
        for node in jvm.items(store.planGraph(number).allNodes()):
            if node.name().startswith("Scan parquet"):
                _count(jvm, found, node, metrics, seen)


def _executions(jvm: Jvm, store: Any, last: int) -> list[int]:
    """The numbers of the last executions that Spark remembers, in order."""
    known = int(store.executionsCount())
    wanted = min(last, known)
    return [each.executionId() for each in jvm.items(store.executionsList(known - wanted, wanted))]


def _executions_after(jvm: Jvm, store: Any, before: int) -> list[int]:
    """The numbers above one, found without looking at all the executions of a long session."""
    wanted = 100
    while True:
        found = _executions(jvm, store, wanted)
        if len(found) < wanted or found[0] <= before:
            return [number for number in found if number > before]
        wanted *= 2


def _count(jvm: Jvm, found: Counter[str], node: Any, metrics: Any, seen: set[int]) -> None:
    """Rows that are kept in memory are drawn with their scan wherever they are used: it counts once."""
    name = node.name().split()[-1].rpartition(".")[2]
    for metric in jvm.items(node.metrics()):
        number = int(metric.accumulatorId())
        value = metrics.get(number)
        if metric.name() == "number of output rows" and value.isDefined() and number not in seen:
            seen.add(number)
            found[name] += int(value.get().replace(",", ""))

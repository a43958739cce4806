"""Measure what each kind of work costs on this machine: the rates the cost model starts from."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from rennet.cost.operators import Kind
from rennet.cost.rates import shipped
from rennet.cost.sizes import width
from rennet.execute.metrics import Meter
from rennet.jvm import Jvm
from rennet.plan.expressions import Attribute

REPEATS = 3
LEAST = 1e-10
"""A rate is never nothing, however the noise falls."""


@dataclass(frozen=True)
class Measure:
    """A query that does the work, one that does all but the work, and how many units lie between."""

    kind: Kind
    units: float
    work: Callable[[], object]
    rest: Callable[[], object] | None = None


def calibrate(jvm: Jvm, rows: int) -> dict[Kind, float]:
    """CPU seconds for a unit of every kind of work."""
    rates = shipped()  # what cannot be measured here keeps the rate that was shipped
    with tempfile.TemporaryDirectory(prefix="rennet-calibrate-") as folder:
        for measure in _measures(jvm.spark, rows, Path(folder)):
            spent = _spent(jvm, measure.work) - (_spent(jvm, measure.rest) if measure.rest else 0.0)
            rates[measure.kind] = max(LEAST, spent / measure.units)
    return rates


def _spent(jvm: Jvm, action: Callable[[], object]) -> float:
    """The least CPU time of several runs: whatever else the machine does only adds to it."""
    action()
    found = []
    for _ in range(REPEATS):
        meter = Meter(jvm, "rennet calibrate")
        with meter.running():
            action()
        found.append(meter.read().cpu_seconds)
    return min(found)


def _measures(spark: SparkSession, rows: int, folder: Path) -> Iterator[Measure]:
    """One measure for each kind, in the units that `Kind` counts in."""
    numbers = spark.range(rows).select(
        F.col("id"), F.pmod(F.hash("id"), F.lit(1000)).alias("few"), F.hash("id", F.lit(1)).alias("many"),
        F.rand(1).alias("amount"),
    )  # fmt: skip
    row_bytes = width(tuple(Attribute(c, type=t, id=i) for i, (c, t) in enumerate(numbers.dtypes)))
    stored, copy = folder / "stored", folder / "copy"
    numbers.write.parquet(str(stored))
    table = spark.read.parquet(str(stored))
    size = sum(file.stat().st_size for file in stored.glob("*.parquet"))
    plain = _discard(numbers)
    yield Measure(Kind.SCAN, size, _discard(table))
    computed = numbers.select(*(F.expr(f"(amount * {i} + few) / (many + {i})") for i in range(1, 9)))
    yield Measure(Kind.ROWS, rows * 9, _discard(computed), plain)
    small = spark.range(rows // 10).toDF("key")
    keyed = numbers.withColumn("key", F.pmod("many", F.lit(rows // 10)))
    joined = keyed.join(F.broadcast(small), "key")
    yield Measure(Kind.BROADCAST_JOIN, 2.1 * rows, _summed(joined), _summed(keyed))
    other = numbers.select(F.col("id").alias("key"), F.col("many").alias("value"))
    shuffled = _discard(numbers.repartition("id"))
    merged = numbers.hint("merge").join(other, numbers["id"] == other["key"])
    yield Measure(Kind.SHUFFLE, rows * row_bytes, shuffled, plain)
    shuffles = numbers.repartition("id").unionByName(numbers.repartition("id"))
    yield Measure(Kind.SHUFFLE_JOIN, 3 * rows, _discard(merged), _discard(shuffles))
    side = spark.range(rows // 1000).toDF("x")
    pairs = side.crossJoin(spark.range(1000).toDF("y")).where("x * 7 % 1013 < y - 990")
    yield Measure(Kind.NESTED_JOIN, rows // 1000 * 1000, _discard(pairs))
    pairs_of = numbers.select(F.pmod("many", F.lit(rows // 40)).alias("id"), "amount")
    sums = pairs_of.groupBy("id").agg(F.sum("amount").alias("amount"))
    yield Measure(Kind.AGGREGATE, rows, _summed(sums), _summed(pairs_of))
    ranked = numbers.selectExpr("*", "row_number() OVER (PARTITION BY few ORDER BY amount) AS place")
    yield Measure(Kind.WINDOW, rows, _discard(ranked), _discard(numbers.repartition("few")))
    yield Measure(Kind.WRITE, rows * 4, lambda: numbers.write.mode("overwrite").parquet(str(copy)), plain)
    yield Measure(Kind.COMMIT, 10, lambda: [spark.range(10).repartition(1).count() for _ in range(10)])
    yield from _python(numbers, rows)


def _python(numbers: DataFrame, rows: int) -> Iterator[Measure]:
    if find_spec("pandas") is None:
        return
    few = numbers.limit(rows // 20)
    mapped = few.groupBy("few").applyInPandas(lambda group: group, few.schema)
    yield Measure(Kind.PYTHON, rows // 20, _discard(mapped), _discard(few.repartition("few")))


def _summed(frame: DataFrame) -> Callable[[], object]:
    """Compute every row and add them up, which costs less than handing them over."""
    sums = frame.agg(*(F.sum(F.col(name).cast("double")) for name in frame.columns))
    return _discard(sums)


def _discard(frame: DataFrame) -> Callable[[], object]:
    """Compute every row and keep none."""
    return lambda: frame.write.format("noop").mode("overwrite").save()

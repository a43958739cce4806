"""`rennet bench micro`: the same change, refreshed by four contenders side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from rennet.api import Engine
from rennet.bench.micro.contenders import (
    DUCKDB,
    FULL,
    HAND,
    OTHERS,
    RENNET,
    Contender,
    FullRecompute,
    HandWritten,
    Rennet,
)
from rennet.bench.micro.duck import DuckDb
from rennet.bench.micro.measure import Probe, Said
from rennet.bench.micro.shape import CHANGES, Shape
from rennet.bench.micro.summary import Measured
from rennet.bench.micro.tables import Tables
from rennet.execute.verify import compare
from rennet.jvm import Jvm

REPEAT = 5
WARM_UP = 1
OWNER = "__owner"


@dataclass(frozen=True)
class Settings:
    """How much, and how often."""

    rows: int | None = None
    """Rows of each shape's main table; None for the shape's own number."""
    changes: int = CHANGES
    repeat: int = REPEAT
    warm_up: int = WARM_UP
    """Rounds before those that count: the first of anything is slower on a JVM."""
    against: Sequence[str] = OTHERS
    """What rennet is held against; the full recompute takes part always: it is what results must equal."""


def run(
    spark: SparkSession, shapes: Sequence[Shape], settings: Settings, folder: Path, say: Said
) -> Iterator[Measured]:
    """Measure one shape after the other."""
    for shape in shapes:
        yield measure(spark, shape, settings, folder / shape.name, say)


def measure(spark: SparkSession, shape: Shape, settings: Settings, folder: Path, say: Said) -> Measured:
    """One shape: make its tables, then change and refresh, round by round; compare at the end."""
    rows = settings.rows or shape.rows
    tables = Tables(spark, shape, rows, f"bench_{shape.name}")
    tables.drop()
    say(f"{shape.name}: making {rows:,} rows")
    tables.create()
    probe = Probe(Jvm.of(spark))
    make: dict[str, Callable[[], Contender]] = {
        FULL: lambda: FullRecompute(tables, probe),
        HAND: lambda: HandWritten(tables, probe),
        DUCKDB: lambda: DuckDb(tables, folder),
        RENNET: lambda: Rennet(tables, probe, Engine(spark)),
    }
    found = [make[name]() for name in make if name in (FULL, RENNET, *settings.against)]
    measured = Measured(shape.name, shape.about, rows, settings.changes)
    measured.samples = {contender.name: [] for contender in found}
    try:
        for contender in found:
            say(f"{shape.name}: first result of {contender.name}")
            contender.create()
        for turn in range(settings.warm_up + settings.repeat):
            say(f"{shape.name}: round {turn + 1} of {settings.warm_up + settings.repeat}")
            _round(tables, found, settings, turn, measured)
        say(f"{shape.name}: comparing the results")
        _compare(found, measured)
    finally:
        for contender in found:
            contender.close()
        tables.drop()
    return measured


def _round(
    tables: Tables, found: Sequence[Contender], settings: Settings, turn: int, measured: Measured
) -> None:
    """Change the tables, then let each contender refresh, a different one first each time."""
    changed = tables.change(settings.changes)
    first = turn % len(found)
    for contender in (*found[first:], *found[:first]):
        sample = contender.refresh(changed)
        if turn >= settings.warm_up:
            measured.samples[contender.name].append(sample)
            if isinstance(contender, Rennet):
                measured.techniques.append(contender.techniques[-1])


def _compare(found: Sequence[Contender], measured: Measured) -> None:
    """Every result against that of the full recompute, as bags: whoever differs is named."""
    results = {contender.name: contender.result() for contender in found}
    measured.result_rows = results[FULL].count()
    for name in unequal(results):
        measured.differences[name] = difference(results[FULL], results[name])


def unequal(results: Mapping[str, DataFrame]) -> list[str]:
    """Those whose rows are not the full recompute's; all rows are grouped once, and counted for each."""
    wanted = results[FULL].columns
    same = {name: rows for name, rows in results.items() if rows.columns == wanted}
    marked = [rows.withColumn(OWNER, F.lit(name)) for name, rows in same.items()]
    rows = reduce(DataFrame.unionAll, marked)
    copies = {name: F.count_if(F.col(OWNER) == name).alias(f"{OWNER}_{name}") for name in same}
    counted = rows.groupBy(*wanted).agg(*copies.values())
    expected = F.col(f"{OWNER}_{FULL}")
    told = counted.agg(*(F.count_if(F.col(f"{OWNER}_{name}") != expected).alias(name) for name in same))
    row = told.first()
    assert row is not None
    return [name for name in results if name not in same or row[name]]


def difference(expected: DataFrame, actual: DataFrame) -> str:
    """How the second bag of rows differs from the first; nothing if it does not."""
    if expected.columns != actual.columns:
        return f"columns {actual.columns} instead of {expected.columns}"
    found = compare("", expected, actual, samples=3)
    if found:
        return ""
    examples = f"{found.missing_rows} / {found.extra_rows}"
    return f"{found.missing:,} rows missing, {found.extra:,} too many, such as {examples}"

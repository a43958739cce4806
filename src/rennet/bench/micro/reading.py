"""`rennet bench reading`: a view after many small refreshes, next to a table that was just written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from rennet.api import Engine
from rennet.bench.micro.contenders import Rennet
from rennet.bench.micro.measure import Probe, Said, Sample
from rennet.bench.micro.shape import Shape
from rennet.bench.micro.summary import figure, medians, ratio, whole
from rennet.bench.micro.tables import Tables
from rennet.jvm import Jvm

SHAPES = ("update_projection", "aggregate_many_groups")
ROWS = 1_000_000
REFRESHES = 200
CHANGES = 100
REPEAT = 9
WARM_UP = 2


@dataclass
class Read:
    """Reading one view, and reading the same rows from a new table."""

    shape: str
    rows: int
    refreshes: int
    changes: int
    view: list[Sample]
    fresh: list[Sample]
    files: int
    """Of the view's backing table."""
    fresh_files: int
    equal: bool

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "ratio": self.ratio}

    @property
    def ratio(self) -> float | None:
        return ratio(medians(self.view)["wall_seconds"], medians(self.fresh)["wall_seconds"])


@dataclass(frozen=True)
class Settings:
    """How much, and how often."""

    rows: int = ROWS
    refreshes: int = REFRESHES
    changes: int = CHANGES
    repeat: int = REPEAT


def run(spark: SparkSession, shapes: Sequence[Shape], settings: Settings, say: Said) -> Iterator[Read]:
    """One view after the other."""
    for shape in shapes:
        yield _read(spark, shape, settings, say)


def _read(spark: SparkSession, shape: Shape, settings: Settings, say: Said) -> Read:
    tables = Tables(spark, shape, settings.rows, f"bench_{shape.name}")
    tables.drop()
    tables.create()
    probe = Probe(Jvm.of(spark))
    kept = Rennet(tables, probe, Engine(spark))
    fresh = f"{tables.schema}.fresh"
    try:
        kept.create()
        for turn in range(settings.refreshes):
            say(f"{shape.name}: refresh {turn + 1} of {settings.refreshes}")
            kept.refresh(tables.change(settings.changes))
        spark.sql(f"CREATE TABLE {fresh} USING delta AS SELECT * FROM {kept.view}")
        say(f"{shape.name}: reading")
        samples = _alternating(spark, probe, (kept.view, fresh), settings.repeat)
        path = kept.engine.find(kept.view).path
        files = _files(spark, f"delta.`{path}`"), _files(spark, fresh)
        equal = kept.engine.verify(kept.view).equal
    finally:
        kept.close()
        tables.drop()
    return Read(
        shape.name, settings.rows, settings.refreshes, settings.changes, *samples, *files, equal=equal
    )


def _alternating(
    spark: SparkSession, probe: Probe, names: tuple[str, str], repeat: int
) -> tuple[list[Sample], list[Sample]]:
    """Every column of both read again and again, now the one first, now the other."""
    found: dict[str, list[Sample]] = {name: [] for name in names}
    for turn in range(WARM_UP + repeat):
        for name in names if turn % 2 else names[::-1]:
            rows = spark.table(name)
            everything = rows.agg(F.bit_xor(F.xxhash64(*rows.columns)))
            sample = probe.measured(everything.collect)
            if turn >= WARM_UP:
                found[name].append(sample)
    return found[names[0]], found[names[1]]


def _files(spark: SparkSession, name: str) -> int:
    row = spark.sql(f"DESCRIBE DETAIL {name}").first()
    assert row is not None
    return int(row["numFiles"])


def table(read: Sequence[Read]) -> list[dict[str, Any]]:
    """A row for each view."""
    return [
        {
            "shape": each.shape,
            "rows": whole(each.rows),
            "refreshes": whole(each.refreshes),
            "view s": figure(medians(each.view)["wall_seconds"]),
            "fresh s": figure(medians(each.fresh)["wall_seconds"]),
            "view/fresh": figure(each.ratio),
            "files": f"{each.files} / {each.fresh_files}",
            "equal": "yes" if each.equal else "NO",
        }
        for each in read
    ]

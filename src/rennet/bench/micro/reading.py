"""`rennet bench reading`: a view after many small refreshes, next to a table that was just written.

And next to the same table with a few rows marked as deleted: Delta reads such files by another way, whoever
marked them, and what that costs is no view's doing.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from rennet.api import Engine
from rennet.bench.micro.measure import Probe, Said, Sample
from rennet.bench.micro.shape import Shape
from rennet.bench.micro.summary import figure, medians, ratio, whole
from rennet.bench.micro.tables import Tables
from rennet.jvm import Jvm
from rennet.storage.names import quote

SHAPES = ("aggregate_many_groups", "update_projection")
ROWS = 1_000_000
REFRESHES = 200
CHANGES = 100
REPEAT = 9
WARM_UP = 2
MARKED = 100
"""Of the table with marked rows, one of so many is: some in every file."""
TIDY = 25
"""Small files of so many rounds in the sources are put together."""


@dataclass
class Read:
    """Reading one view, the same rows from a new table, and from one of which a few rows were deleted."""

    shape: str
    rows: int
    refreshes: int
    changes: int
    view: list[Sample]
    fresh: list[Sample]
    marked: list[Sample]
    files: int
    """Of the view's backing table."""
    fresh_files: int
    equal: bool

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "ratio": self.ratio, "ratio_to_marked": self.ratio_to_marked}

    @property
    def ratio(self) -> float | None:
        return ratio(medians(self.view)["wall_seconds"], medians(self.fresh)["wall_seconds"])

    @property
    def ratio_to_marked(self) -> float | None:
        return ratio(medians(self.view)["wall_seconds"], medians(self.marked)["wall_seconds"])


@dataclass(frozen=True)
class Settings:
    """How much, and how often."""

    rows: int = ROWS
    refreshes: int = REFRESHES
    changes: int = CHANGES
    repeat: int = REPEAT


def run(spark: SparkSession, shapes: Sequence[Shape], settings: Settings, say: Said) -> Iterator[Read]:
    """Shapes of the same tables share them: each round changes those once, as the first shape says."""
    together: dict[Hashable, list[Shape]] = {}
    for shape in shapes:
        together.setdefault(shape.sources, []).append(shape)
    for some in together.values():
        yield from _read(spark, some, settings, say)


def _read(spark: SparkSession, shapes: Sequence[Shape], settings: Settings, say: Said) -> Iterator[Read]:
    """Views of the same tables: refreshed again and again, then read one after the other."""
    tables = Tables(spark, shapes[0], settings.rows, f"bench_{shapes[0].name}")
    tables.drop()
    tables.create()
    engine = Engine(spark)
    views = {f"{tables.schema}.kept_{shape.name}": shape for shape in shapes}
    try:
        for view, shape in views.items():
            engine.create_materialized_view(view, shape.text(tables.names))
        for turn in range(settings.refreshes):
            say(f"refresh {turn + 1} of {settings.refreshes}")
            _round(engine, tables, tuple(views), turn, settings.changes)
        for view, shape in views.items():
            say(f"{shape.name}: reading")
            yield _compared(engine, view, shape, settings)
    finally:
        for view in views:
            engine.drop(view, if_exists=True)
        tables.drop()


def _round(engine: Engine, tables: Tables, views: Sequence[str], turn: int, changes: int) -> None:
    """Every view refreshed after a small change; now and then the sources are tidied up, as anyone would."""
    if turn % TIDY == TIDY - 1:
        tables.tidy()
        for view in views:  # on its own a compaction changes nothing
            engine.refresh(view)
    tables.replace(changes)
    for view in views:
        engine.refresh(view)


def _compared(engine: Engine, view: str, shape: Shape, settings: Settings) -> Read:
    spark, fresh, marked = engine.spark, f"{view}_fresh", f"{view}_marked"
    spark.sql(f"CREATE TABLE {fresh} USING delta AS SELECT * FROM {view}")
    _make_marked(spark, marked, view)
    read, new, some = _alternating(spark, Probe(Jvm.of(spark)), (view, fresh, marked), settings.repeat)
    return Read(
        shape.name,
        settings.rows,
        settings.refreshes,
        settings.changes,
        read,
        new,
        some,
        _files(spark, f"delta.`{engine.find(view).path}`"),
        _files(spark, fresh),
        engine.verify(view).equal,
    )


def _make_marked(spark: SparkSession, name: str, view: str) -> None:
    vectors = "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
    spark.sql(f"CREATE TABLE {name} USING delta {vectors} AS SELECT * FROM {view}")
    columns = ", ".join(map(quote, spark.table(name).columns))
    spark.sql(f"DELETE FROM {name} WHERE pmod(xxhash64({columns}), {MARKED}) = 0")


def _alternating(spark: SparkSession, probe: Probe, names: Sequence[str], repeat: int) -> list[list[Sample]]:
    """Every column of each read again and again, now in this order, now in the other."""
    found: dict[str, list[Sample]] = {name: [] for name in names}
    for turn in range(WARM_UP + repeat):
        for name in names if turn % 2 else names[::-1]:
            rows = spark.table(name)
            everything = rows.agg(F.bit_xor(F.xxhash64(*rows.columns)))
            sample = probe.measured(everything.collect)
            if turn >= WARM_UP:
                found[name].append(sample)
    return [found[name] for name in names]


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
            "marked s": figure(medians(each.marked)["wall_seconds"]),
            "view/marked": figure(each.ratio_to_marked),
            "files": f"{each.files} / {each.fresh_files}",
            "equal": "yes" if each.equal else "NO",
        }
        for each in read
    ]

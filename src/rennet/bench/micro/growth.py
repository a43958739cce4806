"""`rennet bench growth`: the same change to tables of growing size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pyspark.sql import SparkSession

from rennet.api import Engine
from rennet.bench.micro.contenders import Rennet
from rennet.bench.micro.measure import Probe, Said, Sample
from rennet.bench.micro.shape import CHANGES, Shape
from rennet.bench.micro.summary import figure, medians, ratio
from rennet.bench.micro.tables import Tables
from rennet.jvm import Jvm

SIZES = (1.0, 3.0, 10.0, 30.0)
"""Millions of rows."""
SHAPES = (
    "append_only_filter",
    "update_projection_clustered",
    "update_projection",
    "aggregate_many_groups",
    "join_dimension_changes",
)
MILLION = 1_000_000
REPEAT = 5
WARM_UP = 1


@dataclass
class Grown:
    """One shape at one size."""

    shape: str
    together: bool
    rows: int
    changes: int
    samples: list[Sample]
    techniques: list[str]
    heap_megabytes: float
    equal: bool

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "median": medians(self.samples)}

    @property
    def seconds(self) -> float:
        return medians(self.samples)["wall_seconds"] or 0.0


def run(
    spark: SparkSession,
    shapes: Sequence[Shape],
    sizes: Sequence[float],
    say: Said,
    changes: int = CHANGES,
    repeat: int = REPEAT,
) -> Iterator[Grown]:
    """Measure each shape at each size."""
    for shape in shapes:
        for size in sizes:
            yield _grown(spark, shape, round(size * MILLION), changes, repeat, say)


def _grown(spark: SparkSession, shape: Shape, rows: int, changes: int, repeat: int, say: Said) -> Grown:
    tables = Tables(spark, shape, rows, f"bench_{shape.name}")
    tables.drop()
    say(f"{shape.name}: making {rows:,} rows")
    tables.create()
    probe = Probe(Jvm.of(spark))
    kept = Rennet(tables, probe, Engine(spark))
    try:
        kept.create()
        samples = []
        for turn in range(WARM_UP + repeat):
            say(f"{shape.name}: {rows:,} rows, round {turn + 1} of {WARM_UP + repeat}")
            samples.append(kept.refresh(tables.change(changes)))
        heap = probe.heap_megabytes()
        equal = kept.engine.verify(kept.view).equal
    finally:
        kept.close()
        tables.drop()
    counted, techniques = samples[WARM_UP:], kept.techniques[WARM_UP:]
    return Grown(shape.name, shape.together, rows, changes, counted, techniques, heap, equal)


def table(grown: Sequence[Grown]) -> list[dict[str, Any]]:
    """A row for each shape: seconds and heap at each size, and the largest to the smallest."""
    rows = []
    for shape in dict.fromkeys(each.shape for each in grown):
        sizes = [each for each in grown if each.shape == shape]
        least, most = min(sizes, key=_rows), max(sizes, key=_rows)
        rows.append(
            {
                "shape": shape,
                "touched rows": "together" if least.together else "scattered",
                "technique": " ".join(dict.fromkeys(each.techniques[-1] for each in sizes)),
                **{f"{each.rows / MILLION:g} M: s": figure(each.seconds) for each in sizes},
                "largest/smallest": figure(ratio(most.seconds, least.seconds)),
                "heap MB": " ".join(f"{each.heap_megabytes:.0f}" for each in sizes),
                "equal": "yes" if all(each.equal for each in sizes) else "NO",
            }
        )
    return rows


def _rows(grown: Grown) -> int:
    return grown.rows

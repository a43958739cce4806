"""`rennet bench decisions`: every technique forced on the same change, next to what AUTO chooses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from pyspark.sql import SparkSession

from rennet.api import Engine
from rennet.bench.micro.cells import Cell, estimates
from rennet.bench.micro.measure import Probe, Said, Sample
from rennet.bench.micro.shape import Shape
from rennet.bench.micro.tables import Tables
from rennet.errors import NotIncrementalError
from rennet.execute.record import RefreshResult
from rennet.jvm import Jvm

FRACTIONS = (0.0001, 0.001, 0.01, 0.1, 0.5, 1.0)
ROWS = 1_000_000


@dataclass(frozen=True)
class Settings:
    """How much, and how often."""

    rows: int = ROWS
    fractions: Sequence[float] = FRACTIONS
    repeat: int = 1
    """Rounds in each cell, of which the median counts."""


@dataclass
class Round:
    """One change, refreshed by all."""

    auto: Sample
    result: RefreshResult
    forced: dict[str, Sample] = field(default_factory=dict)


@dataclass(frozen=True)
class Decided:
    """All cells of one shape, and the views that were wrong in the end."""

    shape: str
    cells: tuple[Cell, ...]
    differences: tuple[str, ...]

    @property
    def equal(self) -> bool:
        return not self.differences

    def to_dict(self) -> dict[str, Any]:
        cells = [cell.to_dict() for cell in self.cells]
        return {"shape": self.shape, "cells": cells, "differences": list(self.differences)}


def run(spark: SparkSession, shapes: Sequence[Shape], settings: Settings, say: Said) -> Iterator[Decided]:
    """One shape after the other."""
    for shape in shapes:
        trial = Trial(spark, shape, settings.rows)
        try:
            cells = tuple(_cells(trial, settings, say))
            say(f"{shape.name}: verifying the views")
            decided = Decided(shape.name, cells, tuple(trial.differences()))
        finally:
            trial.close()
        yield decided


def _cells(trial: Trial, settings: Settings, say: Said) -> Iterator[Cell]:
    """Without history on a view made anew each time, then with it on one that has seen every fraction."""
    name = trial.shape.name
    say(f"{name}: making {settings.rows:,} rows")
    trial.begin(min(settings.fractions))
    for fraction in settings.fractions:
        say(f"{name}: {fraction:.2%} changed, without history")
        rounds = [trial.round(fraction, anew=True) for _ in range(settings.repeat)]
        yield _cell(name, fraction, False, rounds)
    for fraction in settings.fractions:
        say(f"{name}: {fraction:.2%} changed, for the history")
        trial.round(fraction, anew=fraction == settings.fractions[0])
    for fraction in settings.fractions:
        say(f"{name}: {fraction:.2%} changed, with history")
        rounds = [trial.round(fraction) for _ in range(settings.repeat)]
        yield _cell(name, fraction, True, rounds)


class Trial:
    """A shape's tables with an AUTO view and one for each technique that applies to its changes."""

    def __init__(self, spark: SparkSession, shape: Shape, rows: int) -> None:
        self.shape = shape
        self._engine = Engine(spark)
        self._probe = Probe(Jvm.of(spark))
        self._tables = Tables(spark, shape, rows, f"bench_{shape.name}")
        self._size = shape.source(shape.changes[0].source).size(rows)
        self._query = shape.text(self._tables.names)
        self._auto = f"{self._tables.schema}.auto"
        self._forced: dict[str, str] = {}
        self._turn = 0

    def begin(self, fraction: float) -> None:
        """Learn from a small change which techniques there are, and make a view for each."""
        self._tables.drop()
        self._tables.create()
        self._engine.create_materialized_view(self._auto, self._query)
        self._tables.change(self._changes(fraction))
        applicable = [
            str(each["technique"])
            for each in self._engine.refresh(self._auto).techniques
            if each["applicable"]
        ]
        for technique in applicable:
            name = f"{self._tables.schema}.forced_{technique.lower()}"
            self._engine.create_materialized_view(name, self._query)
            self._forced[technique] = name
        self.round(fraction)  # the first refresh of each kind is slower on a JVM

    def _changes(self, fraction: float) -> int:
        return max(1, round(fraction * self._size))

    def round(self, fraction: float, anew: bool = False) -> Round:
        """Change so much of the first table, and refresh all views, a different one first each time."""
        if anew:
            self._engine.drop(self._auto)
            self._engine.create_materialized_view(self._auto, self._query)
        self._tables.change(self._changes(fraction))
        self._turn += 1
        order: list[str | None] = [None, *self._forced]
        first = self._turn % len(order)
        found: dict[str | None, tuple[Sample, RefreshResult]] = {}
        for technique in (*order[first:], *order[:first]):
            refreshed = self._refresh(technique)
            if refreshed is not None:
                found[technique] = refreshed
        auto, result = found.pop(None)
        return Round(auto, result, {str(technique): sample for technique, (sample, _) in found.items()})

    def _refresh(self, technique: str | None) -> tuple[Sample, RefreshResult] | None:
        """None for a technique that this change does not permit: its view catches up unmeasured."""
        results: list[RefreshResult] = []
        if technique is None:
            sample = self._probe.measured(lambda: results.append(self._engine.refresh(self._auto)))
            return sample, results[0]
        name = self._forced[technique]
        try:
            sample = self._probe.measured(
                lambda: results.append(self._engine.refresh(name, technique=technique))
            )
        except NotIncrementalError:
            self._engine.refresh(name)
            return None
        return sample, results[0]

    def differences(self) -> list[str]:
        """The views that are not what their query says."""
        return [name for name in (self._auto, *self._forced.values()) if not self._engine.verify(name)]

    def close(self) -> None:
        for name in (self._auto, *self._forced.values()):
            self._engine.drop(name, if_exists=True)
        self._tables.drop()


def _cell(shape: str, fraction: float, history: bool, rounds: Sequence[Round]) -> Cell:
    """The medians of some rounds; the choice and the estimates are those of the last."""
    cpu: dict[str, list[float]] = defaultdict(list)
    wall: dict[str, list[float]] = defaultdict(list)
    for each in rounds:
        for technique, sample in each.forced.items():
            cpu[technique].append(sample.cpu_seconds)
            wall[technique].append(sample.wall_seconds)
    last = rounds[-1].result
    return Cell(
        shape,
        fraction,
        history,
        str(last.technique),
        {technique: median(taken) for technique, taken in cpu.items()},
        {technique: median(taken) for technique, taken in wall.items()},
        median(each.auto.cpu_seconds for each in rounds),
        median(each.auto.wall_seconds for each in rounds),
        estimates(last.techniques),
    )

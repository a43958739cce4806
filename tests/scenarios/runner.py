"""Runs scenario files: tables, views, changes; after each change every view must equal its query.

A file is readable text in sections. `[setup]` holds SQL; `[view NAME]` a query, created once for every
technique that could maintain it; `[change TITLE]` holds SQL that changes tables. `[change TITLE -> T]` says
which technique rennet chooses by itself for the first view, `[view NAME -> COMPLETE_RECOMPUTE]` that a view
cannot be incremental, and all others must be. `[large]` has the tables handled like large ones.
After the last change nothing is changed, which must be noticed, and then everything is taken away.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession

from rennet import Engine, Technique
from rennet.errors import NotIncrementalError
from rennet.sql.parse import split
from rennet.testing.fuzz.oracle import Oracle
from rennet.testing.large import treated_as_large
from tests.reading import names_of_tables, shown

HEADER = re.compile(r"^\[(\w+)\s*(.*?)\s*(?:->\s*(\w+))?\]\s*$", re.MULTILINE)


@dataclass
class Scenario:
    """One file."""

    name: str
    setup: list[str] = field(default_factory=list)
    views: dict[str, str] = field(default_factory=dict)
    full: set[str] = field(default_factory=set)
    """Views that are never incremental."""
    changes: list[tuple[str, list[str], str | None]] = field(default_factory=list)
    large: bool = False


def load(path: Path) -> Scenario:
    """Read a scenario file; an unknown section is an error."""
    text = "\n".join(line for line in path.read_text().splitlines() if not line.startswith("#"))
    scenario = Scenario(path.stem)
    found = list(HEADER.finditer(text))
    ends = [match.start() for match in found[1:]] + [len(text)]
    for match, end in zip(found, ends, strict=True):
        kind, title, technique = match.groups()
        body = text[match.end() : end].strip()
        if kind == "setup":
            scenario.setup += split(body)
        elif kind == "view":
            scenario.views[title] = body.rstrip(";")
            if technique == Technique.COMPLETE_RECOMPUTE:
                scenario.full.add(title)
        elif kind == "change":
            scenario.changes.append((title, split(body), technique))
        elif kind == "large":
            scenario.large = True
        else:
            raise ValueError(f"{path.name}: unknown section [{kind}]")
    return scenario


class Run:
    """One scenario in a schema of its own."""

    def __init__(self, spark: SparkSession, scenario: Scenario) -> None:
        self.spark = spark
        self.engine = Engine(spark)
        self.scenario = scenario
        self.schema = f"s_{scenario.name}"
        self.copies: dict[str, dict[str, Technique]] = {}
        self.used: Counter[str] = Counter()

    def __call__(self) -> None:
        before = self.spark.catalog.currentDatabase()
        self.spark.sql(f"DROP SCHEMA IF EXISTS {self.schema} CASCADE")
        self.spark.sql(f"CREATE SCHEMA {self.schema}")
        self.spark.catalog.setCurrentDatabase(self.schema)
        try:
            with treated_as_large() if self.scenario.large else nullcontext():
                self._steps()
        finally:
            self.spark.catalog.setCurrentDatabase(before)

    def _steps(self) -> None:
        for statement in self.scenario.setup:
            self.spark.sql(statement)
        views = {row["viewName"] for row in self.spark.sql("SHOW VIEWS").collect()}
        self.tables = [name for name in names_of_tables(self.spark) if name not in views]
        self.oracle = Oracle(self.spark, self.schema)
        self.oracle.look(self.tables)
        for view, query in self.scenario.views.items():
            self._create(view, query)
        self._check("setup")
        for title, statements, expected in self.scenario.changes:
            self._all(statements)
            self._step(title, expected)
        self._step("nothing", "NO_OP")
        self._all([f"DELETE FROM {table}" for table in self.tables])
        self._step("everything taken away", None)

    def _all(self, statements: list[str]) -> None:
        for statement in statements:
            self.spark.sql(statement)
        text = " ".join(statements)
        self.oracle.look([table for table in self.tables if re.search(rf"\b{table}\b", text)])

    def _create(self, view: str, query: str) -> None:
        found = self.engine.explain(query)
        usable = [Technique(t["technique"]) for t in found.techniques if t["applicable"]]
        incremental = [t for t in usable if t is not Technique.COMPLETE_RECOMPUTE]
        assert bool(incremental) == (view not in self.scenario.full), f"{view}: {found.reason}"
        self.copies[view] = {f"{view}__{t.lower()}": t for t in incremental or usable}
        for name in self.copies[view]:
            self.engine.create_materialized_view(name, query)
            types = [self.spark.sql(text).schema.simpleString() for text in (f"TABLE {name}", query)]
            assert types[0] == types[1], name

    def _step(self, title: str, expected: str | None) -> None:
        for view, copies in self.copies.items():
            for name, technique in copies.items():
                if expected is not None and view == next(iter(self.copies)) and technique == expected:
                    assert self.engine.explain(name).technique == expected, title
                self._refresh(name, technique, title)
        self._check(title)

    def _refresh(self, name: str, technique: Technique, title: str) -> None:
        try:
            quiet = title == "nothing"
            result = self.engine.refresh(name, technique=None if quiet else technique)
        except NotIncrementalError:
            result = self.engine.refresh(name)
        self.used[result.technique] += 1
        if title == "nothing" and not self._always_full(name):
            assert result.technique is Technique.NO_OP, f"{name}: {result.reason}"
            assert result.jobs == 0
        lost = "EXECUTION_FAILED" in result.reason or "PLANNING_FAILED" in result.reason
        assert not lost, f"{name} after {title}: {result.reason}"

    def _always_full(self, name: str) -> bool:
        return name.endswith("complete_recompute")

    def _check(self, title: str) -> None:
        for view, copies in self.copies.items():
            wanted = self.oracle.rows(self.scenario.views[view])
            for name in copies:
                found = shown(self.engine, name)
                same(bag(found), ordered(wanted), f"{name} after {title}")


def bag(frame: DataFrame) -> list[tuple[Any, ...]]:
    return ordered(frame.collect())


def ordered(rows: Iterable[Row]) -> list[tuple[Any, ...]]:
    return sorted((tuple(row) for row in rows), key=_order)


def _order(row: tuple[Any, ...]) -> str:
    return repr([f"{v:.6g}" if isinstance(v, float) else v for v in row])


def same(found: list[tuple[Any, ...]], wanted: list[tuple[Any, ...]], what: str) -> None:
    """Equal as bags, floating point up to rounding."""
    alike = len(found) == len(wanted) and all(
        _equal(a, b) for x, y in zip(found, wanted, strict=True) for a, b in zip(x, y, strict=True)
    )
    extra = [row for row in found if row not in wanted][:5]
    missing = [row for row in wanted if row not in found][:5]
    assert alike, f"{what}: {len(found)} rows, not {len(wanted)}; extra {extra}, missing {missing}"


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9) or (math.isnan(a) and math.isnan(b))
    return bool(a == b)

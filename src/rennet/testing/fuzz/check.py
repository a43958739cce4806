"""Runs a batch on Spark: after every change each view must equal its query, and its table must be sound."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import unquote, urlparse
from uuid import uuid4

from rennet.api import Engine
from rennet.enable.layout import Layout
from rennet.errors import NotIncrementalError, Technique
from rennet.execute.explain import Explanation, explain_query
from rennet.execute.planning import analyze
from rennet.execute.record import RefreshResult
from rennet.execute.workspace import fit, workspace
from rennet.jvm import Jvm
from rennet.plan.expressions import literal
from rennet.storage.provenance import Definition
from rennet.storage.tables import MaterializedView, first_line
from rennet.storage.transaction import Transaction
from rennet.storage.vectors import FILE, ROW
from rennet.testing.fuzz.cases import Batch, Case
from rennet.testing.fuzz.changes import Change, changed
from rennet.testing.fuzz.compare import Tuple, bag, difference, plain
from rennet.testing.fuzz.oracle import Oracle
from rennet.testing.fuzz.outcome import Failure, Kind, Tally, code
from rennet.testing.fuzz.tree import pairs
from rennet.testing.large import treated_as_large

AUTO = "AUTO"
FULL = Technique.COMPLETE_RECOMPUTE
LOST = (
    "EXECUTION_FAILED",
    "PLANNING_FAILED",
    "DATA_HAS_CHANGED",
    "FINGERPRINT_CHANGED",
    "CONFIGURATION_CHANGED",
)
"""Reasons for a full recompute that no change of the data can be."""
SELDOM = 0.1
"""How often a full recompute is forced."""
NOTHING = Change("nothing", ())


class WrongError(Exception):
    """A check that failed."""

    def __init__(self, kind: Kind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass
class Copy:
    """One materialized view of a case, always refreshed by the same technique, or by a random one."""

    case: Case
    name: str
    technique: Technique | None
    """None leaves it to rennet."""
    options: tuple[Technique, ...]
    """Techniques to take at random; empty to keep to `technique`."""
    always_full: bool
    layout: Layout
    view: MaterializedView
    stored: int = 0
    """Rows in its table."""
    shown: Counter[Tuple] = field(default_factory=Counter)
    """What it showed when it was last read."""


class Checker:
    """Runs batches on one session, each in a schema of its own."""

    def __init__(
        self,
        engine: Engine,
        every: bool = False,
        fixed: str = "",
        threads: int = 1,
        end: float = math.inf,
    ) -> None:
        self.engine = engine
        self.spark = engine.spark
        self.every = every
        """A copy of each view per technique; else one copy, and a random technique each time."""
        self.fixed = fixed
        """A technique for every refresh of every view, or AUTO."""
        self.threads = threads
        """So many views are refreshed at once."""
        self.end = end
        """When to stop, even between two changes."""

    def run(self, batch: Batch, tally: Tally | None = None, endings: bool = True) -> list[Failure]:
        """Everything that is wrong with the views of a batch, at most one failure per case."""
        size = treated_as_large() if batch.large else nullcontext()
        with size, self._schema() as schema:
            return _Run(self, schema, batch, tally or Tally(), endings).all()

    @contextmanager
    def _schema(self) -> Iterator[str]:
        name = f"fuzz_{uuid4().hex[:10]}"  # never used before: Delta remembers tables by their path
        before = self.spark.catalog.currentDatabase()
        self.spark.sql(f"CREATE SCHEMA {name}")
        self.spark.catalog.setCurrentDatabase(name)
        try:
            yield name
        finally:
            self.spark.catalog.setCurrentDatabase(before)
            self.spark.sql(f"DROP SCHEMA {name} CASCADE")


class _Run:
    """One batch."""

    def __init__(self, checker: Checker, schema: str, batch: Batch, tally: Tally, endings: bool) -> None:
        self.checker = checker
        self.engine = checker.engine
        self.spark = checker.spark
        self.schema = schema
        self.batch = batch
        self.tally = tally
        self.oracle = Oracle(self.spark, schema, batch.views, compiled=batch.large)
        self.copies: dict[int, list[Copy]] = {case.number: [] for case in batch.cases}
        self.failures: dict[int, Failure] = {}
        away = Change("everything is taken away", tuple(f"DELETE FROM {t.name}" for t in batch.tables))
        self.steps = (*batch.changes, *((NOTHING, away) if endings else ()))

    def all(self) -> list[Failure]:
        with ThreadPoolExecutor(self.checker.threads) as pool:
            list(pool.map(self._change, ((t.name, t.setup) for t in self.batch.tables)))
            for statement in (each for view in self.batch.views for each in view.setup):
                self.spark.sql(statement)
            list(pool.map(self._create, self.batch.cases))
            for number, step in enumerate(self.steps):
                if time.monotonic() > self.checker.end:
                    break
                list(pool.map(self._change, _by_table(step.statements).items()))
                list(pool.map(partial(self._step, number, step), self.batch.cases))
        return [self.failures[number] for number in sorted(self.failures)]

    def _change(self, what: tuple[str, Sequence[str]]) -> None:
        """Change one table, and look at it afterwards."""
        name, statements = what
        with self.tally.timed("changes"):
            for statement in statements:
                self.spark.sql(statement)
        with self.tally.timed("look"):
            self.oracle.look([name])

    # -- creating ------------------------------------------------------------------------------------

    def _create(self, case: Case) -> None:
        wanted = self._wanted(case)
        if wanted is None:
            return
        self.tally.cases += 1
        self.tally.pairs.update(pairs(case.query))
        try:
            with self.tally.timed("explain"):
                found, layout = self._explained(case.sql)
        except Exception as error:  # whatever the engine raises is what is looked for
            self._fail(case, -1, "creation", "", Kind.ERROR, _said(error))
            return
        options = tuple(Technique(t["technique"]) for t in found.techniques if t["applicable"])
        self.tally.incremental += found.incremental
        if not found.incremental:
            self.tally.never[found.reason] += 1
            self.tally.examples.setdefault(found.reason, f"--seed {self.batch.seed} --case {case.number}")
        for technique, choices in self._plan(options):
            suffix = "" if choices or technique is None else f"_{technique.lower()}"
            name = f"m{case.number}{suffix}"
            with self._noted(case, -1, "creation", ""):
                with self.tally.timed("create"):
                    self.engine.create_materialized_view(name, case.sql)
                view = self.engine.find(name)
                copy = Copy(case, name, technique, choices, not found.incremental, layout, view)
                self.copies[case.number].append(copy)
                self._schema_is_kept(copy)
                self._sound(copy, wanted)

    def _plan(self, usable: tuple[Technique, ...]) -> list[tuple[Technique | None, tuple[Technique, ...]]]:
        """The copies to make: technique, or techniques to choose from."""
        incremental = tuple(t for t in usable if t is not FULL)
        if self.checker.fixed:
            return [(None if self.checker.fixed == AUTO else Technique(self.checker.fixed), ())]
        if not self.checker.every:
            return [(None, usable if incremental else (FULL,))]
        return [(None, ()), *((technique, ()) for technique in incremental)]

    def _explained(self, sql: str) -> tuple[Explanation, Layout]:
        with workspace(Jvm.of(self.spark)) as jvm:
            query = analyze(jvm, sql, Definition("", sql, database=self.schema), self.spark)
            return explain_query("This query", query), query.layout

    def _schema_is_kept(self, copy: Copy) -> None:
        found = self.spark.table(copy.name).schema.simpleString()
        wanted = self.spark.sql(copy.case.sql).schema.simpleString()
        if found != wanted:
            raise WrongError(Kind.WRONG_SCHEMA, f"{found} instead of {wanted}")

    # -- steps ---------------------------------------------------------------------------------------

    def _step(self, number: int, step: Change, case: Case) -> None:
        copies = self.copies[case.number]
        if not copies or case.number in self.failures:
            return
        quiet = not step.changes(self.batch.read_by(case))
        wanted = copies[0].shown if quiet else self._wanted(case)
        if wanted is None:
            self.copies[case.number] = []
            return
        for copy in copies:
            technique = self._technique(copy, number)
            with self._noted(case, number, step.title, technique or AUTO):
                with self.tally.timed("refresh"):
                    result = self._refresh(copy, technique)
                self._counted(copy, result)
                self._result(copy, quiet, result, technique)
                if result.version is not None:
                    self._sound(copy, wanted, result)
                elif wrong := difference(copy.shown, wanted):
                    raise WrongError(Kind.WRONG_ROWS, wrong)

    def _technique(self, copy: Copy, step: int) -> Technique | None:
        """In turn rennet's own choice and a random one."""
        if not copy.options:
            return copy.technique
        rng = Random(f"{self.batch.seed}/{copy.case.number}/{step}")
        if rng.random() < 0.4:
            return None
        options = [t for t in copy.options if t is not FULL or rng.random() < SELDOM]
        return rng.choice(options) if options else None

    def _refresh(self, copy: Copy, technique: Technique | None) -> RefreshResult:
        try:
            return self.engine.refresh(copy.name, technique=technique)
        except NotIncrementalError:
            return self.engine.refresh(copy.name)

    def _counted(self, copy: Copy, result: RefreshResult) -> None:
        self.tally.techniques[result.technique] += 1
        figures = f"{result.jobs} jobs, {result.cpu_seconds:.1f} s of CPU"
        self.tally.slow.append(
            (result.wall_seconds, f"case {copy.case.number}, {result.technique}, {figures}")
        )
        if result.technique is FULL and not copy.always_full:
            self.tally.reasons[code(result.reason)] += 1

    # -- checks --------------------------------------------------------------------------------------

    def _result(self, copy: Copy, quiet: bool, result: RefreshResult, technique: Technique | None) -> None:
        if any(word in result.reason for word in LOST):
            raise WrongError(Kind.FELL_BACK, result.reason)
        if quiet and technique is None and not copy.always_full and result.technique is not Technique.NO_OP:
            raise WrongError(Kind.MISSED_NO_OP, f"{result.technique}: {result.reason}")
        if result.version is None and result.jobs:
            raise WrongError(Kind.MISSED_NO_OP, f"{result.jobs} Spark jobs, but nothing was done")
        self._provenance(copy)

    def _provenance(self, copy: Copy) -> None:
        """The versions on record are the newest ones in the sources' logs."""
        provenance = self.engine.find(copy.name).provenance
        if provenance is None:
            raise WrongError(Kind.PROVENANCE, "there is none")
        read = {source.name.rpartition(".")[2]: source for source in provenance.sources}
        for name, source in read.items():
            newest = newest_version(source.path)
            if source.version != newest:
                raise WrongError(Kind.PROVENANCE, f"{name} at {source.version}, but it is at {newest}")

    def _sound(self, copy: Copy, wanted: Counter[Tuple], result: RefreshResult | None = None) -> None:
        """The stored rows are the query's, each known by its identity, with counts above nothing."""
        layout = copy.layout
        with self.tally.timed("read"):
            stored = self._stored(copy)
        place = {column.id: n for n, column in enumerate(layout.columns)}
        shown = [row for row in stored if layout.visible is None or row[place[layout.visible.id]]]
        copy.shown = bag(row[: layout.user_columns] for row in shown)
        self.tally.checks += 1
        if wrong := difference(copy.shown, wanted):
            raise WrongError(Kind.WRONG_ROWS, wrong)
        self._weights(layout, place, stored)
        if layout.unique:
            keys = Counter(tuple(plain(row[place[key.id]]) for key in layout.keys) for row in stored)
            if twice := [key for key, count in keys.items() if count > 1]:
                raise WrongError(Kind.IDENTITY, f"{twice[0]} is there {keys[twice[0]]} times")
        if result is not None and result.technique not in (FULL, Technique.NO_OP):
            expected = copy.stored + result.rows_inserted - result.rows_deleted
            if expected != len(stored):
                said = f"{copy.stored} rows + {result.rows_inserted} - {result.rows_deleted}"
                raise WrongError(Kind.FIGURES, f"{said}, but there are {len(stored)}")
        copy.stored = len(stored)

    def _stored(self, copy: Copy) -> list[Tuple]:
        """The rows of its table; that Delta would have to look for their files first takes far longer."""
        with workspace(Jvm.of(self.spark)) as jvm:
            fit(jvm, 0)
            rows = Transaction(jvm, copy.view.path).target().drop(FILE, ROW)
            return [tuple(row) for row in rows.collect()]

    def _weights(self, layout: Layout, place: dict[int, int], stored: list[Tuple]) -> None:
        """A stored group has rows, and no count is below zero."""
        counts = [place[state.attribute.id] for state in layout.states if _is_count(state.value)]
        if any(row[n] is None or row[n] < 0 for row in stored for n in counts):
            raise WrongError(Kind.NEGATIVE, "a hidden count is below zero")
        if layout.keys and layout.rows is not None:
            rows = place[layout.rows.id]
            if any(row[rows] <= 0 for row in stored):
                raise WrongError(Kind.NEGATIVE, "a group without rows is stored")

    # -- failing -------------------------------------------------------------------------------------

    def _wanted(self, case: Case) -> Counter[Tuple] | None:
        """What Spark itself says, or nothing when it cannot run the query."""
        try:
            with self.tally.timed("query"):
                return bag(self.oracle.rows(case.sql))
        except Exception as error:
            self.tally.invalid[_said(error)[:160]] += 1
            return None

    @contextmanager
    def _noted(self, case: Case, step: int, title: str, technique: str) -> Iterator[None]:
        try:
            yield
        except WrongError as wrong:
            self._fail(case, step, title, technique, wrong.kind, str(wrong))
        except Exception as error:  # whatever the engine raises is what is looked for
            self._fail(case, step, title, technique, Kind.ERROR, _said(error))

    def _fail(self, case: Case, step: int, title: str, technique: str, kind: Kind, message: str) -> None:
        self.failures.setdefault(case.number, Failure(case, step, title, technique, kind, message))


def _by_table(statements: Sequence[str]) -> dict[str, list[str]]:
    """What happens to each table, which is nothing to the others."""
    found: dict[str, list[str]] = {}
    for statement in statements:
        found.setdefault(changed(statement), []).append(statement)
    return found


def newest_version(path: str) -> int:
    """The last commit in a table's log folder."""
    log = Path(unquote(urlparse(path).path)) / "_delta_log"
    return max(int(file.stem) for file in log.glob("*.json") if file.stem.isdigit())


def _is_count(value: Any) -> bool:
    """Is a state the number of some rows?"""
    if value == literal(1):
        return True
    return bool(value.op == "if" and value.children[1:] == (literal(1), literal(0)))


def _said(error: Exception) -> str:
    """What went wrong in one line; of an error inside the JVM, its cause."""
    inside = getattr(error, "java_exception", None)
    if inside is not None:
        while inside.getCause() is not None:
            inside = inside.getCause()
        return str(inside.toString()).strip().splitlines()[0]
    return f"{type(error).__name__}: {first_line(error)}"

"""Goes through the batches: ingest, refresh all views AUTO and in full, check, then force every technique."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from rennet.api import Engine
from rennet.bench.tpcdi.reference import Reference
from rennet.bench.tpcdi.run import check
from rennet.bench.tpcdi.run.measure import Measured, measuring
from rennet.bench.tpcdi.run.record import Entry, Record
from rennet.bench.tpcdi.run.workload import EVALUATED, Workload
from rennet.errors import Policy, RennetError, Technique
from rennet.execute.record import RefreshResult
from rennet.storage.provenance import Provenance
from rennet.storage.sources import SourceVersion

INGESTED = "rennet_tpcdi"
PIPELINES = {"AUTO": f"{INGESTED}_auto", "FULL": f"{INGESTED}_full"}
"""The schemas of the two pipelines, which read the same ingested tables."""
FORCED = f"{INGESTED}_forced"
BACKING = re.compile(r"__mv_(\w+)__\d+$")
Say = Callable[[str], None]


@dataclass(frozen=True)
class Plan:
    """What to measure."""

    variant: str = "paper"
    batches: int = 3
    views: tuple[str, ...] = EVALUATED
    """The views on which techniques are forced."""
    forced_from: int = 2
    """The first batch for which they are."""
    repeat: int = 1
    pipelines: tuple[str, ...] = tuple(PIPELINES)
    every_judge: bool = True
    """Check all views by all means after every batch. If not, check those that change after batches that
    change them: by DuckDB where its table has all columns of the view, else by the view's query."""
    policy: Policy = Policy.AUTO
    """What the views of the AUTO pipeline permit: with another, it is not the cost model that chooses."""


class Runner:
    """One run, on a Spark that does nothing else."""

    def __init__(
        self, spark: SparkSession, workload: Workload, data: Path, record: Record, plan: Plan, say: Say
    ) -> None:
        self.spark = spark
        self.engine = Engine(spark)
        self.workload = workload
        self.data = data
        self.record = record
        self.plan = plan
        self.say = say
        self._entities = workload.variants[plan.variant]

    def run(self) -> None:
        """Do everything the record does not have yet."""
        before = self.spark.catalog.currentDatabase()
        try:
            if not self.record.document["ingests"]:
                self._clear()
            for batch in range(1, self.plan.batches + 1):
                self._ingest(batch)
                for mode in self.plan.pipelines:
                    for view in self.workload.views:
                        self._refresh(batch, mode, view)
                if batch > 1 or self.plan.every_judge:
                    self._check(batch)
                if batch >= self.plan.forced_from:
                    self._force(batch)
        finally:
            with suppress(Exception):  # Spark may be gone: then what ended the run is what matters
                self.spark.sql(f"USE {before}")

    # -- the tables below the views

    def _clear(self) -> None:
        for schema in (FORCED, *PIPELINES.values(), INGESTED):
            self.spark.sql(f"DROP SCHEMA IF EXISTS {schema} CASCADE")
        for schema in (INGESTED, *PIPELINES.values(), FORCED):
            self.spark.sql(f"CREATE SCHEMA {schema}")

    def _ingest(self, batch: int) -> None:
        """Append a batch's files and merge its entities. What was done before is not done twice."""
        if self.record.find("ingests", batch=batch):
            return
        self.spark.sql(f"USE {INGESTED}")
        started = time.perf_counter()
        self.workload.ingest(self.spark, self.data, batch)
        appended = time.perf_counter() - started
        self.workload.keep_entities(self.spark, self._entities, batch)
        took = time.perf_counter() - started
        if batch == 1:
            for schema in PIPELINES.values():
                self._show(schema)
        self.record.add("ingests", batch=batch, wall_seconds=took, append_seconds=appended)
        self.say(f"batch {batch}: ingested in {took:.1f} s")

    def _show(self, schema: str) -> None:
        """Make the ingested tables, and the stages that are none, visible in a pipeline's schema."""
        tables = [
            row.tableName
            for row in self.spark.sql(f"SHOW TABLES IN {INGESTED}").collect()
            if not row.isTemporary
        ]
        for name in tables:
            self.spark.sql(f"CREATE OR REPLACE VIEW {schema}.{name} AS SELECT * FROM {INGESTED}.{name}")
        self.spark.sql(f"USE {schema}")
        for name in self.workload.stages:
            if name not in tables:
                self.spark.sql(f"CREATE OR REPLACE VIEW {name} AS {self.workload.query(name)}")

    # -- whole pipelines

    def _refresh(self, batch: int, mode: str, view: str) -> None:
        if self.record.find("refreshes", batch=batch, mode=mode, view=view):
            return
        self.spark.sql(f"USE {PIPELINES[mode]}")
        with measuring(self.spark) as measured:
            if batch == 1:
                result = self._create(mode, view)
            else:
                result = self.engine.refresh(view, full=mode == "FULL")
        provenance = self.engine.find(view).provenance
        assert provenance is not None
        lost = self._lost(batch, mode, view, result, provenance)
        entry = _entry(measured, provenance if lost or result is None else result, provenance)
        self.record.add("refreshes", batch=batch, mode=mode, view=view, lost=lost, **entry)
        self.say(f"batch {batch}: {mode} {view}: {'done before, not measured: ' * lost}{_told(entry)}")

    def _lost(
        self, batch: int, mode: str, view: str, result: RefreshResult | None, provenance: Provenance
    ) -> bool:
        """Whether a run that was killed had done this refresh, but not written down what it cost.

        Then there is nothing to do any more, though the sources are not those of the batch before.
        """
        if result is None or result.technique is not Technique.NO_OP:
            return result is None
        before = self.record.find("refreshes", batch=batch - 1, mode=mode, view=view)
        return any(each["sources"] != _dicts(provenance.sources) for each in before)

    def _create(self, mode: str, view: str) -> RefreshResult | None:
        policy = self.plan.policy if mode == "AUTO" else Policy.FULL
        return self.engine.create_materialized_view(view, self.workload.query(view), policy=policy)

    # -- checks

    def _check(self, batch: int) -> None:
        """Check every view of the AUTO pipeline, and let DuckDB compute everything in full."""
        if self.record.find("references", batch=batch):
            return
        self.spark.sql(f"USE {PIPELINES['AUTO']}")
        started, cpu = time.perf_counter(), time.process_time()
        with Reference(self.data, batch) as reference:
            took, used = time.perf_counter() - started, time.process_time() - cpu
            self.say(f"batch {batch}: DuckDB computed everything in {took:.1f} s, {used:.1f} s of CPU")
            self._note(batch, self._checks(batch, reference))
        seconds = reference.seconds
        self.record.add("references", batch=batch, wall_seconds=took, cpu_seconds=used, seconds=seconds)

    def _checks(self, batch: int, reference: Reference) -> Iterable[check.Checked]:
        """Checks that are still to be made, each made as it is asked for."""
        for view in self.workload.views:
            for judge in self._judges(view):
                if self._checked(batch, view, judge):
                    continue
                if judge == check.DUCKDB:
                    yield check.with_duckdb(self.spark, reference, view)
                else:
                    yield check.with_its_query(self.engine, view)
        if self.plan.every_judge:
            yield from check.invariants(self.spark, batch)

    def _judges(self, view: str) -> tuple[str, ...]:
        if self.plan.every_judge:
            return (check.QUERY, check.DUCKDB) if view in check.COMPARED else (check.QUERY,)
        if view not in EVALUATED:
            return ()
        _, columns = check.COMPARED[view]
        return (check.QUERY,) if columns else (check.DUCKDB,)

    def _checked(self, batch: int, subject: str, by: str) -> bool:
        return bool(self.record.find("checks", batch=batch, subject=subject, by=by))

    def _note(self, batch: int, found: Iterable[check.Checked]) -> None:
        for each in found:
            if not self._checked(batch, each.subject, each.by):
                self.record.add("checks", batch=batch, **asdict(each))
            if not each.ok:
                self.say(f"batch {batch}: WRONG by {each.by}: {each.subject}: {each.note}")
        done = self.record.find("checks", batch=batch)
        self.say(f"batch {batch}: {sum(each['ok'] for each in done)} of {len(done)} checks passed")

    # -- techniques one by one

    def _force(self, batch: int) -> None:
        for view in self.workload.views:
            if view in self.plan.views:
                self._force_view(batch, view)

    def _force_view(self, batch: int, view: str) -> None:
        """Refresh views of the same query by every technique that this change allows, and without rennet."""
        self._overwrite(batch, view)
        chosen = self.record.find("refreshes", batch=batch, mode="AUTO", view=view)
        possible = [each["technique"] for entry in chosen for each in entry.get("techniques", ())
                    if each["applicable"]]  # fmt: skip
        # In turns: what is compiled, or read into memory, by one helps the others alike.
        for number in range(self.plan.repeat):
            for technique in dict.fromkeys(possible):
                if not self.record.find("forced", batch=batch, view=view, asked=technique, run=number):
                    entry = self._forced(batch, view, Technique(technique))
                    self.record.add("forced", batch=batch, view=view, asked=technique, run=number, **entry)
                    self.say(f"batch {batch}: {view} by {technique}: {_told(entry)}")

    def _overwrite(self, batch: int, view: str) -> None:
        """What one does without rennet: Spark runs the query again and overwrites a table."""
        done = {entry["run"] for entry in self.record.find("overwrites", batch=batch, view=view)}
        missing = [number for number in range(self.plan.repeat) if number not in done]
        if not missing:
            return
        self.spark.sql(f"USE {PIPELINES['AUTO']}")
        query, name = self.workload.query(view), f"{FORCED}.{view}__overwritten".lower()
        self.spark.sql(f"CREATE OR REPLACE TABLE {name} USING delta AS {query}")
        for number in missing:
            with measuring(self.spark) as measured:
                self.spark.sql(f"INSERT OVERWRITE {name} {query}")
            entry = asdict(measured)
            self.record.add("overwrites", batch=batch, view=view, run=number, **entry)
            wall, cpu = entry["wall_seconds"], entry["cpu_seconds"]
            self.say(f"batch {batch}: {view} by INSERT OVERWRITE: {wall:.2f} s, {cpu:.2f} s of CPU")
        self.spark.sql(f"DROP TABLE {name}")

    def _forced(self, batch: int, view: str, technique: Technique) -> Entry:
        """One refresh, of a view of its own: made as of the batch before, brought to this one."""
        self.spark.sql(f"USE {PIPELINES['AUTO']}")
        name = f"{FORCED}.{view}__{technique}".lower()
        self.engine.drop(name, if_exists=True)
        self.engine.create_materialized_view(
            name, self.workload.query(view), pins=self._pins(batch - 1, view)
        )
        try:
            with measuring(self.spark) as measured:
                result = self.engine.refresh(name, technique=technique, pins=self._pins(batch, view))
            provenance = self.engine.find(name).provenance
            assert provenance is not None
            return _entry(measured, result, provenance)
        except RennetError as error:
            return {"error": str(error)}
        finally:
            self.engine.drop(name)

    def _pins(self, batch: int, view: str) -> dict[str, SourceVersion]:
        """The versions of its sources that the AUTO pipeline's view was made of in a batch."""
        (entry,) = self.record.find("refreshes", batch=batch, mode="AUTO", view=view)
        sources = (SourceVersion.from_dict(source) for source in entry["sources"])
        return {source.path: source for source in sources}


def _dicts(sources: Iterable[SourceVersion]) -> list[dict[str, str | int]]:
    return [source.to_dict() for source in sources]


def _entry(measured: Measured, done: RefreshResult | Provenance, provenance: Provenance) -> Entry:
    """A refresh as the record keeps it: what it did, of what, and what that cost."""
    sources = provenance.sources
    return {
        "technique": str(done.technique),
        "reason": done.reason,
        "rows_inserted": done.rows_inserted,
        "rows_deleted": done.rows_deleted,
        "techniques": [_plain(each) for each in done.techniques],
        "upstream": sorted({found[1] for source in sources if (found := BACKING.search(source.name))}),
        "sources": _dicts(sources),
        **asdict(measured),
    }


def _plain(technique: dict[str, Any]) -> Entry:
    """What became of a technique, with its estimate if the cost model gives one."""
    return {name: value if _is_plain(value) else str(value) for name, value in technique.items()}


def _is_plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(isinstance(name, str) and _is_plain(each) for name, each in value.items())
    if isinstance(value, list | tuple):
        return all(_is_plain(each) for each in value)
    return value is None or isinstance(value, str | int | float | bool)


def _told(entry: Entry) -> str:
    """A refresh in a line."""
    if "error" in entry:
        return str(entry["error"])
    wall, cpu = entry["wall_seconds"], entry["cpu_seconds"]
    costs = f"{wall:.2f} s, {cpu:.2f} s of CPU, {entry['jobs']} jobs, {entry['rows_read']:,} rows read"
    return f"{entry['technique']}: {costs}, +{entry['rows_inserted']:,} -{entry['rows_deleted']:,}"

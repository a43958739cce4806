"""One update: every dataset after what it reads, each in commits of its own, and a record of what came of it.

Nothing has to be resumed after a kill. A view's refresh is one commit, a streaming flow goes on from its
checkpoint, a batch of changes carries its number: what was committed is not done again, what was not is.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from rennet.api import Engine
from rennet.errors import ConcurrentRefreshError, PipelineError, RennetError
from rennet.execute.planning import current_database
from rennet.execute.situation import Pins
from rennet.jvm import Jvm
from rennet.pipelines.builders import Builders, Built
from rennet.pipelines.definitions import DatasetKind
from rennet.pipelines.eventlog import Event, EventLog
from rennet.pipelines.graph import Node, downstream, full_name
from rennet.pipelines.resolve import Graph
from rennet.pipelines.spec import Spec
from rennet.storage.sources import pin
from rennet.storage.tables import first_line

AT_ONCE = max(2, min(4, os.cpu_count() or 1))
"""Datasets built at the same time: most of a small refresh is work of the driver, which has so many cores."""
ATTEMPTS, PAUSE = 4, 0.5
"""How often a dataset that met another writer is tried, and how long the first wait is; each doubles it."""


class Status(StrEnum):
    """What became of a dataset in an update."""

    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    SKIPPED = "SKIPPED"
    """Something it reads failed."""
    EXCLUDED = "EXCLUDED"
    """It was not asked for."""


@dataclass(frozen=True)
class Selection:
    """Which datasets to bring up to date, and which to compute anew; all, and none, unless told otherwise."""

    refresh: tuple[str, ...] = ()
    full_refresh: tuple[str, ...] = ()
    full_refresh_all: bool = False


@dataclass(frozen=True)
class DatasetResult:
    """What an update did to one dataset."""

    name: str
    kind: DatasetKind
    status: Status
    message: str = ""
    seconds: float = 0.0
    built: Built | None = None
    error: Exception | None = None


@dataclass(frozen=True)
class UpdateResult:
    """What an update did."""

    number: int
    datasets: tuple[DatasetResult, ...]
    seconds: float
    versions: dict[str, Any] = field(default_factory=dict)

    @property
    def succeeded(self) -> bool:
        return all(each.status in (Status.COMPLETED, Status.EXCLUDED) for each in self.datasets)

    @property
    def changed(self) -> bool:
        """Whether any row did."""
        return any(each.built is not None and each.built.changed for each in self.datasets)


class Update:
    """Runs a graph once."""

    def __init__(
        self,
        engine: Engine,
        jvm: Jvm,
        graph: Graph,
        spec: Spec,
        log: EventLog,
        told: Callable[[DatasetResult], None] = lambda _: None,
        known: Mapping[str, DatasetResult] | None = None,
    ) -> None:
        """`known` is what became of datasets that others keep up to date."""
        self.engine, self.jvm, self.graph, self.spec = engine, jvm, graph, spec
        self.log, self.told, self.known = log, told, known or {}
        self.events: list[Event] = []

    def run(self, selection: Selection) -> UpdateResult:
        """Bring the selected datasets up to date; what fails stops only what reads it."""
        started = time.monotonic()
        chosen, full = self._chosen(selection)
        number = self.log.last_update() + 1
        pins: Pins = {}
        builders = Builders(self.engine, self.jvm, self.graph, self.spec.storage_path(), pins)
        results: dict[str, DatasetResult] = {}
        with current_database(self.jvm.spark, self.graph.database):
            for node, result in self._built(builders, chosen, full):
                results[node.key] = result
                self._note(node, result)
                self.told(result)
        versions = self._versions()
        ordered = tuple(results[node.key] for node in self.graph.ordered())
        made = UpdateResult(number, ordered, time.monotonic() - started, versions)
        self._close(made, selection)
        return made

    def _built(
        self, builders: Builders, chosen: set[str], full: set[str]
    ) -> Iterator[tuple[Node, DatasetResult]]:
        """Build each dataset as soon as all that it reads is there, and hand it on as soon as it is done."""
        failed: set[str] = set()

        def build(node: Node) -> DatasetResult:
            with self.jvm.active():
                return self._dataset(node, builders, chosen, full)

        def skipped(node: Node) -> DatasetResult | None:
            if node.key not in downstream(self.graph.inputs, failed):
                return self.known.get(node.key)
            return DatasetResult(node.key, node.kind, Status.SKIPPED, "something it reads failed")

        for node, result in in_order(self.graph, self._can_run_apart, build, skipped):
            if result.status is Status.FAILED:
                failed.add(node.key)
            yield node, result

    def _can_run_apart(self, node: Node) -> bool:
        """Does building it leave the update's own session as it is? Then others may use it meanwhile."""
        return all(not flow.conf and flow.database in (None, self.graph.database) for flow in node.flows)

    def _chosen(self, selection: Selection) -> tuple[set[str], set[str]]:
        """Keys of the datasets to build, and of those to build anew."""
        stored = {
            key for key, node in self.graph.nodes.items() if node.kind is not DatasetKind.TEMPORARY_VIEW
        }
        if selection.full_refresh_all:
            return stored, stored
        full = self._keys(selection.full_refresh)
        some = full | self._keys(selection.refresh)
        return some or stored, full

    def _keys(self, names: Iterable[str]) -> set[str]:
        found = set()
        for name in names:
            local = name.lower()
            key = local if local in self.graph.nodes else full_name(name, self.graph.database)
            if key not in self.graph.nodes:
                raise PipelineError(f"{name} is not a dataset of this pipeline.")
            found.add(key)
        return found

    def _dataset(self, node: Node, builders: Builders, chosen: set[str], full: set[str]) -> DatasetResult:
        name, kind = node.key, node.kind
        if node.key not in chosen and kind is not DatasetKind.TEMPORARY_VIEW:
            return DatasetResult(name, kind, Status.EXCLUDED)
        started = time.monotonic()
        try:
            built = _patiently(lambda: builders.build(node, node.key in full))
        except Exception as error:  # whatever it was, the other datasets go on
            said = error.message if isinstance(error, RennetError) else first_line(error)
            took = time.monotonic() - started
            return DatasetResult(name, kind, Status.FAILED, said, took, error=error)
        return DatasetResult(name, kind, Status.COMPLETED, built.summary, time.monotonic() - started, built)

    # -- the record

    def _note(self, node: Node, result: DatasetResult) -> None:
        level = "ERROR" if result.status is Status.FAILED else "INFO"
        built = result.built
        details: dict[str, Any] = {"status": str(result.status), "seconds": round(result.seconds, 3)}
        if built is not None:
            details |= {"rows_inserted": built.inserted, "rows_deleted": built.deleted}
            details["data_quality"] = {"expectations": [each.to_dict() for each in built.outcomes]}
            if built.planning:
                what = f"{node.key}: {built.summary}"
                self.events.append(Event("planning_information", what, node.key, details=built.planning))
        said = f"{node.key} is {result.status}" + (f": {result.message}" if result.message else "")
        self.events.append(
            Event("flow_progress", said, node.key, node.key, level, {"flow_progress": details}, result.error)
        )

    def _versions(self) -> dict[str, Any]:
        """The version of every stored dataset, all of one moment."""
        builders = Builders(self.engine, self.jvm, self.graph, self.spec.storage_path(), {})
        places = builders.places()
        found = pin(self.jvm, list(places.items())) if places else ()
        return {each.name: each.to_dict() for each in found}

    def _close(self, made: UpdateResult, selection: Selection) -> None:
        state = "COMPLETED" if made.succeeded else "FAILED"
        started = Event(
            "create_update",
            f"update {made.number}",
            details={
                "refresh": selection.refresh,
                "full_refresh": selection.full_refresh,
                "full_refresh_all": selection.full_refresh_all,
            },
        )
        done = Event(
            "update_progress",
            f"update {made.number} is {state}",
            level="INFO" if made.succeeded else "ERROR",
            details={"state": state, "seconds": round(made.seconds, 3), "versions": made.versions},
        )
        self.log.record(made.number, [started, *self.events, done])


def in_order(
    graph: Graph,
    apart: Callable[[Node], bool],
    build: Callable[[Node], DatasetResult],
    known: Callable[[Node], DatasetResult | None],
) -> Iterator[tuple[Node, DatasetResult]]:
    """Build every dataset after all that it reads, several at the same time, what most others wait for first.

    One that cannot be built `apart` is built while no other is. What is `known` need not be built.
    """
    waiting = {key: len(graph.below(key)) for key in graph.nodes}
    left, done = sorted(graph.ordered(), key=lambda node: -waiting[node.key]), set[str]()
    running: dict[Future[DatasetResult], Node] = {}
    with ThreadPoolExecutor(max_workers=AT_ONCE, thread_name_prefix="rennet") as pool:
        while left or running:
            ready = [node for node in left if done.issuperset(graph.inputs[node.key])]
            settled = [node for node in ready if known(node) is not None]
            others = [node for node in ready if node not in settled and apart(node)]
            chosen = settled + others[: AT_ONCE - len(running)]
            if not chosen and not running:
                chosen = ready[:1]
            left = [node for node in left if node not in chosen]
            for node in chosen:
                result = known(node)
                if result is None and apart(node):
                    running[pool.submit(build, node)] = node
                    continue
                yield node, result or build(node)
                done.add(node.key)
            if not chosen:
                finished, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    node = running.pop(future)
                    yield node, future.result()
                    done.add(node.key)


def _patiently(build: Callable[[], Built]) -> Built:
    """Try again when another writer was first, waiting longer each time."""
    for attempt in range(ATTEMPTS):
        try:
            return build()
        except ConcurrentRefreshError:
            if attempt == ATTEMPTS - 1:
                raise
            time.sleep(PAUSE * 2**attempt)
    raise AssertionError("unreachable")

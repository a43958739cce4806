"""A pipeline that is kept up to date until it is told to stop.

Streams stay open and take what arrives, micro-batch by micro-batch. As soon as a table that views come from
has another version, they are refreshed, in an update of their own; nothing is recorded while nothing happens.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from pyspark.sql.streaming.query import StreamingQuery

from rennet.pipelines.builders import Builders, Built
from rennet.pipelines.definitions import DatasetKind
from rennet.pipelines.graph import APPENDED, Node
from rennet.pipelines.project import Pipeline
from rennet.pipelines.streaming import Trigger
from rennet.pipelines.update import DatasetResult, Selection, Status, UpdateResult
from rennet.storage.sources import SourceVersion, pin
from rennet.storage.tables import first_line

LONGEST_PAUSE = 60.0
"""Seconds until a stream that keeps failing is opened again; the first pause is the interval, each doubles
the one before."""


@dataclass
class Stream:
    """A dataset whose flows are open, and how far they had come when they were last asked."""

    node: Node
    queries: list[StreamingQuery] = field(default_factory=list)
    seen: dict[str, int] = field(default_factory=dict)
    failures: int = 0
    retry_at: float = 0.0

    @property
    def error(self) -> Exception | None:
        """Why a flow has ended: they have no other reason to."""
        return next((each.exception() for each in self.queries if not each.isActive), None)

    def arrived(self) -> int:
        """Rows that came since this was last asked."""
        rows = 0
        for query in self.queries:
            last = self.seen.get(str(query.id), -1)
            new = [each for each in query.recentProgress if each["batchId"] > last]
            rows += sum(each["numInputRows"] for each in new)
            self.seen[str(query.id)] = max([last, *(each["batchId"] for each in new)])
        return rows

    def close(self) -> None:
        for query in self.queries:
            query.stop()
        self.queries.clear()


class Continuous:
    """Runs a pipeline's streams, and its views whenever there is a reason to."""

    def __init__(
        self,
        pipeline: Pipeline,
        selection: Selection,
        interval: float,
        told: Callable[[DatasetResult], None] = lambda _: None,
        updated: Callable[[UpdateResult], None] = lambda _: None,
    ) -> None:
        self.pipeline, self.selection, self.interval = pipeline, selection, interval
        self.told, self.updated = told, updated
        self.streams: dict[str, Stream] = {}
        self.read: tuple[SourceVersion, ...] | None = None

    def run(self, stop: threading.Event) -> None:
        """Until told to stop: one ordinary update, then streams and rounds."""
        self.updated(self.pipeline.update(self.selection, self.told))
        chosen = {name.lower() for name in self.selection.refresh}
        for key, node in self.pipeline.graph.nodes.items():
            if _goes_on(node) and (not chosen or chosen & {key, key.rpartition(".")[2]}):
                self.streams[key] = Stream(node)
        # Streams make their sources in threads of their own, some time after they were opened: relative paths
        # must mean the project's folder all along.
        with self.pipeline.inside():
            try:
                while not stop.is_set():
                    started = time.monotonic()
                    self.round()
                    stop.wait(max(0.0, self.interval - (time.monotonic() - started)))
            finally:
                for stream in self.streams.values():
                    stream.close()

    def round(self) -> None:
        """Open what is not, and bring up to date what reads tables that moved."""
        known = {key: self._state(stream) for key, stream in self.streams.items()}
        now = self._versions()
        failed = any(result.status is Status.FAILED for result in known.values())
        if now == self.read and not failed and not self._must_ask():
            return
        self.read = now
        selection = Selection(self.selection.refresh)
        self.updated(self.pipeline.update(selection, self.told, known))

    def _state(self, stream: Stream) -> DatasetResult:
        """How a stream is doing; one that has failed is closed, and opened again after a while."""
        node, error = stream.node, stream.error
        if error is not None:
            stream.close()
            stream.failures += 1
            pause = self.interval * 2 ** (stream.failures - 1)
            stream.retry_at = time.monotonic() + min(pause, LONGEST_PAUSE)
            return DatasetResult(node.key, node.kind, Status.FAILED, first_line(error), error=error)
        if not stream.queries and time.monotonic() >= stream.retry_at:
            self._open(stream)
        rows = stream.arrived()
        if rows:
            stream.failures = 0
        built = Built(f"{rows:,} rows", rows, 0, rows > 0)
        return DatasetResult(node.key, node.kind, Status.COMPLETED, built.summary, built=built)

    def _open(self, stream: Stream) -> None:
        trigger = Trigger(self.interval, stream.queries)
        self._builders(trigger).build(stream.node, False)
        stream.seen.clear()

    def _versions(self) -> tuple[SourceVersion, ...]:
        """Of the streaming tables, and of the tables outside that views read."""
        graph, builders = self.pipeline.graph, self._builders()
        tables = {
            path: name
            for key, found in graph.sources.items()
            if key not in self.streams
            for path, name in found.items()
        }
        for key, node in graph.nodes.items():
            if node.kind is DatasetKind.STREAMING_TABLE and (place := builders.place(node)) is not None:
                tables[place] = key
        return pin(self.pipeline.jvm, [(name, path) for path, name in tables.items()]) if tables else ()

    def _must_ask(self) -> bool:
        """Snapshots of a function: there is no log that says whether it has another one."""
        flows = [flow for node in self.pipeline.graph.nodes.values() for flow in node.flows]
        return any(flow.snapshots is not None and callable(flow.snapshots.source) for flow in flows)

    def _builders(self, trigger: Trigger | None = None) -> Builders:
        of = self.pipeline
        return Builders(of.engine, of.jvm, of.graph, of.spec.storage_path(), {}, trigger)


def _goes_on(node: Node) -> bool:
    """Whether all flows of a dataset are streams, which can stay open."""
    return node.kind in APPENDED and all(not flow.once and flow.snapshots is None for flow in node.flows)

"""How each kind of dataset is brought up to date."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from rennet.api import Engine, Refreshing
from rennet.cost.learned import Learned, Reader
from rennet.errors import PipelineError, Technique
from rennet.execute.planning import current_database
from rennet.execute.record import RefreshResult
from rennet.execute.situation import Pins
from rennet.jvm import Jvm
from rennet.pipelines import expectations as expecting
from rennet.pipelines import streamed, streaming
from rennet.pipelines.cdc import snapshots
from rennet.pipelines.cdc.apply import Applied, apply, create_target, widen
from rennet.pipelines.definitions import Dataset, DatasetKind, Expectation, Flow
from rennet.pipelines.expectations import Outcome
from rennet.pipelines.graph import Node
from rennet.pipelines.planning import planning_information
from rennet.pipelines.resolve import Graph, configured, evaluate, merged, parsed
from rennet.pipelines.streamed import Layout
from rennet.pipelines.streaming import Checkpoints, Streamed, Trigger, Wanted
from rennet.storage import tables
from rennet.storage.names import ViewName, quote


@dataclass(frozen=True)
class Built:
    """What was done to a dataset, in words and numbers."""

    summary: str = ""
    inserted: int = 0
    deleted: int = 0
    changed: bool = False
    outcomes: tuple[Outcome, ...] = ()
    planning: dict[str, Any] = field(default_factory=dict)


class Builders:
    """Builds the datasets of one graph, in one update."""

    def __init__(
        self,
        engine: Engine,
        jvm: Jvm,
        graph: Graph,
        storage: Path,
        pins: Pins,
        trigger: Trigger | None = None,
    ) -> None:
        self.engine, self.jvm, self.graph, self.pins = engine, jvm, graph, pins
        self.trigger = trigger or Trigger()
        self.checkpoints = Checkpoints(storage)
        self._known_readers: dict[ViewName, Reader | None] = {}

    def build(self, node: Node, full: bool) -> Built:
        """Bring a dataset up to date, or compute it anew."""
        if node.kind is DatasetKind.TEMPORARY_VIEW:
            evaluate(self.jvm, node.flows[0], self.graph.database).createOrReplaceTempView(quote(node.key))
            return Built("defined")
        if node.kind is DatasetKind.VIEW:
            return self._view(node)
        if node.kind is DatasetKind.MATERIALIZED_VIEW:
            return self._materialized_view(node, full)
        if node.kind is DatasetKind.SINK:
            return self._sink(node)
        return self._changes(node, full) if node.is_cdc else self._appended(node, full)

    def places(self) -> dict[str, str]:
        """Name and path of every stored dataset that exists."""
        found = {key: self.place(node) for key, node in self.graph.nodes.items()}
        return {key: place for key, place in found.items() if place is not None}

    def place(self, node: Node) -> str | None:
        """The path of a dataset's rows, if they are stored and there."""
        if node.kind not in (DatasetKind.MATERIALIZED_VIEW, DatasetKind.STREAMING_TABLE):
            return None
        name = _name(node)
        table = tables.lookup(self.jvm, name)
        if node.is_cdc:
            target = streamed.find(self.jvm, name)
            table = target.backing if target else None
        elif node.kind is DatasetKind.STREAMING_TABLE:
            table = name if self.jvm.spark.catalog.tableExists(name.sql) else None
        return None if table is None else tables.location(self.jvm, table)

    # -- views

    def _view(self, node: Node) -> Built:
        flow = node.flows[0]
        if not isinstance(flow.query, str):
            raise PipelineError(f"{node.dataset.name} is a view that is not defined by SQL.")
        with current_database(self.jvm.spark, flow.database or self.graph.database):
            self.jvm.spark.sql(f"CREATE OR REPLACE VIEW {_name(node).sql} AS {flow.query}")
        return Built("defined")

    def _materialized_view(self, node: Node, full: bool) -> Built:
        flow, dataset = node.flows[0], node.dataset
        expected = (*dataset.expectations, *flow.expectations)
        found = self._counted(node, flow, expected, full)
        expecting.stop_if_failed(dataset.name, found)
        query = (
            flow.query if not expected and dataset.schema is None else self._function(dataset, flow, expected)
        )
        result = self._refreshed(node.key, dataset, flow, query, full)
        changed = result.technique is not Technique.NO_OP
        summary = f"{result.technique}: {result.reason}"
        return Built(
            summary,
            result.rows_inserted,
            result.rows_deleted,
            changed,
            tuple(found),
            planning_information(result),
        )

    def _refreshed(self, key: str, dataset: Dataset, flow: Flow, query: Any, full: bool) -> RefreshResult:
        """Create the view if it is new or means something else now, else refresh it."""
        spark = self.jvm.spark
        with current_database(spark, flow.database or self.graph.database), configured(self.jvm, flow):
            result = self.engine.create_materialized_view(
                key,
                query,
                replace=True,
                comment=dataset.comment,
                columns=dict(dataset.columns),
                properties=dataset.properties,
                partitioned_by=dataset.partitioned_by,
                cluster_by=dataset.cluster_by,
                policy=dataset.policy,
                schedule=dataset.schedule.to_dict() if dataset.schedule else None,
                pins=self.pins,
                refreshing=Refreshing(full, pins=self.pins, readers=self._readers(key)),
            )
        assert result is not None
        return result

    def _readers(self, key: str) -> list[Reader]:
        """The views below this one, which its changes will have to go through."""
        views = [n for n in self.graph.below(key) if n.kind is DatasetKind.MATERIALIZED_VIEW]
        found = (self._reader(name) for name in map(_name, views))
        return [reader for reader in found if reader is not None]

    def _reader(self, name: ViewName) -> Reader | None:
        """What a view's refreshes have cost; asked of it once, for it is built after all that it reads."""
        if name not in self._known_readers:
            there = tables.lookup(self.jvm, name) is not None
            costs = tables.find(self.jvm, name).costs if there else None
            made = None if costs is None else Learned.from_json(costs).reader(str(name))
            self._known_readers[name] = made
        return self._known_readers[name]

    def _function(self, dataset: Dataset, flow: Flow, expected: tuple[Expectation, ...]) -> Any:
        """The query with the user's types, without the rows that are to be left out."""

        def query() -> DataFrame:
            return expecting.kept(self._rows(dataset, flow), expected)

        query.__qualname__ = flow.name
        return query

    def _rows(self, dataset: Dataset, flow: Flow) -> DataFrame:
        """What the query gives, with the names and types the user gave."""
        frame = parsed(self.jvm, flow.query) if isinstance(flow.query, str) else evaluate_function(flow)
        if len(dataset.columns) == len(frame.columns):
            frame = frame.toDF(*(name for name, _ in dataset.columns))
        schema = self._schema(dataset)
        return streaming.typed(frame, schema) if schema else frame

    def _schema(self, dataset: Dataset) -> StructType | None:
        given = dataset.schema
        if not isinstance(given, str):
            return given
        found = StructType.fromDDL(given)
        assert isinstance(found, StructType)
        return found

    def _counted(
        self, node: Node, flow: Flow, expected: tuple[Expectation, ...], full: bool
    ) -> list[Outcome]:
        """Refresh the view that counts how many rows meet the expectations, and read it."""
        expecting.check(expected)
        if not expected:
            return []
        key = node.key + expecting.SUFFIX
        counting = Dataset(key, DatasetKind.MATERIALIZED_VIEW, node.dataset.location)

        def query() -> DataFrame:
            return self._rows(node.dataset, flow).agg(*expecting.counts(expected))

        query.__qualname__ = f"{flow.name}{expecting.SUFFIX}"
        self._refreshed(key, counting, flow, query, full)
        name = ViewName(*key.split("."))
        return expecting.outcomes(expected, self.jvm.spark.table(name.sql).collect())

    # -- streaming tables

    def _appended(self, node: Node, full: bool) -> Built:
        """Every flow's new rows; columns are those the flows have now, which may be more than when they were
        first looked at."""
        frames = [self._evaluated(flow) for flow in node.flows]
        given = self._schema(node.dataset)
        schema = given or merged([frame.schema for frame in frames])
        generation = streaming.prepare(self.jvm, Wanted(_name(node), node.dataset, schema), full)
        life = streaming.life(self.jvm, tables.location(self.jvm, _name(node)), generation)
        done = []
        for flow, frame in zip(node.flows, frames, strict=True):
            expected = (*node.dataset.expectations, *flow.expectations)
            expecting.check(expected)
            checkpoint = self.checkpoints.of(node.key, flow, life)
            typed = frame if given is None else streaming.typed(frame, given)
            with configured(self.jvm, flow):
                done.append(streaming.append(_name(node), flow, typed, checkpoint, expected, self.trigger))
        return _streamed(done)

    def _evaluated(self, flow: Flow) -> DataFrame:
        with configured(self.jvm, flow):
            return evaluate(self.jvm, flow, self.graph.database)

    def _sink(self, node: Node) -> Built:
        done = []
        for flow in node.flows:
            checkpoint = self.checkpoints.of(node.key, flow, "sink")
            with configured(self.jvm, flow):
                frame = evaluate(self.jvm, flow, self.graph.database)
                done.append(streaming.send(frame, node.dataset, checkpoint, flow.expectations, self.trigger))
        return _streamed(done)

    def _changes(self, node: Node, full: bool) -> Built:
        """AUTO CDC: every flow's batches, or its snapshots."""
        applied: list[Applied] = []
        fresh = full
        for flow in node.flows:
            if flow.snapshots is not None:
                applied += self._snapshots(node, flow, fresh)
            else:
                self._change_stream(node, flow, fresh, applied)
            fresh = False
        inserted, deleted = sum(a.inserted for a in applied), sum(a.deleted for a in applied)
        commits = sum(a.version is not None for a in applied)
        summary = f"{commits} of {len(applied)} batches changed rows"
        return Built(summary, inserted, deleted, commits > 0)

    def _snapshots(self, node: Node, flow: Flow, fresh: bool) -> list[Applied]:
        assert flow.snapshots is not None
        named = isinstance(flow.snapshots.source, str)
        frame = evaluate(self.jvm, flow, self.graph.database) if named else None
        return snapshots.follow(self.jvm, _name(node), flow, _layout(node.dataset), frame, fresh)

    def _change_stream(self, node: Node, flow: Flow, fresh: bool, applied: list[Applied]) -> None:
        assert flow.cdc is not None
        options, name = flow.cdc, _name(node)
        with configured(self.jvm, flow):
            frame = evaluate(self.jvm, flow, self.graph.database)
            found = None if fresh else streamed.find(self.jvm, name)
            layout = _layout(node.dataset)
            table = found or create_target(self.jvm, name, frame.schema, options, layout)
            widen(self.jvm, table, frame.schema, options, layout)
            life = streaming.life(self.jvm, table.path, table.generation)
            checkpoint = self.checkpoints.of(node.key, flow, life)

            def each(batch: DataFrame, number: int) -> None:
                bridge = Jvm.of(batch.sparkSession)
                applied.append(apply(bridge, table, batch, options, (checkpoint, number)))

            streaming.batches(frame, checkpoint, each, self.trigger)


def evaluate_function(flow: Flow) -> DataFrame:
    assert callable(flow.query)
    made: DataFrame = flow.query()
    return made


def _name(node: Node) -> ViewName:
    schema, name = node.key.split(".")
    return ViewName(schema, name)


def _layout(dataset: Dataset) -> Layout:
    return Layout(
        dataset.comment, tuple(dataset.properties.items()), dataset.partitioned_by, dataset.cluster_by
    )


def _streamed(done: list[Streamed]) -> Built:
    rows = sum(each.rows for each in done)
    batches = sum(each.batches for each in done)
    found = [outcome for each in done for outcome in each.outcomes]
    return Built(f"{rows:,} rows in {batches} batches", rows, 0, rows > 0, tuple(found))

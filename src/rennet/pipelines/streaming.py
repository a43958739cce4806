"""Streaming tables: Delta tables that flows append to, each from its own checkpoint.

A run takes what there is and stops, or goes on until it is told to: its trigger says which. A checkpoint and
the rows it stands for belong to one generation of the table: a full refresh replaces the table and begins
the next generation in one commit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter
from pyspark.sql.types import StructType

from rennet.errors import AlreadyExistsError
from rennet.jvm import Jvm
from rennet.pipelines import expectations as expecting
from rennet.pipelines.catalog import property_of
from rennet.pipelines.definitions import Dataset, Expectation, Flow
from rennet.pipelines.expectations import Outcome
from rennet.storage.names import ViewName, quote, quote_string
from rennet.storage.sources import current, delta_log
from rennet.storage.tables import needs_mapping

GENERATION = "rennet.generation"
OBSERVED = "expectations"


@dataclass(frozen=True)
class Streamed:
    """What a flow did: rows read, batches, and how the rows met what was expected of them."""

    rows: int = 0
    batches: int = 0
    outcomes: tuple[Outcome, ...] = ()


@dataclass(frozen=True)
class Trigger:
    """When streams take what has arrived: now and no more, or every so many seconds until stopped."""

    every: float | None = None
    opened: list[StreamingQuery] = field(default_factory=list)
    """The streams that go on."""

    def writer(self, frame: DataFrame, checkpoint: str) -> DataStreamWriter:
        writer = frame.writeStream.option("checkpointLocation", checkpoint)
        if self.every is None:
            return writer.trigger(availableNow=True)
        return writer.trigger(processingTime=f"{max(1, round(self.every * 1000))} milliseconds")

    def started(self, query: StreamingQuery, expected: Sequence[Expectation]) -> Streamed:
        """Wait for the end of a stream that has one; one that has none has done nothing yet."""
        if self.every is None:
            return _finished(query, expected)
        self.opened.append(query)
        return Streamed()


@dataclass(frozen=True)
class Checkpoints:
    """Where flows remember how far they have come: one place for each life of the table they feed."""

    storage: Path

    def of(self, key: str, flow: Flow, life: str) -> str:
        return str(self.storage / "checkpoints" / key / flow.name / life)


def life(jvm: Jvm, path: str, generation: int) -> str:
    """What tells a table from the one before a full refresh, or before it was dropped and made anew."""
    return f"{generation}-{current(jvm, delta_log(jvm, path)).metadata().id()}"


# -- the table


@dataclass(frozen=True)
class Wanted:
    """The table a dataset asks for."""

    name: ViewName
    dataset: Dataset
    schema: StructType
    properties: dict[str, str] = field(default_factory=dict)


def prepare(jvm: Jvm, wanted: Wanted, fresh: bool = False) -> int:
    """Make sure the table is there with all its columns; gives its generation. `fresh` empties it."""
    known = property_of(jvm.spark, wanted.name, GENERATION)
    if known is None and jvm.spark.catalog.tableExists(wanted.name.sql):
        raise AlreadyExistsError(
            f"{wanted.name} exists and is not a streaming table.", "Choose another name."
        )
    if known is None or fresh:
        generation = int(known or 0) + 1
        _create(jvm, wanted, generation)
        return generation
    _widen(jvm, wanted)
    return int(known)


def _create(jvm: Jvm, wanted: Wanted, generation: int) -> None:
    dataset = wanted.dataset
    properties = {**dataset.properties, GENERATION: str(generation)}
    if needs_mapping(wanted.schema):
        properties["delta.columnMapping.mode"] = "name"
    pairs = ", ".join(f"{quote_string(k)} = {quote_string(v)}" for k, v in properties.items())
    layout = ""
    if dataset.partitioned_by:
        layout = f"PARTITIONED BY ({', '.join(map(quote, dataset.partitioned_by))})"
    elif dataset.cluster_by:
        layout = f"CLUSTER BY ({', '.join(map(quote, dataset.cluster_by))})"
    comment = f"COMMENT {quote_string(dataset.comment)}" if dataset.comment else ""
    jvm.spark.sql(
        f"CREATE OR REPLACE TABLE {wanted.name.sql} ({_ddl(jvm, wanted.schema)}) USING delta "
        f"{layout} {comment} TBLPROPERTIES ({pairs})"
    )


def _ddl(jvm: Jvm, schema: StructType) -> str:
    return str(jvm.type("org.apache.spark.sql.types.DataType").fromJson(schema.json()).toDDL())


def _widen(jvm: Jvm, wanted: Wanted) -> None:
    """Add the columns that are new."""
    known = {name.lower() for name in jvm.spark.table(wanted.name.sql).columns}
    new = StructType([each for each in wanted.schema.fields if each.name.lower() not in known])
    if new.fields:
        jvm.spark.sql(f"ALTER TABLE {wanted.name.sql} ADD COLUMNS ({_ddl(jvm, new)})")


# -- flows


def append(
    name: ViewName,
    flow: Flow,
    frame: DataFrame,
    checkpoint: str,
    expected: Sequence[Expectation],
    trigger: Trigger,
) -> Streamed:
    """Append what a flow has to its table."""
    if flow.once:
        return _append_once(name, frame, checkpoint, expected)
    writer = trigger.writer(_guarded(frame, expected), checkpoint).format("delta").outputMode("append")
    return trigger.started(writer.toTable(name.sql), expected)


def _append_once(
    name: ViewName, frame: DataFrame, checkpoint: str, expected: Sequence[Expectation]
) -> Streamed:
    """A batch that is appended once in the life of a generation: Delta knows it by its checkpoint's name."""
    rows = expecting.kept(expecting.refused(frame, expected), expected)
    counted = [frame.agg(*expecting.counts(expected)).first()] if expected else []
    once = {"txnAppId": checkpoint, "txnVersion": "1"}
    rows.write.format("delta").mode("append").options(**once).saveAsTable(name.sql)
    return Streamed(outcomes=tuple(expecting.outcomes(expected, counted)))


def send(
    frame: DataFrame, sink: Dataset, checkpoint: str, expected: Sequence[Expectation], trigger: Trigger
) -> Streamed:
    """Append what a flow has to a sink."""
    writer = trigger.writer(_guarded(frame, expected), checkpoint).format(sink.format)
    return trigger.started(writer.options(**sink.options).outputMode("append").start(), expected)


def batches(
    frame: DataFrame, checkpoint: str, each: Callable[[DataFrame, int], None], trigger: Trigger
) -> Streamed:
    """Hand what a flow has to a function, batch by batch."""
    return trigger.started(trigger.writer(frame, checkpoint).foreachBatch(each).start(), ())


def _guarded(frame: DataFrame, expected: Sequence[Expectation]) -> DataFrame:
    if not expected:
        return frame
    observed = frame.observe(OBSERVED, *expecting.counts(expected))
    return expecting.kept(expecting.refused(observed, expected), expected)


def _finished(query: StreamingQuery, expected: Sequence[Expectation]) -> Streamed:
    """Wait for the end; an error of a batch is raised here."""
    try:
        query.awaitTermination()
    finally:
        if query.isActive:
            query.stop()
    progress: list[Any] = [each for each in query.recentProgress if each["numInputRows"] > 0]
    observed = [each["observedMetrics"][OBSERVED] for each in progress if expected]
    return Streamed(
        sum(each["numInputRows"] for each in progress),
        len(progress),
        tuple(expecting.outcomes(expected, observed)),
    )


def typed(frame: DataFrame, schema: StructType) -> DataFrame:
    """The rows with the columns and types a user gave; a column that is missing is null."""
    known = {name.lower() for name in frame.columns}
    return frame.select(
        *(
            (F.col(quote(each.name)) if each.name.lower() in known else F.lit(None))
            .cast(each.dataType)
            .alias(each.name)
            for each in schema.fields
        )
    )

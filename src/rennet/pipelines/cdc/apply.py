"""A batch of change events becomes one commit of the target, or none if it changes nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType

from rennet.errors import PipelineError
from rennet.jvm import Jvm
from rennet.pipelines import streamed
from rennet.pipelines.cdc import scd1, scd2
from rennet.pipelines.cdc.events import KIND, SEQUENCE, TRUNCATE, events
from rennet.pipelines.cdc.options import CdcOptions
from rennet.pipelines.cdc.scd1 import KEPT
from rennet.pipelines.cdc.shape import AS_ARRIVED, VISIBLE, Shape
from rennet.pipelines.streamed import Layout, StreamedTable
from rennet.storage.names import ViewName, quote
from rennet.storage.transaction import Transaction
from rennet.storage.vectors import FILE, ROW

DOMAIN = "rennet.cdc"
SMALL_BATCH = 500_000
"""Up to so many rows, the keys of a batch fit into every executor."""

FORMATS = {
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
"""JSON that loses no microsecond."""


@dataclass(frozen=True)
class Applied:
    """What a batch did to the stored rows; no version means that nothing changed."""

    inserted: int = 0
    deleted: int = 0
    version: int | None = None


def create_target(
    jvm: Jvm, name: ViewName, source: StructType, options: CdcOptions, layout: Layout | None = None
) -> StreamedTable:
    """An empty target for events of this schema, in sight at once."""
    wanted = layout or Layout()
    shape = shape_of(jvm, source, options)
    table = streamed.create(jvm, name, shape.stored, wanted)
    streamed.publish(jvm.spark, table, shape.visible, wanted, VISIBLE)
    return table


def widen(jvm: Jvm, table: StreamedTable, source: StructType, options: CdcOptions, layout: Layout) -> None:
    """Give a target the columns that its source has gained; what is stored has no value there.

    Nothing is lost by a kill in between: the next call adds what is still missing.
    """
    held = jvm.spark.table(table.backing.sql).schema
    shape = shape_of(jvm, source, options, held.names)
    for parent, new in _gained(shape.stored, held):
        column = ".".join(quote(part) for part in (*parent, new.name))
        kind = jvm.type("org.apache.spark.sql.types.DataType").fromJson(new.dataType.json()).sql()
        jvm.spark.sql(f"ALTER TABLE {table.backing.sql} ADD COLUMNS ({column} {kind})")
    shown = {name.lower() for name in jvm.spark.table(table.name.sql).columns}
    if not shown.issuperset(field.name.lower() for field in shape.visible):
        streamed.publish(jvm.spark, table, shape.visible, layout, VISIBLE)


def _gained(wanted: StructType, held: StructType) -> Iterator[tuple[tuple[str, ...], StructField]]:
    """Columns that are not there yet, and what they are part of; events as they arrived have columns too."""
    known = {field.name.lower(): field for field in held.fields}
    for field in wanted.fields:
        found = known.get(field.name.lower())
        if found is None:
            yield (), field
        elif field.name == AS_ARRIVED:
            assert isinstance(field.dataType, StructType) and isinstance(found.dataType, StructType)
            inside = {name.lower() for name in found.dataType.names}
            yield from (((AS_ARRIVED,), each) for each in field.dataType if each.name.lower() not in inside)


def shape_of(jvm: Jvm, source: StructType, options: CdcOptions, known: Sequence[str] = ()) -> Shape:
    """The target's columns for a source of this schema; `known` are those it has already."""
    return Shape.of(events(jvm.spark.createDataFrame([], source), options).schema, options, known)


def apply(
    jvm: Jvm,
    table: StreamedTable,
    batch: DataFrame,
    options: CdcOptions,
    app: tuple[str, int] | None = None,
) -> Applied:
    """Bring the target up to date with a batch; one that `app` says is applied already is left alone."""
    prepared = events(batch, options)
    with Transaction(jvm, table.path) as transaction:
        if app is not None and transaction.applied(app[0]) >= app[1]:
            return Applied()
        stored = transaction.target()
        shape = Shape.of(prepared.schema, options, stored.columns)
        _check(shape, StructType([f for f in stored.schema.fields if f.name not in (FILE, ROW)]))
        with ExitStack() as held:
            rows = prepared
            if options.scd_type == 2 or options.apply_as_truncates is not None:
                rows = held.enter_context(kept(prepared))
            truncated = _truncated(rows, shape, transaction)
            said = held.enter_context(kept(scd1.summed(rows, shape))) if options.scd_type == 1 else rows
            changed = held.enter_context(kept(_changed(stored, said, shape, truncated)))
            return _commit(transaction, changed, truncated, app)


def _check(shape: Shape, found: StructType) -> None:
    """The target must be what these options make of these events."""
    wanted = {field.name.lower(): field.dataType.simpleString() for field in shape.stored.fields}
    held = {field.name.lower(): field.dataType.simpleString() for field in found.fields}
    if wanted != held:
        differ = sorted({name for name, _ in wanted.items() ^ held.items()})
        raise PipelineError(
            f"AUTO CDC: the target does not fit the events; these columns differ: {', '.join(differ)}.",
            "Refresh the target in full, or keep to the columns it has.",
        )


@contextmanager
def kept(frame: DataFrame) -> Iterator[DataFrame]:
    """Compute once what is read several times."""
    held = frame.persist()
    try:
        yield held
    finally:
        held.unpersist()


@dataclass(frozen=True)
class Truncation:
    """The last truncate of all, as JSON and as a value, and whether this batch brought it."""

    text: str
    value: Column
    new: bool


def _truncated(rows: DataFrame, shape: Shape, transaction: Transaction) -> Truncation | None:
    if shape.options.apply_as_truncates is None:
        return None
    known = json.loads(transaction.domains().get(DOMAIN, "{}")).get("truncated")
    kind = StructType([StructField("sequence", shape.sequence)])
    stored = F.from_json(F.lit(known), kind, FORMATS)["sequence"]
    latest = F.max(F.when(F.col(KIND) == TRUNCATE, F.col(SEQUENCE)))
    found = rows.agg(latest.alias("sequence")).select(F.greatest("sequence", stored).alias("sequence"))
    text = found.select(F.to_json(F.struct("sequence"), FORMATS)).first()[0]  # type: ignore[index]
    if "sequence" not in json.loads(text):
        return None
    return Truncation(text, F.from_json(F.lit(text), kind, FORMATS)["sequence"], text != known)


def _changed(stored: DataFrame, said: DataFrame, shape: Shape, truncated: Truncation | None) -> DataFrame:
    if shape.options.scd_type == 2:
        return scd2.changed(_of_same_keys(stored, said, shape), said, shape)
    if truncated is not None and truncated.new:
        return scd1.changed(stored, said, shape, truncated.value, all_rows=True)
    touched = _of_same_keys(stored, said, shape)
    return scd1.changed(touched, said, shape, truncated.value if truncated else None)


def _of_same_keys(stored: DataFrame, batch: DataFrame, shape: Shape) -> DataFrame:
    """The stored rows a batch is about; a small batch is sent to where they are, so that they stay there."""
    keys = batch.select(*map(quote, shape.keys)).distinct()
    if batch.count() <= SMALL_BATCH:
        keys = F.broadcast(keys)
    same = [F.col(f"s.{quote(k)}").eqNullSafe(F.col(f"k.{quote(k)}")) for k in shape.keys]
    return stored.alias("s").join(keys.alias("k"), reduce(Column.__and__, same), "left_semi")


def _commit(
    transaction: Transaction,
    changed: DataFrame,
    truncated: Truncation | None,
    app: tuple[str, int] | None,
) -> Applied:
    nothing = changed.isEmpty()
    if nothing and not (truncated and truncated.new):
        return Applied()
    deleted = transaction.delete(changed.where(F.col(FILE).isNotNull()).select(FILE, ROW))
    written = transaction.append(changed.where(KEPT).drop(FILE, ROW, KEPT))
    state = {"truncated": truncated.text} if truncated else {}
    version = transaction.commit({DOMAIN: json.dumps(state)}, "AUTO CDC", app)
    return Applied(written.rows, deleted, version)

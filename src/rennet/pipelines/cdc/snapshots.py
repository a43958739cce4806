"""AUTO CDC from snapshots: what differs from the target becomes events, all of the snapshot's version."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import reduce
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DateType, LongType, StringType, StructField, StructType, TimestampType

from rennet.errors import PipelineError
from rennet.jvm import Jvm
from rennet.pipelines import streamed
from rennet.pipelines.cdc.apply import Applied, apply, create_target, shape_of
from rennet.pipelines.cdc.events import rank
from rennet.pipelines.cdc.options import END, CdcOptions
from rennet.pipelines.definitions import Flow
from rennet.pipelines.streamed import Layout, StreamedTable
from rennet.storage.commits import domains
from rennet.storage.names import ViewName, quote
from rennet.storage.transaction import Transaction

VERSION, GONE = "__mv_version", "__mv_gone"
DOMAIN = "rennet.snapshots"
TYPES = {int: LongType(), str: StringType(), datetime: TimestampType(), date: DateType()}
Snapshot = tuple[DataFrame, Any]


def options_of(flow: Flow) -> CdcOptions:
    """The flow's options, as those of the events that are made from its snapshots."""
    assert flow.cdc is not None
    return replace(
        flow.cdc, sequence_by=(VERSION,), apply_as_deletes=GONE, except_column_list=(VERSION, GONE)
    )


def columns_of(jvm: Jvm, name: ViewName, flow: Flow, source: StructType | None = None) -> StructType:
    """The target's columns. A function is asked for its next snapshot, which is not read."""
    if source is not None:
        return StructType(list(_shape(jvm, flow, source, TimestampType()).visible))
    table = streamed.find(jvm, name)
    found = _next(flow, _last(jvm, table) if table else None)
    if found is not None:
        return StructType(list(_shape(jvm, flow, found[0].schema, _type(found[1])).visible))
    if table is None:
        raise PipelineError(
            f"AUTO CDC: {flow.name} has no snapshot yet, so its columns are not known.",
            "Let its function return the first one when it is given None.",
        )
    return jvm.spark.table(name.sql).schema


def _shape(jvm: Jvm, flow: Flow, source: StructType, version: Any) -> Any:
    marked = StructType([*source.fields, StructField(VERSION, version), StructField(GONE, StringType())])
    return shape_of(jvm, marked, replace(options_of(flow), apply_as_deletes=None))


def _type(version: Any) -> Any:
    kind = TYPES.get(type(version))
    if kind is None:
        raise PipelineError(
            f"AUTO CDC: the version of a snapshot is {type(version).__name__}.",
            "It must be an int, a str, a date or a datetime.",
        )
    return kind


def follow(
    jvm: Jvm, name: ViewName, flow: Flow, layout: Layout, frame: DataFrame | None, fresh: bool = False
) -> list[Applied]:
    """Apply every snapshot there is: that of a table, or all that the function has.

    `fresh` forgets the target first.
    """
    done: list[Applied] = []
    table = None if fresh else streamed.find(jvm, name)
    for rows, version in _snapshots(flow, frame, _last(jvm, table) if table else None):
        if table is None:
            source = _marked(rows, version).schema
            table = create_target(jvm, name, source, options_of(flow), layout)
        done.append(_apply(jvm, table, flow, rows, version))
    return done


def _snapshots(flow: Flow, frame: DataFrame | None, last: Any) -> Iterator[Snapshot]:
    if frame is not None:
        yield frame, datetime.now(UTC)
        return
    while (found := _next(flow, last)) is not None:
        if last is not None and found[1] <= last:
            raise PipelineError(f"AUTO CDC: the snapshot {found[1]} of {flow.name} is not later than {last}.")
        last = found[1]
        yield found


def _next(flow: Flow, last: Any) -> Snapshot | None:
    assert flow.snapshots is not None and callable(flow.snapshots.source)
    found: Snapshot | None = flow.snapshots.source(last)
    return found


def _apply(jvm: Jvm, table: StreamedTable, flow: Flow, rows: DataFrame, version: Any) -> Applied:
    """One snapshot, and a note of its version in the target."""
    options = options_of(flow)
    result = apply(jvm, table, _events(jvm, table, options, rows, version), options)
    if callable(flow.snapshots and flow.snapshots.source):
        text = version.isoformat() if isinstance(version, date) else version
        with Transaction(jvm, table.path) as transaction:
            noted = json.dumps({"type": type(version).__name__, "version": text})
            transaction.commit({DOMAIN: noted}, "AUTO CDC SNAPSHOT")
    return result


def _last(jvm: Jvm, table: StreamedTable) -> Any:
    """The version of the last snapshot applied, None if there is none."""
    noted = json.loads(domains(jvm, table.path).get(DOMAIN, "null"))
    if noted is None:
        return None
    kinds = {"datetime": datetime.fromisoformat, "date": date.fromisoformat}
    return kinds.get(noted["type"], lambda same: same)(noted["version"])


def _marked(rows: DataFrame, version: Any) -> DataFrame:
    return rows.select("*", F.lit(version).cast(_type(version)).alias(VERSION), F.lit(False).alias(GONE))


def _events(jvm: Jvm, table: StreamedTable, options: CdcOptions, rows: DataFrame, version: Any) -> DataFrame:
    """Rows of the snapshot that are new or different, and keys that are no longer there."""
    current = jvm.spark.table(table.name.sql)
    if options.scd_type == 2:
        current = current.where(F.col(END).isNull())
    current = current.select(*(F.col(quote(name)) for name in rows.columns))
    kinds = {field.name: field.dataType for field in rows.schema.fields}
    named = {key.lower() for key in options.keys}
    keys = [name for name in rows.columns if name.lower() in named]

    def same(names: list[str]) -> Column:
        pairs = [
            rank(F.col(f"s.{quote(n)}"), kinds[n]).eqNullSafe(rank(F.col(f"c.{quote(n)}"), kinds[n]))
            for n in names
        ]
        return reduce(Column.__and__, pairs)

    snapshot, known = rows.alias("s"), current.alias("c")
    changed = _marked(snapshot.join(known, same(rows.columns), "left_anti"), version)
    gone = _marked(known.join(snapshot, same(keys), "left_anti"), version).withColumn(GONE, F.lit(True))
    return changed.unionByName(gone)

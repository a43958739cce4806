"""Change events in one form: the target's columns, a sequence, and what each event does."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, MapType, StructType, VariantType

from rennet.pipelines.cdc.options import CdcOptions, Expression
from rennet.storage.names import quote

SEQUENCE, KIND = "__mv_sequence", "__mv_kind"
TRUNCATE, UPSERT, DELETE = 0, 1, 2
"""Kinds of events, in the order in which those of one moment count."""

NO_SEQUENCE = "AUTO CDC: an event has no sequence; every event needs one to be put in order."


def events(source: DataFrame, options: CdcOptions) -> DataFrame:
    """The events of a source; one without a sequence is an error when it is read."""
    columns = [F.col(quote(name)) for name in options.columns(source.columns)]
    sequence = _sequence(options)
    checked = F.when(sequence.isNotNull(), sequence).otherwise(F.raise_error(F.lit(NO_SEQUENCE)))
    return source.select(*columns, checked.alias(SEQUENCE), _kind(options).alias(KIND))


def _sequence(options: CdcOptions) -> Column:
    """One expression as it is, several as a struct, which compares field by field."""
    found = [column(each) for each in options.sequence_by]
    if len(found) == 1:
        return found[0]
    return F.struct(*(each.alias(f"sequence_{i + 1}") for i, each in enumerate(found)))


def _kind(options: CdcOptions) -> Column:
    kind = F.lit(UPSERT)
    if options.apply_as_deletes is not None:
        kind = F.when(column(options.apply_as_deletes), DELETE).otherwise(kind)
    if options.apply_as_truncates is not None:
        kind = F.when(column(options.apply_as_truncates), TRUNCATE).otherwise(kind)
    return kind


def column(expression: Expression) -> Column:
    return F.expr(expression) if isinstance(expression, str) else expression


def rank(value: Column, kind: DataType) -> Column:
    """Something that can be compared in place of a value: the value itself, or its JSON."""
    return value if orderable(kind) else F.to_json(F.struct(value.alias("value")))


def orderable(kind: DataType) -> bool:
    """Whether Spark can compare values of a type."""
    if isinstance(kind, StructType):
        return all(orderable(field.dataType) for field in kind.fields)
    if isinstance(kind, ArrayType):
        return orderable(kind.elementType)
    return not isinstance(kind, MapType | VariantType)


def rank_row(row: str, columns: Sequence[tuple[str, DataType]]) -> list[Column]:
    """Ranks of the columns of a row or struct named `row`."""
    prefix = f"{quote(row)}." if row else ""
    return [rank(F.col(prefix + quote(name)), kind).alias(f"r{i}") for i, (name, kind) in enumerate(columns)]

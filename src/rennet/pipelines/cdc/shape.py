"""The columns of an AUTO CDC target: those users see, and those that hold what late events need.

Type 1, one row per key, deleted keys too:
    the user's columns, `__mv_upsert` and `__mv_delete` (sequence of the last of each), `__mv_visible`,
    and with IGNORE NULL UPDATES `__mv_set_n`, the sequence at which each value column was set.

Type 2, one row per key and moment:
    the user's columns, `__START_AT`, `__END_AT`, `__mv_kind`, `__mv_visible`, and `__mv_event`: the values as
    they arrived, where what is shown differs from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql.types import BooleanType, DataType, IntegerType, StructField, StructType

from rennet.pipelines.cdc.events import KIND, SEQUENCE
from rennet.pipelines.cdc.options import END, START, CdcOptions

UPSERTED, DELETED, VISIBLE, AS_ARRIVED = "__mv_upsert", "__mv_delete", "__mv_visible", "__mv_event"


@dataclass(frozen=True, eq=False)
class Shape:
    """Names and types of one target."""

    options: CdcOptions
    columns: tuple[StructField, ...]
    """What users see, without `__START_AT` and `__END_AT`."""
    sequence: DataType

    @classmethod
    def of(cls, prepared: StructType, options: CdcOptions, known: Sequence[str] = ()) -> Shape:
        """The shape that events of this schema (those of `events`) lead to.

        Columns that a target has already (`known`) keep their places, for `set_at` counts on them; new ones
        follow.
        """
        places = {name.lower(): place for place, name in enumerate(known)}
        own = [field for field in prepared.fields if field.name not in (SEQUENCE, KIND)]
        own.sort(key=lambda field: places.get(field.name.lower(), len(places)))
        return cls(options, tuple(own), prepared[SEQUENCE].dataType)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.columns)

    @property
    def keys(self) -> tuple[str, ...]:
        wanted = {key.lower() for key in self.options.keys}
        return tuple(name for name in self.names if name.lower() in wanted)

    @property
    def values(self) -> tuple[tuple[str, DataType], ...]:
        """The columns that are not keys."""
        return tuple((f.name, f.dataType) for f in self.columns if f.name not in self.keys)

    @property
    def tracked(self) -> tuple[str, ...]:
        return self.options.tracked(self.names)

    @property
    def visible(self) -> tuple[StructField, ...]:
        """The columns of the view."""
        if self.options.scd_type == 1:
            return self.columns
        return (*self.columns, StructField(START, self.sequence), StructField(END, self.sequence))

    @property
    def stored(self) -> StructType:
        """The columns of the table. All may be null: a deleted key has no values."""
        fields = [(field.name, field.dataType) for field in self.visible]
        if self.options.scd_type == 1:
            fields += [(UPSERTED, self.sequence), (DELETED, self.sequence), (VISIBLE, BooleanType())]
            if self.options.ignore_null_updates:
                fields += [(set_at(i), self.sequence) for i in range(len(self.values))]
        else:
            arrived = StructType([StructField(name, kind) for name, kind in self.values])
            fields += [(KIND, IntegerType()), (VISIBLE, BooleanType()), (AS_ARRIVED, arrived)]
        return StructType([StructField(name, kind, True) for name, kind in fields])


def set_at(i: int) -> str:
    """The column that says when the i-th value column was set."""
    return f"__mv_set_{i}"

"""What a user says about a stream of changes: which columns are what, and what kind of table to keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column

from rennet.errors import PipelineError

Expression = str | Column
"""SQL text, or a column."""

START, END = "__START_AT", "__END_AT"
"""When a version of a type 2 table began and ended, as Databricks names it."""


@dataclass(frozen=True, eq=False)
class CdcOptions:
    """One AUTO CDC flow, checked."""

    keys: tuple[str, ...]
    sequence_by: tuple[Expression, ...]
    """One expression, or several that are compared one after the other."""
    scd_type: int = 1
    apply_as_deletes: Expression | None = None
    apply_as_truncates: Expression | None = None
    column_list: tuple[str, ...] | None = None
    except_column_list: tuple[str, ...] | None = None
    ignore_null_updates: bool = False
    track_history_column_list: tuple[str, ...] | None = None
    track_history_except_column_list: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        problem = self._problem()
        if problem:
            raise PipelineError(f"AUTO CDC: {problem}.")

    def _problem(self) -> str:
        """What is wrong, or nothing."""
        if not self.keys:
            return "there is no key"
        if not self.sequence_by:
            return "there is no sequence"
        if self.scd_type not in (1, 2):
            return f"SCD type {self.scd_type} is not 1 or 2"
        if self.column_list is not None and self.except_column_list is not None:
            return "give a column list or an except list, not both"
        history = (self.track_history_column_list, self.track_history_except_column_list)
        if None not in history:
            return "give a list of tracked columns or an except list, not both"
        if self.scd_type == 1 and any(each is not None for each in history):
            return "history is tracked by SCD type 2 only"
        if self.scd_type == 2 and self.apply_as_truncates is not None:
            return "a truncate has no meaning for a history: SCD type 1 only"
        return ""

    def columns(self, available: Sequence[str]) -> tuple[str, ...]:
        """The columns of the target, in the source's order; keys must be among them."""
        dropped = self._known("except_column_list", self.except_column_list or (), available)
        if self.column_list is not None:
            chosen = self._known("column_list", self.column_list, available)
        else:
            chosen = tuple(name for name in available if name not in dropped)
        missing = [key for key in self._known("keys", self.keys, available) if key not in chosen]
        if missing:
            raise PipelineError(f"AUTO CDC: the key {missing[0]} is not among the target's columns.")
        if self.scd_type == 2 and len(chosen) == len(self.keys):
            raise PipelineError("AUTO CDC: a history needs a column that is not a key.")
        return chosen

    def tracked(self, columns: Sequence[str]) -> tuple[str, ...]:
        """The columns whose change opens a new version: all but the keys, unless told otherwise."""
        values = [name for name in columns if name not in self._known("keys", self.keys, columns)]
        if self.track_history_column_list is not None:
            return self._known("track_history_column_list", self.track_history_column_list, columns)
        untracked = self.track_history_except_column_list or ()
        left_out = self._known("track_history_except_column_list", untracked, columns)
        return tuple(name for name in values if name not in left_out)

    @staticmethod
    def _known(what: str, names: Sequence[str], available: Sequence[str]) -> tuple[str, ...]:
        """The names as the source spells them."""
        spelled = {name.lower(): name for name in available}
        for name in names:
            if name.lower() not in spelled:
                raise PipelineError(
                    f"AUTO CDC: {what} names {name}, which is not a column.",
                    f"There are {', '.join(available)}.",
                )
        return tuple(spelled[name.lower()] for name in names)


def names_of(columns: Sequence[Expression]) -> tuple[str, ...]:
    """Plain column names of strings or columns."""
    found = (each if isinstance(each, str) else str(each._jc.toString()) for each in columns)  # type: ignore[operator]
    return tuple(name.strip("`") for name in found)

"""What a shape is: tables, a query over them, how they change, and how an expert would keep the result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

ROWS = 2_000_000
CHANGES = 1_000
SMALLEST = 1_000
"""Fewer rows than this leave some of the smaller tables empty."""
ROWS_PER_FILE = 1_000_000
FEWEST_FILES = 4
ROWS_WORTH_A_FILE = 50_000


@dataclass(frozen=True)
class Source:
    """A table whose rows follow from their numbers alone.

    `columns` computes a row from `id`, and may use `{rows}`, the size of the shape. A table has
    `fixed` rows, or a row for every `per` of the shape's.
    """

    name: str
    columns: str
    per: int = 1
    fixed: int = 0
    where: str = "true"

    def size(self, rows: int) -> int:
        """How many numbers the table is made from."""
        return self.fixed or rows // self.per

    def files(self, rows: int) -> int:
        """Files of a bounded size, as a table that grew has them; a few at least, unless it is tiny."""
        size = self.size(rows)
        return max(1, min(FEWEST_FILES, size // ROWS_WORTH_A_FILE), size // ROWS_PER_FILE)

    def select(self, rows: int, numbers: str) -> str:
        """The rows with these numbers."""
        columns, where = self.columns.format(rows=rows), self.where.format(rows=rows)
        return f"SELECT {columns} FROM {numbers} WHERE {where}"


@dataclass(frozen=True)
class Change:
    """What happens to a table before each refresh, as shares of the rows to change.

    Updated and deleted rows are scattered by a hash of their number, the table and the round; `clustered`
    ones have numbers next to each other, and a part of the table of their own in each round.
    """

    source: str
    assignment: str = ""
    """What an update sets."""
    updates: float = 0.0
    deletes: float = 0.0
    inserts: float = 0.0
    clustered: bool = False

    def statements(self, name: str, size: int, turn: int, changes: int) -> list[str]:
        """The UPDATE and the DELETE of one round; no row is touched by both."""
        updated = round(self.updates * changes)
        deleted = round(self.deletes * changes)
        found = []
        if updated:
            where = self._where(size, turn, 0, updated, updated + deleted)
            found.append(f"UPDATE {name} SET {self.assignment} WHERE {where}")
        if deleted:
            where = self._where(size, turn, updated, updated + deleted, updated + deleted)
            found.append(f"DELETE FROM {name} WHERE {where}")
        return found

    def _where(self, size: int, turn: int, start: int, end: int, width: int) -> str:
        if not self.clustered:
            place = f"pmod(xxhash64(id, '{self.source} {turn}'), {size})"
            return f"{place} >= {start} AND {place} < {end}"
        first = (turn * width) % max(1, size - width)
        return f"id >= {first + start} AND id < {first + end}"


@dataclass(frozen=True)
class Hand:
    """How an expert keeps the result, in SQL.

    `{target}` is the table it is kept in, `{<source>}` a table, `{changes_of_<source>}` its change data
    feed since the last refresh.
    """

    statements: tuple[str, ...]
    table: str = ""
    """What the target is filled with at first, if it holds more than the query's result."""
    fresh: str = ""
    """MERGE reads its source more than once: rows that are dear to compute are cached before, as `fresh`."""
    shown: str = "*"
    """The columns of the target that are the query's result."""


@dataclass(frozen=True)
class Shape:
    """One case of the benchmarks."""

    name: str
    about: str
    sources: tuple[Source, ...]
    query: str
    changes: tuple[Change, ...]
    hand: Hand
    duckdb: str = ""
    """The query in DuckDB's dialect, where that differs."""
    rows: int = ROWS
    together: bool = False
    """The rows of the result that a change touches lie together."""

    def source(self, name: str) -> Source:
        return next(source for source in self.sources if source.name == name)

    def text(self, names: Mapping[str, str]) -> str:
        """The query over tables of these names."""
        return self.query.format_map(names)

    def text_for_duckdb(self, names: Mapping[str, str]) -> str:
        return (self.duckdb or self.query).format_map(names)

    def clustered(self) -> Shape:
        """The same shape, but the rows that change lie together."""
        changes = tuple(replace(change, clustered=True) for change in self.changes)
        return replace(self, name=f"{self.name}_clustered", changes=changes, together=True)

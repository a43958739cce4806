"""Makes a failing case small: drops operators, columns, changes and rows while it still fails.

Variants of the query are judged many at a time, as one batch over the same tables and changes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from rennet.testing.fuzz.cases import Batch, Case
from rennet.testing.fuzz.changes import Change, changed
from rennet.testing.fuzz.reduce import smaller_texts, smaller_trees
from rennet.testing.fuzz.tables import Table
from rennet.testing.fuzz.tree import Relation, sql

Judge = Callable[[Batch], set[int]]
"""The numbers of the cases of a batch that fail in the same way."""
AT_ONCE = 10


class Shrinker:
    """One failing batch of one case, made smaller until nothing helps or the time is up."""

    def __init__(self, batch: Batch, judge: Judge, seconds: float, now: Callable[[], float] = time.monotonic):
        (self.case,) = batch.cases
        self.batch = batch
        self.judge = judge
        self.now = now
        self.end = now() + seconds

    def shrunk(self) -> Batch:
        """The smallest batch found."""
        self._changes()
        self._query(smaller_trees)
        self._data()
        self._query(smaller_texts)
        self._tables()
        return self.batch

    @property
    def _late(self) -> bool:
        return self.now() > self.end

    # -- the query -----------------------------------------------------------------------------------

    def _query(self, variants: Callable[[Relation, Sequence[Table]], Iterator[Relation]]) -> None:
        while not self._late:
            query = self.batch.cases[0].query
            better = self._first_failing(self._ordered(variants(query, self.batch.tables), query))
            if better is None:
                return
            self.batch = replace(self.batch, cases=(Case(self.case.number, better),))

    def _ordered(self, variants: Iterator[Relation], query: Relation) -> list[Relation]:
        """Shorter ones, the shortest first, each once."""
        names = self.batch.names
        texts: dict[str, Relation] = {}
        for variant in variants:
            if variant.names_read() & names:
                texts.setdefault(sql(variant), variant)
        limit = len(sql(query))
        return [texts[text] for text in sorted(texts, key=len) if len(text) < limit]

    def _first_failing(self, variants: Sequence[Relation]) -> Relation | None:
        for start in range(0, len(variants), AT_ONCE):
            if self._late:
                return None
            some = variants[start : start + AT_ONCE]
            cases = tuple(Case(number, query) for number, query in enumerate(some))
            failing = self.judge(replace(self.batch, cases=cases))
            if failing:
                return some[min(failing)]
        return None

    # -- changes and data ----------------------------------------------------------------------------

    def _fails(self, batch: Batch) -> bool:
        return not self._late and bool(self.judge(batch))

    def _changes(self) -> None:
        """Fewer changes, then fewer statements in each."""
        for position in reversed(range(len(self.batch.changes))):
            changes = self.batch.changes
            fewer = changes[:position] + changes[position + 1 :]
            smaller = replace(self.batch, changes=fewer)
            if self._fails(smaller):
                self.batch = smaller
        for position in range(len(self.batch.changes)):
            self._statements(position)

    def _statements(self, position: int) -> None:
        number = 0
        while number < len(self.batch.changes[position].statements):
            change = self.batch.changes[position]
            rest = change.statements[:number] + change.statements[number + 1 :]
            changes = list(self.batch.changes)
            changes[position] = Change(change.title, rest)
            smaller = replace(self.batch, changes=tuple(changes))
            if rest and self._fails(smaller):
                self.batch = smaller
            else:
                number += 1

    def _data(self) -> None:
        """Fewer rows in every table: halves, quarters and so on."""
        for position in range(len(self.batch.tables)):
            size = len(self.batch.tables[position].rows)
            while size > 0 and not self._late:
                size = (size + 1) // 2 if size > 1 else 0
                if size:
                    self._without(position, size)

    def _without(self, position: int, size: int) -> None:
        start = 0
        while start < len(self.batch.tables[position].rows) and not self._late:
            table = self.batch.tables[position]
            fewer = replace(table, rows=table.rows[:start] + table.rows[start + size :])
            smaller = with_table(self.batch, position, fewer)
            if self._fails(smaller):
                self.batch = smaller
            else:
                start += size

    def _tables(self) -> None:
        """Drop tables and views that the query does not read, and what happens to them."""
        needed = self.batch.read_by(self.batch.cases[0])
        kept = tuple(table for table in self.batch.tables if table.name in needed)
        views = tuple(view for view in self.batch.views if view.name in needed)
        changes = tuple(
            Change(c.title, tuple(s for s in c.statements if changed(s) in needed))
            for c in self.batch.changes
        )
        smaller = replace(self.batch, tables=kept, views=views, changes=changes)
        if smaller != self.batch and self.judge(smaller):
            self.batch = smaller


def with_table(batch: Batch, position: int, table: Table) -> Batch:
    """The batch with another table there, also below the views on it."""
    old = batch.tables[position]
    tables = (*batch.tables[:position], table, *batch.tables[position + 1 :])
    views = tuple(replace(v, table=table) if v.table == old else v for v in batch.views)
    return replace(batch, tables=tables, views=views)

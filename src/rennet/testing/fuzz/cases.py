"""Cases by seed: batches of queries that share tables and changes.

Everything about a case follows from the seed and its number. What was covered before it leads its choices,
so earlier cases are made again (not run), which takes milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from rennet.testing.fuzz.changes import Change, Changer
from rennet.testing.fuzz.coverage import Coverage
from rennet.testing.fuzz.maker import Maker
from rennet.testing.fuzz.operators import LEAVES, OPERATORS
from rennet.testing.fuzz.tables import CatalogView, Table, random_table, random_view
from rennet.testing.fuzz.tree import Relation, operators, sql

TOGETHER = 20
"""Queries per batch."""
CHANGES = 3
DEPTHS = (2, 2, 2, 3)
MOST_NODES = 8
"""Operators in one query, leaves counted."""
CANDIDATES = 10
"""So many queries are made for one that is taken."""
LARGE = 0.15
"""The share of batches that are handled like large tables."""


@dataclass(frozen=True)
class Case:
    """One query, known by its number."""

    number: int
    query: Relation

    @property
    def sql(self) -> str:
        return sql(self.query)


@dataclass(frozen=True)
class Batch:
    """Tables, what happens to them, and queries on them."""

    seed: int
    tables: tuple[Table, ...]
    views: tuple[CatalogView, ...]
    changes: tuple[Change, ...]
    cases: tuple[Case, ...]
    large: bool = False
    """Handled like large tables, whose refreshes go other ways."""

    @property
    def setup(self) -> list[str]:
        tables = [statement for table in self.tables for statement in table.setup]
        return tables + [statement for view in self.views for statement in view.setup]

    @property
    def names(self) -> set[str]:
        """What its queries may read."""
        return {table.name for table in self.tables} | {view.name for view in self.views}

    def read_by(self, case: Case) -> set[str]:
        """The tables and views that a query reads, and the tables below those views."""
        names = case.query.names_read() & self.names
        return names | {view.table.name for view in self.views if view.name in names}


def coverage(seed: int = 0) -> Coverage:
    """Nothing covered yet. What stands alone in FROM cannot be a CTE's reference unless one is in scope."""
    children = [op for op in (*OPERATORS, *LEAVES) if op != "cte.reference"]
    return Coverage(list(OPERATORS), children, seed)


def batches(seed: int, covered: Coverage) -> Iterator[Batch]:
    """All batches of a seed, one after the other, counting what they cover."""
    number = 0
    while True:
        rng = Random(f"{seed}/{number}")
        tables = tuple(random_table(rng, f"t{n}") for n in range(rng.choice((2, 2, 3))))
        views = (random_view(rng, "w0", rng.choice(tables)),)
        changer = Changer(rng, tables)
        changes = tuple(changer.change() for _ in range(CHANGES))
        cases = []
        for index in range(TOGETHER):
            query = _query(rng, tables, views, covered)
            covered.add(query)
            cases.append(Case(number * TOGETHER + index, query))
        large = Random(f"{seed}/{number}/large").random() < LARGE
        yield Batch(seed, tables, views, changes, tuple(cases), large)
        number += 1


def _query(
    rng: Random, tables: tuple[Table, ...], views: tuple[CatalogView, ...], covered: Coverage
) -> Relation:
    """Of some queries of random depths, the one that shows most of what is missing."""
    names = {table.name for table in tables} | {view.name for view in views}
    found: list[Relation] = []
    while len(found) < CANDIDATES:
        maker = Maker(rng, tables, views, OPERATORS, LEAVES, covered)
        made = maker.child("", rng.choice(DEPTHS))
        if made.names_read() & names and len(operators(made)) <= MOST_NODES:
            found.append(made)
    return max(found, key=covered.gain)

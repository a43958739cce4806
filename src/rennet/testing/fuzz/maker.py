"""The random source of everything: names, choices led by what is not yet covered, expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import TypeVar

from rennet.testing.fuzz import scalars, values
from rennet.testing.fuzz.coverage import Coverage
from rennet.testing.fuzz.tables import CatalogView, Table
from rennet.testing.fuzz.tree import Column, Item, Relation, keep, renamed, selected

T = TypeVar("T")
Make = Callable[["Maker", int], Relation]
OFTEN = {"table": 30.0, "view": 4.0, "cte.reference": 40.0}
"""What should be taken more often than others."""
EARLY = 0.04
"""How often a branch ends before its time."""
WIDEST = 6
"""A relation has at most about so many columns."""
LARGEST = 400.0
"""Joins are kept below about so many rows."""


class Maker:
    """Makes one query."""

    def __init__(
        self,
        rng: Random,
        tables: Sequence[Table],
        views: Sequence[CatalogView],
        operators: dict[str, Make],
        leaves: dict[str, Make],
        coverage: Coverage,
    ) -> None:
        self.rng = rng
        self.tables = tables
        self.views = views
        self.operators = operators
        self.leaves = leaves
        self.coverage = coverage
        self.shared: list[tuple[str, Relation]] = []
        """CTEs in scope: name and body."""
        self._names = 0

    # -- choices -------------------------------------------------------------------------------------

    def name(self, letter: str = "c") -> str:
        self._names += 1
        return f"{letter}{self._names}"

    def one(self, options: Sequence[T]) -> T:
        return self.rng.choice(options)

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def number(self, low: int, high: int) -> int:
        return self.rng.randint(low, high)

    def some(self, options: Sequence[T], low: int, high: int) -> list[T]:
        """So many different ones, in order."""
        count = min(len(options), self.number(low, high))
        chosen = sorted(self.rng.sample(range(len(options)), count))
        return [options[n] for n in chosen]

    def literal(self, kind: str) -> str:
        return values.value(self.rng, kind)

    # -- relations -----------------------------------------------------------------------------------

    def child(self, parent: str, depth: int) -> Relation:
        """A relation below `parent`, of an operator that was seldom there."""
        leaf = depth <= 0 or (bool(parent) and self.chance(EARLY))
        options = self.leaves if leaf else self.operators
        usable = [op for op in options if op != "cte.reference" or self.shared]
        weights = [self.coverage.weight(parent, op) * OFTEN.get(op, 1.0) for op in usable]
        (op,) = self.rng.choices(usable, weights)
        return options[op](self, depth - 1)

    def exact(self, node: Relation, without: Sequence[str] = values.UNORDERED) -> Relation:
        """The relation less the columns that cannot decide anything."""
        kept = tuple(keep(c) for c in node.columns if c.kind not in without)
        if len(kept) == len(node.items):
            return node
        if not kept:
            kept = (Item(Column(self.name(), values.INT), ("1",)),)
        return selected(node, kept)

    def narrow(self, node: Relation, most: int = WIDEST) -> Relation:
        """The relation with at most so many columns."""
        if len(node.items) <= most:
            return node
        return selected(node, tuple(keep(c) for c in self.some(node.columns, most, most)))

    def of_kind(self, node: Relation, kinds: Sequence[str]) -> list[Column]:
        return [column for column in node.columns if column.kind in kinds]

    def having(self, node: Relation, kind: str) -> tuple[Relation, Column]:
        """The relation and a column of that kind; one is computed if there is none."""
        found = self.of_kind(node, (kind,))
        if found:
            return node, self.one(found)
        made = Column(self.name(), kind)
        item = Item(made, (self.scalar(node.columns, kind),))
        return selected(node, (*(keep(c) for c in node.columns), item)), made

    # -- expressions ---------------------------------------------------------------------------------

    def scalar(self, columns: Sequence[Column], kind: str, depth: int = 1) -> str:
        return scalars.scalar(self.rng, columns, kind, depth)

    def predicate(self, columns: Sequence[Column], depth: int = 1) -> str:
        return scalars.predicate(self.rng, columns, depth)

    def item(self, kind: str, *texts: str) -> Item:
        """A new column."""
        return Item(Column(self.name(), kind), texts)

    def order(self, columns: Sequence[Column]) -> str:
        """A random order by these columns."""
        how = ("", "", " DESC", " NULLS LAST", " DESC NULLS FIRST")
        return ", ".join(f"{column.name}{self.one(how)}" for column in columns)

    def shuffled(self, columns: Sequence[Column]) -> list[Column]:
        return self.rng.sample(list(columns), len(columns))

    def renewed(self, node: Relation) -> Relation:
        """The same relation with new names for all its columns."""
        names = {name: self.name(name[0]) for found in node.walk() for name in sorted(_made(found))}
        return renamed(node, names)


def _made(node: Relation) -> set[str]:
    """Names that a node gives to columns: those of its items, and those its template introduces."""
    own = {column.name for column in node.columns}
    if not node.children:
        return own
    below = {column.name for child in node.children for column in child.columns}
    return (node.mentions() | own) - below

"""Which operators were seen directly above which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from rennet.testing.fuzz.tree import Relation, operators, pairs

Pair = tuple[str, str]
NEW, FIRST = 10.0, 3000.0
"""How much likelier a pair is that was never made, and one that this run looks for first."""
SHARES = 10
"""Runs with as many seeds in a row look first for different pairs."""


class Coverage:
    """Counts pairs of operators, and leads the choice to those that are missing."""

    def __init__(self, parents: Collection[str], children: Collection[str], seed: int = 0) -> None:
        self.possible = {(parent, child) for parent in parents for child in children}
        ordered = sorted(self.possible)
        self.first = {pair for n, pair in enumerate(ordered) if n % SHARES == seed % SHARES}
        self.seen: Counter[Pair] = Counter()
        self.open: Counter[str] = Counter()
        """Per operator, how much is to be seen below it."""
        for pair in self.possible:
            self.open[pair[0]] += self._worth(pair)

    def _worth(self, pair: Pair) -> int:
        return 100 if pair in self.first else 1

    def weight(self, parent: str, child: str) -> float:
        """How likely `child` is to be put below `parent`, or, if there is no parent, on top.

        What is to be seen below the child counts too: so one query shows several missing pairs.
        """
        below = 1.0 + self.open[child]
        pair = (parent, child)
        if not parent or self.seen[pair] or pair not in self.possible:
            return below
        return below * (FIRST if pair in self.first else NEW)

    def add(self, query: Relation) -> None:
        for pair in pairs(query):
            if pair in self.possible:
                self.open[pair[0]] -= 0 if self.seen[pair] else self._worth(pair)
                self.seen[pair] += 1

    def gain(self, query: Relation) -> float:
        """How much of what is missing a query shows, for its size: a large one costs more than two small."""
        new = sum(self._worth(pair) for pair in set(pairs(query)) & self.possible if not self.seen[pair])
        return new / float(1 + len(operators(query))) ** 2

    @property
    def missing(self) -> list[Pair]:
        return sorted(self.possible - set(self.seen))

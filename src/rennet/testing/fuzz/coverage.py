"""Which operators were seen directly above which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from rennet.testing.fuzz.tree import Relation, pairs

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
        """How likely `child` is to be put below `parent`, or, if there is no parent, on top."""
        if not parent:
            return 1.0 + self.open[child]
        pair = (parent, child)
        if self.seen[pair] or pair not in self.possible:
            return 1.0
        return FIRST if pair in self.first else NEW

    def add(self, query: Relation) -> None:
        for pair in pairs(query):
            if pair in self.possible:
                self.open[pair[0]] -= 0 if self.seen[pair] else self._worth(pair)
                self.seen[pair] += 1

    @property
    def missing(self) -> list[Pair]:
        return sorted(self.possible - set(self.seen))

    @property
    def share(self) -> float:
        return 1 - len(self.missing) / len(self.possible)

    def __str__(self) -> str:
        covered = len(self.possible) - len(self.missing)
        return f"{covered} of {len(self.possible)} operator pairs ({self.share:.0%})"

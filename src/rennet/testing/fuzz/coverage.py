"""Which operators were seen directly above which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from rennet.testing.fuzz.tree import Relation, pairs

Pair = tuple[str, str]
NEW = 25.0
"""How much likelier a pair is that was never made."""


class Coverage:
    """Counts pairs of operators, and leads the choice to those that are missing."""

    def __init__(
        self, parents: Collection[str], children: Collection[str], apart: Collection[Pair] = ()
    ) -> None:
        self.possible = {(p, c) for p in parents for c in children} - set(apart)
        self.seen: Counter[Pair] = Counter()
        self.open: Counter[str] = Counter(parent for parent, _ in self.possible)
        """Per operator, how many were never seen below it."""

    def weight(self, parent: str, child: str) -> float:
        """How likely `child` is to be put below `parent`, or, if there is no parent, on top."""
        if not parent:
            return 1.0 + self.open[child]
        if (parent, child) not in self.possible:
            return 1.0
        return 1.0 if self.seen[parent, child] else NEW

    def add(self, query: Relation) -> None:
        for pair in pairs(query):
            if pair in self.possible:
                self.open[pair[0]] -= not self.seen[pair]
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

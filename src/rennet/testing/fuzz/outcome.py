"""What a run found: failures, and how the refreshes were done."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from rennet.testing.fuzz.cases import Case
from rennet.testing.fuzz.coverage import Pair

SLOWEST = 5
"""So many of the slowest refreshes are shown."""
CODE = re.compile(r"^[A-Z_]+(\.[A-Z_]+)?(?=:)")


class Kind(StrEnum):
    """What is wrong."""

    WRONG_ROWS = "wrong rows"
    WRONG_SCHEMA = "wrong schema"
    FELL_BACK = "a plan failed and was replaced by a full recompute"
    MISSED_NO_OP = "nothing changed, but that was not noticed"
    NEGATIVE = "a hidden count is not positive"
    IDENTITY = "two rows have one identity"
    PROVENANCE = "the provenance names other versions"
    FIGURES = "the rows reported are not those changed"
    ERROR = "an error"


@dataclass(frozen=True)
class Failure:
    """A view that is not what it should be, after some step."""

    case: Case
    step: int
    title: str
    technique: str
    kind: Kind
    message: str

    def __str__(self) -> str:
        return f"case {self.case.number} after {self.title} ({self.technique}): {self.kind}: {self.message}"


@dataclass
class Tally:
    """Counts over a whole run."""

    cases: int = 0
    checks: int = 0
    """Comparisons of a view with its query."""
    incremental: int = 0
    pairs: Counter[Pair] = field(default_factory=Counter)
    """Which operators stood directly above which."""
    never: Counter[str] = field(default_factory=Counter)
    """Why queries are never incremental."""
    examples: dict[str, str] = field(default_factory=dict)
    """One query for each of those reasons."""
    invalid: Counter[str] = field(default_factory=Counter)
    """Why Spark itself does not run a query."""
    techniques: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    """Why refreshes of incremental views were full."""
    slow: list[tuple[float, str]] = field(default_factory=list)
    """How long each refresh took."""
    seconds: Counter[str] = field(default_factory=Counter)
    """Where the time went, added up over threads."""

    @contextmanager
    def timed(self, what: str) -> Iterator[None]:
        """Count the time of a block."""
        started = time.monotonic()
        try:
            yield
        finally:
            self.seconds[what] += time.monotonic() - started  # type: ignore[assignment]

    def add(self, other: Tally) -> None:
        """Count what another run found too."""
        self.cases += other.cases
        self.checks += other.checks
        self.incremental += other.incremental
        self.slow += other.slow
        self.examples = {**other.examples, **self.examples}
        for name in ("pairs", "never", "invalid", "techniques", "reasons", "seconds"):
            getattr(self, name).update(getattr(other, name))

    @property
    def share(self) -> float:
        """The share of incremental queries."""
        return self.incremental / max(1, self.cases)

    def lines(self) -> list[str]:
        """The counts as text."""
        made = [
            f"{self.cases} queries, {self.checks} comparisons; "
            f"{self.incremental} incremental ({self.share:.1%})"
        ]
        for title, counts in (
            ("never incremental", self.never),
            ("not run by Spark", self.invalid),
            ("refreshes by technique", self.techniques),
            ("full refreshes of incremental views", self.reasons),
        ):
            if counts:
                made.append(f"{title}:")
                made += [
                    f"  {count:6}  {name}" + (f" ({self.examples[name]})" if name in self.examples else "")
                    for name, count in counts.most_common()
                ]
        made += [f"slow: {taken:.1f} s  {what}" for taken, what in sorted(self.slow, reverse=True)[:SLOWEST]]
        made.append("seconds: " + ", ".join(f"{name} {n:.0f}" for name, n in self.seconds.most_common()))
        return made

    def to_dict(self) -> dict[str, Any]:
        return {
            "cases": self.cases,
            "checks": self.checks,
            "incremental": self.incremental,
            "never": dict(self.never),
            "examples": self.examples,
            "invalid": dict(self.invalid),
            "techniques": dict(self.techniques),
            "reasons": dict(self.reasons),
        }


def code(reason: str) -> str:
    """The code a reason begins with, else all of it."""
    found = CODE.match(reason)
    return found.group() if found else reason

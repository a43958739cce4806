"""How many tasks ran at each moment, from the times at which each began and ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

Interval = tuple[float, float]
Point = tuple[float, int]


def load(tasks: Iterable[Interval]) -> list[Point]:
    """A point whenever the number of running tasks changes: the moment, the number from then on.

    A task that ends when another begins has made room for it. The last point is always zero.
    """
    changes: Counter[float] = Counter()
    for begin, end in tasks:
        if end > begin:
            changes[begin] += 1
            changes[end] -= 1
    points: list[Point] = []
    running = 0
    for moment in sorted(changes):
        if changes[moment]:
            running += changes[moment]
            points.append((moment, running))
    return points


def peak(points: Sequence[Point]) -> int:
    """The most tasks that ran at once."""
    return max((running for _, running in points), default=0)


def busy(points: Sequence[Point]) -> float:
    """For how long any task ran."""
    return sum(after - moment for (moment, running), (after, _) in pairwise(points) if running > 0)


def joined(loads: Sequence[tuple[float, Sequence[Point]]]) -> list[Point]:
    """Loads one after the other; each has the time it took in all."""
    found: list[Point] = []
    start = 0.0
    for took, points in loads:
        found += [(start + moment, running) for moment, running in points]
        start += took
    return found

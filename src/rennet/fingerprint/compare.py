"""Are two fingerprints of the same query, and if not, what is the difference?"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

SHOWN = 6
"""Lines of a difference that a message has room for."""
KEPT = 20_000
"""Characters of a canonical text that are worth keeping."""


def same(before: Iterable[str], now: Iterable[str]) -> bool:
    """Equal by the newest version that both were made with; if there is none, they count as different.

    An older version may call queries the same that a newer one tells apart, so it only decides where the
    newer one was not known yet.
    """
    old, new = _by_version(before), _by_version(now)
    common = old.keys() & new.keys()
    return bool(common) and old[max(common)] == new[max(common)]


def _by_version(fingerprints: Iterable[str]) -> dict[int, str]:
    return {int(version): hash for version, _, hash in (each.partition(":") for each in fingerprints)}


def kept(meaning: str) -> str:
    """The part of a canonical text that is stored."""
    return meaning if len(meaning) <= KEPT else ""


def difference(before: str, now: str) -> str:
    """The first lines that differ, to end a sentence with; empty if nothing is known."""
    if not before or before == now:
        return ""
    lines = [
        line
        for line in difflib.unified_diff(before.splitlines(), now.splitlines(), n=0, lineterm="")
        if not line.startswith(("---", "+++", "@@"))
    ]
    shown = [f"  {line[0]} {line[1:].strip()}" for line in lines[:SHOWN]]
    more = [f"  … {len(lines) - SHOWN} more lines"] if len(lines) > SHOWN else []
    return "\n".join([":", *shown, *more])

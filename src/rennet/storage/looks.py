"""Is a table's log as it was when it was last read? A local folder tells that without Spark.

To list a log through Hadoop takes milliseconds, to read the names in its folder a tenth of one; and what was
read of a version needs no reading again. Nothing is taken for granted: every look is at the folder as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from rennet.jvm import Jvm

LOCAL = re.compile(r"file:(?://)?(/[^/%][^%]*)")
"""The path of a folder on this machine. Hadoop and Java do not agree on what an escape in one stands for."""
ELSEWHERE = {"_commits", "_staged_commits"}
"""Where the newest commits are if a catalog decides which of them count: then the folder does not tell. Most
tables have such a folder with nothing in it."""
DIGITS = 20
"""The version, which the names of all files of one begin with."""

Found = TypeVar("Found")
Read = Callable[[Jvm, str, bool], tuple[int, Found]]
"""Reads a log, listed `anew` or as it was in the same piece of work: its version, and what is to be known."""


@dataclass(frozen=True)
class Look:
    """A log as its folder shows it: the newest version, and the file that holds its commit."""

    version: int
    file: tuple[int, int, int]
    """Where it is stored, when it was written and how long it is; after the table was made anew, another."""


def look(path: str) -> Look | None:
    """The log of a table as it is now, if its folder tells."""
    local = LOCAL.fullmatch(path)
    if local is None:
        return None
    folder = Path(local[1]) / "_delta_log"
    try:
        names = [file.name for file in folder.iterdir()]
        newest = max((name[:DIGITS] for name in names if name[:DIGITS].isdecimal()), default="")
        commit = (folder / f"{newest}.json").stat()
        elsewhere = any(True for name in ELSEWHERE.intersection(names) for _ in (folder / name).iterdir())
    except OSError:  # no table is there, or one whose newest version has a checkpoint and no commit
        return None
    if len(newest) != DIGITS or elsewhere:
        return None
    return Look(int(newest), (commit.st_ino, commit.st_mtime_ns, commit.st_size))


def remembered(jvm: Jvm, path: str, read: Read[Found], anew: bool = True) -> tuple[int, Found]:
    """The version of a table and what `read` finds in it, or found when the log was as it is now.

    `read` is called after the look: what is committed in between is in what it finds and not in the look, so
    that the next look differs. If it may go by what the log was earlier (not `anew`), that is not remembered.
    """
    known = jvm.kept(("remembered", read), dict[str, tuple[Look, Found]])
    seen, before = look(path), known.get(path)
    if seen is not None and before is not None and before[0] == seen:
        return seen.version, before[1]
    version, found = read(jvm, path, anew)
    if anew and seen is not None and seen.version == version:
        known[path] = seen, found
    return version, found

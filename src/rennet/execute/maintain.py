"""Keeping a view fast to read, however many small refreshes have written to it."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass

from rennet.jvm import JavaObject, Jvm
from rennet.storage.names import quote
from rennet.storage.sources import checksum, delta_log, to_json
from rennet.storage.tables import first_line

LARGE = 32 << 20
"""Files of so many bytes are left as they are, unless rows of theirs are marked as deleted."""
FULL_SIZE = 128 << 20
TOO_MANY = 24
"""Small files a view may have. A file more costs every reader some milliseconds, putting them together costs
about a second, and a refresh adds one: by the time there are so many, readers have lost what it costs."""
TOO_OFTEN = 10
"""Refreshes that may leave rows marked as deleted. Be there one or thousands, Delta runs two more small jobs
for every reader, a tenth of a second: so many have lost the second that `LARGE` bytes take."""
OPTIMIZE, PURGE = "OPTIMIZE {table}", "REORG TABLE {table} APPLY (PURGE)"
"""The first leaves a file alone that has none to be put together with, whatever rows of it are gone."""
IN_VAIN = 0.1
"""The part of what readers read that may be deleted rows. Up to here, for each row that goes at most ten are
written anew, however large the view; beyond, every reader reads more than that in vain."""


@dataclass(frozen=True)
class State:
    """What the checksum of a version says of its files."""

    files: int
    bytes: int
    vectors: int = 0
    marked: int = 0
    """Rows that are deleted and still read."""

    @staticmethod
    def of(jvm: Jvm, noted: JavaObject) -> State:
        """Two questions if nothing is marked as deleted, no job ever."""
        files, size = int(noted.numFiles()), int(noted.tableSizeBytes())
        vectors = int(jvm.value(noted.numDeletionVectorsOpt()) or 0)
        marked = int(jvm.value(noted.numDeletedRecordsOpt()) or 0) if vectors else 0
        return State(files, size, vectors, marked)

    def due(self, needed: int, rows: int | None) -> tuple[str, ...]:
        """What is worth its cost: to put small files together, and to leave deleted rows out.

        It is reckoned as if every refresh were followed by one reader. Refreshes since the last time are as
        many as there are files beyond those `needed`; those that only delete are left to `IN_VAIN`, which
        is for views that take a reader long: of a small one, all rows could be marked again and again. What
        readers have lost since then grows with the square of that for files, one for one for marked rows; it
        is compared with what writing costs.
        """
        large = self.bytes >= LARGE and rows is not None
        if self.vectors and large and self.marked >= IN_VAIN * (self.marked + (rows or 0)):
            return OPTIMIZE, PURGE
        refreshes = max(0, self.files - needed)
        lost = (refreshes / TOO_MANY) ** 2
        if self.vectors and lost + refreshes / TOO_OFTEN >= max(1.0, self.bytes / LARGE):
            return OPTIMIZE, PURGE
        return (OPTIMIZE,) if lost >= 1 else ()


def compact(jvm: Jvm, path: str, rows: int | None = None) -> State | None:
    """Put small files together, and write files anew without deleted rows, if it is worth what it costs.

    Gives what there was before, if something was done. The commit says that no row changed: views that read
    this one have nothing to do. `rows` is how many the view has, if that is known.
    """
    noted = checksum(jvm, delta_log(jvm, path).unsafeVolatileSnapshot())  # as this process has just left it
    if noted is None:
        return None
    state = State.of(jvm, noted)
    if not state.due(-(-state.bytes // LARGE), rows):
        return None
    statements = state.due(_needed(jvm, noted, state), rows)  # now that it is worth a closer look
    if not statements:
        return None
    settings = {
        "spark.databricks.delta.optimize.minFileSize": LARGE,
        "spark.databricks.delta.optimize.maxFileSize": FULL_SIZE,
    }
    for name, value in settings.items():
        jvm.spark.conf.set(name, str(value))
    for statement in statements:
        jvm.spark.sql(statement.format(table=f"delta.{quote(path)}")).collect()
    return state


def _needed(jvm: Jvm, noted: JavaObject, state: State) -> int:
    """How many files there are at least: files of different partitions cannot be put together."""
    listed = jvm.value(noted.allFiles())
    if listed is None:
        return -(-state.bytes // LARGE)
    sizes: Counter[str] = Counter()
    for file in json.loads(to_json(jvm, listed)):
        sizes[json.dumps(file["partitionValues"], sort_keys=True)] += file["size"]
    return sum(-(-size // LARGE) for size in sizes.values())


def maintain(jvm: Jvm, path: str, rows: int | None = None) -> str | None:
    """What was done for the view's readers, if anything; never an error: the refresh has succeeded."""
    try:
        before = compact(jvm, path, rows)
    except Exception as error:
        return f"maintenance failed and will be tried again: {first_line(error)}"
    if before is None:
        return None
    marked = f", {before.marked} deleted rows were left out" if before.marked else ""
    return f"maintenance: of {before.files} files the small ones were put together{marked}"

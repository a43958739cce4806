"""Keeping a view fast to read, however many small refreshes have written to it."""

from __future__ import annotations

from rennet.jvm import Jvm
from rennet.storage.names import quote
from rennet.storage.sources import checksum, delta_log
from rennet.storage.tables import first_line

LARGE = 32 << 20
"""Files of so many bytes are left as they are."""
FULL_SIZE = 128 << 20
TOO_MANY = 24
"""Small files a view may have. A file more costs every reader some milliseconds, putting them together costs
about a second, and a refresh adds one: by the time there are so many, readers have lost what it costs."""


def compact(jvm: Jvm, path: str) -> int:
    """Put small files together if there are too many; gives how many there were, or 0.

    The commit says that no row changed: views that read this one have nothing to do.
    """
    noted = checksum(jvm, delta_log(jvm, path).unsafeVolatileSnapshot())  # as this process has just left it
    if noted is None:
        return 0
    files, needed = int(noted.numFiles()), -(-int(noted.tableSizeBytes()) // LARGE)
    if files - needed < TOO_MANY:
        return 0
    settings = {
        "spark.databricks.delta.optimize.minFileSize": LARGE,
        "spark.databricks.delta.optimize.maxFileSize": FULL_SIZE,
    }
    for name, value in settings.items():
        jvm.spark.conf.set(name, value)
    jvm.spark.sql(f"OPTIMIZE delta.{quote(path)}").collect()
    return files


def maintain(jvm: Jvm, path: str) -> str | None:
    """What was done for the view's readers, if anything; never an error: the refresh has succeeded."""
    try:
        files = compact(jvm, path)
    except Exception as error:
        return f"maintenance failed and will be tried again: {first_line(error)}"
    return f"maintenance: of {files} files the small ones were put together" if files else None

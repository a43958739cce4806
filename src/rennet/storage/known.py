"""Lists of files that are known, for scans that need nothing else of Delta's log.

Delta makes a DataFrame of such a list whenever it is asked for it, at every scan and twice for tables with
deletion vectors: planning that takes longer than most small scans. Nothing in Delta can be told to leave it,
so its two classes are extended (`java/KnownFiles.java`).
"""

from __future__ import annotations

from rennet.jvm import JavaObject, Jvm


def known_files(jvm: Jvm) -> JavaObject:
    """What makes such lists."""
    return jvm.compiled("KnownFiles")

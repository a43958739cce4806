"""Quicker starts: the classes that Spark and Delta load, kept in a form that the JVM maps into memory.

Much of a start goes into reading and checking thousands of classes that were the same the last time. The JVM
can write those it has loaded to a file as it ends, and use that file from then on (class data sharing). It
checks for itself that the file fits: for another Java, or other jars, it does without.
"""

from __future__ import annotations

import os
import shutil
from hashlib import blake2s
from pathlib import Path

import pyspark

SILENT = "-Xlog:cds=off -Xlog:cds+dynamic=off"
"""What the JVM says about such files goes to the standard output, where results are."""
KINDS = ("ArchiveClassesAtExit", "SharedArchiveFile")


def archive() -> Path:
    """Where the classes of this Spark on this Java are kept, if they are."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    java = os.environ.get("JAVA_HOME") or shutil.which("java") or ""
    used = "\n".join((str(Path(java).resolve()), str(Path(pyspark.__file__).resolve())))
    key = blake2s(used.encode(), digest_size=6).hexdigest()
    return cache / "rennet" / f"spark-{pyspark.__version__}-{key}.jsa"


def using(given: str = "") -> str:
    """Options for a JVM to use what is kept, if anything is and the options given do not say otherwise."""
    found = archive()
    if not found.is_file() or any(kind in given for kind in KINDS):
        return ""
    return f'"-XX:SharedArchiveFile={found}" {SILENT}'


def making(path: Path) -> str:
    """Options for a JVM to write the classes it has loaded as it ends."""
    return f'"-XX:ArchiveClassesAtExit={path}" {SILENT}'

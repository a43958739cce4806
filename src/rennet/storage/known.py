"""Lists of files that are known, for scans that need nothing else of Delta's log.

Delta makes a DataFrame of such a list whenever it is asked for it, at every scan and twice for tables with
deletion vectors: planning that takes longer than most small scans. Nothing in Delta can be told to leave it,
so its two classes are extended, in the only Java of this project. Spark's own compiler reads it.
"""

from __future__ import annotations

from importlib.resources import files

from rennet.jvm import JavaObject, Jvm

SOURCE = "KnownFiles.java"
NAME = "rennet.storage.KnownFiles"


def known_files(jvm: Jvm) -> JavaObject:
    """What makes such lists; compiled once in a JVM."""
    return jvm.kept(NAME, lambda: _compiled(jvm))


def _compiled(jvm: Jvm) -> JavaObject:
    compiler = jvm.type("org.codehaus.janino.SimpleCompiler")()
    compiler.setParentClassLoader(jvm.loader)
    compiler.cook(files("rennet.storage").joinpath(SOURCE).read_text(encoding="utf-8"))
    return compiler.getClassLoader().loadClass(NAME).newInstance()

"""Classes that must be Java, because Spark or Delta call them. Spark's own compiler (Janino) reads them."""

from __future__ import annotations

from importlib.resources import files

from rennet.jvm import JavaObject, Jvm


def instance(jvm: Jvm, name: str) -> JavaObject:
    """An object of the class of that name in this folder; compiled, and made, once in a JVM."""
    return jvm.kept(("java", name), lambda: _compiled(jvm, name).newInstance())


def _compiled(jvm: Jvm, name: str) -> JavaObject:
    compiler = jvm.type("org.codehaus.janino.SimpleCompiler")()
    compiler.setParentClassLoader(jvm.loader)
    compiler.cook(files("rennet.storage").joinpath(f"{name}.java").read_text(encoding="utf-8"))
    return compiler.getClassLoader().loadClass(f"rennet.storage.{name}")

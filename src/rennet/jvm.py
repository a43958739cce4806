"""The one bridge to Spark's JVM.

Every dotted lookup of a class through Py4J is several round trips, every lookup of its method one, and every
object that comes back costs another when Python forgets it. So what does not change is found once and kept.
`Jvm.of(spark)` gives the same bridge for the same session every time.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, TypeVar

from pyspark.sql import DataFrame, SparkSession

JavaObject = Any
Result = TypeVar("Result")
FEW = 8
"""So many items make a sequence in one round trip."""
SEPARATOR = "\u0001"
"""Between texts that are fetched together."""
COLUMN = re.compile(r"(.*)#(\d+)L?(-T\d+ms)?", re.DOTALL)
"""How Catalyst writes a column: name, id, a mark for 64-bit integers, the delay of a watermark."""
BRIDGE = "_rennet_bridge"
"""Where a session keeps its bridge, so that both are forgotten together."""


@dataclass(frozen=True)
class Work:
    """One piece of work, a refresh for instance: what was asked since it began need not be asked again."""

    since: JavaObject
    """When it began, in milliseconds, as a Scala `Option`."""
    catalog: dict[Hashable, JavaObject] = field(default_factory=dict)
    """What the catalog said of names; emptied by whoever changes something there."""


class Jvm:
    """Classes, singletons, collections and DataFrames of one Spark session's JVM."""

    def __init__(self, spark: SparkSession) -> None:
        context = spark.sparkContext
        self.spark = spark
        self.session: JavaObject = spark._jsparkSession
        self.gateway: JavaObject = context._gateway
        self.root: JavaObject = context._jvm
        assert self.root is not None
        self.loader: JavaObject = self.root.java.lang.Thread.currentThread().getContextClassLoader()
        self._class_of_name = self.root.java.lang.Class.forName
        self._classes: dict[str, JavaObject] = {}
        self._types: dict[str, JavaObject] = {}
        self._objects: dict[str, JavaObject] = {}
        self._kept: dict[Hashable, JavaObject] = {}
        sequences = self.compiled("Sequences")
        self._seq_of, self._joined, self._listed = sequences.of, sequences.joined, sequences.listed
        self._option = self.type("scala.Option").apply
        self._or_null = self.singleton("scala.$less$colon$less").refl()
        self.none: JavaObject = self.type("scala.Option").empty()
        self._dataset = self.singleton("org.apache.spark.sql.classic.Dataset")
        self.work: Work | None = None

    @classmethod
    def of(cls, spark: SparkSession) -> Jvm:
        bridge: Jvm | None = spark.__dict__.get(BRIDGE)
        if bridge is None:
            bridge = spark.__dict__[BRIDGE] = cls(spark)
        return bridge

    def begin(self) -> Jvm:
        """The same bridge for one piece of work that begins now."""
        # What was asked for earlier in this very millisecond may have been asked for before it.
        return self._copy(work=Work(self.some(int(time.time() * 1000) + 1)))

    def clone(self) -> Jvm:
        """A bridge to a session of its own: same tables, views and functions, settings that stay there."""
        session = SparkSession(self.spark.sparkContext, self.session.cloneSession())
        copy = self._copy(spark=session, session=session._jsparkSession)
        session.__dict__[BRIDGE] = copy
        return copy

    def _copy(self, **changed: object) -> Jvm:
        copy = object.__new__(Jvm)
        copy.__dict__.update(self.__dict__, **changed)
        return copy

    @contextmanager
    def active(self) -> Iterator[None]:
        """Make this the session Spark's internals find when they look for one."""
        sessions = self.type("org.apache.spark.sql.classic.SparkSession")
        before = self.value(sessions.getActiveSession())
        sessions.setActiveSession(self.session)
        try:
            yield
        finally:
            if before is not None:
                sessions.setActiveSession(before)
            else:
                sessions.clearActiveSession()

    def beside(self, work: Callable[[], Result]) -> Future[Result]:
        """Do some work in a thread of its own, as part of what this thread does: its jobs count as that."""
        context = self.session.sparkContext()
        properties = context.getLocalProperties().clone()

        def done() -> Result:
            context.setLocalProperties(properties)
            with self.active():
                return work()

        pool = ThreadPoolExecutor(1, thread_name_prefix="rennet-beside")
        try:
            return pool.submit(done)
        finally:
            pool.shutdown(wait=False)

    def type(self, name: str) -> JavaObject:
        """A class, to call its constructor or static methods."""
        found = self._types.get(name)
        if found is None:
            found = self.root
            for part in name.split("."):
                found = getattr(found, part)
            self._types[name] = found
        return found

    def loaded(self, name: str) -> JavaObject:
        """The `java.lang.Class` of that name, by Spark's own class loader."""
        found = self._classes.get(name)
        if found is None:
            found = self._classes[name] = self._class_of_name(name, True, self.loader)
        return found

    def singleton(self, name: str) -> JavaObject:
        """A Scala `object`; unlike a dotted lookup this fails loudly when it does not exist."""
        found = self._objects.get(name)
        if found is None:
            module = self.loaded(f"{name}$").getField("MODULE$")
            found = self._objects[name] = module.get(None)
        return found

    def static(self, name: str, method: str) -> JavaObject:
        """A static method, or one of a Scala `object` that has a class beside it."""
        return self.kept((name, method), lambda: getattr(self.type(name), method))

    def compiled(self, name: str) -> JavaObject:
        """An object of rennet's own Java class of that name, made once in a JVM.

        Some classes must be Java, since Spark or Delta call them or there would be a question for every row.
        Spark's own compiler (Janino) reads them.
        """
        return self.kept(("java", name), lambda: self._compiled(name).newInstance())

    def _compiled(self, name: str) -> JavaObject:
        compiler = self.type("org.codehaus.janino.SimpleCompiler")()
        compiler.setParentClassLoader(self.loader)
        compiler.cook(files("rennet").joinpath("java", f"{name}.java").read_text(encoding="utf-8"))
        return compiler.getClassLoader().loadClass(f"rennet.{name}")

    def kept(self, key: Hashable, make: Callable[[], JavaObject]) -> JavaObject:
        """An object that is the same for every session, made when it is first asked for."""
        found = self._kept.get(key)
        if found is None:
            found = self._kept[key] = make()
        return found

    def some(self, value: JavaObject) -> JavaObject:
        return self._option(value)

    def value(self, option: JavaObject) -> JavaObject | None:
        """What a Scala `Option` holds, if anything."""
        return option.orNull(self._or_null)

    def entry(self, texts: JavaObject, key: str) -> str | None:
        """What a Scala map of texts has under a key, if anything, in one round trip."""
        found: str = texts.applyOrElse(key, self._or_null)  # a function that gives back what it is given
        return found if found != key else self.value(texts.get(key))

    def seq(self, items: Iterable[JavaObject]) -> JavaObject:
        """A Scala `Seq` of the items."""
        given = list(items)
        made = self._seq_of(*given[:FEW])
        for start in range(FEW, len(given), FEW):
            made = self._joined(made, self._seq_of(*given[start : start + FEW]))
        return made

    def scala_seq(self, java_list: JavaObject) -> JavaObject:
        """A Java list as a Scala `Seq`."""
        return self._listed(java_list)

    def items(self, seq: JavaObject) -> list[JavaObject]:
        """A Scala `Seq` as a Python list."""
        return [seq.apply(i) for i in range(seq.size())]

    def texts(self, seq: JavaObject) -> list[str]:
        """The items of a Scala collection as text, all at once."""
        joined: str = seq.mkString(SEPARATOR)
        return joined.split(SEPARATOR) if joined else []

    def iterate(self, iterable: JavaObject) -> Iterator[JavaObject]:
        """Anything with a Scala `iterator`."""
        iterator = iterable.iterator()
        while iterator.hasNext():
            yield iterator.next()

    def dataframe(self, plan: JavaObject) -> DataFrame:
        """The DataFrame of a Catalyst logical plan."""
        return DataFrame(self._dataset.ofRows(self.session, plan), self.spark)

    def analyzed(self, frame: DataFrame) -> JavaObject:
        return frame._jdf.queryExecution().analyzed()


def column_named(text: str) -> tuple[str, int]:
    """Name and id of a column, of the text that Catalyst writes for it."""
    found = COLUMN.fullmatch(text)
    assert found is not None, text
    return found[1], int(found[2])

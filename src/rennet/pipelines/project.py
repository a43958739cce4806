"""A pipeline on disk: read it, check it, update it, and read its tables as of an update."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from rennet.api import Engine
from rennet.errors import PipelineError
from rennet.execute.leaves import pinned_leaf
from rennet.jvm import Jvm
from rennet.pipelines.eventlog import EventLog
from rennet.pipelines.graph import full_name
from rennet.pipelines.loading import load
from rennet.pipelines.resolve import Graph, resolve
from rennet.pipelines.spec import Spec, load_spec
from rennet.pipelines.update import DatasetResult, Selection, Update, UpdateResult
from rennet.plan.pinning import Pinning
from rennet.storage.names import quote
from rennet.storage.sources import SourceVersion
from rennet.storage.tables import first_line


class Pipeline:
    """One project, in a session of its own: what its files set or register stays there."""

    def __init__(self, engine: Engine, spec: Spec) -> None:
        self.spec = spec
        bridge = Jvm.of(engine.spark).clone()
        self.engine = Engine(bridge.spark)
        self.jvm = Jvm.of(bridge.spark)
        self.database = spec.database or engine.spark.catalog.currentDatabase()
        self._configure()
        self.log = EventLog(self.jvm, spec.name, str(spec.storage_path() / "events"))

    @classmethod
    def open(cls, engine: Engine, path: str | Path) -> Pipeline:
        """The pipeline that a specification describes."""
        return cls(engine, load_spec(Path(path)))

    def _configure(self) -> None:
        spark = self.jvm.spark
        for key, value in self.spec.configuration.items():
            try:
                spark.conf.set(key, value)
            except PySparkException as error:
                raise PipelineError(
                    f"configuration: {key} cannot be set: {first_line(error)}",
                    "Settings of Spark itself belong to the session, not to the pipeline.",
                ) from error
        # A progress report per batch is kept; expectations are counted from them.
        spark.conf.set("spark.sql.streaming.numRecentProgressUpdates", "100000")
        spark.sql(f"CREATE SCHEMA IF NOT EXISTS {quote(self.database)}")
        spark.catalog.setCurrentDatabase(self.database)

    @cached_property
    def graph(self) -> Graph:
        """Every dataset and what it reads; an error that lists all problems if there are any."""
        with self._inside():
            return resolve(self.jvm, load(self.spec, self.jvm.spark), self.database)

    def update(
        self, selection: Selection | None = None, told: Callable[[DatasetResult], None] = lambda _: None
    ) -> UpdateResult:
        """Bring the datasets up to date, each after what it reads, and record what was done.

        `told` is called with each dataset's result as it comes.
        """
        graph = self.graph
        with self._inside():
            update = Update(self.engine, self.jvm, graph, self.spec, self.log, told)
            return update.run(selection or Selection())

    def at_update(self, number: int) -> AsOf:
        """The pipeline's tables as they were after an update."""
        return AsOf(self.jvm, self.database, number, self.log.versions(number))

    def events(self) -> DataFrame:
        """The event log."""
        return self.log.frame()

    @contextmanager
    def _inside(self) -> Iterator[None]:
        """Let the project's files find its session, and its folder by relative paths."""
        before = SparkSession._instantiatedSession, SparkSession._activeSession
        path = self.jvm.type("org.apache.hadoop.fs.Path")
        files = path(".").getFileSystem(self.jvm.session.sessionState().newHadoopConf())
        folder = files.getWorkingDirectory()
        # What Python calls the active session is a variable of its own, beside the JVM's.
        SparkSession._instantiatedSession = SparkSession._activeSession = self.jvm.spark
        files.setWorkingDirectory(path(str(self.spec.root)))
        try:
            with self.jvm.active():
                yield
        finally:
            files.setWorkingDirectory(folder)
            SparkSession._instantiatedSession, SparkSession._activeSession = before


@dataclass(frozen=True)
class AsOf:
    """All stored datasets of a pipeline as of one update."""

    jvm: Jvm
    database: str
    update: int
    versions: dict[str, Any]

    def table(self, name: str) -> DataFrame:
        """A dataset as it was then; the rows must not have been vacuumed since."""
        key = full_name(name, self.database)
        if key not in self.versions:
            raise PipelineError(f"{name} was not stored at update {self.update}.")
        at = SourceVersion.from_dict(self.versions[key])
        schema, table = key.split(".")
        plan = self.jvm.analyzed(self.jvm.spark.table(f"{quote(schema)}.{quote(table)}"))
        try:
            pinned = Pinning(self.jvm, pinned_leaf(self.jvm, {at.path: at}), datetime.now(UTC)).plan(plan)
        except KeyError:
            raise PipelineError(f"{name} was replaced since update {self.update}.") from None
        return self.jvm.dataframe(pinned)

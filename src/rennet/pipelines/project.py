"""A pipeline on disk: read it, check it, update it, and read its tables as of an update."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from rennet.api import Engine
from rennet.errors import PipelineError
from rennet.jvm import Jvm
from rennet.pipelines.asof import AsOf
from rennet.pipelines.eventlog import EventLog
from rennet.pipelines.loading import inside_folder, load
from rennet.pipelines.registered import register
from rennet.pipelines.resolve import Graph, resolve
from rennet.pipelines.spec import Spec, load_spec
from rennet.pipelines.update import DatasetResult, Selection, Update, UpdateResult
from rennet.storage.names import quote
from rennet.storage.tables import first_line

INFERENCE = "spark.sql.streaming.schemaInference"


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
        # Columns of files are found in the files, unless they are given.
        if INFERENCE not in self.spec.configuration:
            spark.conf.set(INFERENCE, "true")
        spark.sql(f"CREATE SCHEMA IF NOT EXISTS {quote(self.database)}")
        spark.catalog.setCurrentDatabase(self.database)

    @cached_property
    def graph(self) -> Graph:
        """Every dataset and what it reads; an error that lists all problems if there are any."""
        with self.inside():
            return resolve(self.jvm, load(self.spec, self.jvm.spark), self.database)

    def update(
        self,
        selection: Selection | None = None,
        told: Callable[[DatasetResult], None] = lambda _: None,
        known: Mapping[str, DatasetResult] | None = None,
    ) -> UpdateResult:
        """Bring the datasets up to date, each after what it reads, and record what was done.

        `told` is called with each dataset's result as it comes. Datasets that are `known` are left alone.
        """
        graph = self.graph
        register(self.jvm.spark, self.spec.name, self.database, self.spec.path)
        with self.inside():
            update = Update(self.engine, self.jvm, graph, self.spec, self.log, told, known)
            return update.run(selection or Selection())

    def at_update(self, number: int) -> AsOf:
        """The pipeline's tables as they were after an update."""
        return AsOf(self.jvm, self.database, number, self.log.versions(number))

    def events(self) -> DataFrame:
        """The event log."""
        return self.log.frame()

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Let the project's files find its session, and its folder by relative paths in Spark and Python."""
        before = SparkSession._instantiatedSession, SparkSession._activeSession
        path = self.jvm.type("org.apache.hadoop.fs.Path")
        files = path(".").getFileSystem(self.jvm.session.sessionState().newHadoopConf())
        folder = files.getWorkingDirectory()
        # What Python calls the active session is a variable of its own, beside the JVM's.
        SparkSession._instantiatedSession = SparkSession._activeSession = self.jvm.spark
        files.setWorkingDirectory(path(str(self.spec.root)))
        try:
            with self.jvm.active(), inside_folder(self.spec.root):
                yield
        finally:
            files.setWorkingDirectory(folder)
            SparkSession._instantiatedSession, SparkSession._activeSession = before

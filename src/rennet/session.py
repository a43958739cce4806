"""A Spark session with Delta, and a catalog that is still there tomorrow."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from pyspark import SparkContext
from pyspark.sql import SparkSession

from rennet.classes import using
from rennet.errors import SessionError

DELTA_PACKAGE = "io.delta:delta-spark_4.2_2.13:4.4.0"
DELTA_EXTENSION = "io.delta.sql.DeltaSparkSessionExtension"
DELTA_CATALOG = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
JAVA_OPTIONS = "spark.driver.extraJavaOptions"
WAREHOUSE = "rennet-warehouse"
CATALOG = "_catalog"
COLLECTOR = "-XX:+UseParallelGC"
"""Throughput is what counts here, not short pauses."""
COMPILER = (
    "-XX:Tier4InvocationThreshold=50000 -XX:Tier4MinInvocationThreshold=6000 -XX:Tier4CompileThreshold=150000"
)
"""Planning runs through much code a few thousand times. By default that is enough for the JVM's optimizing
compiler, which then takes longer than the refreshes. Ten times as many calls are asked for here; loops over
rows are compiled as soon as ever, for their turns are counted apart."""
ANY_COLLECTOR = re.compile(r"-XX:\+Use\w+GC")
STANDARD_ERROR = 2
LARGEST_LOG = 1 << 20
"""A log that has grown beyond this many bytes is begun anew."""

LAKE = {
    "spark.sql.extensions": DELTA_EXTENSION,
    "spark.sql.catalog.spark_catalog": DELTA_CATALOG,
    "spark.sql.catalogImplementation": "hive",
    "spark.sql.sources.default": "delta",
    # A dozen views compile 300 stages; what Spark has no room for (100) is compiled anew at every refresh.
    "spark.sql.codegen.cache.maxEntries": "2000",
}
"""What makes a session a Delta session whose catalog outlives the process, with room for many views."""

ONE_MACHINE = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # Without these, local Spark listens on the machine's network address.
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    # The defaults (200 and 50) are for clusters: on one machine they are most of a refresh.
    "spark.sql.shuffle.partitions": "4",
    "spark.databricks.delta.snapshotPartitions": "2",
    # Below this many files Delta finds them in its checksum, without a job.
    "spark.databricks.delta.allFilesInCrc.thresholdNumFiles": "1000",
    # The other way to put a checksum in its place starts four processes for every commit.
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
    # Every aggregate, sort and table sent to all tasks begins with a page of memory: by Spark's own reckoning
    # 64 MB on a machine with two cores and 4 GB, however few rows there are.
    "spark.buffer.pageSize": "1m",
    # Spark writes out every plan it runs, and again when it adapts one; the short form says the same.
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.session.timeZone": "UTC",
    "spark.scheduler.mode": "FAIR",
    # Spark 4.2.0: Arrow UDFs straight over a columnar scan wait for each other for ever (SPARK-58241).
    "spark.sql.execution.arrow.pythonUDF.columnarInput.enabled": "false",
}
"""What fits one machine; a cluster keeps its own."""


def configure(builder: SparkSession.Builder, warehouse: str | Path | None = None) -> SparkSession.Builder:
    """Add Delta and a lasting catalog to a builder of your own.

    Nothing about the cluster is touched: set the master, memory and partitions yourself. With a
    `warehouse`, tables and the embedded catalog are kept in that folder; without one, Spark's own
    settings decide where they are, as with an external metastore.
    """
    for key, value in LAKE.items():
        builder = builder.config(key, value)
    builder = builder.config("spark.jars.packages", DELTA_PACKAGE)
    if warehouse is not None:
        for key, value in lasting(Path(warehouse).resolve()).items():
            builder = builder.config(key, value)
    return builder


def session(
    warehouse: str | Path | None = None,
    cores: int | None = None,
    memory: str = "4g",
    config: dict[str, str] | None = None,
    quiet: bool = True,
) -> SparkSession:
    """A local Spark with Delta; tables and catalog live in `./rennet-warehouse` unless told otherwise.

    The environment variable `RENNET_WAREHOUSE` names another folder. `config` overrides any setting; options
    for Java are added to those there are. What Spark has to say goes to `_catalog/spark.log` in that folder,
    or, unless `quiet`, to the terminal.
    """
    # Python workers run what the driver runs, not whatever python3 is on the PATH.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    place = warehouse or os.environ.get("RENNET_WAREHOUSE") or WAREHOUSE
    builder = SparkSession.builder.appName("rennet").master(f"local[{cores or '*'}]")
    builder = configure(builder, place)
    settings = {**ONE_MACHINE, "spark.driver.memory": memory, **(config or {})}
    settings[JAVA_OPTIONS] = _java_options(Path(place).resolve(), settings.get(JAVA_OPTIONS, ""))
    for key, value in settings.items():
        builder = builder.config(key, value)
    log = Log(Path(place).resolve() / CATALOG / "spark.log")
    started = SparkContext._gateway is None
    try:
        with log.capturing() if quiet else nullcontext():
            spark = builder.getOrCreate()
            spark.sparkContext.setLogLevel("ERROR")
            _forget_yarn(spark)
            spark.sql("SHOW TABLES").collect()
    except Exception as error:
        explained = _explained(error, place, log)
        if started:
            _end_jvm(SparkContext._gateway)
        raise explained from error
    return spark


def _java_options(place: Path, given: str) -> str:
    """Those of the embedded catalog, those that make Spark quicker, and those given, which come last."""
    quicker = using(given), _collector(given), COMPILER
    return " ".join(filter(None, (_log_of_the_catalog(place), *quicker, given)))


def _collector(given: str) -> str:
    """The garbage collector, unless another one is asked for: a JVM refuses two."""
    elsewhere = (os.environ.get(name, "") for name in ("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS"))
    return "" if any(ANY_COLLECTOR.search(said) for said in (given, *elsewhere)) else COLLECTOR


def _forget_yarn(spark: SparkSession) -> None:
    """Half of Hadoop's settings are YARN's defaults, and every scan sends all settings to its tasks.

    There is no YARN on one machine.
    """
    hadoop: Any = spark.sparkContext._jsc.hadoopConfiguration()
    for name in list(hadoop.getValByRegex(r"^yarn\.")):
        hadoop.unset(name)


def close(spark: SparkSession, patience: float = 20) -> None:
    """Stop Spark and its JVM, so that another process can use the catalog at once.

    A JVM that does not end in so many seconds is killed.
    """
    gateway = spark.sparkContext._gateway
    spark.stop()
    _end_jvm(gateway, patience)


def _end_jvm(gateway: Any, patience: float = 20) -> None:
    """End the JVM this process started; the next session starts another."""
    process = getattr(gateway, "proc", None)
    if process is None:
        return
    active = SparkSession.getActiveSession()
    if active is not None:
        active.stop()
    gateway.shutdown()
    SparkContext._gateway = SparkContext._jvm = None
    process.stdin.close()
    try:
        process.wait(timeout=patience)
    except subprocess.TimeoutExpired:
        process.kill()


def check(spark: SparkSession) -> SparkSession:
    """The session, if rennet can work with it; else a clear error."""
    if not hasattr(spark, "_jsparkSession"):
        raise SessionError(
            "This is a Spark Connect session: it has no query plan for rennet to read.",
            "Use a classic session: rennet.session(), or SparkSession.builder without .remote(…).",
        )
    catalog = spark.conf.get("spark.sql.catalog.spark_catalog", "")
    extensions = spark.conf.get("spark.sql.extensions", "") or ""
    if catalog != DELTA_CATALOG or DELTA_EXTENSION not in extensions:
        raise SessionError(
            "This Spark session has no Delta Lake.",
            "Build it with rennet.session(), or pass your builder through rennet.configure(builder).",
        )
    return spark


class Log:
    """Where Spark's own output goes: while it starts, and as long as the JVM started then lives."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._start: int | None = None

    @contextmanager
    def capturing(self) -> Iterator[None]:
        """Send the standard error, that of processes started inside too, to the log."""
        sys.stderr.flush()
        log = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        if os.fstat(log).st_size > LARGEST_LOG:
            os.ftruncate(log, 0)
        self._start = os.fstat(log).st_size
        terminal = os.dup(STANDARD_ERROR)
        os.dup2(log, STANDARD_ERROR)
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(terminal, STANDARD_ERROR)
            os.close(terminal)
            os.close(log)

    def text(self) -> str:
        """What was captured; nothing when nothing was."""
        if self._start is None:
            return ""
        with self.path.open("rb") as log:
            log.seek(self._start)
            return log.read().decode(errors="replace")

    def hint(self) -> str:
        """The lines that say most, and where the rest is."""
        if self._start is None:
            return ""
        lines = [line.strip() for line in self.text().splitlines() if not NOISE.match(line)]
        telling = [line for line in lines if TELLING.search(line)]
        shown = list(dict.fromkeys(telling or lines))[-2:]
        said = f"Spark's log says: {' / '.join(line[:200] for line in shown)}. " if shown else ""
        return f"{said}The log is {self.path}."


NOISE = re.compile(r"\s*$|\s+at |\s*::|\s*[|\-]+|\s*Caused by: .*BootstrapMethodError|\s*\.\.\. \d+ more")
TELLING = re.compile(
    r"error|exception|not found|not set|failed|no such file|unresolved|unsupported|refused", re.IGNORECASE
)


def lasting(warehouse: Path) -> dict[str, str]:
    """Settings of tables and of an embedded catalog that are kept in a folder."""
    catalog = warehouse / CATALOG
    try:
        catalog.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SessionError(
            f"The warehouse {warehouse} cannot be created: {error.strerror}.", "Choose another folder."
        ) from error
    database = catalog / "metastore"
    return {
        "spark.sql.warehouse.dir": str(warehouse),
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={database};create=true",
        JAVA_OPTIONS: _log_of_the_catalog(warehouse),
    }


def _log_of_the_catalog(warehouse: Path) -> str:
    """The option that keeps its log beside it, and not in the folder one happens to be in."""
    return f"-Dderby.stream.error.file={warehouse / CATALOG / 'derby.log'}"


def _explained(error: Exception, place: str | Path, log: Log | None = None) -> SessionError:
    said = log.text() if log else ""
    hint = log.hint() if log else ""
    text = str(error)
    if any(sign in part for sign in LOCKED for part in (text, said)):
        return SessionError(
            f"Another process is using the catalog in {place}.",
            "Close it, or give this one a warehouse of its own: rennet.session(warehouse=…).",
        )
    if "JAVA_GATEWAY_EXITED" in text:
        return SessionError("Spark did not start.", f"{_advice(said)} {hint}".strip())
    if isinstance(error, OSError) and not isinstance(error, ConnectionError):
        return SessionError(f"Spark could not be started: {error}.", "Check the warehouse's permissions.")
    first = text.strip().splitlines()[0] if text.strip() else repr(error)
    return SessionError(f"Spark could not be started: {first}", hint)


def _advice(said: str) -> str:
    """What to do about a JVM that did not start."""
    if "unresolved dependenc" in said or "download failed" in said.lower():
        return (
            "Delta's jars could not be downloaded: the first start needs the network; "
            "if a download was cut off, remove ~/.m2 and ~/.ivy2.5.2 and try again."
        )
    return "It needs Java 17 or newer: check `java -version` and JAVA_HOME."


LOCKED = ("Another instance of Derby", "ERROR XSDB6")

"""A Spark session with Delta, and a catalog that is still there tomorrow."""

from __future__ import annotations

import os
from pathlib import Path

from pyspark.sql import SparkSession

from rennet.errors import SessionError

DELTA_PACKAGE = "io.delta:delta-spark_4.2_2.13:4.4.0"
DELTA_EXTENSION = "io.delta.sql.DeltaSparkSessionExtension"
DELTA_CATALOG = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
WAREHOUSE = "rennet-warehouse"

LAKE = {
    "spark.sql.extensions": DELTA_EXTENSION,
    "spark.sql.catalog.spark_catalog": DELTA_CATALOG,
    "spark.sql.catalogImplementation": "hive",
    "spark.sql.sources.default": "delta",
}
"""What makes a session a Delta session whose catalog outlives the process."""

ONE_MACHINE = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # Without these, local Spark listens on the machine's network address.
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    # The defaults (200 and 50) are for clusters: on one machine they are most of a refresh.
    "spark.sql.shuffle.partitions": "4",
    "spark.databricks.delta.snapshotPartitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.scheduler.mode": "FAIR",
}
"""What fits one machine; a cluster keeps its own."""


def configure(
    builder: SparkSession.Builder, warehouse: str | Path | None = None
) -> SparkSession.Builder:
    """Add Delta and a lasting catalog to a builder of your own.

    Nothing about the cluster is touched: set the master, memory and partitions yourself. With a
    `warehouse`, tables and the embedded catalog are kept in that folder; without one, Spark's own
    settings decide where they are, as with an external metastore.
    """
    for key, value in LAKE.items():
        builder = builder.config(key, value)
    builder = builder.config("spark.jars.packages", DELTA_PACKAGE)
    if warehouse is not None:
        for key, value in _lasting(Path(warehouse).resolve()).items():
            builder = builder.config(key, value)
    return builder


def session(
    warehouse: str | Path | None = None,
    cores: int | None = None,
    memory: str = "4g",
    config: dict[str, str] | None = None,
) -> SparkSession:
    """A local Spark with Delta; tables and catalog live in `./rennet-warehouse` unless told otherwise.

    The environment variable `RENNET_WAREHOUSE` names another folder. `config` overrides any setting.
    """
    place = warehouse or os.environ.get("RENNET_WAREHOUSE") or WAREHOUSE
    builder = SparkSession.builder.appName("rennet").master(f"local[{cores or '*'}]")
    builder = configure(builder, place)
    settings = {**ONE_MACHINE, "spark.driver.memory": memory, **(config or {})}
    for key, value in settings.items():
        builder = builder.config(key, value)
    try:
        spark = builder.getOrCreate()
        spark.sparkContext.setLogLevel("ERROR")
        spark.sql("SHOW TABLES").collect()
    except Exception as error:
        raise _explained(error, place) from error
    return spark


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


def _lasting(warehouse: Path) -> dict[str, str]:
    catalog = warehouse / "_catalog"
    catalog.mkdir(parents=True, exist_ok=True)
    database = catalog / "metastore"
    return {
        "spark.sql.warehouse.dir": str(warehouse),
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={database};create=true",
        "spark.driver.extraJavaOptions": f"-Dderby.stream.error.file={catalog / 'derby.log'}",
    }


def _explained(error: Exception, place: str | Path) -> SessionError:
    text = str(error)
    if "Another instance of Derby" in text or "ERROR XSDB6" in text:
        return SessionError(
            f"Another process is using the catalog in {place}.",
            "Close it, or give this one a warehouse of its own: rennet.session(warehouse=…).",
        )
    if "JAVA_GATEWAY_EXITED" in text:
        return SessionError(
            "Spark did not start.",
            "It needs Java 17 or newer (check `java -version`) and, the first time, to download Delta's jars; "
            "if the log says 'download failed', remove ~/.m2 and ~/.ivy2.5.2 and try again.",
        )
    return SessionError(f"Spark could not be started: {text.splitlines()[0] if text else error!r}")

"""What was measured with: everything about a run that another machine can repeat."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version

from pyspark.sql import SparkSession

from rennet.jvm import Jvm
from rennet.version import __version__


def versions(spark: SparkSession) -> dict[str, str]:
    """The versions of all that takes part."""
    java = Jvm.of(spark).type("java.lang.System").getProperty("java.version")
    packages = {name: _version(name) for name in ("pyspark", "delta-spark", "duckdb")}
    return {"rennet": __version__, "python": platform.python_version(), "java": str(java), **packages}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def resources(spark: SparkSession) -> dict[str, str | int]:
    """What Spark may use."""
    context = spark.sparkContext
    return {
        "cores": context.defaultParallelism,
        "processors": os.cpu_count() or 0,
        "driver_memory": context.getConf().get("spark.driver.memory", ""),
    }

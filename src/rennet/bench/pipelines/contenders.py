"""Who runs the project: rennet and Spark's own tool, each as its users start it, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from pyspark.sql import SparkSession

import rennet
from rennet.bench.pipelines.project import VIEWS
from rennet.errors import RennetError
from rennet.session import DELTA_CATALOG, DELTA_EXTENSION, DELTA_PACKAGE, ONE_MACHINE, lasting

MEMORY = "4g"
"""Of both drivers: what `rennet.session()` takes."""

Contents = dict[str, tuple[int, str]]
"""For each view, how many rows it has and the sum of their hashes."""


class RunFailedError(RennetError):
    """A contender did not get through the project."""

    code = "BENCHMARK_FAILED"


class Contender(Protocol):
    """Someone who can run the project, and whose views can be looked at."""

    @property
    def name(self) -> str: ...

    def update(self) -> float:
        """Run the project once; gives the seconds from the start of the process to its end."""

    def contents(self, columns: Mapping[str, Sequence[str]]) -> Contents:
        """What is in the views."""


def timed(command: Sequence[str], environment: Mapping[str, str], folder: Path) -> tuple[float, str]:
    """Run a command to its end; gives the seconds it took and what it printed."""
    started = time.perf_counter()
    done = subprocess.run(
        command, check=False, env=dict(environment), cwd=folder, capture_output=True, text=True
    )
    seconds = time.perf_counter() - started
    if done.returncode != 0:
        said = (done.stdout + done.stderr).strip().splitlines()[-8:]
        raise RunFailedError(f"{Path(command[0]).name} failed: {' / '.join(said)}")
    return seconds, done.stdout


def fingerprint(table: str, columns: Sequence[str]) -> str:
    """A query whose one row differs when the bag of rows of a table does, but for a chance of 2⁻⁶⁴.

    A hash passes over NULLs, so where they are is hashed too.
    """
    hashed = f"xxhash64({', '.join(f'{column}, {column} IS NULL' for column in columns)})"
    return f"SELECT COUNT(*), CAST(SUM(CAST({hashed} AS DECIMAL(38, 0))) AS STRING) FROM {table}"


@dataclass(frozen=True)
class Rennet:
    """`rennet run`."""

    spec: Path
    warehouse: Path
    name: str = "rennet"

    def update(self) -> float:
        return timed(self._command("run", "--spec", str(self.spec)), self._environment(), self.spec.parent)[0]

    def contents(self, columns: Mapping[str, Sequence[str]]) -> Contents:
        rows = self._rows([fingerprint(view, columns[view]) for view in VIEWS])
        return {view: (int(count), str(total)) for view, (count, total) in zip(VIEWS, rows, strict=True)}

    def _rows(self, queries: Sequence[str]) -> list[Any]:
        """The first row of each query's result."""
        command = self._command("sql", "--json", "; ".join(queries))
        printed = timed(command, self._environment(), self.spec.parent)[1]
        return [result["rows"][0] for result in json.loads(printed)["results"]]

    def _command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "rennet.cli.main", *arguments, "--warehouse", str(self.warehouse)]

    def _environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(Path(rennet.__file__).parents[1]), *sys.path]),
        }


@dataclass(frozen=True)
class SparkPipelines:
    """`spark-pipelines run`, with the settings of `rennet.session()`, and tables in Spark's own format."""

    spark: SparkSession
    """Looks at the views afterwards."""
    spec: Path
    warehouse: Path
    name: str = "spark-pipelines"

    def update(self) -> float:
        return timed(self._command(), self._environment(), self.spec.parent)[0]

    def _command(self) -> list[str]:
        return [str(Path(sys.executable).parent / "spark-pipelines"), "run", "--spec", str(self.spec)]

    def _environment(self) -> dict[str, str]:
        environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYSPARK_PYTHON": sys.executable,
            "PYSPARK_DRIVER_PYTHON": sys.executable,
            "SPARK_CONF_DIR": str(self._settings()),
        }
        environment.pop("SPARK_HOME", None)
        return environment

    def _settings(self) -> Path:
        """A folder with Spark's settings: Delta for reading the sources, and a catalog that lasts."""
        folder = self.spec.parent / "conf"
        folder.mkdir(exist_ok=True)
        settings = {
            **ONE_MACHINE,
            **lasting(self.warehouse),
            "spark.driver.memory": MEMORY,
            "spark.jars.packages": DELTA_PACKAGE,
            "spark.sql.extensions": DELTA_EXTENSION,
            "spark.sql.catalog.spark_catalog": DELTA_CATALOG,
            "spark.sql.catalogImplementation": "hive",
        }
        lines = "".join(f"{key} {value}\n" for key, value in settings.items())
        (folder / "spark-defaults.conf").write_text(lines)
        return folder

    def contents(self, columns: Mapping[str, Sequence[str]]) -> Contents:
        found = {}
        for view in VIEWS:
            stored = self.spark.read.parquet(str(self.warehouse / view))
            stored.createOrReplaceTempView("bench_view")
            count, total = self.spark.sql(fingerprint("bench_view", columns[view])).collect()[0]
            found[view] = (int(count), str(total))
        return found

    def columns(self) -> dict[str, list[str]]:
        """The columns of every view, as Spark's own tool stored them."""
        return {view: self.spark.read.parquet(str(self.warehouse / view)).columns for view in VIEWS}

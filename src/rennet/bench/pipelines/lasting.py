"""The contenders in processes that stay: Spark has started, and has run the project before, when time counts.

rennet is a process that updates the project whenever it is told to, as `rennet watch` does by itself; Spark's
own tool is started for every update and talks to a Spark Connect server.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyspark

from rennet.api import Engine
from rennet.bench.pipelines.contenders import (
    MEMORY,
    Rennet,
    RunFailedError,
    SparkPipelines,
)
from rennet.pipelines.project import Pipeline
from rennet.session import session

SECONDS_TO_START = 120
SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"


@dataclass(frozen=True)
class LastingRennet(Rennet):
    """The project in a process that stays."""

    process: subprocess.Popen[str] | None = None

    def update(self) -> float:
        started = time.perf_counter()
        self._ask({"update": True})
        return time.perf_counter() - started

    def _rows(self, queries: Sequence[str]) -> list[Any]:
        return list(self._ask({"queries": list(queries)})["rows"])

    def _ask(self, what: dict[str, Any]) -> dict[str, Any]:
        process = self.process
        assert process is not None and process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps(what) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        answer: dict[str, Any] = json.loads(line) if line else {"error": "the process is gone"}
        if "error" in answer:
            raise RunFailedError(f"rennet failed: {answer['error']}")
        return answer


@contextmanager
def rennet_that_stays(spec: Path, warehouse: Path) -> Iterator[LastingRennet]:
    """Starts the process, and ends it."""
    blank = LastingRennet(spec, warehouse)
    command = [sys.executable, "-m", "rennet.bench.pipelines.lasting", str(spec), str(warehouse)]
    with subprocess.Popen(
        command, env=blank._environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        made = LastingRennet(spec, warehouse, process=process)
        try:
            made._ask({})
            yield made
        finally:
            with suppress(OSError):
                process.stdin and process.stdin.close()


@dataclass(frozen=True)
class ServedSparkPipelines(SparkPipelines):
    """`spark-pipelines run --remote`, with a server that stays."""

    port: int = 0

    def _command(self) -> list[str]:
        return [*super()._command(), "--remote", f"sc://localhost:{self.port}"]


@contextmanager
def spark_pipelines_with_a_server(blank: SparkPipelines) -> Iterator[ServedSparkPipelines]:
    """Starts the server, and ends it."""
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        port = int(probe.getsockname()[1])
    made = ServedSparkPipelines(blank.spark, blank.spec, blank.warehouse, port=port)
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    setting = f"spark.connect.grpc.binding.port={port}"
    command = [str(submit), "--conf", setting, "--class", SERVER, "spark-internal"]
    with (
        (blank.spec.parent / "server.log").open("w") as log,
        subprocess.Popen(command, env=made._environment(), stdout=log, stderr=subprocess.STDOUT) as process,
    ):
        try:
            _wait_for(port, process)
            yield made
        finally:
            process.terminate()


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < end and process.poll() is None:
        with suppress(OSError), socket.create_connection(("localhost", port), timeout=1):
            return
        time.sleep(0.5)
    raise RunFailedError("Spark's Connect server did not start.")


def _answer(pipeline: Pipeline, asked: Mapping[str, Any]) -> dict[str, Any]:
    if asked.get("update"):
        failed = [each for each in pipeline.update().datasets if each.error is not None]
        return {"error": f"{failed[0].name}: {failed[0].error}"} if failed else {}
    spark = pipeline.jvm.spark
    return {"rows": [list(spark.sql(query).collect()[0]) for query in asked.get("queries", ())]}


def main(spec: str, warehouse: str) -> None:
    """The process that stays: answers line by line."""
    os.chdir(Path(spec).parent)
    pipeline = Pipeline.open(Engine(session(warehouse=warehouse, memory=MEMORY)), spec)
    for line in sys.stdin:
        try:
            answer = _answer(pipeline, json.loads(line))
        except Exception as error:  # is told to who asked
            answer = {"error": str(error)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

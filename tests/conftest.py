"""One Spark session for the whole test process."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rennet.cost.learned import Learned
from rennet.jvm import Jvm
from rennet.session import session
from rennet.testing.fuzz.run import seed_of_today
from rennet.testing.fuzz.settings import COMPILER
from rennet.testing.fuzz.settings import SETTINGS as TINY
from tests.reading import listed

SETTINGS = {
    **TINY,
    # VACUUM lists with this many tasks: ten thousand unless told otherwise.
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",
    "spark.databricks.delta.retentionDurationCheck.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
}


FUZZ_SEED = "RENNET_FUZZ_SEED"
"""The variable that says which random queries are run; test processes inherit it, even over midnight."""
LONGEST = ("tests/scenarios", "tests/fuzz/test_today")


def pytest_configure() -> None:
    os.environ.setdefault(FUZZ_SEED, str(seed_of_today()))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.write_line(f"random queries: {FUZZ_SEED}={os.environ[FUZZ_SEED]}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest tests first: none is left for the end, when only one process would have work."""
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """One test process at a time: two that download Delta's jars at once would spoil each other's cache."""
    with (folder / "starting").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    warehouse = tmp_path_factory.mktemp("warehouse")
    os.environ.setdefault("JAVA_TOOL_OPTIONS", COMPILER)
    with alone(tmp_path_factory.getbasetemp().parent):
        running = session(warehouse=warehouse, cores=2, memory="3g", config=SETTINGS)
    yield running
    running.stop()


@pytest.fixture(autouse=True)
def nothing_learned(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """How busy the machine is must not decide what a test sees: costs are estimated from sizes alone."""
    if request.node.get_closest_marker("learning") is None:
        monkeypatch.setattr(Learned, "from_json", staticmethod(lambda stored: Learned()))


@pytest.fixture(autouse=True)
def quick_reading(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """`verify` reads most views as tests do; some as users do."""
    if request.node.get_closest_marker("as_users_read") is None:
        monkeypatch.setattr("rennet.api.as_read", listed)


@pytest.fixture(scope="session")
def jvm(spark: SparkSession) -> Jvm:
    return Jvm.of(spark)

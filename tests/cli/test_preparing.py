"""Classes kept for quicker starts: found, left alone where they should be, and used by Spark."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rennet.classes import archive, making, using
from rennet.cli.main import main
from rennet.session import _java_options

COUNT = """
import sys, rennet
from rennet.session import close
spark = rennet.session(sys.argv[1], cores=1, memory="1g")
beans = spark._jvm.java.lang.management.ManagementFactory
print(any("SharedArchiveFile" in each for each in beans.getRuntimeMXBean().getInputArguments()))
print(spark.sql("SELECT 1").first()[0])
close(spark)
"""


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a cache"))
    found = archive()
    assert found.is_relative_to(tmp_path)
    return found


def test_nothing_is_used_that_is_not_there(kept: Path) -> None:
    assert using() == ""
    kept.parent.mkdir(parents=True)
    kept.touch()
    assert f'"-XX:SharedArchiveFile={kept}"' in using()


def test_options_that_say_otherwise_count(kept: Path, tmp_path: Path) -> None:
    kept.parent.mkdir(parents=True)
    kept.touch()
    assert using("-XX:SharedArchiveFile=mine.jsa") == ""
    assert using(making(tmp_path / "new.jsa")) == ""


def test_every_java_has_its_own(kept: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert archive() != kept
    assert archive().parent == kept.parent


def test_options_given_are_added_and_come_last(kept: Path, tmp_path: Path) -> None:
    assert _java_options(tmp_path, "-Dmine=1").split()[-1] == "-Dmine=1"
    assert "derby" in _java_options(tmp_path, "-Dmine=1")


def test_a_warehouse_is_not_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prepare", "--warehouse", "x"]) == 2
    assert "Leave --warehouse out" in capsys.readouterr().err


@pytest.mark.slow
def test_what_is_prepared_is_used(tmp_path: Path) -> None:
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "a cache")}
    prepare = [sys.executable, "-m", "rennet.cli.main", "prepare", "--json"]
    done = subprocess.run(prepare, capture_output=True, text=True, env=environment, check=True)
    assert Path(json.loads(done.stdout)["file"]).stat().st_size > 10_000_000
    count = [sys.executable, "-c", COUNT, str(tmp_path / "warehouse")]
    found = subprocess.run(count, capture_output=True, text=True, env=environment, check=True)
    assert found.stdout == "True\n1\n"


@pytest.mark.parametrize("said", ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", ""])
def test_one_collector(kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    for name in ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"):  # tests have a collector of their own
        monkeypatch.delenv(name, raising=False)
    assert "-XX:+UseParallelGC" in _java_options(tmp_path, "-Dmine=1")
    given = "-XX:+UseZGC"
    if said:
        monkeypatch.setenv(said, given)
    assert "-XX:+UseParallelGC" not in _java_options(tmp_path, "" if said else given)

"""`rennet watch` as a process: it refreshes what changed, and ends cleanly when it is told to."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import rennet

SAME_RENNET = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join([str(Path(rennet.__file__).parents[1]), *sys.path]),
    "PYTHONUNBUFFERED": "1",
}


def command(folder: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "rennet.cli.main", *arguments, "--warehouse", str(folder / "warehouse")]


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_watch_refreshes_and_stops_when_told(tmp_path: Path, how: signal.Signals) -> None:
    text = (
        "CREATE TABLE t (x INT) USING delta; "
        "CREATE MATERIALIZED VIEW v TRIGGER ON UPDATE AS SELECT SUM(x) AS total FROM t; "
        "INSERT INTO t VALUES (1)"
    )
    subprocess.run(command(tmp_path, "sql", text), check=True, env=SAME_RENNET, cwd=tmp_path)
    watch = subprocess.Popen(
        command(tmp_path, "watch"), env=SAME_RENNET, cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    assert watch.stdout is not None
    said = []
    for line in watch.stdout:
        said.append(line)
        if "default.v: " in line:
            break
    watch.send_signal(how)
    rest, _ = watch.communicate(timeout=120)
    assert watch.returncode == 0
    assert said[0] == "watching 1 schedule\n" and "GROUP_AGGREGATE" in said[-1] and "stopped" in rest

"""Updates that are killed at any moment: the next one ends in the right state."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import rennet

EXAMPLE = Path(__file__).parents[2] / "examples" / "medallion"
KILLS = int(os.environ.get("RENNET_KILLS", "3"))
SAME_RENNET = {**os.environ, "PYTHONPATH": str(Path(rennet.__file__).parents[1])}
"""The processes started here run the code under test, wherever they are started."""


def command(folder: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "rennet.cli.main", *arguments, "--warehouse", str(folder / "warehouse")]


def run(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        command(folder, *arguments), cwd=folder, capture_output=True, text=True, check=False, env=SAME_RENNET
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def killed(folder: Path, after: float) -> None:
    """Start an update in a process group of its own and kill all of it."""
    group = subprocess.Popen(
        command(folder, "run"), cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True, env=SAME_RENNET,
    )  # fmt: skip
    time.sleep(after)
    os.killpg(group.pid, signal.SIGKILL)
    group.wait()


def arrive(folder: Path, number: int) -> None:
    """One more order and one more move of customer 1, each in a file of its own."""
    region = "asia" if number % 2 else "europe"
    change = {
        "customer_id": 1, "name": "Ann", "region": region, "operation": "UPDATE",
        "changed_at": f"2026-02-{number:02}T00:00:00Z",
    }  # fmt: skip
    (folder / "landing" / "customers" / f"more{number}.json").write_text(json.dumps(change))
    lines = f"order_id,customer_id,amount,ordered_on\n{100 + number},1,1.00,2026-02-01\n"
    (folder / "landing" / "orders" / f"more{number}.csv").write_text(lines)


def stored(folder: Path) -> list[list[list[object]]]:
    """Sales by region, orders, changes of customers, and versions of customer 1."""
    found = run(
        folder, "sql", "--json",
        "SELECT region, CAST(total AS DOUBLE) FROM medallion.region_sales ORDER BY region;"
        "SELECT COUNT(*) FROM medallion.orders; SELECT COUNT(*) FROM medallion.customer_changes;"
        "SELECT COUNT(*) FROM medallion.customer_history WHERE customer_id = 1",
    )  # fmt: skip
    return [result["rows"] for result in json.loads(found)["results"]]


def expected(arrived: int) -> list[list[list[object]]]:
    """The same, after so many arrivals. Ann begins in asia, where the first move leaves her too."""
    home = "asia" if arrived % 2 else "europe"
    sales = {"asia": 45.5, "europe": 10.0}
    sales[home] += 60.0 + arrived
    return [
        [[region, total] for region, total in sorted(sales.items())],
        [[3 + arrived]],
        [[4 + arrived]],
        [[arrived]],
    ]


@pytest.mark.slow
def test_the_update_after_a_kill_is_right(tmp_path: Path) -> None:
    chance = random.Random(7)
    folder = tmp_path / "medallion"
    shutil.copytree(EXAMPLE, folder)
    run(folder, "run")
    arrive(folder, 1)
    started = time.monotonic()
    run(folder, "run")
    length = time.monotonic() - started
    assert stored(folder) == expected(1)
    for number in range(2, KILLS + 2):
        arrive(folder, number)
        moment = chance.uniform(0.3, 1.0) * length
        killed(folder, moment)
        run(folder, "run")
        assert stored(folder) == expected(number), f"killed {moment:.1f} of {length:.1f} s after the start"

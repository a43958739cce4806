"""`rennet bench pipelines`: its project, its figures, and one small run with the real tool."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import rennet
from rennet.bench.pipelines.project import VIEWS, write
from rennet.bench.pipelines.run import Round, Settings, table
from rennet.pipelines.sqlfiles import read_sql


def test_the_project_has_twelve_views_on_three_levels(tmp_path: Path) -> None:
    write(tmp_path / "p", tmp_path / "sources")
    text = (tmp_path / "p" / "transformations" / "views.sql").read_text()
    assert [dataset.name for dataset in read_sql(text, "views.sql", None).datasets] == list(VIEWS)
    levels: dict[str, int] = {}
    for name, query in VIEWS.items():
        words = query.replace(",", " ").split()
        levels[name] = 1 + max((levels[word] for word in words if word in levels), default=0)
    assert [sum(level == n for level in levels.values()) for n in (1, 2, 3)] == [4, 4, 4]


def test_medians_count_and_a_difference_shows() -> None:
    rounds = [
        Round(0, 0, {"rennet": 30.0, "spark-pipelines": 40.0}, ()),
        Round(1, 10, {"rennet": 10.0, "spark-pipelines": 20.0}, ()),
        Round(2, 10, {"rennet": 90.0, "spark-pipelines": 20.0}, ()),
        Round(3, 10, {"rennet": 5.0, "spark-pipelines": 40.0}, ()),
    ]
    ours, theirs = table(rounds)
    assert (ours["after a change s"], ours["to spark-pipelines"], ours["equal"]) == ("10.00", "0.50", "yes")
    assert theirs["to spark-pipelines"] == "1.00"
    wrong = [*rounds, Round(4, 10, {"rennet": 5.0, "spark-pipelines": 40.0}, ("order_days",))]
    assert {row["equal"] for row in table(wrong)} == {"NO"}
    cold = Round(1, 10, {"rennet": 900.0, "spark-pipelines": 20.0}, (), counts=False)
    assert table([rounds[0], cold, *rounds[1:]])[0]["after a change s"] == "10.00"
    assert Settings(10_000).changed == 10 and Settings(10_000, 7).changed == 7


@pytest.mark.slow
@pytest.mark.parametrize("processes", ["new", "lasting"])
def test_both_contenders_get_through(tmp_path: Path, processes: str) -> None:
    pytest.importorskip("grpc", reason="spark-pipelines needs the extra rennet[compare]")
    places = os.pathsep.join([str(Path(rennet.__file__).parents[1]), *sys.path])
    file = tmp_path / "figures.json"
    arguments = [
        "bench",
        "pipelines",
        "--rows",
        "1000",
        "--repeat",
        "2",
        "--json",
        str(file),
        "--processes",
        processes,
    ]
    done = subprocess.run(
        [sys.executable, "-m", "rennet.cli.main", *arguments], check=False, cwd=tmp_path, capture_output=True,
        text=True, env={**os.environ, "PYTHONPATH": places},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(file.read_text())
    assert found["equal"] and len(found["results"]) == 3
    assert all(set(each["seconds"]) == {"rennet", "spark-pipelines"} for each in found["results"])

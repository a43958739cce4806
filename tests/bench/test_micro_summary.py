"""Medians, ratios and verdicts, and the command lines around them; no Spark is started."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rennet.bench.micro import fixed, growth
from rennet.bench.micro.cells import Cell, estimates, table, verdicts
from rennet.bench.micro.measure import Sample
from rennet.bench.micro.shape import Change, Shape
from rennet.bench.micro.shapes import CLUSTERED, SHAPES, named
from rennet.bench.micro.shapes.tables import ORDERS, PRODUCTS
from rennet.bench.micro.summary import Measured, figure, medians, ratio, times, work
from rennet.cli import measuring
from tests.cli.conftest import Shell, shell

__all__ = ["shell"]


def _samples(*walls: float, jobs: int | None = 3) -> list[Sample]:
    return [Sample(wall, wall / 2, jobs, 10, 1_000_000, 5, None) for wall in walls]


@pytest.fixture
def measured() -> Measured:
    found = Measured("shape", "about", 2_000, 20, techniques=["ROW_BASED", "APPEND_ONLY"])
    found.samples = {
        "full": _samples(8, 4, 4),
        "hand": _samples(1, 2, 30),
        "duckdb": _samples(0.01, jobs=None),
        "rennet": _samples(1, 1, 5),
    }
    return found


def test_a_median_is_of_what_is_known() -> None:
    found = medians([Sample(1, 1, 2), Sample(3, 2, None), Sample(2, 9, 4)])
    assert (found["wall_seconds"], found["cpu_seconds"], found["jobs"]) == (2, 2, 3)
    assert found["rows_read"] is None


def test_a_ratio_to_nothing_says_nothing() -> None:
    assert ratio(1.0, 4.0) == 0.25
    assert ratio(1.0, 0.0) is None
    assert ratio(None, 2.0) is None
    assert ratio(2.0, None) is None


def test_figures() -> None:
    assert [figure(value) for value in (None, 0.0123, 0.5, 12.345)] == ["–", "0.012", "0.50", "12.35"]


def test_times_compare_medians(measured: Measured) -> None:
    (row,) = times([measured])
    assert (row["full s"], row["hand s"], row["duckdb s"], row["rennet s"]) == (
        "4.00",
        "2.00",
        "0.010",
        "1.00",
    )
    assert (row["rennet/hand"], row["rennet/full"], row["CPU rennet/hand"]) == ("0.50", "0.25", "0.50")
    assert (row["technique"], row["equal"]) == ("APPEND_ONLY", "yes")


def test_work_has_a_row_for_each_contender(measured: Measured) -> None:
    rows = {row["who"]: row for row in work([measured])}
    assert list(rows) == ["full", "hand", "duckdb", "rennet"]
    assert (rows["hand"]["MB read"], rows["hand"]["MB written"]) == ("1.0", "–")
    assert (rows["hand"]["jobs"], rows["duckdb"]["jobs"]) == ("3", "–")


def test_a_difference_makes_a_measurement_void(measured: Measured) -> None:
    measured.differences["hand"] = "1 rows missing"
    assert times([measured])[0]["equal"] == "NO"
    assert measured.to_dict()["equal"] is False
    json.dumps(measured.to_dict())


# -- shapes


def test_shapes_are_found_by_name() -> None:
    assert [shape.name for shape in named(["exists", "distinct"])] == ["exists", "distinct"]
    names = [shape.name for shape in (*SHAPES, *CLUSTERED)]
    assert len(set(names)) == len(names)
    with pytest.raises(KeyError, match="nothing"):
        named(["nothing"])


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_the_shares_of_a_change_are_all_of_it(shape: Shape) -> None:
    shares = sum(change.updates + change.deletes + change.inserts for change in shape.changes)
    assert shares == pytest.approx(1.0)


def test_updates_and_deletes_do_not_meet() -> None:
    change = Change("orders", "a = 1", updates=0.6, deletes=0.2, inserts=0.2)
    update, delete = change.statements("orders", 1000, 3, 100)
    place = "pmod(xxhash64(id, 'orders 3'), 1000)"
    assert update == f"UPDATE orders SET a = 1 WHERE {place} >= 0 AND {place} < 60"
    assert delete == f"DELETE FROM orders WHERE {place} >= 60 AND {place} < 80"


def test_clustered_changes_are_elsewhere_in_each_round() -> None:
    change = replace(Change("orders", "a = 1", updates=0.9, deletes=0.1), clustered=True)
    assert change.statements("orders", 1000, 1, 100) == [
        "UPDATE orders SET a = 1 WHERE id >= 100 AND id < 190",
        "DELETE FROM orders WHERE id >= 190 AND id < 200",
    ]
    assert "id >= 200 AND id < 290" in change.statements("orders", 1000, 2, 100)[0]


def test_sizes_of_tables() -> None:
    assert (ORDERS.size(5_000), PRODUCTS.size(5_000)) == (5_000, 1_000)
    assert [ORDERS.files(rows) for rows in (1_000, 2_000_000, 10_000_000)] == [1, 4, 10]


# -- growth and fixed costs


def test_growth_compares_the_largest_with_the_smallest() -> None:
    grown = [
        growth.Grown("a", True, rows, 10, _samples(seconds), ["ROW_BASED"], 100.0, True)
        for rows, seconds in ((1_000_000, 2.0), (30_000_000, 3.0))
    ]
    (row,) = growth.table(grown)
    assert (row["1 M: s"], row["30 M: s"], row["largest/smallest"]) == ("2.00", "3.00", "1.50")
    assert (row["touched rows"], row["heap MB"], row["equal"]) == ("together", "100 100", "yes")


def test_fixed_costs_are_compared_with_an_append() -> None:
    taken = [fixed.Taken("append", "", _samples(0.5, 0.4)), fixed.Taken("aggregate", "", _samples(0.9))]
    assert [row["to append"] for row in fixed.table(taken)] == ["1.00", "2.00"]


# -- decisions


def _cell(chosen: str, history: bool = False, **cpu: float) -> Cell:
    return Cell("shape", 0.01, history, chosen, cpu, cpu, 2.0, 2.0, {"A": 3.0})


def test_regret() -> None:
    assert _cell("A", A=1.0, B=2.0).regret == 0
    assert _cell("B", A=1.0, B=1.1).right
    wrong = _cell("B", A=1.0, B=3.0)
    assert (wrong.cheapest, wrong.regret, wrong.right) == ("A", 2.0, False)


def test_a_choice_nobody_was_forced_to_counts_as_it_ran() -> None:
    assert _cell("C", A=1.0).regret == 1.0


def test_estimates_may_be_absent() -> None:
    told = [{"technique": "A", "estimate": 1.5}, {"technique": "B"}, {"technique": "C", "estimate": None}]
    assert estimates(told) == {"A": 1.5}
    assert _cell("A", A=2.0).estimate_error == 1.5
    assert _cell("B", A=2.0, B=2.0).estimate_error is None


def test_verdicts_are_separate() -> None:
    cells = [_cell("A", A=1.0, B=2.0), _cell("B", A=1.0, B=3.0), _cell("A", True, A=1.0, B=2.0)]
    found = verdicts(cells)
    assert (found["without history"]["right"], found["without history"]["worst_regret"]) == (0.5, 2.0)
    assert (found["with history"]["right"], found["with history"]["cells"]) == (1.0, 1)
    assert found["without history"]["estimates_within_twice"] == 1.0
    assert table(cells)[1]["regret"] == "200%"
    assert table(cells)[1]["changed"] == "1.00%"


# -- the command line


class _FakeSpark:
    """What a benchmark's document asks of a session."""


@pytest.fixture
def fake(measured: Measured, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The benchmark `micro` without Spark: gives a measurement, and keeps what it was asked for."""
    asked: list[Any] = []

    def run(running: measuring.Running) -> Iterator[Measured]:
        asked.append(running.options)
        yield measured

    monkeypatch.setitem(measuring.BENCHES, "micro", replace(measuring.BENCHES["micro"], run=run))
    monkeypatch.setattr(measuring, "versions", lambda _: {"rennet": "0"})
    monkeypatch.setattr(measuring, "resources", lambda _: {"cores": 2})
    return asked


class _Engine:
    spark = _FakeSpark()


def test_tables_on_the_screen_and_a_file(shell: Shell, fake: list[Any], tmp_path: Path) -> None:
    file = tmp_path / "found.json"
    line = ("bench", "micro", "--rows", "5000", "--shapes", "exists,distinct", "--json", str(file))
    ran = shell.on(_Engine(), *line)
    assert (ran.code, ran.err) == (0, "")
    assert "rennet/hand" in ran.out
    document = json.loads(file.read_text())
    assert document["settings"]["shapes"] == ["exists", "distinct"]
    assert document["settings"]["rows"] == 5000
    assert document["results"][0]["ratios"]["hand"]["wall_seconds"] == 0.5
    assert fake[0].changes == 1000


def test_json_on_the_screen(shell: Shell, fake: list[Any]) -> None:
    for line in (("bench", "micro", "--json"), ("--json", "bench", "micro")):
        ran = shell.on(_Engine(), *line)
        assert ran.code == 0
        assert ran.document["benchmark"] == "micro"


def test_a_wrong_result_is_the_exit_code(shell: Shell, fake: list[Any], measured: Measured) -> None:
    measured.differences["rennet"] = "1 rows missing"
    ran = shell.on(_Engine(), "bench", "micro")
    assert ran.code == 1
    assert "rennet is wrong: 1 rows missing" in ran.out


def test_bars(shell: Shell, fake: list[Any], tmp_path: Path) -> None:
    ran = shell.on(_Engine(), "bench", "micro", "--plot", str(tmp_path / "bars.png"))
    assert (ran.code, ran.err) == (0, "")
    assert (tmp_path / "bars.png").read_bytes().startswith(b"\x89PNG")


def test_a_missing_package_is_named(shell: Shell, fake: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    ran = shell.on(_Engine(), "bench", "micro")
    assert ran.code == 3
    assert "[PACKAGE_NOT_INSTALLED] This benchmark needs duckdb" in ran.err
    assert fake == []


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("micro --shapes triangle", "'triangle' is not a shape"),
        ("micro --rows 10", "less than 1,000 rows"),
        ("micro --rows 2000 --changes 3000", "more changes than rows"),
        ("micro --repeat 0", "not a number of at least 1"),
        ("micro --json no/such/folder.json", "no folder"),
        ("micro --warehouse w", "a warehouse of its own"),
        ("growth --sizes 1,x", "not a list of numbers"),
        ("growth --sizes 0", "above 0"),
        ("decisions --fractions 0.5,2", "at most 1"),
    ],
)
def test_wrong_usage(shell: Shell, fake: Sequence[Any], line: str, problem: str) -> None:
    ran = shell.on(_Engine(), "bench", *line.split())
    assert ran.code == 2
    assert problem in ran.err

"""What is made of measurements: load, decisions, the record's file, the report. No Spark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rennet.bench.tpcdi.run.decide import FULL, decisions, whole
from rennet.bench.tpcdi.run.load import busy, joined, load, peak
from rennet.bench.tpcdi.run.record import Record, RecordError, read
from rennet.bench.tpcdi.run.report import write
from rennet.bench.tpcdi.run.summary import PAPER, Summary, limits
from rennet.errors import AlreadyExistsError

ROWS = "ROW_BASED"
ABOUT = {
    "settings": {"scale": 0.1},
    "variant": "paper",
    "machine": {"cores": 2, "memory": "4g", "spark": "4", "delta": "4", "began": "2026-01-01T00:00:00"},
}


def costs(wall: float, cpu: float, **more: Any) -> dict[str, Any]:
    counted = {
        "idle_seconds": wall / 4,
        "jobs": 3,
        "rows_read": 100,
        "bytes_read": 1000,
        "rows_inserted": 10,
        "rows_deleted": 0,
        "load": [(0.5, 1), (1, 0)],
    }
    return {"wall_seconds": wall, "cpu_seconds": cpu, **counted, **more}


def refresh(record: Record, view: str, batch: int, chosen: str, **more: Any) -> None:
    """An AUTO refresh by a technique, when both were possible."""
    possible = [{"technique": each, "applicable": True} for each in (ROWS, FULL)]
    entry = {
        "technique": chosen,
        "reason": "because",
        "techniques": possible,
        "upstream": [],
        "lost": False,
        **costs(2.0, 1.0),
        "rows_inserted": 10 if batch > 1 else 1000,
        **more,
    }
    record.add("refreshes", batch=batch, mode="AUTO", view=view, **entry)


def force(
    record: Record, view: str, asked: str, cpu: float, batch: int = 2, run: int = 0, **more: Any
) -> None:
    entry = {"technique": asked, **costs(cpu * 2, cpu), **more}
    record.add("forced", batch=batch, view=view, asked=asked, run=run, **entry)


@pytest.fixture
def record() -> Record:
    return Record.new(ABOUT, None)


def test_load_counts_running_tasks() -> None:
    points = load([(0.0, 2.0), (1.0, 3.0), (2.0, 4.0), (5.0, 6.0), (7.0, 7.0)])
    assert points == [(0.0, 1), (1.0, 2), (3.0, 1), (4.0, 0), (5.0, 1), (6.0, 0)]
    assert peak(points) == 2
    assert busy(points) == 5.0


def test_load_of_nothing() -> None:
    assert load([]) == []
    assert (peak([]), busy([])) == (0, 0)


def test_loads_follow_each_other() -> None:
    assert joined([(3.0, [(1.0, 2), (2.0, 0)]), (1.0, [(0.5, 1), (0.75, 0)])]) == [
        (1.0, 2),
        (2.0, 0),
        (3.5, 1),
        (3.75, 0),
    ]


@pytest.mark.parametrize(
    ("chosen", "rows", "full", "right"),
    [
        (ROWS, 1.0, 4.0, True),
        (ROWS, 4.0, 1.0, False),
        (ROWS, 4.2, 4.0, True),  # within a tenth
        (FULL, 1.0, 4.0, False),
        (FULL, 4.0, 1.0, True),
        (ROWS, 0.05, 0.02, True),  # too little to tell
    ],
)
def test_a_choice_is_right_if_nothing_was_cheaper(
    record: Record, chosen: str, rows: float, full: float, right: bool
) -> None:
    refresh(record, "DimTrade", 2, chosen)
    force(record, "DimTrade", ROWS, rows)
    force(record, "DimTrade", FULL, full)
    (decision,) = decisions(record)
    assert (decision.right_alone, decision.right) == (right, right)
    assert decision.speedup("cpu") == pytest.approx(full / rows)


def test_medians_count(record: Record) -> None:
    refresh(record, "DimTrade", 2, ROWS)
    for run, cpu in enumerate((9.0, 1.0, 2.0)):
        force(record, "DimTrade", ROWS, cpu, run=run)
    force(record, "DimTrade", FULL, 8.0)
    (decision,) = decisions(record)
    assert decision.costs[ROWS].cpu == 2.0
    assert decision.cheapest == ROWS


def test_a_refresh_that_fell_back_is_not_taken_for_its_technique(record: Record) -> None:
    refresh(record, "DimTrade", 2, ROWS)
    force(record, "DimTrade", ROWS, 1.0, technique=FULL)
    record.add("forced", batch=2, view="DimTrade", asked="APPEND_ONLY", run=0, error="not possible")
    force(record, "DimTrade", FULL, 8.0)
    (decision,) = decisions(record)
    assert set(decision.costs) == {FULL}
    assert decision.right is None


@pytest.mark.parametrize(("saved", "right"), [(5.0, True), (0.5, False)])
def test_what_readers_save_counts(record: Record, saved: float, right: bool) -> None:
    refresh(record, "DimAccount", 2, ROWS)
    refresh(record, "DimTrade", 2, ROWS, upstream=["dimaccount"])
    refresh(record, "FactHoldings", 2, ROWS, upstream=["dimtrade"])
    refresh(record, "FactWatches", 2, ROWS)
    force(record, "DimAccount", ROWS, 3.0)
    force(record, "DimAccount", FULL, 1.0)
    for view, full in (("DimTrade", 1.0), ("FactHoldings", 1.0 + saved), ("FactWatches", 50.0)):
        force(record, view, ROWS, 1.0)
        force(record, view, FULL, full)
    account = decisions(record)[0]
    assert account.right_alone is False
    assert account.right is right


def test_views_that_did_not_change_are_left_out(record: Record) -> None:
    refresh(record, "DimBroker", 2, "NO_OP")
    refresh(record, "DimTrade", 1, FULL)
    assert decisions(record) == []


def test_estimates_are_kept_if_there_are_any(record: Record) -> None:
    techniques = [
        {"technique": ROWS, "applicable": True, "estimate": 1.5},
        {"technique": FULL, "applicable": True},
    ]
    refresh(record, "DimTrade", 2, ROWS, techniques=techniques)
    assert decisions(record)[0].estimates == {ROWS: 1.5}


def test_a_whole_pipeline_with_a_gap_says_so(record: Record) -> None:
    refresh(record, "DimTrade", 2, ROWS)
    refresh(record, "FactWatches", 2, ROWS)
    found = whole(record, "AUTO", 2)
    assert found is not None
    assert (found.wall, found.cpu, found.complete) == (4.0, 2.0, True)
    refresh(record, "FactHoldings", 2, ROWS, lost=True)
    again = whole(record, "AUTO", 2)
    assert again is not None
    assert not again.complete


def test_a_pipeline_of_which_views_are_missing_is_not_whole(record: Record) -> None:
    refresh(record, "DimTrade", 1, FULL)
    refresh(record, "FactWatches", 1, FULL)
    refresh(record, "DimTrade", 2, ROWS)
    found, some = whole(record, "AUTO", 2), whole(record, "AUTO", 2, ["DimTrade"])
    assert found is not None
    assert some is not None
    assert (found.complete, some.complete) == (False, True)


@pytest.mark.parametrize(
    ("more", "inserted", "says"),
    [
        ({"idle_seconds": 0.1}, 3000, "nearly the whole view changes"),
        ({"idle_seconds": 1.9}, 10, "fixed cost"),
        ({"idle_seconds": 0.1, "rows_read": 90}, 10, "reads most of"),
        ({"idle_seconds": 0.1, "rows_read": 10}, 10, "10 % of the rows a full recompute reads"),
    ],
)
def test_limits_are_read_off_the_figures(
    record: Record, more: dict[str, Any], inserted: int, says: str
) -> None:
    refresh(record, "DimTrade", 1, FULL)
    refresh(record, "DimTrade", 2, FULL, rows_inserted=1000)  # what a recompute writes is not what changed
    force(record, "DimTrade", ROWS, 1.0, rows_inserted=inserted, **more)
    force(record, "DimTrade", FULL, 4.0)
    assert says in limits(Summary(record), "DimTrade")


def test_a_record_is_whole_after_every_entry(tmp_path: Path) -> None:
    path = tmp_path / "new" / "run.json"
    record = Record.new(ABOUT, path)
    record.add("ingests", batch=1, wall_seconds=1.0)
    assert read(path).find("ingests", batch=1) == [{"batch": 1, "wall_seconds": 1.0}]
    with pytest.raises(AlreadyExistsError, match="--resume"):
        Record.new(ABOUT, path)
    assert Record.resumed(ABOUT, path).document == record.document
    with pytest.raises(RecordError, match="its variant is paper, not views"):
        Record.resumed({**ABOUT, "variant": "views"}, path)
    assert [each.name for each in path.parent.iterdir()] == ["run.json"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [("{", "is not JSON"), ("[]", "was not written by"), ('{"benchmark": "tpcdi", "format": 9}', "format 9")],
)
def test_other_files_are_no_records(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(RecordError, match=problem):
        read(path)
    with pytest.raises(RecordError, match="cannot be read"):
        read(tmp_path / "nothing.json")


def test_the_report_says_what_was_measured(tmp_path: Path, record: Record) -> None:
    for batch in (1, 2):
        for view in PAPER:
            refresh(record, view, batch, ROWS if batch > 1 else FULL)
            full = {"technique": FULL, "lost": False, **costs(10.0, 5.0)}
            record.add("refreshes", batch=batch, mode="FULL", view=view, **full)
    for view in PAPER:
        force(record, view, ROWS, 2.0 if view != "Prospect" else 8.0)
        force(record, view, FULL, 4.0)
    for run in range(3):
        record.add("overwrites", batch=2, view="DimTrade", run=run, **costs(12.0 + run, 3.0))
    record.add("references", batch=2, wall_seconds=1.25, cpu_seconds=2.5)
    record.add("checks", batch=2, subject="DimTrade", by="DuckDB", ok=False, note="3 rows are missing")
    written = write([record], tmp_path)
    page = written[0].read_text()
    assert "| views faster incrementally | 6 of 8 | 7 of 8 |" in page
    assert "| right decisions | 7 of 8 | 7 of 8 (view and batch) |" in page
    assert "| SF 0.1, paper | 2 | 80.0 | 40.0 | 16.0 | 8.0 | 0.20 | 0.20 | 1.2 | 2.5 |" in page
    assert "Slower incrementally than in full, by wall time: Prospect." in page
    assert "| DimTrade | 2.00 (2.00) |" in page
    assert "| DimTrade | 3.25 (1.50) |" in page  # 13 and 3 seconds against 4 and 2
    assert "| … than by INSERT OVERWRITE | – | 1 of 1 |" in page
    assert "**failed** (SF 0.1, paper, batch 2, by DuckDB): DimTrade: 3 rows are missing" in page
    for path in written[1:]:
        assert f"({path.relative_to(tmp_path).as_posix()})" in page
        assert "<svg" in path.read_text()
    before = {path: path.read_bytes() for path in written}
    write([Record(json.loads(json.dumps(record.document)))], tmp_path)
    assert {path: path.read_bytes() for path in written} == before

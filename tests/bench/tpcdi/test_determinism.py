"""The same settings give the same bytes; other seeds and knobs give others."""

from __future__ import annotations

from collections import Counter
from hashlib import sha256
from pathlib import Path

import pytest

from rennet.bench.tpcdi.generator import generate
from rennet.bench.tpcdi.settings import Settings
from tests.bench.tpcdi.conftest import Folder, made

SAME_FOR_ALL = {"BatchDate.txt", "Date.txt", "Time.txt", "StatusType.txt", "TradeType.txt", "TaxRate.txt"}
SAME_FOR_ALL |= {"Industry.txt"}
EVENTS = ("Trade.txt", "CashTransaction.txt", "HoldingHistory.txt", "WatchHistory.txt", "DailyMarket.txt")
TINY = {"scale": 0.05, "batches": 4, "change_factor": 6}


def hashes(folder: Path) -> dict[str, str]:
    """A hash of each file."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): sha256(path.read_bytes()).hexdigest() for path in found}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    return made(tmp_path_factory.mktemp("tiny"), Settings(**TINY, seed=3))


def test_the_same_seed_gives_the_same_bytes(tiny: Folder, tmp_path: Path) -> None:
    generate(Settings(**TINY, seed=3), tmp_path)
    assert hashes(tmp_path) == hashes(tiny.path)


def test_another_seed_gives_other_bytes(tiny: Folder, tmp_path: Path) -> None:
    generate(Settings(**TINY, seed=4), tmp_path)
    first, second = hashes(tiny.path), hashes(tmp_path)
    for name in first:
        file = name.split("/")[-1]
        if not file.endswith("_audit.csv"):
            assert (first[name] == second[name]) == (file in SAME_FOR_ALL), name


def test_more_batches_leave_the_first_ones_alone(tiny: Folder, tmp_path: Path) -> None:
    folder = made(tmp_path, Settings(**{**TINY, "batches": 12}, seed=3))
    more, fewer = hashes(folder.path), hashes(tiny.path)
    assert {name: more[name] for name in fewer if not name.startswith("Generator")} == {
        name: value for name, value in fewer.items() if not name.startswith("Generator")
    }
    assert folder.lines(12, "BatchDate.txt") == ["2017-07-18"]
    assert folder.lines(12, "DailyMarket.txt")[0].split("|")[2] == "2017-07-17"


def test_knobs_leave_the_historical_batch_alone(tiny: Folder, tmp_path: Path) -> None:
    knobs = {"change_factor": 9, "late": 0.5, "out_of_order": 0.5, "update_share": 0.9}
    settings = Settings(**{**TINY, **knobs}, seed=3)
    generate(settings, tmp_path)
    first, second = hashes(tiny.path), hashes(tmp_path)
    for name in first:
        if name.startswith("Batch1/"):
            assert first[name] == second[name], name


def test_late_records_come_a_batch_later_and_none_is_lost(tiny: Folder, tmp_path: Path) -> None:
    folder = made(tmp_path, Settings(**TINY, seed=3, late=0.4))
    for name in EVENTS:
        batches = [2, 3, 4]
        on_time = {line: batch for batch in batches for line in tiny.lines(batch, name)}
        arrived = {line: batch for batch in batches for line in folder.lines(batch, name)}
        assert arrived.keys() == on_time.keys()
        delays = Counter(arrived[line] - on_time[line] for line in on_time)
        assert set(delays) == {0, 1}, name
        could_wait = [line for line, batch in on_time.items() if batch < 4]
        placed = [line for line in could_wait if name == "Trade.txt" and line.startswith("I")]
        assert all(arrived[line] == on_time[line] for line in placed)
        expected = 0.4 * (len(could_wait) - len(placed))
        assert delays[1] == pytest.approx(expected, abs=3 * expected**0.5 + 2), name


def test_late_trades_are_late_with_all_that_belongs_to_them(tmp_path: Path) -> None:
    folder = made(tmp_path, Settings(scale=0.3, batches=4, seed=8, late=0.5))
    completed: set[str] = set()
    for batch in (2, 3, 4):
        completed |= {row[2] for row in folder.rows(batch, "Trade.txt") if row[4] == "CMPT"}
        holdings = {row[3] for row in folder.rows(batch, "HoldingHistory.txt")}
        assert holdings <= completed


def test_rows_out_of_order_are_the_same_rows(tiny: Folder, tmp_path: Path) -> None:
    folder = made(tmp_path, Settings(**TINY, seed=3, out_of_order=0.5))
    for name in EVENTS:
        moved = 0
        for batch in (2, 3, 4):
            before, after = tiny.lines(batch, name), folder.lines(batch, name)
            assert sorted(before) == sorted(after)
            moved += sum(first != second for first, second in zip(before, after, strict=True))
        assert moved > 0, name


def test_change_factor_multiplies_changes(tiny: Folder, tmp_path: Path) -> None:
    folder = made(tmp_path, Settings(scale=0.5, batches=3, seed=3, change_factor=10))
    usual, many = Settings(scale=0.5).sizes, folder.settings.sizes
    for batch in (2, 3):
        placed = [row for row in folder.rows(batch, "Trade.txt") if row[0] == "I"]
        assert len(placed) == 10 * usual.trades_per_day
        assert len(folder.lines(batch, "WatchHistory.txt")) == 10 * usual.watches_per_slot
        assert len(folder.lines(batch, "Customer.txt")) == 25
        assert len(folder.lines(batch, "Account.txt")) == 50
    before, after = ({row[0]: row for row in folder.rows(batch, "Prospect.csv")} for batch in (1, 2))
    assert len(after.keys() - before.keys()) == many.prospects_replaced == 30
    assert len(before) == usual.prospects


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_update_share(tmp_path: Path, share: float) -> None:
    folder = made(tmp_path, Settings(scale=0.5, batches=3, seed=3, change_factor=8, update_share=share))
    for name in ("Customer.txt", "Account.txt"):
        rows = folder.rows(3, name)
        assert sum(row[0] == "U" for row in rows) / len(rows) == pytest.approx(share, abs=0.06)

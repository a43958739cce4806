"""How much of everything, and how much of it changes from batch to batch."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.bench.tpcdi.conftest import Folder
from tests.bench.tpcdi.test_settings import MARKET_DAYS, members


def rows_of(folder: Folder, name: str) -> list[int]:
    """Rows of a file in each batch."""
    found = {file.batch: file.rows for file in folder.generated.files if file.name == name}
    return [found.get(batch, 0) for batch in range(1, folder.settings.batches + 1)]


def test_files_whose_size_is_given(long: Folder) -> None:
    sizes, later = long.settings.sizes, long.settings.batches - 1
    trades = sizes.trades_per_day * 1827
    assert rows_of(long, "Trade.txt")[0] == trades
    assert rows_of(long, "WatchHistory.txt") == [
        sizes.slots * sizes.watches_per_slot,
        *[sizes.watches_per_batch] * later,
    ]
    assert rows_of(long, "CustomerMgmt.xml")[0] == sizes.actions.total
    assert rows_of(long, "Customer.txt") == [0, *[5] * later]
    assert rows_of(long, "Account.txt") == [0, *[10] * later]
    assert rows_of(long, "Prospect.csv") == [4994] * (later + 1)
    assert rows_of(long, "HR.csv")[0] == 5000


def test_reports_and_prices(long: Folder) -> None:
    companies, securities = long.settings.sizes.companies, long.settings.sizes.securities
    steps = [sum(step <= quarter for step in companies.every) for quarter in range(202)]
    wires = sum(file.rows for file in long.generated.files if file.name.startswith("FINWIRE"))
    reports = sum(members(companies, done) for done in steps)
    assert wires == reports + companies.rows + securities.rows
    expected = []
    for quarter in range(194, 203):  # the third of 2015 and on, counted from the first of 1967
        done = sum(1 + step < quarter for step in securities.every)
        losing = securities.deleted if quarter - 1 in securities.every else 0
        expected.append(members(securities, done) - losing)
    prices = rows_of(long, "DailyMarket.txt")
    assert prices[0] == sum(days * count for days, count in zip(MARKET_DAYS, expected, strict=True))
    assert set(prices[1:]) == {expected[-1]}


@pytest.mark.parametrize(
    ("name", "share"),
    [("TradeHistory.txt", 2.512), ("CashTransaction.txt", 0.925), ("HoldingHistory.txt", 0.927)],
)
def test_events_for_each_trade(long: Folder, name: str, share: float) -> None:
    trades = rows_of(long, "Trade.txt")[0]
    assert rows_of(long, name)[0] / trades == pytest.approx(share, rel=0.01)


@pytest.mark.parametrize(
    ("name", "share"),
    [("Trade.txt", 2.54), ("CashTransaction.txt", 0.94), ("HoldingHistory.txt", 0.94)],
)
def test_events_of_a_batch(long: Folder, name: str, share: float) -> None:
    """On average over the batches: what happens to a trade from its placement on, happens in each batch."""
    counts = rows_of(long, name)[1:]
    expected = share * long.settings.sizes.trades_per_day * len(counts)
    assert sum(counts) == pytest.approx(expected, rel=0.05)


def test_states_of_trades(long: Folder) -> None:
    rows = long.rows(1, "Trade.txt")
    status, kind = Counter(row[2] for row in rows), Counter(row[3] for row in rows)
    share = {name: count / len(rows) for name, count in (status + kind).items()}
    assert share["CMPT"] == pytest.approx(0.9265, abs=0.005)
    assert share["CNCL"] == pytest.approx(0.0586, abs=0.005)
    assert share["PNDG"] == pytest.approx(0.0149, abs=0.003)
    assert [share[name] for name in ("TLB", "TLS", "TMB", "TMS")] == pytest.approx(
        [0.3, 0.3, 0.2, 0.2], abs=0.012
    )


def test_kinds_of_rows_in_a_batch(long: Folder) -> None:
    """As measured at scale 10: of 1,805 rows, 433, 279, 384, 662 and 47."""
    found: Counter[str] = Counter()
    for batch in range(2, long.settings.batches + 1):
        found.update(f"{row[0]}/{row[4]}" for row in long.rows(batch, "Trade.txt"))
    share = {name: count / found.total() for name, count in found.items()}
    measured = {"I/PNDG": 433, "I/SBMT": 279, "U/SBMT": 384, "U/CMPT": 662, "U/CNCL": 47}
    assert share == pytest.approx({name: count / 1805 for name, count in measured.items()}, abs=0.02)


def test_few_accounts_have_most_trades(long: Folder) -> None:
    counts = sorted(Counter(row[8] for row in long.rows(1, "Trade.txt")).values())
    mean = sum(counts) / len(counts)
    assert counts[len(counts) // 2] / mean == pytest.approx(58 / 82.7, rel=0.1)
    assert counts[-len(counts) // 100] / mean == pytest.approx(378 / 82.7, rel=0.2)


def test_brokers_and_jobs(long: Folder) -> None:
    jobs = Counter(row[5] for row in long.rows(1, "HR.csv"))
    assert jobs["314"] / 5000 == pytest.approx(0.286, abs=0.02)
    assert jobs[""] / 5000 == pytest.approx(0.05, abs=0.01)
    assert len(jobs) == 11


def test_prospects_from_batch_to_batch(long: Folder) -> None:
    before = {row[0]: row[1:] for row in long.rows(1, "Prospect.csv")}
    sizes = long.settings.sizes
    for batch in (2, 3, 4):
        now = {row[0]: row[1:] for row in long.rows(batch, "Prospect.csv")}
        changed = [key for key in now.keys() & before.keys() if now[key] != before[key]]
        assert len(now.keys() - before.keys()) == len(before.keys() - now.keys()) == sizes.prospects_replaced
        assert len(changed) == sizes.prospects_changed
        assert all(now[key][:10] == before[key][:10] for key in changed)
        before = now


def test_incomplete_and_invalid_tiers(long: Folder) -> None:
    text = (long.path / "Batch1" / "CustomerMgmt.xml").read_text()
    missing, valid = text.count('C_TIER=""'), [text.count(f'C_TIER="{tier}"') for tier in "123"]
    invalid = sum(text.count(f'C_TIER="{tier}"') for tier in "0456789")
    new = text.count('ActionType="NEW"')
    assert missing / new == pytest.approx(0.05, abs=0.015)
    assert invalid / sum(valid) < 0.006
    assert [count / sum(valid) for count in valid] == pytest.approx([0.1, 0.3, 0.6], abs=0.03)

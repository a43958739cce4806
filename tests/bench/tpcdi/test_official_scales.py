"""Rows and bytes at scales of TPC-DI, against what was counted on output of the official generator."""

from __future__ import annotations

from pathlib import Path

import pytest

from rennet.bench.tpcdi.generator import Written, generate
from rennet.bench.tpcdi.settings import Settings

MEGABYTE = 1e6
HISTORICAL = {
    "Trade.txt": ((390_978, 38.3), (1_300_824, 129)),
    "TradeHistory.txt": ((982_180, 32.1), (3_267_433, 108)),
    "CashTransaction.txt": ((361_856, 32.7), (1_203_664, 109)),
    "HoldingHistory.txt": ((362_342, 7.7), (1_205_282, 26.7)),
    "WatchHistory.txt": ((900_042, 41.7), (3_000_195, 140)),
    "DailyMarket.txt": ((1_282_768, 75.3), (5_270_304, 310)),
    "Prospect.csv": ((14_982, 3.1), (49_940, 10.4)),
    "CustomerMgmt.xml": ((14_572, 9.4), (50_000, 31.1)),
    "FINWIRE": ((102_476, 23.3), (470_025, 106)),
    "HR.csv": ((15_000, 1.2), (50_000, None)),
}
INCREMENTAL = {
    "Trade.txt": ((570, 546), (1_805, 1_758)),
    "CashTransaction.txt": ((199, 188), (637, 642)),
    "HoldingHistory.txt": ((218, 208), (662, 634)),
    "WatchHistory.txt": ((2_098, 2_098), (6_897, 6_897)),
    "DailyMarket.txt": ((1_788, 1_788), (7_360, 7_360)),
    "Prospect.csv": ((14_982, 14_982), (49_940, 49_940)),
    "Customer.txt": ((15, 15), (50, 50)),
    "Account.txt": ((30, 30), (100, 100)),
}
RANDOM = ("Trade.txt", "CashTransaction.txt", "HoldingHistory.txt")
"""How many of these a day brings is a matter of chance, for the official generator as well."""


def found(files: tuple[Written, ...], batch: int, name: str) -> tuple[int, int]:
    """Rows and bytes of a file, or of the files of a name."""
    matching = [file for file in files if file.batch == batch and file.name.startswith(name)]
    return sum(file.rows for file in matching), sum(file.bytes for file in matching)


@pytest.mark.slow
@pytest.mark.parametrize(("position", "scale"), [(0, 3), (1, 10)])
def test_rows_and_bytes(tmp_path: Path, position: int, scale: int) -> None:
    made = generate(Settings(scale=scale), tmp_path)
    for name, both in HISTORICAL.items():
        (rows, megabytes), (rows_now, bytes_now) = both[position], found(made.files, 1, name)
        assert rows_now == pytest.approx(rows, rel=0.01), name
        if megabytes is not None:
            assert bytes_now / MEGABYTE == pytest.approx(megabytes, rel=0.05), name
    for name, counts in INCREMENTAL.items():
        expected = counts[position]
        now = [found(made.files, batch, name)[0] for batch in (2, 3)]
        if name in RANDOM:  # the difference of two counts of independent events, four deviations at most
            assert sum(now) == pytest.approx(sum(expected), abs=4 * (2 * sum(expected)) ** 0.5), name
        else:
            assert now == list(expected), name
    assert made.bytes / MEGABYTE / made.cpu_seconds > 20

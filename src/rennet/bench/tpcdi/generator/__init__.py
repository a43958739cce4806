"""The generator: `generate` writes all source files of all batches into a folder.

Everything is decided by the settings, the seed among them: the same settings give the same bytes. Files are
written as they are made; what is kept in memory are the customers, accounts, companies and securities, and
the orders with something yet to come.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rennet.bench.tpcdi.generator import customer_files
from rennet.bench.tpcdi.generator.customers import Customers
from rennet.bench.tpcdi.generator.daily_market import DailyMarket
from rennet.bench.tpcdi.generator.files import Feed, Files, Written
from rennet.bench.tpcdi.generator.finwire import Wire
from rennet.bench.tpcdi.generator.market import day_number
from rennet.bench.tpcdi.generator.prospects import Prospects
from rennet.bench.tpcdi.generator.static import write_employees, write_static
from rennet.bench.tpcdi.generator.trade_files import TradeFiles
from rennet.bench.tpcdi.generator.trades import Exchange
from rennet.bench.tpcdi.generator.watches import Watches
from rennet.bench.tpcdi.settings import Settings


@dataclass(frozen=True)
class Generated:
    """What was written, and how long it took."""

    settings: Settings
    files: tuple[Written, ...]
    seconds: float
    cpu_seconds: float

    @property
    def bytes(self) -> int:
        """Size of all files."""
        return sum(file.bytes for file in self.files)


def generate(settings: Settings, folder: Path, now: Callable[[str], None] = lambda _: None) -> Generated:
    """Write all files of all batches; `now` is told what is being made."""
    wall, cpu = time.perf_counter(), time.process_time()
    files = Files(folder)
    now("making reference data and employees")
    write_static(files, settings)
    brokers = write_employees(files, settings)
    now("making companies and securities")
    market = Wire(settings).write(files)
    now("making customers")
    customers = Customers(settings)
    values = customer_files.Values(settings, brokers)
    customer_files.write_history(files, customers, values)
    prospects = Prospects(settings, customers, values.of)
    prospects.write(files, 1)
    now("making trades")
    trades = TradeFiles(files, settings, Exchange(settings, customers, market, brokers))
    trades.history()
    now("making watches")
    watches = Watches(settings, customers, market)
    watches.history(files)
    now("making market data")
    prices = DailyMarket(settings, market)
    prices.history(files)
    feeds = {name: Feed(files, settings, name) for name in ("WatchHistory.txt", "DailyMarket.txt")}
    for batch in range(2, settings.batches + 1):
        now(f"making batch {batch}")
        day = day_number(settings.batch_date(batch))
        trades.batch(batch, day)
        watches.batch(feeds["WatchHistory.txt"], batch, day)
        prices.batch(feeds["DailyMarket.txt"], batch, day)
        customer_files.write_batch(files, batch, day, customers, values)
        prospects.write(files, batch)
    _write_audits(files, settings)
    return Generated(settings, tuple(files.written), time.perf_counter() - wall, time.process_time() - cpu)


def _write_audits(files: Files, settings: Settings) -> None:
    """Row counts of every file, the days of the batches, and the settings."""
    for written in tuple(files.written):
        files.audit(written.batch, written.name.split(".")[0], "ROWS", written.rows)
    for batch in range(1, settings.batches + 1):
        files.audit(batch, "Batch", "FirstDay", "", settings.batch_date(batch))
        files.audit(batch, "Batch", "LastDay", "", settings.batch_date(batch))
    files.audit(0, "Generator", "SCALE_FACTOR", str(settings.scale))
    files.audit(0, "Generator", "SEED", settings.seed)
    files.audit(0, "Generator", "BATCHES", settings.batches)
    files.write_audits()

"""The small files that are the same at every scale, and HR.csv."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from functools import cache

import numpy as np

from rennet.bench.tpcdi.generator.draws import Ints, Stream, chance, weighted
from rennet.bench.tpcdi.generator.files import Files
from rennet.bench.tpcdi.generator.text import (
    DAY,
    Chars,
    beside,
    chosen,
    fixed,
    lines,
    only,
    padded,
    whole,
    word,
)
from rennet.bench.tpcdi.settings import Settings

STATUS = ("ACTV", "Active"), ("CMPT", "Completed"), ("CNCL", "Canceled"), ("PNDG", "Pending")
STATUS_TYPES = (*STATUS, ("SBMT", "Submitted"), ("INAC", "Inactive"))
TRADE_TYPES = (
    ("TMB", "Market Buy", "0", "1"),
    ("TMS", "Market Sell", "1", "1"),
    ("TSL", "Stop Loss", "1", "1"),
    ("TLS", "Limit Sell", "1", "0"),
    ("TLB", "Limit Buy", "0", "0"),
)
_STATES = "AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO"
_MORE_STATES = "MT NE NV NH NJ NM NY NC ND OH OK OR PA RI SC SD TN TX UT VT VA WA WV WI WY"
_PROVINCES = "AB BC MB NB NL NS NT NU ON PE QC SK YT"
REGIONS = tuple(f"{_STATES} {_MORE_STATES} {_PROVINCES}".split())
TAX_RATES = [f"{region}{step}" for region in (*REGIONS, "US") for step in range(1, 6)]
SECTORS = {
    "BM": "Materials",
    "CG": "Capital Goods",
    "CN": "Conglomerates",
    "CC": "Cyclical Goods",
    "NC": "Household Goods",
    "EN": "Energy",
    "FN": "Finance",
    "HC": "Health",
    "SV": "Services",
    "TC": "Technology",
    "UT": "Utilities",
}
BRANCHES = (
    "Supply",
    "Wholesale",
    "Retail",
    "Research",
    "Transport",
    "Equipment",
    "Consulting",
    "Leasing",
    "Systems",
    "Trading",
)
INDUSTRIES = [
    (f"{chr(65 + n // 26)}{chr(65 + n % 26)}", f"{name} {branch}", sector)
    for n, (branch, sector, name) in enumerate(
        (branch, sector, name) for branch in BRANCHES for sector, name in SECTORS.items()
    )
][:102]
BROKER = 314
JOBS = ("314", "647", "47", "364", "48", "393", "266", "534", "658", "262")
CHUNK = 20_000


def write_static(files: Files, settings: Settings) -> None:
    """The reference files of the first batch, and the date of every batch."""
    _write(files, "StatusType.txt", ["|".join(row) for row in STATUS_TYPES])
    _write(files, "TradeType.txt", ["|".join(row) for row in TRADE_TYPES])
    _write(files, "Industry.txt", ["|".join(row) for row in INDUSTRIES])
    rates = (
        f"{key}|Tax of {key[:2]}, bracket {key[2]}|0.{(n * 7919) % 50_000:05}"
        for n, key in enumerate(TAX_RATES)
    )
    _write(files, "TaxRate.txt", list(rates))
    _write(files, "Date.txt", _dates())
    _write(files, "Time.txt", _times())
    for batch in range(1, settings.batches + 1):
        _write(files, "BatchDate.txt", [settings.batch_date(batch).isoformat()], batch)


def _write(files: Files, name: str, rows: list[str], batch: int = 1) -> None:
    with files.open(batch, name) as sink:
        sink.text("".join(f"{row}\r\n" for row in rows).encode("ascii"))
        sink.rows = len(rows)


@cache
def _dates() -> list[str]:
    """The rows of Date.txt: 71 years."""
    return [_date(date(1950, 1, 1) + timedelta(days=n)) for n in range(25_933)]


@cache
def _times() -> list[str]:
    """The rows of Time.txt."""
    return [_time(second) for second in range(DAY)]


def _date(day: date) -> str:
    """A row of Date.txt. The fiscal year starts in July."""
    quarter, (_, week, _) = (day.month + 2) // 3, day.isocalendar()
    fiscal, fiscal_quarter = day.year + (day.month > 6), (quarter + 1) % 4 + 1
    month, weekday = day.strftime("%B"), day.strftime("%A")
    holiday = (day.day == 1 and day.month <= 9) or (day.month, day.day) == (12, 25)
    cells = (
        f"{day:%Y%m%d}|{day}|{month} {day.day}, {day.year}",
        f"{day.year}|{day.year}|{day.year}{quarter}|{day.year} Q{quarter}",
        f"{day.year}{day.month}|{day.year} {month}|{day.year}{week}|{day.year}-W{week}",
        f"{day.isoweekday()}|{weekday}|{fiscal}|{fiscal}|{fiscal}{fiscal_quarter}|{fiscal} Q{fiscal_quarter}",
        "true" if holiday else "false",
    )
    return "|".join(cells)


def _time(second: int) -> str:
    hour, minute, rest = second // 3600, second // 60 % 60, second % 60
    market = "true" if 9 * 3600 + 1800 <= second <= 16 * 3600 else "false"
    office = "true" if 8 * 3600 <= second <= 17 * 3600 else "false"
    clock = f"{hour:02}:{minute:02}"
    ids = f"{hour:02}{minute:02}{rest:02}|{clock}:{rest:02}"
    return f"{ids}|{hour}|{hour:02}|{minute}|{clock}|{rest}|{clock}:{rest:02}|{market}|{office}"


def write_employees(files: Files, settings: Settings) -> Ints:
    """HR.csv; gives the ids of the brokers."""
    total, stream = settings.sizes.employees, Stream(settings.seed, "HR")
    brokers: list[Ints] = []
    with files.open(1, "HR.csv") as sink:
        for start in range(0, total, CHUNK):
            ids = np.arange(start, min(start + CHUNK, total))
            brokers.append(_employees(ids, settings.sizes.unit // 2, stream, sink.write))
    found = np.concatenate(brokers)
    if len(found) == 0:  # possible only below a hundred employees
        raise AssertionError("there is no broker")
    files.audit(1, "HR", "HR_BROKERS", len(found))
    return found


def _employees(ids: Ints, managers: int, stream: Stream, write: Callable[[Chars], None]) -> Ints:
    """Some rows of HR.csv; gives the brokers among them."""
    n = len(ids)
    job = weighted(stream.bits(n), (0.3, *[0.7 / 9] * 9))
    has_job = ~chance(stream.bits(n), 0.05)
    phone = beside(
        fixed("(", n),
        padded(stream.below(1000, n), 3),
        fixed(") ", n),
        padded(stream.below(1000, n), 3),
        fixed("-", n),
        padded(stream.below(10_000, n), 4),
    )
    columns = [
        whole(ids),
        whole(1 + stream.below(managers, n)),
        word(stream.words(n, 8), 3, 8),
        word(stream.words(n, 8), 4, 8),
        only(word(stream.words(n, 1), 1, 1), ~stream.chance(0.25, n)),
        only(chosen(JOBS, job), has_job),
        word(stream.words(n, 30), 20, 30),
        beside(fixed("OFFICE", n), padded(stream.below(10_000, n), 4)),
        phone,
    ]
    write(lines(columns, ","))
    brokers: Ints = ids[(job == 0) & has_job]
    return brokers

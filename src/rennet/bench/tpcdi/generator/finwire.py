"""The FINWIRE files: a quarter each, records of fixed width in the order of their time stamps."""

from __future__ import annotations

from datetime import date

import numpy as np

from rennet.bench.tpcdi.generator import text
from rennet.bench.tpcdi.generator.draws import Ints, Keyed, Stream, below, between, chance, weighted
from rennet.bench.tpcdi.generator.files import Files
from rennet.bench.tpcdi.generator.market import (
    DELETED,
    QUARTERS,
    Market,
    Records,
    day_number,
    quarter_start,
    symbols,
)
from rennet.bench.tpcdi.generator.people import address, country
from rennet.bench.tpcdi.generator.static import INDUSTRIES
from rennet.bench.tpcdi.generator.text import Chars, beside, fixed, left_aligned, right_aligned
from rennet.bench.tpcdi.settings import FINWIRE_FROM, FIRST_BATCH, Settings

RATINGS = (
    *("AAA", "AA+", "AA", "AA-", "A+", "A", "A-", "BBB+", "BBB", "BBB-", "BB+", "BB", "BB-", "B+", "B", "B-"),
    *("CCC+", "CCC", "CCC-", "CC", "C", "D"),
)
ISSUES = ("COMMON", "PREF_A", "PREF_B", "PREF_C", "PREF_D")
EXCHANGES = ("NYSE", "NASDAQ", "AMEX", "PCX")
OLDEST = day_number(date(1850, 1, 1))
CHUNK = 20_000
Timed = tuple[Ints, Chars]
"""Records with their time stamps."""


class Wire:
    """Writes what the market does."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._stream = Stream(settings.seed, "FINWIRE")
        self._company = Keyed(settings.seed, "company")
        self._security = Keyed(settings.seed, "security")

    def write(self, files: Files) -> Market:
        """Live through all quarters, one file each; gives the market as it is in the end."""
        market = Market.empty(self._settings)
        for quarter in range(QUARTERS):
            reporting = market.companies.existing(quarter)
            companies = market.companies.step(quarter)
            parts = [self._companies(quarter, companies)]
            securities = None
            if quarter > 0:
                securities = market.securities.step(quarter, reporting)
                parts.append(self._securities(quarter, securities))
            self._file(files, quarter, parts, reporting)
            self._audit(files, quarter, companies, securities, len(reporting))
        return market

    def _file(self, files: Files, quarter: int, parts: list[Timed], reporting: Ints) -> None:
        """One file: few records of companies and securities, put where they belong among the many others."""
        stamps = np.sort(self._stamps(quarter, len(reporting)))
        others = np.concatenate([when for when, _ in parts])
        order = np.argsort(others, kind="stable")
        rows = text.below_each_other([made for _, made in parts])[order]
        others = others[order]
        name = f"FINWIRE{FINWIRE_FROM + quarter // 4}Q{quarter % 4 + 1}"
        reporting = reporting[self._stream.order(len(reporting))]
        with files.open(1, name) as sink:
            written = 0
            for start in range(0, max(1, len(stamps)), CHUNK):
                part = slice(start, start + CHUNK)
                last = start + CHUNK >= len(stamps)
                until = len(others) if last else int(np.searchsorted(others, stamps[start + CHUNK]))
                reports = self._reports(quarter, stamps[part], reporting[part])
                both = np.concatenate([others[written:until], stamps[part]])
                merged = text.below_each_other([rows[written:until], reports])
                sink.write(merged[np.argsort(both, kind="stable")])
                written = until

    def _stamps(self, quarter: int, count: int) -> Ints:
        """Random moments of a quarter, the last of which ends with the first batch."""
        end = min(quarter_start(quarter + 1), day_number(FIRST_BATCH) + 1)
        start = quarter_start(quarter)
        return start * text.DAY + self._stream.below((end - start) * text.DAY, count)

    def _head(self, stamps: Ints, kind: str) -> Chars:
        return beside(text.compact_moments(stamps), fixed(kind, len(stamps)))

    def _reference(self, companies: Ints, bits: np.ndarray[tuple[int], np.dtype[np.uint64]]) -> Chars:
        """A company by name or by number, half of them each; names fill their field."""
        names = left_aligned(self._names(companies), 60)
        return text.either(names, text.padded(companies, 10), chance(bits, 0.5))

    def _names(self, companies: Ints) -> Chars:
        return text.prose(self._company.words("name", companies, 60), 15, 60)

    def _companies(self, quarter: int, records: Records) -> Timed:
        """CMP records. A change leaves nearly everything as it was."""
        n, who, of = len(records.members), records.members, self._company
        stamps = self._stamps(quarter, n)
        place = address(of, who)
        fields = [
            self._head(stamps, "CMP"),
            left_aligned(self._names(who), 60),
            text.padded(who, 10),
            _status(records),
            text.chosen([key for key, _, _ in INDUSTRIES], self._industry(records)),
            left_aligned(self._rating(who), 4),
            left_aligned(self._founded(who), 8),
            left_aligned(_shifted(place[0]), 80),
            left_aligned(place[1], 80),
            left_aligned(place[2], 12),
            left_aligned(place[3], 25),
            left_aligned(place[4], 20),
            left_aligned(country(of, who), 24),
            left_aligned(text.prose(of.words("head", who, 40), 10, 40), 46),
            left_aligned(text.prose(of.words("description", who, 150), 50, 150), 150),
            fixed("\r\n", n),
        ]
        return stamps, beside(*fields)

    def _industry(self, records: Records) -> Ints:
        of, moved = self._company, chance(self._company.bits("moved", records.versions), 0.02)
        first = below(of.bits("industry", records.members), len(INDUSTRIES))
        return np.where(moved, below(of.bits("other industry", records.versions), len(INDUSTRIES)), first)

    def _rating(self, who: Ints) -> Chars:
        of = self._company
        good = text.chosen(RATINGS, below(of.bits("rating", who), len(RATINGS)))
        bad = text.capitals(of.words("bad rating", who, 4), 1, 4)
        return text.either(good, bad, chance(of.bits("rated", who), 0.9))

    def _founded(self, who: Ints) -> Chars:
        founded = between(self._company.bits("founded", who), OLDEST, quarter_start(0) - 1)
        return text.only(text.compact_days(founded), ~chance(self._company.bits("no founding", who), 0.05))

    def _securities(self, quarter: int, records: Records) -> Timed:
        n, versions, of = len(records.members), records.versions, self._security
        stamps = self._stamps(quarter, n)
        traded = between(of.bits("first trade", versions), OLDEST, quarter_start(quarter) - 1)
        listed = np.minimum(traded + below(of.bits("listed", versions), 3650), quarter_start(quarter) - 1)
        issue = weighted(of.bits("issue", versions), (0.73, 0.15, 0.07, 0.04, 0.01))
        fields = [
            self._head(stamps, "SEC"),
            symbols(records.members),
            text.chosen(ISSUES, issue),
            _status(records),
            left_aligned(text.prose(of.words("name", versions, 70), 15, 70), 70),
            left_aligned(text.chosen(EXCHANGES, below(of.bits("exchange", versions), 4)), 6),
            right_aligned(text.whole(between(of.bits("shares", versions), 10**5, 10**9)), 13),
            text.compact_days(traded),
            text.compact_days(listed),
            right_aligned(text.money(between(of.bits("dividend", versions), 0, 300)), 12),
            self._reference(records.companies, of.bits("reference", versions)),
            fixed("\r\n", n),
        ]
        return stamps, beside(*fields)

    def _reports(self, quarter: int, stamps: Ints, companies: Ints) -> Chars:
        """FIN records: a report of every company there was."""
        n, stream = len(companies), self._stream
        first = quarter_start(quarter)
        revenue = stream.between(100, 10**12, n)
        earnings = (revenue * (stream.fraction(n) * 0.7)).astype(np.int64)
        shares = stream.between(10**5, 10**9, n)
        diluted = (shares * (1 + stream.fraction(n) * 0.2)).astype(np.int64)
        margin = earnings * 100 // np.maximum(revenue, 1)
        values = [earnings // shares, earnings // diluted, margin]
        sums = [stream.between(100, 10**12, n) for _ in range(3)]
        fields = [
            self._head(stamps, "FIN"),
            fixed(f"{FINWIRE_FROM + quarter // 4}{quarter % 4 + 1}", n),
            text.compact_days(np.full(n, first)),
            text.compact_days(stamps // text.DAY),
            *(right_aligned(text.money(value), 17) for value in (revenue, earnings)),
            *(right_aligned(text.money(value), 12) for value in values),
            *(right_aligned(text.money(value), 17) for value in sums),
            *(right_aligned(text.whole(value), 13) for value in (shares, diluted)),
            self._reference(companies, stream.bits(n)),
            fixed("\r\n", n),
        ]
        return beside(*fields)

    def _audit(
        self, files: Files, quarter: int, companies: Records, securities: Records | None, reports: int
    ) -> None:
        name = f"FINWIRE{FINWIRE_FROM + quarter // 4}Q{quarter % 4 + 1}"
        files.audit(1, name, "FW_CMP", len(companies.members))
        files.audit(1, name, "FW_SEC", 0 if securities is None else len(securities.members))
        files.audit(1, name, "FW_FIN", reports)


def _status(records: Records) -> Chars:
    return text.chosen(("ACTV", "INAC"), (records.kinds == DELETED).astype(np.int64))


def _shifted(chars: Chars) -> Chars:
    """Characters moved to the left, so that a field of fixed width has no gaps."""
    order = np.argsort(chars == 0, axis=1, kind="stable")
    return np.take_along_axis(chars, order, axis=1)

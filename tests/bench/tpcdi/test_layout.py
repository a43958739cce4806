"""Which files there are, and what a line of each looks like."""

from __future__ import annotations

import re
from collections import Counter
from xml.etree.ElementTree import parse

import pytest

from rennet.bench.tpcdi.generator.static import REGIONS
from tests.bench.tpcdi.conftest import Folder

QUARTERS = [f"FINWIRE{1967 + n // 4}Q{n % 4 + 1}" for n in range(203)]
REFERENCE = ["Date.txt", "Industry.txt", "StatusType.txt", "TaxRate.txt", "Time.txt", "TradeType.txt"]
EVENTS = ["CashTransaction.txt", "DailyMarket.txt", "HoldingHistory.txt", "Trade.txt", "WatchHistory.txt"]
EVERY_BATCH = ["BatchDate.txt", "Prospect.csv"]
DAY, TIME = r"\d{4}-\d\d-\d\d", r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"
MONEY = r"-?\d+\.\d\d"
SYMBOL = "[A-Z]{15}"
COLUMNS = {
    "Trade.txt": [
        *(
            r"\d+",
            TIME,
            "PNDG|SBMT|CMPT|CNCL",
            "T[LM][BS]",
            "[01]",
            SYMBOL,
            r"\d{2,5}",
            MONEY,
            r"\d+",
            r"\d+",
        ),
        *[f"(?:{MONEY})?"] * 4,
    ],
    "CashTransaction.txt": [r"\d+", TIME, MONEY, "[A-Za-z][A-Za-z ]{3,98}[A-Za-z]"],
    "HoldingHistory.txt": [r"\d+"] * 4,
    "WatchHistory.txt": [r"\d+", SYMBOL, TIME, "ACTV|CNCL"],
    "DailyMarket.txt": [DAY, SYMBOL, MONEY, MONEY, MONEY, r"\d+"],
}
WORD = "[A-Za-z]*"
PROSPECT = [
    *(r"[A-Za-z]{3}\d+", "[A-Za-z]{4,22}", "[A-Za-z]{3,16}", "[A-Z]?", "[MFU]", r"\d+ [A-Za-z ]+"),
    *(r"([Aa]\w\w\. \d{3})?", r"\d{5}", "[A-Za-z]+", "[A-Z]{2}", "[A-Za-z ]*", r"(\(\d{3}\) \d{3}-\d{4})?"),
    *(r"\d*", "[0-5]?", "[0-5]?", "[SMDWU]?", r"\d*", r"(\d{3})?", "[ORU]?", "[A-Za-z ]*", r"\d*", r"\d*"),
]


def fits(rows: list[list[str]], patterns: list[str]) -> None:
    line = re.compile("\x00".join(f"(?:{pattern})" for pattern in patterns))
    wrong = [row for row in rows if not line.fullmatch("\x00".join(row))]
    assert rows
    assert wrong == []


def test_files_of_the_historical_batch(small: Folder) -> None:
    others = ["CustomerMgmt.xml", "HR.csv", "TradeHistory.txt"]
    assert small.names(1) == sorted([*QUARTERS, *REFERENCE, *EVENTS, *EVERY_BATCH, *others])


@pytest.mark.parametrize("batch", [2, 3, 4])
def test_files_of_an_incremental_batch(small: Folder, batch: int) -> None:
    assert small.names(batch) == sorted([*EVENTS, *EVERY_BATCH, "Account.txt", "Customer.txt"])


def test_batch_dates(small: Folder) -> None:
    assert [small.lines(batch, "BatchDate.txt") for batch in (1, 2, 3, 4)] == [
        ["2017-07-07"],
        ["2017-07-08"],
        ["2017-07-09"],
        ["2017-07-10"],
    ]


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_of_events(small: Folder, name: str) -> None:
    fits(small.rows(1, name), COLUMNS[name])
    for batch in (2, 3, 4):
        fits(small.rows(batch, name), ["[IU]" if name == "Trade.txt" else "I", r"\d+", *COLUMNS[name]])


def test_columns_of_trade_history(small: Folder) -> None:
    fits(small.rows(1, "TradeHistory.txt"), [r"\d+", TIME, "PNDG|SBMT|CMPT|CNCL"])


def test_columns_of_prospects(small: Folder) -> None:
    for batch in (1, 2, 3, 4):
        fits(small.rows(batch, "Prospect.csv"), PROSPECT)


def test_columns_of_customers_and_accounts(small: Folder) -> None:
    phone = [r"\d?", r"(\d{3})?", r"(\d{3}-\d{4})?", r"(\d{5})?"]
    customer = [
        *("[IU]", r"\d+", r"\d+", r"\d{3}-\d\d-\d{4}", "ACTV|INAC", "[A-Z][a-z]+", "[A-Z][a-z]+", "[A-Z]?"),
        *("[A-Za-z]?", r"\d?", DAY, r"\d+ [A-Za-z ]+", r"(Apt\. \d{3})?", r"\d{5}", "[A-Za-z]+", "[A-Z]{2}"),
        *("[A-Za-z ]*", *phone * 3, r"([a-z]+@[a-z]+\.com)?", r"([a-z]+@[a-z]+\.com)?"),
        *(r"[A-Z]{2}[1-5]", "[A-Z]{2}[1-5]"),
    ]
    assert len(customer) == 33
    account = ["[IU]", r"\d+", r"\d+", r"\d+", r"\d+", "[A-Za-z ]{10,50}", "[012]", "ACTV|INAC"]
    for batch in (2, 3, 4):
        fits(small.rows(batch, "Customer.txt"), customer)
        fits(small.rows(batch, "Account.txt"), account)


def test_columns_of_employees(small: Folder) -> None:
    fits(
        small.rows(1, "HR.csv"),
        [
            *(r"\d+", r"\d+", "[A-Z][a-z]+", "[A-Z][a-z]+", "[A-Z]?", r"(\d{2,3})?", "[A-Z][a-z]{19,29}"),
            *(r"OFFICE\d{4}", r"\(\d{3}\) \d{3}-\d{4}"),
        ],
    )


def test_amounts_only_of_completed_trades(small: Folder) -> None:
    for batch, first in ((1, 0), (2, 2), (3, 2)):
        for row in small.rows(batch, "Trade.txt"):
            amounts = row[first + 10 :]
            assert all(amounts) if row[first + 2] == "CMPT" else not any(amounts)


def test_files_of_a_batch_are_in_the_order_of_their_numbers(small: Folder) -> None:
    for batch in (2, 3, 4):
        for name in (*EVENTS, "Customer.txt", "Account.txt"):
            numbers = [int(row[1]) for row in small.rows(batch, name)]
            assert numbers == sorted(set(numbers)), (batch, name)


def test_reference_files(small: Folder) -> None:
    assert [len(small.lines(1, name)) for name in REFERENCE] == [25_933, 102, 6, 320, 86_400, 5]
    dates, times = small.rows(1, "Date.txt"), small.rows(1, "Time.txt")
    assert {len(row) for row in dates} == {18}
    assert {len(row) for row in times} == {10}
    assert (dates[0][1], dates[-1][1]) == ("1950-01-01", "2020-12-31")
    by_day = {row[0]: row for row in dates}
    assert by_day["20040707"][2:13] == [
        *("July 7, 2004", "2004", "2004", "20043", "2004 Q3", "20047", "2004 July", "200428", "2004-W28"),
        *("3", "Wednesday"),
    ]
    assert by_day["20040707"][13:] == ["2005", "2005", "20051", "2005 Q1", "false"]
    assert times[9 * 3600 + 1800] == [
        *("093000", "09:30:00", "9", "09", "30", "09:30", "0", "09:30:00", "true", "true")
    ]
    assert sum(row[8] == "true" for row in times) == 6 * 3600 + 1800 + 1
    assert sum(row[9] == "true" for row in times) == 9 * 3600 + 1
    industries = small.rows(1, "Industry.txt")
    assert len({row[0] for row in industries}) == len({row[1] for row in industries}) == 102
    assert len({row[2] for row in industries}) == 11
    assert len(set(REGIONS)) == 63
    fits(small.rows(1, "TaxRate.txt"), ["[A-Z]{2}[1-5]", ".{1,50}", r"0\.\d{5}"])


def test_records_of_the_wire_have_fixed_widths(small: Folder) -> None:
    widths = {"CMP": {543}, "SEC": {220, 170}, "FIN": {246, 196}}
    kinds: Counter[str] = Counter()
    for name in QUARTERS:
        lines = small.lines(1, name)
        assert [line[:15] for line in lines] == sorted(line[:15] for line in lines)
        for line in lines:
            kind, year, quarter = line[15:18], line[:4], (int(line[4:6]) + 2) // 3
            kinds[kind] += 1
            assert len(line) in widths[kind]
            assert f"FINWIRE{year}Q{quarter}" == name
    assert set(kinds) == set(widths)


def test_numbers_of_the_wire_stand_where_they_should(small: Folder) -> None:
    report = re.compile(
        r"\d{8}-\d{6}FIN\d{4}[1-4]\d{16}( *\d+\.\d\d){8} *\d+ *\d+(\d{10}|[A-Z][A-Za-z ]{59})"
    )
    found = [line for name in QUARTERS[1:9] for line in small.lines(1, name) if line[15:18] == "FIN"]
    for line in found:
        assert report.fullmatch(line)
        revenue, earnings = float(line[39:56]), float(line[56:73])
        assert 0 <= earnings <= 0.7 * revenue
        shares, diluted = int(line[160:173]), int(line[173:186])
        assert shares <= diluted
        assert abs(float(line[73:85]) - earnings / shares) < 0.011
    assert len({len(line) for line in found}) == 2  # by name and by number


def test_what_each_kind_of_action_says(small: Folder) -> None:
    root = parse(small.path / "Batch1" / "CustomerMgmt.xml").getroot()
    said: dict[str, Counter[str]] = {}
    total: Counter[str] = Counter()
    for action in root:
        kind = action.attrib["ActionType"]
        total[kind] += 1
        customer = action.find("Customer")
        assert customer is not None
        names = [f"@{name}" for name in customer.attrib]
        for part in customer.iter():
            names += [part.tag, *(f"@{name}" for name in part.attrib if part.tag == "Account")]
        said.setdefault(kind, Counter()).update(set(names))
    assert set(total) == {"NEW", "ADDACCT", "UPDACCT", "CLOSEACCT", "UPDCUST", "INACT"}
    assert set(said["INACT"]) == {"Customer", "@C_ID"}
    assert set(said["CLOSEACCT"]) == {"Customer", "@C_ID", "Account", "@CA_ID"}
    account = {"Customer", "@C_ID", "Account", "@CA_ID", "@CA_TAX_ST", "CA_B_ID", "CA_NAME"}
    assert set(said["ADDACCT"]) == set(said["UPDACCT"]) == account
    assert set(said["ADDACCT"].values()) == {total["ADDACCT"]}
    assert {"C_L_NAME", "@C_TAX_ID", "@C_DOB", "C_LCL_TX_ID"} <= set(said["NEW"])
    never = {"Name", "TaxInfo", "@C_TAX_ID", "@C_GNDR", "@C_DOB", "Account"}
    assert never.isdisjoint(said["UPDCUST"])
    for field in ("C_ADLINE1", "C_ADLINE2", "C_PRIM_EMAIL", "C_PHONE_3", "@C_TIER"):
        assert said["NEW"][field] == total["NEW"]
        assert 0.6 < said["UPDCUST"][field] / total["UPDCUST"] < 0.95


def test_audits_count_the_rows(small: Folder) -> None:
    for file in small.generated.files:
        name = file.name.split(".")[0]
        audit = (small.path / f"Batch{file.batch}" / f"{name}_audit.csv").read_bytes().decode()
        assert audit.startswith("DataSet, BatchID ,Date , Attribute , Value, DValue\r\n")
        assert f"{name},{file.batch},,ROWS,{file.rows},\r\n" in audit
        if file.name != "CustomerMgmt.xml":
            assert len(small.lines(file.batch, file.name)) == file.rows
    assert (small.path / "Batch4_audit.csv").is_file()
    assert "Generator,,,SEED,11," in (small.path / "Generator_audit.csv").read_text()

"""Invariants of the tables that DuckDB makes, after every batch."""

from __future__ import annotations

from datetime import date
from itertools import pairwise
from pathlib import Path

import pytest

from rennet.bench.tpcdi.reference import TABLES, Reference, actions
from tests.bench.tpcdi.conftest import Folder

KEYS = {
    "DimCompany": "CompanyID",
    "DimSecurity": "Symbol",
    "DimCustomerVersion": "CustomerID",
    "DimAccount": "AccountID",
}
INVALID = {
    "a version that ends before it begins or as it begins": " UNION ALL ".join(
        f"SELECT 1 FROM {table} WHERE EffectiveDate >= EndDate" for table in KEYS
    ),
    "versions that overlap or leave a gap": " UNION ALL ".join(
        f"SELECT 1 FROM (SELECT EndDate, lead(EffectiveDate, 1, DATE '9999-12-31') OVER "
        f"(PARTITION BY {key} ORDER BY EffectiveDate) AS next FROM {table}) WHERE EndDate <> next"
        for table, key in KEYS.items()
    ),
    "a surrogate key used twice": " UNION ALL ".join(
        f"SELECT 1 FROM {table} GROUP BY {key} HAVING count(*) > 1"
        for table, key in (
            *(
                ("DimCompany", "SK_CompanyID"),
                ("DimSecurity", "SK_SecurityID"),
                ("DimAccount", "SK_AccountID"),
            ),
            *(("DimCustomerVersion", "SK_CustomerID"), ("DimTrade", "TradeID"), ("Prospect", "AgencyID")),
            *(("FactHoldings", "CurrentTradeID"), ("FactCashBalances", "SK_AccountID, SK_DateID")),
            *(("FactMarketHistory", "SK_SecurityID, SK_DateID"),),
        )
    ),
    "an active account of an inactive customer": """
        SELECT 1 FROM DimAccount a JOIN DimCustomerVersion c USING (SK_CustomerID)
        WHERE c.Status = 'Inactive' AND a.Status <> 'Inactive'""",
    "a trade closed before it was created": """
        SELECT 1 FROM DimTrade WHERE (SK_CloseDateID, SK_CloseTimeID) < (SK_CreateDateID, SK_CreateTimeID)""",
    "a trade closed though it is open, or open though it is closed": """
        SELECT 1 FROM DimTrade WHERE (SK_CloseDateID IS NOT NULL) <> (Status IN ('Completed', 'Canceled'))""",
    "an account version that did not hold when the trade was created": """
        SELECT 1 FROM DimTrade t JOIN DimAccount a USING (SK_AccountID)
        WHERE SK_CreateDateID < day_key(a.EffectiveDate) OR SK_CreateDateID >= day_key(a.EndDate)
        OR a.SK_CustomerID <> t.SK_CustomerID OR a.SK_BrokerID <> t.SK_BrokerID""",
    "a security version that did not hold when the trade was created": """
        SELECT 1 FROM DimTrade t JOIN DimSecurity s USING (SK_SecurityID)
        WHERE SK_CreateDateID < day_key(s.EffectiveDate) OR SK_CreateDateID >= day_key(s.EndDate)
        OR s.SK_CompanyID <> t.SK_CompanyID""",
    "a balance of an account version that did not hold that day": """
        SELECT 1 FROM FactCashBalances JOIN DimAccount a USING (SK_AccountID)
        WHERE SK_DateID < day_key(a.EffectiveDate) OR SK_DateID >= day_key(a.EndDate)""",
    "a year's low above the day's, or a year's high below it": """
        SELECT 1 FROM FactMarketHistory WHERE NOT
        (FiftyTwoWeekLow <= DayLow AND DayLow <= ClosePrice AND ClosePrice <= DayHigh
        AND DayHigh <= FiftyTwoWeekHigh)""",
    "a high or low of another year": """
        SELECT 1 FROM FactMarketHistory WHERE SK_FiftyTwoWeekHighDate > SK_DateID
        OR SK_FiftyTwoWeekLowDate > SK_DateID
        OR SK_FiftyTwoWeekHighDate <= SK_DateID - 10000 OR SK_FiftyTwoWeekLowDate <= SK_DateID - 10000""",
    "a prospect changed after it was last seen": """
        SELECT 1 FROM Prospect WHERE SK_RecordDateID < SK_UpdateDateID""",
    "a watch removed before it was placed": """
        SELECT 1 FROM FactWatches WHERE SK_DateID_DateRemoved < SK_DateID_DatePlaced""",
}


@pytest.mark.parametrize("problem", INVALID)
def test_there_is_never(tables: list[Reference], problem: str) -> None:
    for after in tables:
        assert after.value(f"SELECT count(*) FROM ({INVALID[problem]})") == 0


def test_no_fact_is_lost(tables: list[Reference]) -> None:
    for after in tables:
        for table, source in (
            ("DimTrade", "SELECT DISTINCT t_id FROM trade"),
            ("FactHoldings", "FROM holding_history"),
            ("FactCashBalances", "SELECT DISTINCT ct_ca_id, CAST(ct_dts AS DATE) FROM cash_transaction"),
            ("FactWatches", "SELECT DISTINCT w_c_id, w_s_symb FROM watch_history"),
            ("FactMarketHistory", "FROM daily_market"),
            ("Prospect", "SELECT DISTINCT agency_id FROM prospect_file"),
        ):
            counts = after.rows(f"SELECT (SELECT count(*) FROM {table}), (SELECT count(*) FROM ({source}))")
            assert counts[0][0] == counts[0][1] > 0, table


@pytest.mark.parametrize(
    "table",
    [
        "DimAccount",
        "DimTrade",
        "FactHoldings",
        "FactCashBalances",
        "FactWatches",
        "FactMarketHistory",
        "Prospect",
    ],
)
def test_batches_of_rows(tables: list[Reference], table: str) -> None:
    for batch, after in enumerate(tables, 1):
        found = {number for (number,) in after.rows(f"SELECT DISTINCT BatchID FROM {table}")}
        assert found == set(range(1, batch + 1))


def test_what_a_trade_was_created_with_stays(tables: list[Reference]) -> None:
    keys = "SK_AccountID, SK_CustomerID, SK_SecurityID, SK_BrokerID"
    query = f"SELECT TradeID, SK_CreateDateID, {keys} FROM DimTrade"
    for before, after in pairwise(tables):
        assert set(before.rows(query)) < set(after.rows(query))


def test_facts_once_there_stay(tables: list[Reference]) -> None:
    for table in ("FactHoldings", "FactCashBalances", "FactMarketHistory"):
        for before, after in pairwise(tables):
            assert set(before.rows(f"FROM {table}")) < set(after.rows(f"FROM {table}")), table


def test_the_last_balance_is_the_sum_of_all(final: Reference) -> None:
    balances = final.rows(
        "SELECT AccountID, arg_max(Cash, SK_DateID) "
        "FROM FactCashBalances JOIN DimAccount USING (SK_AccountID) GROUP BY ALL"
    )
    sums = final.rows("SELECT ct_ca_id, sum(ct_amt) FROM cash_transaction GROUP BY ALL")
    assert sorted(balances) == sorted(sums)


def test_a_year_of_prices_recomputed_by_hand(final: Reference) -> None:
    """Highs and lows of one security, in plain Python."""
    symbol = final.value("SELECT min(dm_s_symb) FROM daily_market WHERE dm_date = '2017-07-06'")
    prices = {
        day: (low, high)
        for day, low, high in final.rows(
            f"SELECT dm_date, dm_low, dm_high FROM daily_market WHERE dm_s_symb = '{symbol}'"
        )
    }
    found = final.rows(
        "SELECT strptime(CAST(SK_DateID AS VARCHAR), '%Y%m%d')::DATE, FiftyTwoWeekLow,"
        " SK_FiftyTwoWeekLowDate, FiftyTwoWeekHigh, SK_FiftyTwoWeekHighDate"
        " FROM FactMarketHistory JOIN DimSecurity USING (SK_SecurityID) "
        f"WHERE Symbol = '{symbol}'"
    )
    assert len(found) == len(prices)
    for day, low, low_day, high, high_day in found:
        begin = date(day.year - 1, day.month, 28 if (day.month, day.day) == (2, 29) else day.day)
        year = [(other, *prices[other]) for other in sorted(prices) if begin < other <= day]
        lowest, highest = min(row[1] for row in year), max(row[2] for row in year)
        first_low = next(other for other, its_low, _ in year if its_low == lowest)
        first_high = next(other for other, _, its_high in year if its_high == highest)
        assert (float(low), low_day) == (float(lowest), int(f"{first_low:%Y%m%d}"))
        assert (float(high), high_day) == (float(highest), int(f"{first_high:%Y%m%d}"))


def test_earnings_of_the_four_quarters_before(final: Reference) -> None:
    rows = final.rows(
        "SELECT PERatio, ClosePrice, CompanyID, SK_DateID // 10000 * 4 + (SK_DateID // 100 % 100 + 2) // 3 "
        "FROM FactMarketHistory JOIN DimSecurity USING (SK_SecurityID) WHERE SK_DateID % 100 = 1 LIMIT 200"
    )
    earned = {(company, quarter): eps for company, quarter, eps in final.rows("FROM earnings")}
    assert rows
    for ratio, close, company, quarter in rows:
        quarters = [
            earned[company, before] for before in range(quarter - 4, quarter) if (company, before) in earned
        ]
        if sum(quarters) == 0:
            assert ratio is None
        else:
            assert float(ratio) == pytest.approx(float(close) * 100 / sum(quarters), abs=0.0051)


def test_prospects_follow_their_files(tables: list[Reference], small: Folder) -> None:
    seen: dict[str, tuple[list[str], int, int]] = {}
    for batch, after in enumerate(tables, 1):
        for row in small.rows(batch, "Prospect.csv"):
            before = seen.get(row[0])
            changed = batch if before is None or before[0] != row else before[2]
            seen[row[0]] = (row, batch, changed)
        days = {number: int(small.settings.batch_date(number).strftime("%Y%m%d")) for number in range(1, 5)}
        expected = {key: (days[last], days[changed]) for key, (_, last, changed) in seen.items()}
        found = after.rows("SELECT AgencyID, SK_RecordDateID, SK_UpdateDateID FROM Prospect")
        assert {key: (record, update) for key, record, update in found} == expected


def test_many_prospects_are_customers(final: Reference) -> None:
    assert final.value("SELECT avg(CAST(IsCustomer AS INT)) FROM Prospect") == pytest.approx(0.285, abs=0.05)
    plates = {
        tag
        for (plate,) in final.rows("SELECT DISTINCT MarketingNameplate FROM Prospect")
        for tag in (plate or "").split("+")
    }
    assert plates >= {"HighValue", "Expenses", "Boomer", "MoneyAlert", "Spender", "Inherited"}


def test_missing_and_empty_differ(tmp_path: Path) -> None:
    path = tmp_path / "CustomerMgmt.xml"
    path.write_text(
        '<TPCDI:Actions xmlns:TPCDI="http://www.tpc.org/tpc-di">'
        '<TPCDI:Action ActionType="UPDCUST" ActionTS="t">'
        '<Customer C_ID="7"><Address><C_ADLINE2></C_ADLINE2><C_CITY>Ulm</C_CITY></Address></Customer>'
        "</TPCDI:Action></TPCDI:Actions>"
    )
    assert list(actions(path)) == [
        {"ActionType": "UPDCUST", "ActionTS": "t", "C_ID": "7", "C_ADLINE2": "", "C_CITY": "Ulm"}
    ]


def test_tables_can_be_exported(final: Reference, tmp_path: Path) -> None:
    for table in TABLES:
        final.export(table, tmp_path / f"{table}.parquet")
        assert final.value(f"SELECT count(*) FROM '{tmp_path}/{table}.parquet'") > 0
    with pytest.raises(ValueError, match="not one of"):
        final.export("nothing", tmp_path / "nothing.parquet")

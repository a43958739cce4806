"""The checks themselves: they must fail when something is wrong."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import DataFrame, SparkSession

from rennet.bench.tpcdi.run.check import NEVER, differing


@pytest.mark.parametrize(
    ("expected", "shown", "found"),
    [
        ([(1, "a"), (1, "a"), (2, None)], [(2, None), (1, "a"), (1, "a")], (0, 0)),
        ([(1, "a"), (1, "a")], [(1, "a")], (1, 0)),
        ([(1, "a")], [(1, "a"), (1, "a"), (3, "c")], (0, 2)),
        ([(1, "a")], [(1, "b")], (1, 1)),
        ([], [], (0, 0)),
    ],
)
def test_bags_that_differ(
    spark: SparkSession,
    expected: list[tuple[int, str | None]],
    shown: list[tuple[int, str | None]],
    found: tuple[int, int],
) -> None:
    def frame(rows: list[tuple[int, str | None]]) -> DataFrame:
        return spark.createDataFrame(rows, "a INT, b STRING")

    assert differing(frame(expected), frame(shown)) == found


DAYS = "DATE '{}' AS EffectiveDate, DATE '{}' AS EndDate"
FIRST, SECOND = DAYS.format("2017-01-01", "2017-07-01"), DAYS.format("2017-07-01", "9999-12-31")
VERSION = "SELECT {key} AS {name}, 1 AS {number}, {current} AS IsCurrent, {days}, 'Active' AS Status"
RIGHT = {
    "DimCompany": ("SK_CompanyID", "CompanyID", ""),
    "DimSecurity": ("SK_SecurityID", "Symbol", ", 1 AS SK_CompanyID"),
    "DimCustomer": ("SK_CustomerID", "CustomerID", ""),
    "DimAccount": ("SK_AccountID", "AccountID", ", {key} AS SK_CustomerID, 1 AS SK_BrokerID"),
}
FACTS = {
    "DimTrade": "SELECT 1 AS TradeID, 1 AS SK_SecurityID, 1 AS SK_CompanyID, 1 AS SK_AccountID, "
    "1 AS SK_CustomerID, 1 AS SK_BrokerID, 20170105 AS SK_CreateDateID, 90000 AS SK_CreateTimeID, "
    "20170105 AS SK_CloseDateID, 90001 AS SK_CloseTimeID, 'Completed' AS Status",
    "FactHoldings": "SELECT 1 AS CurrentTradeID",
    "FactCashBalances": "SELECT 2 AS SK_AccountID, 20170701 AS SK_DateID",
    "FactWatches": "SELECT 1 AS SK_CustomerID, 20170630 AS SK_DateID_DatePlaced",
    "FactMarketHistory": "SELECT 1 AS SK_SecurityID, 20170105 AS SK_DateID, 1 AS FiftyTwoWeekLow, "
    "2 AS DayLow, 3 AS ClosePrice, 4 AS DayHigh, 5 AS FiftyTwoWeekHigh, 20160106 AS SK_FiftyTwoWeekLowDate, "
    "20170105 AS SK_FiftyTwoWeekHighDate",
    "Prospect": "SELECT 'A1' AS AgencyID, 20170708 AS SK_RecordDateID, 20170707 AS SK_UpdateDateID",
}
WRONG = {
    "DimAccount: a version that ends before it begins": (
        "DimAccount",
        "DATE '2017-01-01' AS",
        "DATE '2018-01-01' AS",
    ),
    "DimCompany: versions that overlap": (
        "DimCompany",
        "DATE '2017-07-01' AS EndDate",
        "DATE '2017-08-01' AS EndDate",
    ),
    "DimCustomer: versions that overlap": ("DimCustomer", "true AS IsCurrent", "false AS IsCurrent"),
    "DimSecurity: SK_SecurityID used twice": ("DimSecurity", "SELECT 2 AS", "SELECT 1 AS"),
    "DimAccount: active though": ("DimCustomer", "'Active'", "'Inactive'"),
    "DimTrade: closed before": ("DimTrade", "90001", "89999"),
    "DimTrade: closed though": ("DimTrade", "'Completed'", "'Pending'"),
    "DimTrade: of an account version": ("DimTrade", "1 AS SK_AccountID", "2 AS SK_AccountID"),
    "DimTrade: of a security version": ("DimTrade", "1 AS SK_SecurityID", "9 AS SK_SecurityID"),
    "FactCashBalances: of an account version": ("FactCashBalances", "20170701", "20170630"),
    "FactWatches: of a customer version": ("FactWatches", "20170630", "20170701"),
    "FactMarketHistory: prices": ("FactMarketHistory", "4 AS DayHigh", "6 AS DayHigh"),
    "FactMarketHistory: a high or low": ("FactMarketHistory", "20160106", "20160105"),
    "Prospect: changed after": ("Prospect", "20170707", "20170709"),
}


def versions(table: str) -> str:
    """Two versions of one entity, the second the current one."""
    name, number, more = RIGHT[table]
    made = []
    for key, (current, days) in enumerate((("false", FIRST), ("true", SECOND)), 1):
        row = VERSION.format(key=key, name=name, number=number, current=current, days=days)
        made.append(row + more.format(key=key))
    return " UNION ALL ".join(made)


@pytest.fixture
def tables(spark: SparkSession) -> Iterator[dict[str, str]]:
    found = {**{table: versions(table) for table in RIGHT}, **FACTS}
    yield found
    for table in found:
        spark.catalog.dropTempView(table)


def broken(spark: SparkSession, tables: dict[str, str], rules: str = "") -> list[str]:
    """The rules that do not hold, of those that begin so."""
    for table, rows in tables.items():
        spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW {table} AS {rows}")
    asked = {rule: rows for rule, rows in NEVER.items() if rule.startswith(rules)}
    assert asked
    parts = [f"SELECT '{rule}' AS rule, count(*) AS found {rows}" for rule, rows in asked.items()]
    return [rule for rule, found in spark.sql(" UNION ALL ".join(parts)).collect() if found]


def test_nothing_is_broken_in_tables_that_are_right(spark: SparkSession, tables: dict[str, str]) -> None:
    assert broken(spark, tables) == []


@pytest.mark.parametrize("rule", WRONG)
def test_a_rule_notices(spark: SparkSession, tables: dict[str, str], rule: str) -> None:
    table, right, wrong = WRONG[rule]
    assert right in tables[table]
    tables[table] = tables[table].replace(right, wrong)
    assert len(broken(spark, tables, rule)) == 1

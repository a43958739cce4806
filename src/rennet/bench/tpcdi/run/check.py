"""Is every view right? Compared with its own query, with DuckDB's tables, and with rules that always hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from rennet.api import Engine
from rennet.bench.tpcdi.reference import Reference

QUERY, DUCKDB, INVARIANT = "query", "DuckDB", "invariant"
"""Who judges."""
COMPARED = {
    "DimBroker": ("DimBroker", "SK_BrokerID, BrokerID, ManagerID, EffectiveDate, EndDate"),
    "DimCompany": ("DimCompany", "SK_CompanyID, CompanyID, Status, Name, Industry, EffectiveDate, EndDate"),
    "DimSecurity": (
        "DimSecurity",
        "SK_SecurityID, Symbol, Status, Dividend, SK_CompanyID, EffectiveDate, EndDate",
    ),
    "DimCustomer": (
        "DimCustomerVersion",
        "SK_CustomerID, CustomerID, Status, LastName, FirstName, AddressLine1, AddressLine2, PostalCode, "
        "BatchID, EffectiveDate, EndDate",
    ),
    "DimAccount": ("DimAccount", ""),
    "DimTrade": ("DimTrade", ""),
    "FactHoldings": ("FactHoldings", ""),
    "FactCashBalances": ("FactCashBalances", ""),
    "FactWatches": ("FactWatches", ""),
    "FactMarketHistory": ("FactMarketHistory", ""),
    "Prospect": ("Prospect", ""),
}
"""Views that DuckDB's tables can judge: the table, and the columns both have if not all."""

VERSIONED = {
    "DimCompany": "CompanyID",
    "DimSecurity": "Symbol",
    "DimCustomer": "CustomerID",
    "DimAccount": "AccountID",
}
UNIQUE = {
    "DimCompany": "SK_CompanyID",
    "DimSecurity": "SK_SecurityID",
    "DimCustomer": "SK_CustomerID",
    "DimAccount": "SK_AccountID",
    "DimTrade": "TradeID",
    "Prospect": "AgencyID",
    "FactHoldings": "CurrentTradeID",
    "FactCashBalances": "SK_AccountID, SK_DateID",
    "FactMarketHistory": "SK_SecurityID, SK_DateID",
}
DAY = "CAST(date_format({}, 'yyyyMMdd') AS INT)"
HELD = (
    f"{{day}} >= {DAY.format('v.EffectiveDate')} AND {{day}} < "
    "CAST(date_format(v.EndDate, 'yyyyMMdd') AS INT)"
)


def held(day: str) -> str:
    """A condition: the version `v` held on the day of that number."""
    return HELD.replace("{day}", day)


NEVER = {
    **{
        f"{table}: a version that ends before it begins": f"FROM {table} WHERE EffectiveDate >= EndDate"
        for table in VERSIONED
    },
    **{
        f"{table}: versions that overlap, leave a gap, or do not end with an open, current one": f"""
        FROM (SELECT *, lead(EffectiveDate, 1, DATE '9999-12-31')
            OVER (PARTITION BY {key} ORDER BY EffectiveDate) AS next FROM {table})
        WHERE EndDate <> next OR IsCurrent <> (EndDate = DATE '9999-12-31')"""
        for table, key in VERSIONED.items()
    },
    **{
        f"{table}: {key} used twice": f"FROM (SELECT {key} FROM {table} GROUP BY {key} HAVING count(*) > 1)"
        for table, key in UNIQUE.items()
    },
    "DimAccount: active though its customer is not": """
        FROM DimAccount a JOIN DimCustomer c ON a.SK_CustomerID = c.SK_CustomerID
        WHERE c.Status = 'Inactive' AND a.Status <> 'Inactive'""",
    "DimTrade: closed before it was created": """
        FROM DimTrade WHERE SK_CloseDateID < SK_CreateDateID
        OR SK_CloseDateID = SK_CreateDateID AND SK_CloseTimeID < SK_CreateTimeID""",
    "DimTrade: closed though open, or open though closed": """
        FROM DimTrade WHERE (SK_CloseDateID IS NOT NULL) <> (Status IN ('Completed', 'Canceled'))""",
    "DimTrade: of an account version that did not hold that day": f"""
        FROM DimTrade t LEFT JOIN DimAccount v ON t.SK_AccountID = v.SK_AccountID
        AND v.SK_CustomerID = t.SK_CustomerID AND v.SK_BrokerID = t.SK_BrokerID
        AND {held("t.SK_CreateDateID")}
        WHERE v.SK_AccountID IS NULL""",
    "DimTrade: of a security version that did not hold that day": f"""
        FROM DimTrade t LEFT JOIN DimSecurity v ON t.SK_SecurityID = v.SK_SecurityID
        AND v.SK_CompanyID = t.SK_CompanyID AND {held("t.SK_CreateDateID")}
        WHERE v.SK_SecurityID IS NULL""",
    "FactCashBalances: of an account version that did not hold that day": f"""
        FROM FactCashBalances b LEFT JOIN DimAccount v ON b.SK_AccountID = v.SK_AccountID
        AND {held("b.SK_DateID")} WHERE v.SK_AccountID IS NULL""",
    "FactWatches: of a customer version that did not hold that day": f"""
        FROM FactWatches w LEFT JOIN DimCustomer v ON w.SK_CustomerID = v.SK_CustomerID
        AND {held("w.SK_DateID_DatePlaced")} WHERE v.SK_CustomerID IS NULL""",
    "FactMarketHistory: prices of a day and of its year out of order": """
        FROM FactMarketHistory WHERE NOT (FiftyTwoWeekLow <= DayLow AND DayLow <= ClosePrice
        AND ClosePrice <= DayHigh AND DayHigh <= FiftyTwoWeekHigh)""",
    "FactMarketHistory: a high or low of another year": """
        FROM FactMarketHistory WHERE SK_FiftyTwoWeekHighDate NOT BETWEEN SK_DateID - 9999 AND SK_DateID
        OR SK_FiftyTwoWeekLowDate NOT BETWEEN SK_DateID - 9999 AND SK_DateID""",
    "Prospect: changed after it was last seen": "FROM Prospect WHERE SK_UpdateDateID > SK_RecordDateID",
}
"""What must be empty after every batch: the invariants of TPC-DI's audit."""

BATCHES = ("DimAccount", "DimTrade", "FactHoldings", "FactCashBalances", "FactMarketHistory", "Prospect")
"""Views with rows of every batch."""
KEPT = {
    "DimTrade": "SELECT DISTINCT t_id FROM trade",
    "FactHoldings": "SELECT 1 FROM holding_history",
    "FactCashBalances": "SELECT DISTINCT ct_ca_id, CAST(ct_dts AS DATE) FROM cash_transaction",
    "FactWatches": "SELECT DISTINCT w_c_id, w_s_symb FROM watch_history",
    "FactMarketHistory": "SELECT 1 FROM daily_market",
    "Prospect": "SELECT DISTINCT agency_id FROM prospect_file",
}
"""Views with a row for every row of this: none is lost in a join."""


@dataclass(frozen=True)
class Checked:
    """The outcome of one check."""

    subject: str
    """The view, or the rule."""
    by: str
    ok: bool
    note: str = ""


def with_its_query(engine: Engine, view: str) -> Checked:
    """The view against its own query in full, as bags."""
    found = engine.verify(view)
    return Checked(view, QUERY, found.equal, "" if found.equal else _told(found.missing, found.extra))


def with_duckdb(spark: SparkSession, reference: Reference, view: str) -> Checked:
    """The view against DuckDB's table, as bags; numbers are brought to the types of the view."""
    table, columns = COMPARED[view]
    shown = spark.table(view).select(*(columns.split(", ") if columns else ["*"]))
    with TemporaryDirectory() as folder:
        file = Path(folder) / f"{table}.parquet"
        reference.export(table, file)
        expected = _typed(spark.read.parquet(str(file)), shown)
        missing, extra = differing(expected, shown)
    return Checked(view, DUCKDB, not missing and not extra, _told(missing, extra))


def differing(expected: DataFrame, shown: DataFrame) -> tuple[int, int]:
    """How many rows one bag lacks and how many it has too many, counting copies."""
    weighed = expected.withColumn("weight", F.lit(1)).union(shown.withColumn("weight", F.lit(-1)))
    weights = weighed.groupBy(*shown.columns).agg(F.sum("weight").alias("weight"))
    missing, extra = F.sum(F.greatest("weight", F.lit(0))), F.sum(F.greatest(-F.col("weight"), F.lit(0)))
    ((lacks, has),) = weights.agg(missing, extra).collect()
    return lacks or 0, has or 0


def _typed(rows: DataFrame, like: DataFrame) -> DataFrame:
    return rows.select(*(F.col(field.name).cast(field.dataType) for field in like.schema.fields))


def _told(missing: int, extra: int) -> str:
    return f"{missing} rows are missing, {extra} should not be there" if missing or extra else ""


def invariants(spark: SparkSession, batch: int) -> Iterator[Checked]:
    """The rules that always hold, on the views of the current schema; a query for all rules of a kind."""
    for rule, found in _together(spark, {rule: f"count(*) {rows}" for rule, rows in NEVER.items()}):
        yield Checked(rule, INVARIANT, found == 0, f"{found} rows" if found else "")
    wanted = list(range(1, batch + 1))
    numbers = {view: f"array_sort(collect_set(BatchID)) FROM {view}" for view in BATCHES}
    for view, found in _together(spark, numbers):
        same = list(found) == wanted
        yield Checked(f"{view}: rows of all batches", INVARIANT, same, "" if same else str(found))
    counts = {
        view: f"array((SELECT count(*) FROM {view}), (SELECT count(*) FROM ({source})))"
        for view, source in KEPT.items()
    }
    for view, (has, needs) in _together(spark, counts):
        same = has == needs > 0
        note = "" if same else f"{has} rows for {needs}"
        yield Checked(f"{view}: a row for each of its source", INVARIANT, same, note)


def _together(spark: SparkSession, selected: Mapping[str, str]) -> list[tuple[str, Any]]:
    """What each of some queries gives, in one."""
    parts = [f"SELECT {number} AS number, {rest}" for number, rest in enumerate(selected.values())]
    names = list(selected)
    return [(names[number], found) for number, found in spark.sql(" UNION ALL ".join(parts)).collect()]

"""Reads the files of a batch, and appends them to Delta tables of the current schema."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

AT_ONCE = 4
"""How many tables are written at the same time."""
PHONE = ", ".join(f"c_{part}_{n} STRING" for n in "123" for part in ("ctry", "area", "local", "ext"))


@dataclass(frozen=True)
class Source:
    """A file with columns, and whether it has CDC columns in front after the first batch."""

    file: str
    columns: str
    separator: str = "|"
    cdc: bool = False


SOURCES = {
    "batch_date": Source("BatchDate.txt", "day DATE"),
    "status_type": Source("StatusType.txt", "st_id STRING, st_name STRING"),
    "trade_type": Source("TradeType.txt", "tt_id STRING, tt_name STRING, tt_is_sell INT, tt_is_mrkt INT"),
    "tax_rate": Source("TaxRate.txt", "tx_id STRING, tx_name STRING, tx_rate DECIMAL(6,5)"),
    "industry": Source("Industry.txt", "in_id STRING, in_name STRING, in_sc_id STRING"),
    "hr": Source(
        "HR.csv",
        "employee BIGINT, manager BIGINT, first_name STRING, last_name STRING, initial STRING, job INT, "
        "branch STRING, office STRING, phone STRING",
        ",",
    ),
    "trade": Source(
        "Trade.txt",
        "t_id BIGINT, t_dts TIMESTAMP_NTZ, t_st_id STRING, t_tt_id STRING, t_is_cash INT, t_s_symb STRING, "
        "t_qty BIGINT, t_bid_price DECIMAL(8,2), t_ca_id BIGINT, t_exec_name STRING, "
        "t_trade_price DECIMAL(8,2), t_chrg DECIMAL(10,2), t_comm DECIMAL(10,2), t_tax DECIMAL(10,2)",
        cdc=True,
    ),
    "trade_history": Source("TradeHistory.txt", "th_t_id BIGINT, th_dts TIMESTAMP_NTZ, th_st_id STRING"),
    "cash_transaction": Source(
        "CashTransaction.txt",
        "ct_ca_id BIGINT, ct_dts TIMESTAMP_NTZ, ct_amt DECIMAL(10,2), ct_name STRING",
        cdc=True,
    ),
    "holding_history": Source(
        "HoldingHistory.txt",
        "hh_h_t_id BIGINT, hh_t_id BIGINT, hh_before_qty BIGINT, hh_after_qty BIGINT",
        cdc=True,
    ),
    "watch_history": Source(
        "WatchHistory.txt",
        "w_c_id BIGINT, w_s_symb STRING, w_dts TIMESTAMP_NTZ, w_action STRING",
        cdc=True,
    ),
    "daily_market": Source(
        "DailyMarket.txt",
        "dm_date DATE, dm_s_symb STRING, dm_close DECIMAL(8,2), dm_high DECIMAL(8,2), dm_low DECIMAL(8,2), "
        "dm_vol BIGINT",
        cdc=True,
    ),
    "customer": Source(
        "Customer.txt",
        "c_id BIGINT, c_tax_id STRING, c_st_id STRING, c_l_name STRING, c_f_name STRING, c_m_name STRING, "
        "c_gndr STRING, c_tier STRING, c_dob STRING, c_adline1 STRING, c_adline2 STRING, c_zipcode STRING, "
        f"c_city STRING, c_state_prov STRING, c_ctry STRING, {PHONE}, c_email_1 STRING, c_email_2 STRING, "
        "c_lcl_tx_id STRING, c_nat_tx_id STRING",
        cdc=True,
    ),
    "account": Source(
        "Account.txt",
        "ca_id BIGINT, ca_b_id BIGINT, ca_c_id BIGINT, ca_name STRING, ca_tax_st STRING, ca_st_id STRING",
        cdc=True,
    ),
    "prospect_file": Source(
        "Prospect.csv",
        "agency_id STRING, last_name STRING, first_name STRING, middle_initial STRING, gender STRING, "
        "address_line1 STRING, address_line2 STRING, postal_code STRING, city STRING, state STRING, "
        "country STRING, phone STRING, income BIGINT, number_cars BIGINT, number_children BIGINT, "
        "marital_status STRING, age BIGINT, credit_rating BIGINT, own_or_rent_flag STRING, employer STRING, "
        "number_credit_cards BIGINT, net_worth BIGINT",
        ",",
    ),
}
NAMES = "C_L_NAME STRING, C_F_NAME STRING, C_M_NAME STRING"
ADDRESS = (
    "C_ADLINE1 STRING, C_ADLINE2 STRING, C_ZIPCODE STRING, C_CITY STRING, C_STATE_PROV STRING, C_CTRY STRING"
)
NUMBER = "STRUCT<C_CTRY_CODE: STRING, C_AREA_CODE: STRING, C_LOCAL: STRING, C_EXT: STRING>"
CONTACT = "C_PRIM_EMAIL STRING, C_ALT_EMAIL STRING, " + ", ".join(f"C_PHONE_{n} {NUMBER}" for n in "123")
TAX = "C_LCL_TX_ID STRING, C_NAT_TX_ID STRING"
ACCOUNT = "_CA_ID BIGINT, _CA_TAX_ST STRING, CA_B_ID STRING, CA_NAME STRING"
CUSTOMER = (
    "_C_ID BIGINT, _C_TAX_ID STRING, _C_GNDR STRING, _C_TIER STRING, _C_DOB STRING, "
    f"Name STRUCT<{NAMES}>, Address STRUCT<{ADDRESS}>, ContactInfo STRUCT<{CONTACT}>, TaxInfo STRUCT<{TAX}>, "
    f"Account STRUCT<{ACCOUNT}>"
)
ACTION = f"_ActionType STRING, _ActionTS STRING, Customer STRUCT<{CUSTOMER}>"
"""All text: what is missing is NULL, what is empty is an empty string."""


def ingest(spark: SparkSession, folder: Path, batch: int) -> None:
    """Append everything of a batch, once however often it is asked for; tables that do not exist are made."""

    def append(name: str, rows: DataFrame) -> None:
        once = rows.write.format("delta").option("txnAppId", "ingest").option("txnVersion", batch)
        once.mode("append").saveAsTable(name)

    found = read(spark, folder, batch)
    with ThreadPoolExecutor(AT_ONCE) as pool:  # most tables are small: what takes time is the commit
        list(pool.map(append, found.keys(), found.values()))


def read(spark: SparkSession, folder: Path, batch: int) -> dict[str, DataFrame]:
    """The rows of a batch by table. The first batch gives every table its columns, if no rows."""
    place = folder / f"Batch{batch}"
    found = {
        name: _columns(spark, place / source.file, source, batch)
        for name, source in SOURCES.items()
        if batch == 1 or (place / source.file).exists()
    }
    if batch == 1:
        found["finwire"] = spark.read.text(str(place / "FINWIRE????Q?")).selectExpr("value AS line")
        found["customer_action"] = _actions(spark, place / "CustomerMgmt.xml")
    return found


def _columns(spark: SparkSession, path: Path, source: Source, batch: int) -> DataFrame:
    cdc = "cdc_flag STRING, cdc_dsn BIGINT, "
    schema = cdc + source.columns if source.cdc and batch > 1 else source.columns
    if path.exists():
        reader = spark.read.schema(schema).option("timestampNTZFormat", "yyyy-MM-dd HH:mm:ss")
        rows = reader.csv(str(path), sep=source.separator, quote="", mode="FAILFAST")
    else:
        rows = spark.createDataFrame([], schema)
    rows = rows.withColumn("batch", F.lit(batch))
    if source.cdc and batch == 1:
        rows = rows.withColumns(
            {"cdc_flag": F.lit(None).cast("string"), "cdc_dsn": F.lit(None).cast("bigint")}
        )
    return rows


def _actions(spark: SparkSession, path: Path) -> DataFrame:
    """CustomerMgmt.xml, flat; `position` keeps the order of actions that have the same time."""
    actions = spark.read.schema(ACTION).option("rowTag", "TPCDI:Action").xml(str(path))
    customer = {
        "c_id": "_C_ID",
        "c_tax_id": "_C_TAX_ID",
        "c_gndr": "_C_GNDR",
        "c_tier": "_C_TIER",
        "c_dob": "_C_DOB",
    }
    columns = [f"Customer.{inside} AS {name}" for name, inside in customer.items()]
    for part, names in (("Name", NAMES), ("Address", ADDRESS), ("TaxInfo", TAX)):
        columns += [f"Customer.{part}.{n} AS {n.lower()}" for n in (c.split()[0] for c in names.split(", "))]
    columns += [
        "Customer.ContactInfo.C_PRIM_EMAIL AS c_email_1",
        "Customer.ContactInfo.C_ALT_EMAIL AS c_email_2",
        "Customer.Account._CA_ID AS ca_id",
        "Customer.Account._CA_TAX_ST AS ca_tax_st",
        "Customer.Account.CA_B_ID AS ca_b_id",
        "Customer.Account.CA_NAME AS ca_name",
    ]
    for n in "123":
        for name, inside in (
            ("ctry", "CTRY_CODE"),
            ("area", "AREA_CODE"),
            ("local", "LOCAL"),
            ("ext", "EXT"),
        ):
            columns.append(f"Customer.ContactInfo.C_PHONE_{n}.C_{inside} AS c_{name}_{n}")
    first = ("_ActionType AS action_type", "_ActionTS AS action_ts")
    return actions.withColumn("position", F.monotonically_increasing_id()).selectExpr(
        "position", *first, *columns
    )

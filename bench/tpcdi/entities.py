"""Keeps stages as tables: after a batch is ingested, the entities it touched are merged in."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from pyspark.sql import SparkSession

from bench.tpcdi.ingest import AT_ONCE
from bench.tpcdi.pipeline import query


@dataclass(frozen=True)
class Entity:
    """What a row of a stage is found by, and where its ingested rows are."""

    key: tuple[str, ...]
    sources: dict[str, tuple[str, ...]]
    """The ingested tables of the stage: columns that name the entity."""
    fed_by: str = ""
    """The table whose new rows say which entities a batch touched; none if only the first batch has any."""


ENTITIES = {
    "company_version": Entity(("company_id", "effective_date"), {}),
    "security_version": Entity(("symbol", "effective_date"), {}),
    "customer_version": Entity(
        ("customer_id", "effective_date"), {"customer_action": ("c_id",), "customer": ("c_id",)}, "customer"
    ),
    "account_version": Entity(
        ("account_id", "effective_date"), {"customer_action": ("ca_id",), "account": ("ca_id",)}, "account"
    ),
    "trade_state": Entity(("trade_id",), {"trade": ("t_id",), "trade_history": ("th_t_id",)}, "trade"),
    "watch_state": Entity(
        ("customer_id", "symbol"), {"watch_history": ("w_c_id", "w_s_symb")}, "watch_history"
    ),
}


def keep(spark: SparkSession, names: Sequence[str], batch: int) -> None:
    """Bring the tables of some stages up to date with a batch, once however often it is asked for."""

    def one(name: str) -> None:
        if not spark.catalog.tableExists(name):
            create(spark, name)
        elif batch > 1:
            merge(spark, name, batch)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(one, names))


def create(spark: SparkSession, name: str) -> None:
    """Make the table of a stage from everything that was ingested."""
    properties = "'delta.enableDeletionVectors' = 'true'"
    spark.sql(f"CREATE TABLE {name} USING delta TBLPROPERTIES ({properties}) AS {query(name)}")


def merge(spark: SparkSession, name: str, batch: int) -> None:
    """Bring the table of a stage up to date with a batch.

    The stage's own query runs on the rows of the entities that the batch touched. Events are only ever added,
    so no version that was there goes away; what changed is overwritten, what is new inserted.
    """
    entity = ENTITIES[name]
    if not entity.fed_by:
        return
    own = spark.newSession()  # its temporary views stand in for the ingested tables
    schema = spark.catalog.currentDatabase()
    own.sql(f"USE {schema}")
    named = entity.sources[entity.fed_by]
    touched = f"SELECT DISTINCT {', '.join(named)} FROM {schema}.{entity.fed_by} WHERE batch = {batch}"
    for source, columns in entity.sources.items():
        same = " AND ".join(
            f"s.{mine} = touched.{theirs}" for mine, theirs in zip(columns, named, strict=True)
        )
        rows = f"SELECT s.* FROM {schema}.{source} s LEFT SEMI JOIN ({touched}) touched ON {same}"
        own.sql(f"CREATE TEMPORARY VIEW {source} AS {rows}")
    now = own.sql(query(name))
    now.createTempView("now")
    found = " AND ".join(f"t.{column} = n.{column}" for column in entity.key)
    old, new = (", ".join(f"{side}.{column}" for column in now.columns) for side in "tn")
    own.sql(
        f"MERGE INTO {schema}.{name} t USING now n ON {found} "
        f"WHEN MATCHED AND NOT (struct({old}) <=> struct({new})) THEN UPDATE SET * "
        "WHEN NOT MATCHED THEN INSERT *"
    )

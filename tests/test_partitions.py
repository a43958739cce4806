"""PARTITION_OVERWRITE: partitions of a view made anew from the same partitions of its sources."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from rennet import Engine, Technique
from rennet.errors import InvalidQueryError, NotIncrementalError, ValueNotStorableError

OVERWRITE = Technique.PARTITION_OVERWRITE

VIEWS = {
    "medians": "SELECT day, shop, median(amount) AS middle FROM sales GROUP BY day, shop",
    "ranks": "SELECT day, id, rank() OVER (PARTITION BY day ORDER BY amount) AS place FROM sales",
    "outer_joined": "SELECT s.day, s.id, r.rate FROM sales s LEFT JOIN rates r ON r.day = s.day",
    "with_shops": "SELECT s.day, s.id, p.name FROM sales s LEFT JOIN shops p ON s.shop = p.shop",
    "both": "SELECT day, id FROM sales UNION ALL SELECT day, CAST(rate AS INT) FROM rates",
    "unsold": "SELECT day, rate FROM rates r WHERE NOT EXISTS (SELECT 1 FROM sales s WHERE s.day = r.day)",
}
REFUSED = {
    "moved": "SELECT date_add(day, 1) AS day, id FROM sales",
    "across_days": "SELECT day, id, lag(id) OVER (PARTITION BY shop ORDER BY day, id) AS before FROM sales",
    "paired": "SELECT a.day, a.id, b.id AS other FROM sales a JOIN sales b ON a.shop = b.shop",
    "grouped": "SELECT max(day) AS day, shop FROM sales GROUP BY shop",
}


@pytest.fixture
def engine(spark: SparkSession) -> Iterator[Engine]:
    spark.sql("DROP SCHEMA IF EXISTS parted CASCADE")
    spark.sql("CREATE SCHEMA parted")
    spark.catalog.setCurrentDatabase("parted")
    for table, columns in {"sales": "id INT, shop INT, amount INT", "rates": "rate DOUBLE"}.items():
        spark.sql(f"CREATE TABLE {table} ({columns}, day DATE) USING delta PARTITIONED BY (day)")
    spark.sql("CREATE TABLE shops (shop INT, name STRING) USING delta")
    days = "IF(id % 5 = 4, NULL, date_add(DATE'2024-01-01', CAST(id % 5 AS INT)))"
    spark.sql(f"INSERT INTO sales SELECT CAST(id AS INT), id % 3, id % 7, {days} FROM range(40)")
    spark.sql(f"INSERT INTO rates SELECT id / 2, {days} FROM range(6)")
    spark.sql("INSERT INTO shops VALUES (0, 'north'), (1, 'south')")
    yield Engine(spark)
    spark.catalog.setCurrentDatabase("default")


def test_partitions_are_made_anew(spark: SparkSession, engine: Engine) -> None:
    for name, query in VIEWS.items():
        engine.create_materialized_view(name, query, partitioned_by=("day",))
    for change in (
        "UPDATE sales SET amount = amount + 3, shop = 1 WHERE id % 10 IN (2, 4)",
        "DELETE FROM sales WHERE day = DATE'2024-01-03'",
        "INSERT OVERWRITE rates PARTITION (day = DATE'2024-01-04') VALUES (9.5)",
        "MERGE INTO sales t USING (SELECT * FROM VALUES (4), (101) AS v(id)) s ON t.id = s.id"
        " WHEN MATCHED THEN UPDATE SET day = DATE'2024-01-01'"
        " WHEN NOT MATCHED THEN INSERT (id, day) VALUES (s.id, DATE'2024-03-01')",
    ):
        spark.sql(change)
        for name, query in VIEWS.items():
            if "rates" in change and "rates" not in query:
                assert engine.refresh(name).technique is Technique.NO_OP
                continue
            assert engine.refresh(name, technique=OVERWRITE).technique is OVERWRITE, name
            verified = engine.verify(name)
            assert verified, (name, change, verified)


def test_only_the_changed_partitions_are_written(spark: SparkSession, engine: Engine) -> None:
    engine.create_materialized_view("medians", VIEWS["medians"], partitioned_by=("day",))
    spark.sql("DELETE FROM sales WHERE id = 0")
    result = engine.refresh("medians", technique=OVERWRITE)
    assert (result.rows_deleted, result.rows_inserted) == (3, 3)
    spark.sql("DELETE FROM sales WHERE day = DATE'2024-01-01'")
    result = engine.refresh("medians", technique=OVERWRITE)
    assert (result.rows_deleted, result.rows_inserted) == (3, 0)
    spark.sql("INSERT INTO sales VALUES (7, 7, 7, DATE'2024-01-01')")
    assert OVERWRITE in str(engine.explain("medians"))


@pytest.mark.parametrize("name", REFUSED)
def test_where_more_than_the_partition_may_change(spark: SparkSession, engine: Engine, name: str) -> None:
    engine.create_materialized_view(name, REFUSED[name], partitioned_by=("day",))
    spark.sql("DELETE FROM sales WHERE id = 1")
    with pytest.raises(NotIncrementalError, match="may depend on other partitions"):
        engine.refresh(name, technique=OVERWRITE)
    engine.refresh(name)
    assert engine.verify(name)


def test_columns_that_have_other_names_in_the_files(spark: SparkSession, engine: Engine) -> None:
    """The log calls a renamed column by its old name, which may be that of another column now."""
    spark.sql("ALTER TABLE sales SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
    spark.sql("ALTER TABLE sales RENAME COLUMN day TO sold")
    spark.sql("ALTER TABLE sales ADD COLUMN day DATE")
    spark.sql("UPDATE sales SET day = DATE'2025-01-01'")
    engine.create_materialized_view("renamed", "SELECT day, id FROM sales", partitioned_by=("day",))
    spark.sql("DELETE FROM sales WHERE id = 1")
    with pytest.raises(NotIncrementalError):
        engine.refresh("renamed", technique=OVERWRITE)
    engine.refresh("renamed")
    assert engine.verify("renamed")


@pytest.mark.parametrize("value", ["''", "'__HIVE_DEFAULT_PARTITION__'"])
def test_a_partition_that_would_become_null_is_refused(
    spark: SparkSession, engine: Engine, value: str
) -> None:
    query = "SELECT name, shop FROM shops"
    engine.create_materialized_view("by_name", query, partitioned_by=("name",))
    spark.sql(f"INSERT INTO shops VALUES (2, 'west'), (3, {value}), (4, NULL)")
    with pytest.raises(ValueNotStorableError, match=r"column name is '.*'.*CLUSTER BY"):
        engine.refresh("by_name")
    assert engine.spark.table("by_name").count() == 2, "the last good state is left"
    spark.sql("DELETE FROM shops WHERE shop = 3")
    engine.refresh("by_name")
    assert engine.verify("by_name")


def test_bytes_are_no_partitions(engine: Engine) -> None:
    query = "SELECT CAST(name AS BINARY) AS name, shop FROM shops"
    with pytest.raises(InvalidQueryError, match="name is BINARY"):
        engine.create_materialized_view("by_bytes", query, partitioned_by=("name",))
    assert not engine.spark.catalog.tableExists("by_bytes")

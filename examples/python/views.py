"""The library: a view defined by a function, refreshed, explained and checked."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import rennet


def sales(spark: SparkSession) -> DataFrame:
    """What is kept up to date: any query that Spark can run."""
    joined = spark.table("orders").join(spark.table("customers"), "customer_id")
    return joined.groupBy("region").agg(F.sum("amount").alias("total"), F.count("*").alias("orders"))


def main() -> None:
    spark = rennet.session()
    spark.sql("CREATE TABLE customers (customer_id INT, region STRING) USING delta")
    spark.sql("CREATE TABLE orders (customer_id INT, amount DECIMAL(10, 2)) USING delta")
    spark.sql("INSERT INTO customers VALUES (1, 'asia'), (2, 'europe')")
    spark.sql("INSERT INTO orders VALUES (1, 10.00), (2, 20.00), (1, 30.00)")

    engine = rennet.Engine(spark)
    engine.create_materialized_view("sales", sales)
    spark.sql("UPDATE customers SET region = 'europe' WHERE customer_id = 1")
    print(engine.explain("sales"))
    result = engine.refresh("sales")
    print(f"{result.technique}: {result.reason}")
    print(f"equal to its query: {engine.verify('sales').equal}")
    engine.history("sales").select("version", "technique", "rows_inserted", "rows_deleted").show()
    spark.table("sales").show()


if __name__ == "__main__":
    main()

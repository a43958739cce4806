"""Joins and subqueries with the DataFrame API."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as fn

from .registry import frame


def keyed(spark: SparkSession) -> tuple[DataFrame, DataFrame]:
    """Customers and their orders, sharing only the column `id`."""
    customers = spark.table("customers").select("id", "name", "region")
    orders = spark.table("orders").select(fn.col("customer_id").alias("id"), "total", "status")
    return customers, orders


@frame
def join_on_name(spark: SparkSession) -> DataFrame:
    customers, orders = keyed(spark)
    return customers.join(orders, "id")


@frame
def join_on_names_full(spark: SparkSession) -> DataFrame:
    customers, orders = keyed(spark)
    return customers.join(orders, ["id"], "full_outer")


@frame
def join_condition_left(spark: SparkSession) -> DataFrame:
    customers, orders = keyed(spark)
    return customers.join(orders, (customers.id == orders.id) & (orders.total > 50), "left")


@frame
def join_right(spark: SparkSession) -> DataFrame:
    customers, orders = keyed(spark)
    return customers.join(orders, "id", "right").select(customers.name, orders.id, "total")


@frame
def join_semi_and_anti(spark: SparkSession) -> DataFrame:
    customers, orders = keyed(spark)
    return customers.join(orders, "id", "left_semi").unionAll(customers.join(orders, "id", "left_anti"))


@frame
def join_cross(spark: SparkSession) -> DataFrame:
    return spark.table("suppliers").select("name").crossJoin(spark.table("edges").select("src"))


@frame
def join_without_condition(spark: SparkSession) -> DataFrame:
    return spark.table("suppliers").select("id").join(spark.range(2).toDF("n"))


@frame
def join_self_by_alias(spark: SparkSession) -> DataFrame:
    employees = spark.table("employees")
    boss, report = employees.alias("boss"), employees.alias("report")
    joined = report.join(boss, fn.col("report.manager_id") == fn.col("boss.id"), "left_outer")
    return joined.select("report.name", fn.col("boss.name").alias("boss"))


@frame
def join_self_by_column(spark: SparkSession) -> DataFrame:
    edges = spark.table("edges")
    ends = edges.select(fn.col("src").alias("node"), fn.col("dst").alias("next"))
    return edges.join(ends, edges.dst == ends.node).select(edges.src, ends.next)


@frame
def join_self_same_frame(spark: SparkSession) -> DataFrame:
    suppliers = spark.table("suppliers")
    grouped = suppliers.groupBy("country").agg(fn.count("*").alias("n"))
    return suppliers.join(grouped, suppliers["country"].eqNullSafe(grouped["country"])).drop(
        grouped["country"]
    )


@frame
def join_broadcast_hint(spark: SparkSession) -> DataFrame:
    products, suppliers = spark.table("products"), spark.table("suppliers")
    return products.join(fn.broadcast(suppliers), products.supplier_id == suppliers.id).select(
        products.name, suppliers.name.alias("supplier")
    )


@frame
def join_named_hint(spark: SparkSession) -> DataFrame:
    customers, orders = keyed(spark)
    return customers.join(orders.hint("shuffle_merge"), "id").hint("broadcast")


@frame
def join_as_of(spark: SparkSession) -> DataFrame:
    orders, days = spark.table("orders"), spark.table("calendar").where("holiday IS NOT NULL")
    return orders._joinAsOf(
        days, orders.placed, days.day.cast("timestamp"), how="left", direction="backward"
    ).select("id", "placed", "holiday")


@frame
def join_lateral(spark: SparkSession) -> DataFrame:
    customers = spark.table("customers").alias("c")
    orders = spark.table("orders").where(fn.col("customer_id") == fn.col("c.id").outer())
    top = orders.orderBy(fn.desc("total"), "id").limit(1).select(fn.col("id").alias("order_id"), "total")
    return customers.lateralJoin(top, how="left").select("name", "order_id", "total")


@frame
def join_lateral_table_function(spark: SparkSession) -> DataFrame:
    return spark.table("events").lateralJoin(spark.tvf.explode(fn.col("tags").outer())).select("id", "col")


@frame
def join_nearest(spark: SparkSession) -> DataFrame:
    products, suppliers = spark.table("products"), spark.table("suppliers")
    return products.nearestByJoin(
        suppliers, fn.abs(products.id - suppliers.id), numResults=1, mode="exact", direction="distance"
    ).select(products.name, suppliers.name.alias("near"))

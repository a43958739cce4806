"""Grouping, windows and set operations with the DataFrame API."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as fn

from .registry import frame

# Grouping


@frame
def group_by_aggregates(spark: SparkSession) -> DataFrame:
    return (
        spark.table("orders")
        .groupBy("status", fn.month("placed").alias("month"))
        .agg(
            fn.sum("total"),
            fn.count_distinct("customer_id").alias("buyers"),
            fn.max(fn.struct("total", "id")).alias("top"),
        )
    )


@frame
def group_by_shorthands(spark: SparkSession) -> DataFrame:
    grouped = spark.table("sales").groupBy("region")
    return grouped.sum("units", "amount").join(grouped.agg({"units": "max", "*": "count"}), "region")


@frame
def group_by_nothing(spark: SparkSession) -> DataFrame:
    return spark.table("orders").agg(
        fn.min("placed"), fn.avg("total"), fn.count(fn.lit(1)), fn.median("total")
    )


@frame
def group_then_filter(spark: SparkSession) -> DataFrame:
    return spark.table("orders").groupBy("customer_id").count().where("count > 1").orderBy("customer_id")


@frame
def group_pivot(spark: SparkSession) -> DataFrame:
    return (
        spark.table("sales")
        .groupBy("product")
        .pivot("year", [2023, 2024])
        .agg(fn.sum("amount"), fn.max("units"))
    )


@frame
def group_pivot_found_values(spark: SparkSession) -> DataFrame:
    return spark.table("sales").groupBy("product").pivot("region").sum("units")


@frame
def group_rollup(spark: SparkSession) -> DataFrame:
    rolled = spark.table("sales").rollup("year", "region")
    return rolled.agg(fn.sum("units").alias("units"), fn.grouping_id().alias("level"), fn.grouping("region"))


@frame
def group_cube(spark: SparkSession) -> DataFrame:
    return spark.table("sales").cube("product", fn.col("year") - 2000).count()


@frame
def group_grouping_sets(spark: SparkSession) -> DataFrame:
    sales = spark.table("sales")
    sets = [[sales.year, sales.region], [sales.year], []]
    return sales.groupingSets(sets, sales.year, sales.region).agg(fn.sum("units"))


@frame
def group_by_window(spark: SparkSession) -> DataFrame:
    counted = (
        spark.table("orders").groupBy(fn.window("placed", "7 days", startTime="1 day")).agg(fn.sum("total"))
    )
    return counted.select("window.start", "`sum(total)`")


@frame
def group_by_session_window(spark: SparkSession) -> DataFrame:
    return spark.table("orders").groupBy("status", fn.session_window("placed", "3 days")).count()


@frame
def group_collects(spark: SparkSession) -> DataFrame:
    return (
        spark.table("orders")
        .groupBy("status")
        .agg(
            fn.sort_array(fn.collect_list("id")).alias("ids"),
            fn.array_sort(fn.collect_set("note")).alias("notes"),
            fn.max_by("id", fn.struct("total", "id")).alias("best"),
            fn.expr("count(*) FILTER (WHERE total > 50)").alias("big"),
        )
    )


# Windows


@frame
def window_functions(spark: SparkSession) -> DataFrame:
    by_status = Window.partitionBy("status").orderBy(fn.col("total").desc_nulls_last(), "id")
    return spark.table("orders").select(
        "id",
        fn.row_number().over(by_status).alias("n"),
        fn.lag("total", 1, 0).over(by_status).alias("before"),
        fn.sum("total").over(by_status.rowsBetween(-1, Window.currentRow)).alias("pair"),
        fn.count("*").over(Window.partitionBy()).alias("all"),
    )


@frame
def window_range(spark: SparkSession) -> DataFrame:
    near = Window.partitionBy("year").orderBy("units").rangeBetween(-5, 5)
    return spark.table("sales").withColumn("near", fn.sum("units").over(near))


@frame
def window_latest_per_key(spark: SparkSession) -> DataFrame:
    latest = Window.partitionBy("customer_id").orderBy(fn.desc("placed"), fn.desc("id"))
    return spark.table("orders").withColumn("n", fn.row_number().over(latest)).where("n = 1").drop("n")


# Sets and duplicates


@frame
def distinct(spark: SparkSession) -> DataFrame:
    return spark.table("edges").distinct()


@frame
def drop_duplicates(spark: SparkSession) -> DataFrame:
    return spark.table("customers").select("name", "city").dropDuplicates()


@frame
def drop_duplicates_of_key(spark: SparkSession) -> DataFrame:
    return spark.table("edges").dropDuplicates(["src", "dst"]).select("src", "dst")


@frame
def union(spark: SparkSession) -> DataFrame:
    return spark.table("customers").select("id", "name").union(spark.table("suppliers").select("id", "name"))


@frame
def union_of_itself(spark: SparkSession) -> DataFrame:
    edges = spark.table("edges")
    return edges.union(edges).union(edges.select("dst", "src", "weight"))


@frame
def union_by_name(spark: SparkSession) -> DataFrame:
    left = spark.table("customers").select("name", "id", "region")
    return left.unionByName(
        spark.table("suppliers").select("id", "name", "country"), allowMissingColumns=True
    )


@frame
def union_by_name_nested(spark: SparkSession) -> DataFrame:
    one = spark.range(1).select(fn.struct(fn.lit(1).alias("a"), fn.lit("x").alias("b")).alias("s"))
    two = spark.range(1).select(fn.struct(fn.lit(2).alias("a"), fn.lit(True).alias("c")).alias("s"))
    return one.unionByName(two, allowMissingColumns=True)


@frame
def intersect_and_subtract(spark: SparkSession) -> DataFrame:
    ids = spark.table("customers").select("id")
    return ids.intersect(spark.table("employees").select("id")).subtract(
        spark.range(3, 5).selectExpr("CAST(id AS INT)")
    )


@frame
def intersect_all(spark: SparkSession) -> DataFrame:
    edges = spark.table("edges").select("src")
    return edges.intersectAll(edges.where("src < 'c'"))


@frame
def except_all(spark: SparkSession) -> DataFrame:
    edges = spark.table("edges")
    return edges.select("src").exceptAll(edges.select("dst"))

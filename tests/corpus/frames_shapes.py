"""Generators, reshaping, leaves, order and layout with the DataFrame API."""

from __future__ import annotations

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as fn

from .registry import frame

# Generators and reshaping


@frame
def explode(spark: SparkSession) -> DataFrame:
    exploded = spark.table("events").select("id", fn.explode("tags").alias("tag"))
    return exploded.groupBy("tag").count()


@frame
def explode_outer_map(spark: SparkSession) -> DataFrame:
    return spark.table("events").select("id", fn.explode_outer("props"), fn.col("kind"))


@frame
def posexplode_and_inline(spark: SparkSession) -> DataFrame:
    rows = spark.table("events").select("id", fn.posexplode_outer("matrix").alias("at", "row"))
    return rows.select("id", "at", fn.explode_outer("row").alias("cell"))


@frame
def table_functions(spark: SparkSession) -> DataFrame:
    return spark.tvf.stack(fn.lit(2), fn.lit(1), fn.lit("a"), fn.lit(2), fn.lit("b")).join(spark.tvf.range(2))


@frame
def unpivot(spark: SparkSession) -> DataFrame:
    return spark.table("products").select("id", "size.*").unpivot("id", ["width", "height"], "side", "length")


@frame
def melt_all_columns(spark: SparkSession) -> DataFrame:
    return spark.table("edges").select("src", "dst").melt([], None, "end", "node")


@frame
def transpose(spark: SparkSession) -> DataFrame:
    return spark.table("suppliers").select("name", "id", "rating").orderBy("id").transpose("name")


@frame
def cross_tabulation(spark: SparkSession) -> DataFrame:
    return spark.table("sales").na.drop().crosstab("product", "year")


@frame
def summary(spark: SparkSession) -> DataFrame:
    return spark.table("suppliers").select("id", "name").summary("count", "min", "50%", "max")


# Leaves


@frame
def local_rows(spark: SparkSession) -> DataFrame:
    rows = [(1, "EU", [1], {"k": 1.5}), (2, None, None, None), (2, None, None, None)]
    local = spark.createDataFrame(rows, "id INT, region STRING, list ARRAY<INT>, map MAP<STRING, DOUBLE>")
    return local.join(spark.table("customers").select("region", "name"), "region", "left")


@frame
def local_empty(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([], "id INT, label STRING").union(
        spark.table("nothing").select("id", "label")
    )


@frame
def rows_of_an_rdd(spark: SparkSession) -> DataFrame:
    rows = spark.sparkContext.parallelize([(1, "a"), (2, "b"), (2, "b")], 2)
    return spark.createDataFrame(rows, "id INT, letter STRING").where("id > 0")


@frame
def range_of_numbers(spark: SparkSession) -> DataFrame:
    return spark.range(0, 20, 3, numPartitions=2).where("id % 2 = 0").select((fn.col("id") * 10).alias("n"))


@frame
def time_travel(spark: SparkSession) -> DataFrame:
    return spark.read.option("versionAsOf", 1).table("suppliers").select("id", "name")


@frame
def temporary_view(spark: SparkSession) -> DataFrame:
    spark.table("orders").where("total > 60").createOrReplaceTempView("expensive_orders")
    return spark.sql("SELECT e.id, c.name FROM expensive_orders e JOIN customers c ON c.id = e.customer_id")


@frame
def subquery_methods(spark: SparkSession) -> DataFrame:
    orders = spark.table("orders").alias("o")
    customers = spark.table("customers").alias("c")
    mine = orders.where(fn.col("o.customer_id") == fn.col("c.id").outer())
    top = mine.select(fn.max("total")).scalar()
    return customers.where(mine.exists()).select("id", top.alias("top"))


@frame
def subquery_in(spark: SparkSession) -> DataFrame:
    buyers = spark.table("orders").where("total > 60").select("customer_id")
    return spark.table("customers").where(fn.col("id").isin(buyers)).select("id")


# Order, layout and side effects


@frame
def order_limit_offset(spark: SparkSession) -> DataFrame:
    return spark.table("orders").orderBy(fn.desc("total"), "id").offset(2).limit(4).select("id", "total")


@frame
def order_ascending_list(spark: SparkSession) -> DataFrame:
    return spark.table("customers").sort(["region", "id"], ascending=[False, True]).select("region", "id")


@frame
def limit_inside_a_join(spark: SparkSession) -> DataFrame:
    top = spark.table("orders").orderBy(fn.col("total").desc_nulls_last(), "id").limit(3)
    return top.join(spark.table("customers").withColumnRenamed("id", "customer_id"), "customer_id")


@frame
def repartition_and_coalesce(spark: SparkSession) -> DataFrame:
    customers = spark.table("customers").repartition(3).repartition(2, "region").repartitionByRange(2, "id")
    return customers.sortWithinPartitions("region", fn.desc("id")).coalesce(1).select("id", "region")


@frame
def repartition_by_id(spark: SparkSession) -> DataFrame:
    return spark.table("suppliers").repartitionById(2, fn.col("id") % 2)


@frame
def sample_everything(spark: SparkSession) -> DataFrame:
    return spark.table("orders").sample(1.0, seed=7).select("id")


@frame
def sample_seeded_of_a_range(spark: SparkSession) -> DataFrame:
    return spark.range(0, 40, 1, 1).sample(withReplacement=False, fraction=0.5, seed=11)


@frame
def random_seeded_of_a_range(spark: SparkSession) -> DataFrame:
    return spark.range(0, 10, 1, 1).select(
        "id", (fn.rand(5) < 0.5).alias("heads"), fn.monotonically_increasing_id()
    )


@frame
def zip_with_index(spark: SparkSession) -> DataFrame:
    return spark.table("suppliers").select("id", "name").orderBy("id").zipWithIndex()


@frame
def observed(spark: SparkSession) -> DataFrame:
    return (
        spark.table("orders")
        .observe(Observation(), fn.count("*").alias("n"), fn.max("total").alias("m"))
        .select("id")
    )


@frame
def watermark(spark: SparkSession) -> DataFrame:
    return (
        spark.table("orders").withWatermark("placed", "1 day").groupBy(fn.window("placed", "7 days")).count()
    )

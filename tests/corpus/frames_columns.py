"""Projections, filters and missing values with the DataFrame API."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession, types
from pyspark.sql import functions as fn

from .registry import frame

# Projection and filter


@frame
def select_filter(spark: SparkSession) -> DataFrame:
    orders = spark.table("orders")
    return orders.filter((orders.total > 50) & ~orders.status.isin("open")).select("id", orders["total"] * 2)


@frame
def select_expressions(spark: SparkSession) -> DataFrame:
    return spark.table("customers").selectExpr("id + 1 AS next", "upper(name)", "*", "credit / 3 AS third")


@frame
def with_columns(spark: SparkSession) -> DataFrame:
    items = spark.table("items").withColumn("gross", fn.col("quantity") * fn.col("price"))
    items = items.withColumns({"price": fn.col("price") + 1, "tax": fn.round(fn.col("gross") * 0.2, 2)})
    return (
        items.withColumnsRenamed({"tax": "vat", "line": "row"}).drop("discount").withColumnRenamed("x", "y")
    )


@frame
def with_metadata(spark: SparkSession) -> DataFrame:
    products = spark.table("products").select(
        fn.col("id").alias("key", metadata={"comment": "the key"}), "name"
    )
    return products.withMetadata("name", {"unit": "none"})


@frame
def to_schema(spark: SparkSession) -> DataFrame:
    return (
        spark.table("suppliers")
        .select("name", "id")
        .to(types.StructType().add("id", "long").add("name", "string"))
    )


@frame
def to_columns_renamed(spark: SparkSession) -> DataFrame:
    return spark.table("edges").toDF("from", "to", "a.b").select("from", "`a.b`")


@frame
def column_regex_and_odd_names(spark: SparkSession) -> DataFrame:
    odd = spark.table("odd_names")
    return odd.select(
        odd.colRegex("`.*name`"), odd["`a.b`"], odd["größe"], odd["`inner.struct`.`x y`"], "MIXEDCASE"
    )


@frame
def case_and_casts(spark: SparkSession) -> DataFrame:
    total = fn.col("total")
    size = fn.when(total > 100, "large").when(total.isNull(), None).otherwise("small")
    return spark.table("orders").select(
        size.alias("size"), total.cast("int"), total.try_cast("tinyint"), fn.lit([1, 2])
    )


@frame
def column_methods(spark: SparkSession) -> DataFrame:
    name = fn.col("name")
    return spark.table("customers").select(
        name.substr(1, 3),
        name.like("A%"),
        name.rlike("a$"),
        name.contains("o"),
        name.startswith("A"),
        fn.col("region").eqNullSafe("EU"),
        fn.col("id").between(2, 4),
        fn.col("id").bitwiseXOR(3),
        -fn.col("id"),
        fn.col("id") % 2 == 0,
        fn.expr("id <=> NULL"),
    )


@frame
def struct_fields_added_and_dropped(spark: SparkSession) -> DataFrame:
    actor = fn.col("actor").withField("address.country", fn.lit("?")).dropFields("name")
    return spark.table("events").select("id", actor.alias("actor"), fn.col("actor")["address"]["city"])


@frame
def higher_order_functions(spark: SparkSession) -> DataFrame:
    return spark.table("events").select(
        "id",
        fn.transform("tags", lambda tag, index: fn.concat(tag, index.cast("string"))).alias("numbered"),
        fn.filter("matrix", lambda row: fn.size(row) > 1).alias("long"),
        fn.aggregate(fn.flatten("matrix"), fn.lit(0), lambda total, cell: total + cell).alias("sum"),
        fn.map_filter("props", lambda key, value: key != "ab").alias("props"),
        fn.zip_with("tags", fn.array(fn.lit("x")), lambda left, right: fn.coalesce(right, left)).alias(
            "zipped"
        ),
    )


@frame
def filter_by_sql_text(spark: SparkSession) -> DataFrame:
    return spark.table("customers").where("region = 'EU' AND credit IS NOT NULL").select("id", "credit")


@frame
def sql_over_a_frame(spark: SparkSession) -> DataFrame:
    big = spark.table("orders").where("total > 50")
    return spark.sql("SELECT id, customer_id FROM {big} WHERE status = 'shipped'", big=big)


@frame
def default_function_names(spark: SparkSession) -> DataFrame:
    return spark.table("items").select(
        fn.col("price") + fn.col("quantity"), fn.upper(fn.lit("x")), fn.lit(None)
    )


# Missing values


@frame
def na_fill(spark: SparkSession) -> DataFrame:
    return (
        spark.table("customers")
        .na.fill({"region": "?", "credit": 0, "vip": False})
        .select("id", "region", "vip")
    )


@frame
def na_fill_everything(spark: SparkSession) -> DataFrame:
    return spark.table("numbers").na.fill(0).na.fill(True)


@frame
def na_drop(spark: SparkSession) -> DataFrame:
    return spark.table("customers").na.drop(how="any", subset=["email", "vip"]).na.drop(thresh=7)


@frame
def na_replace(spark: SparkSession) -> DataFrame:
    return (
        spark.table("orders")
        .na.replace({"open": "OPEN", "shipped": None}, subset=["status"])
        .select("id", "status")
    )

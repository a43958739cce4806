"""Python functions of every kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as fn

from .registry import frame, pandas_frame

# Python functions


@frame
def python_udf(spark: SparkSession) -> DataFrame:
    @fn.udf("string", useArrow=False)
    def shout(text: str | None) -> str | None:
        return None if text is None else text.upper() + "!"

    return (
        spark.table("customers")
        .where(shout("region") != "US!")
        .select("id", shout(fn.col("name")).alias("loud"))
    )


@frame
def python_udf_of_structs(spark: SparkSession) -> DataFrame:
    @fn.udf("struct<n: int, parts: array<string>>", useArrow=False)
    def split(text: str | None) -> tuple[int, list[str]] | None:
        return None if text is None else (len(text), text.split(" "))

    return spark.table("customers").select("id", split("name").alias("s")).select("id", "s.n", "s.parts")


@frame
def python_udf_in_join_and_group(spark: SparkSession) -> DataFrame:
    parity = fn.udf(lambda number: number % 2 if number is not None else None, "int", useArrow=False)
    left, right = spark.table("suppliers").alias("l"), spark.table("employees").alias("r")
    joined = left.join(
        right, (fn.col("l.id") == fn.col("r.id")) & (parity(fn.col("l.id")) == parity(fn.col("r.id")))
    )
    return joined.groupBy(parity(fn.col("l.id")).alias("parity")).agg(fn.count("*").alias("n"))


@frame
def python_udf_registered(spark: SparkSession) -> DataFrame:
    spark.udf.register("times_three", fn.udf(lambda number: number * 3, "int", useArrow=False))
    return spark.sql("SELECT id, times_three(id) AS thrice FROM suppliers WHERE times_three(id) > 3")


@frame
def python_table_function(spark: SparkSession) -> DataFrame:
    class Letters:
        def eval(self, text: str) -> Iterator[tuple[int, str]]:
            yield from enumerate(text)

    letters = fn.udtf(Letters, returnType="at INT, letter STRING", useArrow=False)  # type: ignore[arg-type]
    spark.udtf.register("letters", letters)
    return spark.sql("SELECT s.id, l.at, l.letter FROM suppliers s, LATERAL letters(s.name) l WHERE l.at < 2")


@frame
def python_table_function_over_a_table(spark: SparkSession) -> DataFrame:
    class Total:
        def __init__(self) -> None:
            self.total = 0
            self.status: str | None = None

        def eval(self, row: Any) -> None:
            self.status = row["status"]
            self.total += row["id"]

        def terminate(self) -> Iterator[tuple[str | None, int]]:
            yield self.status, self.total

    spark.udtf.register("total_ids", fn.udtf(Total, returnType="status STRING, total BIGINT", useArrow=False))  # type: ignore[arg-type]
    return spark.sql("SELECT * FROM total_ids(TABLE(SELECT id, status FROM orders) PARTITION BY status)")


# Python functions over pandas and Arrow


@pandas_frame
def map_in_pandas(spark: SparkSession) -> DataFrame:
    def cheap(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            yield batch[batch.id < 4]

    return spark.table("suppliers").select("id", "name").mapInPandas(cheap, "id INT, name STRING")


@pandas_frame
def map_in_arrow(spark: SparkSession) -> DataFrame:
    def same(batches: Iterator[Any]) -> Iterator[Any]:
        yield from batches

    return spark.table("suppliers").select("id", "name").mapInArrow(same, "id INT, name STRING")


@pandas_frame
def apply_in_pandas(spark: SparkSession) -> DataFrame:
    def biggest(group: Any) -> Any:
        return group.nlargest(1, "id")

    return (
        spark.table("orders")
        .select("status", "id")
        .groupBy("status")
        .applyInPandas(biggest, "status STRING, id BIGINT")
    )


@pandas_frame
def apply_in_pandas_cogrouped(spark: SparkSession) -> DataFrame:
    def merged(left: Any, right: Any) -> Any:
        return left.merge(right, on="id").astype({"name": object, "employee": object})

    left = spark.table("suppliers").select("id", "name").groupBy("id")
    right = spark.table("employees").selectExpr("id", "name AS employee").groupBy("id")
    return left.cogroup(right).applyInPandas(merged, "id INT, name STRING, employee STRING")


@pandas_frame
def apply_in_arrow(spark: SparkSession) -> DataFrame:
    def same(group: Any) -> Any:
        return group

    return (
        spark.table("orders")
        .select("status", "id")
        .groupBy("status")
        .applyInArrow(same, "status STRING, id BIGINT")
    )


@pandas_frame
def udf_scalar(spark: SparkSession) -> DataFrame:
    twice = fn.pandas_udf(lambda numbers: numbers * 2, "bigint")  # type: ignore[call-overload]
    return spark.table("suppliers").select("id", twice("id").alias("twice"))


@pandas_frame
def udf_aggregate(spark: SparkSession) -> DataFrame:
    largest = fn.pandas_udf(lambda numbers: numbers.max(), "int", fn.PandasUDFType.GROUPED_AGG)  # type: ignore[call-overload]
    return spark.table("employees").groupBy("department").agg(largest("id").alias("id"))


@pandas_frame
def python_udf_with_arrow(spark: SparkSession) -> DataFrame:
    shout = fn.udf(lambda text: text + "!", "string", useArrow=True)
    # Straight over a scan, Spark 4.2.0 waits for its Python worker for ever (SPARK-58241).
    return spark.table("suppliers").repartition(1).select("id", shout("name").alias("loud"))

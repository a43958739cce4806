"""As `spark-pipelines init` writes it, with a temporary view between."""

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession

spark = SparkSession.active()


@dp.materialized_view
def numbers() -> DataFrame:
    return spark.range(100)


@dp.temporary_view
def even_numbers() -> DataFrame:
    return spark.read.table("numbers").where("id % 2 = 0")

"""Streaming tables: what they can be fed from, and what becomes of columns that are new."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rennet import Engine
from rennet.pipelines.project import Pipeline
from rennet.pipelines.update import Status, UpdateResult
from tests.pipelines.projects import Make, drop, rows


def updated(pipeline: Pipeline) -> UpdateResult:
    result = pipeline.update()
    assert result.succeeded, [each.message for each in result.datasets]
    return result


FORMATS = {
    "json": (
        '.schema("id INT, name STRING").json("landing")',
        ('{"id":1,"name":"a"}',),
        ('{"id":2,"name":"b"}',),
    ),
    "json_inferred": ('.json("landing")', ('{"id":1,"name":"a"}',), ('{"id":2,"name":"b"}',)),
    "csv": ('.schema("id INT, name STRING").csv("landing")', ("1,a",), ("2,b",)),
    "csv_inferred": (
        '.option("header", True).option("inferSchema", True).csv("landing")',
        ("id,name", "1,a"),
        ("id,name", "2,b"),
    ),
    "xml": (
        '.schema("id INT, name STRING").option("rowTag", "row").xml("landing")',
        ("<rows><row><id>1</id><name>a</name></row></rows>",),
        ("<rows><row><id>2</id><name>b</name></row></rows>",),
    ),
    "xml_inferred": (
        '.option("rowTag", "row").xml("landing")',
        ("<rows><row><id>1</id><name>a</name></row></rows>",),
        ("<rows><row><id>2</id><name>b</name></row></rows>",),
    ),
    "text": (
        """.text("landing").selectExpr("CAST(left(value, 1) AS INT) AS id", "right(value, 1) AS name")""",
        ("1 a",),
        ("2 b",),
    ),
}


@pytest.mark.parametrize("kind", FORMATS)
def test_files_of_every_text_format(spark: SparkSession, project: Make, tmp_path: Path, kind: str) -> None:
    reader, first, second = FORMATS[kind]
    spec = project(
        s_py=f"""
from pyspark import pipelines as dp

@dp.table
def arrived():
    return spark.readStream{reader}
"""
    )
    drop(tmp_path, "1", *first)
    pipeline = Pipeline.open(Engine(spark), spec)
    updated(pipeline)
    drop(tmp_path, "2", *second)
    updated(pipeline)
    assert rows(pipeline, "arrived") == [(1, "a"), (2, "b")]


def test_columns_of_files_are_found_and_added(spark: SparkSession, project: Make, tmp_path: Path) -> None:
    spec = project(
        s_py="""
            from pyspark import pipelines as dp

            @dp.table
            def jsons():
                return spark.readStream.json("landing")

            @dp.table
            def parquets():
                return spark.readStream.option("mergeSchema", True).parquet("parquet")

            @dp.materialized_view
            def both():
                return spark.table("jsons").join(spark.table("parquets"), "id")
        """
    )
    drop(tmp_path, "1.json", '{"id":1,"name":"a"}')
    parquet = str(tmp_path / "parquet")
    spark.sql("SELECT 1L AS id, 'x' AS kind").write.parquet(parquet)
    pipeline = Pipeline.open(Engine(spark), spec)
    updated(pipeline)
    assert rows(pipeline, "both") == [(1, "a", "x")]
    drop(tmp_path, "2.json", '{"id":2,"name":"b","city":"c"}')
    spark.sql("SELECT 2L AS id, 'y' AS kind, true AS hot").write.mode("append").parquet(parquet)
    updated(pipeline)
    found = pipeline.jvm.spark.table(f"{pipeline.database}.both").select("id", "name", "city", "kind", "hot")
    assert sorted(map(tuple, found.collect())) == [(1, "a", None, "x", None), (2, "b", "c", "y", True)]


def test_a_change_feed_is_a_stream(spark: SparkSession, project: Make) -> None:
    spec = project(
        s_py="""
            from pyspark import pipelines as dp

            @dp.table
            def changes():
                feed = spark.readStream.option("readChangeFeed", True).table("source")
                return feed.selectExpr("id", "_change_type AS change")
        """
    )
    source = f"{spec.read_text().split()[1]}.source"
    spark.sql(f"CREATE TABLE {source} (id INT) USING delta TBLPROPERTIES (delta.enableChangeDataFeed = true)")
    spark.sql(f"INSERT INTO {source} VALUES (1), (2)")
    pipeline = Pipeline.open(Engine(spark), spec)
    updated(pipeline)
    spark.sql(f"DELETE FROM {source} WHERE id = 2")
    updated(pipeline)
    assert rows(pipeline, "changes") == [(1, "insert"), (2, "delete"), (2, "insert")]
    outside = pipeline.graph.sources[f"{pipeline.database}.changes"]
    assert [path.rpartition("/")[2] for path in outside] == ["source"]


def test_targets_of_auto_cdc_gain_columns(spark: SparkSession, project: Make, tmp_path: Path) -> None:
    spec = project(
        s_sql="""
            CREATE STREAMING TABLE now;
            CREATE FLOW a AS AUTO CDC INTO now FROM STREAM(changes) KEYS (id)
              IGNORE NULL UPDATES SEQUENCE BY n;
            CREATE STREAMING TABLE history;
            CREATE FLOW b AS AUTO CDC INTO history FROM STREAM(changes) KEYS (id) SEQUENCE BY n
              COLUMNS * EXCEPT (n) STORED AS SCD TYPE 2 TRACK HISTORY ON name;
        """,
        s_py="""
            from pyspark import pipelines as dp

            @dp.table
            def changes():
                return spark.readStream.json("landing")
        """,
    )
    drop(tmp_path, "1.json", '{"id":1,"n":1,"name":"Ann"}', '{"id":1,"n":3,"name":"Anne"}')
    pipeline = Pipeline.open(Engine(spark), spec)
    updated(pipeline)
    # A column that comes first in the alphabet, and so in the files: nothing may rely on places.
    drop(tmp_path, "2.json", '{"id":1,"n":2,"name":"Annie","city":"Rome"}', '{"id":2,"n":1,"city":"Oslo"}')
    updated(pipeline)
    table = pipeline.jvm.spark.table
    now = table(f"{pipeline.database}.now").select("id", "n", "name", "city")
    assert sorted(map(tuple, now.collect())) == [(1, 3, "Anne", "Rome"), (2, 1, None, "Oslo")]
    history = table(f"{pipeline.database}.history").select("id", "name", "city", "__START_AT", "__END_AT")
    assert sorted(map(tuple, history.collect()), key=repr) == [
        (1, "Ann", None, 1, 2),
        (1, "Anne", None, 3, None),
        (1, "Annie", "Rome", 2, 3),
        (2, None, "Oslo", 1, None),
    ]


def test_a_stream_that_expects_too_much_stores_nothing(
    spark: SparkSession, project: Make, tmp_path: Path
) -> None:
    spec = project(
        s_py="""
            from rennet import pipelines as dp

            @dp.table
            @dp.expect_all_or_fail({"known": "id IS NOT NULL", "positive": "id > 0"})
            def strict():
                return spark.readStream.schema("id INT").json("landing")

            @dp.table
            @dp.expect_all({"small": "id < 10"})
            @dp.expect_all_or_drop({"even": "id % 2 = 0"})
            def lenient():
                return spark.readStream.schema("id INT").json("landing")
        """
    )
    drop(tmp_path, "1.json", '{"id":1}', '{"id":12}', '{"id":-4}')
    pipeline = Pipeline.open(Engine(spark), spec)
    result = pipeline.update()
    assert {d.name.split(".")[-1]: d.status for d in result.datasets} == {
        "strict": Status.FAILED,
        "lenient": Status.COMPLETED,
    }
    assert rows(pipeline, "strict") == []
    assert rows(pipeline, "lenient") == [(-4,), (12,)]
    logged = pipeline.events().where("event_type = 'flow_progress'").collect()
    failed = next(row for row in logged if row.origin.dataset_name.endswith("strict"))
    assert failed.level == "ERROR" and failed.error.fatal and failed.error.exceptions
    counted = next(row for row in logged if row.origin.dataset_name.endswith("lenient"))
    assert '"name": "small", "action": "WARN", "passed_records": 2, "failed_records": 1' in counted.details

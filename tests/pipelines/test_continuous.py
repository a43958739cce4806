"""Pipelines that are kept up to date until they are told to stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import SparkSession

from rennet import Engine
from rennet.pipelines.continuous import Continuous
from rennet.pipelines.project import Pipeline
from rennet.pipelines.update import Selection, UpdateResult
from tests.pipelines.projects import Make, drop, rows

PATIENCE = 90.0

FILES = """
    from pyspark import pipelines as dp

    @dp.table
    def arrived():
        return spark.readStream.schema("id INT, n INT, name STRING").json("landing")

    dp.create_streaming_table("people")
    dp.create_auto_cdc_flow(target="people", source="arrived", keys=["id"], sequence_by="n")

    @dp.materialized_view
    def counted():
        return spark.table("people").join(spark.table("names"), "name").groupBy("name").count()
"""


def until(true: Callable[[], bool]) -> bool:
    """Wait for something to happen."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if true():
            return True
        time.sleep(0.2)
    return False


def test_what_arrives_is_seen_without_being_asked_for(
    spark: SparkSession, project: Make, tmp_path: Path
) -> None:
    spec = project(s_py=FILES)
    schema = spec.read_text().split()[1]
    spark.sql(f"CREATE TABLE {schema}.names (name STRING) USING delta")
    spark.sql(f"INSERT INTO {schema}.names VALUES ('Ann'), ('Bo')")
    drop(tmp_path, "1.json", '{"id":1,"n":1,"name":"Ann"}')
    pipeline = Pipeline.open(Engine(spark), spec)
    updates: list[UpdateResult] = []
    running = Continuous(pipeline, Selection(), 0.5, updated=updates.append)
    stop, seen = threading.Event(), []

    def outside() -> None:
        try:
            seen.append(until(lambda: len(updates) >= 2 and rows(pipeline, "counted") == [("Ann", 1)]))
            drop(tmp_path, "2.json", '{"id":2,"n":1,"name":"Bo"}', '{"id":1,"n":0,"name":"Old"}')
            seen.append(until(lambda: rows(pipeline, "counted") == [("Ann", 1), ("Bo", 1)]))
            spark.sql(f"DELETE FROM {schema}.names WHERE name = 'Ann'")
            seen.append(until(lambda: rows(pipeline, "counted") == [("Bo", 1)]))
            quiet = len(updates)
            time.sleep(3)
            seen.append(len(updates) <= quiet + 1)
        finally:
            stop.set()

    helper = threading.Thread(target=outside)
    helper.start()
    running.run(stop)
    helper.join()
    assert seen == [True, True, True, True]
    assert all(update.succeeded for update in updates)
    assert pipeline.jvm.spark.streams.active == [] or all(
        not query.isActive for stream in running.streams.values() for query in stream.queries
    )
    assert rows(pipeline, "people") == [(1, 1, "Ann"), (2, 1, "Bo")]


def test_a_stream_that_fails_is_told_of_and_opened_again(
    spark: SparkSession, project: Make, tmp_path: Path
) -> None:
    spec = project(
        s_py="""
            from rennet import pipelines as dp

            @dp.table
            @dp.expect_or_fail("positive", "id > 0")
            def strict():
                return spark.readStream.schema("id INT").json("landing")
        """
    )
    drop(tmp_path, "1.json", '{"id":1}')
    pipeline = Pipeline.open(Engine(spark), spec)
    updates: list[UpdateResult] = []
    running = Continuous(pipeline, Selection(), 0.5, updated=updates.append)
    stop, seen = threading.Event(), []

    def outside() -> None:
        try:
            seen.append(until(lambda: bool(running.streams)))
            drop(tmp_path, "2.json", '{"id":0}')
            seen.append(until(lambda: any(not update.succeeded for update in updates)))
            (tmp_path / "landing" / "2.json").write_text('{"id":2}')
            seen.append(until(lambda: rows(pipeline, "strict") == [(1,), (2,)]))
        finally:
            stop.set()

    helper = threading.Thread(target=outside)
    helper.start()
    running.run(stop)
    helper.join()
    assert seen == [True, True, True]

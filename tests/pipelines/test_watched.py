"""A catalog's pipelines and views under watch, on Spark, with a clock that the test drives."""

from __future__ import annotations

import os
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rennet import Engine
from rennet.pipelines.project import Pipeline
from rennet.pipelines.watch import Watch
from rennet.pipelines.watched import Catalog
from tests.pipelines.projects import Make, drop, rows


class Later:
    """A clock that is ahead of the real one."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def now(self) -> datetime:
        return datetime.now().astimezone() + self.ahead

    def wait(self, seconds: float) -> bool:
        raise AssertionError("the test takes turns itself")


class Watching:
    """One watch of a catalog, turn by turn."""

    def __init__(self, engine: Engine) -> None:
        self.said: list[str] = []
        self.clock = Later()
        self.catalog = Catalog(engine, self.said.append)
        self.watch = Watch(self.catalog.watched, self.clock, self.said.append)

    def turn(self, minutes: float = 0) -> list[str]:
        """What it says that much later."""
        self.clock.ahead += timedelta(minutes=minutes)
        self.said.clear()
        self.watch.turn()
        return list(self.said)


VIEWS = """
    CREATE MATERIALIZED VIEW counted AS SELECT COUNT(*) AS n FROM source;
    CREATE TEMPORARY VIEW large AS SELECT * FROM source WHERE id > 1;
    CREATE MATERIALIZED VIEW own (CONSTRAINT known EXPECT (id IS NOT NULL)) TRIGGER ON UPDATE
      AS SELECT id FROM large;
"""


def test_pipelines_and_their_datasets_are_watched(spark: SparkSession, project: Make) -> None:
    spec = project({"rennet.schedule": "SCHEDULE EVERY 1 HOUR"}, v_sql=VIEWS)
    schema = spec.read_text().split()[1]
    spark.range(3).write.saveAsTable(f"{schema}.source")
    engine = Engine(spark)
    watching = Watching(engine)
    assert watching.catalog.watched() == []
    pipeline = Pipeline.open(engine, spec)
    assert pipeline.update().succeeded
    names = [(each.name, each.schedule.describe()) for each in watching.catalog.watched()]
    assert names == [(f"pipeline {schema}", "every hour"), (f"{schema}.own", "when a source changes")]

    assert watching.turn() == [f"{schema}.own: update 2: 2 completed"]
    assert watching.turn(1) == []
    spark.range(3, 5).write.mode("append").saveAsTable(f"{schema}.source")
    assert watching.turn(1) == [f"{schema}.own: update 3: 2 completed"]
    assert rows(pipeline, "own") == [(2,), (3,), (4,)]
    assert rows(pipeline, "counted") == [(3,)]
    # Down for half a day: one update, and then none.
    assert watching.turn(720) == [f"pipeline {schema}: update 4: 3 completed"]
    assert watching.turn(1) == []
    assert rows(pipeline, "counted") == [(5,)]


def test_a_pipeline_with_a_trigger_waits_for_its_sources(spark: SparkSession, project: Make) -> None:
    text = "CREATE STREAMING TABLE copied AS SELECT * FROM STREAM(source)"
    spec = project({"rennet.schedule": "TRIGGER ON UPDATE AT MOST EVERY INTERVAL 5 MINUTES"}, v_sql=text)
    schema = spec.read_text().split()[1]
    spark.range(2).write.saveAsTable(f"{schema}.source")
    engine = Engine(spark)
    pipeline = Pipeline.open(engine, spec)
    assert pipeline.update().succeeded
    watching = Watching(engine)
    watching.turn(6)
    assert watching.turn(6) == []
    spark.range(2, 3).write.mode("append").saveAsTable(f"{schema}.source")
    assert watching.turn() == [f"pipeline {schema}: update 3: 1 completed"]
    spark.range(3, 4).write.mode("append").saveAsTable(f"{schema}.source")
    assert watching.turn(4) == []
    assert watching.turn(2) == [f"pipeline {schema}: update 4: 1 completed"]
    assert rows(pipeline, "copied") == [(0,), (1,), (2,), (3,)]


def test_what_cannot_be_watched_is_said_once(spark: SparkSession, project: Make, tmp_path: Path) -> None:
    code = """
        from pyspark import pipelines as dp

        @dp.table
        def files():
            return spark.readStream.schema("id INT").json("landing")
    """
    spec = project({"rennet.schedule": "TRIGGER ON UPDATE"}, v_py=code)
    drop(tmp_path, "1.json", '{"id":1}')
    engine = Engine(spark)
    pipeline = Pipeline.open(engine, spec)
    assert pipeline.update().succeeded
    watching = Watching(engine)
    (told,) = watching.turn()
    assert "is not watched" in told and "needs a Delta table" in told
    assert watching.turn() == []
    spec.write_text(spec.read_text().replace("TRIGGER ON UPDATE", "SCHEDULE EVERY 5 MINUTES"))
    os.utime(spec, (2e9, 2e9))
    assert watching.turn(6) == [f"pipeline {spec.read_text().split()[1]}: update 2: 1 completed"]
    spec.unlink()
    (told,) = watching.turn(6)
    assert "is not watched" in told
    with pytest.raises(FileNotFoundError):
        spec.stat()


def test_a_failing_dataset_is_told_of(spark: SparkSession, project: Make) -> None:
    text = "CREATE MATERIALIZED VIEW v AS SELECT 1 / n AS x FROM source"
    spec = project({"rennet.schedule": "SCHEDULE EVERY 5 MINUTES"}, v_sql=text)
    schema = spec.read_text().split()[1]
    spark.sql(f"CREATE TABLE {schema}.source (n INT) USING delta")
    spark.sql(f"INSERT INTO {schema}.source VALUES (1)")
    engine = Engine(spark)
    assert Pipeline.open(engine, spec).update().succeeded
    watching = Watching(engine)
    spark.sql(f"INSERT INTO {schema}.source VALUES (0)")
    (told,) = watching.turn(6)
    assert "failed" in told and "DIVIDE_BY_ZERO" in told

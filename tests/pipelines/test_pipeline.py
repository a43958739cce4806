"""Whole projects on Spark: read, checked, updated, and read again as of an update."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rennet import Engine
from rennet.errors import PipelineError
from rennet.pipelines.graph import InvalidGraphError
from rennet.pipelines.project import Pipeline
from rennet.pipelines.update import DatasetResult, Selection, Status
from tests.pipelines.projects import Make, drop, rows
from tests.pipelines.tables import tables

MEDALLION = """
    from pyspark import pipelines as dp
    from pyspark.sql import functions as F

    @dp.table
    def bronze():
        return spark.readStream.format("json").schema("id INT, n INT, name STRING, op STRING").load("landing")

    @dp.temporary_view
    def changes():
        return spark.readStream.table("bronze").where("id IS NOT NULL")

    dp.create_streaming_table("people")
    dp.create_auto_cdc_flow(target="people", source="changes", keys=["id"], sequence_by="n",
                            apply_as_deletes="op = 'D'", except_column_list=["op", "n"])

    @dp.materialized_view
    def named():
        return spark.table("people").where(F.col("name").isNotNull())
"""
COUNTS = """
    CREATE MATERIALIZED VIEW counts AS SELECT name, COUNT(*) AS people FROM named GROUP BY name;
"""


def test_a_project_of_spark_runs_unchanged(spark: SparkSession, project: Make, tmp_path: Path) -> None:
    spec = project(medallion_py=MEDALLION, counts_sql=COUNTS)
    drop(tmp_path, "1.json", '{"id":1,"n":1,"name":"Ann","op":"U"}', '{"id":2,"n":1,"name":"Bo","op":"U"}')
    pipeline = Pipeline.open(Engine(spark), spec)
    first = pipeline.update()
    assert [(d.name.split(".")[-1], d.status) for d in first.datasets] == [
        (name, Status.COMPLETED) for name in ("bronze", "changes", "people", "named", "counts")
    ]
    assert rows(pipeline, "counts") == [("Ann", 1), ("Bo", 1)]

    drop(tmp_path, "2.json", '{"id":2,"n":0,"name":"Old","op":"U"}', '{"id":1,"n":2,"name":"Bo","op":"U"}')
    second = Pipeline.open(Engine(spark), spec).update()
    assert second.number == 2 and second.changed
    assert rows(pipeline, "people") == [(1, "Bo"), (2, "Bo")]
    assert rows(pipeline, "counts") == [("Bo", 2)]
    techniques = {d.name.split(".")[-1]: (d.built.summary if d.built else "") for d in second.datasets}
    assert techniques["counts"].startswith("GROUP_AGGREGATE")

    third = Pipeline.open(Engine(spark), spec).update()
    assert not third.changed
    assert sorted(map(tuple, pipeline.at_update(1).table("counts").collect())) == [("Ann", 1), ("Bo", 1)]
    together = Engine(spark).at_update(1, _schema(spec))
    assert sorted(map(tuple, together.table("people").collect())) == [(1, "Ann"), (2, "Bo")]
    with pytest.raises(PipelineError, match="no update 9"):
        Engine(spark).at_update(9, _schema(spec))
    with pytest.raises(PipelineError, match="no pipeline nowhere"):
        Engine(spark).at_update(1, "nowhere")
    events = pipeline.events().where("event_type = 'planning_information' AND update_number = 2").collect()
    assert {row.origin.dataset_name.split(".")[-1] for row in events} == {"named", "counts"}

    full = Pipeline.open(Engine(spark), spec).update(Selection(full_refresh_all=True))
    assert full.succeeded
    assert rows(pipeline, "people") == [(1, "Bo"), (2, "Bo")]
    assert rows(pipeline, "bronze") and len(rows(pipeline, "bronze")) == 4


def test_all_problems_are_reported_at_once(spark: SparkSession, project: Make) -> None:
    spec = project(
        views_sql="""
            CREATE MATERIALIZED VIEW a AS SELECT * FROM b;
            CREATE MATERIALIZED VIEW b AS SELECT * FROM a;
            CREATE MATERIALIZED VIEW lost AS SELECT * FROM nowhere;
            CREATE MATERIALIZED VIEW below AS SELECT * FROM lost;
            CREATE MATERIALIZED VIEW fine AS SELECT 1 AS one;
            CREATE MATERIALIZED VIEW fine AS SELECT 2 AS two;
            CREATE STREAMING TABLE streamed AS SELECT * FROM STREAM(fine);
            CREATE STREAMING TABLE batch AS SELECT * FROM fine;
        """,
        broken_py="""
            from pyspark import pipelines as dp

            @dp.materialized_view
            def raises():
                raise ValueError("no luck")

            @dp.materialized_view
            def wrong():
                return 7
        """,
    )
    with pytest.raises(InvalidGraphError) as caught:
        Pipeline.open(Engine(spark), spec).graph  # noqa: B018 - finding the problems is what is tested
    found = [(p.location.file.split("/")[-1], p.location.line, p.code) for p in caught.value.problems]
    assert found == [
        ("broken.py", 4, "FUNCTION_FAILED"),
        ("broken.py", 8, "INVALID_PIPELINE"),
        ("views.sql", 2, "CYCLE"),
        ("views.sql", 4, "TABLE_OR_VIEW_NOT_FOUND"),
        ("views.sql", 7, "DUPLICATE_NAME"),
        ("views.sql", 8, "INVALID_PIPELINE"),
        ("views.sql", 9, "INVALID_PIPELINE"),
    ]
    assert "cannot be read as a stream" in str(caught.value)
    assert tables(spark, _schema(spec)) == []


def _schema(spec: Path) -> str:
    return next(line.split()[1] for line in spec.read_text().splitlines() if line.startswith("name:"))


def test_names_with_a_schema_and_new_columns(spark: SparkSession, project: Make) -> None:
    spec = project(
        v_sql="""
            CREATE MATERIALIZED VIEW low AS SELECT id FROM range(3);
            CREATE TEMPORARY VIEW mid AS SELECT * FROM spark_catalog.{schema}.low;
            CREATE MATERIALIZED VIEW high AS SELECT * FROM mid WHERE id > (SELECT min(id) FROM {schema}.low);
        """
    )
    file = spec.parent / "transformations" / "v.sql"
    file.write_text(file.read_text().replace("{schema}", _schema(spec)))
    pipeline = Pipeline.open(Engine(spark), spec)
    assert pipeline.graph.inputs[f"{_schema(spec)}.high"] == ("mid", f"{_schema(spec)}.low")
    assert pipeline.update().succeeded
    assert rows(pipeline, "high") == [(1,), (2,)]
    file.write_text(
        "CREATE MATERIALIZED VIEW high AS SELECT id, twice FROM low;"
        "CREATE MATERIALIZED VIEW low AS SELECT id, id * 2 AS twice FROM range(2)"
    )
    again = Pipeline.open(Engine(spark), spec)
    assert again.update().succeeded
    assert rows(again, "high") == [(0, 0), (1, 2)]


def test_a_failure_stops_only_what_depends_on_it(spark: SparkSession, project: Make) -> None:
    spec = project(
        v_sql="""
            SET spark.sql.ansi.enabled = true;
            CREATE MATERIALIZED VIEW bad AS SELECT 1 / (id - 1) AS x FROM range(3);
            CREATE MATERIALIZED VIEW below AS SELECT * FROM bad;
            CREATE MATERIALIZED VIEW good AS SELECT id FROM range(3);
        """
    )
    result = Pipeline.open(Engine(spark), spec).update()
    states = {d.name.split(".")[-1]: d.status for d in result.datasets}
    assert states == {"bad": Status.FAILED, "below": Status.SKIPPED, "good": Status.COMPLETED}
    assert not result.succeeded


def test_selected_datasets_only(spark: SparkSession, project: Make) -> None:
    spec = project(
        v_sql="""
            CREATE MATERIALIZED VIEW one AS SELECT id FROM range(3);
            CREATE MATERIALIZED VIEW two AS SELECT id FROM range(3);
        """
    )
    pipeline = Pipeline.open(Engine(spark), spec)
    result = pipeline.update(Selection(refresh=("one",)))
    assert [d.status for d in result.datasets] == [Status.COMPLETED, Status.EXCLUDED]
    with pytest.raises(PipelineError, match="three is not a dataset"):
        pipeline.update(Selection(refresh=("three",)))


def test_expectations_are_counted_and_kept(spark: SparkSession, project: Make, tmp_path: Path) -> None:
    spec = project(
        e_py="""
            from rennet import pipelines as dp

            @dp.table
            @dp.expect_or_drop("positive", "id > 0")
            def events():
                return spark.readStream.format("json").schema("id INT").load("landing")

            @dp.materialized_view
            @dp.expect("small", "id < 3")
            @dp.expect_or_drop("odd", "id % 2 = 1")
            def odd():
                return spark.table("events")

            @dp.materialized_view
            @dp.expect_or_fail("tiny", "id < 4")
            def strict():
                return spark.table("events")
        """
    )
    drop(tmp_path, "1.json", '{"id":0}', '{"id":1}', '{"id":2}', '{"id":3}', '{"id":null}')
    pipeline = Pipeline.open(Engine(spark), spec)
    first = pipeline.update()
    found = {d.name.split(".")[-1]: d.built.outcomes if d.built else () for d in first.datasets}
    assert [(o.passed, o.failed) for o in found["events"]] == [(3, 2)]
    assert [(o.name, o.passed, o.failed) for o in found["odd"]] == [("small", 2, 1), ("odd", 2, 1)]
    assert rows(pipeline, "odd") == [(1,), (3,)]
    drop(tmp_path, "2.json", '{"id":5}')
    second = Pipeline.open(Engine(spark), spec).update()
    states = {d.name.split(".")[-1]: d.status for d in second.datasets}
    assert (states["odd"], states["strict"]) == (Status.COMPLETED, Status.FAILED)
    assert rows(pipeline, "strict") == [(1,), (2,), (3,)]


def test_several_flows_a_sink_and_a_flow_that_runs_once(
    spark: SparkSession, project: Make, tmp_path: Path
) -> None:
    spec = project(
        f_py="""
            from rennet import pipelines as dp

            dp.create_streaming_table("all_rows")
            dp.create_sink("out", "parquet", {"path": "%s"})

            @dp.append_flow(target="all_rows")
            def files():
                return spark.readStream.format("json").schema("id INT").load("landing")

            @dp.append_flow(target="all_rows", once=True)
            def backfill():
                return spark.range(100, 102).selectExpr("CAST(id AS INT) AS id")

            @dp.append_flow(target="out")
            def outgoing():
                return spark.readStream.table("all_rows")
        """
        % (tmp_path / "out")
    )
    drop(tmp_path, "1.json", '{"id":1}')
    for _ in range(2):
        pipeline = Pipeline.open(Engine(spark), spec)
        result = pipeline.update()
        assert result.succeeded, [d.message for d in result.datasets]
    assert rows(pipeline, "all_rows") == [(1,), (100,), (101,)]
    sent = spark.read.parquet(str(tmp_path / "out"))
    assert sorted(map(tuple, sent.collect())) == [(1,), (100,), (101,)]


def test_snapshots_become_a_history(spark: SparkSession, project: Make) -> None:
    spec = project(
        s_py="""
            from rennet import pipelines as dp

            SNAPSHOTS = [[(1, "a"), (2, "b")], [(1, "a"), (2, "c"), (3, "d")], [(1, "a")]]

            def following(last):
                number = 0 if last is None else last + 1
                if number >= len(SNAPSHOTS):
                    return None
                return spark.createDataFrame(SNAPSHOTS[number], "id INT, name STRING"), number

            dp.create_streaming_table("history")
            dp.create_auto_cdc_from_snapshot_flow("history", following, ["id"], stored_as_scd_type=2)
        """
    )
    for _ in range(2):
        pipeline = Pipeline.open(Engine(spark), spec)
        assert pipeline.update().succeeded
        assert rows(pipeline, "history") == [
            (1, "a", 0, None),
            (2, "b", 0, 1),
            (2, "c", 1, 2),
            (3, "d", 1, 2),
        ]


def test_a_function_without_a_first_snapshot_is_a_problem(spark: SparkSession, project: Make) -> None:
    spec = project(
        s_py="""
            from rennet import pipelines as dp

            dp.create_streaming_table("history")
            dp.create_auto_cdc_from_snapshot_flow("history", lambda last: None, ["id"])
        """
    )
    with pytest.raises(InvalidGraphError, match=r"s\.py:5: .*history has no snapshot yet"):
        Pipeline.open(Engine(spark), spec).update()


def test_relative_paths_mean_the_folder_of_the_project(spark: SparkSession, project: Make) -> None:
    spec = project(
        s_py="""
            from pathlib import Path
            from pyspark import pipelines as dp

            @dp.materialized_view
            def named():
                return spark.createDataFrame([(Path("name.txt").read_text(),)], "name STRING")
        """
    )
    (spec.parent / "name.txt").write_text("Ann")
    pipeline = Pipeline.open(Engine(spark), spec)
    result = pipeline.update()
    assert result.succeeded, [d.message for d in result.datasets]
    assert rows(pipeline, "named") == [("Ann",)]


def test_all_views_of_an_update_read_a_source_at_one_version(spark: SparkSession, project: Make) -> None:
    spec = project(
        v_sql="""
            CREATE MATERIALIZED VIEW one AS SELECT COUNT(*) AS n FROM source;
            CREATE MATERIALIZED VIEW two AS SELECT COUNT(*) AS n FROM source;
        """
    )
    source = f"{_schema(spec)}.source"
    spark.range(3).write.saveAsTable(source)

    def meanwhile(_: DatasetResult) -> None:
        spark.range(2).write.mode("append").saveAsTable(source)

    for seen in (3, 7):
        pipeline = Pipeline.open(Engine(spark), spec)
        assert pipeline.update(told=meanwhile).succeeded
        assert rows(pipeline, "one") == rows(pipeline, "two") == [(seen,)]

"""The examples, run as their readers would."""

from __future__ import annotations

import runpy
import shutil
from decimal import Decimal
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rennet import Engine
from rennet.cli.commands import Context, statements
from rennet.cli.main import RUN, parser
from rennet.cli.output import Output
from rennet.cli.progress import Activity
from rennet.pipelines.project import Pipeline
from rennet.sql.schedule import Cron

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_medallion(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "medallion"
    shutil.copytree(EXAMPLES / "medallion", folder)
    pipeline = Pipeline.open(Engine(spark), folder / "spark-pipeline.yml")
    first = pipeline.update()
    assert first.succeeded, [d.message for d in first.datasets]
    sales = "SELECT * FROM medallion.region_sales"
    assert sorted(map(tuple, spark.sql(sales).collect())) == [
        ("asia", Decimal("105.50"), 2),
        ("europe", Decimal("10.00"), 1),
    ]
    late = '{"customer_id": 3, "operation": "DELETE", "changed_at": "2026-01-01T10:30:00Z"}\n'
    moved = (
        '{"customer_id": 1, "name": "Ann", "region": "europe", "operation": "UPDATE", '
        '"changed_at": "2026-01-03T00:00:00Z"}\n'
    )
    (folder / "landing" / "customers" / "2.json").write_text(late + moved)
    second = pipeline.update()
    assert second.succeeded, [d.message for d in second.datasets]
    assert sorted(map(tuple, spark.sql(sales).collect())) == [
        ("asia", Decimal("45.50"), 1),
        ("europe", Decimal("70.00"), 2),
    ]
    summaries = {d.name: d.message for d in second.datasets}
    assert summaries["medallion.region_sales"].startswith("GROUP_AGGREGATE")
    history = spark.sql(
        "SELECT region, __END_AT IS NULL FROM medallion.customer_history WHERE customer_id = 1"
    )
    assert sorted(map(tuple, history.collect())) == [("asia", False), ("europe", True)]
    spark.sql("DROP SCHEMA medallion CASCADE")


def test_history(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "history"
    shutil.copytree(EXAMPLES / "history", folder)
    pipeline = Pipeline.open(Engine(spark), folder / "spark-pipeline.yml")
    assert pipeline.spec.schedule() == Cron("0 6 * * *", "Europe/Paris")
    first = pipeline.update()
    assert first.succeeded, [d.message for d in first.datasets]
    current = "SELECT * FROM history.current_prices"
    assert sorted(map(tuple, spark.sql(current).collect())) == [
        ("bread", Decimal("3.80")),
        ("cheese", Decimal("12.00")),
    ]
    (folder / "snapshots" / "2026-01-03.csv").write_text("product,price\nbread,3.80\ncheese,13.00\n")
    second = pipeline.update()
    assert second.succeeded, [d.message for d in second.datasets]
    found = {d.name: d.built for d in second.datasets}
    dropped = found["history.current_prices"]
    assert dropped is not None
    assert [(o.name, o.passed, o.failed) for o in dropped.outcomes] == [("cheap", 2, 0), ("positive", 2, 0)]
    counted = Engine(spark).history("history.current_prices__expectations").first()
    assert counted is not None and counted["technique"] == "GROUP_AGGREGATE"
    changes = "SELECT * FROM history.price_changes ORDER BY product"
    assert list(map(tuple, spark.sql(changes).collect())) == [
        ("bread", 2),
        ("cheese", 2),
        ("mystery", 1),
        ("wine", 1),
    ]
    spark.sql("DROP SCHEMA history CASCADE")


def test_spark(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "spark"
    shutil.copytree(EXAMPLES / "spark", folder)
    assert Pipeline.open(Engine(spark), folder / "spark-pipeline.yml").update().succeeded
    assert spark.table("spark_example.remainders").count() == 7
    spark.sql("DROP SCHEMA spark_example CASCADE")


def test_sql(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    spark.sql("CREATE SCHEMA sql_example")
    spark.sql("USE sql_example")
    try:
        options = parser().parse_args(["sql", "-f", str(EXAMPLES / "sql" / "views.sql")])
        options.statements = statements(options)
        assert RUN["sql"](Context(Engine(spark), options, Output(), Activity(False))) == 0
        assert "GROUP_AGGREGATE" in capsys.readouterr().out
        found = spark.sql("SELECT * FROM sales ORDER BY region").collect()
        assert [tuple(row) for row in found] == [
            ("africa", Decimal("5.00"), 1),
            ("asia", Decimal("30.00"), 1),
            ("europe", Decimal("20.00"), 1),
        ]
    finally:
        spark.sql("USE default")
        spark.sql("DROP SCHEMA sql_example CASCADE")


def test_python(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("rennet.session", lambda: spark)
    spark.sql("CREATE SCHEMA python_example")
    spark.sql("USE python_example")
    try:
        runpy.run_path(str(EXAMPLES / "python" / "views.py"), run_name="__main__")
        said = capsys.readouterr().out
        assert "GROUP_AGGREGATE: " in said and "equal to its query: True" in said
        assert [tuple(row) for row in spark.table("sales").collect()] == [("europe", Decimal("60.00"), 3)]
    finally:
        spark.sql("USE default")
        spark.sql("DROP SCHEMA python_example CASCADE")


def test_every_example_is_listed_and_run_here() -> None:
    folders = {path.name for path in EXAMPLES.iterdir() if path.is_dir()}
    listed = (EXAMPLES / "README.md").read_text()
    assert all(f"[`{name}`]({name})" in listed for name in folders)
    assert all(f"test_{name}" in globals() for name in folders)

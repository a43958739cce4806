"""The example project, run as its reader would."""

from __future__ import annotations

import shutil
from decimal import Decimal
from pathlib import Path

from pyspark.sql import SparkSession

from rennet import Engine
from rennet.pipelines.project import Pipeline

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

"""The same projects under Spark's own `spark-pipelines` and under rennet: the same tables.

Spark's tool talks to a Spark Connect server, so it needs more packages than rennet does: `pip install
'rennet[compare]'`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from rennet import Engine
from rennet.pipelines.project import Pipeline

pytestmark = pytest.mark.slow

SQL = {
    "orders.sql": """
        CREATE MATERIALIZED VIEW orders AS
        SELECT id, id % 13 AS customer, CAST(id * 3 % 101 AS DECIMAL(10, 2)) AS amount FROM range(2000);
    """,
    "totals.sql": """
        CREATE MATERIALIZED VIEW totals AS
        SELECT customer, SUM(amount) AS total, COUNT(*) AS n FROM orders GROUP BY customer;
        CREATE MATERIALIZED VIEW best AS
        SELECT customer, total FROM totals ORDER BY total DESC, customer LIMIT 3;
    """,
}
PYTHON = {
    "views.py": """
        from pyspark import pipelines as dp
        from pyspark.sql import SparkSession, functions as F

        spark = SparkSession.active()

        @dp.materialized_view
        def numbers():
            return spark.range(500).withColumn("even", F.col("id") % 2 == 0)

        @dp.temporary_view
        def evens():
            return spark.read.table("numbers").where("even")

        @dp.materialized_view(comment="How many there are")
        def counted():
            rest = (F.col("id") % 5).alias("rest")
            return spark.read.table("evens").groupBy(rest).agg(F.count("*").alias("n"))
    """,
}
STREAMING = {
    "events.py": """
        from pyspark import pipelines as dp
        from pyspark.sql import SparkSession

        spark = SparkSession.active()

        @dp.table
        def events():
            return spark.readStream.schema("id INT, kind STRING").json("{folder}")
    """,
    "kinds.sql": """
        CREATE MATERIALIZED VIEW kinds AS SELECT kind, COUNT(*) AS n FROM events GROUP BY kind;
    """,
}
PROJECTS = {
    "both_sql": (SQL, ("orders", "totals", "best")),
    "both_python": (PYTHON, ("numbers", "counted")),
    "both_streaming": (STREAMING, ("events", "kinds")),
}


@pytest.mark.parametrize("name", PROJECTS)
def test_the_tables_are_the_same(spark: SparkSession, tmp_path: Path, name: str) -> None:
    pytest.importorskip("grpc", reason="spark-pipelines needs the extra rennet[compare]")
    files, tables = PROJECTS[name]
    drop = tmp_path / "drop"
    drop.mkdir()
    (drop / "first.json").write_text(
        '{"id": 1, "kind": "a"}\n{"id": 2, "kind": "b"}\n{"id": 3, "kind": "a"}\n'
    )
    theirs = _project(tmp_path / "theirs", name, files, drop, "default")
    _spark_pipelines(theirs, tmp_path / "warehouse")
    ours = _project(tmp_path / "ours", name, files, drop, name)
    pipeline = Pipeline.open(Engine(spark), ours)
    assert pipeline.update().succeeded
    for table in tables:
        found = spark.read.parquet(str(tmp_path / "warehouse" / table))
        assert _rows(spark.table(f"{name}.{table}")) == _rows(found), table
        assert found.count() > 0
    spark.sql(f"DROP SCHEMA {name} CASCADE")


def _project(folder: Path, name: str, files: dict[str, str], drop: Path, database: str) -> Path:
    code = folder / "transformations"
    code.mkdir(parents=True)
    for file, text in files.items():
        (code / file).write_text(textwrap.dedent(text).replace("{folder}", str(drop)))
    spec = folder / "spark-pipeline.yml"
    spec.write_text(
        f"name: {name}\nstorage: {(folder / 'storage').as_uri()}\ndatabase: {database}\n"
        "libraries:\n  - glob:\n      include: transformations/**\n"
    )
    return spec


def _spark_pipelines(spec: Path, warehouse: Path) -> None:
    """Run Spark's own tool, with the Python and the Spark of these tests."""
    tools = Path(sys.executable).parent
    environment = {
        **os.environ,
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }
    environment.pop("SPARK_HOME", None)
    made = subprocess.run(
        [tools / "spark-pipelines", "run", "--spec", spec, "--conf", f"spark.sql.warehouse.dir={warehouse}"],
        check=False, env=environment, cwd=spec.parent, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert made.returncode == 0, made.stdout[-2000:] + made.stderr[-2000:]


def _rows(frame: DataFrame) -> Counter[tuple[object, ...]]:
    return Counter(tuple(row) for row in frame.select(*sorted(frame.columns)).collect())

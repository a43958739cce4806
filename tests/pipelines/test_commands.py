"""`rennet init`, `dry-run` and `run`, as the command line calls them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rennet import Engine
from rennet.cli.commands import Context, UsageError
from rennet.cli.main import RUN, main, parser
from rennet.cli.output import Output
from rennet.cli.progress import Activity
from tests.pipelines.tables import tables


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    before = Path.cwd()
    os.chdir(tmp_path)
    yield tmp_path
    os.chdir(before)


def call(spark: SparkSession, *arguments: str) -> int:
    options = parser().parse_args(arguments)
    return RUN[options.command](Context(Engine(spark), options, Output(), Activity(False)))


def test_a_new_project_runs(spark: SparkSession, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "--name", "fresh"]) == 0
    assert main(["init", "--name", "fresh"]) == 3
    spec = folder / "fresh" / "spark-pipeline.yml"
    spec.write_text(spec.read_text() + "database: fresh_project\n")
    os.chdir(folder / "fresh" / "transformations")
    assert call(spark, "dry-run") == 0
    assert "remainders" in capsys.readouterr().out
    assert tables(spark, "fresh_project") == []
    assert call(spark, "run", "--refresh", "numbers,remainders") == 0
    said = capsys.readouterr().out
    assert "COMPLETED" in said and "update 1: 2 completed" in said
    assert spark.table("fresh_project.remainders").count() == 7
    remainders = folder / "fresh" / "transformations" / "remainders.sql"
    remainders.write_text(
        "CREATE MATERIALIZED VIEW a AS SELECT * FROM b;\nCREATE MATERIALIZED VIEW a AS SELECT 1"
    )
    assert call(spark, "dry-run") == 3
    said = capsys.readouterr().out
    assert (
        "remainders.sql:1: [TABLE_OR_VIEW_NOT_FOUND]" in said and "remainders.sql:2: [DUPLICATE_NAME]" in said
    )
    (folder / "fresh" / "transformations" / "numbers.py").write_text("\n1 / 0")
    remainders.write_text("SELECT 1;")
    (folder / "fresh" / "transformations" / "typing.py").write_text("def f(:\n")
    assert call(spark, "run") == 3
    said = capsys.readouterr().out
    assert "numbers.py:2: [FILE_FAILED] ZeroDivisionError" in said
    assert "remainders.sql:1: [PARSE_ERROR]" in said and "typing.py:1: [FILE_FAILED] SyntaxError" in said
    spark.sql("DROP SCHEMA fresh_project CASCADE")


def test_wrong_usage_is_refused(folder: Path) -> None:
    options = parser().parse_args(["run", "--full-refresh-all", "--refresh", "a", "--spec", "no.yml"])
    with pytest.raises(UsageError, match="goes alone"):
        RUN["run"](Context(None, options, Output(), Activity(False)))  # type: ignore[arg-type]
    options = parser().parse_args(["dry-run", "--spec", "no.yml"])
    with pytest.raises(UsageError, match=r"no\.yml"):
        RUN["dry-run"](Context(None, options, Output(), Activity(False)))  # type: ignore[arg-type]

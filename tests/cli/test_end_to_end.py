"""Command lines on a real engine."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from rennet.cli import main as cli
from rennet.cli.main import main

Run = Callable[..., Any]


@pytest.fixture
def schema(spark: SparkSession) -> Iterator[str]:
    """A schema of its own for the unqualified names of a test."""
    spark.sql("CREATE SCHEMA command_line")
    spark.catalog.setCurrentDatabase("command_line")
    yield "command_line"
    spark.catalog.setCurrentDatabase("default")
    spark.sql("DROP SCHEMA command_line CASCADE")


@pytest.fixture
def run(
    spark: SparkSession, schema: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Runs a command line on the shared session; gives the document it printed."""
    monkeypatch.setattr(cli, "session", lambda _: spark)
    monkeypatch.setattr(cli, "close", lambda _: None)

    def run(*arguments: str, code: int = 0) -> Any:
        assert main([*arguments, "--json"]) == code
        return json.loads(capsys.readouterr().out)

    return run


def test_the_life_of_a_view(run: Run, tmp_path: Path) -> None:
    script = tmp_path / "script.sql"
    script.write_text(
        "CREATE TABLE t (k INT, x INT); INSERT INTO t VALUES (1, 2), (1, 3), (2, 5); -- and a view\n"
        "CREATE MATERIALIZED VIEW v AS SELECT k, sum(x) AS total FROM t GROUP BY k;"
    )
    created = run("sql", "-f", str(script))["results"][-1]
    assert dict(zip([c["name"] for c in created["columns"]], created["rows"][0], strict=True))["view"] == (
        "command_line.v"
    )
    run("sql", "INSERT INTO t VALUES (2, 7)")
    assert run("explain", "v")["technique"] == "GROUP_AGGREGATE"
    refreshed = run("refresh", "v")
    assert (refreshed["technique"], refreshed["rows_deleted"], refreshed["rows_inserted"]) == (
        "GROUP_AGGREGATE", 1, 1,
    )  # fmt: skip
    assert run("verify", "v")["equal"] is True
    assert run("sql", "SELECT * FROM v ORDER BY k")["results"][0]["rows"] == [[1, 5], [2, 12]]
    assert [r["technique"] for r in run("history", "v", "--limit", "1")["refreshes"]] == ["GROUP_AGGREGATE"]
    assert ("command_line", "v") in [(view["schema"], view["name"]) for view in run("show")["views"]]
    run("sql", "DROP MATERIALIZED VIEW v")
    assert run("refresh", "v", code=3)["error"]["code"] == "MATERIALIZED_VIEW_NOT_FOUND"


def test_what_spark_refuses_is_explained(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    error = run("sql", "SELECT * FROM nowhere", code=3)["error"]
    assert error["code"] == "TABLE_OR_VIEW_NOT_FOUND"
    assert error["message"].startswith("The table or view `nowhere` cannot be found.")


def test_the_demo(run: Run) -> None:
    found = run("demo", "--customers", "50", "--orders", "2000")
    assert found["agrees"] is True
    techniques = [step["technique"] for step in found["steps"]]
    assert techniques[0] == "COMPLETE_RECOMPUTE" and techniques[-2:] == ["NO_OP", "NO_OP"]
    assert "GROUP_AGGREGATE" in techniques
    assert all(step["refresh_seconds"] > 0 and step["full_seconds"] > 0 for step in found["steps"])

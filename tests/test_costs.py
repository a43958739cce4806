"""What a view's refreshes cost is estimated, measured, remembered and shown."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from rennet import Engine
from rennet.cost.operators import Kind
from rennet.execute import maintain, metrics
from rennet.execute.costing import rates, rates_file
from rennet.jvm import Jvm
from rennet.storage.sources import checksum, delta_log

pytestmark = pytest.mark.learning


@pytest.fixture
def engine(spark: SparkSession) -> Engine:
    spark.sql("CREATE TABLE IF NOT EXISTS cost_sales (region STRING, amount INT) USING delta")
    spark.sql("INSERT OVERWRITE cost_sales VALUES ('north', 1), ('south', 2), ('south', 3)")
    return Engine(spark)


def test_estimates_are_kept_beside_what_was_spent(spark: SparkSession, engine: Engine) -> None:
    query = "SELECT region, SUM(amount) AS total FROM cost_sales GROUP BY region"
    engine.create_materialized_view("cost_totals", query, replace=True)
    spark.sql("INSERT INTO cost_sales VALUES ('north', 7)")
    told = engine.explain("cost_totals")
    chosen = next(each for each in told.techniques if each["chosen"])
    assert chosen["estimate"] == pytest.approx(sum(p["seconds"] for p in chosen["operators"]), rel=0.5)
    assert "Estimated cost of GROUP_AGGREGATE" in str(told)
    result = engine.refresh("cost_totals")
    spark.sql("INSERT INTO cost_sales VALUES ('north', 8)")
    bases = {
        p["basis"] for each in engine.explain("cost_totals").techniques for p in each.get("operators", ())
    }
    assert f"version {result.version}" in bases
    last = engine.explain("cost_totals").last
    assert last is not None and last["technique"] == "GROUP_AGGREGATE"
    assert last["error"] == pytest.approx(last["estimate"] / last["cpu_seconds"], abs=0.01)
    assert "was expected" in str(engine.explain("cost_totals"))
    row = engine.history("cost_totals").first()
    assert row is not None
    assert row.technique == "GROUP_AGGREGATE" and row.cpu_seconds > 0 and row.estimated_cpu_seconds > 0
    assert row.operators[0].seconds > 0
    of_all = engine.history().where("view LIKE '%cost_totals'").drop("view").collect()
    assert of_all == engine.history("cost_totals").collect() and len(of_all) == 2
    engine.drop("cost_totals")


def test_what_operators_took_is_on_record(
    spark: SparkSession, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark's stages and metrics, joined to the plans that ran: together they took what the refresh took."""
    monkeypatch.setattr(metrics, "WORTH_DIVIDING", 0.0)
    monkeypatch.setattr(metrics, "WORTH_READING", 0.0)
    query = "SELECT id % 50000 AS k, SUM(id) AS total FROM cost_numbers GROUP BY 1"
    spark.sql("CREATE OR REPLACE TABLE cost_numbers USING delta AS SELECT id FROM range(200000)")
    engine.create_materialized_view("cost_operators", query, replace=True)
    row = engine.history("cost_operators").first()
    assert row is not None
    assert sum(each.seconds for each in row.spent) == pytest.approx(row.cpu_seconds, rel=0.2)
    assert {"scan", "aggregate", "write"} <= {each.kind for each in row.spent}
    assert max(each.rows for each in row.spent if each.kind == "scan") == 200_000
    assert max(each.rows for each in row.spent if each.kind == "write") == 50_000
    engine.drop("cost_operators")
    spark.sql("DROP TABLE cost_numbers")


def test_rows_of_the_view_are_counted(spark: SparkSession, engine: Engine) -> None:
    engine.create_materialized_view(
        "cost_rows", "SELECT amount FROM cost_sales WHERE amount > 1", replace=True
    )
    spark.sql("INSERT INTO cost_sales VALUES ('west', 7), ('west', 8)")
    spark.sql("DELETE FROM cost_sales WHERE amount = 2")
    engine.refresh("cost_rows")
    provenance = engine.find("cost_rows").provenance
    assert provenance is not None and provenance.rows == spark.table("cost_rows").count() == 3
    engine.drop("cost_rows")


def test_small_files_are_put_together(
    spark: SparkSession, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintain, "TOO_MANY", 3)
    engine.create_materialized_view("cost_files", "SELECT region, amount FROM cost_sales", replace=True)
    engine.create_materialized_view("cost_below", "SELECT region FROM cost_files", replace=True)
    for amount in range(3):
        spark.sql(f"INSERT INTO cost_sales VALUES ('north', {amount})")
        engine.refresh("cost_files")
        engine.refresh("cost_below")
    reasons = [row.reason for row in engine.history("cost_files").collect()]
    assert sum(reason.startswith("maintenance: of ") for reason in reasons) == 1
    path = engine.find("cost_files").path
    assert len(spark.read.format("delta").load(path).inputFiles()) <= 2
    assert engine.refresh("cost_below").technique == "NO_OP"
    assert engine.verify("cost_files").equal and engine.verify("cost_below").equal
    engine.drop("cost_below")
    engine.drop("cost_files")


def _marked(engine: Engine, name: str) -> int:
    """The rows of a view's table that are deleted and still read."""
    snapshot = delta_log(Jvm.of(engine.spark), engine.find(name).path).update(
        False, *[Jvm.of(engine.spark).none] * 2
    )
    noted = checksum(Jvm.of(engine.spark), snapshot)
    assert noted is not None
    return maintain.State.of(Jvm.of(engine.spark), noted).marked


@pytest.mark.parametrize(
    ("constants", "changes"),
    [
        (
            {"TOO_OFTEN": 2, "IN_VAIN": 1},
            ["INSERT INTO {t} VALUES (100)", "UPDATE {t} SET k = 7 WHERE k = 8"],
        ),
        ({"LARGE": 1}, ["DELETE FROM {t} WHERE k < 5", "DELETE FROM {t} WHERE k < 15"]),
    ],
    ids=["a small view whose readers met a few deleted rows often enough", "a large file with many"],
)
def test_deleted_rows_are_left_out(
    spark: SparkSession,
    engine: Engine,
    monkeypatch: pytest.MonkeyPatch,
    constants: dict[str, float],
    changes: list[str],
) -> None:
    for name, value in constants.items():
        monkeypatch.setattr(maintain, name, value)
    spark.sql("CREATE OR REPLACE TABLE cost_keys USING delta AS SELECT id AS k FROM range(0, 100, 1, 1)")
    for name, source in (("cost_marked", "cost_keys"), ("cost_below", "cost_marked")):
        engine.create_materialized_view(name, f"SELECT k FROM {source}", replace=True, policy="INCREMENTAL")
    before, after = changes
    for change in (before, "DELETE FROM {t} WHERE k = 50"):
        spark.sql(change.format(t="cost_keys"))
        engine.refresh("cost_marked")
    assert _marked(engine, "cost_marked") > 0
    spark.sql(after.format(t="cost_keys"))
    assert engine.refresh("cost_marked").technique == "ROW_BASED"
    assert _marked(engine, "cost_marked") == 0
    assert "deleted rows were left out" in engine.history("cost_marked").first()["reason"]  # type: ignore[index]
    assert engine.refresh("cost_below").technique != "NO_OP"
    engine.refresh("cost_marked", full=False)
    assert engine.refresh("cost_below").technique == "NO_OP"
    assert engine.verify("cost_marked").equal and engine.verify("cost_below").equal
    for name in ("cost_below", "cost_marked"):
        engine.drop(name)
    spark.sql("DROP TABLE cost_keys")


@pytest.mark.slow
def test_rates_can_be_measured(spark: SparkSession, engine: Engine) -> None:
    file = rates_file(str(spark.conf.get("spark.sql.warehouse.dir")))
    assert file is not None
    try:
        measured = engine.calibrate(rows=20_000)
        assert set(measured) == set(Kind) and min(measured.values()) > 0
        assert rates(str(spark.conf.get("spark.sql.warehouse.dir")))[Kind.SCAN] == pytest.approx(
            measured[Kind.SCAN], rel=0.1, abs=1e-10
        )
    finally:
        file.unlink(missing_ok=True)
        rates.cache_clear()

"""The run, end to end at a small scale: every view stays right by incremental refreshes alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from rennet.bench.tpcdi.run.check import QUERY
from rennet.bench.tpcdi.run.decide import FULL, decisions
from rennet.bench.tpcdi.run.record import Record
from rennet.bench.tpcdi.run.runner import FORCED, INGESTED, PIPELINES, Plan, Runner
from rennet.bench.tpcdi.run.summary import Summary
from rennet.bench.tpcdi.run.workload import EVALUATED, workload
from rennet.bench.tpcdi.settings import Settings
from rennet.errors import Policy
from tests.bench.tpcdi.conftest import Folder, made

pytestmark = pytest.mark.slow

PLAN = Plan(
    variant="paper",
    pipelines=("AUTO",),
    views=("FactHoldings",),
    forced_from=3,
    every_judge=False,
    policy=Policy.INCREMENTAL_STRICT,  # a refresh that is not incremental fails
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    return made(tmp_path_factory.mktemp("run"), Settings(scale=0.05, batches=3, seed=3))


@pytest.fixture(scope="module")
def record(spark: SparkSession, folder: Folder) -> Iterator[Record]:
    about = {"settings": {"scale": folder.settings.scale}, "variant": PLAN.variant}
    found = Record.new(about, None)
    Runner(spark, workload(), folder.path, found, PLAN, print).run()
    yield found
    for schema in (FORCED, *PIPELINES.values(), INGESTED):
        spark.sql(f"DROP SCHEMA {schema} CASCADE")


def test_every_view_is_right_after_every_batch(record: Record) -> None:
    checks = record.document["checks"]
    assert [each for each in checks if not each["ok"]] == []
    judged = [(each["batch"], each["subject"]) for each in checks]
    assert judged == [(batch, view) for batch in (2, 3) for view in EVALUATED]
    by_query = {each["subject"] for each in checks if each["by"] == QUERY}
    assert by_query == {"DimCustomer"}  # DuckDB's table lacks some of its columns


def test_every_view_is_refreshed_incrementally(record: Record) -> None:
    for batch in (2, 3):
        entries = record.find("refreshes", batch=batch, mode="AUTO")
        techniques = {each["view"]: each["technique"] for each in entries}
        assert all(techniques[view] not in (FULL, "NO_OP") for view in EVALUATED)
        assert {techniques[view] for view in techniques if view not in EVALUATED} == {"NO_OP"}
    assert Summary(record).maintainable() == list(EVALUATED)


def test_measurements_add_up(record: Record) -> None:
    for each in record.find("refreshes", mode="AUTO"):
        if each["technique"] == "NO_OP":
            assert each["load"] == []
            continue
        assert each["cpu_seconds"] > 0
        assert each["tasks"] >= each["peak_tasks"] >= 1
        assert each["load"][-1][1] == 0
        assert each["rows_read"] > 0


def test_techniques_forced_on_the_same_change_do_the_same(record: Record) -> None:
    (chosen,) = record.find("refreshes", batch=3, mode="AUTO", view="FactHoldings")
    (rows,) = record.find("forced", view="FactHoldings", asked=chosen["technique"])
    (full,) = record.find("forced", view="FactHoldings", asked=FULL)
    for name in ("rows_inserted", "rows_deleted"):
        assert rows[name] == chosen[name]
    assert rows["sources"] == chosen["sources"]
    assert full["technique"] == FULL
    assert full["rows_inserted"] > rows["rows_inserted"]


def test_decisions_are_judged_where_techniques_were_forced(record: Record) -> None:
    found = decisions(record)
    assert {each.view for each in found} == set(EVALUATED)
    judged = [(each.batch, each.view) for each in found if each.right is not None]
    assert judged == [(3, "FactHoldings")]


def test_what_was_done_is_not_done_again(spark: SparkSession, folder: Folder, record: Record) -> None:
    before = {name: list(each) for name, each in record.document.items() if isinstance(each, list)}
    Runner(spark, workload(), folder.path, record, PLAN, print).run()
    assert {name: record.document[name] for name in before} == before

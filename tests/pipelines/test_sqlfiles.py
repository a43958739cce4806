"""Pipelines' .sql files: what each statement defines, and where errors are."""

from __future__ import annotations

import pytest

from rennet.errors import PipelineError, Policy
from rennet.pipelines.definitions import Action, DatasetKind, Expectation
from rennet.pipelines.sqlfiles import read_sql

PROJECT = """-- a project
SET spark.sql.ansi.enabled = false;
USE SCHEMA silver;

CREATE OR REFRESH STREAMING TABLE raw (id INT, tags MAP<STRING, INT> COMMENT 'x, y',
  CONSTRAINT good EXPECT (id > 0 AND f(id)) ON VIOLATION DROP ROW)
  COMMENT 'raw' PARTITIONED BY (id)
AS SELECT * FROM STREAM(bronze.events);

CREATE MATERIALIZED VIEW totals (total COMMENT 'sum') REFRESH POLICY INCREMENTAL
  TBLPROPERTIES ('a' = 'b') AS SELECT sum(id) FROM raw;
CREATE TEMPORARY VIEW v AS SELECT 1 AS one;
CREATE STREAMING TABLE people;
CREATE FLOW more AS INSERT INTO ONCE raw BY NAME SELECT ';' AS x;
CREATE FLOW keep AS AUTO CDC INTO people FROM STREAM(changes)
  KEYS (id, `the key`) IGNORE NULL UPDATES
  APPLY AS DELETE WHEN op = 'KEYS' SEQUENCE BY struct(a, b)
  COLUMNS * EXCEPT (op, a) STORED AS SCD TYPE 2 TRACK HISTORY ON name, city
"""


def test_every_statement_is_read() -> None:
    found = read_sql(PROJECT, "a.sql", None)
    raw, totals = found.datasets[:2]
    assert [d.kind for d in found.datasets] == [
        DatasetKind.STREAMING_TABLE,
        DatasetKind.MATERIALIZED_VIEW,
        DatasetKind.TEMPORARY_VIEW,
        DatasetKind.STREAMING_TABLE,
    ]
    assert (raw.schema, raw.partitioned_by) == ("id INT, tags MAP<STRING, INT> COMMENT 'x, y'", ("id",))
    assert raw.expectations == (Expectation("good", "id > 0 AND f(id)", Action.DROP),)
    assert (totals.columns, totals.policy, totals.properties) == (
        (("total", "sum"),),
        Policy.INCREMENTAL,
        {"a": "b"},
    )
    assert [str(d.location) for d in found.datasets] == ["a.sql:5", "a.sql:10", "a.sql:12", "a.sql:13"]
    assert [f.name for f in found.flows] == ["raw", "totals", "v", "more", "keep"]
    assert found.flows[0].query == "SELECT * FROM STREAM(bronze.events)"
    assert (found.flows[0].database, found.flows[0].conf) == ("silver", {"spark.sql.ansi.enabled": "false"})
    assert found.flows[3].once and found.flows[3].query == "SELECT ';' AS x"


def test_auto_cdc_is_read() -> None:
    flow = read_sql(PROJECT, "a.sql", None).flows[-1]
    options = flow.cdc
    assert options is not None
    assert (flow.target, flow.source, options.keys) == ("people", "changes", ("id", "the key"))
    assert (options.apply_as_deletes, options.sequence_by) == ("op = 'KEYS'", ("struct(a, b)",))
    assert (options.except_column_list, options.scd_type) == (("op", "a"), 2)
    assert options.track_history_column_list == ("name", "city") and options.ignore_null_updates


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\n\nSELECT 1", r"b\.sql:3: .*expected CREATE, SET or USE"),
        ("CREATE MATERIALIZED VIEW x", r"b\.sql:1: .*expected AS and a query"),
        ("CREATE STREAMING TABLE x (a)", "need types"),
        ("CREATE FLOW f AS INSERT INTO t SELECT 1", "expected BY"),
        ("CREATE FLOW f AS AUTO CDC INTO t FROM STREAM(s) KEYS (k)", "no sequence"),
        (
            "CREATE FLOW f AS AUTO CDC INTO t FROM STREAM(s) KEYS (k) SEQUENCE BY n STORED AS SCD TYPE 3",
            "1 or 2",
        ),
        ("USE CATALOG other", "spark_catalog"),
    ],
)
def test_errors_say_where_and_what(text: str, said: str) -> None:
    with pytest.raises(PipelineError, match=said):
        read_sql(text, "b.sql", None)

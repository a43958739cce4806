"""CREATE OR REPLACE with a definition that differs in little: the rows are kept, and are right."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import udf

from rennet import Engine, Technique
from rennet.execute.record import RefreshResult
from tests.schemas import in_schema

FULL = Technique.COMPLETE_RECOMPUTE


@pytest.fixture
def engine(spark: SparkSession) -> Iterator[Engine]:
    with in_schema(spark, "carried"):
        spark.sql("CREATE TABLE t (id INT, g STRING, k INT, x INT, d DATE) USING delta")
        spark.sql(
            "INSERT INTO t SELECT id, substr('xyz', id % 3 + 1, 1), id % 4, IF(id % 7 = 0, NULL, id),"
            " date_add(DATE'2024-01-01', id) FROM (SELECT CAST(id AS INT) AS id FROM range(24))"
        )
        spark.sql("CREATE TABLE u (k INT, name STRING) USING delta")
        spark.sql("INSERT INTO u VALUES (0, 'nil'), (1, 'one'), (2, 'two'), (2, 'deux')")
        yield Engine(spark)


def replaced(engine: Engine, query: str, name: str = "v") -> RefreshResult:
    result = engine.create_materialized_view(name, query, replace=True)
    assert result is not None
    verified = engine.verify(name)
    assert verified, (query, verified)
    assert engine.find(name).definition.query == query
    assert engine.refresh(name).technique is Technique.NO_OP
    return result


CONSTANTS = {
    "dates": ("SELECT id FROM t WHERE d >= DATE{}", "'2024-01-05'", "'2024-01-12'"),
    "texts": ("SELECT id FROM t WHERE d >= {}", "'2024-01-05'", "'2024-01-12'"),
    "lists": ("SELECT id FROM t WHERE g IN ('z', {})", "'x'", "'y'"),
    "patterns": ("SELECT id FROM t WHERE concat(g, id) LIKE {}", "'x1%'", "'_2%'"),
    "extremes": ("SELECT k, max(x) AS m FROM t WHERE x < {} GROUP BY k", "20", "12"),
    "outer_joins": (
        "SELECT t.id, u.name FROM t LEFT JOIN u ON t.k = u.k AND u.name <> {}", "'one'", "'two'",
    ),
    "sums": ("SELECT k, sum(x) AS s, count(*) AS n FROM t WHERE g = {} GROUP BY k", "'x'", "'y'"),
    "joins": ("SELECT t.id, u.name FROM t JOIN u ON t.k = u.k WHERE t.g = {}", "'x'", "'y'"),
    "subqueries": ("SELECT id FROM t WHERE k IN (SELECT k FROM u WHERE name = {})", "'one'", "'two'"),
    "counted_cases": (
        "SELECT g, sum(CASE WHEN x < {} THEN 1 ELSE 0 END) AS n FROM t GROUP BY g", "5", "9",
    ),
}  # fmt: skip


def test_constants_are_carried(engine: Engine) -> None:
    """The first half with sources that stand still, the second with sources that change as well."""
    for name, (query, before, _) in CONSTANTS.items():
        engine.create_materialized_view(name, query.format(before))
    for number, (name, (query, _, after)) in enumerate(CONSTANTS.items()):
        if number == len(CONSTANTS) // 2:
            engine.sql("UPDATE t SET g = 'y', x = x + 1 WHERE id % 5 = 1")
            engine.sql("DELETE FROM t WHERE id IN (2, 4, 9)")
            engine.sql("INSERT INTO t VALUES (100, 'y', 2, 9, DATE'2024-01-13'), (101, 'x', NULL, 4, NULL)")
            engine.sql("UPDATE u SET name = 'two' WHERE name = 'one'")
        backing = engine.find(name).backing
        result = replaced(engine, query.format(after), name)
        assert result.technique is not FULL, f"{name}: {result.reason}"
        assert "only a constant changed" in result.reason
        assert engine.find(name).backing == backing


def test_what_is_carried_is_said(engine: Engine) -> None:
    engine.create_materialized_view("v", "SELECT id FROM t WHERE g = 'x' AND x > 3", comment="old")
    result = engine.sql(
        "CREATE OR REPLACE MATERIALIZED VIEW v COMMENT 'new' AS SELECT id FROM t WHERE g = 'y' AND x > 5"
    ).first()
    assert result is not None
    assert result.technique == Technique.ROW_BASED
    assert "only constants changed: 'x' became 'y', 3 became 5" in result.reason
    assert engine.verify("v")
    view = engine.find("v")
    assert view.definition.comment == "new"
    assert view.provenance is not None
    assert view.provenance.reason == result.reason


DIFFERENT = {
    "columns": ("SELECT id FROM t WHERE k = 1", "SELECT id FROM t WHERE x = 1"),
    "operators": ("SELECT id FROM t WHERE x > 3", "SELECT id FROM t WHERE x >= 3"),
    "types": ("SELECT id FROM t WHERE x > 3", "SELECT id FROM t WHERE x > 3.5"),
    "both": ("SELECT id FROM t WHERE x > 3", "SELECT id FROM t WHERE x < 5"),
    "shown": ("SELECT id, x * 2 AS y FROM t", "SELECT id, x * 3 AS y FROM t"),
    "counts": ("SELECT id FROM t ORDER BY id LIMIT 3", "SELECT id FROM t ORDER BY id LIMIT 5"),
    "tables": ("SELECT k FROM t WHERE k = 1", "SELECT k FROM u WHERE k = 1"),
    "frames": (
        "SELECT id, sum(x) OVER (ORDER BY id ROWS 2 PRECEDING) AS s FROM t",
        "SELECT id, sum(x) OVER (ORDER BY id ROWS 3 PRECEDING) AS s FROM t",
    ),
    "nulls": ("SELECT id FROM t WHERE x <=> 3", "SELECT id FROM t WHERE x <=> NULL"),
}


def test_anything_else_is_computed_anew(engine: Engine) -> None:
    for name, (before, after) in DIFFERENT.items():
        engine.create_materialized_view(name, before)
        result = replaced(engine, after, name)
        assert result.technique is FULL, name
        assert result.reason.startswith("QUERY_FINGERPRINT_CHANGED"), name


def test_a_policy_of_full_computes_anew(engine: Engine) -> None:
    engine.create_materialized_view("v", "SELECT id FROM t WHERE g = 'x'")
    result = engine.create_materialized_view(
        "v", "SELECT id FROM t WHERE g = 'y'", replace=True, policy="FULL"
    )
    assert result is not None
    assert result.technique is FULL
    assert "REQUESTED" in result.reason
    assert engine.verify("v")


def test_a_view_below_that_changed_cannot_be_carried(engine: Engine) -> None:
    engine.sql("CREATE VIEW base AS SELECT * FROM t WHERE k = 1")
    engine.create_materialized_view("v", "SELECT id FROM base WHERE g = 'x'")
    engine.sql("CREATE OR REPLACE VIEW base AS SELECT * FROM t WHERE k = 2")
    result = replaced(engine, "SELECT id FROM base WHERE g = 'y'")
    assert result.technique is FULL
    assert "no longer means what is stored" in result.reason


COLUMNS = {
    "equals": (
        "SELECT g, sum(IF(x > 5, 1, 0)) AS a, sum(IF(x > 6, 1, 0)) AS b FROM t GROUP BY g",
        "SELECT g, sum(IF(x > 6, 1, 0)) AS a, sum(IF(x > 6, 1, 0)) AS b FROM t GROUP BY g",
    ),
    "dropped": ("SELECT id, g, x FROM t WHERE x > 3", "SELECT id, x FROM t WHERE x > 3"),
    "renamed": ("SELECT id, g, x FROM t WHERE x > 3", "SELECT x AS y, id, g AS name FROM t WHERE x > 3"),
    "computed": ("SELECT id, x FROM t", "SELECT id, x, x * 2 AS twice, upper(x) AS shown FROM t"),
    "joined": (
        "SELECT t.id, t.g, u.name FROM t JOIN u ON t.k = u.k",
        "SELECT u.name, t.id FROM t JOIN u ON t.k = u.k",
    ),
    "fewer_sums": (
        "SELECT g, sum(x) AS s, count(*) AS n, max(id) AS m FROM t GROUP BY g",
        "SELECT g, count(*) AS n FROM t GROUP BY g",
    ),
    "averages": (
        "SELECT g, sum(x) AS s FROM t GROUP BY g",
        "SELECT g, sum(x) AS s, avg(x) AS mean, count(x) AS n FROM t GROUP BY g",
    ),
    "having": (
        "SELECT k, count(*) AS n, sum(x) AS s FROM t GROUP BY k, g HAVING count(*) > 2",
        "SELECT k, sum(x) AS s, count(*) AS n FROM t GROUP BY k, g HAVING count(*) > 1",
    ),
    "medians": (
        "SELECT k, median(x) AS m, max(x) AS top FROM t GROUP BY k",
        "SELECT k, median(x) AS m FROM t GROUP BY k",
    ),
    "ranks": (
        "SELECT id, g, sum(x) OVER (PARTITION BY k ORDER BY id) AS s FROM t",
        "SELECT sum(x) OVER (PARTITION BY k ORDER BY id) AS s, id, g, id + 1 AS more FROM t",
    ),
}


def test_columns_are_carried_over(engine: Engine) -> None:
    for name, (before, _) in COLUMNS.items():
        engine.create_materialized_view(name, before)
    for number, (name, (_, after)) in enumerate(COLUMNS.items()):
        if number == len(COLUMNS) // 2:
            engine.sql("UPDATE t SET g = 'y', x = x + 1 WHERE id % 5 = 1")
            engine.sql("DELETE FROM t WHERE id IN (2, 4, 9)")
        result = replaced(engine, after, name)
        assert result.technique is Technique.CARRY_OVER, f"{name}: {result.reason}"
        assert ("; then" in result.reason) == (number >= len(COLUMNS) // 2)
    engine.sql("INSERT INTO t VALUES (100, 'y', 2, 9, DATE'2024-01-13'), (101, 'x', NULL, NULL, NULL)")
    engine.sql("DELETE FROM t WHERE id IN (3, 10, 11)")
    for name in COLUMNS:
        assert engine.refresh(name).technique is not FULL, name
        assert engine.verify(name), name


def test_columns_that_are_not_stored_are_computed_anew(engine: Engine) -> None:
    for name, (before, after) in {
        "another": ("SELECT id, g FROM t", "SELECT id, g, x FROM t"),
        "moved": ("SELECT id, x + k AS s FROM t", "SELECT id, x FROM t"),
        "sums": ("SELECT g, sum(x) AS s FROM t GROUP BY g", "SELECT g, sum(k) AS s FROM t GROUP BY g"),
        "groups": (
            "SELECT g, k, count(*) AS n FROM t GROUP BY g, k",
            "SELECT g, count(*) AS n FROM t GROUP BY g",
        ),
        "filters": ("SELECT id, x FROM t", "SELECT id FROM t WHERE x > 3"),
    }.items():
        engine.create_materialized_view(name, before)
        result = replaced(engine, after, name)
        assert result.technique is FULL, name
        assert "the stored rows do not tell the new ones" in result.reason


def test_explain_says_what_replacing_would_do(engine: Engine) -> None:
    engine.create_materialized_view("v", "SELECT id, x FROM t WHERE g = 'x'")
    carried = engine.explain("SELECT id, x FROM t WHERE g = 'y'", replacing="v")
    assert carried.technique == Technique.ROW_BASED
    assert "'x' became 'y'" in carried.reason
    statement = "EXPLAIN CREATE OR REPLACE MATERIALIZED VIEW v AS SELECT id FROM t WHERE g = 'x'"
    (row,) = engine.sql(statement).collect()
    assert "CARRY_OVER" in row.plan
    assert "(without x)" in row.plan
    assert "Scan this view" in row.plan
    anew = engine.explain("SELECT id, x FROM t WHERE g < 'y'", replacing="v")
    assert anew.technique == FULL
    assert anew.reason.startswith("QUERY_FINGERPRINT_CHANGED")
    assert engine.verify("v")


def test_comments_and_properties_leave_the_rows_alone(engine: Engine) -> None:
    query = "SELECT id, x FROM t WHERE g = 'x'"
    engine.create_materialized_view("v", query, properties={"delta.appendOnly": "false", "owner": "a"})
    before = engine.find("v")
    properties = {"delta.checkpointInterval": "70", "owner": "b"}
    made = engine.create_materialized_view("v", query, replace=True, comment="of x", properties=properties)
    assert made is None
    after = engine.find("v")
    assert after.backing == before.backing
    assert after.provenance == before.provenance
    stored = {row.key: row.value for row in engine.sql(f"SHOW TBLPROPERTIES {after.backing.sql}").collect()}
    assert stored["delta.checkpointInterval"] == "70"
    assert "delta.appendOnly" not in stored
    shown = {row.key: row.value for row in engine.sql("SHOW TBLPROPERTIES v").collect()}
    assert shown["owner"] == "b"


def test_a_column_goes_while_time_passes(engine: Engine) -> None:
    """The rows are carried over as of their own moment, and then brought to this one."""
    engine.create_materialized_view("v", "SELECT id, x, d FROM t WHERE d < current_date()")
    result = replaced_at_any_time(engine, "SELECT id, d FROM t WHERE d < current_date()")
    assert result.technique is Technique.CARRY_OVER, result.reason


def replaced_at_any_time(engine: Engine, query: str) -> RefreshResult:
    result = engine.create_materialized_view("v", query, replace=True)
    assert result is not None
    assert engine.verify("v")
    return result


def test_functions_that_cannot_be_followed_are_noted(engine: Engine) -> None:
    def query(spark: SparkSession) -> DataFrame:
        @udf(returnType="int")
        def evaluated(x: int) -> int:
            return int(eval("x"))

        return spark.table("t").select("id", evaluated("id").alias("y"))

    engine.create_materialized_view("v", query)
    notes = engine.explain("v").notes
    assert any("evaluated" in note and "eval() may reach" in note for note in notes), notes

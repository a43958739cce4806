"""Columns whose values are computed when a row is first seen, and then kept."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf

from rennet import Engine, Technique
from rennet.errors import InvalidQueryError
from tests.schemas import in_schema

Stamps = dict[tuple[object, ...], object]


@pytest.fixture
def engine(spark: SparkSession) -> Iterator[Engine]:
    with in_schema(spark, "fixing"):
        spark.sql("CREATE TABLE notes (id INT, body STRING, score INT) USING delta")
        spark.sql("INSERT INTO notes VALUES (1, 'good', 5), (2, 'bad', 1), (2, 'bad', 1), (3, NULL, 2)")
        yield Engine(spark)


def values(spark: SparkSession, view: str, column: str) -> Stamps:
    rows = spark.table(view).collect()
    return {tuple(v for k, v in row.asDict().items() if k != column): row[column] for row in rows}


def test_when_a_row_arrived(spark: SparkSession, engine: Engine) -> None:
    """The moment of a row stays while the row does: through changes, reorganizing, and nothing at all."""
    query = "SELECT id, current_timestamp() AS seen, body FROM notes WHERE score > 1"
    engine.create_materialized_view("arrivals", query, fixed=["seen"])
    assert spark.table("arrivals").columns == ["id", "seen", "body"]
    first = values(spark, "arrivals", "seen")
    assert engine.refresh("arrivals").technique is Technique.NO_OP
    spark.sql("INSERT INTO notes VALUES (4, 'new', 9)")
    assert engine.refresh("arrivals").technique is Technique.APPEND_ONLY
    second = values(spark, "arrivals", "seen")
    assert {key: second[key] for key in first} == first
    assert second[(4, "new")] > max(first.values())  # type: ignore[type-var,operator]
    spark.sql("UPDATE notes SET score = score + 1 WHERE id <> 3")  # of no interest to the view, but for id 2
    result = engine.refresh("arrivals")
    assert result.technique is Technique.ROW_BASED and (result.rows_deleted, result.rows_inserted) == (0, 2)
    spark.sql("UPDATE notes SET body = 'worse' WHERE id = 2")
    spark.sql("DELETE FROM notes WHERE id = 3")
    engine.refresh("arrivals")
    third = values(spark, "arrivals", "seen")
    assert third[(1, "good")] == first[(1, "good")] and third[(4, "new")] == second[(4, "new")]
    assert (3, None) not in third and third[(2, "worse")] > second[(4, "new")]  # type: ignore[operator]
    verified = engine.verify("arrivals")
    assert verified and "seen" in verified.note


def test_what_a_model_said(spark: SparkSession, engine: Engine) -> None:
    """A function that never says the same twice is asked once for each row, however the others change."""
    asked = spark.sparkContext.accumulator(0)

    @udf("string")
    def label(body: str | None) -> str:
        import uuid

        asked.add(1)
        return f"{body}-{uuid.uuid4()}"

    spark.udf.register("label", label.asNondeterministic())
    query = "SELECT n.id, label(n.body) AS label, g.name FROM notes n JOIN groups g ON n.score >= g.least"
    spark.sql("CREATE TABLE groups (least INT, name STRING) USING delta")
    spark.sql("INSERT INTO groups VALUES (1, 'any'), (5, 'high')")
    created = f"CREATE MATERIALIZED VIEW labels TBLPROPERTIES ('rennet.fixed' = 'label') AS {query}"
    engine.sql(created)
    first = values(spark, "labels", "label")
    assert asked.value == spark.table("labels").count() == 5
    spark.sql("INSERT INTO groups VALUES (2, 'some')")
    spark.sql("UPDATE notes SET body = 'excellent' WHERE id = 1")
    engine.refresh("labels")
    second = values(spark, "labels", "label")
    kept = {key: value for key, value in second.items() if key[0] != 1 and key[1] != "some"}
    assert kept and kept == {key: first[key] for key in kept}
    assert all(str(value).startswith("excellent-") for key, value in second.items() if key[0] == 1)
    assert asked.value == 5 + 4  # three rows of 1, and 3 in the new group
    assert engine.verify("labels")
    assert engine.refresh("labels").technique is Technique.NO_OP


def test_when_a_total_changed(spark: SparkSession, engine: Engine) -> None:
    query = """SELECT id % 2 AS odd, SUM(score) AS total, now() AS changed FROM notes
               GROUP BY id % 2 HAVING COUNT(*) > 0"""
    engine.create_materialized_view("totals", query, fixed=["changed"])
    first = values(spark, "totals", "changed")
    spark.sql("INSERT INTO notes VALUES (5, 'x', 7), (6, 'y', 0)")
    engine.refresh("totals")
    second = values(spark, "totals", "changed")
    assert second[(0, 2)] == first[(0, 2)], "a group whose row is the same keeps its moment"
    assert second[(1, 14)] > first[(1, 7)]  # type: ignore[operator]
    assert engine.verify("totals")


def test_what_cannot_be_fixed(engine: Engine) -> None:
    for query, why in (
        ("SELECT id FROM notes", "no column seen"),
        ("SELECT now() AS seen FROM notes", "no other column"),
        ("SELECT DISTINCT id, now() AS seen FROM notes", "GROUP BY"),
        ("SELECT id, seen FROM (SELECT id, rand() AS seen FROM notes) WHERE seen > 0.5", "chosen by it"),
        ("SELECT id, seen, seen + 1 AS next FROM (SELECT id, rand() AS seen FROM notes)", "computed from it"),
        ("SELECT id, now() AS seen, rand() AS other FROM notes", "recomputed at every refresh"),
        ("SELECT a.id, seen FROM notes a JOIN (SELECT id, rand() AS seen FROM notes) b ON a.id = b.id",
         "outermost SELECT"),
    ):  # fmt: skip
        with pytest.raises(InvalidQueryError, match=why):
            engine.create_materialized_view("refused", query, fixed=["seen"])

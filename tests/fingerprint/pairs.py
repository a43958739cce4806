# ruff: noqa: E501
"""Pairs of queries: those that mean the same, and those that look alike and do not.

A query is SQL text or a function of the session. The tables are those of `SETUP`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

Query = str | Callable[[SparkSession], DataFrame]
Pair = tuple[Query, Query]

SETUP = (
    """CREATE TABLE t (id INT, big BIGINT, d DECIMAL(10,2), s STRING, ts TIMESTAMP, arr ARRAY<INT>,
       st STRUCT<a: INT, b: STRING>, f DOUBLE, day DATE, flag BOOLEAN)""",
    "CREATE TABLE u (id INT, t_id INT, kind STRING, amount DECIMAL(10,2))",
    "CREATE TABLE w (id INT, u_id INT, note STRING)",
    "CREATE TABLE t2 (id INT, big BIGINT, d DECIMAL(10,2), s STRING)",
    "CREATE VIEW v_t AS SELECT id, s, d FROM t WHERE id > 1",
    "CREATE VIEW v_chain AS SELECT id AS k, s FROM v_t WHERE s = 'x'",
    "CREATE VIEW v_all AS SELECT * FROM t",
)


def table(name: str) -> Callable[[SparkSession], DataFrame]:
    return lambda spark: spark.table(name)


def frame(build: Callable[[DataFrame], DataFrame]) -> Callable[[SparkSession], DataFrame]:
    """A query on `t`."""
    return lambda spark: build(spark.table("t"))


def frames(build: Callable[[DataFrame, DataFrame], DataFrame]) -> Callable[[SparkSession], DataFrame]:
    """A query on `t` and `u`."""
    return lambda spark: build(spark.table("t").alias("t"), spark.table("u").alias("u"))


def where(condition: str) -> str:
    return f"SELECT id FROM t WHERE {condition}"


def select(expression: str) -> str:
    return f"SELECT {expression} AS x FROM t"


JOINED = "FROM t JOIN u ON t.id = u.t_id"
PLUS_ONE = "SELECT id, id + 1 AS n FROM t"

OUTER_NULLIF = "SELECT t.id, l.x FROM t CROSS JOIN LATERAL (SELECT nullif(t.id, 5) AS x) AS l"
INNER_NULLIF = "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE nullif(u.id, 5) = t.id)"
NESTED_NULLIF = "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE nullif(nullif(u.id, 5), t.id) = 3)"

EQUAL: dict[str, Pair] = {
    # functions that the optimizer replaces everywhere but in subqueries
    "replaced, of an outer column": (OUTER_NULLIF, "SELECT id, nullif(id, 5) AS x FROM t"),
    "replaced, of an inner column": (INNER_NULLIF, INNER_NULLIF),
    "replaced, in one another": (NESTED_NULLIF, NESTED_NULLIF.replace("u.id", "id")),
    # how it is written
    "case and space": ("select  ID as id\nfrom T where ID > 1", where("id > 1")),
    "comment": ("SELECT id FROM t -- all", "SELECT id FROM t"),
    "qualified": ("SELECT t.id FROM t", "SELECT id FROM t"),
    "alias of a table": ("SELECT a.id FROM t AS a", "SELECT id FROM t"),
    "alias of a subquery": ("SELECT q.id FROM (SELECT id FROM t) q", "SELECT id FROM t"),
    "alias on the way": ("SELECT k AS id FROM (SELECT id AS k FROM t)", "SELECT id FROM t"),
    "alias on the way, computed": ("SELECT k + 1 AS x FROM (SELECT id AS k FROM t)", select("id + 1")),
    "column nobody uses": ("SELECT id FROM (SELECT id, s, big FROM t)", "SELECT id FROM t"),
    "computed column nobody uses": ("SELECT id FROM (SELECT id, big * 2 AS z FROM t)", "SELECT id FROM t"),
    "star": ("SELECT * FROM u", "SELECT id, t_id, kind, amount FROM u"),
    "common table expression": ("WITH q AS (SELECT id FROM t WHERE id > 1) SELECT id FROM q", where("id > 1")),
    "a chain of them": (
        "WITH q AS (SELECT id FROM t), r AS (SELECT id FROM q WHERE id > 1) SELECT id FROM r", where("id > 1"),
    ),
    "view": ("SELECT id, s FROM v_t", "SELECT id, s FROM t WHERE id > 1"),
    "chain of views": ("SELECT k, s FROM v_chain", "SELECT id AS k, s FROM t WHERE id > 1 AND s = 'x'"),
    "view of everything": ("SELECT id, big FROM v_all", "SELECT id, big FROM t"),
    "order of the whole": ("SELECT id FROM t ORDER BY id", "SELECT id FROM t"),
    "order inside": ("SELECT id FROM (SELECT id FROM t ORDER BY s)", "SELECT id FROM t"),
    "hint": ("SELECT /*+ BROADCAST(u) */ t.id FROM t JOIN u ON t.id = u.t_id", f"SELECT t.id {JOINED}"),
    "pipe": ("FROM t |> WHERE id > 1 |> SELECT id", where("id > 1")),
    # conditions
    "conjuncts swapped": (where("id > 1 AND s = 'x'"), where("s = 'x' AND id > 1")),
    "three conjuncts": (where("id > 1 AND s = 'x' AND flag"), where("flag AND (id > 1 AND s = 'x')")),
    "a conjunct twice": (where("id > 1 AND id > 1"), where("id > 1")),
    "filters one after the other": ("SELECT id FROM (SELECT * FROM t WHERE id > 1) WHERE s = 'x'",
                                    where("s = 'x' AND id > 1")),
    "disjuncts swapped": (where("id > 1 OR s = 'x'"), where("s = 'x' OR id > 1")),
    "comparison turned": (where("id > 1"), where("1 < id")),
    "comparison turned, inclusive": (where("id >= big"), where("big <= id")),
    "equality turned": (where("id = big"), where("big = id")),
    "null-safe equality turned": (where("id <=> big"), where("big <=> id")),
    "not equal": (where("id <> 1"), where("NOT id = 1")),
    "not equal, another sign": (where("id != 1"), where("id <> 1")),
    "not greater": (where("NOT id > 1"), where("id <= 1")),
    "not not": (where("NOT NOT flag"), where("flag")),
    "De Morgan": (where("NOT (id > 1 AND flag)"), where("id <= 1 OR NOT flag")),
    "not null": (where("NOT s IS NULL"), where("s IS NOT NULL")),
    "between": (where("id BETWEEN 1 AND 5"), where("id >= 1 AND id <= 5")),
    "in, order": (where("id IN (1, 2, 3)"), where("id IN (3, 1, 2)")),
    "in, repeated": (where("id IN (1, 2, 2)"), where("id IN (1, 2)")),
    "in, one": (where("id IN (1)"), where("id = 1")),
    "where and having": (
        "SELECT s, count(*) AS n FROM t GROUP BY s HAVING count(*) > 1",
        "SELECT s, n FROM (SELECT s, count(*) AS n FROM t GROUP BY s) WHERE n > 1",
    ),
    # expressions
    "sum turned": (select("id + big"), select("big + id")),
    "product turned": (select("d * f"), select("f * d")),
    "product in a sum": (select("id * 2 + big"), select("big + 2 * id")),
    "if and case": (select("if(id > 1, 'a', 'b')"), select("CASE WHEN id > 1 THEN 'a' ELSE 'b' END")),
    "case with and without else": (select("CASE WHEN id > 1 THEN 'a' ELSE NULL END"),
                                   select("CASE WHEN id > 1 THEN 'a' END")),
    "case of a value": (select("CASE id WHEN 1 THEN 'a' END"), select("CASE WHEN id = 1 THEN 'a' END")),
    "nvl": (select("nvl(s, 'x')"), select("coalesce(s, 'x')")),
    "literals of two widths": (where("big > 5"), where("big > 5L")),
    "cast and function": (select("CAST(id AS STRING)"), select("string(id)")),
    "cast by colons": (select("id::string"), select("CAST(id AS STRING)")),
    "lambda variable": (select("transform(arr, y -> y + 1)"), select("transform(arr, z -> z + 1)")),
    "two lambda variables": (select("aggregate(arr, 0, (a, b) -> a + b)"),
                             select("aggregate(arr, 0, (p, q) -> p + q)")),
    "names of functions": (select("substring(s, 1, 2)"), select("substr(s, 1, 2)")),
    "power": (select("pow(f, 2)"), select("power(f, 2)")),
    "field of a struct": (select("st.a"), select("st['a']")),
    "count of all": ("SELECT count(*) AS n FROM t", "SELECT count(1) AS n FROM t"),
    "max of distinct": ("SELECT max(DISTINCT id) AS n FROM t", "SELECT max(id) AS n FROM t"),
    "mean": ("SELECT mean(id) AS n FROM t", "SELECT avg(id) AS n FROM t"),
    "random seeds Spark makes up": (select("rand()"), select("rand()")),
    "random ids": (select("uuid()"), select("uuid()")),
    # joins
    "join condition turned": (f"SELECT t.id {JOINED}", "SELECT t.id FROM t JOIN u ON u.t_id = t.id"),
    "join turned": (f"SELECT t.id, kind {JOINED}", "SELECT t.id, kind FROM u JOIN t ON t.id = u.t_id"),
    "comma join": (f"SELECT t.id, kind {JOINED}", "SELECT t.id, kind FROM t, u WHERE t.id = u.t_id"),
    "cross join": ("SELECT t.id FROM t CROSS JOIN u", "SELECT t.id FROM t, u"),
    "filter in the join": (f"SELECT t.id {JOINED} AND kind = 'x'", f"SELECT t.id {JOINED} WHERE kind = 'x'"),
    "filter below the join": (
        f"SELECT t.id {JOINED} WHERE kind = 'x'",
        "SELECT t.id FROM t JOIN (SELECT * FROM u WHERE kind = 'x') u ON t.id = u.t_id",
    ),
    "three tables": (
        f"SELECT t.id, note {JOINED} JOIN w ON w.u_id = u.id",
        "SELECT t.id, note FROM w JOIN u ON w.u_id = u.id JOIN t ON t.id = u.t_id",
    ),
    "three tables, nested": (
        f"SELECT t.id, note {JOINED} JOIN w ON w.u_id = u.id",
        "SELECT t.id, note FROM t JOIN (SELECT u.t_id, w.note FROM u JOIN w ON w.u_id = u.id) q ON t.id = q.t_id",
    ),
    "right and left join": ("SELECT t.id, kind FROM t LEFT JOIN u ON t.id = u.t_id",
                            "SELECT t.id, kind FROM u RIGHT JOIN t ON t.id = u.t_id"),
    "full join turned": ("SELECT t.id, kind FROM t FULL JOIN u ON t.id = u.t_id",
                         "SELECT t.id, kind FROM u FULL JOIN t ON t.id = u.t_id"),
    "join of a table with itself, turned": (
        "SELECT a.id, b.s FROM t a JOIN t b ON a.id = b.big", "SELECT a.id, b.s FROM t b JOIN t a ON a.id = b.big",
    ),
    "aliases of a table and itself": (
        "SELECT a.id, b.s FROM t a JOIN t b ON a.id = b.big", "SELECT x.id, y.s FROM t x JOIN t y ON x.id = y.big",
    ),
    "using": ("SELECT t.big FROM t JOIN u USING (id)", "SELECT t.big FROM t JOIN u ON t.id = u.id"),
    "exists and semi join": (where("EXISTS (SELECT 1 FROM u WHERE u.t_id = t.id)"),
                             "SELECT t.id FROM t LEFT SEMI JOIN u ON u.t_id = t.id"),
    "exists, whatever is selected": (where("EXISTS (SELECT 1 FROM u WHERE u.t_id = t.id)"),
                                     where("EXISTS (SELECT * FROM u WHERE t.id = u.t_id)")),
    "exists and a filter, swapped": (where("EXISTS (SELECT 1 FROM u WHERE u.t_id = t.id) AND s = 'x'"),
                                     where("s = 'x' AND EXISTS (SELECT 1 FROM u WHERE u.t_id = t.id)")),
    "not exists and anti join": (where("NOT EXISTS (SELECT 1 FROM u WHERE u.t_id = t.id)"),
                                 "SELECT t.id FROM t LEFT ANTI JOIN u ON u.t_id = t.id"),
    # bags and groups
    "union turned": ("SELECT id FROM t UNION ALL SELECT id FROM u", "SELECT id FROM u UNION ALL SELECT id FROM t"),
    "unions nested": (
        "SELECT id FROM t UNION ALL (SELECT id FROM u UNION ALL SELECT id FROM w)",
        "(SELECT id FROM w UNION ALL SELECT id FROM t) UNION ALL SELECT id FROM u",
    ),
    "union distinct turned": ("SELECT id FROM t UNION SELECT id FROM u", "SELECT id FROM u UNION SELECT id FROM t"),
    "union by name": (
        "SELECT id, t_id FROM u UNION ALL SELECT id, u_id FROM w",
        lambda spark: spark.table("u").select("t_id", "id")
        .unionByName(spark.table("w").selectExpr("id", "u_id AS t_id")).select("id", "t_id"),
    ),
    "distinct and group by": ("SELECT DISTINCT s FROM t", "SELECT s FROM t GROUP BY s"),
    "keys swapped": ("SELECT s, id, count(*) AS n FROM t GROUP BY s, id",
                     "SELECT s, id, count(*) AS n FROM t GROUP BY id, s"),
    "group by place": ("SELECT s, count(*) AS n FROM t GROUP BY 1", "SELECT s, count(*) AS n FROM t GROUP BY s"),
    "group by all": ("SELECT s, count(*) AS n FROM t GROUP BY ALL", "SELECT s, count(*) AS n FROM t GROUP BY s"),
    "aggregate nobody uses": ("SELECT s, n FROM (SELECT s, count(*) AS n, max(id) AS m FROM t GROUP BY s)",
                              "SELECT s, count(*) AS n FROM t GROUP BY s"),
    "filter of an aggregate": ("SELECT sum(id) FILTER (WHERE id > 1 AND flag) AS n FROM t",
                               "SELECT sum(id) FILTER (WHERE flag AND 1 < id) AS n FROM t"),
    "filter of an aggregate inside of a function": ("SELECT -(count(*) FILTER (WHERE id > 1 AND flag)) AS n FROM t",
                                                    "SELECT -(count(*) FILTER (WHERE flag AND 1 < k)) AS n FROM (SELECT id AS k, flag FROM t)"),
    "named window": (
        "SELECT id, sum(big) OVER w AS n FROM t WINDOW w AS (PARTITION BY s)",
        "SELECT id, sum(big) OVER (PARTITION BY s) AS n FROM t",
    ),
    "partition keys swapped": ("SELECT id, sum(big) OVER (PARTITION BY s, flag) AS n FROM t",
                               "SELECT id, sum(big) OVER (PARTITION BY flag, s) AS n FROM t"),
    "frame Spark would choose": (
        "SELECT id, sum(big) OVER (PARTITION BY s ORDER BY id) AS n FROM t",
        """SELECT id, sum(big) OVER (PARTITION BY s ORDER BY id ASC NULLS FIRST
           RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS n FROM t""",
    ),
    # SQL and DataFrames
    "frame: table": ("SELECT * FROM u", table("u")),
    "frame: select": ("SELECT id, s FROM t", frame(lambda t: t.select("id", "s"))),
    "frame: filter": (where("id > 1 AND s = 'x'"),
                      frame(lambda t: t.where(F.col("s") == "x").where(F.col("id") > 1).select("id"))),
    "frame: with column": (PLUS_ONE, frame(lambda t: t.withColumn("n", F.col("id") + 1).select("id", "n"))),
    "frame: renamed": ("SELECT id AS k FROM t", frame(lambda t: t.select("id").withColumnRenamed("id", "k"))),
    "frame: dropped": ("SELECT id, t_id FROM u", lambda spark: spark.table("u").drop("kind", "amount")),
    "frame: join": (f"SELECT t.id, kind {JOINED}",
                    frames(lambda t, u: t.join(u, F.col("t.id") == F.col("t_id")).select("t.id", "kind"))),
    "frame: left join": (
        "SELECT t.id, kind FROM t LEFT JOIN u ON t.id = u.t_id",
        frames(lambda t, u: t.join(u, F.col("t.id") == F.col("t_id"), "left").select("t.id", "kind")),
    ),
    "frame: group": ("SELECT s, sum(id) AS n FROM t GROUP BY s",
                     frame(lambda t: t.groupBy("s").agg(F.sum("id").alias("n")))),
    "frame: distinct": ("SELECT DISTINCT s FROM t", frame(lambda t: t.select("s").distinct())),
    "frame: union": ("SELECT id FROM t UNION ALL SELECT id FROM u",
                     frames(lambda t, u: t.select("id").union(u.select("id")))),
    "frame: window": (
        "SELECT id, sum(big) OVER (PARTITION BY s) AS n FROM t",
        frame(lambda t: t.select("id", F.sum("big").over(Window.partitionBy("s")).alias("n"))),
    ),
    "frame: case": (select("CASE WHEN id > 1 THEN 'a' ELSE 'b' END"),
                    frame(lambda t: t.select(F.when(F.col("id") > 1, "a").otherwise("b").alias("x")))),
    "frame: lambda": (select("transform(arr, y -> y + 1)"),
                      frame(lambda t: t.select(F.transform("arr", lambda y: y + 1).alias("x")))),
    "frame: repartitioned": ("SELECT id FROM t", frame(lambda t: t.repartition(3).select("id"))),
}  # fmt: skip


def udf(function: Callable[..., Any], type: str = "int") -> Callable[[SparkSession], DataFrame]:
    """A query that calls a Python function; made anew each time, as in another process."""
    return frame(lambda t: t.select(F.udf(function, type, useArrow=False)("id").alias("x")))


EQUAL |= {
    "python: the same": (udf(lambda x: x + 1), udf(lambda x: x + 1)),
}

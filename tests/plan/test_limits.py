"""A limit of a computed value, as a limit of the column it is computed from: it keeps every row it must."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from pyspark.sql import DataFrame, SparkSession

from rennet.enable.monotone import rising
from rennet.jvm import Jvm
from rennet.normalize.rules import normalize
from rennet.plan.catalyst import read
from rennet.plan.dataframe import Writer
from rennet.plan.expressions import Alias, Bound, Expr
from rennet.plan.ir import Aggregate, Node, Project, filter_

RISING = [
    "year(d)",
    "year(d) * 10000 + month(d) * 100 + day(d)",
    "(year(d) * 100 + month(d)) * 100 + dayofmonth(d)",
    "year(d) * 12 + month(d) - 1",
    "4 * year(d) + quarter(d)",
    "year(d) * 1000L + dayofyear(d)",
    "extract(YEAROFWEEK FROM d) * 100 + weekofyear(d)",
    "year(date_add(d, 3))",
    "date_sub(d, 40)",
    "d + 7",
    "unix_date(d) div 7",
    "trunc(d, 'MONTH')",
    "trunc(d, 'week')",
    "date_trunc('QUARTER', d)",
    "CAST(date_format(d, 'yyyyMMdd') AS INT)",
    "CAST(date_format(ts, 'yyyyMM') AS BIGINT)",
    "CAST(ts AS DATE)",
    "year(ts) * 100 + month(ts)",
    "date_trunc('DAY', ts)",
    "date_trunc('HOUR', ts)",
    "unix_seconds(ts)",
    "CAST(local AS DATE)",
    "i + 7",
    "i * 100",
    "CAST(i AS BIGINT) * 100 + i",
    "floor(i / 7)",
    "ceil(b / 1000)",
    "b div 10",
    "b - 5",
    "s + s",
    "CAST(s AS INT) * 2",
]
NOT_RISING = [
    "month(d)",
    "year(d) * 10 + month(d)",
    "year(d) * 350 + month(d) * 30 + day(d)",
    "year(d) * 100 + day(d)",
    "year(d) - month(d)",
    "year(d) * 10000 + month(date_add(d, 1))",
    "datediff(DATE'2024-01-01', d)",
    "-i",
    "i * -1",
    "i % 10",
    "abs(i)",
    "i * i",
    "i + b",
    "CAST(date_format(d, 'ddMMyyyy') AS INT)",
    "hour(ts)",
    "CAST(CAST(ts AS DATE) AS STRING)",
    "coalesce(year(d), 0)",
    "date_trunc(CAST(i AS STRING), ts)",
]
DAYS = ["-0003-05-05", "0001-01-01", "0004-02-29", "1582-10-15", "1867-10-18", "1970-01-01", "2019-12-30",
        "2023-12-31", "2024-01-01", "2024-02-29", "2024-03-01", "2024-12-31", "9999-12-31"]  # fmt: skip
TIMES = ["2023-11-05 04:30:00Z", "2023-11-05 05:30:00Z", "1867-10-18 08:00:00Z", "1867-10-19 08:00:00Z",
         "1969-12-31 23:59:59.5Z", "2024-01-01 04:59:59.999999Z", "2024-01-01 05:00:00Z",
         "2024-07-01 00:00:00Z", "0002-06-01 00:00:00Z"]  # fmt: skip
NUMBERS = [-32768, -11, -10, -7, -1, 0, 1, 6, 7, 10, 100, 32767]


@pytest.fixture(scope="module", params=["UTC", "America/Havana", "America/Juneau"])
def samples(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[SparkSession]:
    """Rows with values where calendars and clocks turn, and with NULLs, in zones that set clocks back."""
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", request.param)
    rows = [f"(DATE'{day}', NULL, NULL, NULL, NULL, NULL)" for day in DAYS]
    rows += [f"(NULL, TIMESTAMP'{at}', TIMESTAMP_NTZ'{at[:-1]}', NULL, NULL, NULL)" for at in TIMES]
    rows += [f"(NULL, NULL, NULL, {n} * 1000, {n} * 1000000000L, {n // 3}S)" for n in NUMBERS]
    rows += ["(NULL, NULL, NULL, NULL, NULL, NULL)"]
    named = "d, ts, local, i, b, s"
    spark.sql(
        f"SELECT row_number() OVER (ORDER BY {named}) AS id, * FROM VALUES {', '.join(rows)} AS t({named})"
    ).cache().createOrReplaceTempView("samples")
    yield spark
    spark.catalog.dropTempView("samples")
    spark.conf.set("spark.sql.session.timeZone", before)


def plan_of(frame: DataFrame) -> Node:
    jvm = Jvm.of(frame.sparkSession)
    return read(jvm, normalize(jvm, jvm.analyzed(frame)))


def computed(spark: SparkSession, text: str) -> tuple[Project, Expr]:
    """The samples with the value of an expression."""
    plan = plan_of(spark.sql(f"SELECT *, {text} AS value FROM samples"))
    assert isinstance(plan, Project) and isinstance(plan.exprs[-1], Alias)
    return plan, plan.exprs[-1].child


@pytest.mark.parametrize("text", NOT_RISING)
def test_what_does_not_rise_is_not_proven(spark: SparkSession, text: str) -> None:
    values = "VALUES (DATE'2024-01-01', TIMESTAMP'2024-01-01', 1, 1L) AS t(d, ts, i, b)"
    plan = plan_of(spark.sql(f"SELECT {text} AS value FROM {values}"))
    assert isinstance(plan, Project) and isinstance(plan.exprs[0], Alias)
    assert rising(plan.exprs[0].child) is None


def kept(spark: SparkSession, text: str, sign: str, at: int) -> set[int]:
    """The samples that the bound at the source keeps, its limit being the value of one of them."""
    plan, function = computed(spark, text)
    known = rising(function)
    assert known is not None, text
    summary = plan_of(spark.sql(f"SELECT max({text}) AS v, max(false) AS o FROM samples WHERE id = {at}"))
    assert isinstance(summary, Aggregate | Project)
    bound = replace(Bound.of(sign, function, summary, 0, opened_by=1), rising=known)
    made = Writer(Jvm.of(spark)).dataframe(filter_(plan.child, bound))
    return {row[0] for row in made.select("id").collect()}


def ids(spark: SparkSession, query: str) -> list[int]:
    """Dates before year 1 are none in Python, so that only ids are looked at."""
    return [row[0] for row in spark.sql(query).collect()]


@pytest.mark.parametrize("text", RISING)
def test_no_row_is_lost(samples: SparkSession, text: str) -> None:
    valued = f"(SELECT id, {text} AS value FROM samples WHERE abs(i) < 20000000 OR i IS NULL)"
    present = ids(samples, f"SELECT id FROM {valued} WHERE value IS NOT NULL ORDER BY value")
    at = present[len(present) // 2]
    limit = f"(SELECT max(value) FROM {valued} WHERE id = {at})"
    for sign in (">=", "<="):
        wanted = ids(samples, f"SELECT id FROM {valued} WHERE value IS NULL OR value {sign} {limit}")
        found = kept(samples, text, sign, at)
        assert found.issuperset(wanted), (text, sign)
        assert not found.issuperset(present), f"{text} {sign} leaves nothing out"

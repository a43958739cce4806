"""Rows that are computed once and read many times."""

from __future__ import annotations

from pyspark.sql import SparkSession

from rennet.jvm import JavaObject, Jvm
from rennet.plan.catalyst import read
from rennet.plan.dataframe import Writer
from rennet.plan.ir import Node, Once, union

LEVELS = 7


def test_plans_do_not_double_where_kept_rows_are_computed_from_kept_rows(
    spark: SparkSession, jvm: Jvm
) -> None:
    node: Node = read(jvm, jvm.analyzed(spark.range(3)))
    for _ in range(LEVELS):
        node = Once((union([node, node]),))
    writer = Writer(jvm)
    with writer.keeping():
        frame = writer.dataframe(union([node, node]))
        assert operators(jvm, jvm.analyzed(frame)) <= 4
        assert frame.count() == 3 * 2 ** (LEVELS + 1)


def operators(jvm: Jvm, plan: JavaObject) -> int:
    return 1 + sum(operators(jvm, child) for child in jvm.items(plan.children()))

"""Rows that are computed once and read many times."""

from __future__ import annotations

import pytest
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


def test_few_rows_stay_in_the_driver(spark: SparkSession, jvm: Jvm) -> None:
    node = Once((read(jvm, jvm.analyzed(spark.range(3))),))
    writer = Writer(jvm, few=lambda _: True)
    with writer.keeping():
        frame = writer.dataframe(union([node, node]))
        leaves = jvm.analyzed(frame).collectLeaves()
        assert {leaf.nodeName() for leaf in jvm.items(leaves)} == {"LocalRelation"}
        assert writer.in_driver(union([node, node]))
        assert sorted(row.id for row in frame.collect()) == [0, 0, 1, 1, 2, 2]


def test_rows_that_were_expected_to_be_few_are_kept_if_they_are_not(
    spark: SparkSession, jvm: Jvm, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rennet.plan.dataframe.MOST_IN_DRIVER", 2)
    node = Once((read(jvm, jvm.analyzed(spark.range(3))),))
    writer = Writer(jvm, few=lambda _: True)
    with writer.keeping():
        frame = writer.dataframe(union([node, node]))
        leaves = jvm.analyzed(frame).collectLeaves()
        assert {leaf.nodeName() for leaf in jvm.items(leaves)} == {"InMemoryRelation"}
        assert not writer.in_driver(node)
        assert sorted(row.id for row in frame.collect()) == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("unsure", [True, False])
def test_spark_knows_how_many_there_are_of_rows_that_may_be_any_number(
    spark: SparkSession, jvm: Jvm, unsure: bool
) -> None:
    node = Once((read(jvm, jvm.analyzed(spark.range(1000).where("id % 100 = 3"))),))
    writer = Writer(jvm, unsure=lambda _: unsure)
    with writer.keeping():
        (leaf,) = jvm.items(jvm.analyzed(writer.dataframe(node)).collectLeaves())
        rows = jvm.value(leaf.stats().rowCount())
        assert (rows is not None and str(rows) == "10") is unsure


def operators(jvm: Jvm, plan: JavaObject) -> int:
    return 1 + sum(operators(jvm, child) for child in jvm.items(plan.children()))

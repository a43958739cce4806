"""AUTO CDC on Spark and Delta against the reference: random histories, random orders, random batches."""

from __future__ import annotations

import os
import random
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from rennet import Engine
from rennet.errors import PipelineError
from rennet.jvm import Jvm
from rennet.pipelines.cdc.apply import Applied, apply, create_target
from rennet.pipelines.cdc.options import CdcOptions
from rennet.pipelines.streamed import StreamedTable
from rennet.storage.names import ViewName
from rennet.testing.cdc import Event, Kind, scd1, scd2
from tests.pipelines.histories import history, split

SCHEMA = "k INT, major INT, minor INT, op STRING, a INT, b INT, c INT"
NAMES = {Kind.UPSERT: "U", Kind.DELETE: "D", Kind.TRUNCATE: "T"}
HISTORIES = int(os.environ.get("RENNET_HISTORIES", "1000"))
"""Of each setting: every key is a history of its own."""


def frame(spark: SparkSession, events: list[Event]) -> DataFrame:
    rows = [
        (e.key, e.sequence // 4, e.sequence % 4, NAMES[e.kind], *(e.values or (None, None, None)))
        for e in events
    ]
    return spark.createDataFrame(rows, SCHEMA)


def options(**given: Any) -> CdcOptions:
    return CdcOptions(
        ("k",),
        ("major", "minor"),
        **{"apply_as_deletes": "op = 'D'", "column_list": ("k", "a", "b", "c"), **given},
    )


class Target:
    """A target and the events it was given."""

    def __init__(self, spark: SparkSession, name: str, chosen: CdcOptions) -> None:
        self.spark, self.jvm, self.options = spark, Jvm.of(spark), chosen
        spark.sql("CREATE SCHEMA IF NOT EXISTS cdc")
        self.name = ViewName("cdc", name)
        source = frame(spark, []).schema
        self.table: StreamedTable = create_target(self.jvm, self.name, source, chosen)
        self.seen: list[Event] = []

    def apply(self, events: list[Event], app: tuple[str, int] | None = None) -> Applied:
        self.seen += events
        return apply(self.jvm, self.table, frame(self.spark, events), self.options, app)

    def rows(self) -> list[tuple[Any, ...]]:
        return sorted(map(tuple, self.spark.table(self.name.sql).collect()), key=repr)

    def expected(self) -> list[tuple[Any, ...]]:
        nulls = self.options.ignore_null_updates
        if self.options.scd_type == 1:
            return sorted(((k, *v) for k, v in scd1(self.seen, nulls).items()), key=repr)
        tracked = {None: None, ("a",): (0,)}[self.options.track_history_column_list]
        return sorted(
            ((v.key, *v.values, _moment(v.start), _moment(v.end)) for v in scd2(self.seen, nulls, tracked)),
            key=repr,
        )


def _moment(sequence: int | None) -> Any:
    from pyspark.sql import Row

    return None if sequence is None else Row(sequence_1=sequence // 4, sequence_2=sequence % 4)


SETTINGS: dict[str, dict[str, Any]] = {
    "latest": {},
    "latest_truncated": {"apply_as_truncates": "op = 'T'"},
    "latest_partial": {"ignore_null_updates": True, "apply_as_truncates": "op = 'T'"},
    "versions": {"scd_type": 2},
    "versions_partial": {"scd_type": 2, "ignore_null_updates": True},
    "versions_tracked": {"scd_type": 2, "track_history_column_list": ("a",)},
    "versions_all": {"scd_type": 2, "ignore_null_updates": True, "track_history_column_list": ("a",)},
}

WIDE = ("latest", "latest_truncated", "versions", "versions_partial", "versions_tracked")
"""Settings whose parts the others combine."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in WIDE else []) for name in SETTINGS]
)
def test_random_histories_in_random_batches_equal_the_reference(spark: SparkSession, name: str) -> None:
    chance = random.Random(name)
    truncates = "apply_as_truncates" in SETTINGS[name]
    target = Target(spark, name, options(**SETTINGS[name]))
    found = [event for key in range(HISTORIES) for event in history(chance, key)]
    if truncates:
        found += [Event(None, chance.randrange(8), Kind.TRUNCATE) for _ in range(2)]
    for batch in split(chance, found, 4):
        target.apply(batch)
        assert target.rows() == target.expected()


def test_a_batch_that_is_applied_again_changes_nothing(spark: SparkSession) -> None:
    target = Target(spark, "again", options(scd_type=2))
    batch = [Event(1, 3, Kind.UPSERT, (1, None, 1)), Event(1, 5, Kind.DELETE)]
    first = target.apply(batch, ("flow", 0))
    assert (first.inserted, first.deleted) == (2, 0)
    assert target.apply(batch, ("flow", 0)) == Applied()
    assert target.apply(batch, ("flow", 1)) == Applied()
    assert target.rows() == target.expected()


def test_an_event_that_is_too_late_writes_nothing(spark: SparkSession) -> None:
    target = Target(spark, "late", options())
    target.apply([Event(1, 5, Kind.UPSERT, (1, 1, 1)), Event(2, 5, Kind.UPSERT, (1, 1, 1))])
    assert target.apply([Event(1, 4, Kind.UPSERT, (2, 2, 2)), Event(2, 3, Kind.DELETE)]) != Applied()
    assert target.apply([Event(1, 3, Kind.UPSERT, (2, 2, 2))]) == Applied()
    assert target.rows() == target.expected() == [(1, 1, 1, 1), (2, 1, 1, 1)]


def test_a_view_on_a_target_is_refreshed_incrementally(spark: SparkSession) -> None:
    target = Target(spark, "below", options())
    target.apply([Event(key, 1, Kind.UPSERT, (key % 3, 1, 1)) for key in range(30)])
    engine = Engine(spark)
    engine.create_materialized_view("cdc.sums", "SELECT a, SUM(b) AS total FROM cdc.below GROUP BY a")
    target.apply([Event(1, 2, Kind.UPSERT, (0, 5, 1)), Event(2, 2, Kind.DELETE)])
    assert engine.refresh("cdc.sums").technique == "GROUP_AGGREGATE"
    assert engine.verify("cdc.sums").equal


def test_types_that_cannot_be_compared_are_carried(spark: SparkSession) -> None:
    chosen = CdcOptions(("k",), ("n",), scd_type=2)
    empty = spark.createDataFrame([], "k INT, n INT, m MAP<STRING, INT>")
    jvm, name = Jvm.of(spark), ViewName("cdc", "maps")
    spark.sql("CREATE SCHEMA IF NOT EXISTS cdc")
    table = create_target(jvm, name, empty.schema, chosen)
    for rows in ([(1, 2, {"x": 1})], [(1, 1, {"y": 2}), (1, 2, {"x": 1})], [(1, 3, None)]):
        apply(jvm, table, spark.createDataFrame(rows, empty.schema), chosen)
    shown = spark.table(name.sql).orderBy("n").collect()
    assert [(r["m"], r["__START_AT"], r["__END_AT"]) for r in shown] == [
        ({"y": 2}, 1, 2),
        ({"x": 1}, 2, 3),
        (None, 3, None),
    ]


def test_an_event_without_a_sequence_is_refused(spark: SparkSession) -> None:
    chosen = CdcOptions(("k",), ("minor",))
    table = create_target(Jvm.of(spark), ViewName("cdc", "unordered"), frame(spark, []).schema, chosen)
    batch = spark.createDataFrame([(1, 1, None, "U", 1, 1, 1)], SCHEMA)
    with pytest.raises(PySparkException, match="has no sequence"):
        apply(Jvm.of(spark), table, batch, chosen)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"keys": ()}, "no key"),
        ({"sequence_by": ()}, "no sequence"),
        ({"scd_type": 3}, "not 1 or 2"),
        ({"column_list": ("k",), "except_column_list": ("a",)}, "not both"),
        ({"track_history_column_list": ("a",)}, "type 2 only"),
        ({"scd_type": 2, "apply_as_truncates": "true"}, "type 1 only"),
    ],
)
def test_options_that_make_no_sense_are_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(PipelineError, match=said):
        CdcOptions(**{"keys": ("k",), "sequence_by": ("n",), **given})


def test_column_lists_are_checked() -> None:
    assert CdcOptions(("K",), ("n",), except_column_list=("N",)).columns(["k", "n", "a"]) == ("k", "a")
    with pytest.raises(PipelineError, match="not among"):
        CdcOptions(("k",), ("n",), column_list=("a",)).columns(["k", "n", "a"])
    with pytest.raises(PipelineError, match="names x"):
        CdcOptions(("k",), ("n",), column_list=("k", "x")).columns(["k", "n", "a"])

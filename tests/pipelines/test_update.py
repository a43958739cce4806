"""Parts of an update that need no Spark."""

from __future__ import annotations

import threading
import time

import pytest

from rennet.errors import ConcurrentRefreshError, Technique
from rennet.execute.record import RefreshResult
from rennet.pipelines import update
from rennet.pipelines.builders import Built
from rennet.pipelines.definitions import Dataset, DatasetKind, Location
from rennet.pipelines.graph import Node
from rennet.pipelines.planning import planning_information
from rennet.pipelines.resolve import Graph
from rennet.pipelines.update import DatasetResult, Status, in_order


def test_another_writer_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(update.time, "sleep", waits.append)
    failures = [ConcurrentRefreshError("first"), ConcurrentRefreshError("second")]

    def build() -> Built:
        if failures:
            raise failures.pop()
        return Built("done")

    assert update._patiently(build).summary == "done"
    assert waits == [0.5, 1.0]


def test_another_writer_is_not_waited_for_forever(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(update.time, "sleep", waits.append)

    def build() -> Built:
        raise ConcurrentRefreshError("again")

    with pytest.raises(ConcurrentRefreshError):
        update._patiently(build)
    assert len(waits) == update.ATTEMPTS - 1


def graph(**inputs: tuple[str, ...]) -> Graph:
    """Views by name, and what each reads."""
    where = Location("a.sql", 1)
    nodes = {key: Node(key, Dataset(key, DatasetKind.MATERIALIZED_VIEW, where), ()) for key in inputs}
    return Graph(nodes, inputs, {}, "d")


def done(node: Node) -> DatasetResult:
    return DatasetResult(node.key, node.kind, Status.COMPLETED)


def test_what_is_independent_is_built_at_the_same_time() -> None:
    together = threading.Barrier(2, timeout=20)
    order: list[str] = []

    def build(node: Node) -> DatasetResult:
        # The second level of one branch meets the first of the other: nobody waits for a whole level.
        if node.key in ("fast_below", "slow"):
            together.wait()
        order.append(node.key)
        return done(node)

    found = graph(slow=(), fast=(), fast_below=("fast",), last=("slow", "fast_below"))
    results = list(in_order(found, lambda _: True, build, lambda _: None))
    assert [node.key for node, _ in results][-1] == "last" and order[0] == "fast" and len(order) == 4


def test_what_most_others_wait_for_is_built_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(update, "AT_ONCE", 1)
    found = graph(a=(), b=(), c=(), b_1=("b",), b_2=("b_1",), c_1=("c",))
    results = in_order(found, lambda _: True, done, lambda _: None)
    assert [node.key for node, _ in results] == ["b", "c", "b_1", "a", "b_2", "c_1"]


def test_what_changes_the_session_is_built_alone() -> None:
    running: set[str] = set()
    met: list[set[str]] = []

    def build(node: Node) -> DatasetResult:
        running.add(node.key)
        time.sleep(0.05)
        if node.key.startswith("alone"):
            met.append(set(running))
        running.discard(node.key)
        return done(node)

    found = graph(a=(), alone_1=(), b=(), alone_2=("alone_1",), c=("alone_1",), d=("a", "b"))
    results = list(in_order(found, lambda node: not node.key.startswith("alone"), build, lambda _: None))
    assert {node.key for node, _ in results} == set(found.nodes)
    assert met == [{"alone_1"}, {"alone_2"}]


def test_what_is_known_is_not_built() -> None:
    def build(node: Node) -> DatasetResult:
        assert node.key != "a"
        return done(node)

    found = graph(a=(), b=("a",))
    skipped = DatasetResult("a", DatasetKind.MATERIALIZED_VIEW, Status.SKIPPED)
    results = in_order(found, lambda _: True, build, lambda node: skipped if node.key == "a" else None)
    assert [result.status for _, result in results] == [Status.SKIPPED, Status.COMPLETED]


def test_planning_is_recorded_in_the_words_of_databricks() -> None:
    result = RefreshResult(
        "d.v", Technique.ROW_BASED, "because", 1, 2,
        ({"name": "d.t", "from": 1, "to": 2, "table_change_type": "APPEND_ONLY", "full_size": 10},),
        (
            {"technique": "ROW_BASED", "applicable": True, "chosen": True, "issue": "", "estimate": 0.5},
            {"technique": "APPEND_ONLY", "applicable": False, "chosen": False, "issue": "A.B: it does: not"},
        ),
        0.1, 0.1, 4, 7,
    )  # fmt: skip
    found = planning_information(result)["planning_information"]
    assert found["technique_information"] == [
        {
            "maintenance_type": "MAINTENANCE_TYPE_ROW_BASED",
            "is_chosen": True,
            "is_applicable": True,
            "cost": 0.5,
        },
        {
            "maintenance_type": "MAINTENANCE_TYPE_APPEND_ONLY",
            "is_chosen": False,
            "is_applicable": False,
            "incrementalization_issues": [
                {"issue_type": "A", "issue_subtype": "B", "message": "it does: not"},
            ],
        },
    ]
    (source,) = found["source_table_information"]
    assert (source["table_name"], source["table_change_type"], source["full_size"]) == (
        "d.t",
        "APPEND_ONLY",
        10,
    )
    assert found["target_table_information"] == {"table_name": "d.v", "version": 7}

"""Names, targets and order of a graph, without Spark."""

from __future__ import annotations

from rennet.pipelines.cdc.options import CdcOptions
from rennet.pipelines.definitions import Dataset, DatasetKind, Flow, Location, Project
from rennet.pipelines.graph import assemble, downstream, full_name, order

CDC = CdcOptions(("k",), ("n",))


def at(line: int) -> Location:
    return Location("a.py", line)


def view(name: str, line: int, kind: DatasetKind = DatasetKind.MATERIALIZED_VIEW) -> Dataset:
    return Dataset(name, kind, at(line))


def test_names_are_completed_and_compared_in_lower_case() -> None:
    assert full_name("A", "d") == "d.a"
    assert full_name("spark_catalog.S.`A`", "d") == "s.a"
    assert full_name("A", "d", local=True) == "a"


def test_all_problems_are_found_at_once() -> None:
    project = Project(
        [
            view("a", 1),
            view("D.A", 2),
            view("s.t", 3, DatasetKind.TEMPORARY_VIEW),
            view("x.y.z", 4),
            view("st", 5, DatasetKind.STREAMING_TABLE),
            view("mixed", 6, DatasetKind.STREAMING_TABLE),
            view("m", 7),
        ],
        [
            Flow("a", "a", at(1), "SELECT 1"),
            Flow("f", "nowhere", at(8), "SELECT 1"),
            Flow("g", "mixed", at(9), "SELECT 1"),
            Flow("h", "mixed", at(10), source="s", cdc=CDC),
            Flow("m", "m", at(7), source="s", cdc=CDC),
            Flow("n", "m", at(11), "SELECT 1"),
        ],
    )
    nodes, problems = assemble(project, "d")
    assert set(nodes) == {"d.a", "d.st", "d.mixed", "d.m"}
    assert sorted((p.location.line, p.code) for p in problems) == [
        (2, "DUPLICATE_NAME"),
        (3, "INVALID_NAME"),
        (4, "INVALID_NAME"),
        (5, "NO_FLOW"),
        (7, "MIXED_FLOWS"),
        (7, "NOT_A_STREAMING_TABLE"),
        (8, "TARGET_NOT_FOUND"),
        (10, "MIXED_FLOWS"),
        (11, "TOO_MANY_FLOWS"),
    ]


def test_order_and_what_is_downstream() -> None:
    inputs = {"c": ("b",), "a": (), "b": ("a",), "x": ()}
    assert order(inputs) == ["a", "b", "c", "x"]
    assert downstream(inputs, {"a"}) == {"a", "b", "c"}

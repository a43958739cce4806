"""The refreshes of views: those that committed, from the Delta log, and those that did not, from events."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame

from rennet.jvm import Jvm
from rennet.storage.commits import history
from rennet.storage.events import events
from rennet.storage.provenance import PROVENANCE_DOMAIN

SCHEMA = (
    "refreshed_at string, technique string, reason string, rows_inserted bigint, rows_deleted bigint, "
    "wall_seconds double, cpu_seconds double, estimated_cpu_seconds double, version bigint, "
    "sources array<struct<name: string, version: bigint>>, "
    "techniques array<struct<technique: string, applicable: boolean, chosen: boolean, issue: string, "
    "estimate: double>>, "
    "operators array<struct<operator: string, kind: string, units: bigint, seconds: double, basis: string>>, "
    "spent array<struct<operator: string, kind: string, rows: bigint, bytes: bigint, seconds: double>>, "
    "written_by string"
)


def frame(jvm: Jvm, path: str) -> DataFrame:
    """All refreshes of a view still on record, the newest first."""
    rows = sorted(_rows(jvm, path), key=_moment, reverse=True)
    return jvm.spark.createDataFrame(rows, SCHEMA)


def of_all(jvm: Jvm, paths: Mapping[str, str]) -> DataFrame:
    """The same of several views, given by name, in one table that says which view each was of."""
    rows = [(view, row) for view, path in paths.items() for row in _rows(jvm, path)]
    rows.sort(key=lambda named: _moment(named[1]), reverse=True)
    return jvm.spark.createDataFrame([(view, *row) for view, row in rows], f"view string, {SCHEMA}")


def _rows(jvm: Jvm, path: str) -> list[tuple[Any, ...]]:
    committed = [_committed(version, stored) for version, stored in _commits(jvm, path)]
    return committed + [_event(each) for each in events(jvm, path)]


def _moment(row: tuple[Any, ...]) -> str:
    return str(row[0])


def _commits(jvm: Jvm, path: str) -> list[tuple[int, dict[str, Any]]]:
    found = []
    for version, _, domains in history(jvm, path):
        if PROVENANCE_DOMAIN in domains:
            found.append((version, json.loads(domains[PROVENANCE_DOMAIN])))
    return found


def _committed(version: int, stored: dict[str, Any]) -> tuple[Any, ...]:
    sources = [(source["name"], source["version"]) for source in stored["sources"]]
    techniques = [
        (each["technique"], each["applicable"], each["chosen"], each["issue"], each.get("estimate"))
        for each in stored["techniques"]
    ]
    chosen: dict[str, Any] = next((each for each in stored["techniques"] if each["chosen"]), {})
    return (
        stored["refreshed_at"], stored["technique"], stored["reason"], stored["rows_inserted"],
        stored["rows_deleted"], stored["wall_seconds"], stored["cpu_seconds"], chosen.get("estimate"),
        version, sources, techniques, chosen.get("operators", []),
        stored.get("spent", []), stored.get("written_by") or None,
    )  # fmt: skip


def _event(event: dict[str, Any]) -> tuple[Any, ...]:
    wall = event.get("wall_seconds")
    return (
        event["refreshed_at"],
        event["technique"],
        event["reason"],
        0,
        0,
        wall,
        0.0,
        None,
        None,
        [],
        [],
        [],
        [],
        None,
    )

"""What was considered when a view was refreshed, in the words of Databricks' event log."""

from __future__ import annotations

from typing import Any

from rennet.execute.record import RefreshResult

MAINTENANCE = "MAINTENANCE_TYPE_"


def planning_information(result: RefreshResult) -> dict[str, Any]:
    """The details of a `planning_information` event: techniques, sources, target."""
    considered = result.techniques or ({"technique": str(result.technique), "chosen": True},)
    sources = [
        {"table_name": each["name"], **{key: value for key, value in each.items() if key != "name"}}
        for each in result.sources
    ]
    return {
        "planning_information": {
            "technique_information": [_technique(each) for each in considered],
            "source_table_information": sources,
            "target_table_information": {"table_name": result.view, "version": result.version},
            "chosen_technique": f"{MAINTENANCE}{result.technique}",
            "reason": result.reason,
        }
    }


def _technique(considered: dict[str, Any]) -> dict[str, Any]:
    """One technique: whether it was possible, what it would have cost, and what stood in its way."""
    made: dict[str, Any] = {
        "maintenance_type": f"{MAINTENANCE}{considered['technique']}",
        "is_chosen": bool(considered.get("chosen")),
        "is_applicable": bool(considered.get("applicable", True)),
    }
    if "estimate" in considered:
        made["cost"] = considered["estimate"]
    if considered.get("issue"):
        made["incrementalization_issues"] = [_issue(considered["issue"])]
    return made


def _issue(text: str) -> dict[str, str]:
    """`TYPE.SUBTYPE: message`, taken apart."""
    name, _, message = text.partition(": ")
    kind, _, subtype = name.partition(".")
    found = {"issue_type": kind, "message": message}
    return {**found, "issue_subtype": subtype} if subtype else found

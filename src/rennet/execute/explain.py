"""Why a refresh would do what it would do."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from rennet.cost.choose import choose
from rennet.delta.generate import RefreshPlan, candidates, rows_named
from rennet.delta.rules import Derivation
from rennet.errors import NotIncrementalError, Policy, Technique
from rennet.execute.carry import Replacement
from rennet.execute.planning import Query
from rennet.execute.refresh import Refresh, plans
from rennet.execute.situation import Situation
from rennet.plan.ir import Node
from rennet.plan.render import render_parts
from rennet.storage.changes import ChangeKind
from rennet.storage.provenance import Provenance

SHOWN = 6
"""Operators of the last refresh that are listed: those that took most."""


@dataclass(frozen=True)
class Explanation:
    """What is incremental about a query, and what the next refresh would do."""

    subject: str
    incremental: bool
    technique: str
    reason: str
    techniques: tuple[dict[str, Any], ...]
    sources: tuple[dict[str, Any], ...]
    notes: tuple[str, ...]
    plan: str
    fingerprint: str
    last: dict[str, Any] | None = None
    """What the last refresh was expected to take and what it took, by physical operator."""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        lines = [f"{self.subject}: {self.technique}", f"  because {self.reason}", "", "Techniques"]
        for each in self.techniques:
            mark = "→" if each["chosen"] else " "
            state = "applicable" if each["applicable"] else "not applicable"
            cost = f"{each['estimate']:.3f} s of CPU" if "estimate" in each else ""
            said = "  ".join(part for part in (cost, each.get("written_by"), each["issue"]) if part)
            lines.append(f" {mark} {each['technique']:<20} {state:<15} {said}".rstrip())
        lines += [*_costs(self.techniques), *_last(self.last), "", "Sources"]
        for source in self.sources:
            lines.append(f"   {source['name']:<40} {source['change']}")
        if self.notes:
            lines += ["", "Notes", *(f"   {note}" for note in self.notes)]
        return "\n".join([*lines, "", "Plan", *(f"   {line}" for line in self.plan.splitlines())])


def _costs(techniques: tuple[dict[str, Any], ...]) -> list[str]:
    """Where the estimated CPU time goes, and how each figure is known."""
    lines = []
    for each in techniques:
        if each.get("operators"):
            lines += ["", f"Estimated cost of {each['technique']}: {each['estimate']:.3f} s of CPU"]
            for part in each["operators"]:
                what = part["operator"] if len(part["operator"]) <= 60 else part["operator"][:59] + "…"
                lines.append(f"   {part['seconds']:>9.3f} s  {part['kind']:<16} {what}  [{part['basis']}]")
        if each.get("below"):
            lines.append(f"   {each['below']:>9.3f} s  the views that read this one")
    return lines


def last_refresh(provenance: Provenance | None) -> dict[str, Any] | None:
    """What became of the estimate that the last refresh was chosen by; None if there was none."""
    chosen = next((t for t in provenance.techniques if t["chosen"]), {}) if provenance else {}
    if provenance is None or not chosen.get("estimate"):
        return None
    expected, taken = chosen["estimate"], provenance.cpu_seconds
    return {
        "technique": provenance.technique,
        "estimate": expected,
        "cpu_seconds": taken,
        "error": round(expected / taken, 2) if taken else None,
        "spent": list(provenance.spent),
    }


def _last(last: dict[str, Any] | None) -> list[str]:
    """The estimate beside what was spent, which is where the next estimate comes from."""
    if last is None:
        return []
    times = f", {last['error']:.1f} times what it took" if last["error"] is not None else ""
    lines = ["", f"Last refresh, {last['technique']}: {last['cpu_seconds']:.3f} s of CPU"]
    lines.append(f"   {last['estimate']:>9.3f} s  was expected{times}")
    for part in last["spent"][:SHOWN]:
        what = f"{part['operator']}, {part['rows']:,} rows"
        lines.append(f"   {part['seconds']:>9.3f} s  {part['kind']:<16} {what}")
    return lines


def explain_query(subject: str, query: Query) -> Explanation:
    """Before a view exists: what could be done if any row of any source changed."""
    derivation = Derivation({path: False for _, path in query.sources})
    obstacle = next(iter(query.obstacles), None)
    found = candidates(query.layout, derivation)
    if obstacle is not None:
        full = Technique.COMPLETE_RECOMPUTE
        found = {t: p if t is full else obstacle for t, p in found.items()}
    choice = choose(found, Policy.AUTO)
    growing = candidates(query.layout, Derivation({path: True for _, path in query.sources}))
    notes = [*query.notes]
    if obstacle is None and isinstance(growing[Technique.APPEND_ONLY], RefreshPlan):
        notes.append("APPEND_ONLY is used when the sources only gain rows.")
    sources = tuple({"name": name, "change": "any"} for name, _ in query.sources)
    return Explanation(
        subject,
        choice.plan.technique is not Technique.COMPLETE_RECOMPUTE,
        str(choice.plan.technique),
        choice.reason,
        choice.techniques,
        sources,
        tuple(notes),
        _plan_text(choice.plan),
        query.fingerprint,
    )


def explain_refresh(subject: str, situation: Situation, refresh: Refresh) -> Explanation:
    """What the next refresh of a view would do, from the logs of its sources alone."""
    sources = tuple(_source(situation, index) for index in range(len(situation.now)))
    quiet = situation.issue is None and not situation.changed and not situation.query.obstacles
    quiet = quiet and not situation.query.temporal
    if quiet:
        return Explanation(
            subject, True, str(Technique.NO_OP), "no source has changed", (), sources,
            situation.query.notes, "nothing to run", situation.query.fingerprint,
        )  # fmt: skip
    try:
        choice = refresh.choose(situation)
    except NotIncrementalError as error:
        choice = choose(plans(situation), Policy.AUTO)
        choice = type(choice)(choice.plan, f"{error.message} The refresh would fail", choice.techniques)
    said = f"; {situation.carried}" if situation.carried else ""
    return Explanation(
        subject,
        choice.plan.technique is not Technique.COMPLETE_RECOMPUTE,
        str(choice.plan.technique),
        choice.reason + said,
        choice.techniques,
        sources,
        (*situation.query.notes, *_advice(situation)),
        _plan_text(choice.plan),
        situation.query.fingerprint,
    )


def explain_replacement(subject: str, made: Replacement, refresh: Refresh) -> Explanation:
    """What CREATE OR REPLACE would do to a view."""
    if made.carry is None or made.carry.rows is None:
        return explain_refresh(subject, made.situation, refresh)
    situation = made.situation
    plan = RefreshPlan(Technique.CARRY_OVER, made.carry.rows, everything=True)
    return Explanation(
        subject,
        True,
        str(Technique.CARRY_OVER),
        made.carry.said,
        (),
        tuple(_source(situation, index) for index in range(len(situation.now))),
        (*situation.query.notes, *_advice(situation)),
        _plan_text(plan),
        situation.query.fingerprint,
    )


def _source(situation: Situation, index: int) -> dict[str, Any]:
    now = situation.now[index]
    change = situation.changes.get(now.path)
    if change is None:
        return {"name": now.name, "change": "not compared", "version": now.version}
    if change.issue is not None:
        text = str(change.issue)
    elif change.kind is ChangeKind.NONE:
        text = "unchanged"
    else:
        text = f"{change.kind} about {change.changed_bytes:,} of {change.full_bytes:,} bytes"
    return {"name": now.name, "change": text, "version": now.version, "since": change.since}


def _advice(situation: Situation) -> list[str]:
    """What would make the changes of a source cheaper to read."""
    advice = []
    for change in situation.changes.values():
        if change.kind is ChangeKind.GENERAL and change.carries_over and not change.dv_enabled:
            advice.append(
                f"{change.source.name} rewrites whole files to change a row: with "
                "delta.enableDeletionVectors = true only the changed rows would be read."
            )
    return advice


def _plan_text(plan: RefreshPlan) -> str:
    parts: list[tuple[str, Node]] = []
    before = ""
    if plan.removed is not None:
        what = rows_named(plan.removed)
        if what is not None:
            parts.append(("Delete from the view the rows of:", what))
        else:
            before = f"Delete from the view the partitions {plan.removed}\n"
    if plan.inserted is not None:
        verb = "Replace the view by:" if plan.everything else "Insert into the view:"
        parts.append((verb, plan.inserted))
    if plan.repair is not None:
        parts.append(("If groups may have lost an extreme, insert too:", plan.repair.rows))
    return before + render_parts(parts)

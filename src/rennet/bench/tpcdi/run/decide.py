"""Was the right technique chosen? From measurements alone: Spark is not needed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from rennet.bench.tpcdi.run.record import Entry, Record

FULL = "COMPLETE_RECOMPUTE"
TOLERANCE = 1.10
"""A choice this close to the cheapest is right."""
FEWEST_SECONDS = 0.05
"""Differences of CPU time below this are noise."""


@dataclass(frozen=True)
class Cost:
    """Medians over the runs of one technique."""

    wall: float
    cpu: float
    rows_read: float
    bytes_read: float
    idle: float
    jobs: float
    inserted: float
    deleted: float

    @staticmethod
    def of(entries: Iterable[Entry]) -> Cost:
        """The medians of some measurements."""
        runs = list(entries)
        names = (
            "wall_seconds", "cpu_seconds", "rows_read", "bytes_read", "idle_seconds", "jobs",
            "rows_inserted", "rows_deleted",
        )  # fmt: skip
        return Cost(*(float(median(each[name] for each in runs)) for name in names))


@dataclass(frozen=True)
class Decision:
    """What was chosen for a view in a batch, beside what each technique cost."""

    batch: int
    view: str
    chosen: str
    reason: str
    auto: Cost | None
    """What the refresh that was chosen cost in its pipeline; None if that is lost."""
    costs: Mapping[str, Cost]
    estimates: Mapping[str, Any]
    upstream: tuple[str, ...]
    right_alone: bool | None
    """Whether the choice was the cheapest for the view itself, or nearly; None if that was not measured."""
    right: bool | None
    """The same over the graph."""

    @property
    def cheapest(self) -> str | None:
        """The technique that took the least CPU time."""
        return min(self.costs, key=lambda each: self.costs[each].cpu) if self.costs else None

    @property
    def incremental(self) -> Cost | None:
        """The best of the incremental techniques, by CPU time."""
        found = [cost for technique, cost in self.costs.items() if technique != FULL]
        return min(found, key=lambda cost: cost.cpu, default=None)

    @property
    def full(self) -> Cost | None:
        """The full recompute."""
        return self.costs.get(FULL)

    def speedup(self, by: str = "wall") -> float | None:
        """How many times as long the full recompute takes as the best incremental technique."""
        if self.full is None or self.incremental is None or not getattr(self.incremental, by):
            return None
        return float(getattr(self.full, by) / getattr(self.incremental, by))

    def row(self) -> dict[str, Any]:
        """For a table on the terminal."""
        faster, cheaper = self.speedup("wall"), self.speedup("cpu")
        return {
            "batch": self.batch,
            "view": self.view,
            "chosen": self.chosen,
            "seconds": round(self.auto.wall, 2) if self.auto else None,
            "cpu": round(self.auto.cpu, 2) if self.auto else None,
            "speedup": "" if faster is None else f"{faster:.2f}",
            "cpu speedup": "" if cheaper is None else f"{cheaper:.2f}",
            "cheapest": self.cheapest or "",
            "right": {None: "", True: "yes", False: "no"}[self.right],
        }


def decisions(record: Record) -> list[Decision]:
    """A decision for each view that changed in each batch after the first, in the order of the pipeline."""
    found: list[Decision] = []
    for batch in sorted({entry["batch"] for entry in record.document["refreshes"]} - {1}):
        refreshed = record.find("refreshes", batch=batch, mode="AUTO")
        made = [_decision(record, entry) for entry in refreshed if entry["technique"] != "NO_OP"]
        found += [_over_the_graph(each, made) for each in made]
    return found


def _decision(record: Record, entry: Entry) -> Decision:
    batch, view, chosen = entry["batch"], entry["view"], entry["technique"]
    costs = _costs(record, batch, view)
    estimates = {t["technique"]: t["estimate"] for t in entry["techniques"] if t.get("estimate") is not None}
    alone = None
    if chosen in costs and len(costs) > 1:
        alone = near(costs[chosen].cpu, min(cost.cpu for cost in costs.values()))
    return Decision(
        batch, view, chosen, entry["reason"], None if entry["lost"] else Cost.of([entry]), costs, estimates,
        tuple(entry["upstream"]), alone, alone,
    )  # fmt: skip


def _costs(record: Record, batch: int, view: str) -> dict[str, Cost]:
    """What each technique cost where it was forced; if none was, what the pipelines took for the view."""
    forced = record.find("forced", batch=batch, view=view)
    # Neither an error nor a fall back to a full recompute says what a technique costs.
    counted = [each for each in forced if each.get("technique") == each["asked"]]
    if not forced:
        counted = [each for each in record.find("refreshes", batch=batch, view=view) if not each["lost"]]
    runs: dict[str, list[Entry]] = {}
    for each in counted:
        runs.setdefault(each["technique"], []).append(each)
    return {technique: Cost.of(each) for technique, each in runs.items()}


def near(cost: float, least: float) -> bool:
    """Whether a cost is the least, or too close to it to matter."""
    return cost <= least * TOLERANCE or cost - least <= FEWEST_SECONDS


def _over_the_graph(decision: Decision, others: list[Decision]) -> Decision:
    """An incremental refresh dearer than a full one is right if it saves the views that read it more.

    After a full recompute they would see every row change, and would have to be recomputed themselves.
    """
    if decision.right_alone is not False or decision.chosen == FULL or decision.full is None:
        return decision
    lost = decision.costs[decision.chosen].cpu - decision.full.cpu
    saved = 0.0
    for each in _downstream(decision, others):
        if each.full is not None and each.chosen in each.costs:
            saved += each.full.cpu - each.costs[each.chosen].cpu
    best = decision.incremental is not None and near(
        decision.costs[decision.chosen].cpu, decision.incremental.cpu
    )
    return Decision(**{**vars(decision), "right": best and lost <= saved})


def _downstream(decision: Decision, others: list[Decision]) -> list[Decision]:
    """The decisions on views that read this one, directly or not."""
    names = {decision.view.lower()}
    found: list[Decision] = []
    for each in others:  # in the order of the pipeline: what reads comes after what is read
        if names & set(each.upstream):
            names.add(each.view.lower())
            found.append(each)
    return found


@dataclass(frozen=True)
class Whole:
    """A whole pipeline in one batch."""

    batch: int
    wall: float
    cpu: float
    rows_read: int
    complete: bool
    """Every view was measured: the run went so far, and was not killed between a refresh and its record."""


def whole(record: Record, mode: str, batch: int, views: Collection[str] | None = None) -> Whole | None:
    """The sum over all views of a pipeline, or some, refreshed one after the other."""
    entries = record.find("refreshes", batch=batch, mode=mode)
    wanted = {each["view"] for each in record.find("refreshes", mode=mode)}
    if views is not None:
        wanted &= set(views)
        entries = [each for each in entries if each["view"] in wanted]
    if not entries:
        return None
    wall = sum(each["wall_seconds"] for each in entries)
    cpu = sum(each["cpu_seconds"] for each in entries)
    rows = sum(each["rows_read"] for each in entries)
    measured = {each["view"] for each in entries if not each["lost"]}
    return Whole(batch, wall, cpu, rows, measured == wanted)

"""Figures over a whole run, and the sentences that say what they mean."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from rennet.bench.tpcdi.run.decide import FULL, Decision, Whole, decisions, whole
from rennet.bench.tpcdi.run.record import Record
from rennet.bench.tpcdi.run.workload import EVALUATED

MOST = 0.5
"""From this share on, something is most of a refresh, or of a view."""


@dataclass(frozen=True)
class Published:
    """What the paper says of a view."""

    chosen: str
    right: bool
    faster: bool


PAPER = {
    "DimCustomer": Published("incremental", True, True),
    "DimAccount": Published("incremental", True, False),
    "DimTrade": Published("incremental", True, True),
    "Prospect": Published("full", True, False),
    "FactWatches": Published("incremental", True, True),
    "FactHoldings": Published("incremental", True, True),
    "FactCashBalances": Published("full", False, True),
    "FactMarketHistory": Published("incremental", True, True),
}
"""Its figures are without numbers; this is what its text says of them. DimAccount's choice was right for
the views that read it."""


class Summary:
    """One run, looked at as the report needs it."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.decisions = [each for each in decisions(record) if each.view in EVALUATED]
        self.views = [view for view in EVALUATED if any(each.view == view for each in self.decisions)]
        self.batches = sorted({each.batch for each in self.decisions})

    @property
    def scale(self) -> float:
        """The scale factor."""
        return float(self.record.document["settings"]["scale"])

    @property
    def name(self) -> str:
        """What tells this run from others in a report."""
        return f"SF {self.scale:g}, {self.record.document['variant']}"

    def of(self, view: str) -> list[Decision]:
        """What was decided on a view, batch by batch."""
        return [each for each in self.decisions if each.view == view]

    def speedup(self, view: str, by: str = "wall") -> float | None:
        """Full over incremental: the median over batches."""
        found = [value for each in self.of(view) if (value := each.speedup(by)) is not None]
        return median(found) if found else None

    def against_overwrite(self, view: str, by: str = "wall") -> float | None:
        """The same, if Spark runs the query and overwrites a table by itself, as one does without rennet."""
        found = []
        for each in self.of(view):
            runs = self.record.find("overwrites", batch=each.batch, view=view)
            own = getattr(each.incremental, by) if each.incremental is not None else 0.0
            if runs and own:
                found.append(median(run[f"{by}_seconds"] for run in runs) / own)
        return median(found) if found else None

    def maintainable(self) -> list[str]:
        """Views for which every batch allowed an incremental technique."""
        return [view for view in self.views if all(_possible(self.record, each) for each in self.of(view))]

    def faster(self, by: str = "wall") -> list[str]:
        """Views that are refreshed faster incrementally."""
        return [view for view in self.views if (self.speedup(view, by) or 0.0) > 1.0]

    def compared(self) -> list[str]:
        """Views that were refreshed both ways."""
        return [view for view in self.views if self.speedup(view) is not None]

    def judged(self) -> list[Decision]:
        """Decisions for which enough was measured to judge them."""
        return [each for each in self.decisions if each.right is not None]

    def right(self, view: str) -> bool | None:
        """Whether every decision on a view that could be judged was right."""
        found = [each.right for each in self.of(view) if each.right is not None]
        return all(found) if found else None

    def whole(self, mode: str, batch: int, evaluated: bool = False) -> Whole | None:
        """A whole pipeline, or the evaluated views of it, if it was measured without gaps."""
        found = whole(self.record, mode, batch, EVALUATED if evaluated else None)
        return found if found is not None and found.complete else None

    def rows(self, view: str, batch: int) -> int:
        """Rows of a view after a batch."""
        entries = [e for e in self.record.find("refreshes", mode="AUTO", view=view) if e["batch"] <= batch]
        return sum(each.get("rows_inserted", 0) - each.get("rows_deleted", 0) for each in entries)

    def failed(self) -> list[dict[str, object]]:
        """Checks that failed."""
        return [each for each in self.record.document["checks"] if not each["ok"]]


def _possible(record: Record, decision: Decision) -> bool:
    (entry,) = record.find("refreshes", batch=decision.batch, mode="AUTO", view=decision.view)
    return any(each["applicable"] and each["technique"] != FULL for each in entry["techniques"])


def limits(summary: Summary, view: str) -> str:
    """What most of a view's incremental refresh goes into, in a sentence."""
    measured = [each for each in summary.of(view) if each.incremental is not None and each.full is not None]
    if not measured:
        return "not measured"
    last = measured[-1]
    cost, full = last.incremental, last.full
    assert cost is not None and full is not None
    rows = summary.rows(view, last.batch)
    changed = cost.inserted / rows if rows else 0.0
    read = cost.rows_read / full.rows_read if full.rows_read else 0.0
    idle = cost.idle / cost.wall if cost.wall else 0.0
    facts = (
        f"{cost.inserted:,.0f} rows inserted and {cost.deleted:,.0f} deleted, "
        f"{_percent(read)} of the rows a full recompute reads, {cost.jobs:.0f} jobs, "
        f"no task running for {_percent(idle)} of {cost.wall:.1f} s"
    )
    if changed >= MOST:
        return f"nearly the whole view changes: {facts}"
    if idle >= MOST:
        return f"fixed cost, for planning and committing: {facts}"
    if read >= MOST:
        return f"it reads most of what a full recompute reads: {facts}"
    return f"the work on the change itself: {facts}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.01 or share == 0 else f"{100 * share:.2g} %"

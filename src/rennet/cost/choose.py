"""Stage 5: which of the possible refreshes to run, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rennet.cost.learned import Costed, Learned, Reader
from rennet.cost.operators import operators
from rennet.cost.rates import Rates, shipped
from rennet.cost.sizes import Statistics
from rennet.cost.writing import way_of
from rennet.delta.generate import RefreshPlan
from rennet.errors import Issue, IssueSubType, IssueType, NotIncrementalError, Policy, Technique
from rennet.ways import Way

WORTH_RECOMPUTING = 0.05
"""CPU seconds a full recompute must save: it rewrites rows that did not change, and whoever reads the view's
changes sees all of them."""
CLEARLY, UNCLEAR = 1.1, 0.05
"""One technique is dearer than another if it costs so many times as much, and so many seconds more."""
WORTH_TRYING, WORTH_KNOWING = 1.25, 2.0
"""Up to so many times the cost of a full recompute, an estimate that no refresh has tested yet is tested, if
the recompute takes so many CPU seconds: else there is little to be gained at any later refresh."""
DEAREST = 6
"""Operators kept of an estimate: those that cost most."""


@dataclass(frozen=True)
class Costs:
    """What the choice is made from."""

    statistics: Statistics
    learned: Learned = field(default_factory=Learned)
    rates: Rates = field(default_factory=shipped)
    readers: Sequence[Reader] = ()

    def of(self, plan: RefreshPlan) -> Estimate:
        fading = not plan.everything
        costed = [self.learned.cost(each, self.rates, fading) for each in operators(plan, self.statistics)]
        below = sum(reader.full if plan.everything else reader.incremental for reader in self.readers)
        return Estimate(tuple(costed), below, way_of(plan, self.statistics))


@dataclass(frozen=True)
class Estimate:
    """What a refresh is expected to cost: executor CPU seconds, operator by operator."""

    operators: tuple[Costed, ...]
    below: float = 0.0
    """What the views that read this one will cost then."""
    way: Way = Way.OVERWRITE
    """How its rows will be written, if nothing better is seen when they are."""

    @property
    def seconds(self) -> float:
        return sum(each.seconds for each in self.operators)

    @property
    def total(self) -> float:
        return self.seconds + self.below

    def to_dict(self) -> dict[str, Any]:
        dearest = sorted(self.operators, key=lambda each: -each.seconds)[:DEAREST]
        found: dict[str, Any] = {
            "estimate": round(self.seconds, 4),
            "operators": [each.to_dict() for each in dearest],
            "written_by": str(self.way),
        }
        return {**found, "below": round(self.below, 4)} if self.below else found


@dataclass(frozen=True)
class Choice:
    """The plan to run, the reason, and what became of the others."""

    plan: RefreshPlan
    reason: str
    techniques: tuple[dict[str, Any], ...]
    costs: Costs | None = None
    """What it was made from."""

    @property
    def kept(self) -> tuple[dict[str, Any], ...]:
        """For the record: the operators of the chosen technique alone."""
        return tuple(
            each if each["chosen"] else {name: value for name, value in each.items() if name != "operators"}
            for each in self.techniques
        )


def choose(
    found: Mapping[Technique, RefreshPlan | Issue],
    policy: Policy,
    costs: Costs | None = None,
    forced: Technique | None = None,
) -> Choice:
    """The technique to use; an error when a policy or a forced technique cannot be honoured.

    Without `costs` the order in which the techniques are found decides.
    """
    options = _Options.of(found, costs)
    full = options.plans[Technique.COMPLETE_RECOMPUTE]
    incremental = [plan for plan in options.plans.values() if plan.technique is not full.technique]
    if forced is not None:
        return _forced(forced, options)
    if not incremental:
        issue = _main_issue(options.issues)
        if policy is Policy.INCREMENTAL_STRICT:
            raise not_incremental(issue)
        return options.choice(full, str(issue))
    if not options.estimates:
        return options.choice(incremental[0], WHY[incremental[0].technique])
    best = _cheapest(incremental, options.estimates)
    mine, whole = options.estimates[best.technique], options.estimates[full.technique]
    rejected = too_dear(mine, whole)
    untested = costs is not None and costs.learned.untested and _worth_testing(mine, whole)
    if rejected is not None and policy is Policy.AUTO and not untested:
        return options.rejecting(incremental, rejected).choice(full, str(rejected))
    said = _comparison(options.estimates, best.technique)
    if rejected is not None and untested:
        said += "; no refresh of this view has tested that yet, so this one does"
    return options.choice(best, WHY[best.technique] + said)


@dataclass(frozen=True)
class _Options:
    """Techniques as plans or as reasons why not, and what the plans would cost."""

    plans: Mapping[Technique, RefreshPlan]
    issues: Mapping[Technique, Issue]
    estimates: Mapping[Technique, Estimate]
    costs: Costs | None

    @staticmethod
    def of(found: Mapping[Technique, RefreshPlan | Issue], costs: Costs | None) -> _Options:
        plans = {technique: plan for technique, plan in found.items() if isinstance(plan, RefreshPlan)}
        issues = {technique: issue for technique, issue in found.items() if isinstance(issue, Issue)}
        estimates = {} if costs is None else {t: costs.of(plan) for t, plan in plans.items()}
        return _Options(plans, issues, estimates, costs)

    def rejecting(self, rejected: Sequence[RefreshPlan], why: Issue) -> _Options:
        return replace(self, issues={**self.issues, **{plan.technique: why for plan in rejected}})

    def choice(self, plan: RefreshPlan, reason: str) -> Choice:
        techniques = tuple(
            {
                "technique": str(technique),
                "applicable": technique in self.plans,
                "chosen": technique is plan.technique,
                "issue": str(self.issues.get(technique, "")),
                **(self.estimates[technique].to_dict() if technique in self.estimates else {}),
            }
            for technique in dict.fromkeys((*self.plans, *self.issues))
        )
        return Choice(plan, reason, techniques, self.costs)


def not_incremental(issue: Issue) -> NotIncrementalError:
    """The error of a refresh that was not allowed to recompute."""
    return NotIncrementalError(
        f"This refresh cannot be incremental: {issue}.",
        "Run REFRESH MATERIALIZED VIEW … FULL once, or relax the refresh policy.",
    )


def _forced(forced: Technique, options: _Options) -> Choice:
    if forced in options.plans:
        return options.choice(options.plans[forced], f"{IssueType.REQUESTED}: {forced} was asked for")
    issue = options.issues.get(forced, Issue(IssueType.NOT_THIS_SHAPE, f"{forced} is not available"))
    possible = ", ".join(options.plans)
    raise NotIncrementalError(f"{forced} cannot be used: {issue}.", f"Possible now: {possible}.")


def _cheapest(plans: Sequence[RefreshPlan], estimates: Mapping[Technique, Estimate]) -> RefreshPlan:
    """The first that is not clearly dearer than another."""
    if any(plan.technique is Technique.APPEND_ONLY for plan in plans):
        # It is what is left of tracing rows if none can go.
        plans = [plan for plan in plans if plan.technique is not Technique.ROW_BASED]
    least = min(estimates[plan.technique].total for plan in plans)
    return next(p for p in plans if estimates[p.technique].total <= least * CLEARLY + UNCLEAR)


def _main_issue(issues: Mapping[Technique, Issue]) -> Issue:
    """The reason that counts: not that a technique has another shape, but what stands in the way."""
    real = [issue for issue in issues.values() if issue.type is not IssueType.NOT_THIS_SHAPE]
    return (real or list(issues.values()))[0]


def too_dear(best: Estimate, full: Estimate) -> Issue | None:
    """The reason to recompute in full, if that is worth it."""
    if best.total - full.total < WORTH_RECOMPUTING:
        return None
    below = ", with the views that read it" if best.below or full.below else ""
    return Issue(
        IssueType.INCREMENTAL_PLAN_REJECTED_BY_COST_MODEL,
        f"the best of them would take {best.total:.2f} s of CPU, a full recompute {full.total:.2f} s{below}",
        IssueSubType.CHANGESET_SIZE_THRESHOLD_EXCEEDED,
    )


def _worth_testing(mine: Estimate, whole: Estimate) -> bool:
    return mine.total <= whole.total * WORTH_TRYING and whole.total >= WORTH_KNOWING


def _comparison(estimates: Mapping[Technique, Estimate], chosen: Technique) -> str:
    mine, full = estimates[chosen], estimates[Technique.COMPLETE_RECOMPUTE]
    text = f" (about {mine.seconds:.2f} s of CPU, {full.seconds:.2f} s for a full recompute"
    if mine.seconds > full.seconds and mine.total < full.total:
        text += f", which would cost the views that read it {full.below - mine.below:.2f} s more"
    return text + ")"


WHY = {
    Technique.APPEND_ONLY: "the sources only gained rows, and so does the view",
    Technique.GROUP_AGGREGATE: "every aggregate can be updated from the changed rows alone",
    Technique.GENERIC_AGGREGATE: "only the groups with changed rows are recomputed",
    Technique.WINDOW_FUNCTION: "only the window partitions with changed rows are recomputed",
    Technique.PARTITION_OVERWRITE: "only the partitions with changed rows are recomputed",
    Technique.ROW_BASED: "the changed rows are traced through the query",
}

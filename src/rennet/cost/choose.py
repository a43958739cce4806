"""Stage 5: which of the possible refreshes to run, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rennet.delta.generate import RefreshPlan
from rennet.errors import Issue, IssueSubType, IssueType, NotIncrementalError, Policy, Technique

LARGEST_CHANGE = 0.5
"""Above this share of its source, a change is dearer to trace than the source is to read again."""
SMALL_CHANGE = 1 << 20
"""Below this many bytes the share says nothing: a file's fixed overhead is most of it."""


@dataclass(frozen=True)
class SourceSize:
    """How large a source is, and how much of it changed."""

    name: str
    full_bytes: int
    changed_bytes: int
    rewritten: bool


@dataclass(frozen=True)
class Choice:
    """The plan to run, the reason, and what became of the others."""

    plan: RefreshPlan
    reason: str
    techniques: tuple[dict[str, Any], ...]


def choose(
    found: Mapping[Technique, RefreshPlan | Issue],
    policy: Policy,
    sizes: Sequence[SourceSize],
    forced: Technique | None = None,
) -> Choice:
    """The technique to use; an error when a policy or a forced technique cannot be honoured."""
    plans = {technique: plan for technique, plan in found.items() if isinstance(plan, RefreshPlan)}
    issues = {technique: issue for technique, issue in found.items() if isinstance(issue, Issue)}
    full = plans[Technique.COMPLETE_RECOMPUTE]
    incremental = [plan for plan in plans.values() if plan.technique is not Technique.COMPLETE_RECOMPUTE]
    if forced is not None:
        return _forced(forced, plans, issues)
    if not incremental:
        issue = _main_issue(issues)
        if policy is Policy.INCREMENTAL_STRICT:
            raise not_incremental(issue)
        return _choice(full, str(issue), plans, issues)
    best = incremental[0]
    rejected = _too_large(sizes)
    if rejected is not None and policy is Policy.AUTO:
        for plan in incremental:
            issues[plan.technique] = rejected
        return _choice(full, str(rejected), plans, issues)
    return _choice(best, _why(best.technique), plans, issues)


def not_incremental(issue: Issue) -> NotIncrementalError:
    """The error of a refresh that was not allowed to recompute."""
    return NotIncrementalError(
        f"This refresh cannot be incremental: {issue}.",
        "Run REFRESH MATERIALIZED VIEW … FULL once, or relax the refresh policy.",
    )


def _forced(
    forced: Technique, plans: Mapping[Technique, RefreshPlan], issues: Mapping[Technique, Issue]
) -> Choice:
    if forced in plans:
        return _choice(plans[forced], f"{IssueType.REQUESTED}: {forced} was asked for", plans, issues)
    issue = issues.get(forced, Issue(IssueType.NOT_THIS_SHAPE, f"{forced} is not available"))
    possible = ", ".join(plans)
    raise NotIncrementalError(f"{forced} cannot be used: {issue}.", f"Possible now: {possible}.")


def _choice(
    plan: RefreshPlan,
    reason: str,
    plans: Mapping[Technique, RefreshPlan],
    issues: Mapping[Technique, Issue],
) -> Choice:
    techniques = tuple(
        {
            "technique": str(technique),
            "applicable": technique in plans,
            "chosen": technique is plan.technique,
            "issue": str(issues.get(technique, "")),
        }
        for technique in dict.fromkeys((*plans, *issues))
    )
    return Choice(plan, reason, techniques)


def _main_issue(issues: Mapping[Technique, Issue]) -> Issue:
    """The reason that counts: not that a technique has another shape, but what stands in the way."""
    real = [issue for issue in issues.values() if issue.type is not IssueType.NOT_THIS_SHAPE]
    return (real or list(issues.values()))[0]


def _too_large(sizes: Sequence[SourceSize]) -> Issue | None:
    for size in sizes:
        limit = 0.0 if size.rewritten else LARGEST_CHANGE * size.full_bytes
        if size.changed_bytes > max(SMALL_CHANGE, limit):
            what = "was overwritten" if size.rewritten else "changed for the most part"
            return Issue(
                IssueType.INCREMENTAL_PLAN_REJECTED_BY_COST_MODEL,
                f"{size.name} {what} ({size.changed_bytes:,} of {size.full_bytes:,} bytes)",
                IssueSubType.CHANGESET_SIZE_THRESHOLD_EXCEEDED,
            )
    return None


def _why(technique: Technique) -> str:
    return WHY[technique]


WHY = {
    Technique.APPEND_ONLY: "the sources only gained rows, and so does the view",
    Technique.GROUP_AGGREGATE: "every aggregate can be updated from the changed rows alone",
    Technique.GENERIC_AGGREGATE: "only the groups with changed rows are recomputed",
    Technique.WINDOW_FUNCTION: "only the window partitions with changed rows are recomputed",
    Technique.ROW_BASED: "the changed rows are traced through the query",
}

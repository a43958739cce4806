"""Replacing a definition by another one: what of the stored rows can be kept.

If only constants differ, the difference they make is refreshed like any other change. If the stored rows
determine the new ones, those are computed from them, and then brought up to date. Either way is taken only
if a fingerprint proves that the stored rows are what it starts from.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from rennet.cost.choose import too_dear
from rennet.delta.generate import RefreshPlan
from rennet.delta.stored import from_stored
from rennet.enable.constants import as_now, changed_constants, isolated, with_constants
from rennet.enable.determinism import obstacles
from rennet.enable.layout import lay_out
from rennet.enable.moments import with_moments
from rennet.errors import Issue, IssueType, Policy, RennetError, Technique
from rennet.execute.planning import Query
from rennet.execute.refresh import of_view, plans, recompute
from rennet.execute.situation import Pins, Situation, assess
from rennet.fingerprint.canonical import canonical, fingerprint
from rennet.fingerprint.compare import difference, kept, same
from rennet.jvm import Jvm
from rennet.plan.expressions import Expr
from rennet.plan.ir import Node
from rennet.storage.provenance import Definition, Provenance
from rennet.storage.tables import MaterializedView, first_line


@dataclass(frozen=True)
class Carry:
    """A query that goes on from the stored rows of another one, and what it carries over to them."""

    query: Query
    said: str
    rows: Node | None = None
    """The rows of the new backing table as a projection of the stored ones, if it is to be another table."""


@dataclass(frozen=True)
class Replacement:
    """What replacing a definition starts from; without `carry`, everything is computed anew."""

    situation: Situation
    carry: Carry | None = None


def replacement(
    jvm: Jvm,
    view: MaterializedView,
    definition: Definition,
    query: Query,
    old: Callable[[], Query],
    pins: Pins | None = None,
) -> Replacement:
    """How the view gets its new definition; `old` plans the one it has."""
    try:
        found = _carried(view, definition, query, old)
    except Exception as error:  # comparing must never cost the user more than a recompute
        found = f"it could not be compared with the old one ({first_line(error)})"
    if isinstance(found, Carry):
        assert view.provenance is not None
        situation = assess(jvm, found.query, as_stored(view.provenance, found.query), pins)
        issue = situation.issue
        if issue is None and (found.rows is None or situation.changed or query.temporal):
            issue = _not_incremental(situation)
        if issue is None and found.rows is not None:
            issue = _dearer(jvm, view, situation, found.rows)
        if issue is None:
            return Replacement(replace(situation, carried=found.said), found)
        found = str(issue)
    known = view.provenance
    told = difference(known.meaning if known is not None else "", query.meaning)
    why = Issue(
        IssueType.QUERY_FINGERPRINT_CHANGED, f"the view was given another definition, and {found}{told}"
    )
    return Replacement(replace(assess(jvm, query, None, pins), issue=why))


def as_stored(known: Provenance, query: Query) -> Provenance:
    """The provenance of rows that a query goes on from, though another one made them."""
    return replace(
        known,
        fingerprint=query.fingerprint,
        older_fingerprints=query.fingerprints[1:],
        stored_as=query.stored_as,
        meaning=kept(query.meaning),
    )


def as_last_time(situation: Situation, known: Provenance) -> Situation:
    """What the stored rows were made from: no source has changed since, and no time has passed."""
    sources = tuple(source for source in known.sources if source.path in {s.path for s in situation.now})
    then = datetime.fromisoformat(known.evaluated_at)
    return replace(
        situation,
        now=sources,
        before=sources,
        changes={},
        configuration=known.configuration,
        moment=then,
        moment_before=then,
    )


def _dearer(jvm: Jvm, view: MaterializedView, situation: Situation, rows: Node) -> Issue | None:
    """Why the stored rows are not worth reading: the sources may be far smaller than the view."""
    model = of_view(jvm, view).model(situation)
    anew = model.of(recompute(situation))
    return too_dear(model.of(RefreshPlan(Technique.CARRY_OVER, rows, everything=True)), anew)


def _not_incremental(situation: Situation) -> Issue | None:
    found = plans(situation)
    if any(isinstance(p, RefreshPlan) for t, p in found.items() if t is not Technique.COMPLETE_RECOMPUTE):
        return None
    return next(p for p in found.values() if isinstance(p, Issue))


def _carried(
    view: MaterializedView, definition: Definition, query: Query, old: Callable[[], Query]
) -> Carry | str:
    """How to go on from the stored rows, or why they are of no use."""
    known = view.provenance
    if known is None:
        return "it was never refreshed"
    if definition.policy is Policy.FULL:
        return "its policy is FULL"
    try:
        before = old()
    except RennetError as error:
        return f"the old one cannot be read any more ({error.message})"
    obstacle = next(iter((*query.obstacles, *before.obstacles)), None)
    if obstacle is not None:
        return f"one of the two is recomputed at every refresh ({obstacle.message})"
    if query.layout.fixed or before.layout.fixed:
        return "values are fixed at first sight in one of the two"
    recorded = (known.fingerprint, *known.older_fingerprints)
    if not same(recorded, before.fingerprints) or known.stored_as not in ("", before.stored_as):
        return "the text of the old one no longer means what is stored"
    if _laid_out_alike(view.definition, definition):
        found = with_old_constants(query, before)
        if found is not None:
            return found
    rows = from_stored(query.layout, before.layout)
    if rows is not None:
        return Carry(query, _columns_changed(before.schema.names, query.schema.names), rows)
    return "the stored rows do not tell the new ones"


def _laid_out_alike(old: Definition, new: Definition) -> bool:
    return (old.partitioned_by, old.cluster_by) == (new.partitioned_by, new.cluster_by)


def _columns_changed(old: list[str], new: list[str]) -> str:
    """What became of the columns, which the stored rows determine."""
    dropped = [name for name in old if name not in new]
    added = [name for name in new if name not in old]
    moved = [name for name in old if name in new] != [name for name in new if name in old]
    parts = [f"without {', '.join(dropped)}"] * bool(dropped) + [f"with {', '.join(added)}"] * bool(added)
    parts += ["in another order"] * moved
    return " ".join(["the stored rows determine the new ones", *[f"({', '.join(parts)})"] * bool(parts)])


def with_old_constants(query: Query, old: Query) -> Carry | None:
    """The query with constants that stand for those of the old one before; None if more than that differs.

    The proof: with the old constants put back, it means what the old query means, and its columns, hidden
    ones included, hold what the stored ones do; with the new ones, what those of the new query do.
    """
    judged = with_constants(query.answer, old.answer, rebuilt=False)
    found = changed_constants(judged)
    if not found or fingerprint(canonical(judged, tuple(query.schema.names))) != old.fingerprint:
        return None
    decided = with_moments(judged)
    if not isolated(decided) or obstacles(decided):
        return None
    stored = lay_out(decided).plan
    names = tuple(column.name for column in stored.output)
    meant = [fingerprint(canonical(plan, names)) for plan in (stored, as_now(stored))]
    if meant != [old.stored_as, query.stored_as]:
        return None
    layout = lay_out(with_moments(with_constants(query.answer, old.answer)))
    said = ", ".join(f"{_shown(each.before)} became {_shown(each.after)}" for each in found)
    what = "constants" if len(found) > 1 else "a constant"
    return Carry(
        replace(query, layout=layout, temporal=True), f"of the definition only {what} changed: {said}"
    )


def _shown(constant: Expr | None) -> str:
    assert constant is not None
    return repr(constant.text) if constant.type == "string" else constant.text

"""Stage 6, and the one place that sees all six: bring a view up to date, in one commit, and say how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from json import dumps
from math import inf
from typing import Any

from pyspark.sql import DataFrame

from rennet.cost.choose import Choice, Costs, choose, not_incremental
from rennet.cost.fit import Fitting
from rennet.cost.learned import Learned, Reader
from rennet.cost.sizes import Flows
from rennet.delta.generate import RefreshPlan, candidates, complete_recompute
from rennet.delta.partitions import Touched
from rennet.delta.rules import Derivation
from rennet.errors import (
    ConcurrentRefreshError,
    Issue,
    IssueType,
    NotIncrementalError,
    Policy,
    RennetError,
    Technique,
)
from rennet.execute.apply import Applied, apply, overwritten
from rennet.execute.costing import ViewSize, costs, dearest, experience
from rennet.execute.information import table_information
from rennet.execute.leaves import Leaves, pinned_query
from rennet.execute.metrics import Meter
from rennet.execute.planning import Query
from rennet.execute.sharing import read_again
from rennet.execute.spare import sparing, worth_comparing
from rennet.execute.workspace import TINY_WORK, WORTH_KEY_RANGES, fit, lightly
from rennet.fingerprint.canonical import SETTINGS
from rennet.fingerprint.compare import difference, kept, same
from rennet.jvm import Jvm
from rennet.plan.dataframe import Writer
from rennet.plan.expressions import AFTER, BEFORE
from rennet.plan.ir import Constant, Foreign, Node, used_columns
from rennet.storage.changes import ChangeKind, SourceChange, changes_since
from rennet.storage.provenance import (
    COSTS_DOMAIN,
    DEFINITION_DOMAIN,
    PROVENANCE_DOMAIN,
    Definition,
    Provenance,
)
from rennet.storage.sources import SourceVersion, pin, size_in_bytes, snapshot
from rennet.storage.tables import MaterializedView, first_line
from rennet.storage.transaction import Transaction
from rennet.version import __version__

INCREMENTAL = tuple(
    technique
    for technique in Technique
    if technique not in (Technique.NO_OP, Technique.COMPLETE_RECOMPUTE, Technique.CARRY_OVER)
)
"""The techniques a refresh may have instead of a recompute."""

HEAVY = (Technique.COMPLETE_RECOMPUTE, Technique.WINDOW_FUNCTION, Technique.PARTITION_OVERWRITE)
"""Those that go through more than what changed."""


@dataclass(frozen=True)
class RefreshResult:
    """What a refresh did and why."""

    view: str
    technique: Technique
    reason: str
    rows_inserted: int
    rows_deleted: int
    sources: tuple[dict[str, Any], ...]
    """Each source: name, the version before (None the first time) and the version now."""
    techniques: tuple[dict[str, Any], ...]
    wall_seconds: float
    cpu_seconds: float
    jobs: int
    version: int | None
    """The backing table's Delta version, None when nothing was committed."""


@dataclass(frozen=True)
class Situation:
    """What a refresh starts from: the query, the sources now, and how they changed."""

    query: Query
    now: tuple[SourceVersion, ...]
    before: tuple[SourceVersion, ...]
    changes: Mapping[str, SourceChange]
    issue: Issue | None
    """Why nothing but a full recompute is possible, whatever the query."""
    configuration: dict[str, str]
    moment: datetime
    """What `current_timestamp()` stands for in this refresh."""
    moment_before: datetime | None = None
    """What it stood for in the last one; None in the first."""
    carried: str = ""
    """What of the definition changed and is carried over to the stored rows."""
    stored_at: str | None = None
    """When the refresh was made that the stored rows are taken to come from."""

    @property
    def moments(self) -> dict[str, datetime]:
        return {AFTER: self.moment, BEFORE: self.moment_before or self.moment}

    @property
    def changed(self) -> dict[str, bool]:
        """Sources that changed, and whether they only grew."""
        return {
            path: change.kind is ChangeKind.APPEND
            for path, change in self.changes.items()
            if change.kind is not ChangeKind.NONE
        }

    @property
    def touched(self) -> Touched:
        """Of the changed sources with partitions, the values under which rows changed."""
        found = {path: self.changes[path].partitions for path in self.changed}
        return {path: values for path, values in found.items() if values}

    @property
    def moved(self) -> bool:
        return self.now != self.before


def source_bytes(jvm: Jvm, situation: Situation) -> int:
    """The size of all that the query reads; what Spark cannot tell counts as huge."""
    known = {path: change.full_bytes for path, change in situation.changes.items()}
    tables = sum(known.get(s.path) or size_in_bytes(jvm, snapshot(jvm, s)) for s in situation.now)
    others = [leaf for leaf in situation.query.layout.plan.walk() if isinstance(leaf, Constant | Foreign)]
    return tables + sum(int(leaf.handle.stats().sizeInBytes()) for leaf in others)


def clock() -> datetime:
    """The time, in one place."""
    return datetime.now(UTC)


def settings(jvm: Jvm) -> dict[str, str]:
    """The session's settings that change what a query means."""
    return {name: str(jvm.spark.conf.get(name)) for name in SETTINGS}


Pins = dict[str, SourceVersion]
"""Versions of tables by path, which several refreshes share: the first that reads a table pins it for all."""


def assess(jvm: Jvm, query: Query, provenance: Provenance | None, pins: Pins | None = None) -> Situation:
    """Pin the sources and read from their logs what happened since the last refresh; no data is read."""
    now = pin(jvm, query.sources)
    if pins is not None:
        known = {source.path: source for source in provenance.sources} if provenance else {}
        # A view that is further already is never taken back.
        behind = {path for path, s in pins.items() if path in known and known[path].version > s.version}
        now = tuple(s if s.path in behind else pins.setdefault(s.path, s) for s in now)
    configuration = settings(jvm)
    moment = clock()
    if provenance is None:
        first = Issue(IssueType.CHANGE_SET_MISSING, "this is the first refresh")
        return Situation(query, now, (), {}, first, configuration, moment)
    before = {source.path: source for source in provenance.sources}
    issue = _definition_issue(query, provenance, configuration, before)
    changes: dict[str, SourceChange] = {}
    if issue is None:
        used = used_columns(query.layout.plan)
        changes = {s.path: changes_since(jvm, before[s.path], s, used.get(s.path, ())) for s in now}
        issue = next((c.issue for c in changes.values() if c.issue is not None), None)
    then = datetime.fromisoformat(provenance.evaluated_at)
    return Situation(
        query, now, provenance.sources, changes, issue, configuration, moment, then,
        stored_at=provenance.refreshed_at,
    )  # fmt: skip


def _definition_issue(
    query: Query,
    provenance: Provenance,
    configuration: dict[str, str],
    before: Mapping[str, SourceVersion],
) -> Issue | None:
    for name, value in configuration.items():
        old = provenance.configuration.get(name, value)
        if old != value:
            kind = IssueType.TIME_ZONE_CHANGED if "timeZone" in name else IssueType.CONFIGURATION_CHANGED
            return Issue(kind, f"{name} was {old!r} and is {value!r}")
    known = (provenance.fingerprint, *provenance.older_fingerprints)
    if not same(known, query.fingerprints) or any(path not in before for _, path in query.sources):
        what = "what the view's query means has changed since the last refresh"
        told = difference(provenance.meaning, query.meaning)
        return Issue(IssueType.QUERY_FINGERPRINT_CHANGED, what + told)
    if provenance.stored_as not in ("", query.stored_as):  # empty: written before it was recorded
        what = "the view's query means the same, but its hidden columns would be others"
        return Issue(IssueType.QUERY_FINGERPRINT_CHANGED, what)
    return None


@dataclass(frozen=True)
class Refresh:
    """One refresh of one view; its rows are in the table at `path`, or in what `stored` reads."""

    jvm: Jvm
    name: str
    path: str
    definition: Definition
    size: ViewSize = field(default_factory=ViewSize)
    learned: Learned = field(default_factory=Learned)
    readers: Sequence[Reader] = ()
    """Views that read this one and are refreshed after it."""
    stored: Transaction | None = None

    def run(
        self,
        situation: Situation,
        provenance: Provenance | None,
        meter: Meter,
        full: bool = False,
        technique: Technique | None = None,
    ) -> RefreshResult:
        """Choose, apply and commit; a plan that fails is replaced by a full recompute where allowed."""
        if self._nothing_to_do(situation, full, technique):
            return self._no_op(situation, provenance, meter)
        choice = self.choose(situation, full, technique)
        fit(self.jvm, source_bytes(self.jvm, situation), heavy=choice.plan.technique in HEAVY)
        try:
            return self._attempt(situation, choice, meter)
        except RennetError:
            raise
        except Exception as error:
            retry = self._after_failure(situation, choice, error, technique)
            return self._attempt(situation, retry, meter)

    def carry_over(self, situation: Situation, rows: Node, meter: Meter) -> RefreshResult:
        """Write the rows that the stored ones determine; no source is read."""
        plan = RefreshPlan(Technique.CARRY_OVER, rows, everything=True)
        return self._attempt(situation, Choice(plan, situation.carried, ()), meter)

    def _nothing_to_do(self, situation: Situation, full: bool, technique: Technique | None) -> bool:
        asked = full or technique not in (None, Technique.NO_OP)
        fixed = not situation.query.obstacles and self.definition.policy is not Policy.FULL
        still = not situation.changed and not situation.query.temporal
        return situation.issue is None and still and not asked and fixed

    # -- choosing ------------------------------------------------------------------------------------

    def choose(self, situation: Situation, full: bool = False, technique: Technique | None = None) -> Choice:
        """What this refresh will do, and what every technique would cost."""
        found = plans(situation)
        model = self.model(situation)
        if technique is Technique.NO_OP:
            raise NotIncrementalError("NO_OP cannot be used: the sources changed.", "Leave it to rennet.")
        if full or self.definition.policy is Policy.FULL:
            why = "a full refresh was asked for" if full else "the view's policy is FULL"
            choice = choose(found, Policy.AUTO, model, Technique.COMPLETE_RECOMPUTE)
            return replace(choice, reason=f"{IssueType.REQUESTED}: {why}")
        policy = Policy.AUTO if situation.moment_before is None else self.definition.policy
        if policy is Policy.AUTO and situation.query.layout.fixed and situation.moment_before is not None:
            policy = Policy.INCREMENTAL  # a recompute would see every row for the first time
        choice = choose(found, policy, model, technique)
        said = f"; {situation.carried}" if situation.carried else ""
        return replace(choice, reason=choice.reason + said)

    def model(self, situation: Situation) -> Costs:
        """What the cost model knows about this refresh."""
        changes = tuple(situation.changes.values())
        layout = situation.query.layout
        return costs(self.jvm, layout, situation.now, changes, self.size, self.learned, self.readers)

    def _after_failure(
        self, situation: Situation, choice: Choice, error: Exception, technique: Technique | None
    ) -> Choice:
        """The full recompute that replaces a failed plan, unless it was one or none is allowed."""
        if choice.plan.technique is Technique.COMPLETE_RECOMPUTE or technique is not None:
            raise error
        issue = Issue(IssueType.EXECUTION_FAILED, f"{choice.plan.technique} failed: {first_line(error)}")
        if self.definition.policy is Policy.INCREMENTAL_STRICT:
            raise not_incremental(issue) from error
        return self._full(situation, issue)

    def _full(self, situation: Situation, issue: Issue) -> Choice:
        found: dict[Technique, RefreshPlan | Issue] = dict.fromkeys(INCREMENTAL, issue)
        found[Technique.COMPLETE_RECOMPUTE] = recompute(situation)
        return choose(found, Policy.AUTO, self.model(situation))

    # -- doing ---------------------------------------------------------------------------------------

    def _attempt(self, situation: Situation, choice: Choice, meter: Meter) -> RefreshResult:
        with Transaction(self.jvm, self.path) as transaction:
            self._check_unmoved(situation, transaction)
            model = choice.costs or self.model(situation)
            applied = self._apply(situation, choice.plan, model, transaction)
            if applied.total is not None:
                choice = replace(choice, reason=f"{choice.reason}; only rows that differ were written")
            if applied.issue is None:
                return self._commit(situation, choice, model, applied, transaction, meter)
        if self.definition.policy is Policy.INCREMENTAL_STRICT:
            raise not_incremental(applied.issue)
        return self._attempt(situation, self._full(situation, applied.issue), meter)

    def _check_unmoved(self, situation: Situation, transaction: Transaction) -> None:
        """The changes lead from what the situation was assessed on to now: they fit no other rows.

        Delta sees who commits after the transaction began; this sees who did between the two.
        """
        found = transaction.domains().get(PROVENANCE_DOMAIN)
        if situation.stored_at is None or found is None:
            return
        if Provenance.from_json(found).refreshed_at != situation.stored_at:
            raise ConcurrentRefreshError(f"{self.name} was refreshed meanwhile.", "Try again.")

    def _apply(
        self, situation: Situation, plan: RefreshPlan, model: Costs, transaction: Transaction
    ) -> Applied:
        leaves = Leaves(
            self.jvm,
            {s.path: s for s in situation.now},
            {s.path: s for s in situation.before},
            situation.changes,
            used_columns(situation.query.layout.plan),
            self.stored or transaction,
        )
        columns = [column.name for column in situation.query.layout.stored]
        if situation.query.obstacles:
            now = {s.path: s for s in situation.now}
            rows = pinned_query(self.jvm, situation.query.analyzed, now, situation.moment).toDF(*columns)
            written = self._spared(situation, model, transaction, rows, columns)
            return written or overwritten(transaction, rows)
        writer, fitted, moved = self._fitted(leaves, situation, plan, model)
        if not plan.everything:
            with lightly(self.jvm, moved):
                return apply(fitted, writer, transaction, columns, self.size.repeats)
        assert plan.inserted is not None
        with writer.keeping():
            rows = writer.dataframe(plan.inserted).toDF(*columns)
            written = self._spared(situation, model, transaction, rows, columns)
            return written or overwritten(transaction, rows)

    def _fitted(
        self, leaves: Leaves, situation: Situation, plan: RefreshPlan, model: Costs
    ) -> tuple[Writer, RefreshPlan, float]:
        """The plan as its sizes permit, what writes it, and how much of it is sent from task to task."""
        make, size = partial(Writer, self.jvm, leaves, situation.moments), source_bytes(self.jvm, situation)
        if size < TINY_WORK:
            return make(False, ranges=False, together=True, shared=read_again(plan)), plan, 0.0
        if plan.everything:  # Spark sees for itself how large whole tables are
            return make(), plan, inf
        fitting = Fitting(Flows(model.statistics))
        fitted = fitting.fitted(plan)
        writer = make(True, fitting.sent, fitting.few, size >= WORTH_KEY_RANGES)
        return writer, fitted, fitting.moved(fitted)

    def _spared(
        self,
        situation: Situation,
        model: Costs,
        transaction: Transaction,
        rows: DataFrame,
        columns: list[str],
    ) -> Applied | None:
        """Write only what differs, if the views that read this one have more of that than it costs.

        A query that may give other rows when it is asked twice is left out: it is read more than once.
        """
        query = situation.query
        same_again = all(each.type is IssueType.PLAN_NOT_INCREMENTALIZABLE for each in query.obstacles)
        replaced = situation.moment_before is None or self.stored is not None or query.layout.fixed
        if replaced or not same_again or not worth_comparing(model, query.layout.stored):
            return None
        return sparing(transaction, rows, columns)

    def _commit(
        self,
        situation: Situation,
        choice: Choice,
        model: Costs,
        applied: Applied,
        transaction: Transaction,
        meter: Meter,
    ) -> RefreshResult:
        measured = meter.read()
        spent = meter.operators(len(situation.query.layout.stored), model.rates)
        moment = datetime.now(UTC).isoformat()
        rows = self._rows_after(choice.plan, applied)
        provenance = Provenance(
            situation.query.fingerprint,
            situation.now,
            str(choice.plan.technique),
            choice.reason,
            situation.moment.isoformat(),
            moment,
            __version__,
            situation.configuration,
            choice.kept,
            applied.inserted,
            applied.deleted,
            round(measured.wall_seconds, 3),
            round(measured.cpu_seconds, 3),
            situation.query.fingerprints[1:],
            kept(situation.query.meaning),
            situation.query.stored_as,
            rows,
            situation.query.follows_from_tables,
            applied.repeats or (self.size.repeats and not choice.plan.everything),
            dearest(spent),
        )
        version = transaction.read_version + 1
        learned = experience(model, choice.plan, rows or 0, measured.cpu_seconds, version, spent)
        domains = {
            PROVENANCE_DOMAIN: provenance.to_json(),
            DEFINITION_DOMAIN: self.definition.to_json(),
            COSTS_DOMAIN: dumps(learned.to_json()),
        }
        version = transaction.commit(domains, f"REFRESH {choice.plan.technique}")
        after = meter.read()
        return self._result(
            situation, choice.plan.technique, choice.reason, applied, choice.techniques, version,
            (after.wall_seconds, after.cpu_seconds, after.jobs),
        )  # fmt: skip

    def _rows_after(self, plan: RefreshPlan, applied: Applied) -> int | None:
        if plan.everything:
            return applied.inserted if applied.total is None else applied.total
        return None if self.size.rows is None else self.size.rows + applied.inserted - applied.deleted

    def _no_op(self, situation: Situation, provenance: Provenance | None, meter: Meter) -> RefreshResult:
        """Nothing changed; only if the sources moved on (OPTIMIZE, say) is that worth a commit."""
        reason = "no source has changed"
        version = None
        if situation.moved and provenance is not None:
            reason = "the sources were only reorganized: no row changed"
            moved = replace(
                provenance,
                sources=situation.now,
                technique=str(Technique.NO_OP),
                reason=reason,
                refreshed_at=datetime.now(UTC).isoformat(),
                rows_inserted=0,
                rows_deleted=0,
                techniques=(),
                spent=(),
            )
            with Transaction(self.jvm, self.path) as transaction:
                self._check_unmoved(situation, transaction)
                version = transaction.commit({PROVENANCE_DOMAIN: moved.to_json()}, "REFRESH NO_OP")
        measured = meter.read()
        figures = (measured.wall_seconds, measured.cpu_seconds, measured.jobs)
        return self._result(situation, Technique.NO_OP, reason, Applied(), (), version, figures)

    def _result(
        self,
        situation: Situation,
        technique: Technique,
        reason: str,
        applied: Applied,
        techniques: tuple[dict[str, Any], ...],
        version: int | None,
        figures: tuple[float, float, int],
    ) -> RefreshResult:
        before = {source.path: source.version for source in situation.before}
        sources = tuple(
            {"name": s.name, "from": before.get(s.path), "to": s.version, "table_id": s.table_id}
            | table_information(situation.changes.get(s.path))
            for s in situation.now
        )
        return RefreshResult(
            self.name, technique, reason, applied.inserted, applied.deleted, sources, techniques,
            *figures, version,
        )  # fmt: skip


def plans(situation: Situation) -> dict[Technique, RefreshPlan | Issue]:
    """Every technique for this situation, as a plan or as the reason why not."""
    issue = situation.issue
    if issue is None or issue.type is not IssueType.CHANGE_SET_MISSING:
        issue = next(iter(situation.query.obstacles), issue)
    if issue is None:
        try:
            return candidates(situation.query.layout, Derivation(situation.changed, situation.touched))
        except Exception as error:  # a rule that fails must never cost the user more than a recompute
            issue = Issue(IssueType.PLANNING_FAILED, first_line(error))
    return {**dict.fromkeys(INCREMENTAL, issue), Technique.COMPLETE_RECOMPUTE: recompute(situation)}


def recompute(situation: Situation) -> RefreshPlan:
    """The plan that is always possible."""
    made = complete_recompute(situation.query.layout, Derivation({}))
    assert isinstance(made, RefreshPlan)
    return made


def of_view(jvm: Jvm, view: MaterializedView, readers: Sequence[Reader] = ()) -> Refresh:
    stored = view.provenance
    size = ViewSize(view.bytes) if stored is None else ViewSize(view.bytes, stored.rows, stored.repeats)
    learned = Learned.from_json(view.costs)
    return Refresh(jvm, str(view.name), view.path, view.definition, size, learned, readers)

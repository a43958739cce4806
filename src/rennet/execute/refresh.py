"""Stage 6, and the one place that sees all six: bring a view up to date, in one commit, and say how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf

from pyspark.sql import DataFrame

from rennet.cost.choose import Choice, Costs, choose, not_incremental
from rennet.cost.fit import Fitting
from rennet.cost.learned import Learned, Reader
from rennet.cost.sizes import Flows
from rennet.cost.writing import worth_rewriting
from rennet.delta.generate import RefreshPlan, candidates, complete_recompute
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
from rennet.execute.costing import ViewSize, costs
from rennet.execute.leaves import Leaves, pinned_query
from rennet.execute.metrics import Meter
from rennet.execute.record import Record, RefreshResult, nothing_done, reorganized
from rennet.execute.sharing import read_again
from rennet.execute.situation import Situation, source_bytes
from rennet.execute.spare import sparing, worth_comparing
from rennet.execute.workspace import TINY_WORK, WORTH_KEY_RANGES, fit, lightly
from rennet.jvm import Jvm
from rennet.plan.dataframe import Writer
from rennet.plan.ir import Node
from rennet.plan.reading import used_columns
from rennet.storage.provenance import PROVENANCE_DOMAIN, Definition, Provenance
from rennet.storage.tables import MaterializedView, first_line
from rennet.storage.transaction import Transaction

INCREMENTAL = tuple(
    technique
    for technique in Technique
    if technique not in (Technique.NO_OP, Technique.COMPLETE_RECOMPUTE, Technique.CARRY_OVER)
)
"""The techniques a refresh may have instead of a recompute."""

HEAVY = (Technique.COMPLETE_RECOMPUTE, Technique.WINDOW_FUNCTION, Technique.PARTITION_OVERWRITE)
"""Those that go through more than what changed."""


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
        model = choice.costs or self.model(situation)
        weighing = partial(worth_rewriting, len(situation.query.layout.stored), model.rates)
        with Transaction(self.jvm, self.path, weighing) as transaction:
            self._check_unmoved(situation, transaction)
            applied = self._apply(situation, choice.plan, model, transaction)
            if applied.total is not None:
                choice = replace(choice, reason=f"{choice.reason}; only rows that differ were written")
            if applied.issue is None:
                made = Record(self.name, self.definition, self.size, situation, choice, model, applied)
                return made.commit(transaction, meter)
        if self.definition.policy is Policy.INCREMENTAL_STRICT:
            raise not_incremental(applied.issue)
        return self._attempt(situation, self._full(situation, applied.issue), meter)

    def _no_op(self, situation: Situation, provenance: Provenance | None, meter: Meter) -> RefreshResult:
        """Nothing changed; only if the sources moved on is that worth a commit."""
        if provenance is None or not situation.moved:
            return nothing_done(self.name, situation, meter)
        with Transaction(self.jvm, self.path) as transaction:
            self._check_unmoved(situation, transaction)
            return reorganized(self.name, situation, provenance, transaction, meter)

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
                return apply(fitted, writer, transaction, columns, self.size.repeats, self.size.rows)
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
        writer = make(True, fitting.sent, fitting.few, fitting.unsure, size >= WORTH_KEY_RANGES)
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
    rows, repeats = (None, False) if stored is None else (stored.rows, stored.repeats)
    size = ViewSize(view.bytes, rows, repeats, view.files, view.vectors)
    learned = Learned.from_json(view.costs)
    return Refresh(jvm, str(view.name), view.path, view.definition, size, learned, readers)

"""The record of a refresh: its provenance, in the commit of its rows, and what its caller is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from json import dumps
from typing import Any

from rennet.cost.choose import Choice, Costs
from rennet.cost.spent import Spent
from rennet.errors import Technique
from rennet.execute.apply import Applied
from rennet.execute.costing import ViewSize, dearest, experience
from rennet.execute.information import table_information
from rennet.execute.metrics import Measured, Meter
from rennet.execute.situation import Situation
from rennet.fingerprint.compare import kept
from rennet.storage.provenance import (
    COSTS_DOMAIN,
    DEFINITION_DOMAIN,
    PROVENANCE_DOMAIN,
    Definition,
    Provenance,
)
from rennet.storage.transaction import Transaction
from rennet.version import __version__


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
    written_by: str = ""
    """The way the rows took into the table, several joined by " + "; empty if none did."""


@dataclass(frozen=True)
class Record:
    """A refresh whose rows are in a transaction, ready to be committed with what is to be known of it."""

    view: str
    definition: Definition
    size: ViewSize
    situation: Situation
    choice: Choice
    model: Costs
    applied: Applied

    def commit(self, transaction: Transaction, meter: Meter) -> RefreshResult:
        measured = meter.read()
        spent = meter.operators(len(self.situation.query.layout.stored), self.model.rates)
        provenance = self._provenance(transaction.written_by, measured, spent)
        domains = {
            PROVENANCE_DOMAIN: provenance.to_json(),
            DEFINITION_DOMAIN: self.definition.to_json(),
            COSTS_DOMAIN: self._costs(transaction.read_version + 1, measured, spent),
        }
        technique = self.choice.plan.technique
        version = transaction.commit(domains, f"REFRESH {technique}")
        return _result(
            self.view, self.situation, technique, self.choice.reason, self.applied, self.choice.techniques,
            version, meter.read(), provenance.written_by,
        )  # fmt: skip

    def _provenance(self, written_by: str, measured: Measured, spent: Sequence[Spent]) -> Provenance:
        situation, choice, applied = self.situation, self.choice, self.applied
        query = situation.query
        return Provenance(
            query.fingerprint,
            situation.now,
            str(choice.plan.technique),
            choice.reason,
            situation.moment.isoformat(),
            datetime.now(UTC).isoformat(),
            __version__,
            situation.configuration,
            choice.kept,
            applied.inserted,
            applied.deleted,
            round(measured.wall_seconds, 3),
            round(measured.cpu_seconds, 3),
            query.fingerprints[1:],
            kept(query.meaning),
            query.stored_as,
            self._rows_after(),
            query.follows_from_tables,
            applied.repeats or (self.size.repeats and not choice.plan.everything),
            dearest(spent),
            written_by,
        )

    def _costs(self, version: int, measured: Measured, spent: Sequence[Spent]) -> str:
        """What is known of the costs of refreshes once this one is."""
        rows, plan = self._rows_after() or 0, self.choice.plan
        return dumps(experience(self.model, plan, rows, measured.cpu_seconds, version, spent).to_json())

    def _rows_after(self) -> int | None:
        applied, size = self.applied, self.size
        if self.choice.plan.everything:
            return applied.inserted if applied.total is None else applied.total
        return None if size.rows is None else size.rows + applied.inserted - applied.deleted


def nothing_done(view: str, situation: Situation, meter: Meter) -> RefreshResult:
    """No source has changed: nothing is committed."""
    return _no_op(view, situation, "no source has changed", None, meter)


def reorganized(
    view: str, situation: Situation, provenance: Provenance, transaction: Transaction, meter: Meter
) -> RefreshResult:
    """The sources moved on (OPTIMIZE, say), though no row changed: worth a commit, and no more."""
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
        written_by="",
    )
    version = transaction.commit({PROVENANCE_DOMAIN: moved.to_json()}, "REFRESH NO_OP")
    return _no_op(view, situation, reason, version, meter)


def _no_op(view: str, situation: Situation, reason: str, version: int | None, meter: Meter) -> RefreshResult:
    return _result(view, situation, Technique.NO_OP, reason, Applied(), (), version, meter.read())


def _result(
    view: str,
    situation: Situation,
    technique: Technique,
    reason: str,
    applied: Applied,
    techniques: tuple[dict[str, Any], ...],
    version: int | None,
    measured: Measured,
    written_by: str = "",
) -> RefreshResult:
    before = {source.path: source.version for source in situation.before}
    sources = tuple(
        {"name": s.name, "from": before.get(s.path), "to": s.version, "table_id": s.table_id}
        | table_information(situation.changes.get(s.path))
        for s in situation.now
    )
    return RefreshResult(
        view, technique, reason, applied.inserted, applied.deleted, sources, techniques,
        measured.wall_seconds, measured.cpu_seconds, measured.jobs, version, written_by,
    )  # fmt: skip

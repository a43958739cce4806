"""What a refresh starts from: the versions of the sources, and what happened to them since the last one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from rennet.delta.partitions import Touched
from rennet.errors import Issue, IssueType
from rennet.execute.planning import Query
from rennet.fingerprint.canonical import SETTINGS
from rennet.fingerprint.compare import difference, same
from rennet.jvm import Jvm
from rennet.plan.expressions import AFTER, BEFORE
from rennet.plan.ir import Constant, Foreign
from rennet.plan.reading import used_columns
from rennet.storage.changes import ChangeKind, SourceChange, changes_since
from rennet.storage.provenance import Provenance
from rennet.storage.sources import SourceVersion, pin, size_in_bytes, snapshot


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

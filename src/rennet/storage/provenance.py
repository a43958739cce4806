"""What a refresh leaves behind, in the same Delta commit as its data.

Domains of the backing table's metadata hold JSON: the *definition*, which changes only with CREATE,
and the *provenance* of the last refresh. Together they are enough to go on from another machine.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from rennet.errors import Policy
from rennet.storage.sources import SourceVersion

DEFINITION_DOMAIN = "rennet.definition"
PROVENANCE_DOMAIN = "rennet.provenance"
COSTS_DOMAIN = "rennet.costs"
"""What refreshes have cost, for the cost model: its own JSON, which nothing else reads."""
FORMAT = 1
FIXED = "rennet.fixed"
"""The property that names the columns whose values are fixed at first sight."""


@dataclass(frozen=True)
class Definition:
    """What the user asked for. `query` is SQL text, or empty when a Python function defines the view."""

    name: str
    query: str
    function: str = ""
    comment: str = ""
    columns: tuple[tuple[str, str], ...] = ()
    """The user's columns and their comments."""
    properties: tuple[tuple[str, str], ...] = ()
    partitioned_by: tuple[str, ...] = ()
    cluster_by: tuple[str, ...] = ()
    policy: Policy = Policy.AUTO
    schedule: dict[str, Any] | None = field(default=None, hash=False)
    database: str = "default"
    """The schema unqualified names in the query were resolved in."""
    created_at: str = ""

    @property
    def fixed(self) -> tuple[str, ...]:
        """The columns whose values are computed when a row is first seen, and then kept."""
        return tuple(filter(None, (name.strip() for name in dict(self.properties).get(FIXED, "").split(","))))

    def to_json(self) -> str:
        return json.dumps({"format": FORMAT, **asdict(self)}, sort_keys=True)

    @staticmethod
    def from_json(text: str) -> Definition:
        found = json.loads(text)
        found.pop("format")
        for name in ("columns", "properties"):
            found[name] = tuple((a, b) for a, b in found[name])
        for name in ("partitioned_by", "cluster_by"):
            found[name] = tuple(found[name])
        return Definition(**{**found, "policy": Policy(found["policy"])})


@dataclass(frozen=True)
class Provenance:
    """What the stored rows were computed from, how, and why that way."""

    fingerprint: str
    sources: tuple[SourceVersion, ...]
    technique: str
    reason: str
    evaluated_at: str
    """The moment `current_timestamp()` stood for."""
    refreshed_at: str
    engine_version: str
    configuration: dict[str, str] = field(hash=False)
    techniques: tuple[dict[str, Any], ...] = field(default=(), hash=False)
    """Every technique considered, and why it was not applicable or not chosen."""
    rows_inserted: int = 0
    rows_deleted: int = 0
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    older_fingerprints: tuple[str, ...] = ()
    """The same query by the older versions of the fingerprint that are still known."""
    meaning: str = ""
    """The text that was hashed, to tell what changed when the fingerprint does."""
    stored_as: str = ""
    """A hash of what each column of the backing table holds, hidden ones included."""
    rows: int | None = None
    """How many rows the backing table has; not known of those written before it was recorded."""
    follows_from_tables: bool = False
    """Can nothing but its sources and settings change what the query means?"""
    repeats: bool = False
    """Were there equal rows when some had to be deleted? Then their hashes do not tell which."""
    spent: tuple[dict[str, Any], ...] = field(default=(), hash=False)
    """What the physical operators that took most really took: CPU seconds, rows and bytes of each."""
    written_by: str = ""
    """The ways in which the rows were written; empty if none were, or if it was before that was recorded."""

    def to_json(self) -> str:
        return json.dumps({"format": FORMAT, **asdict(self)}, sort_keys=True)

    @staticmethod
    def from_json(text: str) -> Provenance:
        found = json.loads(text)
        found.pop("format")
        found["sources"] = tuple(SourceVersion(**source) for source in found["sources"])
        for name in ("techniques", "spent"):
            found[name] = tuple(found.get(name, ()))
        found["older_fingerprints"] = tuple(found.get("older_fingerprints", ()))
        return Provenance(**found)

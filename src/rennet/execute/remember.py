"""Queries that were read before and still mean the same.

To read a query takes hundreds of questions to Spark. Where what it means follows from its text, its tables
and the views it reads them through, it is read again only if one of those, or a setting, is another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rennet.execute.planning import Query
from rennet.execute.still import still_names
from rennet.jvm import JavaObject, Jvm
from rennet.storage.catalog import catalog_table
from rennet.storage.provenance import Definition
from rennet.storage.sources import current, delta_log

LAST_COMMIT = "spark.databricks.delta.lastCommitVersionInSession"


@dataclass(frozen=True)
class Known:
    """A query, and what it was read from."""

    definition: Definition
    query: Query
    settings: JavaObject
    tables: tuple[JavaObject, ...]
    """Delta's metadata of each source: its id, columns and properties."""
    views: tuple[JavaObject | None, ...]
    """What the catalog says of each view below it."""

    def holds(self, jvm: Jvm, definition: Definition) -> bool:
        """Would it be the same, read now?"""
        return (
            _undated(definition) == self.definition
            and bool(_settings(jvm).equals(self.settings))
            and not any(_hidden(jvm, name) for name in _names(self.query))
            and all(still_names(jvm, *source) for source in self.query.sources)
            and _equal(_views(jvm, self.query), self.views)
            and _equal(_tables(jvm, self.query), self.tables)
        )


def known(jvm: Jvm, definition: Definition, query: Query) -> Known | None:
    """The query with what it was read from, if it follows from that alone."""
    if not definition.query or query.views is None:
        return None
    read_from = _settings(jvm), _tables(jvm, query), _views(jvm, query)
    return Known(_undated(definition), query, *read_from)


def _undated(definition: Definition) -> Definition:
    return replace(definition, created_at="")


def _settings(jvm: Jvm) -> JavaObject:
    """All but what Delta notes among them after every commit."""
    return jvm.session.sessionState().conf().getAllConfs().removed(LAST_COMMIT)


def _tables(jvm: Jvm, query: Query) -> tuple[JavaObject, ...]:
    return tuple(current(jvm, delta_log(jvm, path)).metadata() for _, path in query.sources)


def _views(jvm: Jvm, query: Query) -> tuple[JavaObject | None, ...]:
    return tuple(catalog_table(jvm, view) for view in query.views or ())


def _equal(now: Sequence[JavaObject | None], then: Sequence[JavaObject | None]) -> bool:
    pairs = zip(now, then, strict=True)
    return all(a is not None and b is not None and bool(a.equals(b)) for a, b in pairs)


def _names(query: Query) -> list[str]:
    """The last part of every name."""
    return [name.rpartition(".")[2] for name, _ in query.sources] + [view.name for view in query.views or ()]


def _hidden(jvm: Jvm, name: str) -> bool:
    """Does a temporary view of that name come before the one of the catalog?"""
    return bool(jvm.session.sessionState().catalog().getTempView(name).isDefined())

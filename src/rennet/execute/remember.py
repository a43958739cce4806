"""Queries that were read before and still mean the same.

To read a query takes hundreds of questions to Spark. Where what it means follows from its text and its
tables, it is read again only if one of those, or a setting, is another.
"""

from __future__ import annotations

from dataclasses import dataclass

from rennet.execute.planning import Query
from rennet.execute.still import still_names
from rennet.jvm import JavaObject, Jvm
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

    def holds(self, jvm: Jvm, definition: Definition) -> bool:
        """Would it be the same, read now?"""
        return (
            definition == self.definition
            and bool(_settings(jvm).equals(self.settings))
            and all(_means(jvm, *source) for source in self.query.sources)
            and all(a.equals(b) for a, b in zip(_tables(jvm, self.query), self.tables, strict=True))
        )


def known(jvm: Jvm, definition: Definition, query: Query) -> Known | None:
    """The query with what it was read from, if it follows from that alone."""
    if not definition.query or not query.follows_from_tables:
        return None
    return Known(definition, query, _settings(jvm), _tables(jvm, query))


def _settings(jvm: Jvm) -> JavaObject:
    """All but what Delta notes among them after every commit."""
    return jvm.session.sessionState().conf().getAllConfs().removed(LAST_COMMIT)


def _tables(jvm: Jvm, query: Query) -> tuple[JavaObject, ...]:
    return tuple(current(jvm, delta_log(jvm, path)).metadata() for _, path in query.sources)


def _means(jvm: Jvm, name: str, path: str) -> bool:
    """Does a name still stand for the table there? A temporary view may have come before it."""
    if not still_names(jvm, name, path):
        return False
    return not jvm.session.sessionState().catalog().getTempView(name.rpartition(".")[2]).isDefined()

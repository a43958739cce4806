"""What the catalog says of names, asked for as seldom as is safe.

A question to a metastore takes as long as a small scan. One that other processes use is asked in every piece
of work. An embedded one (Derby's, or Spark's own in memory) has room for one process, so that all its changes
go through Spark's catalog in this one, which tells of them: until it does, answers hold.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pyspark.errors import AnalysisException

from rennet.jvm import JavaObject, Jvm
from rennet.storage.names import ViewName

NOT_FOUND = ("TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND")
DERBY, SERVED = "jdbc:derby:", "jdbc:derby://"
"""How the address of an embedded database begins, and how that of one which a server gives to all."""
ANSWERS = "_rennet_catalog"
"""Where Spark's context keeps what its catalog answered, so that both are forgotten together."""


@dataclass(frozen=True)
class Answers:
    """What an embedded catalog said of names, and after how many changes."""

    changes: JavaObject
    known: dict[ViewName, tuple[int, JavaObject | None]] = field(default_factory=dict)

    def of(self, jvm: Jvm, name: ViewName) -> JavaObject | None:
        # Counted before the question: a change after it makes the answer an old one. Spark tells of
        # changes before and after it makes them, so that none can end between the two unseen.
        changes = self.changes.count()
        found = self.known.get(name)
        if found is None or found[0] != changes:
            found = self.known[name] = changes, _asked(jvm, name)
        return found[1]


def catalog_table(jvm: Jvm, name: ViewName) -> JavaObject | None:
    """What the catalog says of a table or view."""
    answers = _answers(jvm)
    if answers is not None:
        return answers.of(jvm, name)
    known = None if jvm.work is None else jvm.work.catalog
    if known is None:
        return _asked(jvm, name)
    if name not in known:
        known[name] = _asked(jvm, name)
    return known[name]


def _asked(jvm: Jvm, name: ViewName) -> JavaObject | None:
    """One question to the metastore; Spark's session would ask before whether schema and table exist."""
    try:
        return jvm.kept("metastore", lambda: _metastore(jvm)).getTable(name.schema, name.name)
    except AnalysisException as error:
        if error.getCondition() in NOT_FOUND:
            return None
        raise


def _metastore(jvm: Jvm) -> JavaObject:
    """Hive's, if there is one: what Spark makes of its answer takes as long again, and is not needed here."""
    catalog = jvm.session.sharedState().externalCatalog().unwrapped()
    return catalog.client() if _is_hive(catalog) else catalog


def _answers(jvm: Jvm) -> Answers | None:
    """What is known of an embedded catalog; None of one that other processes may change."""
    kept = jvm.spark.sparkContext.__dict__
    if ANSWERS not in kept:
        kept[ANSWERS] = _listening(jvm) if _embedded(jvm) else None
    found: Answers | None = kept[ANSWERS]
    return found


def _listening(jvm: Jvm) -> Answers:
    changes = jvm.compiled("CatalogChanges")
    jvm.session.sharedState().externalCatalog().addListener(changes)
    return Answers(changes)


def _embedded(jvm: Jvm) -> bool:
    catalog = jvm.session.sharedState().externalCatalog().unwrapped()
    if not _is_hive(catalog):
        return bool(catalog.getClass().getSimpleName() == "InMemoryCatalog")
    client = catalog.client()
    if client.getConf("hive.metastore.uris", "").strip():
        return False
    address = str(client.getConf("javax.jdo.option.ConnectionURL", ""))
    return address.startswith(DERBY) and not address.startswith(SERVED)


def _is_hive(catalog: JavaObject) -> bool:
    return bool(catalog.getClass().getSimpleName() == "HiveExternalCatalog")

"""Nothing to do, found out without looking at the query again.

Most refreshes of a schedule find no change. To read a query takes hundreds of questions to Spark, to read the
versions of its tables few; those are enough where nothing else can change what it means (`meaning.py`).
"""

from __future__ import annotations

import time

from rennet.errors import Policy, SourceError, Technique
from rennet.execute.record import RefreshResult
from rennet.execute.situation import settings
from rennet.jvm import Jvm
from rennet.storage.names import ViewName
from rennet.storage.provenance import Provenance
from rennet.storage.sources import pin
from rennet.storage.tables import MaterializedView, location_of
from rennet.version import __version__


def no_op(jvm: Jvm, view: MaterializedView) -> RefreshResult | None:
    """The refresh that does nothing, if it is certain that there is nothing to do."""
    started = time.perf_counter()
    then = view.provenance
    if then is None or not then.follows_from_tables or not _as_it_was(jvm, view, then):
        return None
    sources = tuple(
        {"name": s.name, "from": s.version, "to": s.version, "table_id": s.table_id} for s in then.sources
    )
    taken = time.perf_counter() - started
    return RefreshResult(
        str(view.name), Technique.NO_OP, "no source has changed", 0, 0, sources, (), taken, 0.0, 0, None
    )


def _as_it_was(jvm: Jvm, view: MaterializedView, then: Provenance) -> bool:
    """Are definition, engine, settings, the meaning of names and the versions of tables those of then?"""
    if not view.definition.query or view.definition.policy is Policy.FULL:
        return False
    if then.engine_version != __version__:
        return False
    names = [(source.name, source.path) for source in then.sources]
    try:
        moved = pin(jvm, names, anew=True) != then.sources
    except SourceError:  # whatever it is, the refresh will say so and put it on record
        return False
    if moved or settings(jvm) != then.configuration:
        return False
    return all(still_names(jvm, *each) for each in names)


def still_names(jvm: Jvm, name: str, path: str) -> bool:
    """Does a name of the catalog still stand for the table there? A path always does."""
    if name == path:
        return True
    catalog, *parts = name.split(".")
    if catalog != "spark_catalog" or len(parts) != 2:
        return False
    return location_of(jvm, ViewName(*parts)) == path

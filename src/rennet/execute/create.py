"""Creating and replacing views: all or nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pyspark.sql import DataFrame

from rennet.cost.choose import not_incremental
from rennet.delta.generate import RefreshPlan, candidates
from rennet.delta.rules import Derivation
from rennet.errors import (
    AlreadyExistsError,
    ConcurrentRefreshError,
    Issue,
    IssueType,
    Policy,
    RennetError,
    Technique,
)
from rennet.execute.carry import Carry, Replacement, as_last_time, as_stored, replacement
from rennet.execute.metrics import Meter
from rennet.execute.planning import Query
from rennet.execute.record import RefreshResult
from rennet.execute.refresh import Refresh, of_view
from rennet.execute.situation import Pins, Situation, assess, clock
from rennet.fingerprint.compare import same
from rennet.jvm import Jvm
from rennet.plan.dataframe import Writer
from rennet.plan.expressions import AFTER
from rennet.storage import tables
from rennet.storage.names import ViewName
from rennet.storage.provenance import DEFINITION_DOMAIN, PROVENANCE_DOMAIN, Definition, Provenance
from rennet.storage.tables import MaterializedView, first_line
from rennet.storage.transaction import Transaction

Fill = Callable[[str, Meter], RefreshResult]
"""Fills an empty backing table, given its path."""


def create(
    jvm: Jvm,
    name: ViewName,
    definition: Definition,
    query: Query,
    pins: Pins | None = None,
    fill: Fill | None = None,
) -> RefreshResult:
    """Make the backing table, fill it, and only then show the view.

    If a view of that name exists, readers see the old rows until the new ones are all there.
    """
    _check_policy(definition, query)
    old = tables.lookup(jvm, name)
    backing = tables.create_backing(jvm.spark, name, definition, _as_stored(jvm, query))
    try:
        path = tables.location(jvm, backing)
        meter = Meter(jvm, f"rennet create {name}")
        with meter.running():
            fill = fill or _anew(jvm, name, definition, assess(jvm, query, None, pins))
            result = fill(path, meter)
        _publish(jvm, name, backing, definition, query)
    except BaseException:
        tables.discard(jvm.spark, backing)
        raise
    if old is not None:
        tables.discard(jvm.spark, old)
    return result


def _anew(jvm: Jvm, name: ViewName, definition: Definition, situation: Situation) -> Fill:
    """Computes the rows from the sources."""
    return lambda path, meter: Refresh(jvm, str(name), path, definition).run(situation, None, meter)


def replace_definition(
    jvm: Jvm,
    view: MaterializedView,
    definition: Definition,
    query: Query,
    old: Callable[[], Query],
    pins: Pins | None = None,
) -> RefreshResult:
    """Give a view another definition, keeping of its rows what can be kept; `old` plans the one it has."""
    made = replacement(jvm, view, definition, query, old, pins)
    if made.carry is None:
        fill = _anew(jvm, view.name, definition, made.situation)
        return create(jvm, view.name, definition, query, pins, fill)
    if made.carry.rows is not None:
        fill = _carrying(jvm, view, definition, made, made.carry)
        return create(jvm, view.name, definition, query, pins, fill)
    _check_policy(definition, query)
    wanted = replace(definition, created_at=view.definition.created_at)
    tables.settle(jvm.spark, view.backing, view.definition.properties, wanted.properties)
    meter = Meter(jvm, f"rennet replace {view.name}")
    with meter.running():
        refresh = replace(of_view(jvm, view), definition=wanted)
        result = refresh.run(made.situation, view.provenance, meter)
    _publish(jvm, view.name, view.backing, wanted, query)
    return result


def _carrying(
    jvm: Jvm, view: MaterializedView, definition: Definition, made: Replacement, carry: Carry
) -> Fill:
    """Carries the rows over; if that fails, computes them anew."""

    def fill(path: str, meter: Meter) -> RefreshResult:
        refresh = Refresh(jvm, str(view.name), path, definition)
        try:
            return _carry_over(refresh, view, made, carry, meter)
        except RennetError:
            raise
        except Exception as error:
            failed = Issue(IssueType.EXECUTION_FAILED, f"CARRY_OVER failed: {first_line(error)}")
        again = replace(
            made.situation, issue=failed, moment_before=None, before=(), carried="", stored_at=None
        )
        return _anew(jvm, view.name, definition, again)(path, meter)

    return fill


def _carry_over(
    refresh: Refresh, view: MaterializedView, made: Replacement, carry: Carry, meter: Meter
) -> RefreshResult:
    """Fill a backing table with what the old one's rows determine, then bring it up to date."""
    assert view.provenance is not None
    assert carry.rows is not None
    known = as_stored(view.provenance, carry.query)
    with Transaction(refresh.jvm, view.path) as stored:
        if Provenance.from_json(stored.domains()[PROVENANCE_DOMAIN]) != view.provenance:
            raise ConcurrentRefreshError(f"{view.name} was refreshed meanwhile.", "Try again.")
        writing = replace(refresh, stored=stored)
        first = writing.carry_over(as_last_time(made.situation, known), carry.rows, meter)
    then = refresh.run(replace(made.situation, carried="", stored_at=None), known, meter)
    if then.technique is Technique.NO_OP:
        return replace(first, version=first.version if then.version is None else then.version)
    return replace(
        then,
        technique=first.technique,
        reason=f"{first.reason}; then {then.technique}: {then.reason}",
        rows_inserted=first.rows_inserted + then.rows_inserted,
    )


def _publish(jvm: Jvm, name: ViewName, backing: ViewName, definition: Definition, query: Query) -> None:
    visible = query.layout.visible
    fields = query.schema.fields
    tables.publish(jvm, name, backing, definition, fields, visible.name if visible else None)


def fits(jvm: Jvm, view: MaterializedView, query: Query) -> bool:
    """Does the backing table have the columns that the query's layout wants?

    A view below, or another version of rennet, may have changed them. The plan's own types are compared
    first; only if they differ is Spark asked what it would write.
    """
    if tuple((column.name, column.type) for column in query.layout.stored) == view.columns:
        return True
    fields = _as_stored(jvm, query).schema.fields
    return tuple((field.name, field.dataType.simpleString()) for field in fields) == view.columns


def _as_stored(jvm: Jvm, query: Query) -> DataFrame:
    """The rows of the backing table, of which only the columns matter here."""
    return Writer(jvm, moments={AFTER: clock()}).dataframe(query.layout.finished(query.layout.plan))


def rebuild(jvm: Jvm, view: MaterializedView, query: Query, pins: Pins | None = None) -> RefreshResult:
    """Fill a new backing table where the old one does not fit; readers see the old rows until then."""
    issue = Issue(IssueType.QUERY_FINGERPRINT_CHANGED, "the view's hidden columns have to be others now")
    if view.definition.policy is Policy.INCREMENTAL_STRICT:
        raise not_incremental(issue)
    return replace(create(jvm, view.name, view.definition, query, pins), reason=str(issue))


def _check_policy(definition: Definition, query: Query) -> None:
    """A view that must be incremental has to be able to be."""
    if definition.policy not in (Policy.INCREMENTAL, Policy.INCREMENTAL_STRICT):
        return
    issue = next(iter(query.obstacles), None)
    if issue is None:
        found = candidates(query.layout, Derivation({path: False for _, path in query.sources}))
        plans = [p for t, p in found.items() if t is not Technique.COMPLETE_RECOMPUTE]
        if any(isinstance(plan, RefreshPlan) for plan in plans):
            return
        issue = next(p for p in plans if not isinstance(p, RefreshPlan))
    raise not_incremental(issue)


def same_definition(view: MaterializedView, definition: Definition, query: Query) -> bool:
    """Would creating it again store the same rows in the same layout?"""
    known = view.provenance
    return (
        known is not None
        and same((known.fingerprint, *known.older_fingerprints), query.fingerprints)
        and known.stored_as in ("", query.stored_as)
        and view.definition.partitioned_by == definition.partitioned_by
        and view.definition.cluster_by == definition.cluster_by
        and [c for c, _ in view.definition.columns] == [c for c, _ in definition.columns]
    )


def redefine(jvm: Jvm, view: MaterializedView, definition: Definition, query: Query) -> None:
    """Take over what does not touch the rows: text, comments, properties, policy, schedule."""
    wanted = replace(definition, created_at=view.definition.created_at)
    if wanted == view.definition:
        return
    tables.settle(jvm.spark, view.backing, view.definition.properties, wanted.properties)
    with Transaction(jvm, view.path) as transaction:
        transaction.commit({DEFINITION_DOMAIN: wanted.to_json()}, "ALTER MATERIALIZED VIEW")
    _publish(jvm, view.name, view.backing, wanted, query)


def already_exists(name: ViewName) -> AlreadyExistsError:
    return AlreadyExistsError(
        f"The materialized view {name} exists with another definition.",
        "Use CREATE OR REPLACE, or replace=True, to change it.",
    )

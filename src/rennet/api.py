"""The Python surface: everything else is thin over `Engine`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame, SparkSession

from rennet.cost.learned import Reader
from rennet.cost.rates import write_rates
from rennet.errors import (
    DefinitionMissingError,
    Policy,
    RennetError,
    SessionError,
    Technique,
    ViewNotFoundError,
)
from rennet.execute import create as creation
from rennet.execute.calibrate import calibrate
from rennet.execute.carry import replacement
from rennet.execute.costing import rates, rates_file
from rennet.execute.explain import (
    Explanation,
    explain_query,
    explain_refresh,
    explain_replacement,
    last_refresh,
)
from rennet.execute.maintain import maintain
from rennet.execute.metrics import Meter
from rennet.execute.planning import Query, QueryFunction, analyze
from rennet.execute.record import RefreshResult
from rennet.execute.refresh import of_view
from rennet.execute.remember import Known, known
from rennet.execute.situation import Pins, assess
from rennet.execute.still import no_op
from rennet.execute.verify import LEFT_OPEN, VerifyResult, as_decided, as_read, as_written, compare
from rennet.execute.workspace import fit, workspace
from rennet.jvm import Jvm
from rennet.session import check
from rennet.storage import events, history, tables
from rennet.storage.names import ViewName, view_name
from rennet.storage.provenance import FIXED, Definition
from rennet.storage.sources import size_in_bytes, snapshot
from rennet.storage.tables import MaterializedView, first_line
from rennet.storage.versions import check_versions

if TYPE_CHECKING:
    from rennet.pipelines.asof import AsOf


@dataclass(frozen=True)
class Refreshing:
    """How a view is to be refreshed."""

    full: bool = False
    technique: Technique | None = None
    pins: Pins | None = None
    """Versions that several refreshes share."""
    readers: Sequence[Reader] = ()
    """The views below it, whose costs count when the technique is chosen."""

    def is_due(self, created: RefreshResult | None) -> bool:
        """Is there something left to do after this creation? A new view has just been computed."""
        anew = created is not None and created.technique is Technique.COMPLETE_RECOMPUTE
        return created is None or (self.full and not anew)


class Engine:
    """Materialized views on one Spark session.

    Any classic session with Delta will do: local, or on a cluster with a catalog of its own.
    """

    def __init__(self, spark: SparkSession) -> None:
        self.spark = check(spark)
        self._jvm = Jvm.of(spark)
        check_versions(self._jvm)
        self._functions: dict[ViewName, QueryFunction] = {}
        self._known: dict[ViewName, Known] = {}

    # -- defining ------------------------------------------------------------------------------------

    def create_materialized_view(
        self,
        name: str,
        query: str | QueryFunction,
        *,
        replace: bool = False,
        comment: str = "",
        columns: Mapping[str, str] | None = None,
        properties: Mapping[str, str] | None = None,
        partitioned_by: tuple[str, ...] = (),
        cluster_by: tuple[str, ...] = (),
        fixed: Sequence[str] = (),
        policy: Policy | str = Policy.AUTO,
        schedule: dict[str, Any] | None = None,
        pins: Pins | None = None,
        refreshing: Refreshing | None = None,
    ) -> RefreshResult | None:
        """Store a query's result and keep how it was made.

        `query` is SQL text, or a function that returns a DataFrame (with `spark` as its argument if it
        takes one). `columns` renames the columns, in order, and gives each a comment. The values of `fixed`
        columns are computed when a row is first seen, and kept; the property `rennet.fixed` says the same.
        Returns the first refresh, or None when a view with the same definition was there already: its data
        are kept. If a definition that differs in little is replaced, of its data is kept what can be. With
        `refreshing`, a view that was there already is refreshed, and the query is read once for both.
        """
        target, jvm = view_name(self.spark, name), self._jvm.begin()
        tables.check_free(jvm, target)
        definition = Definition(
            str(target),
            query if isinstance(query, str) else "",
            "" if isinstance(query, str) else getattr(query, "__qualname__", "function"),
            comment,
            tuple((columns or {}).items()),
            tuple({**(properties or {}), **({FIXED: ", ".join(fixed)} if fixed else {})}.items()),
            tuple(partitioned_by),
            tuple(cluster_by),
            Policy(policy),
            schedule,
            self.spark.catalog.currentDatabase(),
            datetime.now(UTC).isoformat(),
        )
        with workspace(jvm) as jvm:
            read = self._analyzed(jvm, target, query, definition)
            result = self._create(jvm, target, definition, read, replace, pins)
            if not isinstance(query, str):
                self._functions[target] = query
            if refreshing is not None and refreshing.is_due(result):
                return self._refreshed(jvm, tables.find(jvm, target), lambda: read, refreshing)
        return result

    def _create(
        self,
        jvm: Jvm,
        name: ViewName,
        definition: Definition,
        query: Query,
        replace: bool,
        pins: Pins | None,
    ) -> RefreshResult | None:
        if tables.lookup(jvm, name) is None:
            return creation.create(jvm, name, definition, query, pins)
        view = tables.find(jvm, name)
        if creation.same_definition(view, definition, query):
            creation.redefine(jvm, view, definition, query)
            return None
        if not replace:
            raise creation.already_exists(name)
        old = lambda: self._query(jvm, view)  # noqa: E731
        return creation.replace_definition(jvm, view, definition, query, old, pins)

    def drop(self, name: str, if_exists: bool = False) -> None:
        """Drop a view and its rows."""
        target = view_name(self.spark, name)
        if if_exists and tables.lookup(self._jvm, target) is None:
            return
        backing = tables.lookup(self._jvm, target)
        if backing is None:
            raise ViewNotFoundError(
                f"{target} is not a materialized view.", "SHOW MATERIALIZED VIEWS lists those there are."
            )
        tables.remove(self.spark, target, backing)
        self._functions.pop(target, None)

    def redefine(self, view: MaterializedView, definition: Definition) -> None:
        """Change what does not touch the rows: comment, properties, policy, schedule."""
        with workspace(self._jvm) as jvm:
            creation.redefine(jvm, view, definition, self._query(jvm, view))

    def views(self, schema: str | None = None) -> list[MaterializedView]:
        """All materialized views, of one schema or of all."""
        return [tables.find(self._jvm, name) for name in tables.everything(self._jvm, schema)]

    # -- refreshing ----------------------------------------------------------------------------------

    def refresh(
        self,
        name: str,
        full: bool = False,
        technique: Technique | str | None = None,
        pins: Pins | None = None,
        readers: Sequence[Reader] = (),
    ) -> RefreshResult:
        """Bring a view up to date. A technique can be forced, for tests and for the curious.

        Refreshes that share `pins` read every table at the same version. What the refresh will cost the
        `readers` of the view counts when the technique is chosen.
        """
        begun = self._jvm.begin()
        view = tables.find(begun, view_name(self.spark, name))
        forced = None if technique is None else Technique(technique)
        if not full and forced in (None, Technique.NO_OP) and pins is None:
            still = no_op(begun, view)
            if still is not None:
                self._note_no_op(view, still)
                return still
        asked = Refreshing(full, forced, pins, readers)
        with workspace(begun) as jvm:
            return self._refreshed(jvm, view, lambda: self._query(jvm, view), asked)

    def _refreshed(
        self, jvm: Jvm, view: MaterializedView, query: Callable[[], Query], asked: Refreshing
    ) -> RefreshResult:
        """One refresh in a workspace, with what failed, found nothing or was tidied up put on record."""
        meter = Meter(self._jvm, f"rennet refresh {view.name}")
        try:
            with meter.running():
                read = query()
                if not creation.fits(jvm, view, read):
                    return creation.rebuild(jvm, view, read, asked.pins)
                situation = assess(jvm, read, view.provenance, asked.pins)
                refresh = of_view(jvm, view, asked.readers)
                result = refresh.run(situation, view.provenance, meter, asked.full, asked.technique)
                done = None if result.version is None else maintain(jvm, view.path, _rows(view, result))
        except Exception as error:
            self._note(view, {"technique": "FAILED", "reason": first_line(error)})
            raise
        if result.version is None:
            self._note_no_op(view, result)
        if done is not None:
            self._note(view, {"technique": str(Technique.NO_OP), "reason": done})
        return result

    def _note_no_op(self, view: MaterializedView, result: RefreshResult) -> None:
        figures = {"wall_seconds": round(result.wall_seconds, 3)}
        self._note(view, {"technique": str(result.technique), "reason": result.reason, **figures})

    def _note(self, view: MaterializedView, event: dict[str, Any]) -> None:
        events.record(self._jvm, view.path, {"refreshed_at": datetime.now(UTC).isoformat(), **event})

    def find(self, name: str) -> MaterializedView:
        """The view's definition and the provenance of its rows."""
        return tables.find(self._jvm, view_name(self.spark, name))

    def _query(self, jvm: Jvm, view: MaterializedView) -> Query:
        definition = view.definition
        source: str | Callable[..., DataFrame] | None = definition.query or self._functions.get(view.name)
        if source is None:
            raise DefinitionMissingError(
                f"{view.name} is defined by the Python function {definition.function}, not known here.",
                "Call create_materialized_view with it again: if it is unchanged, the data are kept.",
            )
        return self._analyzed(jvm, view.name, source, definition)

    def _analyzed(
        self, jvm: Jvm, name: ViewName, source: str | QueryFunction, definition: Definition
    ) -> Query:
        """The query of a view, read again only if it may be another than the last time."""
        before = self._known.get(name)
        if before is not None and before.holds(jvm, definition):
            return before.query
        query = analyze(jvm, source, definition, self.spark)
        found = known(jvm, definition, query)
        if found is not None:
            self._known[name] = found
        return query

    # -- understanding -------------------------------------------------------------------------------

    def explain(
        self,
        name_or_query: str | QueryFunction,
        *,
        replacing: str | None = None,
        columns: tuple[str, ...] = (),
    ) -> Explanation:
        """What the next refresh of a view would do and why, or what would be possible for a query.

        With `replacing`, what giving that view this query as its definition would do.
        """
        with workspace(self._jvm) as jvm:
            if replacing is not None:
                return self._explain_replacing(jvm, self.find(replacing), name_or_query, columns)
            if isinstance(name_or_query, str) and self._is_name(name_or_query):
                view = self.find(name_or_query)
                situation = assess(jvm, self._query(jvm, view), view.provenance)
                told = explain_refresh(str(view.name), situation, of_view(jvm, view))
                return replace(told, last=last_refresh(view.provenance))
            return explain_query("This query", self._read(jvm, name_or_query, columns))

    def _explain_replacing(
        self, jvm: Jvm, view: MaterializedView, query: str | QueryFunction, columns: tuple[str, ...]
    ) -> Explanation:
        refresh, named = of_view(jvm, view), tuple((column, "") for column in columns)
        database = self.spark.catalog.currentDatabase()
        definition = replace(view.definition, columns=named, database=database)
        read = analyze(jvm, query, definition, self.spark)
        if creation.same_definition(view, definition, read):
            return explain_refresh(str(view.name), assess(jvm, read, view.provenance), refresh)
        made = replacement(jvm, view, definition, read, lambda: self._query(jvm, view))
        return explain_replacement(str(view.name), made, refresh)

    def _read(self, jvm: Jvm, query: str | QueryFunction, columns: tuple[str, ...]) -> Query:
        """A query without a view."""
        named = tuple((column, "") for column in columns)
        definition = Definition("", "", columns=named, database=self.spark.catalog.currentDatabase())
        return analyze(jvm, query, definition, self.spark)

    def _is_name(self, text: str) -> bool:
        try:
            view_name(self.spark, text)
        except RennetError:
            return False
        return True

    def verify(self, name: str, samples: int = 10) -> VerifyResult:
        """Compare a view with its own query at the versions it was made from."""
        view = self.find(name)
        if view.provenance is None:
            raise ViewNotFoundError(f"{view.name} was never refreshed.", "Refresh it first.")
        with workspace(self._jvm) as jvm:
            fixed, query = view.definition.fixed, self._query(jvm, view)
            fit(jvm, sum(size_in_bytes(jvm, snapshot(jvm, source)) for source in view.provenance.sources))
            shown, expected = as_read(jvm, view).drop(*fixed), as_written(jvm, query, view.provenance)
            result = compare(str(view.name), expected.drop(*fixed), shown, samples)
            if fixed:
                result = replace(result, note=f"fixed at first sight and not compared: {', '.join(fixed)}")
            if result.equal or not query.left_open:
                return result
            decided = compare(str(view.name), as_decided(jvm, query, view.provenance), shown, samples)
            return replace(decided, note=LEFT_OPEN) if decided.equal else result

    def history(self, name: str | None = None) -> DataFrame:
        """Every refresh of a view on record, the newest first; without a name, of all views."""
        if name is None:
            return history.of_all(self._jvm, {str(view.name): view.path for view in self.views()})
        return history.frame(self._jvm, self.find(name).path)

    def at_update(self, number: int, pipeline: str | None = None) -> AsOf:
        """The tables of a pipeline as they were, together, after one of its updates: `.table(name)`.

        `pipeline` is its name, which may be left out if the catalog has no other.
        """
        from rennet.pipelines.asof import at_update

        return at_update(self, number, pipeline)

    # -- SQL -----------------------------------------------------------------------------------------

    def calibrate(self, rows: int = 4_000_000) -> dict[str, float]:
        """Measure what each kind of work costs on this machine, in CPU seconds a unit.

        The cost model starts from these rates as soon as they are in the warehouse; what refreshes then
        really cost replaces them view by view.
        """
        file = rates_file(str(self.spark.conf.get("spark.sql.warehouse.dir")))
        if file is None:
            raise SessionError(
                "The warehouse is not on this machine.",
                "Calibrate a session with a local one, and copy the file.",
            )
        with workspace(self._jvm) as jvm:
            found = calibrate(jvm, rows)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(write_rates(found))
        rates.cache_clear()
        return {str(kind): seconds for kind, seconds in found.items()}

    def sql(self, text: str) -> DataFrame:
        """Run a statement: rennet's own here, everything else by Spark."""
        from rennet.sql.run import run

        return run(self, text)


def _rows(view: MaterializedView, result: RefreshResult) -> int | None:
    """How many rows a view has after a refresh, if it was known before."""
    known = None if view.provenance is None else view.provenance.rows
    return None if known is None else max(0, known + result.rows_inserted - result.rows_deleted)


def as_dict(result: RefreshResult | VerifyResult) -> dict[str, Any]:
    """A result as plain data, for JSON."""
    return asdict(result)

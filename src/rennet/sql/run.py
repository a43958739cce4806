"""rennet's SQL statements, run on an engine."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame

from rennet.errors import AlreadyExistsError, ViewNotFoundError
from rennet.execute.record import RefreshResult
from rennet.sql import statements as s
from rennet.sql.parse import parse
from rennet.sql.schedule import from_dict
from rennet.storage.provenance import Definition
from rennet.storage.tables import MaterializedView

if TYPE_CHECKING:
    from rennet.api import Engine

REFRESHED = "view string, technique string, reason string, rows_inserted bigint, rows_deleted bigint"


def run(engine: Engine, text: str) -> DataFrame:
    """Run one statement; what is not rennet's goes to Spark unchanged."""
    statement = parse(text)
    if statement is None:
        return engine.spark.sql(text)
    return RUNNERS[type(statement)](engine, statement)


def _create(engine: Engine, statement: s.CreateMaterializedView) -> DataFrame:
    name = _name(statement.name)
    if statement.if_not_exists and _exists(engine, name):
        return _one(engine, name, "NO_OP", "the view exists: nothing was done")
    result = engine.create_materialized_view(
        name,
        statement.query,
        replace=statement.or_replace,
        comment=statement.comment or "",
        columns={column.name: column.comment or "" for column in statement.columns} or None,
        properties=dict(statement.properties),
        partitioned_by=statement.partitioned_by,
        cluster_by=statement.cluster_by,
        policy=statement.policy,
        schedule=statement.schedule.to_dict() if statement.schedule else None,
    )
    if result is None:
        return _one(engine, name, "NO_OP", "the definition is unchanged: the data were kept")
    return _refreshed(engine, result)


def _refresh(engine: Engine, statement: s.RefreshMaterializedView) -> DataFrame:
    return _refreshed(engine, engine.refresh(_name(statement.name), full=statement.full))


def _explain(engine: Engine, statement: s.ExplainMaterializedView) -> DataFrame:
    create = statement.create
    if create is not None:
        name = _name(create.name)
        replacing = name if create.or_replace and _exists(engine, name) else None
        columns = tuple(column.name for column in create.columns)
        found = engine.explain(lambda: engine.spark.sql(create.query), replacing=replacing, columns=columns)
    else:
        assert statement.name is not None
        found = engine.explain(_name(statement.name))
    return engine.spark.createDataFrame([(str(found),)], "plan string")


def _drop(engine: Engine, statement: s.DropMaterializedView) -> DataFrame:
    engine.drop(_name(statement.name), statement.if_exists)
    return engine.spark.createDataFrame([], "result string")


def _show(engine: Engine, statement: s.ShowMaterializedViews) -> DataFrame:
    schema = ".".join(statement.in_schema) if statement.in_schema else None
    pattern = (
        (statement.like or "*").replace("%", "*").replace("_", "?" if "%" in (statement.like or "") else "_")
    )
    rows = [_shown(view) for view in engine.views(schema) if fnmatch.fnmatch(view.name.name, pattern)]
    columns = (
        "schema string, name string, policy string, schedule string, technique string, refreshed_at string"
    )
    return engine.spark.createDataFrame(rows, columns)


def _shown(view: MaterializedView) -> tuple[Any, ...]:
    schedule = view.definition.schedule
    known = view.provenance
    return (
        view.name.schema,
        view.name.name,
        str(view.definition.policy),
        from_dict(schedule).to_sql() if schedule else "",
        known.technique if known else "",
        known.refreshed_at if known else "",
    )


def _describe(engine: Engine, statement: s.DescribeMaterializedView) -> DataFrame:
    view = engine.find(_name(statement.name))
    rows: list[tuple[str, str, str]] = [
        (field.name, field.dataType.simpleString(), (field.metadata or {}).get("comment", ""))
        for field in engine.spark.table(view.name.sql).schema.fields
    ]
    if statement.extended:
        rows += [("", "", ""), *((key, value, "") for key, value in _details(view))]
    return engine.spark.createDataFrame(rows, "col_name string, data_type string, comment string")


def _details(view: MaterializedView) -> list[tuple[str, str]]:
    definition, known = view.definition, view.provenance
    schedule = from_dict(definition.schedule).to_sql() if definition.schedule else ""
    return [
        ("Query", definition.query or f"Python function {definition.function}"),
        ("Policy", str(definition.policy)),
        ("Schedule", schedule),
        ("Comment", definition.comment),
        ("Created", definition.created_at),
        ("Backing table", str(view.backing)),
        ("Last refresh", known.refreshed_at if known else ""),
        ("Last technique", known.technique if known else ""),
        ("Reason", known.reason if known else ""),
        ("Sources", ", ".join(f"{x.name}@v{x.version}" for x in known.sources) if known else ""),
        ("Fingerprint", known.fingerprint if known else ""),
    ]


def _alter(engine: Engine, statement: s.AlterMaterializedView) -> DataFrame:
    view = engine.find(_name(statement.name))
    changed = _altered(view.definition, statement.action)
    engine.redefine(view, changed)
    return engine.spark.createDataFrame([], "result string")


def _altered(definition: Definition, action: s.AlterAction) -> Definition:
    if isinstance(action, s.SetSchedule):
        if definition.schedule and not action.replace:
            raise AlreadyExistsError(f"{definition.name} has a schedule.", "Use ALTER SCHEDULE to change it.")
        if not definition.schedule and action.replace:
            raise ViewNotFoundError(f"{definition.name} has no schedule.", "Use ADD SCHEDULE.")
        return replace(definition, schedule=action.schedule.to_dict())
    if isinstance(action, s.DropSchedule):
        return replace(definition, schedule=None)
    if isinstance(action, s.SetPolicy):
        return replace(definition, policy=action.policy)
    properties = dict(definition.properties)
    if isinstance(action, s.SetProperties):
        properties.update(action.properties)
    else:
        properties = {k: v for k, v in properties.items() if k not in action.keys}
    return replace(definition, properties=tuple(properties.items()))


def _refreshed(engine: Engine, result: RefreshResult) -> DataFrame:
    row = (result.view, str(result.technique), result.reason, result.rows_inserted, result.rows_deleted)
    return engine.spark.createDataFrame([row], REFRESHED)


def _one(engine: Engine, name: str, technique: str, reason: str) -> DataFrame:
    return engine.spark.createDataFrame([(name, technique, reason, 0, 0)], REFRESHED)


def _exists(engine: Engine, name: str) -> bool:
    try:
        engine.find(name)
    except ViewNotFoundError:
        return False
    return True


def _name(parts: tuple[str, ...]) -> str:
    return ".".join("`" + part.replace("`", "``") + "`" for part in parts)


RUNNERS: dict[type, Callable[..., DataFrame]] = {
    s.CreateMaterializedView: _create,
    s.RefreshMaterializedView: _refresh,
    s.ExplainMaterializedView: _explain,
    s.DropMaterializedView: _drop,
    s.ShowMaterializedViews: _show,
    s.DescribeMaterializedView: _describe,
    s.AlterMaterializedView: _alter,
}

"""`from rennet import pipelines as dp`: all of `pyspark.pipelines`, and what it lacks.

Most decorators are Spark's own. Added are expectations, AUTO CDC of type 2 and from snapshots, views with a
refresh policy and a schedule, and flows that run once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from pyspark.pipelines import create_sink, create_streaming_table, table, temporary_view
from pyspark.pipelines.source_code_location import get_caller_source_code_location
from pyspark.sql import Column
from pyspark.sql.types import StructType

from rennet.errors import PipelineError, Policy
from rennet.pipelines.cdc.options import CdcOptions, Expression, names_of
from rennet.pipelines.definitions import Action, Dataset, DatasetKind, Expectation, Flow, SnapshotSource
from rennet.pipelines.registry import EXPECTATIONS, active
from rennet.sql.schedule import Schedule

__all__ = [
    "append_flow",
    "create_auto_cdc_flow",
    "create_auto_cdc_from_snapshot_flow",
    "create_sink",
    "create_streaming_table",
    "expect",
    "expect_all",
    "expect_all_or_drop",
    "expect_all_or_fail",
    "expect_or_drop",
    "expect_or_fail",
    "materialized_view",
    "table",
    "temporary_view",
    "view",
]

view = temporary_view
Function = TypeVar("Function", bound=Callable[..., Any])
Columns = Sequence[str] | Sequence[Column]


def materialized_view(
    query_function: Callable[[], Any] | None = None,
    *,
    name: str | None = None,
    comment: str | None = None,
    spark_conf: dict[str, str] | None = None,
    table_properties: dict[str, str] | None = None,
    partition_cols: list[str] | None = None,
    cluster_by: list[str] | None = None,
    schema: StructType | str | None = None,
    format: str | None = None,
    refresh_policy: Policy | str = Policy.AUTO,
    schedule: Schedule | None = None,
) -> Any:
    """A view that is stored and kept up to date; `format` is not looked at, views are Delta tables."""
    location = get_caller_source_code_location(stacklevel=1)

    def define(function: Callable[[], Any]) -> None:
        registry = active()
        where = registry.location(location)
        known = name or function.__name__
        registry.add_dataset(
            Dataset(
                known,
                DatasetKind.MATERIALIZED_VIEW,
                where,
                comment or "",
                dict(table_properties or {}),
                tuple(partition_cols or ()),
                tuple(cluster_by or ()),
                schema,
                policy=Policy(refresh_policy),
                schedule=schedule,
            )
        )
        found = tuple(getattr(function, EXPECTATIONS, ()))
        conf = dict(spark_conf or {})
        registry.add_flow(Flow(known, known, where, function, conf=conf, expectations=found))

    return define if query_function is None else define(query_function)


def append_flow(
    *,
    target: str,
    name: str | None = None,
    spark_conf: dict[str, str] | None = None,
    once: bool = False,
) -> Callable[[Callable[[], Any]], None]:
    """A flow into a streaming table; one that runs `once` reads its source as it is, and never again."""
    location = get_caller_source_code_location(stacklevel=1)

    def define(function: Callable[[], Any]) -> None:
        registry = active()
        found = tuple(getattr(function, EXPECTATIONS, ()))
        where = registry.location(location)
        conf = dict(spark_conf or {})
        registry.add_flow(
            Flow(name or function.__name__, target, where, function, conf=conf, once=once, expectations=found)
        )

    return define


def create_auto_cdc_flow(
    target: str,
    source: str,
    keys: Columns,
    sequence_by: Expression | Columns,
    apply_as_deletes: Expression | None = None,
    column_list: Columns | None = None,
    except_column_list: Columns | None = None,
    stored_as_scd_type: int | str | None = None,
    name: str | None = None,
    *,
    apply_as_truncates: Expression | None = None,
    ignore_null_updates: bool = False,
    track_history_column_list: Columns | None = None,
    track_history_except_column_list: Columns | None = None,
) -> None:
    """Keep `target` as the changes of `source` say, in whatever order they arrive.

    `sequence_by` is one expression or a list of them. The other arguments are those of Databricks.
    """
    registry = active()
    several = isinstance(sequence_by, list | tuple)
    options = CdcOptions(
        names_of(keys),
        tuple(sequence_by) if several else (sequence_by,),  # type: ignore[arg-type]
        int(stored_as_scd_type or 1),
        apply_as_deletes,
        apply_as_truncates,
        _names(column_list),
        _names(except_column_list),
        ignore_null_updates,
        _names(track_history_column_list),
        _names(track_history_except_column_list),
    )
    where = registry.location(get_caller_source_code_location(stacklevel=1))
    registry.add_flow(Flow(name or target, target, where, source=source, cdc=options))


def create_auto_cdc_from_snapshot_flow(
    target: str,
    source: str | Callable[[Any], Any],
    keys: Columns,
    stored_as_scd_type: int | str | None = None,
    track_history_column_list: Columns | None = None,
    track_history_except_column_list: Columns | None = None,
    name: str | None = None,
) -> None:
    """Keep `target` as a series of snapshots says.

    `source` is a table, which is a snapshot whenever the pipeline is updated, or a function that is given the
    last version applied (None at first) and returns the next as (DataFrame, version), or None.
    """
    registry = active()
    options = CdcOptions(
        names_of(keys),
        ("version",),
        int(stored_as_scd_type or 1),
        track_history_column_list=_names(track_history_column_list),
        track_history_except_column_list=_names(track_history_except_column_list),
    )
    where = registry.location(get_caller_source_code_location(stacklevel=1))
    registry.add_flow(Flow(name or target, target, where, cdc=options, snapshots=SnapshotSource(source)))


def _names(columns: Columns | None) -> tuple[str, ...] | None:
    return None if columns is None else names_of(columns)


# -- expectations


def expect(name: str, condition: str) -> Callable[[Function], Function]:
    """Count the rows that do not meet the condition, and keep them."""
    return _expecting({name: condition}, Action.WARN)


def expect_or_drop(name: str, condition: str) -> Callable[[Function], Function]:
    """Leave out the rows that do not meet the condition, and count them."""
    return _expecting({name: condition}, Action.DROP)


def expect_or_fail(name: str, condition: str) -> Callable[[Function], Function]:
    """Fail, and store nothing, if a row does not meet the condition."""
    return _expecting({name: condition}, Action.FAIL)


def expect_all(expectations: dict[str, str]) -> Callable[[Function], Function]:
    """`expect` for each name and condition."""
    return _expecting(expectations, Action.WARN)


def expect_all_or_drop(expectations: dict[str, str]) -> Callable[[Function], Function]:
    """`expect_or_drop` for each name and condition."""
    return _expecting(expectations, Action.DROP)


def expect_all_or_fail(expectations: dict[str, str]) -> Callable[[Function], Function]:
    """`expect_or_fail` for each name and condition."""
    return _expecting(expectations, Action.FAIL)


def _expecting(expectations: dict[str, str], action: Action) -> Callable[[Function], Function]:
    def decorate(function: Function) -> Function:
        if not callable(function):
            raise PipelineError(
                "An expectation must stand below the decorator of the dataset.",
                "Write @dp.table above @dp.expect.",
            )
        found = getattr(function, EXPECTATIONS, ())
        added = tuple(Expectation(name, text, action) for name, text in expectations.items())
        setattr(function, EXPECTATIONS, (*added, *found))
        return function

    return decorate

"""What an analyzed plan reads: datasets of the pipeline, and Delta tables outside of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pyspark.sql import DataFrame

from rennet.jvm import JavaObject, Jvm
from rennet.storage.sources import is_delta, name_and_path


@dataclass
class Read:
    """What was found in a plan, in the order in which it was found."""

    datasets: dict[str, None] = field(default_factory=dict)
    tables: dict[str, str] = field(default_factory=dict)
    """Names of Delta tables, by path."""


def reading(jvm: Jvm, frame: DataFrame, known: Mapping[str, str]) -> Read:
    """What a plan reads; `known` names the pipeline's datasets, and what stands in for them."""
    found = Read()
    _read(jvm, jvm.analyzed(frame), known, found)
    return found


def _read(jvm: Jvm, plan: JavaObject, known: Mapping[str, str], found: Read) -> None:
    name = _name(jvm, plan)
    if name is not None and name in known:
        found.datasets[known[name]] = None
        return
    parts = (*jvm.items(plan.children()), *jvm.items(plan.subqueries()))
    if not parts:
        found.tables.update(_table(jvm, plan))
    for part in parts:
        _read(jvm, part, known, found)


def _name(jvm: Jvm, plan: JavaObject) -> str | None:
    """What a query called this part of its plan, if that can be a dataset."""
    kind = plan.getClass().getSimpleName()
    if kind == "SubqueryAlias" and plan.identifier().qualifier().size() > 0:
        parts = [*jvm.items(plan.identifier().qualifier()), plan.identifier().name()]
        return ".".join(part.lower() for part in parts[-2:])
    if kind == "View" and plan.isTempView():
        return str(plan.desc().identifier().table()).lower()
    return None


def _table(jvm: Jvm, leaf: JavaObject) -> dict[str, str]:
    """The Delta table that a leaf reads, as a table or as a stream; nothing if it reads something else."""
    if is_delta(leaf):
        name, path = name_and_path(jvm, leaf)
        return {path: name}
    kind = leaf.getClass().getSimpleName()
    if kind == "StreamingRelationV2" and leaf.v1Relation().isDefined():
        leaf, kind = leaf.v1Relation().get(), "StreamingRelation"
    if kind != "StreamingRelation":
        return {}
    source = leaf.dataSource()
    path = source.options().get("path")
    if not source.providingClass().getSimpleName().startswith("Delta") or not path.isDefined():
        return {}
    table = source.catalogTable()
    return {path.get(): table.get().identifier().unquotedString() if table.isDefined() else path.get()}

"""What the leaves of a refresh's plans read: sources before and after, their changes, the view itself."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from pyspark.sql import DataFrame

from rennet.errors import PlanError
from rennet.jvm import JavaObject, Jvm
from rennet.plan.ir import Node, Scan, State, Stored
from rennet.plan.pinning import Pinning
from rennet.storage.changes import WEIGHT, SourceChange, read_changes
from rennet.storage.names import quote
from rennet.storage.sources import SourceVersion, is_delta, name_and_path, relation_at, travelled_to
from rennet.storage.transaction import Transaction


@dataclass(frozen=True)
class Leaves:
    """Resolves the leaves of one refresh; sources are known by path."""

    jvm: Jvm
    now: Mapping[str, SourceVersion]
    before: Mapping[str, SourceVersion]
    changes: Mapping[str, SourceChange]
    used: Mapping[str, Collection[str]] = field(default_factory=dict)
    """Per source, the columns that can reach the result; those of its changes that cannot are not read."""
    transaction: Transaction | None = None

    def __call__(self, node: Node) -> JavaObject:
        if isinstance(node, Stored):
            return self._stored(node)
        if not isinstance(node, Scan):
            raise PlanError(f"{node.op} is not a leaf")
        if node.state is State.DELTA:
            return self._changes(node)
        versions = self.before if node.state is State.BEFORE else self.now
        return relation_at(self.jvm, node.handle, versions[node.source])

    def _changes(self, node: Scan) -> JavaObject:
        """Changes of columns that nobody reads are no changes: without them, more rows cancel out.

        Those of columns that somebody reads are, even if this scan is not asked for them: that a row changed
        is all that some want to know.
        """
        columns = node.output[:-1]
        used = self.used.get(node.source, [column.name for column in columns])
        read = [column.name for column in columns if column.name in used or "<" in column.type]
        others = sorted(set(used) - set(read))
        rows = read_changes(self.jvm, self.changes[node.source], columns=[*read, *others])
        if others or len(read) < len(columns):
            shown = [
                quote(c.name) if c.name in read else f"CAST(NULL AS {c.type}) AS {quote(c.name)}"
                for c in columns
            ]
            rows = rows.selectExpr(*shown, WEIGHT)
        return self.jvm.analyzed(rows)

    def _stored(self, node: Stored) -> JavaObject:
        if self.transaction is None:
            raise PlanError("the view's own rows are not available here")
        target = self.transaction.target()
        names = [quote(name) for name in target.columns[: len(node.output)]]
        return self.jvm.analyzed(target.selectExpr(*names))


def pinned_leaf(jvm: Jvm, versions: Mapping[str, SourceVersion]) -> Callable[[JavaObject], JavaObject]:
    """For a plan of Spark's own: Delta tables at the given versions, every other leaf as it is."""

    def leaf(plan: JavaObject) -> JavaObject:
        if plan.nodeName() != "LogicalRelation" or not is_delta(plan) or travelled_to(plan) is not None:
            return plan
        return relation_at(jvm, plan, versions[name_and_path(jvm, plan)[1]])

    return leaf


def pinned_query(
    jvm: Jvm, analyzed: JavaObject, versions: Mapping[str, SourceVersion], moment: datetime
) -> DataFrame:
    """A plan of the user's, which no stage has touched, at the given versions and moment."""
    return jvm.dataframe(Pinning(jvm, pinned_leaf(jvm, versions), moment).plan(analyzed))

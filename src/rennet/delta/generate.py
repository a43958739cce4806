"""Stage 4: the ways in which this refresh could be done.

Each candidate is a `RefreshPlan`: which rows of the backing table go and which rows come. Where one
cannot be made, there is an `Issue` that says why. Nothing here touches Spark.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rennet.delta.change import Change, effectivize, weight_of
from rennet.delta.keys import group_columns
from rennet.delta.merge import LOST, merged_states, places_of, state_changes, surviving
from rennet.delta.narrow import having
from rennet.delta.partitions import Values, partitioned_alike, sliced
from rennet.delta.rules import Derivation
from rennet.delta.running import continued
from rennet.delta.windows import outputs, reached
from rennet.enable.frames import Span, running
from rennet.enable.layout import Layout
from rennet.errors import Issue, IssueSubType, IssueType, Technique
from rennet.plan.expressions import (
    alias,
    call,
    columns_of,
    fresh_copy,
    literal,
)
from rennet.plan.ir import Aggregate, Node, Once, Replicate, Scan, State, Window, filter_, project


@dataclass(frozen=True)
class Keyed:
    """The stored rows whose key columns equal, null-safely, some row of `keys`."""

    keys: Node
    columns: tuple[int, ...]
    """Positions of the key columns in the backing table."""
    within: int | None = None
    """Position of a column whose value must lie in the range that the last columns of `keys` give: from, to,
    and whether all of the key's rows are meant. An end that is NULL is open."""
    unknown: bool = True
    """Does a row without such a value lie in every range?"""


@dataclass(frozen=True)
class Alike:
    """For each row of `delta` with a negative weight, as many stored rows of the same content."""

    delta: Node


@dataclass(frozen=True)
class Placed:
    """The stored rows at the file and position that the last two columns of `rows` give, where they do."""

    rows: Node


@dataclass(frozen=True)
class Partitions:
    """All stored rows of the partitions of these values, as the log writes them."""

    column: str
    values: Values

    def __str__(self) -> str:
        shown = sorted("NULL" if value is None else value for value in self.values)
        more = f" and {len(shown) - 10} more" if len(shown) > 10 else ""
        return f"{self.column} in ({', '.join(shown[:10])}{more})"


Removed = Keyed | Alike | Placed | Partitions


def rows_named(removed: Removed) -> Node | None:
    """The rows that say which stored ones go, if they have to be computed."""
    if isinstance(removed, Keyed):
        return removed.keys
    if isinstance(removed, Partitions):
        return None
    return removed.delta if isinstance(removed, Alike) else removed.rows


@dataclass(frozen=True)
class Repair:
    """Rows that come as well, should there be any `keys`; if not, nothing of them is computed."""

    keys: Node
    rows: Node


@dataclass(frozen=True)
class RefreshPlan:
    """Rows that leave and rows that come, in one commit."""

    technique: Technique
    inserted: Node | None
    removed: Removed | None = None
    everything: bool = False
    """All stored rows leave."""
    repair: Repair | None = None


def complete_recompute(layout: Layout, derivation: Derivation) -> RefreshPlan | Issue:
    """V' = Q(T')"""
    derived = derivation.change(layout.plan)
    after = layout.plan if isinstance(derived, Issue) else derived.after
    return RefreshPlan(Technique.COMPLETE_RECOMPUTE, layout.finished(after), everything=True)


def append_only(layout: Layout, derivation: Derivation) -> RefreshPlan | Issue:
    """V' = V + ΔQ, where ΔQ only adds"""
    derived = derivation.change(layout.plan)
    if isinstance(derived, Issue):
        return derived
    if derived.delta is None or not derived.grows:
        what = "the changes may take rows away"
        return Issue(IssueType.NOT_THIS_SHAPE, what, IssueSubType.SOURCE_HAS_DELETES)
    gained = project(derived.delta, derived.delta.output[:-1])
    return RefreshPlan(Technique.APPEND_ONLY, layout.finished(gained))


def row_based(layout: Layout, derivation: Derivation) -> RefreshPlan | Issue:
    """V' = V + ΔQ, deletions found by key, or by content as many times as the weight says"""
    derived = derivation.change(layout.plan)
    if isinstance(derived, Issue):
        return derived
    if derived.delta is None:
        return _nothing_changed()
    if layout.grouped is not None and not layout.keys and not layout.merges:
        return _one_group()
    if not layout.unique and layout.content is None:
        what = "rows with MAP or VARIANT columns cannot be told apart by content"
        return Issue(IssueType.NOT_THIS_SHAPE, what)
    maps = () if layout.unique else [c for c in derived.delta.output if c.type.startswith("map<")]
    delta = Once((effectivize(derived.delta, maps),))
    weight = weight_of(delta)
    gained = filter_(delta, call(">", weight, literal(0), type="boolean"))
    lost = filter_(delta, call("<", weight, literal(0), type="boolean"))
    removed: Keyed | Alike = Alike(lost)
    if layout.unique:
        removed = Keyed(project(lost, tuple(fresh_copy(k) for k in layout.keys)), _positions(layout))
    return RefreshPlan(Technique.ROW_BASED, layout.finished(Replicate((gained,))), removed)


def generic_aggregate(layout: Layout, derivation: Derivation) -> RefreshPlan | Issue:
    """V' = V − {groups in K} + γ(T' ⋉ K), K = the groups in ΔT"""
    found = _group_change(layout, derivation)
    if isinstance(found, Issue):
        return found
    grouped, child = found
    assert child.delta is not None
    if not layout.keys:
        return _one_group()
    keys = group_columns(grouped)
    changed = child.keys(keys)
    fresh = grouped.with_children((having(child.after, keys, changed),))
    inserted = _replaced(layout.plan, grouped, fresh)
    copies = project(changed, tuple(fresh_copy(k) for k in changed.output))
    removed = Keyed(copies, _positions(layout))
    return RefreshPlan(Technique.GENERIC_AGGREGATE, inserted, removed)


def window_function(layout: Layout, derivation: Derivation) -> RefreshPlan | Issue:
    """V' = V − {partitions in K} + ω(T' ⋉ K), K = the partitions in ΔT"""
    window = layout.windowed
    if window is None:
        return Issue(IssueType.NOT_THIS_SHAPE, "the query does not end in a window with PARTITION BY")
    child = derivation.change(window.child)
    if isinstance(child, Issue):
        return child
    if child.delta is None:
        return _nothing_changed()
    keys = columns_of(window.partition)
    if layout.span is not None:
        return _framed_window(layout, layout.span, window, child)
    changed = child.keys(keys)
    fresh = window.with_children((having(child.after, keys, changed),))
    copies = project(changed, tuple(fresh_copy(k) for k in changed.output))
    removed = Keyed(copies, _positions(layout))
    inserted = _replaced(layout.plan, window, fresh)
    return RefreshPlan(Technique.WINDOW_FUNCTION, inserted, removed)


def _framed_window(layout: Layout, limits: Span, window: Window, child: Change) -> RefreshPlan:
    """V' = V − {outputs in A} + σA(ω(T' ⋉ I)), where A sees a change and I is what A sees"""
    assert child.delta is not None
    assert layout.order is not None
    functions = running(window) if layout.running else None
    if functions is not None:
        shown, reach = continued(layout, limits, window, child, functions)
    else:
        keys = columns_of(window.partition)
        reach = reached(child, keys, limits)
        shown, _ = outputs(window, child, keys, reach, limits)
    ends = (*reach.affected, reach.whole)
    copies = project(reach.rows, tuple(fresh_copy(k) for k in (*reach.keys, *ends)))
    where = [column.id for column in layout.columns].index(layout.order.id)
    removed = Keyed(copies, _positions(layout), within=where, unknown=functions is None)
    inserted = _replaced(layout.plan, window, shown)
    return RefreshPlan(Technique.WINDOW_FUNCTION, inserted, removed)


def partition_overwrite(layout: Layout, derivation: Derivation) -> RefreshPlan | Issue:
    """V' = V − {partitions in P} + σP(Q(T')), P = the partitions of T in which rows changed"""
    if not layout.partitioned_by:
        return Issue(IssueType.NOT_THIS_SHAPE, "the view has no PARTITIONED BY")
    if not derivation.changed or layout.fixed:
        return _nothing_changed()
    alike = None
    if derivation.touched.keys() == derivation.changed.keys():
        alike = partitioned_alike(layout.plan, layout.partitioned_by, derivation.touched)
    if alike is None:
        what = "a partition of the view may depend on other partitions of a changed source, or on all of it"
        return Issue(IssueType.NOT_THIS_SHAPE, what)
    column, values = alike
    after = layout.plan.transform_up(lambda node: node.at(State.AFTER) if isinstance(node, Scan) else node)
    inserted = sliced(after, column, values, derivation.touched)
    return RefreshPlan(Technique.PARTITION_OVERWRITE, inserted, Partitions(column.name, values))


def group_aggregate(layout: Layout, derivation: Derivation) -> RefreshPlan | Issue:
    """V' = V − {groups in K} + {groups in K with state + Δstate}, read from the view, not the sources

    Groups that may have lost an extreme are looked up in the sources, as in `generic_aggregate`.
    """
    found = _group_change(layout, derivation)
    if isinstance(found, Issue):
        return found
    grouped, child = found
    assert child.delta is not None
    if not layout.merges:
        what = "not all aggregates can be kept by adding to sums"
        return Issue(IssueType.NOT_THIS_SHAPE, what, IssueSubType.AGGREGATE_WITH_UNSUPPORTED_EXPRESSION)
    change = state_changes(layout, grouped, child.delta, child.grows)
    merged = Once((merged_states(layout, grouped, change, child.grows),))
    removed = Placed(project(merged, tuple(fresh_copy(place) for place in places_of(merged))))
    kept = _replaced(layout.plan, grouped, surviving(layout, merged))
    if merged.output[-1].name != LOST:
        return RefreshPlan(Technique.GROUP_AGGREGATE, kept, removed)
    again = filter_(merged, merged.output[-1])
    groups = group_columns(grouped)
    wanted = project(again, tuple(alias(k, k.name) for k in merged.output[: len(groups)]))
    rows = having(child.after, groups, wanted) if groups else child.after
    repaired = _replaced(layout.plan, grouped, grouped.with_children((rows,)))
    repair = Repair(wanted, repaired)
    return RefreshPlan(Technique.GROUP_AGGREGATE, kept, removed, repair=repair)


def _group_change(layout: Layout, derivation: Derivation) -> tuple[Aggregate, Change] | Issue:
    if layout.grouped is None:
        return Issue(IssueType.NOT_THIS_SHAPE, "the query does not end in GROUP BY")
    derived = derivation.change(layout.grouped.child)
    if isinstance(derived, Issue):
        return derived
    return (layout.grouped, derived) if derived.delta is not None else _nothing_changed()


def _replaced(plan: Node, old: Node, new: Node) -> Node:
    if plan is old:
        return new
    return plan.with_children(tuple(_replaced(child, old, new) for child in plan.children))


def _positions(layout: Layout) -> tuple[int, ...]:
    ids = [column.id for column in layout.columns]
    return tuple(ids.index(key.id) for key in layout.keys)


def _one_group() -> Issue:
    return Issue(
        IssueType.PLAN_NOT_INCREMENTALIZABLE,
        "all rows are one group, and not all of its aggregates can be kept by what changed",
        IssueSubType.AGGREGATE_WITH_UNSUPPORTED_EXPRESSION,
    )


def _nothing_changed() -> Issue:
    return Issue(IssueType.NOT_THIS_SHAPE, "nothing changed")


CANDIDATES: tuple[tuple[Technique, Callable[[Layout, Derivation], RefreshPlan | Issue]], ...] = (
    (Technique.APPEND_ONLY, append_only),
    (Technique.GROUP_AGGREGATE, group_aggregate),
    (Technique.GENERIC_AGGREGATE, generic_aggregate),
    (Technique.WINDOW_FUNCTION, window_function),
    (Technique.PARTITION_OVERWRITE, partition_overwrite),
    (Technique.ROW_BASED, row_based),
    (Technique.COMPLETE_RECOMPUTE, complete_recompute),
)
"""In order of preference where the cost model has nothing to say."""


def candidates(layout: Layout, derivation: Derivation) -> dict[Technique, RefreshPlan | Issue]:
    """Every technique, as a plan or as the reason why not."""
    return {technique: make(layout, derivation) for technique, make in CANDIDATES}

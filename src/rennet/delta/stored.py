"""The rows of a new definition, where the stored rows of the old one determine them: V' = π(V).

A column was dropped, added, renamed or moved, or HAVING says something else of groups that are all stored.
The projections of the new plan are put over the stored rows, their inputs found among the stored columns by
what those are computed from. That is a guess; the proof is that the same projections over the
*old plan* mean what the new plan means.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from rennet.enable.layout import Layout
from rennet.fingerprint.canonical import canonical, makings
from rennet.plan.expressions import Alias, Attribute, Named, alias, fresh_copy
from rennet.plan.ir import Filter, Node, Project, Stored, Window, project


def from_stored(new: Layout, old: Layout) -> Node | None:
    """The new backing table's rows as a projection of the old one's; None if there is no such."""
    stored = Stored(tuple(fresh_copy(column).attribute for column in old.columns))
    known: dict[str, list[Attribute]] = defaultdict(list)
    for making, column in zip(makings(old.plan), stored.output, strict=True):
        known[making].append(column)
    made = _over(new.plan, stored, known)
    if not new.plan.ids <= made.ids:
        return None
    rows = project(made, new.plan.output)
    names = tuple(column.name for column in new.columns)
    if canonical(_composed(rows, old), names) != canonical(new.plan, names):
        return None
    return rows


def _over(plan: Node, stored: Stored, known: Mapping[str, list[Attribute]]) -> Node:
    """As many columns of the plan as the stored ones determine, under their ids, and the stored ones.

    Filters and windows pass on the columns of their rows: those may be computed from stored ones as well.
    """
    passing = isinstance(plan, Project | Filter | Window)
    below = _over(plan.children[0], stored, known) if passing else stored
    wanted: tuple[Named, ...] = plan.exprs if isinstance(plan, Project) else plan.output
    exprs: list[Named] = []
    for named, making in zip(wanted, makings(plan), strict=True):
        found = [column for column in known.get(making, ()) if column.type == named.type]
        if found:
            # Of several that look alike, the one of the same name is most likely the same.
            like = next((column for column in found if column.name == named.name), found[0])
            exprs.append(alias(like, named.name, named.id))
        elif named.references <= below.ids:
            exprs.append(named)
    return project(below, (*exprs, *stored.output))


def _composed(rows: Node, old: Layout) -> Node:
    """The projections over the old plan in place of its stored rows."""

    def opened(node: Node) -> Node:
        if not isinstance(node, Stored):
            return node
        pairs = zip(old.columns, node.output, strict=True)
        return project(old.plan, tuple(_under(column, wanted) for column, wanted in pairs))

    return rows.transform_up(opened)


def _under(column: Attribute, wanted: Attribute) -> Alias:
    return alias(column, wanted.name, wanted.id)

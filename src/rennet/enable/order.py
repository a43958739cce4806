"""Stage 3: what order means to a bag.

A stored view has no order, so ORDER BY alone is dropped. Where the order of rows decides a result (the
number of a row, the row before it) and the query leaves ties open, any choice is a legal answer of the
query; rennet makes the one that the other columns decide, so that it is the same at every refresh.
"""

from __future__ import annotations

from dataclasses import replace

from rennet.plan.expressions import Attribute, Expr, Named, columns_of
from rennet.plan.ir import Limited, Node, PassThrough, Project, Window

POSITIONAL = frozenset({"RowNumber", "Lag", "Lead", "NTile"})
"""Window functions that number rows or count along them."""
FOLLOWING = frozenset({"First", "Last", "NthValue", "CollectList", "ListAgg"})
"""Functions that take the rows of their frame in the order they come."""
UNORDERABLE = ("map<", "variant", "interval", "calendar")


def without_order(plan: Node) -> Node:
    """Drop every ordering but those that decide which rows a LIMIT takes."""
    if isinstance(plan, Limited):
        return _keeping_order(plan)
    if isinstance(plan, PassThrough):
        return without_order(plan.child)
    return _over(plan)


def _keeping_order(plan: Node) -> Node:
    """Down to the order a LIMIT counts along, which a projection may stand above."""
    if isinstance(plan, PassThrough):
        return _over(plan)
    if isinstance(plan, Limited | Project):
        (child,) = plan.children
        below = _keeping_order(child)
        return plan if below is child else plan.with_children((below,))
    return without_order(plan)


def _over(plan: Node) -> Node:
    children = tuple(without_order(child) for child in plan.children)
    same = all(new is old for new, old in zip(children, plan.children, strict=True))
    return plan if same else plan.with_children(children)


def with_ties_broken(plan: Node) -> Node:
    """Every window or LIMIT whose result depends on the order of tied rows, ordered by all columns."""
    return plan.transform_up(_without_ties)


def _without_ties(node: Node) -> Node:
    if isinstance(node, Window):
        return _totally_ordered(node)
    return _limit_without_ties(node) if isinstance(node, Limited) else node


def _limit_without_ties(node: Node) -> Node:
    """Down to the order the LIMIT counts along, and that one made total."""
    if _is_sort(node):
        return _sorted_further(node)
    if not isinstance(node, Limited | Project):
        return node
    (child,) = node.children
    below = _limit_without_ties(child)
    return node if below is child else node.with_children((below,))


def _is_sort(node: Node) -> bool:
    """Does it put all rows in order, and not only those of each partition?"""
    return isinstance(node, PassThrough) and node.kind == "Sort" and not node.text.endswith("false")


def _sorted_further(sort: Node) -> Node:
    """ORDER BY a = ORDER BY a, b, c, …: what the query leaves open, the other columns decide"""
    assert isinstance(sort, PassThrough)
    fixed = {e.children[0] for e in sort.exprs if e.children}
    more = tuple(_ascending(a) for a in sort.output if a not in fixed and orderable(a.type))
    return replace(sort, exprs=(*sort.exprs, *more), handle=None) if more else sort


def _ascending(column: Attribute) -> Expr:
    return Expr("SortOrder", (column,), type=column.type)


def _totally_ordered(node: Window) -> Node:
    """The same window over rows that are put in a total order before it sees them.

    Ordering the window itself by more would change its frames, and what ranks say of tied rows.
    """
    extra = _tie_breakers(node)
    return replace(node, peers=extra, handle=None) if extra and _counts(node.exprs) else node


def _counts(exprs: tuple[Named, ...]) -> bool:
    """Does a result depend on the order of rows that tie?"""
    return any(_is_positional(e) for e in exprs) or _follows(exprs)


def _follows(exprs: tuple[Named, ...]) -> bool:
    """Does a result depend on the order in which the rows of a frame come?"""
    return any(part.op in FOLLOWING for e in exprs for part in e.walk())


def _is_positional(expression: Named) -> bool:
    return any(part.op in POSITIONAL or _counts_rows(part) for part in expression.walk())


def _counts_rows(part: Expr) -> bool:
    """Is it a frame by ROWS that does not simply hold all of them?"""
    if part.op != "SpecifiedWindowFrame" or "RowFrame" not in part.text:
        return False
    return [bound.op for bound in part.children] != ["UnboundedPreceding$", "UnboundedFollowing$"]


def _tie_breakers(node: Window) -> tuple[Expr, ...]:
    """The columns, sorted ascending, that neither partition nor order by yet."""
    return tuple(_ascending(a) for a in _open_columns(node) if orderable(a.type))


def _open_columns(node: Window) -> list[Attribute]:
    fixed = columns_of((*node.partition, *(part for e in node.order for part in e.children)))
    return [a for a in node.child.output if a not in fixed]


def undecided(node: Window) -> bool:
    """Does a result depend on the order of tied rows, and some column cannot decide it?"""
    return _counts(node.exprs) and not all(orderable(a.type) for a in _open_columns(node))


def orderable(type: str) -> bool:
    """Can values of the type be sorted?"""
    return not any(word in type for word in UNORDERABLE)


def decided(node: Limited) -> bool:
    """Does the order below a LIMIT tell all rows apart that differ?"""
    below = node.child
    while isinstance(below, Limited | Project):
        below = below.child
    if not _is_sort(below):
        return False
    assert isinstance(below, PassThrough)
    keys = {e.children[0] for e in below.exprs if e.children}
    return all(column in keys for column in below.child.output)

"""Stage 5: what is asked of one large table for few keys, more than once, is read once.

R ⋉ K₁ and R ⋉ K₂ are both in R ⋉ (K₁ ∪ K₂). And what was there before the changes follows from what is there
now: R ⋉ K = R' ⋉ K − ΔR ⋉ K. So one look at R' does for all of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rennet.delta.change import WEIGHT, effectivize, total, weight_of, weighted
from rennet.delta.narrow import agreeing
from rennet.plan.expressions import Expr, alias, call, conjunction, conjuncts, literal, same
from rennet.plan.ir import (
    SEMI,
    Join,
    Node,
    Once,
    Replicate,
    Scan,
    State,
    filter_,
    join,
    project,
    union,
)
from rennet.plan.prune import table_of
from rennet.plan.reading import distinct

EXACT = frozenset({"bigint", "int", "smallint", "tinyint", "boolean", "date", "timestamp", "timestamp_ntz",
                   "string", "binary"})  # fmt: skip
"""Types whose equal values are the same: 0.0 and -0.0 are not, nor are strings of some collations."""


@dataclass(frozen=True)
class Look:
    """The rows of a table, in one of its states, that agree with one of some keys."""

    node: Join
    scan: Scan
    pairs: tuple[tuple[Expr, Expr], ...]
    """What of the table must equal what of the keys."""

    @property
    def kind(self) -> tuple[object, ...]:
        """Looks of one kind ask the same table for values of the same columns."""
        return table_of(self.scan), tuple((mine, theirs.type) for mine, theirs in self.pairs)


def looked_at_once(trees: Sequence[Node], worth: Callable[[Join], bool]) -> dict[int, Node]:
    """What to put in the place of some nodes of these plans, by their ids; nothing if no look can be spared.

    `worth` says of a look whether the table is large and what is found there is little.
    """
    nodes = list(distinct(trees))
    kinds: defaultdict[tuple[object, ...], list[Look]] = defaultdict(list)
    for node in nodes:
        look = _look(node)
        if look is not None and worth(look.node):
            kinds[look.kind].append(look)
    for looks in kinds.values():
        together = _together(looks, _changes_of(looks[0].scan, nodes))
        if together:
            return together
    return {}


def _look(node: Node) -> Look | None:
    if not isinstance(node, Join) or node.how != SEMI or node.condition is None:
        return None
    if not isinstance(node.left, Scan) or node.left.state not in (State.BEFORE, State.AFTER):
        return None
    pairs = agreeing(node.left, node.right, node.condition)
    return Look(node, node.left, tuple(pairs)) if len(pairs) == len(conjuncts(node.condition)) else None


def _changes_of(scan: Scan, nodes: Iterable[Node]) -> Scan | None:
    """The changes of the same table, if they are read anyway."""
    changes = (node for node in nodes if isinstance(node, Scan) and node.state is State.DELTA)
    return next((each for each in changes if table_of(each) == table_of(scan)), None)


def _together(looks: list[Look], changes: Scan | None) -> dict[int, Node]:
    """The same looks, at what is found for the keys of all of them; nothing if that spares none."""
    exact = all(c.type in EXACT or c.type.startswith("decimal(") for c in looks[0].scan.output)
    if changes is None or not exact:
        states = [[look for look in looks if look.scan.state is state] for state in State]
        looks = max(states, key=len)
    if len(looks) < 2 or not _apart(looks):
        return {}
    first = min(looks, key=lambda look: look.scan.state is not State.AFTER)
    found: dict[State, Node] = {first.scan.state: _found(first, looks)}
    if changes is not None and first.scan.state is State.AFTER:
        found[State.BEFORE] = _before(found[State.AFTER], changes)
    return {
        id(look.node): look.node.with_children((found[look.scan.state], look.node.right)) for look in looks
    }


def _apart(looks: list[Look]) -> bool:
    """Do the keys of none depend on what another finds?"""
    found = {id(look.node) for look in looks}
    return not any(id(node) in found for node in distinct(look.node.right for look in looks))


def _found(first: Look, looks: list[Look]) -> Once:
    """R ⋉ (K₁ ∪ K₂ ∪ …)"""
    asked = {id(look.node.right): look for look in looks}.values()
    keys = union([_keys(look) for look in asked])
    condition = conjunction(
        [same(mine, key) for (mine, _), key in zip(first.pairs, keys.output, strict=True)]
    )
    return Once((join(first.scan, keys, SEMI, condition),))


def _keys(look: Look) -> Node:
    values = (alias(theirs, f"__mv_asked_{i}") for i, (_, theirs) in enumerate(look.pairs))
    return project(look.node.right, tuple(values))


def _before(after: Node, changes: Scan) -> Node:
    """R = R' − ΔR. Of keys that were not asked for there is only what went."""
    undone = alias(call("negative", weight_of(changes), type="bigint"), WEIGHT)
    net = effectivize(total([weighted(after, +1), project(changes, (*changes.output[:-1], undone))]))
    return Replicate((filter_(net, call(">", weight_of(net), literal(0), type="boolean")),))

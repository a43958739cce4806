"""Which tables a refresh reads more than once."""

from __future__ import annotations

from collections import Counter

from rennet.delta.generate import RefreshPlan, rows_named
from rennet.plan.dataframe import LeafKey, leaf_key
from rennet.plan.expressions import Subquery
from rennet.plan.ir import Scan, Stored
from rennet.plan.reading import as_computed


def read_again(plan: RefreshPlan) -> frozenset[LeafKey] | None:
    """The leaves that are worth keeping, because they are read again; None stands for all of them."""
    # Rows to look for, and keys that there may be none of, are asked for more than once.
    roots = [plan.inserted]
    if plan.removed is not None:
        roots += 2 * [rows_named(plan.removed)]
    if plan.repair is not None:
        roots += [plan.repair.rows, plan.repair.keys, plan.repair.keys]
    done: set[int] = set()
    nodes = [node for root in roots if root is not None for node in as_computed(root, done)]
    if any(isinstance(e, Subquery) for node in nodes for x in node.expressions for e in x.walk()):
        return None
    counted = Counter(leaf_key(node) for node in nodes if isinstance(node, Scan | Stored))
    return frozenset(key for key, times in counted.items() if times > 1)

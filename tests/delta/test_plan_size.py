"""No plan grows without bound."""

from __future__ import annotations

import pytest

from rennet.delta.generate import RefreshPlan, candidates
from rennet.delta.rules import Derivation
from rennet.enable.layout import lay_out
from rennet.errors import Technique
from rennet.plan.expressions import alias
from rennet.plan.ir import INNER, LEFT, Aggregate, Node, Once, Scan, join
from tests.laws.queries import catalyst, column, count, extreme, total

WIDE = 8
LARGEST = 3
"""Operators of a refresh per changed side, in multiples of the full query's."""


def wide(how: str) -> Node:
    plan: Node = source(0)
    for i in range(1, WIDE):
        right = source(i)
        plan = join(plan, right, how, catalyst("EqualTo", plan.output[-2], right.output[0]))
    return plan


def source(i: int) -> Scan:
    return Scan(f"t{i}", (column("id", "int"), column("k", "int"), column("v", "int")))


def grouped(plan: Node) -> Node:
    key, value = plan.output[0], plan.output[-1]
    calls = (count(), total(value), extreme("Max", value))
    return Aggregate((key,), (key, *(alias(c, f"a{i}") for i, c in enumerate(calls))), (plan,))


def operators(plan: Node) -> int:
    """What is computed once counts once."""
    seen: set[int] = set()

    def count_(node: Node) -> int:
        if isinstance(node, Once):
            if id(node) in seen:
                return 0
            seen.add(id(node))
        return 1 + sum(count_(child) for child in node.children)

    return count_(plan)


@pytest.mark.parametrize("how", [INNER, LEFT])
@pytest.mark.parametrize("shape", [lambda plan: plan, grouped], ids=["rows", "groups"])
def test_a_wide_join_with_changes_on_all_sides(how: str, shape: object) -> None:
    assert callable(shape)
    query = shape(wide(how))
    changed = {f"t{i}": False for i in range(WIDE)}
    found = candidates(lay_out(query), Derivation(changed))
    full = found[Technique.COMPLETE_RECOMPUTE]
    assert isinstance(full, RefreshPlan) and full.inserted is not None
    limit = LARGEST * WIDE * operators(full.inserted)
    for plan in found.values():
        if isinstance(plan, RefreshPlan) and plan.inserted is not None:
            assert operators(plan.inserted) <= limit, plan.technique

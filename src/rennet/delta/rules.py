"""Stage 4: the delta rules, and the walk that applies them.

`RULES` is the table of contents. Before- and after-states need no rules: they are the node itself over
its inputs' states. A node over unchanged inputs is unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rennet.delta.change import WEIGHT, Change
from rennet.delta.join import full_join_rule, inner_join_rule, left_join_rule, right_join_rule
from rennet.delta.keyed import aggregate_rule, group_map_rule, limit_rule
from rennet.delta.keys import group_columns
from rennet.delta.linear import (
    expand_rule,
    filter_rule,
    generate_rule,
    pass_through_rule,
    project_rule,
    union_rule,
)
from rennet.delta.partitions import Touched
from rennet.delta.select import reads
from rennet.delta.temporal import TEMPORAL_RULES, at_earlier_moment, is_temporal
from rennet.delta.windows import window_rule
from rennet.errors import Issue, IssueSubType, IssueType
from rennet.plan.expressions import Attribute, alias, attribute_of, literal, value_of
from rennet.plan.ir import (
    Aggregate,
    Constant,
    Filter,
    Join,
    Node,
    PassThrough,
    Project,
    Scan,
    State,
    project,
)

DeltaRule = Callable[[Any, tuple[Change, ...]], Node]
"""The change of a node from the changes of its inputs, at least one of which changed."""

RULES: Mapping[str, DeltaRule] = {
    "Project": project_rule,
    "Filter": filter_rule,
    "Union": union_rule,
    "Join.inner": inner_join_rule,
    "Join.left": left_join_rule,
    "Join.semi": left_join_rule,
    "Join.anti": left_join_rule,
    "Join.existence": left_join_rule,
    "Join.single": left_join_rule,
    "Join.right": right_join_rule,
    "Join.full": full_join_rule,
    "Aggregate": aggregate_rule,
    "Window": window_rule,
    "GroupMap": group_map_rule,
    "Limited": limit_rule,
    "Generate": generate_rule,
    "Expand": expand_rule,
    "PassThrough": pass_through_rule,
}

GROWING = frozenset({"Project", "Filter", "Union", "Join.inner", "Generate", "Expand", "PassThrough"})
"""Rules under which rows that only arrive below only arrive above."""


def rule_name(node: Node) -> str:
    return f"Join.{node.how}" if isinstance(node, Join) else type(node).__name__


class Derivation:
    """Derives changes bottom-up; `changed` names the sources that changed, and whether they only grew.

    `touched` has those of which it is known under which partition values rows changed.
    """

    def __init__(self, changed: Mapping[str, bool], touched: Touched | None = None) -> None:
        self.changed = changed
        self.touched: Touched = touched or {}
        self._done: dict[int, tuple[Node, Change | Issue]] = {}

    def change(self, node: Node) -> Change | Issue:
        """The change of a node, or the reason why it cannot be derived."""
        found = self._done.get(id(node))
        if found is None:
            found = self._done[id(node)] = (node, self._derive(node))
        return found[1]

    def _derive(self, node: Node) -> Change | Issue:
        if isinstance(node, Scan):
            return self._scan(node)
        if isinstance(node, Constant):
            return Change(node, node)
        inputs: list[Change] = []
        for child in node.children:
            derived = self.change(child)
            if isinstance(derived, Issue):
                return derived
            inputs.append(derived)
        if not inputs:
            return unsupported(node)
        return self._apply(node, tuple(inputs))

    def _scan(self, node: Scan) -> Change:
        after = node.at(State.AFTER)
        if node.source not in self.changed:
            return Change(after, after)
        weight = attribute_of(alias(literal(1), WEIGHT))
        delta = Scan(node.source, (*node.output, weight), State.DELTA, node.name, handle=node.handle)
        return Change(node.at(State.BEFORE), after, delta, self.changed[node.source])

    def _apply(self, node: Node, inputs: tuple[Change, ...]) -> Change | Issue:
        before = at_earlier_moment(node).with_children(tuple(each.before for each in inputs))
        after = node.with_children(tuple(each.after for each in inputs))
        if is_temporal(node):
            return Change(before, after, TEMPORAL_RULES[type(node)](node, inputs), grows=False)
        if not any(each.changed for each in inputs):
            return Change(before, after)
        rule = RULES.get(rule_name(node))
        if rule is None:
            return unsupported(node)
        grows = rule_name(node) in GROWING and all(each.grows for each in inputs)
        return Change(before, after, rule(node, inputs), grows, known_before(node, inputs))


def known_before(node: Node, inputs: tuple[Change, ...]) -> Node | None:
    """What is known of where a node changed before its delta is computed.

    Groups are looked at again as a whole, so that those in question are all in the delta, changed or not.
    """
    (child, *_) = inputs
    if isinstance(node, Aggregate):
        keys = child.keys(group_columns(node)) if group_columns(node) else None
        return None if keys is None else _of_groups(node, keys)
    if child.where is None:
        return None
    if isinstance(node, Project):
        known = tuple(e for e in node.exprs if reads(e, child.where.ids))
        return project(child.where, known) if known else None
    return child.where if isinstance(node, Filter | PassThrough) else None


def _of_groups(node: Aggregate, keys: Node) -> Node | None:
    """The columns of an aggregate that are those of its groups, of some groups."""
    values = dict(zip(group_columns(node), keys.output, strict=True))
    pairs = ((attribute_of(e), value_of(e)) for e in node.exprs)
    named = tuple(
        alias(values[value], column.name, column.id)
        for column, value in pairs
        if isinstance(value, Attribute) and value in values
    )
    return project(keys, named) if named else None


def unsupported(node: Node) -> Issue:
    """The issue of an operator without a delta rule."""
    return Issue(
        IssueType.PLAN_NOT_INCREMENTALIZABLE,
        f"there is no delta rule for {describe(node)}",
        IssueSubType.OPERATOR_NOT_SUPPORTED,
    )


def describe(node: Node) -> str:
    return f"a {node.how} join" if isinstance(node, Join) else f"the operator {node.op}"

"""The first fingerprint, kept so that views made with it are recognized: it must never change.

The normalized plan is serialized with attributes numbered in order of appearance and tables named by
where they are.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

from rennet.plan.expressions import AggregateCall, Alias, Attribute, Expr, Subquery
from rennet.plan.ir import Constant, Foreign, Join, Node, Other, Scan

VERSION = 1

_ID = re.compile(r"#(\d+)L?")
_COMMON = re.compile(r"_common_expr_\d+")
"""A name Spark makes up, with a number that is another one each time; the id after it tells it apart."""


class _Canonical:
    """Serializes one plan; attribute ids become the order in which they were first met."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}

    def number(self, id: int) -> int:
        return self._numbers.setdefault(id, len(self._numbers))

    def node(self, node: Node) -> list[Any]:
        children = [self.node(child) for child in node.children]
        columns = [[self.number(a.id), a.type, a.nullable] for a in node.output]
        expressions = [self.expression(e) for e in node.expressions]
        return [node.op, self._detail(node), children, columns, expressions]

    def _detail(self, node: Node) -> Any:
        if isinstance(node, Scan):
            return [node.source, [a.name for a in node.output]]
        if isinstance(node, Join):
            return node.how
        if isinstance(node, Foreign):
            return [node.kind, node.name]
        return self._text(node.text) if isinstance(node, Constant | Other) else ""

    def expression(self, expression: Expr) -> Any:
        if isinstance(expression, Attribute):
            return self.number(expression.id)
        if isinstance(expression, Alias):
            return ["Alias", self.number(expression.id), self.expression(expression.child)]
        made: list[Any] = [expression.op, expression.type, self._text(expression.text)]
        made.append([self.expression(child) for child in expression.children])
        if isinstance(expression, AggregateCall):
            condition = expression.condition
            made += [expression.distinct, None if condition is None else self.expression(condition)]
        if isinstance(expression, Subquery) and expression.plan is not None:
            made.append(self.node(expression.plan))
        return made

    def _text(self, text: str) -> str:
        """Spark's own words, with its ids replaced by ours."""
        named = _COMMON.sub("_common_expr", text)
        return _ID.sub(lambda found: f"#{self.number(int(found[1]))}", named)


def fingerprint(plan: Node, names: tuple[str, ...]) -> str:
    """The versioned hash of a normalized plan and the names of its columns."""
    serialized = json.dumps([_Canonical().node(plan), names], sort_keys=True)
    return f"{VERSION}:{hashlib.sha256(serialized.encode()).hexdigest()[:32]}"

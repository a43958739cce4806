"""A plan as text, for people."""

from __future__ import annotations

import re

from rennet.plan.expressions import AggregateCall, Alias, Attribute, Expr, Subquery
from rennet.plan.ir import Aggregate, Filter, Join, Node, Project, Replicate, Scan, State, Stored, Union

STATES = {State.CURRENT: "", State.BEFORE: " before", State.AFTER: " after", State.DELTA: " CHANGES"}
OPERATORS = {"<=>", "=", "<", ">", "+", "-", "*", "/", "and", "or"}
_ID = re.compile(r"#\d+L?")


def render(plan: Node, indent: str = "") -> str:
    """One line a node, inputs indented below it."""
    lines = [indent + describe(plan)]
    lines += [render(child, indent + "  ") for child in plan.children]
    return "\n".join(lines)


def describe(node: Node) -> str:
    """What one node does."""
    if isinstance(node, Scan):
        return f"Scan {node.name or node.source}{STATES[node.state]}"
    if isinstance(node, Stored):
        return "Scan this view"
    if isinstance(node, Project):
        return f"Project {_list(node.exprs)}"
    if isinstance(node, Filter):
        return f"Filter {expression(node.condition)}"
    if isinstance(node, Join):
        on = f" on {expression(node.condition)}" if node.condition is not None else ""
        return f"{node.how.capitalize()} join{on}"
    if isinstance(node, Aggregate):
        by = f" by {_list(node.grouping)}" if node.grouping else ""
        return f"Aggregate{by}: {_list(node.exprs)}"
    if isinstance(node, Union):
        return "Union all"
    if isinstance(node, Replicate):
        return "Repeat rows by weight"
    return node.op


def _list(expressions: tuple[Expr, ...], limit: int = 12) -> str:
    shown = [expression(e) for e in expressions[:limit]]
    more = len(expressions) - limit
    return ", ".join(shown) + (f", … {more} more" if more > 0 else "")


def expression(found: Expr) -> str:
    """An expression as close to SQL as it gets."""
    if isinstance(found, Attribute):
        return found.name
    if isinstance(found, Alias):
        inner = expression(found.child)
        return inner if inner == found.name else f"{inner} AS {found.name}"
    if isinstance(found, Subquery):
        return f"({found.op})"
    if found.handle is not None and not found.rebuilt:
        return _ID.sub("", found.text)
    if found.op == "Literal":
        return found.text
    if found.op == "Cast":
        return expression(found.children[0])
    arguments = [expression(child) for child in found.children]
    if found.op in OPERATORS and len(arguments) == 2:
        return f"({arguments[0]} {found.op} {arguments[1]})"
    name = found.op.lower() if isinstance(found, AggregateCall) else found.op
    return f"{name}({', '.join(arguments)})"

"""A plan as text, for people."""

from __future__ import annotations

from rennet.plan.expressions import (
    AFTER,
    AggregateCall,
    Alias,
    Attribute,
    Bound,
    Carried,
    Expr,
    Subquery,
    without_ids,
)
from rennet.plan.ir import (
    Aggregate,
    Filter,
    Join,
    Node,
    Once,
    Project,
    Replicate,
    Scan,
    State,
    Stored,
    Union,
    Window,
)

STATES = {State.CURRENT: "", State.BEFORE: " before", State.AFTER: " after", State.DELTA: " CHANGES"}
OPERATORS = {"<=>", "=", "<", ">", "+", "-", "*", "/", "and", "or"}


def render(plan: Node, indent: str = "") -> str:
    """One line a node, inputs indented below it."""
    return "\n".join(_lines(plan, indent, []))


def render_parts(parts: list[tuple[str, Node]]) -> str:
    """Several plans under titles, and before them, numbered, what they compute once."""
    once: list[Node] = []
    shown = ["\n".join([title, *_lines(plan, "  ", once)]) for title, plan in parts]
    done, first = 0, []
    while done < len(once):
        number, node = done + 1, once[done]
        first.append("\n".join([f"Computed once ({number}):", *_lines(node, "  ", once)]))
        done += 1
    return "\n".join([*reversed(first), *shown])


def _lines(node: Node, indent: str, once: list[Node]) -> list[str]:
    if isinstance(node, Once):
        found = next((i for i, each in enumerate(once) if each is node.child), None)
        if found is None:
            found = len(once)
            once.append(node.child)
        return [f"{indent}({found + 1})"]
    return [
        indent + describe(node),
        *(x for child in node.children for x in _lines(child, indent + "  ", once)),
    ]


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
    if isinstance(node, Window):
        return f"Window {_list(node.exprs)}"
    if isinstance(node, Union):
        return "Union all"
    if isinstance(node, Replicate):
        return "Repeat rows by weight"
    return node.op


def _bound(found: Bound) -> str:
    value = expression(found.children[0])
    limit = "the outermost of all keys" if found.of_keys else "the outermost of all changes"
    if found.rising is None:
        return f"({value} {found.op} {limit})"
    return f"({found.rising.column.name} {found.op} where {value} is {limit})"


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
    if isinstance(found, Bound):
        return _bound(found)
    if isinstance(found, Carried):
        return expression(found.value)
    if found.op == "Moment":
        return "the time of this refresh" if found.text == AFTER else "the time of the last refresh"
    if found.handle is not None and not found.rebuilt:
        return without_ids(found.text)
    if found.op == "Literal":
        return found.text
    if found.op == "Cast":
        return expression(found.children[0])
    arguments = [expression(child) for child in found.children]
    if found.op in OPERATORS and len(arguments) == 2:
        return f"({arguments[0]} {found.op} {arguments[1]})"
    name = found.op.lower() if isinstance(found, AggregateCall) else found.op
    return f"{name}({', '.join(arguments)})"

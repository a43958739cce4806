"""Stage 3: columns whose values are fixed when their row is first seen.

What a model says about a text, or when a row arrived, is not to be asked again because another row changed.
The user names such columns; here they are taken off the top of the plan. What is left can be maintained,
rows are told apart by it, and the columns are computed for rows that come, and kept until their row goes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rennet.enable.layout import PREFIX, Layout, by_content
from rennet.enable.moments import finished_above, marked, with_moments
from rennet.plan.expressions import Alias, Attribute, Expr, Named, alias, value_of
from rennet.plan.ir import Aggregate, Filter, Node, Project, filter_, project


@dataclass(frozen=True)
class Apart:
    """A plan without some of its columns, and how those are computed from the columns it has."""

    plan: Node
    values: Mapping[int, Expr]


class NotApartError(Exception):
    """Why a column cannot be taken off the top of a plan."""


def fixed_apart(plan: Node, names: Sequence[str]) -> tuple[Node, tuple[Alias, ...]]:
    """π(a, f(b) → c)(R) = π(a, f(b) → c) over π(a, b)(R), for the columns c of these names"""
    lowered = [name.lower() for name in names]
    wanted = {column.id: column for column in plan.output if column.name.lower() in lowered}
    unknown = set(lowered) - {column.name.lower() for column in wanted.values()}
    if unknown:
        raise NotApartError(f"there is no column {', '.join(sorted(unknown))}")
    made = _apart(plan, frozenset(wanted))
    kept = [column for column in plan.output if column.id not in wanted]
    shown = {column.id for column in kept}
    inputs = [column for column in made.plan.output if column.id not in shown]
    hidden = {column.id: alias(column, f"{PREFIX}input_{i}") for i, column in enumerate(inputs)}
    if not (kept or hidden):
        raise NotApartError("there is no other column to tell rows apart by")
    inner = project(made.plan, (*kept, *hidden.values()))

    def from_hidden(part: Expr) -> Expr | None:
        known = hidden.get(part.id) if isinstance(part, Attribute) else None
        return None if known is None else known.attribute

    fixed = tuple(
        alias(marked(made.values[column.id].transform(from_hidden)), column.name)
        for column in wanted.values()
    )
    return inner, fixed


def lay_out_fixed(plan: Node, fixed: tuple[Alias, ...]) -> Layout:
    """Rows told apart by all that the fixed columns were computed from."""
    layout = by_content(with_moments(plan))
    if layout.content is None:
        raise NotApartError("rows with VARIANT columns or nested maps cannot be told apart")
    inputs = sum(column.name.startswith(f"{PREFIX}input_") for column in plan.output)
    return replace(layout, user_columns=len(plan.output) - inputs, fixed=fixed)


def _apart(plan: Node, wanted: frozenset[int]) -> Apart:
    if isinstance(plan, Project):
        return _from_project(plan, wanted)
    if isinstance(plan, Filter):
        if plan.condition.references & wanted:
            raise NotApartError("rows are chosen by it")
        below = _apart(plan.child, wanted)
        return Apart(filter_(below.plan, plan.condition), below.values)
    if isinstance(plan, Aggregate):
        above = finished_above(plan)
        if any(isinstance(value_of(e), Attribute) for e in above.exprs if e.id in wanted):
            raise NotApartError("it is an aggregate or a key of GROUP BY")
        return _from_project(above, wanted)
    raise NotApartError("it is not computed in the outermost SELECT")


def _from_project(plan: Project, wanted: frozenset[int]) -> Apart:
    chosen = {e.id: value_of(e) for e in plan.exprs if e.id in wanted}
    kept: list[Named] = [e for e in plan.exprs if e.id not in wanted]
    below = frozenset(value.id for value in chosen.values() if isinstance(value, Attribute))
    if any(e.references & below for e in kept):
        raise NotApartError("another column is computed from it")
    made = _apart(plan.child, below) if below else Apart(plan.child, {})
    values = {id: made.values[v.id] if isinstance(v, Attribute) else v for id, v in chosen.items()}
    if any(value.references & below for value in values.values()):
        raise NotApartError("another column is computed from it")
    read = frozenset[int]().union(*(value.references for value in values.values()))
    passed = {e.id for e in kept if isinstance(e, Attribute)}
    inputs = [column for column in made.plan.output if column.id in read - passed]
    return Apart(project(made.plan, (*kept, *inputs)), values)

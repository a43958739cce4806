"""Window functions. Where the order of tied rows could be seen, the order is by every column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from rennet.testing.fuzz import values
from rennet.testing.fuzz.maker import WIDEST, Make, Maker
from rennet.testing.fuzz.operators.aggregates import calls, group_keys
from rennet.testing.fuzz.tree import Clause, Column, Item, Relation, keep
from rennet.testing.fuzz.values import APPROXIMATE, BOOLEAN, DATE, DECIMAL, DOUBLE, INT, STRING, TIMESTAMP

ROWS = (
    "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
    "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
    "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
    "ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING",
)
RANGES = (
    "",
    "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    "RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
)
NUMERIC_RANGES = (
    "RANGE BETWEEN 2 PRECEDING AND CURRENT ROW",
    "RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING",
    "RANGE BETWEEN 1 FOLLOWING AND 3 FOLLOWING",
)
ORDERED = (INT, DECIMAL, DOUBLE, STRING, DATE, TIMESTAMP, BOOLEAN)


class Over:
    """Window functions over one relation."""

    def __init__(
        self, maker: Maker, child: Relation, everything: bool = False, totals: list[str] | None = None
    ) -> None:
        self.maker = maker
        self.totals = [] if totals is None else totals
        """The order that leaves no rows tied but equal ones, once one was made."""
        self.columns = child.columns
        """All of them can be ordered by."""
        usable = [c for c in child.columns if c.kind in values.KEYS]
        self.keys = [] if everything else maker.some(usable, 1, 2)

    @property
    def partition(self) -> str:
        return f"PARTITION BY {', '.join(key.name for key in self.keys)} " if self.keys else ""

    def total(self) -> str:
        """An order that leaves no rows tied but equal ones, the same for all functions of a SELECT.

        By two such orders, it would be open which of two equal rows is first in both.
        """
        rest = [c for c in self.columns if c not in self.keys] or list(self.columns)
        self.totals.append(f"({self.partition}ORDER BY {self.maker.order(self.maker.shuffled(rest))}")
        return self.totals[0]

    def partial(self, kinds: Sequence[str] = ORDERED) -> tuple[str, Column]:
        """An order that may leave ties, and its column."""
        found = [c for c in self.columns if c.kind in kinds and c not in self.keys]
        found = found or [c for c in self.columns if c.kind in kinds]
        column = self.maker.one(found)
        return f"({self.partition}ORDER BY {self.maker.order([column])}", column

    def argument(self, kinds: Sequence[str]) -> tuple[str, str]:
        there = [c.kind for c in self.columns if c.kind in kinds]
        kind = self.maker.one(there or kinds)
        return self.maker.scalar(self.columns, kind), kind

    def aggregate(self) -> tuple[str, str]:
        """An aggregate that any frame may have."""
        number, kind = self.argument((INT, DECIMAL, DOUBLE))
        least, what = self.argument(ORDERED)
        average = DECIMAL if kind == DECIMAL else APPROXIMATE
        forms = [(f"sum({number})", kind), (f"avg({number})", average), ("count(*)", INT)]
        forms += [(f"min({least})", what), (f"max({least})", what), (f"count({least})", INT)]
        return self.maker.one(forms)


def rank(over: Over) -> tuple[str, str]:
    """Functions that give tied rows the same."""
    order, _ = over.partial()
    name, kind = over.maker.one(
        (("rank", INT), ("dense_rank", INT), ("percent_rank", APPROXIMATE), ("cume_dist", APPROXIMATE))
    )
    return f"{name}() OVER {order})", kind


def number(over: Over) -> tuple[str, str]:
    name = over.maker.one(("row_number()", "row_number()", f"ntile({over.maker.number(2, 4)})"))
    return f"{name} OVER {over.total()})", INT


def shift(over: Over) -> tuple[str, str]:
    text, kind = over.argument(ORDERED)
    name = over.maker.one(("lag", "lead"))
    default = over.maker.one(("", ", 1", ", 2"))
    nulls = over.maker.one(("", "", " IGNORE NULLS"))
    return f"{name}({text}{default}){nulls} OVER {over.total()})", kind


def rows(over: Over) -> tuple[str, str]:
    text, kind = over.aggregate()
    return f"{text} OVER {over.total()} {over.maker.one(ROWS)})", kind


def ranges(over: Over) -> tuple[str, str]:
    text, kind = over.aggregate()
    numeric = [c for c in over.columns if c.kind in (INT, DATE)]
    if numeric and over.maker.chance(0.5):
        column = over.maker.one(numeric)
        frame = over.maker.one(NUMERIC_RANGES)
        return f"{text} OVER ({over.partition}ORDER BY {over.maker.order([column])} {frame})", kind
    order, _ = over.partial()
    return f"{text} OVER {order} {over.maker.one(RANGES)})", kind


def value(over: Over) -> tuple[str, str]:
    text, kind = over.argument(ORDERED)
    nulls = over.maker.one(("", " IGNORE NULLS"))
    call = over.maker.one((f"first_value({text})", f"last_value({text})", f"nth_value({text}, 2)"))
    return f"{call}{nulls} OVER {over.total()} {over.maker.one(ROWS)})", kind


def whole(over: Over) -> tuple[str, str]:
    """Of the partition as a whole."""
    text, kind = over.aggregate()
    return f"{text} OVER ({over.partition.strip()})", kind


FUNCTIONS: dict[str, Callable[[Over], tuple[str, str]]] = {
    "window.rank": rank,
    "window.number": number,
    "window.shift": shift,
    "window.rows": rows,
    "window.range": ranges,
    "window.value": value,
    "window.whole": whole,
}


def _below(maker: Maker, op: str, depth: int) -> Relation:
    """Few columns, all of which can be ordered by, one at least a plain value."""
    child = maker.narrow(maker.exact(maker.child(op, depth)), WIDEST - 2)
    return child if maker.of_kind(child, ORDERED) else maker.having(child, INT)[0]


def windowed(op: str, maker: Maker, depth: int) -> Relation:
    """All columns and one or two functions of one kind."""
    child = _below(maker, op, depth)
    over = Over(maker, child)
    made = [FUNCTIONS[op](over) for _ in range(maker.number(1, 2))]
    return _shown(maker, op, child, made)


def _shown(maker: Maker, op: str, child: Relation, made: list[tuple[str, str]]) -> Relation:
    items = [keep(c) for c in child.columns] + [maker.item(kind, text) for text, kind in made]
    return Relation(op, "SELECT {i0} FROM {r0} AS s", tuple(items), (child,), rows=child.rows)


def several(maker: Maker, depth: int) -> Relation:
    """Functions over different windows in one SELECT."""
    child = _below(maker, "window.several", depth)
    totals: list[str] = []
    made = [maker.one(list(FUNCTIONS.values()))(Over(maker, child, totals=totals)) for _ in range(3)]
    return _shown(maker, "window.several", child, made)


def everywhere(maker: Maker, depth: int) -> Relation:
    """No PARTITION BY."""
    child = _below(maker, "window.global", depth)
    over = Over(maker, child, everything=True)
    made = [maker.one(list(FUNCTIONS.values()))(over) for _ in range(maker.number(1, 2))]
    return _shown(maker, "window.global", child, made)


def top_rows(maker: Maker, depth: int) -> Relation:
    """The first rows of each partition: QUALIFY, or a subquery and a filter."""
    child = _below(maker, "window.qualify", depth)
    over = Over(maker, child)
    text = number(over)[0] if maker.chance(0.5) else f"rank() OVER {over.partial()[0]})"
    if maker.chance(0.5):
        items: tuple[Item, ...] = tuple(keep(c) for c in child.columns)
        clause = Clause("QUALIFY", (f"{text} <= {maker.number(1, 2)}",))
        template = "SELECT {i0} FROM {r0} AS s {w0}"
    else:
        place = maker.name()
        items = tuple(keep(c) for c in child.columns)
        clause = Clause("WHERE", (f"{place} <= {maker.number(1, 2)}",))
        listed = ", ".join(c.name for c in child.columns)
        template = f"SELECT {{i0}} FROM (SELECT {listed}, {text} AS {place} FROM {{r0}} AS s) AS v {{w0}}"
    return Relation("window.qualify", template, items, (child,), (clause,), rows=child.rows / 2)


def over_groups(maker: Maker, depth: int) -> Relation:
    """A window over aggregates, in one SELECT."""
    child, keys = group_keys(maker, maker.child("window.groups", depth), 1, 2)
    number_ = f"sum({maker.scalar([c for c in child.columns if c.kind not in values.UNORDERED], INT)})"
    text = maker.one(
        (
            f"rank() OVER (ORDER BY {number_} DESC)",
            f"sum({number_}) OVER (PARTITION BY {keys[0].name})",
            f"row_number() OVER (PARTITION BY {keys[0].name} ORDER BY {', '.join(k.name for k in keys)})",
        )
    )
    items = (
        *map(keep, keys),
        maker.item(INT, number_),
        maker.item(INT, text),
        *calls(maker, child.columns, 1),
    )
    by = Clause("GROUP BY", tuple(key.name for key in keys), droppable=False)
    return Relation(
        "window.groups", "SELECT {i0} FROM {r0} AS s {w0}", items, (child,), (by,), rows=child.rows / 2
    )


OPERATORS: dict[str, Make] = {
    **{op: partial(windowed, op) for op in FUNCTIONS},
    "window.several": several,
    "window.global": everywhere,
    "window.qualify": top_rows,
    "window.groups": over_groups,
}

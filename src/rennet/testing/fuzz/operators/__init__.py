"""Every operator the generator knows, by the name coverage counts it by."""

from __future__ import annotations

from rennet.testing.fuzz.maker import Make
from rennet.testing.fuzz.operators import aggregates, joins, leaves, rows, sets, subqueries, windows

LEAVES: dict[str, Make] = leaves.LEAVES
OPERATORS: dict[str, Make] = {
    **rows.OPERATORS,
    **sets.OPERATORS,
    **joins.OPERATORS,
    **subqueries.OPERATORS,
    **aggregates.OPERATORS,
    **windows.OPERATORS,
}

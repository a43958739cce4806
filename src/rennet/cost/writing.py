"""What the ways to write cost: rows marked in deletion vectors, or their files written again without them.

A mark costs little now, and every reader of the file a little until it is written again: what is marked is
read and left out. Writing a file again costs all of it now, and readers nothing.
"""

from __future__ import annotations

from rennet.cost.operators import MARK, Kind
from rennet.cost.rates import Rates
from rennet.cost.sizes import Statistics
from rennet.delta.generate import Partitions, RefreshPlan
from rennet.ways import Loss, Way

READS = 12
"""So often a file is read after a loss until it is written again anyway: a refresh reads the view and adds a
file, two dozen are put together (`execute/maintain.py`), and on average half of them are still to come."""


def worth_rewriting(columns: int, rates: Rates, loss: Loss) -> bool:
    """Is it cheaper, with all who read it until then, to write a file again than to mark what it loses?

    mark:    lost rows * MARK * write  +  READS * bytes * lost / rows * scan
    rewrite: bytes * scan  +  (rows that stay + lost rows, for the feed) * columns * write  +  a job

    So a small file never is, because of the job, nor one that loses little, because of the rows that stay.
    """
    write, scan = rates[Kind.WRITE], rates[Kind.SCAN]
    marks = loss.lost * MARK * write + READS * loss.bytes * loss.lost / max(loss.rows, 1.0) * scan
    return loss.bytes * scan + loss.rows * columns * write + rates[Kind.COMMIT] < marks


def way_of(plan: RefreshPlan, statistics: Statistics) -> Way:
    """How a plan's rows will be written, as far as that is known before the files are that lose some."""
    if plan.everything:
        return Way.OVERWRITE
    if plan.removed is None:
        return Way.APPEND
    if isinstance(plan.removed, Partitions):
        return Way.PARTITIONS
    return Way.DELETION_VECTORS if statistics.backing.vectors else Way.REWRITE

"""The ways in which the rows of a refresh get into its table. Any mixture of them is one commit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class Way(StrEnum):
    """How rows are written; all but the first also take rows away."""

    APPEND = "APPEND"
    """New files beside the others."""
    DELETION_VECTORS = "DELETION_VECTORS"
    """Rows that go are marked as deleted in the files they are in; those that come are appended."""
    REWRITE = "REWRITE"
    """Copy on write, as Delta's MERGE does it: files that lose rows are removed, and what stays of them is
    written again, together with the rows that come."""
    PARTITIONS = "PARTITIONS"
    """All files of some partitions are replaced."""
    OVERWRITE = "OVERWRITE"
    """All files are replaced."""


@dataclass(frozen=True)
class Loss:
    """What a file loses: its size, the rows it holds, and how many of them go."""

    bytes: float
    rows: float
    lost: float


Weighing = Callable[[Loss], bool]
"""Is it better to write a file again than to mark the rows that it loses?"""


def marking(loss: Loss) -> bool:
    """Never: what is right where nobody has compared the costs."""
    return False

"""Small tables handled like large ones: ways that only large work takes, over rows that tests can check."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from rennet.cost import fit
from rennet.execute import apply, refresh

SOME = 10
"""Rows that stay in the driver then: some of what is kept does, some does not."""


@contextmanager
def treated_as_large() -> Iterator[None]:
    """Several tasks, sides of joins sent around, files skipped by what changed, whatever the sizes are."""
    fitted = patch.multiple(fit, WORTH_PRUNING=0, LARGER=0, WORTH_KEEPING=0, FEW_ROWS=SOME)
    skipping = patch.object(apply, "WORTH_KEY_RANGES", 0)
    with patch.multiple(refresh, TINY_WORK=0, WORTH_KEY_RANGES=0), fitted, skipping:
        yield

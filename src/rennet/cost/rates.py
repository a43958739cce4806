"""What a unit of each kind of work costs, until refreshes have shown it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files

from rennet.cost.operators import Kind

Rates = Mapping[Kind, float]
"""Executor CPU seconds for each unit."""


def read_rates(text: str) -> dict[Kind, float]:
    """Rates as `rennet calibrate` writes them: nanoseconds by kind."""
    stored = json.loads(text)
    unknown = set(stored) - set(Kind)
    if unknown or set(stored) != set(Kind):
        missing = set(Kind) - set(stored)
        raise ValueError(f"rates for unknown kinds {sorted(unknown)}, none for {sorted(missing)}")
    return {Kind(name): float(nanoseconds) * 1e-9 for name, nanoseconds in stored.items()}


def write_rates(rates: Rates) -> str:
    return json.dumps({str(kind): round(rates[kind] * 1e9, 2) for kind in Kind}, indent=2) + "\n"


def shipped() -> dict[Kind, float]:
    """The rates that come with rennet."""
    return read_rates((files("rennet.cost") / "rates.json").read_text())

"""What a cost model decided, judged by what every technique then took; no Spark here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rennet.bench.micro.summary import figure

NEARLY = 0.15
"""A choice that costs this much more than the cheapest is as good as right."""
TWICE = 2.0


@dataclass(frozen=True)
class Cell:
    """One shape at one size of change: what each technique took, and what AUTO chose."""

    shape: str
    fraction: float
    history: bool
    """The view had been refreshed before, at every size of change."""
    chosen: str
    cpu_seconds: dict[str, float]
    """By technique, each forced on a view of its own."""
    wall_seconds: dict[str, float]
    auto_cpu_seconds: float
    auto_wall_seconds: float
    estimates: dict[str, float]
    """CPU seconds by technique, as estimated when AUTO chose; empty if nothing was."""

    @property
    def cheapest(self) -> str:
        return min(self.cpu_seconds, key=lambda technique: self.cpu_seconds[technique])

    @property
    def regret(self) -> float:
        """How much more the chosen technique takes than the cheapest, as a share of that."""
        taken = self.cpu_seconds.get(self.chosen, self.auto_cpu_seconds)
        least = self.cpu_seconds[self.cheapest]
        return max(0.0, taken / least - 1) if least else 0.0

    @property
    def right(self) -> bool:
        return self.regret <= NEARLY

    @property
    def estimate_error(self) -> float | None:
        """The chosen technique's estimate by what AUTO's refresh took: 1 is exact."""
        estimate = self.estimates.get(self.chosen)
        return estimate / self.auto_cpu_seconds if estimate and self.auto_cpu_seconds else None

    def to_dict(self) -> dict[str, Any]:
        judged = {"cheapest": self.cheapest, "regret": self.regret, "right": self.right}
        return {**asdict(self), **judged, "estimate_error": self.estimate_error}


def estimates(techniques: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """What was estimated for each technique, where a refresh says so."""
    return {
        str(each["technique"]): float(each["estimate"])
        for each in techniques
        if each.get("estimate") is not None
    }


def verdict(cells: Sequence[Cell]) -> dict[str, Any]:
    """How good the choices were, all in all."""
    errors = [error for cell in cells if (error := cell.estimate_error) is not None]
    near = [error for error in errors if 1 / TWICE <= error <= TWICE]
    return {
        "cells": len(cells),
        "right": sum(cell.right for cell in cells) / len(cells),
        "worst_regret": max(cell.regret for cell in cells),
        "estimates": len(errors),
        "estimates_within_twice": len(near) / len(errors) if errors else None,
    }


def verdicts(cells: Sequence[Cell]) -> dict[str, dict[str, Any]]:
    """A verdict without history, and one with it."""
    kinds = {"without history": False, "with history": True}
    found = {name: [cell for cell in cells if cell.history is with_it] for name, with_it in kinds.items()}
    return {name: verdict(some) for name, some in found.items() if some}


def table(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """A row for each cell."""
    return [
        {
            "shape": cell.shape,
            "changed": f"{cell.fraction:.4%}".replace("00%", "%"),
            "history": "yes" if cell.history else "no",
            "AUTO": cell.chosen,
            "cheapest": cell.cheapest,
            "regret": f"{cell.regret:.0%}",
            "CPU s": ", ".join(f"{name} {figure(taken)}" for name, taken in cell.cpu_seconds.items()),
            "AUTO CPU s": figure(cell.auto_cpu_seconds),
            "estimate": figure(cell.estimates.get(cell.chosen)),
        }
        for cell in cells
    ]

"""Medians and ratios of measurements; no Spark here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

from rennet.bench.micro.measure import FIGURES, Sample

MEGABYTE = 1_000_000


def medians(samples: Sequence[Sample]) -> dict[str, float | None]:
    """The median of each figure; None where it is not known."""
    return {name: _median(getattr(sample, name) for sample in samples) for name in FIGURES}


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def ratio(part: float | None, whole: float | None) -> float | None:
    """One figure to another; None when that says nothing."""
    return part / whole if part is not None and whole else None


@dataclass
class Measured:
    """One shape: every contender's samples, and whether their results agree."""

    shape: str
    about: str
    rows: int
    changes: int
    samples: dict[str, list[Sample]] = field(default_factory=dict)
    techniques: list[str] = field(default_factory=list)
    """What rennet chose, refresh by refresh."""
    result_rows: int = 0
    differences: dict[str, str] = field(default_factory=dict)
    """Whose result is not that of the full recompute, and how."""

    @property
    def equal(self) -> bool:
        return not self.differences

    def median(self, contender: str, figure: str = "wall_seconds") -> float | None:
        return medians(self.samples[contender])[figure]

    def ratios(self) -> dict[str, dict[str, float | None]]:
        """What rennet takes, as a part of what each other takes: wall and CPU."""
        own = medians(self.samples["rennet"])
        others = {name: medians(taken) for name, taken in self.samples.items() if name != "rennet"}
        return {
            name: {figure: ratio(own[figure], taken[figure]) for figure in ("wall_seconds", "cpu_seconds")}
            for name, taken in others.items()
        }

    def to_dict(self) -> dict[str, Any]:
        return {
            "shape": self.shape,
            "about": self.about,
            "rows": self.rows,
            "changes": self.changes,
            "result_rows": self.result_rows,
            "equal": self.equal,
            "differences": self.differences,
            "techniques": self.techniques,
            "contenders": {
                name: {"median": medians(taken), "samples": [asdict(sample) for sample in taken]}
                for name, taken in self.samples.items()
            },
            "ratios": self.ratios(),
        }


def times(measured: Sequence[Measured]) -> list[dict[str, Any]]:
    """A row for each shape: median seconds, and how rennet compares."""
    return [
        {
            "shape": each.shape,
            "rows": f"{each.rows:,}",
            "technique": each.techniques[-1] if each.techniques else "",
            **{f"{name} s": figure(each.median(name)) for name in each.samples},
            **_compared(each.ratios()),
            "equal": "yes" if each.equal else "NO",
        }
        for each in measured
    ]


def _compared(ratios: Mapping[str, Mapping[str, float | None]]) -> dict[str, str]:
    """Rennet to those that took part."""
    shown = (("", "hand", "wall_seconds"), ("", "full", "wall_seconds"),
             ("CPU ", "hand", "cpu_seconds"), ("CPU ", "full", "cpu_seconds"))  # fmt: skip
    return {
        f"{prefix}rennet/{name}": figure(ratios[name][taken])
        for prefix, name, taken in shown
        if name in ratios
    }


def work(measured: Sequence[Measured]) -> list[dict[str, Any]]:
    """A row for each shape and contender: medians of what was done."""
    return [
        {"shape": each.shape, "who": name, **_work(medians(taken))}
        for each in measured
        for name, taken in each.samples.items()
    ]


def _work(taken: Mapping[str, float | None]) -> dict[str, str]:
    return {
        "wall s": figure(taken["wall_seconds"]),
        "CPU s": figure(taken["cpu_seconds"]),
        "jobs": whole(taken["jobs"]),
        "rows read": whole(taken["rows_read"]),
        "MB read": megabytes(taken["bytes_read"]),
        "rows written": whole(taken["rows_written"]),
        "MB written": megabytes(taken["bytes_written"]),
    }


def figure(value: float | None) -> str:
    """A number with the digits that are worth reading."""
    if value is None:
        return "–"
    return f"{value:.3f}" if abs(value) < 0.1 else f"{value:.2f}"


def whole(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}"


def megabytes(value: float | None) -> str:
    return "–" if value is None else f"{value / MEGABYTE:,.1f}"

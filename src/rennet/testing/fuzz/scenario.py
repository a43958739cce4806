"""A failing case as a scenario file: readable, and run by the scenario tests as it is."""

from __future__ import annotations

from rennet.testing.fuzz.cases import Batch
from rennet.testing.fuzz.outcome import Failure


def scenario(batch: Batch, failure: Failure) -> str:
    """The text of the file."""
    case = batch.cases[0]
    said = f"{failure.kind} after {failure.title} ({failure.technique}): {failure.message}"
    lines = [
        f"# Found by: rennet fuzz --seed {batch.seed} --case {case.number}",
        f"# {' '.join(said.split())}",
        *(["[large]"] if batch.large else []),
        "[setup]",
        ";\n".join(batch.setup),
        "",
        f"[view found_{case.number}]",
        case.sql,
    ]
    for change in batch.changes:
        if change.statements:
            lines += ["", f"[change {change.title}]", ";\n".join(change.statements)]
    return "\n".join(lines) + "\n"


def file_name(batch: Batch) -> str:
    """Named after what makes it again."""
    return f"fuzz_{batch.seed}_{batch.cases[0].number}.ivm"

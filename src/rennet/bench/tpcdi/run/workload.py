"""The pipeline, which is not part of the package: it is found beside it, or in the current folder."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from pyspark.sql import SparkSession

from rennet.errors import RennetError

EVALUATED = (
    "Prospect",
    "DimAccount",
    "FactWatches",
    "FactMarketHistory",
    "DimCustomer",
    "DimTrade",
    "FactCashBalances",
    "FactHoldings",
)
"""The views that change in incremental batches: those the paper evaluates. The others are upstream."""


class PipelineMissingError(RennetError):
    """The folder `bench/tpcdi` of the repository is nowhere to be found."""

    code = "PIPELINE_NOT_FOUND"


@dataclass(frozen=True)
class Workload:
    """The parts of the pipeline."""

    stages: tuple[str, ...]
    views: tuple[str, ...]
    variants: Mapping[str, tuple[str, ...]]
    query: Callable[[str], str]
    ingest: Callable[[SparkSession, Path, int], None]
    keep_entities: Callable[[SparkSession, Sequence[str], int], None]


def workload() -> Workload:
    """The pipeline of this repository."""
    for root in (Path(__file__).parents[5], Path.cwd()):
        if (root / "bench" / "tpcdi" / "pipeline.py").exists():
            if str(root) not in sys.path:
                sys.path.append(str(root))
            break
    else:
        raise PipelineMissingError(
            "The pipeline, bench/tpcdi, is not here.", "Run this in a clone of rennet's repository."
        )
    pipeline = import_module("bench.tpcdi.pipeline")
    ingestion = import_module("bench.tpcdi.ingest")
    entities = import_module("bench.tpcdi.entities")
    return Workload(
        pipeline.STAGES,
        pipeline.VIEWS,
        pipeline.VARIANTS,
        pipeline.query,
        ingestion.ingest,
        entities.keep,
    )

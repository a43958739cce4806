"""Expectations: rows are counted, left out, or refused.

A condition is met when it is true; null is not true. The counts of a materialized view are kept by a view of
their own, so they are as incremental as the view is; those of a streaming table are taken from each batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from rennet.errors import PipelineError
from rennet.pipelines.definitions import Action, Expectation

TOTAL = "rows"
SUFFIX = "__expectations"
"""What the name of the view that counts is made of."""


@dataclass(frozen=True)
class Outcome:
    """How many rows met an expectation and how many did not."""

    name: str
    action: Action
    passed: int
    failed: int

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "action": str(self.action),
            "passed_records": self.passed,
            "failed_records": self.failed,
        }


class ExpectationFailedError(PipelineError):
    """Rows that must not be there."""

    code = "EXPECTATION_FAILED"


def check(expectations: Sequence[Expectation]) -> None:
    """Names must differ."""
    names = [each.name for each in expectations]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise PipelineError(f"Two expectations are named {twice[0]}.")


def met(expectation: Expectation) -> Column:
    return F.coalesce(F.expr(expectation.condition), F.lit(False))


def counts(expectations: Sequence[Expectation]) -> list[Column]:
    """All rows, and those that fail each expectation, in order."""
    failed = [
        F.count(F.when(~met(each), F.lit(1))).alias(f"failed_{i}") for i, each in enumerate(expectations)
    ]
    return [F.count(F.lit(1)).alias(TOTAL), *failed]


def kept(frame: DataFrame, expectations: Sequence[Expectation]) -> DataFrame:
    """The rows that are to be stored."""
    conditions = [met(each) for each in expectations if each.action is Action.DROP]
    return frame.where(reduce(Column.__and__, conditions)) if conditions else frame


def refused(frame: DataFrame, expectations: Sequence[Expectation]) -> DataFrame:
    """The same rows; one that must not be there is an error when it is read."""
    for each in expectations:
        if each.action is Action.FAIL:
            said = F.lit(f"EXPECTATION_FAILED: a row does not meet {each.name}: {each.condition}")
            frame = frame.where(F.when(met(each), F.lit(True)).otherwise(F.raise_error(said).cast("boolean")))
    return frame


def outcomes(expectations: Sequence[Expectation], found: Iterable[Any]) -> list[Outcome]:
    """What counting gave, added up over batches."""
    rows = [row.asDict() if hasattr(row, "asDict") else dict(row) for row in found]
    total = sum(row[TOTAL] for row in rows)
    made = []
    for i, each in enumerate(expectations):
        failed = sum(row[f"failed_{i}"] for row in rows)
        made.append(Outcome(each.name, each.action, total - failed, failed))
    return made


def stop_if_failed(name: str, found: Iterable[Outcome]) -> None:
    """An error if a row does not meet what it must."""
    for each in found:
        if each.action is Action.FAIL and each.failed:
            raise ExpectationFailedError(f"{each.failed:,} rows of {name} do not meet {each.name}.")

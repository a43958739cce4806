"""An engine without Spark, for what the command line makes of its answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyspark.sql import Row

from rennet.errors import Technique
from rennet.execute.explain import Explanation
from rennet.execute.record import RefreshResult
from rennet.execute.verify import VerifyResult

REFRESHED = RefreshResult(
    view="default.v",
    technique=Technique.GROUP_AGGREGATE,
    reason="every aggregate can be updated from the changed rows alone",
    rows_inserted=5,
    rows_deleted=1234,
    sources=({"name": "orders", "from": 3, "to": 4}, {"name": "customers", "from": 1, "to": 1}),
    techniques=({"technique": "GROUP_AGGREGATE", "applicable": True, "chosen": True, "issue": ""},),
    wall_seconds=1.234,
    cpu_seconds=0.5,
    jobs=5,
    version=7,
)
EXPLAINED = Explanation(
    subject="default.v",
    incremental=True,
    technique="GROUP_AGGREGATE",
    reason="because of [brackets]",
    techniques=({"technique": "GROUP_AGGREGATE", "applicable": True, "chosen": True, "issue": ""},),
    sources=({"name": "orders", "change": "APPEND"},),
    notes=(),
    plan="Scan orders",
    fingerprint="1:abc",
)
EQUAL = VerifyResult("default.v", True, 0, 0, (), ())
PAST = Row(
    refreshed_at="2025-11-15T10:00:00.123456+00:00",
    technique="NO_OP",
    reason="no source has changed",
    rows_inserted=0,
    rows_deleted=0,
    wall_seconds=None,
    cpu_seconds=0.0,
    estimated_cpu_seconds=None,
    version=None,
    sources=[Row(name="orders", version=4)],
    techniques=[],
)


class FakeFrame:
    """As much of a DataFrame as is printed."""

    def __init__(self, schema: str, *rows: tuple[Any, ...] | Row) -> None:
        self.dtypes = [tuple(column.split(":")) for column in schema.split(",") if column]
        self._rows = list(rows)

    def take(self, count: int) -> list[Any]:
        return self._rows[:count]

    def collect(self) -> list[Any]:
        return self._rows


class FakeEngine:
    """Answers with what it was given, remembers what it was asked; an answer may be an error."""

    def __init__(self, **answers: Any) -> None:
        self.answers = answers
        self.asked: list[tuple[Any, ...]] = []

    def _answer(self, name: str, *question: Any) -> Any:
        self.asked.append((name, *question))
        answer = self.answers[name]
        if isinstance(answer, BaseException):
            raise answer
        return answer(*question) if isinstance(answer, Callable) else answer  # type: ignore[arg-type]

    def sql(self, text: str) -> Any:
        return self._answer("sql", text)

    def refresh(self, name: str, full: bool = False, technique: Technique | None = None) -> Any:
        return self._answer("refresh", name, full, technique)

    def explain(self, subject: str) -> Any:
        return self._answer("explain", subject)

    def history(self, name: str | None = None) -> Any:
        return self._answer("history", name)

    def verify(self, name: str, samples: int = 10) -> Any:
        return self._answer("verify", name, samples)

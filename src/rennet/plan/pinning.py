"""The user's own plan, reading fixed versions at a fixed moment.

This works on Catalyst's plan itself, leaf by leaf, and shares nothing with the reader and the writer of
rennet's plans: it is what full recomputes of opaque queries run, and what `verify` judges by.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

from rennet.jvm import JavaObject, Jvm
from rennet.plan.expressions import TIME_FUNCTIONS
from rennet.plan.surgery import is_subquery, map_expressions, map_subqueries

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Pinning:
    """Replaces leaves, and the functions of time, throughout a plan and its subqueries."""

    jvm: Jvm
    leaf: Callable[[JavaObject], JavaObject]
    """Given a leaf, the leaf to read instead."""
    moment: datetime | None = None
    """What `current_timestamp()` is to stand for; None leaves it to Spark."""

    def plan(self, plan: JavaObject) -> JavaObject:
        children = self.jvm.items(plan.children())
        if not children:
            return self._expressions(self.leaf(plan))
        made = [self.plan(child) for child in children]
        if any(new is not old for new, old in zip(made, children, strict=True)):
            plan = plan.withNewChildren(self.jvm.seq(made))
        return self._expressions(plan)

    def _expressions(self, plan: JavaObject) -> JavaObject:
        found = self.jvm.items(plan.expressions())
        if not any(self._concerned(expression) for expression in found):
            return plan
        return map_expressions(self.jvm, plan, self.expression)

    def _concerned(self, expression: JavaObject) -> bool:
        if is_subquery(self.jvm, expression) or expression.nodeName() in TIME_FUNCTIONS:
            return True
        return any(self._concerned(child) for child in self.jvm.items(expression.children()))

    def expression(self, expression: JavaObject) -> JavaObject:
        if self.moment is not None and expression.nodeName() in TIME_FUNCTIONS:
            return moment_literal(self.jvm, expression, self.moment)
        return map_subqueries(self.jvm, expression, self.plan, self.expression)


def moment_literal(jvm: Jvm, function: JavaObject, moment: datetime) -> JavaObject:
    """The moment as a value of a function's own type, in the zone Spark resolved it with."""
    kind = function.dataType()
    name = kind.typeName()
    make = jvm.type("org.apache.spark.sql.catalyst.expressions.Literal")
    if name == "timestamp":
        return make(_microseconds(moment), kind)
    zone = jvm.value(function.timeZoneId())
    local = moment.astimezone(ZoneInfo("UTC" if zone is None else zone))
    if name == "date":
        return make((local.date() - date(1970, 1, 1)).days, kind)
    return make(_microseconds(local.replace(tzinfo=UTC)), kind)


def _microseconds(moment: datetime) -> int:
    since = moment - EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds

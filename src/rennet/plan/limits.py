"""Bounds → Catalyst: comparisons with values that are looked up when the plan is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from rennet.jvm import JavaObject, Jvm
from rennet.plan.expressions import Attribute, Bound, Expr
from rennet.plan.functions import EXPRESSIONS, Functions
from rennet.plan.inverse import Rising, source_limit
from rennet.plan.ir import Node

NUMBERS = {"tinyint", "smallint", "int", "bigint", "float", "double"}


class Limits:
    """Writes bounds; each summary is looked up once."""

    def __init__(
        self,
        jvm: Jvm,
        dataframe: Callable[[Node], DataFrame],
        expression: Callable[[Expr], JavaObject],
        functions: Functions,
    ) -> None:
        self._jvm = jvm
        self._dataframe = dataframe
        self._expression = expression
        self._call = functions.call
        self._cast = functions.cast
        self._at_sources: dict[tuple[str, Expr, int], int | None] = {}
        self._summaries: dict[int, tuple[Node, list[Any], list[JavaObject]]] = {}

    def written(self, bound: Bound) -> JavaObject:
        """The comparison with what its summary says; what has no value to compare is kept."""
        assert bound.summary is not None
        values, types = self._looked_up(bound.summary)
        value, type = values[bound.column], types[bound.column]
        if values[bound.opened_by] or value is None:
            return self._true
        (compared,) = bound.children
        if bound.rising is not None:
            return self._at_the_source(bound.op, compared, bound.rising, value)
        column = self._expression(compared)
        parts = [self._call(bound.op, [column, self._literal(value, type)])]
        return self._any([*parts, self._call("isnull", [column])])

    def _looked_up(self, summary: Node) -> tuple[list[Any], list[JavaObject]]:
        found = self._summaries.get(id(summary))
        if found is None:
            plan = self._dataframe(summary)._jdf.queryExecution().executedPlan()
            (row,) = plan.executeCollect()
            types = [a.dataType() for a in self._jvm.items(plan.output())]
            values = [row.get(i, types[i]) for i in range(len(types))]
            found = self._summaries[id(summary)] = (summary, values, types)
        return found[1], found[2]

    def _at_the_source(self, sign: str, function: Expr, rising: Rising, limit: Any) -> JavaObject:
        """c ≥ v, for the least v that the function takes to its limit; beyond where it rises all are kept"""
        asked = (sign, function, limit)
        if asked not in self._at_sources:  # states before and after ask the same
            compute = self._computed(function, rising.column)
            self._at_sources[asked] = source_limit(sign, limit, rising, compute)
        found = self._at_sources[asked]
        if found is None:
            return self._true
        column = self._expression(rising.column)
        type = column.dataType()
        beyond = ("<", rising.low) if sign == ">=" else (">", rising.high)
        ends = [(sign, found), beyond]
        parts = [self._call(each, [column, self._literal(end, type)]) for each, end in ends]
        return self._any([*parts, self._call("isnull", [column])])

    def _computed(self, function: Expr, column: Attribute) -> Callable[[int], int | None]:
        """The function, evaluated here and now by Spark's own code; None where it has no value."""
        type = self._expression(column).dataType()
        place = self._jvm.type(f"{EXPRESSIONS}BoundReference")(0, type, True)
        put = Expr("BoundReference", type=column.type, handle=place)
        made = self._expression(function.transform(lambda e: put if isinstance(e, Attribute) else None))
        row = self._jvm.type(f"{EXPRESSIONS}SpecificInternalRow")(self._jvm.seq([type]))
        setters = {"tinyint": row.setByte, "smallint": row.setShort, "int": row.setInt, "date": row.setInt}
        write = setters.get(column.type, row.setLong)

        def compute(value: int) -> int | None:
            try:
                write(0, value)
                found = made.eval(row)
            except (Py4JError, PySparkException):
                return None
            return found if isinstance(found, int) else None

        return compute

    def _literal(self, value: Any, type: JavaObject) -> JavaObject:
        """A value as Spark keeps it. Py4J gives and takes numbers without their size, so it is given here."""
        name = type.catalogString()
        make = self._jvm.singleton(f"{EXPRESSIONS}Literal")
        if name in NUMBERS:
            made = make.apply(value)
            return made if made.dataType().equals(type) else self._cast(made, type)
        if name in ("timestamp", "timestamp_ntz"):
            return make.apply(self._moment(value, zoned=name == "timestamp"))
        return self._jvm.type(f"{EXPRESSIONS}Literal")(value, type)

    def _moment(self, micros: int, zoned: bool) -> JavaObject:
        seconds, rest = divmod(micros, 1_000_000)
        if zoned:
            return self._jvm.type("java.time.Instant").ofEpochSecond(seconds, rest * 1000)
        utc = self._jvm.type("java.time.ZoneOffset").UTC
        return self._jvm.type("java.time.LocalDateTime").ofEpochSecond(seconds, rest * 1000, utc)

    def _any(self, parts: list[JavaObject]) -> JavaObject:
        made = parts[0]
        for part in parts[1:]:
            made = self._call("or", [made, part])
        return made

    @property
    def _true(self) -> JavaObject:
        return self._jvm.singleton(f"{EXPRESSIONS}Literal").apply(True)

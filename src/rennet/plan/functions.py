"""Catalyst expressions of rennet's own making: literals, casts, Spark's functions by name.

The analyzer is not needed for them. Questions to the JVM take time, and a plan has dozens: answers are kept.
"""

from __future__ import annotations

import ast
from functools import cached_property

from rennet.jvm import JavaObject, Jvm

EXPRESSIONS = "org.apache.spark.sql.catalyst.expressions."
DATA_TYPE = "org.apache.spark.sql.types.DataType"
ZONED = frozenset({"to_json"})
"""Functions rennet calls whose values depend on the time zone."""


class Functions:
    """Makes expressions for one session."""

    def __init__(self, jvm: Jvm) -> None:
        self.jvm = jvm
        self._types: dict[str, JavaObject] = {}
        self._literals: dict[tuple[str, str], JavaObject] = {}

    def type(self, name: str) -> JavaObject:
        """The type that DDL spells so."""
        found = self._types.get(name)
        if found is None:
            found = self._types[name] = self.jvm.singleton(DATA_TYPE).fromDDL(name)
        return found

    def call(self, name: str, arguments: list[JavaObject]) -> JavaObject:
        """Spark's own function of that name, resolved: the analyzer need not see the plan again."""
        identifier = self.jvm.kept(("function", name), lambda: self._identifier(name))
        made = self._registry.lookupFunction(identifier, self.jvm.seq(arguments))
        if name in ZONED:
            made = made.withTimeZone(self.jvm.session.sessionState().conf().sessionLocalTimeZone())
        aggregates = self.jvm.kept(("aggregates", name), lambda: self._aggregate.isInstance(made))
        return made.toAggregateExpression() if aggregates else made

    def _identifier(self, name: str) -> JavaObject:
        make = self.jvm.type("org.apache.spark.sql.catalyst.FunctionIdentifier")
        return make(name, self.jvm.some("builtin"), self.jvm.some("system"))

    def literal(self, text: str, type: str) -> JavaObject:
        """The value that Python spells so."""
        found = self._literals.get((text, type))
        if found is None:
            found = self._literals[text, type] = self._new_literal(ast.literal_eval(text), self.type(type))
        return found

    def _new_literal(self, value: object, wanted: JavaObject) -> JavaObject:
        if value is None:
            return self._literal.create(None, wanted)
        typed = self._literal.apply(value)
        return typed if typed.dataType().equals(wanted) else self.cast(typed, wanted)

    def default(self, type: str, nullable: bool) -> JavaObject:
        """NULL where the type permits it, else the type's zero."""
        wanted = self.type(type)
        return self._literal.create(None, wanted) if nullable else self._literal.default(wanted)

    def cast(self, value: JavaObject, wanted: JavaObject) -> JavaObject:
        return self.jvm.type(f"{EXPRESSIONS}Cast")(value, wanted, self._zone, self._mode)

    def ascending(self, value: JavaObject) -> JavaObject:
        """The order by a value, NULLs first."""
        order = self.jvm.singleton(f"{EXPRESSIONS}SortOrder")
        return order.apply(value, self.jvm.singleton(f"{EXPRESSIONS}Ascending"), self.jvm.seq([]))

    def shift(self, value: JavaObject, offset: JavaObject) -> JavaObject:
        """A value moved by a distance, as Spark moves the bounds of a frame; NULL if it has no such value."""
        kind, by = value.dataType().typeName(), offset.dataType().typeName()
        if kind in ("timestamp", "timestamp_ntz"):
            return self.jvm.type(f"{EXPRESSIONS}TimestampAddInterval")(value, offset, self._zone)
        if kind != "date":
            return self.call("try_add", [value, offset])
        if by != "integer":
            offset = self.jvm.type(f"{EXPRESSIONS}ExtractANSIIntervalDays")(offset)
        return self.jvm.type(f"{EXPRESSIONS}DateAdd")(value, offset)

    def field(self, value: JavaObject, name: str) -> JavaObject:
        """A field of a struct, or that field of every struct in an array."""
        resolver = self.jvm.session.sessionState().conf().resolver()
        extract = self.jvm.singleton(f"{EXPRESSIONS}ExtractValue")
        return extract.apply(value, self._literal.apply(name), resolver)

    @cached_property
    def _literal(self) -> JavaObject:
        return self.jvm.singleton(f"{EXPRESSIONS}Literal")

    @cached_property
    def _mode(self) -> JavaObject:
        return self.jvm.singleton(f"{EXPRESSIONS}EvalMode").ANSI()

    @cached_property
    def _zone(self) -> JavaObject:
        return self.jvm.some(self.jvm.session.sessionState().conf().sessionLocalTimeZone())

    @cached_property
    def _registry(self) -> JavaObject:
        return self.jvm.session.sessionState().functionRegistry()

    @cached_property
    def _aggregate(self) -> JavaObject:
        return self.jvm.loaded(f"{EXPRESSIONS}aggregate.AggregateFunction")

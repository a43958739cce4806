"""Catalyst plan → rennet plan: the only place that knows the names of Catalyst's operators.

The walk goes over Py4J, where every call costs a round trip, so each object is asked only for what the
stages use. An operator without a reader of its own becomes an `Other`: still read, written and named.
"""

from __future__ import annotations

from collections.abc import Callable

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from rennet.jvm import JavaObject, Jvm, column_named
from rennet.plan.expressions import AggregateCall, Alias, Attribute, Expr, Named, Subquery
from rennet.plan.ir import (
    ANTI,
    EXISTENCE,
    FULL,
    INNER,
    LEFT,
    RIGHT,
    SEMI,
    SINGLE,
    Aggregate,
    Constant,
    Expand,
    Filter,
    Foreign,
    Generate,
    GroupMap,
    Join,
    Limited,
    Node,
    Other,
    PassThrough,
    Project,
    Scan,
    Union,
    Window,
)

JOIN_KINDS = {
    "Inner": INNER,
    "Cross": INNER,
    "LeftOuter": LEFT,
    "RightOuter": RIGHT,
    "FullOuter": FULL,
    "LeftSemi": SEMI,
    "LeftAnti": ANTI,
    "ExistenceJoin": EXISTENCE,
    "LeftSingle": SINGLE,
}
NAMES_ONLY = {"SubqueryAlias", "View"}
"""Operators that only rename their input; Catalyst's rules leave them inside subqueries."""
PASSING = {"Sort", "Repartition", "RepartitionByExpression", "RebalancePartitions", "ResolvedHint",
           "CollectMetrics"}  # fmt: skip
LIMITS = {"GlobalLimit", "LocalLimit", "Offset", "Tail"}
GROUP_MAPS = {"FlatMapGroupsInPandas", "FlatMapGroupsInArrow"}
CONSTANT_LEAVES = {"LocalRelation", "OneRowRelation", "Range", "EmptyRelation"}
SUBQUERIES = {"ScalarSubquery", "Exists", "ListQuery", "LateralSubquery",
              "FunctionTableSubqueryArgumentExpression"}  # fmt: skip
EVALUATED = {"Average", "StddevPop", "StddevSamp", "VariancePop", "VarianceSamp",
             "CovPopulation", "CovSample", "Corr"}  # fmt: skip
"""Aggregates whose result rennet computes from sums it keeps, by Spark's own final formula."""
PYTHON = {"PythonUDF", "PythonUDAF", "PythonUDTF"}
UNTYPED = {"WindowSpecDefinition", "SpecifiedWindowFrame"}
"""Parts of a window, which fail when they are asked for a type."""
STATELESS = {"And", "Or", "Not", "EqualTo", "EqualNullSafe", "LessThan", "LessThanOrEqual", "GreaterThan",
             "GreaterThanOrEqual", "IsNull", "IsNotNull", "If", "CaseWhen", "Coalesce", "In", "SortOrder",
             "NamedLambdaVariable", "LambdaFunction", "OuterReference", "WindowExpression",
             "SQLScalarFunction"}  # fmt: skip
"""Expressions whose operands and text say all there is; every question to the JVM costs time."""
NESTED = ("array", "map", "struct", "variant")
Code = Callable[[bytes], str]
"""What a pickled Python function is told apart by."""
FILE_RELATION = "org.apache.spark.sql.execution.datasources.HadoopFsRelation"
DELTA_FILES = "org.apache.spark.sql.delta."


class Reader:
    """Reads one plan; attributes met twice are read once."""

    def __init__(self, jvm: Jvm, code: Code | None = None) -> None:
        self.jvm = jvm
        self.code = code
        self._attributes: dict[int, Attribute] = {}
        self._readers: dict[str, Callable[[JavaObject], Node]] = {
            "Project": self._project,
            "Filter": self._filter,
            "Join": self._join,
            "Aggregate": self._aggregate,
            "Union": self._union,
            "LogicalRelation": self._relation,
            "Window": self._window,
            "Generate": self._generate,
            "Expand": self._expand,
            **dict.fromkeys(PASSING, self._passing),
            **dict.fromkeys(LIMITS, self._limited),
            **dict.fromkeys(GROUP_MAPS, self._group_map),
        }

    # -- relations ---------------------------------------------------------------------------------

    def plan(self, plan: JavaObject) -> Node:
        kind: str = plan.nodeName()
        if kind in NAMES_ONLY:
            return self.plan(plan.child())
        reader = self._readers.get(kind)
        if reader is not None:
            return reader(plan)
        children = self._children(plan)
        if not children:
            return self._leaf(kind, plan)
        expressions = tuple(self.expression(e) for e in self.jvm.items(plan.expressions()))
        return Other(kind, self._output(plan), children, expressions, plan.simpleString(10_000), handle=plan)

    def _children(self, plan: JavaObject) -> tuple[Node, ...]:
        return tuple(self.plan(child) for child in self.jvm.items(plan.children()))

    def _output(self, plan: JavaObject) -> tuple[Attribute, ...]:
        return tuple(self._attribute(a) for a in self.jvm.items(plan.output()))

    def _project(self, plan: JavaObject) -> Node:
        return Project(self._named(plan.projectList()), (self.plan(plan.child()),), handle=plan)

    def _filter(self, plan: JavaObject) -> Node:
        return Filter(self.expression(plan.condition()), (self.plan(plan.child()),), handle=plan)

    def _join(self, plan: JavaObject) -> Node:
        kind = plan.joinType().toString().partition("(")[0]
        condition = self.jvm.value(plan.condition())
        return Join(
            JOIN_KINDS.get(kind, kind),
            None if condition is None else self.expression(condition),
            (self.plan(plan.left()), self.plan(plan.right())),
            self._output(plan),
            handle=plan,
        )

    def _aggregate(self, plan: JavaObject) -> Node:
        grouping = tuple(self.expression(e) for e in self.jvm.items(plan.groupingExpressions()))
        outputs = self._named(plan.aggregateExpressions())
        return Aggregate(grouping, outputs, (self.plan(plan.child()),), handle=plan)

    def _union(self, plan: JavaObject) -> Node:
        return Union(self._output(plan), self._children(plan), handle=plan)

    def _window(self, plan: JavaObject) -> Node:
        partition = tuple(self.expression(e) for e in self.jvm.items(plan.partitionSpec()))
        order = tuple(self.expression(e) for e in self.jvm.items(plan.orderSpec()))
        made = self._named(plan.windowExpressions())
        return Window(made, partition, order, (self.plan(plan.child()),), handle=plan)

    def _generate(self, plan: JavaObject) -> Node:
        child = self.plan(plan.child())
        dropped = set(self.jvm.items(plan.unrequiredChildIndex()))
        kept = tuple(i for i in range(len(child.output)) if i not in dropped)
        made = tuple(self._attribute(a) for a in self.jvm.items(plan.generatorOutput()))
        generator = self.expression(plan.generator())
        return Generate(generator, made, (child,), kept, handle=plan, outer=plan.outer())

    def _expand(self, plan: JavaObject) -> Node:
        projections = tuple(
            tuple(self.expression(e) for e in self.jvm.items(each))
            for each in self.jvm.items(plan.projections())
        )
        return Expand(projections, self._output(plan), (self.plan(plan.child()),), handle=plan)

    def _passing(self, plan: JavaObject) -> Node:
        expressions = tuple(self.expression(e) for e in self.jvm.items(plan.expressions()))
        (child,) = self._children(plan)
        return PassThrough(plan.nodeName(), expressions, (child,), plan.simpleString(10_000), handle=plan)

    def _limited(self, plan: JavaObject) -> Node:
        (count,) = self.jvm.items(plan.expressions())
        return Limited(plan.nodeName(), self.expression(count), self._children(plan), handle=plan)

    def _group_map(self, plan: JavaObject) -> Node:
        keys = tuple(self._attribute(a) for a in self.jvm.items(plan.groupingAttributes()))
        function = self.expression(plan.functionExpr())
        return GroupMap(
            plan.nodeName(), keys, function, self._output(plan), self._children(plan), handle=plan
        )

    def _relation(self, plan: JavaObject) -> Node:
        """A file or Delta table; a Delta table read at a fixed version never changes."""
        output = self._output(plan)
        relation = plan.relation()
        table = self.jvm.value(plan.catalogTable())
        name = "" if table is None else table.identifier().unquotedString()
        if plan.isStreaming():
            return Foreign("streaming", name, output, handle=plan, text=plan.simpleString(100))
        if not self.jvm.loaded(FILE_RELATION).isInstance(relation):  # Delta's is a subclass
            kind = relation.getClass().getSimpleName()
            return Foreign(kind, name, output, handle=plan, text=plan.simpleString(100))
        files = relation.location()
        if not files.getClass().getName().startswith(DELTA_FILES):
            where = f"{files.rootPaths().toString()} {relation.options().toString()}"
            return Foreign(relation.fileFormat().toString(), name, output, handle=plan, text=where)
        path = files.path().toString()
        if files.getClass().getSimpleName() == "TahoeLogFileIndex" and files.isTimeTravelQuery():
            return Constant(f"{path}@v{files.snapshotAtAnalysis().version()}", output, handle=plan)
        return Scan(path, output, name=name, handle=plan)

    def _leaf(self, kind: str, plan: JavaObject) -> Node:
        output = self._output(plan)
        if kind in CONSTANT_LEAVES:
            local = kind == "LocalRelation"
            text = plan.data().toString() if local else plan.simpleString(10_000)
            rows = self._rows(plan) if local else ""
            return Constant(kind, output, text, handle=plan, rows=rows)
        text = plan.simpleString(10_000)
        return Foreign("streaming" if plan.isStreaming() else kind, kind, output, handle=plan, text=text)

    def _rows(self, plan: JavaObject) -> str:
        """The rows of a VALUES as SQL, if all of them can be written so."""
        try:
            return str(plan.toSQL("rows")) if plan.data().nonEmpty() else ""
        except (Py4JJavaError, PySparkException):
            return ""

    # -- expressions -------------------------------------------------------------------------------

    def _named(self, expressions: JavaObject) -> tuple[Named, ...]:
        made = []
        for item in self.jvm.items(expressions):
            read = self.expression(item)
            if not isinstance(read, Attribute | Alias):
                read = self._as_alias(item, read)
            made.append(read)
        return tuple(made)

    def _as_alias(self, expression: JavaObject, read: Expr) -> Alias:
        """A named expression that is neither a column nor an alias (an outer reference, say)."""
        return Alias(
            "Alias",
            (read,),
            type=read.type,
            nullable=read.nullable,
            deterministic=read.deterministic,
            handle=expression,
            id=expression.exprId().id(),
            name=expression.name(),
        )

    def expression(self, expression: JavaObject) -> Expr:
        kind: str = expression.nodeName()
        if kind == "AttributeReference":
            return self._attribute(expression)
        if kind == "Alias":
            child = self.expression(expression.child())
            return Alias(
                "Alias",
                (child,),
                type=child.type,
                nullable=child.nullable,
                deterministic=child.deterministic,
                handle=expression,
                id=expression.exprId().id(),
                name=expression.name(),
            )
        if kind == "AggregateExpression":
            return self._aggregate_call(expression)
        return self._function(kind, expression)

    def _attribute(self, attribute: JavaObject) -> Attribute:
        name, key = column_named(attribute.toString())
        found = self._attributes.get(key)
        if found is None:
            found = self._attributes[key] = Attribute(
                "AttributeReference",
                type=attribute.dataType().catalogString(),
                nullable=attribute.nullable(),
                handle=attribute,
                id=key,
                name=name,
            )
        return found

    def _aggregate_call(self, expression: JavaObject) -> Expr:
        function = expression.aggregateFunction()
        condition = self.jvm.value(expression.filter())
        kind = function.nodeName()
        return AggregateCall(
            kind,
            tuple(self.expression(e) for e in self.jvm.items(function.children())),
            type=expression.dataType().catalogString(),
            nullable=expression.nullable(),
            deterministic=expression.deterministic(),
            text=function.toString(),
            state=self._state(kind, function),
            handle=expression,
            distinct=expression.isDistinct(),
            condition=None if condition is None else self.expression(condition),
            evaluate=self.expression(function.evaluateExpression()) if kind in EVALUATED else None,
        )

    def _function(self, kind: str, expression: JavaObject) -> Expr:
        children = tuple(self.expression(e) for e in self.jvm.items(expression.children()))
        type, nullable = ("", True) if kind in UNTYPED else self._typed(expression)
        made = Expr(
            kind,
            children,
            type=type,
            nullable=nullable,
            deterministic=expression.deterministic(),
            text=expression.toString() + self._code(kind, expression),
            state=self._state(kind, expression),
            handle=expression,
        )
        if kind in SUBQUERIES:
            return Subquery(**{**made.__dict__, "plan": self.plan(expression.plan())})
        return made

    def _typed(self, expression: JavaObject) -> tuple[str, bool]:
        """Type and nullability; parts of a subquery test may have none and say so by failing."""
        try:
            return expression.dataType().catalogString(), expression.nullable()
        except (Py4JJavaError, PySparkException):
            return "", True

    def _code(self, kind: str, expression: JavaObject) -> str:
        """What tells two functions of the same name apart."""
        if kind in PYTHON:
            return f" code {expression.func().command().hashCode()}"
        return f" code {expression.function().getClass().getName()}" if kind == "ScalaUDF" else ""

    def _state(self, kind: str, expression: JavaObject) -> str:
        """All that makes the expression what it is; of a Python function, what it would do."""
        if kind in STATELESS or kind in SUBQUERIES or self.code is None:
            return ""
        if kind in PYTHON:
            made = self.code(self._command(expression.func()))
            settled = "" if expression.deterministic() else " not deterministic"
            return f"{made} {expression.evalType()}{settled}"
        if kind == "Literal":
            return self._literal(expression)
        return str(expression.productIterator().mkString("|"))

    def _command(self, function: JavaObject) -> bytes:
        tag = self.jvm.singleton("scala.reflect.ClassTag").Byte()
        return bytes(function.command().toArray(tag))

    def _literal(self, literal: JavaObject) -> str:
        """Nested values as SQL, since as text ['a, b'] and ['a', 'b'] look alike."""
        type = literal.dataType().catalogString()
        if not type.startswith(NESTED):
            return ""
        try:
            return str(literal.sql())
        except (Py4JJavaError, PySparkException):
            return ""


def read(jvm: Jvm, plan: JavaObject, code: Code | None = None) -> Node:
    """The rennet plan of a resolved Catalyst plan; with `code`, each expression tells its whole state."""
    return Reader(jvm, code).plan(plan)

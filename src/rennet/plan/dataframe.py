"""rennet plan → DataFrame: the only writer.

Nodes that came from Spark and differ only in their inputs are written by `withNewChildren` on the
original, so nothing of them is lost. Everything else is built from Catalyst's constructors,
rennet's own expressions by looking up Spark's functions by name.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime

from pyspark.sql import DataFrame

from rennet.errors import PlanError
from rennet.jvm import JavaObject, Jvm, column_named
from rennet.plan.catalyst import read
from rennet.plan.expressions import (
    AggregateCall,
    Alias,
    Attribute,
    Bound,
    Carried,
    Expr,
    Subquery,
    alias,
    call,
    cast,
    literal,
)
from rennet.plan.functions import EXPRESSIONS, Functions
from rennet.plan.ir import (
    ANTI,
    FULL,
    INNER,
    LEFT,
    RIGHT,
    SEMI,
    Aggregate,
    Expand,
    Filter,
    Join,
    Node,
    Once,
    PassThrough,
    Project,
    Replicate,
    Scan,
    Slice,
    State,
    Stored,
    Union,
    Window,
)
from rennet.plan.limits import Limits
from rennet.plan.pinning import moment_literal
from rennet.plan.surgery import map_expressions, map_subqueries
from rennet.storage.fetching import filled, first_rows

PLANS = "org.apache.spark.sql.catalyst.plans."
NULLABILITY = "org.apache.spark.sql.catalyst.analysis.UpdateAttributeNullability"
"""An outer join of rennet's own makes columns nullable that expressions above know as never NULL."""
JOIN_NAMES = {INNER: "inner", LEFT: "left_outer", RIGHT: "right_outer", FULL: "full_outer",
              SEMI: "left_semi", ANTI: "left_anti"}  # fmt: skip

MOST_IN_DRIVER = 10_000
"""So many rows are kept in the driver at most, however few were expected: a join may make any number."""

Leaf = Callable[[Node], JavaObject]
"""Gives the Catalyst plan of a leaf; its columns are taken by position."""


LeafKey = tuple[object, ...]
"""What a leaf reads: a table in a state, and of it some columns."""


def leaf_key(node: Scan | Stored) -> LeafKey:
    source = (node.source, node.state) if isinstance(node, Scan) else ()
    return (*source, *(column.name for column in node.output))


class Writer:
    """Writes plans of one refresh; `leaf` says what a scan of a state reads."""

    def __init__(
        self,
        jvm: Jvm,
        leaf: Leaf | None = None,
        moments: Mapping[str, datetime] | None = None,
        skipping: bool = True,
        sent: Callable[[Join], int | None] = lambda _: None,
        few: Callable[[Node], bool] = lambda _: False,
        unsure: Callable[[Node], bool] = lambda _: False,
        ranges: bool = True,
        together: bool = False,
        shared: Collection[LeafKey] | None = None,
    ) -> None:
        """`sent` says which side of a join is small enough to be sent to every task, `few` which rows are so
        few that they are best kept in the driver, `unsure` which may be far fewer than Spark takes them for.

        `skipping` and `ranges` say whether limits of values, and of keys, are looked up. Rows that are read
        `together` are all in one task, so that none is ever shuffled; of them, `shared` leaves (all, unless
        it is said which) are read once and kept.
        """
        self.jvm = jvm
        self.together = together
        self.skipping = skipping
        self._sent = sent
        self._few = few
        self._unsure = unsure
        self._ranges = ranges
        self._moments = moments or {}
        self._leaf = leaf
        self._plans: dict[int, tuple[Node, JavaObject]] = {}
        self._attributes: dict[int, JavaObject] = {}
        self._ids: dict[int, JavaObject] = {}
        self._kept: list[DataFrame] = []
        self._fetched: dict[int, Node] = {}
        self._shared = shared
        self._tables: dict[LeafKey, JavaObject] = {}
        self._functions = Functions(jvm)
        self._limits = Limits(jvm, self.dataframe, self.expression, self._functions)
        self._none = jvm.none
        self._sequences = jvm.singleton("scala.collection.immutable.ArraySeq")
        self._no_names = jvm.seq([])
        self._builders: Mapping[type[Node], Callable[..., JavaObject]] = {
            Project: self._project,
            Filter: self._filter,
            Slice: self._filter,
            Join: self._join,
            Aggregate: self._aggregate,
            Union: self._union,
            Replicate: self._replicate,
            Expand: self._expand,
            Window: self._window,
            PassThrough: self._sort,
            Once: self._once,
        }

    def dataframe(self, node: Node) -> DataFrame:
        """The frame of a plan, which is complete as it is written.

        The analyzer is spared, not only for speed: it would give new ids to leaves that appear twice,
        and it refuses windows that rules of the optimizer leave behind.
        """
        made = self.jvm.singleton(NULLABILITY).apply(self.plan(node))
        if not made.resolved():
            raise PlanError(f"a plan does not type-check:\n{made.treeString()}")
        made.setAnalyzed()
        return self.jvm.dataframe(made)

    @contextmanager
    def keeping(self) -> Iterator[None]:
        """Rows that are computed once stay in memory until here, whatever happens."""
        try:
            yield
        finally:
            for frame in self._kept:
                frame.unpersist()
            self._kept.clear()

    # -- relations ---------------------------------------------------------------------------------

    def plan(self, node: Node) -> JavaObject:
        """The Catalyst plan; the same node gives the same object, so that Spark can see it is shared."""
        found = self._plans.get(id(node))
        if found is not None:
            return found[1]
        made = self._write(node)
        if self.together and (isinstance(node, Union) or not node.children):
            made = self._in_one_task(made)
        self._plans[id(node)] = (node, made)
        return made

    def _write(self, node: Node) -> JavaObject:
        if not node.children:
            return self._write_leaf(node)
        children = [self.plan(child) for child in node.children]
        if isinstance(node, Join):
            side = self._sent(node)
            if side is not None:
                children[side] = self._broadcast(children[side])
        if node.handle is not None:
            handle = self._with_subqueries(node)
            return handle.withNewChildren(self.jvm.seq(children))
        builder = self._builders.get(type(node))
        if builder is None:
            raise PlanError(f"{node.op} cannot be built from nothing")
        return builder(node, *children)

    def _broadcast(self, plan: JavaObject) -> JavaObject:
        """The plan with the hint that a user would give."""
        strategy = self.jvm.some(self.jvm.singleton(f"{PLANS}logical.BROADCAST"))
        info = self.jvm.type(f"{PLANS}logical.HintInfo")(strategy)
        return self.jvm.type(f"{PLANS}logical.ResolvedHint")(plan, info)

    def _with_subqueries(self, node: Node) -> JavaObject:
        """The original node, its subquery expressions reading what this writer's leaves say."""
        subqueries = (e for x in node.expressions for e in x.walk() if isinstance(e, Subquery))
        if self._leaf is None or next(subqueries, None) is None:
            return node.handle
        return map_expressions(self.jvm, node.handle, self._pinned)

    def _pinned(self, expression: JavaObject) -> JavaObject:
        rewrite = lambda plan: self.plan(read(self.jvm, plan))  # noqa: E731
        return map_subqueries(self.jvm, expression, rewrite, self._pinned)

    def _write_leaf(self, node: Node) -> JavaObject:
        if self._leaf is None or not isinstance(node, Scan | Stored):
            return node.handle
        return self._retarget(self._read(node, self._leaf), node)

    def _read(self, node: Scan | Stored, leaf: Leaf) -> JavaObject:
        """What a leaf reads; of tiny tables planning a scan takes longer than it, so each is read once."""
        key = leaf_key(node)
        if not self.together or (self._shared is not None and key not in self._shared):
            return leaf(node)
        found = self._tables.get(key)
        if found is None:
            found = self._tables[key] = self._keep(self.jvm.dataframe(self._in_one_task(leaf(node))), True)
        return found

    def _in_one_task(self, plan: JavaObject) -> JavaObject:
        return self.jvm.type(f"{PLANS}logical.Repartition")(1, False, plan)

    def _retarget(self, plan: JavaObject, node: Node) -> JavaObject:
        """Give a leaf's columns, by position, the ids the plan above expects."""
        output = plan.output()
        told = [column_named(text) for text in self.jvm.texts(output)]
        places = self._places(node, [name for name, _ in told])
        if len(places) != len(node.output):
            raise PlanError(f"a leaf has {len(told)} columns, its plan expects {len(node.output)}")
        found = [output.apply(place) for place in places]
        ids = [told[place][1] for place in places]
        if ids == [wanted.id for wanted in node.output]:
            self._attributes.update({w.id: a for a, w in zip(found, node.output, strict=True)})
            if len(found) == len(told):
                return plan
        aliases = [self._alias_as(*each) for each in zip(found, ids, node.output, strict=True)]
        return self.jvm.type(f"{PLANS}logical.Project")(self.jvm.seq(aliases), plan)

    def _places(self, node: Node, names: list[str]) -> list[int]:
        """Where the node's columns are among a leaf's; of a table that has more, they are found by name."""
        if not isinstance(node, Scan) or node.state is State.DELTA or len(names) == len(node.output):
            return list(range(len(names)))
        return [names.index(wanted.name) for wanted in node.output]

    def _project(self, node: Project, child: JavaObject) -> JavaObject:
        return self.jvm.type(f"{PLANS}logical.Project")(self._named(node.exprs), child)

    def _filter(self, node: Filter, child: JavaObject) -> JavaObject:
        return self.jvm.type(f"{PLANS}logical.Filter")(self.expression(node.condition), child)

    def _join(self, node: Join, left: JavaObject, right: JavaObject) -> JavaObject:
        how = self.jvm.singleton(f"{PLANS}JoinType").apply(JOIN_NAMES[node.how])
        condition = self._none if node.condition is None else self.jvm.some(self.expression(node.condition))
        hint = self.jvm.singleton(f"{PLANS}logical.JoinHint").NONE()
        return self.jvm.type(f"{PLANS}logical.Join")(left, right, how, condition, hint)

    def _aggregate(self, node: Aggregate, child: JavaObject) -> JavaObject:
        make = self.jvm.type(f"{PLANS}logical.Aggregate")
        return make(self._all(node.grouping), self._named(node.exprs), child, self._none)

    def _union(self, node: Union, *children: JavaObject) -> JavaObject:
        """Union puts out the first child's ids; a projection restores the node's own."""
        made = self.jvm.type(f"{PLANS}logical.Union")(self.jvm.seq(children), False, False)
        if [a.id for a in node.children[0].output] == [a.id for a in node.output]:
            return made
        return self._retarget(made, node)

    def _window(self, node: Window, child: JavaObject) -> JavaObject:
        make = self.jvm.type(f"{PLANS}logical.Window")
        if node.peers:
            child = self._in_order(node, child)
        return make(
            self._named(node.exprs), self._all(node.partition), self._all(node.order), child, self._none
        )

    def _sort(self, node: PassThrough, child: JavaObject) -> JavaObject:
        return self.jvm.type(f"{PLANS}logical.Sort")(self._all(node.exprs), True, child, self._none)

    def _in_order(self, node: Window, child: JavaObject) -> JavaObject:
        """Rows partitioned as the window wants them, and sorted further than it asks for.

        Spark sorts for a window only what is not in order yet, so this order is the one it keeps.
        """
        if node.partition:
            spread = self.jvm.type(f"{PLANS}logical.RepartitionByExpression")
            child = spread(self._all(node.partition), child, self._none, self._none)
        else:
            child = self.jvm.type(f"{PLANS}logical.Repartition")(1, True, child)
        by = tuple(Expr("SortOrder", (key,), type=key.type) for key in node.partition)
        order = self._all((*by, *node.order, *node.peers))
        return self.jvm.type(f"{PLANS}logical.Sort")(order, False, child, self._none)

    def few(self, node: Node) -> bool:
        """Are there likely to be few of these rows? Of all that is read `together` there are."""
        return self.together or self._few(node)

    def in_driver(self, node: Node) -> bool:
        """Is all that a plan, which has been written, reads kept in the driver?"""
        if isinstance(node, Once):
            return id(node) in self._fetched
        return bool(node.children) and all(map(self.in_driver, node.children))

    def _once(self, node: Once, child: JavaObject) -> JavaObject:
        few = self.few(node)
        kept = self._keep(self.dataframe(node.child), few)
        if not few and self._unsure(node) and kept.nodeName() == "InMemoryRelation":
            kept = filled(self.jvm, kept)
        if kept.nodeName() == "LocalRelation":
            self._fetched[id(node)] = node
        return kept

    def _keep(self, frame: DataFrame, few: bool) -> JavaObject:
        """Rows that are computed when they are first asked for, and kept: a leaf of the plans that read them.

        Spark would find for itself that they are kept, but only after it went through all that they are
        computed from, wherever they are read; where kept rows are computed from kept rows, that doubles at
        every level. Rows that are likely to be few are computed at once: plans that read no others need no
        job then, and Spark knows how many there are.
        """
        execution = frame._jdf.queryExecution()
        if self.together:
            found = self._in_driver(execution.executedPlan(), execution.analyzed())
            if found is not None:
                return found
        self._kept.append(frame.persist())
        kept = execution.withCachedData()
        if few and not self.together and kept.nodeName() == "InMemoryRelation":
            # If there are too many, they are kept all the same, and what was shuffled for them is there.
            return self._in_driver(kept.cacheBuilder().cachedPlan(), kept) or kept
        return kept

    def _in_driver(self, plan: JavaObject, shown: JavaObject) -> JavaObject | None:
        """The rows themselves, as a leaf with the columns of `shown`; None if they are too many."""
        rows = first_rows(self.jvm, plan, MOST_IN_DRIVER + 1, watched=not self.together)
        if len(rows) > MOST_IN_DRIVER:
            return None
        local = self.jvm.type(f"{PLANS}logical.LocalRelation")
        return local(shown.output(), self._sequences.unsafeWrapArray(rows), False, self._none)

    def _expand(self, node: Expand, child: JavaObject) -> JavaObject:
        lists = self.jvm.seq([self._all(each) for each in node.projections])
        for attribute in node.output:
            if attribute.id not in self._attributes and attribute.handle is None:
                self._attributes[attribute.id] = self._reference_to(attribute)
        return self.jvm.type(f"{PLANS}logical.Expand")(lists, self._all(node.output), child)

    def _replicate(self, node: Replicate, child: JavaObject) -> JavaObject:
        """Explode an array of as many elements as the weight, then drop it and the weight."""
        copies = call("array_repeat", literal(0, "int"), cast(node.child.output[-1], "int"))
        generator = self.jvm.type(f"{EXPRESSIONS}Explode")(self.expression(copies))
        copy = self._reference_to(alias(literal(0, "int"), "__mv_copy").attribute)
        made = self.jvm.type(f"{PLANS}logical.Generate")(
            generator, self.jvm.seq([]), False, self._none, self.jvm.seq([copy]), child
        )
        return self.jvm.type(f"{PLANS}logical.Project")(self._named(node.output), made)

    # -- expressions -------------------------------------------------------------------------------

    def _all(self, expressions: tuple[Expr, ...]) -> JavaObject:
        return self.jvm.seq(self.expression(e) for e in expressions)

    _named = _all

    def expression(self, expression: Expr) -> JavaObject:
        if isinstance(expression, Attribute):
            return self._attribute(expression)
        if isinstance(expression, Alias) and (expression.handle is None or expression.rebuilt):
            return self._alias(expression)
        if isinstance(expression, Bound):
            return self._bound(expression)
        if isinstance(expression, Carried):
            return self.expression(expression.value)
        if expression.op == "Moment":
            return moment_literal(self.jvm, expression.handle, self._moments[expression.text])
        if isinstance(expression, Subquery) and self._leaf is not None and expression.plan is not None:
            return expression.handle.withNewPlan(self.plan(expression.plan))
        if expression.handle is None:
            return self._made(expression)
        if expression.rebuilt or self._has_subquery(expression):
            if isinstance(expression, AggregateCall):
                return self._aggregate_call(expression)
            return expression.handle.withNewChildren(self._all(expression.children))
        return expression.handle

    def _aggregate_call(self, item: AggregateCall) -> JavaObject:
        """The same aggregate of other arguments; its result gets an id of its own: Spark knows it by that."""
        function = item.handle.aggregateFunction()
        if item.op == "ListAgg":  # the one that may have got more to order by
            function = function.withOrderingWithinGroup(self._all(item.children[2:]))
        function = function.withNewChildren(self._all(item.children))
        condition = self._none if item.condition is None else self.jvm.some(self.expression(item.condition))
        fresh = self.jvm.singleton(f"{EXPRESSIONS}NamedExpression").newExprId()
        make = self.jvm.type(f"{EXPRESSIONS}aggregate.AggregateExpression")
        return make(function, item.handle.mode(), item.distinct, condition, fresh)

    def _has_subquery(self, expression: Expr) -> bool:
        return self._leaf is not None and any(isinstance(e, Subquery) for e in expression.walk())

    def _attribute(self, attribute: Attribute) -> JavaObject:
        found = self._attributes.get(attribute.id)
        if found is None:
            if attribute.handle is None:
                raise PlanError(f"column {attribute.name}#{attribute.id} is used before it is made")
            found = self._attributes[attribute.id] = attribute.handle.toAttribute()
        return found

    def _expression_id(self, key: int) -> JavaObject:
        """Ids below zero are rennet's own: each gets a fresh Catalyst id the first time it is seen."""
        found = self._ids.get(key)
        if found is None:
            if key >= 0:
                found = self.jvm.singleton(f"{EXPRESSIONS}ExprId").apply(key)
            else:
                found = self.jvm.singleton(f"{EXPRESSIONS}NamedExpression").newExprId()
            self._ids[key] = found
        return found

    def _alias(self, item: Alias) -> JavaObject:
        return self._new_alias(self.expression(item.child), item.attribute, item.handle)

    def _alias_as(self, column: JavaObject, id: int, wanted: Attribute) -> JavaObject:
        """A column under another id; one that has the id already is taken as it is.

        An alias of a column under that column's own id is taken for the column by Spark's planner, and the
        plan breaks.
        """
        if wanted.id == id:
            self._attributes[wanted.id] = column
            return column
        return self._new_alias(column, wanted, wanted.handle)

    def _new_alias(self, value: JavaObject, wanted: Attribute, handle: JavaObject | None) -> JavaObject:
        known = self._attributes.get(wanted.id)
        named = known if handle is None else handle
        key = self._expression_id(wanted.id) if named is None else named.exprId()
        make = self.jvm.type(f"{EXPRESSIONS}Alias")
        made = make(value, wanted.name, key, self._no_names, self._none, self._no_names)
        if known is None:
            self._attributes[wanted.id] = made.toAttribute()
        return made

    def _reference_to(self, wanted: Attribute, key: JavaObject | None = None) -> JavaObject:
        if not wanted.type:
            raise PlanError(f"column {wanted.name} was made without a type")
        metadata = self.jvm.singleton("org.apache.spark.sql.types.Metadata").empty()
        make = self.jvm.type(f"{EXPRESSIONS}AttributeReference")
        return make(
            wanted.name,
            self._functions.type(wanted.type),
            wanted.nullable,
            metadata,
            key or self._expression_id(wanted.id),
            self._no_names,
        )

    def _made(self, expression: Expr) -> JavaObject:
        """An expression of rennet's own: a literal, a cast, or a SQL function Spark resolves."""
        if expression.op == "Literal":
            return self._functions.literal(expression.text, expression.type)
        if expression.op == "DefaultValue":
            return self._functions.default(expression.type, expression.nullable)
        children = [self.expression(child) for child in expression.children]
        if expression.op == "SortOrder":
            return self._functions.ascending(children[0])
        if expression.op == "Field":
            return self._functions.field(children[0], ast.literal_eval(expression.text))
        if expression.op == "Shift":
            return self._functions.shift(children[0], children[1])
        if expression.op == "Cast":
            return self._functions.cast(children[0], self._functions.type(expression.type))
        return self._functions.call(expression.op, children)

    def _bound(self, bound: Bound) -> JavaObject:
        """The comparison with a value that is looked up now, if there are files worth skipping."""
        if not (self._ranges if bound.of_keys else self.skipping):
            return self.jvm.singleton(f"{EXPRESSIONS}Literal").apply(True)
        return self._limits.written(bound)

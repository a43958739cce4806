"""What the operators of a refresh really took: the CPU time of Spark's stages, divided by its SQL metrics.

Spark counts CPU time by stage, and rows and bytes by operator. A stage's time is known exactly; among the
operators that ran in it, it is divided by how much each had to do, at the rate of its kind.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rennet.cost.operators import Kind
from rennet.cost.rates import Rates

KINDS = (
    ("Scan", Kind.SCAN),
    ("BatchScan", Kind.SCAN),
    ("BroadcastNestedLoopJoin", Kind.NESTED_JOIN),
    ("CartesianProduct", Kind.NESTED_JOIN),
    ("Broadcast", Kind.BROADCAST_JOIN),  # the join, and sending its smaller side
    ("SortMergeJoin", Kind.SHUFFLE_JOIN),
    ("ShuffledHashJoin", Kind.SHUFFLE_JOIN),
    ("HashAggregate", Kind.AGGREGATE),
    ("ObjectHashAggregate", Kind.AGGREGATE),
    ("SortAggregate", Kind.AGGREGATE),
    ("Window", Kind.WINDOW),
    ("Exchange", Kind.SHUFFLE),
    ("FlatMapGroupsIn", Kind.PYTHON),
    ("FlatMapCoGroupsIn", Kind.PYTHON),
    ("BatchEvalPython", Kind.PYTHON),
    ("ArrowEvalPython", Kind.PYTHON),
    ("MapInPandas", Kind.PYTHON),
    ("MapInArrow", Kind.PYTHON),
    ("Filter", Kind.ROWS),
    ("Project", Kind.ROWS),
    ("Expand", Kind.ROWS),
    ("Generate", Kind.ROWS),
)
"""The kind of work of a physical operator, by how its name begins. The others do next to nothing, or the rate
of another includes their work: making rows of columns is the scan's, sorting the window's."""
SENDING = ("Exchange", "BroadcastExchange", "Subquery")
"""Operators whose result another stage reads: what is above them runs in that one."""
WRITTEN = "shuffle records written"
OF_THE_WRITER = ("data size", "shuffle bytes written", WRITTEN, "shuffle write time")
"""Metrics of an exchange that count in the stage below it; the others count in the one above."""
ROWS = "number of output rows"
STAGE = re.compile(r"stage (\d+)\.\d+")
NUMBER = re.compile(r"([\d,]+(?:\.\d+)?)(?: (\w+))?")
UNITS = {
    **{"KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "TiB": 2.0**40},
    **{"ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0},
}


@dataclass(frozen=True)
class Stage:
    """What Spark counted of one stage."""

    seconds: float
    """Executor CPU time."""
    read_bytes: float = 0.0
    written_rows: float = 0.0
    written_bytes: float = 0.0
    shuffled_rows: float = 0.0
    """Rows written for other stages."""


@dataclass(frozen=True)
class Physical:
    """An operator of a plan that ran, what Spark counted of it, and the operators below it."""

    name: str
    metrics: Mapping[str, str] = field(default_factory=dict)
    children: tuple[int, ...] = ()
    stages: frozenset[int] = frozenset()
    """Those that its metrics name."""

    def count(self, metric: str) -> float | None:
        text = self.metrics.get(metric)
        return None if text is None else value(text)


@dataclass(frozen=True)
class Execution:
    """A plan that ran: its operators by number, and the stages it ran in."""

    nodes: Mapping[int, Physical]
    stages: Mapping[int, Stage]


@dataclass(frozen=True)
class Spent:
    """What one physical operator took; bytes are those read, sent or written."""

    operator: str
    kind: Kind
    rows: float
    bytes: float
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        return {
            "operator": self.operator,
            "kind": str(self.kind),
            "rows": round(self.rows),
            "bytes": round(self.bytes),
            "seconds": round(self.seconds, 4),
        }


def value(text: str) -> float:
    """The number that the text of a metric begins with: a total may be followed by how it is spread."""
    found = NUMBER.match(text.rsplit("\n", 1)[-1])
    if found is None:
        return 0.0
    return float(found[1].replace(",", "")) * UNITS.get(found[2] or "", 1.0)


def execution(graph: Mapping[str, Any], metrics: Mapping[str, str], stages: Mapping[int, Stage]) -> Execution:
    """From what Spark's status store has of a plan: its graph, and the values of its metrics by number."""
    above = defaultdict(list)
    for edge in graph["edges"]:
        above[edge["toId"]].append(edge["fromId"])
    nodes: dict[int, Physical] = {}
    compiled: dict[int, frozenset[int]] = {}
    for each in graph["allNodes"]:
        found = {m["name"]: metrics.get(str(m["accumulatorId"])) for m in each["metrics"]}
        known = {name: text for name, text in found.items() if text is not None}
        named = _stages_named(each["name"], known)
        if "nodes" in each:  # operators that were compiled together, and are listed by themselves too
            compiled |= {inner["id"]: named for inner in each["nodes"]}
        else:
            nodes[each["id"]] = Physical(each["name"], known, tuple(above[each["id"]]), named)
    together = {
        n: Physical(p.name, p.metrics, p.children, p.stages | compiled.get(n, frozenset()))
        for n, p in nodes.items()
    }
    return Execution(together, stages)


def _stages_named(name: str, metrics: Mapping[str, str]) -> frozenset[int]:
    sends = name.startswith(SENDING)
    texts = (text for metric, text in metrics.items() if not sends or metric in OF_THE_WRITER)
    return frozenset(int(number) for text in texts for number in STAGE.findall(text))


def divided(executions: Iterable[Execution], columns: int, rates: Rates) -> list[Spent]:
    """The CPU time of some executions by operator; `columns` is how many a written row has."""
    return [spent for each in executions for spent in _Dividing(each, columns, rates).spent()]


class _Dividing:
    def __init__(self, execution: Execution, columns: int, rates: Rates) -> None:
        self.execution = execution
        self.columns = columns
        self.rates = rates
        self._rows: dict[int, float] = {}

    def spent(self) -> Iterator[Spent]:
        """Stages that are known to be of certain operators, then what is left among those that are left."""
        parts = self._parts()
        left = set(self.execution.stages)
        unclaimed: list[set[int]] = []
        for part in parts:
            mine = self._stages_of(part) & left
            left -= mine
            if mine:
                yield from self._of(part, [self.execution.stages[number] for number in mine])
            else:
                unclaimed.append(part)
        rest = [self.execution.stages[number] for number in left]
        if sum(stage.seconds for stage in rest) > 0:
            yield from self._of(set().union(*(unclaimed or parts)), rest)

    def _parts(self) -> list[set[int]]:
        """The operators that run in one stage, for all stages: the plan, cut where rows are sent."""
        nodes = self.execution.nodes
        below = {child for node in nodes.values() for child in node.children}
        starts = [n for n, node in nodes.items() if n not in below or node.name.startswith(SENDING)]
        parts = []
        for start in starts:
            part, waiting = {start}, list(nodes[start].children)
            while waiting:
                number = waiting.pop()
                if not nodes[number].name.startswith(SENDING) and number not in part:
                    part.add(number)
                    waiting += nodes[number].children
            parts.append(part)
        return parts

    def _stages_of(self, part: set[int]) -> set[int]:
        """By the stages their metrics name, as they do for several tasks; else by how many rows were sent."""
        nodes = [self.execution.nodes[number] for number in part]
        named = {number for node in nodes for number in node.stages if number in self.execution.stages}
        sent = next((node.count(WRITTEN) for node in nodes if WRITTEN in node.metrics), None)
        if named or not sent:
            return named
        found = {number for number, stage in self.execution.stages.items() if stage.shuffled_rows == sent}
        return found if len(found) == 1 else set()

    def _of(self, part: set[int], stages: Sequence[Stage]) -> Iterator[Spent]:
        # Starting tasks takes its part, however little there is for them to do.
        jobs = Spent("Jobs", Kind.COMMIT, 0.0, 0.0, self.rates[Kind.COMMIT] * len(stages))
        weighed = [*self._weighed(part, stages), *self._writing(stages), jobs]
        seconds, total = sum(stage.seconds for stage in stages), sum(each.seconds for each in weighed)
        for each in weighed:
            yield replace(each, seconds=seconds * each.seconds / total)

    def _weighed(self, part: set[int], stages: Sequence[Stage]) -> Iterator[Spent]:
        """What the work of each operator would take at the rate of its kind."""
        nodes = self.execution.nodes
        scanned = sum(self._out(n) for n in part if _kind(nodes[n].name) is Kind.SCAN)
        read = sum(stage.read_bytes for stage in stages)
        for number in sorted(part):
            node, rows = nodes[number], self._out(number)
            kind = _kind(node.name)
            if kind is None:
                continue
            size = 0.0
            if kind is Kind.SCAN:
                size = read * rows / scanned if read and scanned else node.count("size of files read") or 0.0
            elif kind is Kind.SHUFFLE:
                size = node.count("data size") or 0.0
            seconds = self.rates[kind] * self._units(kind, number, size)
            if kind is Kind.SCAN:  # few bytes can be many rows, if their values repeat
                seconds += self.rates[Kind.ROWS] * rows
            yield Spent(node.name, kind, rows, size, seconds)

    def _units(self, kind: Kind, number: int, size: float) -> float:
        """How much there was to do, as `Kind` counts it."""
        came = [self._out(child) for child in self.execution.nodes[number].children]
        if kind in (Kind.SCAN, Kind.SHUFFLE):
            return size
        if kind is Kind.NESTED_JOIN:
            pairs = 1.0
            for rows in came:
                pairs *= rows
            return pairs
        if kind in (Kind.BROADCAST_JOIN, Kind.SHUFFLE_JOIN):
            return sum(came) + self._out(number)
        return sum(came) or self._out(number)

    def _writing(self, stages: Sequence[Stage]) -> Iterator[Spent]:
        """Writing files is not an operator of the plan: what stages wrote tells of it."""
        rows = sum(stage.written_rows for stage in stages)
        if rows:
            size = sum(stage.written_bytes for stage in stages)
            yield Spent("Write", Kind.WRITE, rows, size, self.rates[Kind.WRITE] * rows * self.columns)

    def _out(self, number: int) -> float:
        """Rows that come out: counted, or those that came in."""
        if number not in self._rows:
            node = self.execution.nodes[number]
            counted = node.count(ROWS)
            if counted is None:
                counted = node.count(WRITTEN)
            below = sum(self._out(child) for child in node.children) if counted is None else counted
            self._rows[number] = below
        return self._rows[number]


def _kind(name: str) -> Kind | None:
    return next((kind for start, kind in KINDS if name.startswith(start)), None)


def by_kind(spent: Iterable[Spent]) -> dict[Kind, float]:
    """Seconds of each kind of work."""
    found: dict[Kind, float] = defaultdict(float)
    for each in spent:
        found[each.kind] += each.seconds
    return dict(found)

"""Datasets, what each reads, and what is wrong with them. No Spark in here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from rennet.errors import InvalidNameError, PipelineError
from rennet.pipelines.definitions import Dataset, DatasetKind, Flow, Location, Project
from rennet.storage.names import split_name

APPENDED = (DatasetKind.STREAMING_TABLE, DatasetKind.SINK)
"""What flows append to; everything else is defined by one query."""


@dataclass(frozen=True, order=True)
class Problem:
    """Something that keeps a pipeline from running, and where."""

    location: Location = field(compare=False)
    code: str
    message: str

    def __str__(self) -> str:
        return f"{self.location}: [{self.code}] {self.message}"


class InvalidGraphError(PipelineError):
    """All problems of a pipeline, found before anything ran."""

    code = "INVALID_PIPELINE"

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = sorted(problems, key=lambda p: (p.location.file, p.location.line or 0, p.message))
        count = f"{len(self.problems)} problem{'' if len(self.problems) == 1 else 's'}"
        super().__init__("\n".join([f"The pipeline has {count}:", *(f"  {each}" for each in self.problems)]))


@dataclass(frozen=True)
class Node:
    """A dataset and the flows into it."""

    key: str
    """Its full name, in lower case: `schema.name`, or `name` alone for temporary views and sinks."""
    dataset: Dataset
    flows: tuple[Flow, ...]

    @property
    def kind(self) -> DatasetKind:
        return self.dataset.kind

    @property
    def is_cdc(self) -> bool:
        return any(flow.cdc is not None for flow in self.flows)


def full_name(name: str, database: str, local: bool = False) -> str:
    """`schema.name` in lower case; `local` names have no schema."""
    parts = [part.lower() for part in split_name(name)]
    if len(parts) == 3 and parts[0] == "spark_catalog":
        parts = parts[1:]
    if local:
        if len(parts) != 1:
            raise InvalidNameError(f"{name} cannot have a schema.", "Temporary views and sinks have none.")
        return parts[0]
    if len(parts) > 2:
        raise InvalidNameError(f"{name} names another catalog.", "Only spark_catalog can be used.")
    return ".".join(parts if len(parts) == 2 else [database.lower(), parts[0]])


def assemble(project: Project, database: str) -> tuple[dict[str, Node], list[Problem]]:
    """The project's nodes by full name, and what is wrong with its names and flows."""
    problems: list[Problem] = []
    datasets = _datasets(project, database, problems)
    flows: dict[str, list[Flow]] = defaultdict(list)
    names: dict[str, Flow] = {}
    for flow in project.flows:
        target = _target(flow, database, datasets)
        first = names.setdefault(flow.name.lower(), flow)
        if target is None:
            problems.append(Problem(flow.location, "TARGET_NOT_FOUND", f"{flow.target} is not defined here"))
        elif first is not flow and target in flows:
            what = f"the flow {flow.name} is defined twice, first at {first.location}"
            # Two datasets of one name have two flows of that name: that is reported already.
            if flow.name != flow.target:
                problems.append(Problem(flow.location, "DUPLICATE_FLOW", what))
        else:
            flows[target].append(flow)
    nodes = {key: Node(key, dataset, tuple(flows[key])) for key, dataset in datasets.items()}
    for node in nodes.values():
        problems += _flow_problems(node)
    return nodes, problems


def _datasets(project: Project, database: str, problems: list[Problem]) -> dict[str, Dataset]:
    found: dict[str, Dataset] = {}
    for dataset in project.datasets:
        local = dataset.kind in (DatasetKind.TEMPORARY_VIEW, DatasetKind.SINK)
        try:
            key = full_name(dataset.name, database, local)
        except InvalidNameError as error:
            problems.append(Problem(dataset.location, error.code, error.message))
            continue
        if key in found:
            what = f"{dataset.name} is defined twice, first at {found[key].location}"
            problems.append(Problem(dataset.location, "DUPLICATE_NAME", what))
        else:
            found[key] = dataset
    return found


def _target(flow: Flow, database: str, datasets: Mapping[str, Dataset]) -> str | None:
    for local in (True, False):
        try:
            key = full_name(flow.target, database, local)
        except InvalidNameError:
            continue
        if key in datasets:
            return key
    return None


def _flow_problems(node: Node) -> list[Problem]:
    dataset, flows = node.dataset, node.flows

    def problem(code: str, message: str, flow: Flow | None = None) -> Problem:
        return Problem(flow.location if flow else dataset.location, code, message)

    found = []
    if not flows and node.kind is not DatasetKind.SINK:
        found.append(problem("NO_FLOW", f"nothing flows into {dataset.name}"))
    if node.kind not in APPENDED and len(flows) > 1:
        found.append(problem("TOO_MANY_FLOWS", f"a {node.kind} is defined by one query", flows[1]))
    changes = [flow for flow in flows if flow.cdc is not None]
    if changes and node.kind is not DatasetKind.STREAMING_TABLE:
        found.append(problem("NOT_A_STREAMING_TABLE", "AUTO CDC needs a streaming table", changes[0]))
    if changes and len(changes) < len(flows):
        found.append(problem("MIXED_FLOWS", "AUTO CDC and appends cannot share a target", changes[0]))
    types = {flow.cdc.scd_type for flow in changes if flow.cdc}
    if len(types) > 1:
        found.append(problem("MIXED_FLOWS", "AUTO CDC of both types cannot share a target", changes[1]))
    return found


def order(inputs: Mapping[str, Iterable[str]]) -> list[str]:
    """The keys, each after all that it reads, otherwise as given; there must be no cycle."""
    done: dict[str, None] = {}

    def visit(key: str) -> None:
        if key not in done:
            for below in inputs[key]:
                visit(below)
            done[key] = None

    for key in inputs:
        visit(key)
    return list(done)


def downstream(inputs: Mapping[str, Iterable[str]], of: Iterable[str]) -> set[str]:
    """Everything that reads one of these, directly or not."""
    found = set(of)
    for key in order(inputs):
        if found & set(inputs[key]):
            found.add(key)
    return found

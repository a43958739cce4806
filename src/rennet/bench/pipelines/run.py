"""`rennet bench pipelines`: both contenders after the same small changes, round by round."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from pyspark.sql import SparkSession

from rennet.bench.micro.measure import Said
from rennet.bench.micro.summary import figure, ratio
from rennet.bench.pipelines.contenders import Contender, Rennet, SparkPipelines
from rennet.bench.pipelines.lasting import rennet_that_stays, spark_pipelines_with_a_server
from rennet.bench.pipelines.project import Sources, write

ROWS = 5_000_000
REPEAT = 3
ONE_IN = 1_000
"""One order in so many changes, unless told otherwise."""


@dataclass(frozen=True)
class Settings:
    """How large, how much of it changes, and how often."""

    rows: int = ROWS
    changes: int | None = None
    repeat: int = REPEAT
    lasting: bool = False
    """Processes that stay, or a new one for every update."""
    warm_up: int = 0
    """Updates after the first that do not count: a JVM that stays has compiled what it runs by and by."""

    @property
    def changed(self) -> int:
        return self.changes or max(10, self.rows // ONE_IN)


@dataclass(frozen=True)
class Round:
    """What each contender took for one update."""

    number: int
    """The first one, 0, fills empty views."""
    changes: int
    seconds: dict[str, float]
    differences: tuple[str, ...]
    """Views that are not the same."""
    counts: bool = True

    @property
    def equal(self) -> bool:
        return not self.differences

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "equal": self.equal}


def run(spark: SparkSession, settings: Settings, folder: Path, say: Said) -> Iterator[Round]:
    """The first update of both, then a change and an update of both, in turns who is first."""
    folder.mkdir(parents=True, exist_ok=True)
    sources = Sources(spark, folder / "sources", settings.rows)
    say("making the sources")
    sources.create()
    ours = Rennet(write(folder / "ours", sources.folder), folder / "ours" / "warehouse")
    theirs = SparkPipelines(spark, write(folder / "theirs", sources.folder), folder / "theirs" / "warehouse")
    with ExitStack() as running:
        if settings.lasting:
            say("starting both")
            ours = running.enter_context(rennet_that_stays(ours.spec, ours.warehouse))
            theirs = running.enter_context(spark_pipelines_with_a_server(theirs))
        yield from _rounds(sources, settings, ours, theirs, say)


def _rounds(
    sources: Sources, settings: Settings, ours: Rennet, theirs: SparkPipelines, say: Said
) -> Iterator[Round]:
    contenders: list[Contender] = [ours, theirs]
    last = settings.warm_up + settings.repeat
    for number in range(last + 1):
        if number:
            sources.change(settings.changed)
        seconds = {}
        for contender in contenders[:: 1 if number % 2 else -1]:
            say(f"round {number} of {last}: {contender.name}")
            seconds[contender.name] = contender.update()
        say(f"round {number} of {last}: comparing")
        columns = theirs.columns()
        mine, other = ours.contents(columns), theirs.contents(columns)
        differences = tuple(view for view in other if mine[view] != other[view])
        changed, counts = settings.changed if number else 0, number > settings.warm_up
        yield Round(number, changed, seconds, differences, counts)


def table(rounds: Sequence[Round]) -> list[dict[str, Any]]:
    """A row for each contender: its first update, and the median of those after a change."""
    later = [each for each in rounds if each.number and each.counts]
    names = list(rounds[0].seconds)
    medians = {name: median(each.seconds[name] for each in later) for name in names if later}
    best = medians.get(SparkPipelines.name)
    return [
        {
            "contender": name,
            "first s": figure(rounds[0].seconds[name]),
            "after a change s": figure(medians.get(name)),
            "to spark-pipelines": figure(ratio(medians.get(name), best)),
            "equal": "yes" if all(each.equal for each in rounds) else "NO",
        }
        for name in names
    ]

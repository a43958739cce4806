"""`rennet prepare`: what makes every later start of Spark on this machine quicker."""

from __future__ import annotations

import shutil
from argparse import Namespace
from collections import deque
from itertools import islice
from pathlib import Path

from rennet import demo
from rennet.api import Engine
from rennet.classes import archive, making
from rennet.cli.commands import OK, UsageError
from rennet.cli.folders import own_warehouse
from rennet.cli.output import Output
from rennet.cli.pipelines import write_project
from rennet.cli.progress import Activity
from rennet.errors import SessionError
from rennet.pipelines.project import Pipeline
from rennet.session import JAVA_OPTIONS, close, session

SMALL = demo.Sizes(100, 1000)
STEPS = 4
PATIENCE = 300
"""Seconds the JVM has to write its classes."""


def run(options: Namespace, out: Output, activity: Activity) -> int:
    """Let Spark do a bit of everything, and keep the classes that took."""
    if options.warehouse is not None:
        raise UsageError("Preparing makes a warehouse of its own.", "Leave --warehouse out.")
    target = archive()
    with own_warehouse(None, "rennet-prepare-") as place:
        made = place / "classes.jsa"
        with activity.doing("starting Spark"):
            spark = session(place / "warehouse", config={JAVA_OPTIONS: making(made)})
        try:
            with activity.doing("a bit of everything"):
                _everything(Engine(spark), place)
        finally:
            with activity.doing("keeping the classes"):
                close(spark, PATIENCE)
        if not made.is_file():
            raise SessionError("This Java did not keep its classes.", "Use an OpenJDK 17 or newer.")
        _put(made, target)
    out.document({"file": str(target), "bytes": target.stat().st_size})
    out.line(f"From now on Spark starts quicker here. The classes are in {target}.")
    return OK


def _everything(engine: Engine, place: Path) -> None:
    """The first steps of the demonstration and a pipeline, both tiny."""
    demo.prepare(engine, SMALL)
    deque(islice(demo.steps(engine, SMALL, lambda _: None), STEPS), maxlen=0)
    Pipeline.open(engine, write_project(place / "project")).update()


def _put(made: Path, target: Path) -> None:
    """In one step, so that nobody finds half of it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.with_suffix(".new")
    shutil.move(made, beside)
    beside.replace(target)

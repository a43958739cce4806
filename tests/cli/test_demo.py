"""What the demonstration prints; that it is true is checked end to end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from rennet.cli import demo
from rennet.demo import Sizes, Step, events
from tests.cli.conftest import Shell
from tests.cli.fakes import EXPLAINED

CREATED = Step("the view is created", "CREATE …", "COMPLETE_RECOMPUTE", "the first", 0, 5, 30.0, 10.0, True)
REFRESHED = Step("1 order arrives", "INSERT …", "GROUP_AGGREGATE", "it can", 2, 2, 2.0, 9.0, True, EXPLAINED)


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[Step]:
    """The steps the demonstration is made to have."""
    steps = [CREATED, REFRESHED]

    def play(*_: Any) -> Iterator[Step]:
        yield from steps

    monkeypatch.setattr(demo, "prepare", lambda *_: None)
    monkeypatch.setattr(demo, "steps", play)
    return steps


def test_each_step_is_a_line_and_its_reason(shell: Shell, played: list[Step]) -> None:
    ran = shell.run("demo")
    assert ran.code == 0
    lines = ran.out.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("the view is created"))
    assert lines[first].split()[4:] == ["COMPLETE_RECOMPUTE", "-0", "+5", "30.0", "s", "10.0", "s", "yes"]
    assert lines[first + 1] == "    the first"
    assert lines[first + 2].split()[3:] == [
        "GROUP_AGGREGATE", "-2", "+2", "2.00", "s", "9.00", "s", "4.5x", "yes",
    ]  # fmt: skip
    assert "      because because of [brackets]" in lines
    assert lines[-4].endswith("What next:") and all(line.startswith("  ") for line in lines[-3:])


def test_a_view_that_differs_is_an_error(shell: Shell, played: list[Step]) -> None:
    played.append(replace(REFRESHED, agrees=False))
    ran = shell.run("demo")
    assert ran.code == 1 and "NO: the view differs from its query" in ran.out
    document = shell.run("demo", "--json").document
    assert document["agrees"] is False
    assert [step["agrees"] for step in document["steps"]] == [True, True, False]
    assert [step["ratio"] for step in document["steps"]] == [None, 4.5, 4.5]


def test_the_warehouse_goes_unless_it_is_kept(shell: Shell, played: list[Step], tmp_path: Any) -> None:
    shell.run("demo")
    assert shell.warehouse is not None and "rennet-demo-" in shell.warehouse
    kept = str(tmp_path / "kept")
    ran = shell.run("demo", "--keep", kept)
    assert shell.warehouse == kept and f"rennet sql --warehouse {kept}" in ran.out


def test_few_orders_change_at_any_size() -> None:
    assert [Sizes(orders=n).changed for n in (10, 2_000, 5_000_000)] == [1, 20, 1_000]
    assert [event.statement.split(" ")[0] for event in events(Sizes())] == [
        "INSERT", "UPDATE", "DELETE", "UPDATE", "OPTIMIZE", "",
    ]  # fmt: skip

"""The command line of the generator."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import rennet.bench.tpcdi.run
from tests.bench.tpcdi.conftest import Folder
from tests.cli.conftest import Shell, shell

__all__ = ["shell"]
GENERATE = ("bench", "tpcdi", "generate")


def test_it_says_what_it_wrote(shell: Shell, tmp_path: Path) -> None:
    out = tmp_path / "new"
    ran = shell.run(*GENERATE, "--scale", "0.05", "--batches", "2", "--seed", "9", "--out", str(out))
    assert (ran.code, ran.err) == (0, "")
    assert "FINWIRE (203 files)" in ran.out
    assert "MB for each second of CPU" in ran.out
    assert (out / "Batch2" / "Trade.txt").stat().st_size > 0
    assert not (out / "Batch3").exists()


def test_it_says_so_in_json(shell: Shell, tmp_path: Path) -> None:
    knobs = ("--change-factor", "2", "--late", "0.1", "--out-of-order", "0.2", "--update-share", "0.5")
    ran = shell.run(*GENERATE, "--scale", "0.05", "--out", str(tmp_path), "--json", *knobs)
    assert ran.code == 0
    assert ran.document["settings"] == {
        "scale": 0.05,
        "batches": 3,
        "seed": 1,
        "change_factor": 2.0,
        "update_share": 0.5,
        "late": 0.1,
        "out_of_order": 0.2,
    }
    for file in ran.document["files"]:
        path = tmp_path / f"Batch{file['batch']}" / file["name"]
        assert path.stat().st_size == file["bytes"]


def test_a_folder_with_something_in_it_is_left_alone(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    ran = shell.run(*GENERATE, "--out", str(tmp_path))
    assert ran.code == 3
    assert "is there already and not empty" in ran.err
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("--scale 0.001 --out x", "The scale must be at least 0.05."),
        ("--scale many --out x", "--scale"),
        ("--batches 0 --out x", "The number of batches must be between 1 and 1000."),
        ("", "--out"),
        ("--out x --warehouse w", "A benchmark's files are not in a warehouse."),
    ],
)
def test_wrong_usage(shell: Shell, line: str, problem: str) -> None:
    ran = shell.run(*GENERATE, *line.split())
    assert ran.code == 2
    assert problem in ran.err
    assert not Path("x").exists()


def test_a_missing_package_is_named(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(sys.modules):
        if name.startswith("rennet.bench.tpcdi.generator"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "numpy", None)
    ran = shell.run(*GENERATE, "--out", str(tmp_path / "new"))
    assert ran.code == 3
    assert "[PACKAGE_NOT_INSTALLED] The generator needs numpy" in ran.err
    assert "pip install 'rennet[bench]'" in ran.err
    assert not (tmp_path / "new").exists()


def test_nothing_is_left_when_it_fails(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rennet.bench.tpcdi.generator import watches

    def fail(*_: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(watches.Watches, "history", fail)
    ran = shell.run(*GENERATE, "--scale", "0.05", "--out", str(tmp_path / "new"))
    assert ran.code == 4
    assert "No space left on device" in ran.err
    assert not (tmp_path / "new").exists()


RUN, REPORT = ("bench", "tpcdi", "run"), ("bench", "tpcdi", "report")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("--scale 0.001", "The scale must be at least 0.05."),
        ("--batches 1", "There must be at least two batches."),
        ("--variant mine", "'mine' is not a variant of the benchmark."),
        ("--views dimtrade,mine", "'mine' is not a view of the benchmark."),
        ("--repeat 0", "--repeat must be at least 1."),
        ("--resume", "There is nothing to go on with."),
    ],
)
def test_wrong_usage_of_a_run(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, problem: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = shell.run(*RUN, *line.split())
    assert ran.code == 2
    assert problem in ran.err
    assert list(tmp_path.iterdir()) == []


def test_files_of_another_scale_are_refused(shell: Shell, small: Folder, tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    common = ("--data", str(small.path), "--json", str(file))
    ran = shell.run(*RUN, "--scale", "3", *common)
    assert (ran.code, "is of scale 0.2, not 3." in ran.err) == (2, True)
    ran = shell.run(*RUN, "--scale", "0.2", "--batches", "9", *common)
    assert (ran.code, "has no 9 batches." in ran.err) == (2, True)
    assert not file.exists()


def test_a_record_is_not_overwritten(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    file.write_text("mine")
    ran = shell.run(*RUN, "--json", str(file), "--data", str(tmp_path / "data"))
    assert (ran.code, "Go on with it by --resume, or name another." in ran.err) == (3, True)
    ran = shell.run(*RUN, "--json", str(file), "--resume", "--data", str(tmp_path / "data"))
    assert (ran.code, "[NOT_A_RECORD]" in ran.err) == (3, True)
    assert file.read_text() == "mine"
    assert not (tmp_path / "data").exists()


def test_a_report_needs_a_record(shell: Shell, tmp_path: Path) -> None:
    ran = shell.run(*REPORT, str(tmp_path / "nothing.json"), "--out", str(tmp_path / "out"))
    assert (ran.code, "cannot be read" in ran.err) == (3, True)
    assert not (tmp_path / "out").exists()


def test_a_report_needs_matplotlib(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(sys.modules):
        if name.startswith(("rennet.bench.tpcdi.run.report", "rennet.bench.tpcdi.run.plots", "matplotlib")):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr(rennet.bench.tpcdi.run, "plots", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    ran = shell.run(*REPORT, str(tmp_path / "nothing.json"))
    assert ran.code == 3
    assert "[PACKAGE_NOT_INSTALLED] The report needs matplotlib" in ran.err

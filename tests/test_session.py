"""Starting Spark: quietly, with clear errors, and with tables that outlive the process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from rennet.errors import SessionError
from rennet.session import LARGEST_LOG, LOCKED, Log, _explained, check, session

HOLD = """
import sys, rennet
from rennet.session import close
spark = rennet.session(sys.argv[1], cores=1, memory="512m")
spark.sql("CREATE TABLE kept AS SELECT 42 AS answer")
print("ready", flush=True)
sys.stdin.read()
close(spark)
"""
START = "import sys, rennet; rennet.session(sys.argv[1])"


def test_tables_survive_and_a_catalog_has_one_user_at_a_time(tmp_path: Path) -> None:
    place = str(tmp_path / "warehouse")
    read = [sys.executable, "-m", "rennet.cli.main", "sql", "--json", "SELECT * FROM kept"]
    environment = {**os.environ, "RENNET_WAREHOUSE": place}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", HOLD, place], **pipes, text=True) as holder:  # type: ignore[call-overload]
        assert holder.stdout.readline() == "ready\n"
        refused = subprocess.run(read, capture_output=True, text=True, env=environment, check=False)
        _, noise = holder.communicate()
    assert (holder.returncode, noise) == (0, "")
    assert refused.returncode == 3
    assert refused.stderr.startswith("error: [SESSION_NOT_USABLE] Another process is using the catalog in")
    assert len(refused.stderr.splitlines()) == 1
    allowed = subprocess.run(read, capture_output=True, text=True, env=environment, check=True)
    assert json.loads(allowed.stdout)["results"][0]["rows"] == [[42]]
    assert allowed.stderr == ""


def test_without_java(tmp_path: Path) -> None:
    """Spark's own complaint is in the hint, and the log is named."""
    environment = {**os.environ, "JAVA_HOME": str(tmp_path / "no-java"), "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-c", START, str(tmp_path / "warehouse")]
    ran = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    last = ran.stderr.splitlines()[-1]
    assert "[SESSION_NOT_USABLE] Spark did not start. It needs Java 17 or newer" in last
    assert "no-java" in last and str(tmp_path / "warehouse" / "_catalog" / "spark.log") in last


def test_a_warehouse_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SessionError, match="cannot be created: Not a directory"):
        session(tmp_path / "file")


def test_spark_connect_is_refused() -> None:
    with pytest.raises(SessionError, match="Spark Connect") as refused:
        check(SimpleNamespace(conf={}))  # type: ignore[arg-type]
    assert "rennet.session()" in refused.value.hint


@pytest.mark.parametrize("conf", [{}, {"spark.sql.catalog.spark_catalog": "some.other.Catalog"}])
def test_a_session_without_delta_is_refused(conf: dict[str, str]) -> None:
    with pytest.raises(SessionError, match="no Delta Lake"):
        check(SimpleNamespace(_jsparkSession=object(), conf=conf))  # type: ignore[arg-type]


# -- the log


def test_the_log_takes_what_spark_says(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    log = Log(tmp_path / "spark.log")
    log.path.write_text("from another time\n")
    with log.capturing():
        os.write(2, b"from python\n")
        subprocess.run(["sh", "-c", "echo from a child >&2"], check=True)
    os.write(2, b"after\n")
    assert log.text() == "from python\nfrom a child\n"
    assert log.path.read_text().startswith("from another time\n")
    assert capfd.readouterr().err == "after\n"


def test_the_standard_error_is_restored_after_a_failure(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ValueError), Log(tmp_path / "spark.log").capturing():
        raise ValueError
    os.write(2, b"after\n")
    assert capfd.readouterr().err == "after\n"


def test_a_log_does_not_grow_for_ever(tmp_path: Path) -> None:
    log = Log(tmp_path / "spark.log")
    log.path.write_bytes(b"x" * (LARGEST_LOG + 1))
    with log.capturing():
        os.write(2, b"new\n")
    assert log.path.read_bytes() == b"new\n"


IVY = """\
:: loading settings :: url = jar:file:/x.jar!/org/apache/ivy/core/settings/ivysettings.xml
|      default     |   1   |   0   |   0   |   0   ||   0   |   0   |
\t::::::::::::::::::::::::::::::::::::::::::::::
\t:: io.delta#delta-spark_4.2_2.13;4.4.0: not found
Exception in thread "main" java.lang.RuntimeException: [unresolved dependency: io.delta#delta: not found]
\tat org.apache.spark.util.MavenUtils$.resolveMavenCoordinates(MavenUtils.scala:608)
"""


def test_a_failed_download_is_explained(tmp_path: Path) -> None:
    log = Log(tmp_path / "spark.log")
    with log.capturing():
        os.write(2, IVY.encode())
    error = _explained(RuntimeError("[JAVA_GATEWAY_EXITED] Java gateway process exited."), "w", log)
    assert error.message == "Spark did not start."
    assert error.hint.startswith("Delta's jars could not be downloaded")
    assert "[unresolved dependency: io.delta#delta: not found]" in error.hint
    assert "loading settings" not in error.hint and str(log.path) in error.hint


@pytest.mark.parametrize("sign", LOCKED)
def test_a_locked_catalog_is_explained(sign: str, tmp_path: Path) -> None:
    assert "Another process" in str(_explained(RuntimeError(f"first line\n{sign} …"), "w"))
    log = Log(tmp_path / "spark.log")
    with log.capturing():
        os.write(2, f"Caused by: {sign} …\n".encode())
    assert "Another process" in str(_explained(RuntimeError("unable to instantiate"), "w", log))


def test_any_other_failure_shows_its_first_line() -> None:
    error = _explained(RuntimeError("one\ntwo"), "w")
    assert error.message == "Spark could not be started: one"

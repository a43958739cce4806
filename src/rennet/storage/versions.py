"""Which Spark and which Delta rennet works with: of both it uses parts that are not promised to stay."""

from __future__ import annotations

from rennet.errors import SessionError
from rennet.jvm import Jvm
from rennet.storage.sources import JVM_ERRORS

SPARK, DELTA_LAKE = "4.2.", "4.4."


def check_versions(jvm: Jvm) -> None:
    """A clear error if these are not the ones whose internals are used here."""
    spark, delta = jvm.kept("versions", lambda: (jvm.spark.version, _delta(jvm)))
    if not spark.startswith(SPARK) or not delta.startswith(DELTA_LAKE):
        raise SessionError(
            f"rennet needs Spark {SPARK}x and Delta {DELTA_LAKE}x; this is Spark {spark}, Delta {delta}.",
            "Install the versions that rennet's package names.",
        )


def _delta(jvm: Jvm) -> str:
    try:
        return str(jvm.singleton("io.delta.package").VERSION())
    except JVM_ERRORS:
        return "none"

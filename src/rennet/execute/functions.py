"""The Python functions inside of a plan, which Spark holds in pickled form."""

from __future__ import annotations

import hashlib

from pyspark.serializers import CloudPickleSerializer

from rennet.fingerprint.functions import function_print


def code_of(command: bytes) -> str:
    """What tells a function apart: what it does, or its very bytes if they cannot be loaded here."""
    try:
        loaded = CloudPickleSerializer().loads(command)  # type: ignore[no-untyped-call]
    except Exception:  # unpickling runs the user's code, which may fail in any way
        return f"bytes {hashlib.sha256(command).hexdigest()[:32]}"
    return f"function {function_print(loaded).digest}"

"""The Python functions inside of a plan, which Spark holds in pickled form."""

from __future__ import annotations

import hashlib

from pyspark.serializers import CloudPickleSerializer

from rennet.fingerprint.functions import function_print


def code_of(command: bytes) -> str:
    """What tells a function apart: what it does, or its very bytes if they cannot be loaded here.

    A pickle above Spark's threshold for broadcasts (1 MB) is such a case: it is only a reference to itself.
    """
    try:
        loaded = CloudPickleSerializer().loads(command)  # type: ignore[no-untyped-call]
        return f"function {function_print(loaded).digest}"
    except Exception:  # both run code of the user's, which may fail in any way
        return f"bytes {hashlib.sha256(command).hexdigest()[:32]}"

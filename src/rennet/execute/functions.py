"""The Python functions inside of a plan, which Spark holds in pickled form."""

from __future__ import annotations

import hashlib
from typing import Any

from pyspark.serializers import CloudPickleSerializer

from rennet.fingerprint.functions import function_print


class Functions:
    """Reads functions, and notes what could not be followed to know what they do."""

    def __init__(self) -> None:
        self.notes: dict[str, None] = {}

    def code_of(self, command: bytes) -> str:
        """What tells a function apart: what it does, or its very bytes if they cannot be loaded here.

        A pickle above Spark's threshold for broadcasts (1 MB) is such a case: it only refers to itself.
        """
        try:
            loaded = CloudPickleSerializer().loads(command)  # type: ignore[no-untyped-call]
            found = function_print(loaded)
        except Exception:  # both run code of the user's, which may fail in any way
            self._note("a Python function cannot be loaded here: any change of its bytes counts as a change")
            return f"bytes {hashlib.sha256(command).hexdigest()[:32]}"
        for note in found.notes:
            self._note(f"the Python function {_name(loaded)} was not followed everywhere: {note}")
        return f"function {found.digest}"

    def _note(self, note: str) -> None:
        self.notes[f"{note}."] = None


def _name(loaded: Any) -> str:
    """Spark pickles a function together with its type."""
    function = loaded[0] if isinstance(loaded, tuple) and loaded else loaded
    return getattr(function, "__name__", type(function).__name__)


def code_of(command: bytes) -> str:
    """The same for one function whose notes nobody asks for."""
    return Functions().code_of(command)

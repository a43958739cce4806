# ruff: noqa: E501
"""Pairs of Python functions: those that do the same have the same hash, those that do not have another."""

from __future__ import annotations

import os
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from rennet.execute.functions import code_of
from rennet.fingerprint import functions
from rennet.fingerprint.functions import FunctionPrint, function_print


def made(source: str) -> Any:
    """What the source calls `f`, as if it came from a notebook."""
    space: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(source, "<cell>", "exec"), space)
    return space["f"]


def digest(source: str) -> str:
    return function_print(made(source)).digest


PLUS = "def f(x): return x + 1"
SAME: dict[str, tuple[str, str]] = {
    "itself": (PLUS, PLUS),
    "comments and blank lines": (PLUS, "# why\n\ndef f(x):\n    # more\n\n    return x + 1\n"),
    "docstring": (PLUS, 'def f(x):\n    """Adds."""\n    return x + 1'),
    "annotations": (PLUS, "def f(x: int) -> int: return x + 1"),
    "name of a local": ("def f(x):\n y = x * 2\n return y", "def f(x):\n z = x * 2\n return z"),
    "name of the function": (PLUS, "def g(x): return x + 1\nf = g"),
    "a def and a lambda": ("f = lambda x: x + 1", "g = lambda x: x + 1\nf = g"),
    "constants folded": ("def f(x): return x + 6", "def f(x): return x + 2 * 3"),
    "parentheses": ("def f(x): return x * 2 + 1", "def f(x): return ((x * 2) + 1)"),
    "unused global": (PLUS, "k = 3\ndef f(x): return x + 1"),
    "order of definitions": (
        "def a(x): return x\ndef b(x): return -x\ndef f(x): return a(b(x))",
        "def b(x): return -x\ndef a(x): return x\ndef f(x): return a(b(x))",
    ),
    "set literals": ("def f(x): return x in {'a', 'b', 'c'}", "def f(x): return x in {'c', 'b', 'a'}"),
    "global set": ("s = {'a', 'b'}\ndef f(x): return x in s", "s = {'b', 'a'}\ndef f(x): return x in s"),
    "closure by another name": (
        "def m():\n k = 2\n def g(x): return x * k\n return g\nf = m()",
        "def m():\n n = 2\n def g(x): return x * n\n return g\nf = m()",
    ),
    "partial, keywords in another order": (
        "from functools import partial\ndef g(x, a, b): return x + a * b\nf = partial(g, a=1, b=2)",
        "from functools import partial\ndef g(x, a, b): return x + a * b\nf = partial(g, b=2, a=1)",
    ),
    "methods in another order": (
        "class C:\n def __call__(self, x): return self.h(x)\n def h(self, x): return x\nf = C()",
        "class C:\n def h(self, x): return x\n def __call__(self, x): return self.h(x)\nf = C()",
    ),
    "name of the class": (
        "class C:\n def __call__(self, x): return x\nf = C()",
        "class D:\n def __call__(self, x): return x\nf = D()",
    ),
    "recursion": (
        "def f(n): return 1 if n < 2 else n * f(n - 1)",
        "def f(n):\n    # the same\n    return 1 if n < 2 else n * f(n - 1)",
    ),
    "inner docstring": (
        "def f(x):\n def g(y): return y\n return g(x)",
        "def f(x):\n def g(y):\n  'doc'\n  return y\n return g(x)",
    ),
    "attributes in another order": (
        "class C:\n def __init__(self): self.a, self.b = 1, 2\n"
        " def __call__(self, x): return x + self.a + self.b\nf = C()",
        "class C:\n def __init__(self): self.a, self.b = 1, 2\n"
        " def __call__(self, x): return x + self.a + self.b\nf = C()\n"
        "f.__dict__ = {'b': 2, 'a': 1}",
    ),
    "compiled pattern": (
        "import re\np = re.compile('a+')\ndef f(x): return p.match(x)",
        "import re\np = re.compile('a' + '+')\ndef f(x): return p.match(x)",
    ),
    "decimal": (
        "from decimal import Decimal\nd = Decimal('1.5')\ndef f(x): return d",
        "from decimal import Decimal\nd = Decimal('0.5') + 1\ndef f(x): return d",
    ),
}
DIFFERENT: dict[str, tuple[str, str]] = {
    "constant": (PLUS, "def f(x): return x + 2"),
    "type of a constant": (PLUS, "def f(x): return x + 1.0"),
    "True is not 1": ("def f(x): return 1", "def f(x): return True"),
    "sign of zero": ("def f(x): return 0.0", "def f(x): return -0.0"),
    "str and bytes": ("def f(x): return 'a'", "def f(x): return b'a'"),
    "operator": (PLUS, "def f(x): return x - 1"),
    "comparison": ("def f(x): return x < 1", "def f(x): return x <= 1"),
    "operands": ("def f(x, y): return x - y", "def f(x, y): return y - x"),
    "default": ("def f(x, k=1): return x + k", "def f(x, k=2): return x + k"),
    "keyword default": ("def f(x, *, k=1): return x + k", "def f(x, *, k=2): return x + k"),
    "global": ("k = 1\ndef f(x): return x + k", "k = 2\ndef f(x): return x + k"),
    "global list": ("k = [1, 2]\ndef f(x): return k[x]", "k = [2, 1]\ndef f(x): return k[x]"),
    "global dict": ("k = {'a': 1}\ndef f(x): return k[x]", "k = {'a': 2}\ndef f(x): return k[x]"),
    "global set": ("k = {1, 2}\ndef f(x): return x in k", "k = {1, 3}\ndef f(x): return x in k"),
    "closure": (
        "def m(k):\n def g(x): return x * k\n return g\nf = m(2)",
        "def m(k):\n def g(x): return x * k\n return g\nf = m(3)",
    ),
    "called function": (
        "def g(x): return x\ndef f(x): return g(x)",
        "def g(x): return -x\ndef f(x): return g(x)",
    ),
    "function two calls away": (
        "k = 1\ndef h(x): return x + k\ndef g(x): return h(x)\ndef f(x): return g(x)",
        "k = 2\ndef h(x): return x + k\ndef g(x): return h(x)\ndef f(x): return g(x)",
    ),
    "global used by an inner function": (
        "k = 1\ndef f(x):\n def g(): return x + k\n return g()",
        "k = 2\ndef f(x):\n def g(): return x + k\n return g()",
    ),
    "lambda inside": ("def f(x): return (lambda y: y + 1)(x)", "def f(x): return (lambda y: y + 2)(x)"),
    "comprehension": ("def f(x): return [y + 1 for y in x]", "def f(x): return [y + 2 for y in x]"),
    "partial": (
        "from functools import partial\ndef g(x, k): return x + k\nf = partial(g, k=1)",
        "from functools import partial\ndef g(x, k): return x + k\nf = partial(g, k=2)",
    ),
    "state of a callable": (
        "class C:\n def __init__(s, k): s.k = k\n def __call__(s, x): return x + s.k\nf = C(1)",
        "class C:\n def __init__(s, k): s.k = k\n def __call__(s, x): return x + s.k\nf = C(2)",
    ),
    "slots": (
        "class C:\n __slots__ = ('k',)\n def __init__(s, k): s.k = k\n def __call__(s, x): return s.k\nf = C(1)",
        "class C:\n __slots__ = ('k',)\n def __init__(s, k): s.k = k\n def __call__(s, x): return s.k\nf = C(2)",
    ),
    "method": (
        "class C:\n def __call__(self, x): return x\nf = C()",
        "class C:\n def __call__(self, x): return -x\nf = C()",
    ),
    "inherited method": (
        "class B:\n def h(self, x): return x\nclass C(B):\n def __call__(self, x): return self.h(x)\nf = C()",
        "class B:\n def h(self, x): return -x\nclass C(B):\n def __call__(self, x): return self.h(x)\nf = C()",
    ),
    "class attribute": (
        "class C:\n k = 1\n def __call__(self, x): return x + self.k\nf = C()",
        "class C:\n k = 2\n def __call__(self, x): return x + self.k\nf = C()",
    ),
    "bound method": (
        "class C:\n def __init__(s, k): s.k = k\n def g(s, x): return s.k\nf = C(1).g",
        "class C:\n def __init__(s, k): s.k = k\n def g(s, x): return s.k\nf = C(2).g",
    ),
    "decorated": (
        "def d(g):\n def w(x): return g(x) + 1\n return w\n@d\ndef f(x): return x",
        "def d(g):\n def w(x): return g(x) + 2\n return w\n@d\ndef f(x): return x",
    ),
    "what is decorated": (
        "import functools\ndef d(g):\n @functools.wraps(g)\n def w(x): return g(x)\n return w\n@d\ndef f(x): return x",
        "import functools\ndef d(g):\n @functools.wraps(g)\n def w(x): return g(x)\n return w\n@d\ndef f(x): return -x",
    ),
    "cached": (
        "import functools\n@functools.lru_cache\ndef f(x): return x",
        "import functools\n@functools.lru_cache\ndef f(x): return -x",
    ),
    "enum": (
        "import enum\nclass E(enum.Enum):\n A = 1\ndef f(x): return E.A.value",
        "import enum\nclass E(enum.Enum):\n A = 2\ndef f(x): return E.A.value",
    ),
    "pattern": (
        "import re\np = re.compile('a+')\ndef f(x): return p.match(x)",
        "import re\np = re.compile('b+')\ndef f(x): return p.match(x)",
    ),
    "flags of a pattern": (
        "import re\np = re.compile('a')\ndef f(x): return p.match(x)",
        "import re\np = re.compile('a', re.I)\ndef f(x): return p.match(x)",
    ),
    "date": (
        "import datetime\nd = datetime.date(2024, 1, 1)\ndef f(x): return x > d",
        "import datetime\nd = datetime.date(2024, 1, 2)\ndef f(x): return x > d",
    ),
    "decimal": (
        "from decimal import Decimal\nd = Decimal('1.5')\ndef f(x): return d",
        "from decimal import Decimal\nd = Decimal('1.50')\ndef f(x): return d",
    ),
    "function of a library": (
        "from math import floor as g\ndef f(x): return g(x)",
        "from math import ceil as g\ndef f(x): return g(x)",
    ),
    "attribute of a library": (
        "import math\ndef f(x): return math.floor(x)",
        "import math\ndef f(x): return math.ceil(x)",
    ),
    "import inside": ("def f(x):\n import math\n return x", "def f(x):\n import cmath\n return x"),
    "exception caught": (
        "def f(x):\n try: return int(x)\n except ValueError: return 0",
        "def f(x):\n try: return int(x)\n except TypeError: return 0",
    ),
    "reach of a try": (
        "def f(x):\n try:\n  y = int(x)\n  z = g(y)\n except ValueError: return 0\n return z\ndef g(y): return y",
        "def f(x):\n try:\n  y = int(x)\n except ValueError: return 0\n z = g(y)\n return z\ndef g(y): return y",
    ),
    "generator": ("def f(x): yield x", "def f(x): return x"),
    "name of an argument": ("def f(x, y=1): return x", "def f(x, z=1): return x"),
    "jump": (
        "def f(x):\n while x > 1:\n  x = x - 2\n return x",
        "def f(x):\n if x > 1:\n  x = x - 2\n return x",
    ),
    "shadowed builtin": ("def f(x): return len(x)", "def len(x): return 0\ndef f(x): return len(x)"),
    "locals by name": (
        "def f(x):\n y = x\n return locals()",
        "def f(x):\n z = x\n return locals()",
    ),
}  # fmt: skip


def test_there_are_enough() -> None:
    assert len(SAME) >= 20 and len(DIFFERENT) >= 40


@pytest.mark.parametrize("name", SAME)
def test_same(name: str) -> None:
    before, now = SAME[name]
    assert digest(before) == digest(now)


@pytest.mark.parametrize("name", DIFFERENT)
def test_different(name: str) -> None:
    before, now = DIFFERENT[name]
    assert digest(before) != digest(now)


def test_pickled_functions_keep_their_hash() -> None:
    """What Spark holds is a pickle: after loading it, a function hashes as it did before."""
    from pyspark import cloudpickle

    sources = [s for pair in (*SAME.values(), *DIFFERENT.values()) for s in pair]
    for source in sources:
        if "lru_cache" not in source:  # which cannot be pickled
            loaded = cloudpickle.loads(cloudpickle.dumps(made(source)))
            assert function_print(loaded).digest == digest(source), source


def test_what_cannot_be_loaded_is_known_by_its_bytes() -> None:
    from pyspark import cloudpickle

    assert code_of(b"no pickle").startswith("bytes ")
    assert code_of(b"no pickle") != code_of(b"none either")
    assert code_of(cloudpickle.dumps(made(PLUS))).startswith("function ")


def test_hash_seeds() -> None:
    """Another process with another hash seed finds the same."""
    source = "s = {'a', 'b', 'c', 'd'}\nk = {'x': {1, 2}, 'y': ('p', 'q')}\n" + (
        "def f(x): return x in s or x in {'e', 'f', 'g', 'h'} or k[x]"
    )
    program = f"from tests.fingerprint.test_functions import digest; print(digest({source!r}))"
    found = set()
    for seed in ("0", "1", "12345"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        found.add(subprocess.check_output([sys.executable, "-c", program], env=environment, text=True))
    assert found == {digest(source) + "\n"}


def module(path: Path, name: str, source: str) -> types.ModuleType:
    """A module of the user's own, from a file."""
    file = path / f"{name}.py"
    file.write_text(source)
    made = types.ModuleType(name)
    made.__file__ = str(file)
    exec(compile(source, str(file), "exec"), made.__dict__)
    return made


def test_modules_of_the_user_are_followed(tmp_path: Path) -> None:
    """What a function uses of a module counts, the rest of it does not."""

    def of(source: str) -> str:
        function = made("def f(x): return helper.g(x)")
        functions._library.cache_clear()
        function.__globals__["helper"] = module(tmp_path, "helper_of_mine", source)
        return function_print(function).digest

    first = of("def g(x): return x")
    assert first == of("def g(x): return x\ndef unused(x): return 2")
    assert first != of("def g(x): return -x")
    assert first != of("k = 1\ndef g(x): return x + k")


def test_libraries_are_told_by_version(monkeypatch: pytest.MonkeyPatch) -> None:
    source = "import pytest\ndef f(x): return pytest.approx(x)"
    first = digest(source)
    for cached in (functions._library, functions._library_of_file, functions._version):
        cached.cache_clear()
    monkeypatch.setattr(functions.importlib.metadata, "version", lambda name: "0.0.1")
    assert digest(source) != first
    for cached in (functions._library, functions._library_of_file, functions._version):
        cached.cache_clear()


def test_what_cannot_be_followed_is_noted() -> None:
    assert function_print(made("def f(x): return eval(x)")).notes
    assert function_print(made("def f(x):\n import nowhere_to_be_found\n return x")).notes
    assert function_print(made(PLUS)) == FunctionPrint(digest(PLUS), ())

"""What a Python function does, as a hash: its code and everything it reaches.

Functions and classes of the user's own are followed: bytecode, constants, defaults, closures, the globals
they name. Installed libraries are not: their name and version stand for them. Names of local variables,
comments, docstrings and line numbers do not count. The order of sets, which differs from process to process,
does not either. Bytecode changes with Python's minor version, and with it the hash.
"""

from __future__ import annotations

import builtins
import functools
import hashlib
import importlib.metadata
import importlib.util
import json
import re
import sys
import sysconfig
import types
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from rennet.fingerprint.bytecode import code_globals, described_code

DYNAMIC = {"eval", "exec", "compile", "__import__", "import_module", "getattr", "globals", "locals", "vars"}
"""With these a function can reach what its code does not name."""
NOT_MEANT = {
    "__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__annotations__", "__firstlineno__",
    "__static_attributes__", "__abstractmethods__", "_abc_impl", "__annotate__", "__annotations_cache__",
    "__slotnames__", "__classcell__", "__parameters__", "__orig_bases__", "__match_args__",
    "__dataclass_params__",
}  # fmt: skip
"""What a class says about itself, not about what it does."""
BY_VALUE = (bool, int, float, complex, str, type(None), type(...))


@dataclass(frozen=True)
class FunctionPrint:
    """The hash of a function, and what could not be followed to make it."""

    digest: str
    notes: tuple[str, ...] = ()


def function_print(found: Any) -> FunctionPrint:
    """The hash of a function, or of anything that holds functions."""
    reader = _Reader()
    made = reader.describe(found)
    return FunctionPrint(_hash(made), tuple(sorted(reader.notes)))


class _Reader:
    """Describes objects as JSON; what was met before is a reference, so cycles end."""

    def __init__(self) -> None:
        self.notes: set[str] = set()
        self._met: dict[int, int] = {}
        self._kept: list[Any] = []

    def describe(self, found: Any) -> Any:
        if isinstance(found, BY_VALUE) and type(found) in BY_VALUE:
            return [type(found).__name__, found if isinstance(found, str) else repr(found)]
        if isinstance(found, bytes | bytearray):
            return [type(found).__name__, bytes(found).hex()]
        if isinstance(found, types.CodeType):
            return ["code", described_code(found, self.describe)]
        if id(found) in self._met:
            return ["met", self._met[id(found)]]
        self._met[id(found)] = len(self._met)
        self._kept.append(found)
        return self._described(found)

    def _described(self, found: Any) -> Any:
        if type(found) in (tuple, list):
            return [type(found).__name__, [self.describe(item) for item in found]]
        if type(found) in (set, frozenset):
            return [type(found).__name__, sorted(_hash(_Reader().describe(item)) for item in found)]
        if isinstance(found, dict) and type(found) is dict:
            return ["dict", [[self.describe(k), self.describe(v)] for k, v in found.items()]]
        if isinstance(found, types.ModuleType):
            return self._module(found, ())
        if isinstance(found, types.FunctionType):
            return self._function(found)
        if isinstance(found, type):
            return self._class(found)
        return self._wrapped(found) or self._instance(found)

    # -- functions -------------------------------------------------------------------------------------

    def _function(self, function: types.FunctionType) -> Any:
        made: list[Any] = [
            self.describe(function.__defaults__),
            self.describe(function.__kwdefaults__ and dict(sorted(function.__kwdefaults__.items()))),
            [self._cell(cell) for cell in function.__closure__ or ()],
        ]
        library = _library_of_file(function.__code__.co_filename)
        if library is not None:
            return ["library function", library, function.__qualname__, made]
        own = {k: v for k, v in vars(function).items() if k != "__wrapped__"}
        code = ["code", described_code(function.__code__, self.describe)]
        return ["function", code, made, self._globals(function), self._sorted(own)]

    def _cell(self, cell: types.CellType) -> Any:
        try:
            return self.describe(cell.cell_contents)
        except ValueError:
            return ["empty"]

    def _globals(self, function: types.FunctionType) -> list[Any]:
        """Everything its code, and that of functions inside it, names outside itself."""
        names, imported, attributes = code_globals(function.__code__)
        made: list[Any] = []
        for name in sorted(names):
            if name in DYNAMIC:
                self.notes.add(f"{name}() may reach what the code does not name")
            if name in function.__globals__:
                value = function.__globals__[name]
                module = isinstance(value, types.ModuleType)
                made.append([name, self._module(value, attributes) if module else self.describe(value)])
            else:
                made.append([name, "builtin" if hasattr(builtins, name) else "missing"])
        made += [[name, self._imported(name, attributes)] for name in sorted(imported)]
        return made

    def _imported(self, name: str, attributes: set[str]) -> Any:
        module = sys.modules.get(name)
        if module is not None:
            return self._module(module, attributes)
        library = _library(name)
        if library is None:
            self.notes.add(f"the module {name} is not loaded: what it does is not known")
        return ["module", name, library]

    def _module(self, module: types.ModuleType, attributes: Any) -> Any:
        """A library is its version; of a module of the user's own, what is named counts."""
        library = _library(module.__name__)
        if library is not None:
            return ["library", library, module.__name__]
        found = vars(module)
        return ["module", [[a, self.describe(found[a])] for a in sorted(attributes) if a in found]]

    # -- classes and objects ---------------------------------------------------------------------------

    def _class(self, found: type) -> Any:
        library = _library(found.__module__)
        if library is not None:
            return ["library class", library, found.__module__, found.__qualname__]
        if issubclass(found, Enum):
            members = [[m.name, self.describe(m.value)] for m in found]
            own = {k: v for k, v in vars(found).items() if isinstance(v, types.FunctionType)}
            return ["enum", [self.describe(b) for b in found.__bases__], members, self._sorted(own)]
        own = {
            k: v
            for k, v in vars(found).items()
            if k not in NOT_MEANT
            and not isinstance(v, types.MemberDescriptorType | types.GetSetDescriptorType)
        }
        bases = [self.describe(base) for base in found.__bases__ if base is not object]
        return ["class", bases, self._sorted(own)]

    def _sorted(self, named: dict[str, Any]) -> list[Any]:
        return [[name, self.describe(named[name])] for name in sorted(named)]

    def _wrapped(self, found: Any) -> Any:
        """What is only a shell around functions."""
        if isinstance(found, functools.partial):
            inner = [found.func, list(found.args), dict(sorted(found.keywords.items()))]
            return ["partial", [self.describe(each) for each in inner]]
        if isinstance(found, types.MethodType):
            return ["method", self.describe(found.__func__), self.describe(found.__self__)]
        if isinstance(found, staticmethod | classmethod):
            return [type(found).__name__, self.describe(found.__func__)]
        if isinstance(found, property):
            return ["property", [self.describe(f) for f in (found.fget, found.fset, found.fdel)]]
        if isinstance(
            found, types.BuiltinFunctionType | types.MethodDescriptorType | types.WrapperDescriptorType
        ):
            owner = getattr(found, "__module__", None) or ""
            return ["builtin", _library(owner) if owner else None, owner, found.__qualname__]
        if type(found).__name__ == "_lru_cache_wrapper":
            return ["cached", self.describe(found.__wrapped__)]
        return None

    def _instance(self, found: Any) -> Any:
        cls = type(found)
        if isinstance(found, Enum):
            return ["member", found.name, self.describe(cls)]
        if isinstance(found, re.Pattern):
            return ["pattern", self.describe(found.pattern), found.flags]
        if cls.__module__ == "pyspark.sql.types":
            return ["type", found.json() if hasattr(found, "json") else repr(found)]
        if _library(cls.__module__) is not None:
            return ["object", self.describe(cls), self._library_state(found)]
        return ["object", self.describe(cls), self._contents(found), self._sorted(dict(_state(found)))]

    def _contents(self, found: Any) -> Any:
        """What a subclass of a container holds."""
        if isinstance(found, dict):
            return self.describe(dict(found))
        if isinstance(found, set | frozenset):
            return self.describe(frozenset(found))
        if isinstance(found, list | tuple):
            return self.describe(list(found))
        return (
            repr(found.real)
            if isinstance(found, int | float)
            else str.__str__(found)
            if isinstance(found, str)
            else None
        )

    def _library_state(self, found: Any) -> Any:
        """An object of a library, as it would be stored; if it cannot be, its class stands for it."""
        if hasattr(found, "tobytes") and hasattr(found, "dtype"):
            whole = found.dtype.hasobject is False
            if whole:
                return [str(found.dtype), list(found.shape), hashlib.sha256(found.tobytes()).hexdigest()]
        try:
            reduced = found.__reduce_ex__(4)
        except Exception:
            self.notes.add(f"{type(found).__qualname__} cannot be looked into")
            return "unknown"
        if isinstance(reduced, str):
            return reduced
        parts = [list(part) if isinstance(part, Iterator) else part for part in reduced[1:5]]
        return [self.describe(part) for part in parts]


def _state(found: Any) -> Iterator[tuple[str, Any]]:
    yield from getattr(found, "__dict__", {}).items()
    for cls in type(found).__mro__:
        slots = vars(cls).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(found, name) and name not in ("__dict__", "__weakref__"):
                yield name, getattr(found, name)


# -- libraries -------------------------------------------------------------------------------------------


@functools.cache
def _library(module: str) -> str | None:
    """Name and version of the installed library a module belongs to; None if it is the user's own."""
    top = module.partition(".")[0]
    if top == "__main__":
        return None
    if top in sys.stdlib_module_names or top == "builtins":
        return "python"
    loaded = sys.modules.get(module)
    file = getattr(loaded, "__file__", None) or _origin(top)
    return None if file is None else _library_of_file(str(file), top)


def _origin(top: str) -> str | None:
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return None
    return spec.origin if spec is not None else None


@functools.cache
def _library_of_file(file: str, top: str = "") -> str | None:
    """The library a file belongs to, if it lies where libraries are installed."""
    path = Path(file)
    parts = path.parts
    for place in ("site-packages", "dist-packages"):
        if place in parts:
            name = top or parts[parts.index(place) + 1].removesuffix(".py")
            return f"{name} {_version(name)}"
    standard = (sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"))
    if file.startswith("<frozen") or any(path.is_relative_to(each) for each in standard if each):
        return "python"
    return None


@functools.cache
def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        pass
    found = importlib.metadata.packages_distributions().get(name, ())
    return " ".join(f"{each} {importlib.metadata.version(each)}" for each in sorted(set(found))) or "unknown"


def _hash(made: Any) -> str:
    return hashlib.sha256(json.dumps(made).encode()).hexdigest()[:32]

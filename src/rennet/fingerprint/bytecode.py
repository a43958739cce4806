"""Bytecode as data that does not depend on where or how it was written down."""

from __future__ import annotations

import dis
import types
from collections.abc import Callable
from typing import Any

SKIPPED = {"CACHE", "EXTENDED_ARG", "RESUME", "NOP", "PRECALL"}
IMPORTS = {"IMPORT_NAME"}
GLOBALS = {"LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "DELETE_GLOBAL"}
REACHING_NAMES = {"locals", "vars", "eval", "exec"}
"""With these the names of local variables matter."""


def described_code(code: types.CodeType, describe: Callable[[Any], Any]) -> list[Any]:
    """Its signature and instructions: locals by number, jumps by the instruction they lead to."""
    steps = [step for step in dis.get_instructions(code) if step.opname not in SKIPPED]
    numbers = _numbers(code)
    places = _places(code)
    made = [[step.opname, _argument(step, numbers, places, describe)] for step in steps]
    arguments = code.co_argcount + code.co_kwonlyargcount
    return [
        [code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags],
        list(code.co_varnames[:arguments]),
        made,
        code.co_exceptiontable.hex(),
    ]


def _numbers(code: types.CodeType) -> dict[str, str]:
    """Local variables and cells by place, unless something may ask for their names."""
    if REACHING_NAMES & set(code.co_names):
        return {}
    found = dict.fromkeys((*code.co_varnames, *code.co_cellvars, *code.co_freevars))
    return {name: f"v{number}" for number, name in enumerate(found)}


def _places(code: types.CodeType) -> dict[int, int]:
    """The number of the first kept instruction at or after each offset."""
    places: dict[int, int] = {}
    number = 0
    for step in dis.get_instructions(code):
        places[step.offset] = number
        number += step.opname not in SKIPPED
    return places


def _argument(
    step: dis.Instruction, numbers: dict[str, str], places: dict[int, int], describe: Callable[[Any], Any]
) -> Any:
    if step.opcode in dis.hasjrel or step.opcode in dis.hasjabs:
        return ["to", places.get(step.argval, step.argval)]
    if step.opcode in dis.hasconst:
        return describe(step.argval)
    if step.opcode in dis.haslocal or step.opcode in dis.hasfree:
        names = step.argval if isinstance(step.argval, tuple) else (step.argval,)
        return [numbers.get(name, name) for name in names]
    if step.opcode in dis.hasname:
        return [step.argval, (step.arg or 0) & 1 if step.opname in ("LOAD_GLOBAL", "LOAD_ATTR") else 0]
    return step.arg


def code_globals(code: types.CodeType) -> tuple[set[str], set[str], set[str]]:
    """Globals it names, modules it imports, attributes it asks for; functions inside it included."""
    names: set[str] = set()
    imported: set[str] = set()
    attributes: set[str] = set()
    for step in dis.get_instructions(code):
        if step.opname in GLOBALS:
            names.add(step.argval)
        elif step.opname in IMPORTS:
            imported.add(step.argval)
        elif step.opcode in dis.hasname:
            attributes.add(step.argval)
        if isinstance(step.argval, types.CodeType):
            inside = code_globals(step.argval)
            names |= inside[0]
            imported |= inside[1]
            attributes |= inside[2]
    return names, imported, attributes

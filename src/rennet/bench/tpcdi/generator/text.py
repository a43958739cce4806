"""Columns of characters: text is made for thousands of rows at once.

A column is a matrix of bytes, one row each; a zero byte is no character at all and disappears when rows
are packed. So values of different lengths, absent values and whole optional parts need no loop over rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rennet.bench.tpcdi.generator.draws import Bits, Ints, Mask, below

Chars = NDArray[np.uint8]

DAY = 86_400
_FIRST_DAY = int(np.datetime64("1850-01-01", "D").astype(np.int64))
_LAST_DAY = int(np.datetime64("2099-12-31", "D").astype(np.int64))


def _table(texts: Sequence[str] | NDArray[np.str_]) -> Chars:
    made = np.char.encode(np.asarray(texts), "latin-1")
    return made.view(np.uint8).reshape(len(made), -1)


_DAYS = _table(np.datetime_as_string(np.arange(_FIRST_DAY, _LAST_DAY + 1).astype("datetime64[D]")))
_COMPACT_DAYS = np.ascontiguousarray(_DAYS[:, [0, 1, 2, 3, 5, 6, 8, 9]])
_TIMES = _table([f"{s // 3600:02}:{s // 60 % 60:02}:{s % 60:02}" for s in range(DAY)])
_UPPER = np.frombuffer(bytes(65 + i % 26 for i in range(256)), np.uint8)
_LOWER = _UPPER + np.uint8(32)
_PROSE = np.where(np.arange(256) % 8 == 7, 32, _LOWER).astype(np.uint8)


def fixed(text: str, rows: int) -> Chars:
    """The same text in every row."""
    return np.broadcast_to(np.frombuffer(text.encode("latin-1"), np.uint8), (rows, len(text)))


def chosen(texts: Sequence[str], positions: Ints) -> Chars:
    """One of a few texts per row."""
    return np.take(_table(list(texts)), positions, axis=0)


def whole(values: Ints, digits: int = 0) -> Chars:
    """Whole numbers from 0, without leading zeros; `digits` is a least width of the column, not padding."""
    width = max(digits, len(str(int(values.max()))) if len(values) else 1)
    out = _digits(values, width)
    for place in range(width - 1):
        out[values < 10 ** (width - 1 - place), place] = 0
    return out


def padded(values: Ints, digits: int) -> Chars:
    """Whole numbers with leading zeros."""
    return _digits(values, digits)


def _digits(values: Ints, width: int) -> Chars:
    rest: NDArray[Any] = values.astype(np.uint32 if width <= 9 else np.uint64)
    ten, zero = rest.dtype.type(10), rest.dtype.type(48)
    out = np.empty((width, len(values)), np.uint8)
    for place in range(width - 1, -1, -1):
        upper = rest // ten
        out[place] = rest - upper * ten + zero
        rest = upper
    return np.ascontiguousarray(out.T)


def money(cents: Ints) -> Chars:
    """Amounts with two decimals, and a sign if negative."""
    size = np.abs(cents)
    sign = np.where(cents < 0, 45, 0).astype(np.uint8)[:, None]
    return beside(sign, whole(size // 100), fixed(".", len(cents)), padded(size % 100, 2))


def days(numbers: Ints) -> Chars:
    """Dates, from days since 1970."""
    return np.take(_DAYS, numbers - _FIRST_DAY, axis=0)


def compact_days(numbers: Ints) -> Chars:
    """Dates without hyphens."""
    return np.take(_COMPACT_DAYS, numbers - _FIRST_DAY, axis=0)


def moments(seconds: Ints, between: str = " ") -> Chars:
    """Dates and times of day, from seconds since 1970."""
    day = seconds // DAY
    return beside(days(day), fixed(between, len(seconds)), np.take(_TIMES, seconds - day * DAY, axis=0))


def compact_moments(seconds: Ints) -> Chars:
    """`yyyyMMdd-HHmmss`."""
    day = seconds // DAY
    time = np.take(_TIMES, seconds - day * DAY, axis=0)[:, [0, 1, 3, 4, 6, 7]]
    return beside(compact_days(day), fixed("-", len(seconds)), time)


def word(bits: Bits, shortest: int, longest: int) -> Chars:
    """Random letters, the first a capital; the length is drawn from the last word of bits."""
    return _cut(np.take(_LOWER, _bytes(bits, longest)), bits, shortest, longest, capital=True)


def capitals(bits: Bits, shortest: int, longest: int) -> Chars:
    """Random capital letters."""
    return _cut(np.take(_UPPER, _bytes(bits, longest)), bits, shortest, longest)


def prose(bits: Bits, shortest: int, longest: int) -> Chars:
    """Random letters with spaces between them, though not at the ends."""
    out = np.take(_PROSE, _bytes(bits, longest))
    ends = shortest - 1 + below(_length_bits(bits), longest - shortest + 1)
    rows = np.arange(len(out))
    out[rows, ends] = np.take(_LOWER, out[rows, ends])
    return _cut(out, bits, shortest, longest, capital=True)


def _bytes(bits: Bits, width: int) -> Chars:
    return np.ascontiguousarray(bits).view(np.uint8).reshape(len(bits), bits.shape[1] * 8)[:, :width]


def _length_bits(bits: Bits) -> Bits:
    """Other bits for the length than for the letters."""
    return (bits[:, -1] ^ (bits[:, 0] << np.uint64(17))) * np.uint64(0xD6E8FEB86659FD93)


def _cut(letters: Chars, bits: Bits, shortest: int, longest: int, capital: bool = False) -> Chars:
    if capital:
        letters[:, 0] = np.take(_UPPER, letters[:, 0])
    if shortest < longest:
        lengths = shortest + below(_length_bits(bits), longest - shortest + 1)
        letters[np.arange(longest) >= lengths[:, None]] = 0
    return letters


def in_upper_case(chars: Chars) -> Chars:
    """Letters become capitals."""
    return np.where((chars >= 97) & (chars <= 122), chars - 32, chars).astype(np.uint8)


def in_lower_case(chars: Chars) -> Chars:
    """Letters become small ones."""
    return np.where((chars >= 65) & (chars <= 90), chars + 32, chars).astype(np.uint8)


def only(chars: Chars, present: Mask) -> Chars:
    """Nothing in the rows where it is not present."""
    return np.where(present[:, None], chars, np.uint8(0))


def either(first: Chars, second: Chars, which: Mask) -> Chars:
    """The first where `which` holds, else the second."""
    width = max(first.shape[1], second.shape[1])
    return np.where(which[:, None], _wide(first, width), _wide(second, width))


def _wide(chars: Chars, width: int) -> Chars:
    missing = width - chars.shape[1]
    return chars if missing == 0 else np.pad(chars, ((0, 0), (0, missing)))


def beside(*columns: Chars) -> Chars:
    """Columns next to each other."""
    return np.concatenate(columns, axis=1)


def below_each_other(parts: Sequence[Chars]) -> Chars:
    """Rows after each other."""
    width = max(part.shape[1] for part in parts)
    return np.concatenate([_wide(part, width) for part in parts], axis=0)


def lines(columns: Sequence[Chars], separator: str) -> Chars:
    """Whole lines, ending as on Windows."""
    rows = len(columns[0])
    mark, end = fixed(separator, rows), fixed("\r\n", rows)
    parts: list[Chars] = []
    for column in columns:
        parts += [column, mark]
    return np.concatenate([*parts[:-1], end], axis=1)


def packed(chars: Chars) -> bytes:
    """The characters of all rows, one row after the other."""
    flat = chars.ravel()
    return bytes(flat[flat != 0])


def left_aligned(chars: Chars, width: int) -> Chars:
    """A field of fixed width, blanks on the right; the characters must start at the left."""
    made = _wide(chars[:, :width], width)
    return np.where(made == 0, np.uint8(32), made)


def right_aligned(chars: Chars, width: int) -> Chars:
    """A field of fixed width, blanks on the left; characters may have gaps in front only."""
    gap = np.zeros((len(chars), max(0, width - chars.shape[1])), np.uint8)
    made = np.concatenate([gap, chars], axis=1)[:, -width:]
    return np.where(made == 0, np.uint8(32), made)

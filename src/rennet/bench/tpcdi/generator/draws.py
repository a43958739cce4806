"""Random numbers that are the same on every machine and with every version of numpy.

Only the raw bits of numpy's generators are used, since those are promised to stay; everything else is
worked out here with whole numbers.
"""

from __future__ import annotations

from zlib import crc32

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.uint64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


def below(bits: Bits, limit: int | Ints) -> Ints:
    """Whole numbers from 0 up to, not including, the limit (at most 2^32)."""
    return ((bits >> np.uint64(32)) * np.asarray(limit).astype(np.uint64) >> np.uint64(32)).astype(np.int64)


def fraction(bits: Bits) -> Floats:
    """Numbers from 0 up to, not including, 1."""
    return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53


def between(bits: Bits, low: int, high: int) -> Ints:
    """Whole numbers of a range, both ends included."""
    span = high - low + 1
    if span <= 1 << 32:
        return low + below(bits, span)
    return low + (fraction(bits) * span).astype(np.int64)


def chance(bits: Bits, share: float) -> Mask:
    """True for about this share."""
    return fraction(bits) < share


def weighted(bits: Bits, weights: tuple[float, ...]) -> Ints:
    """Positions in a list of weights that add up to 1."""
    edges = np.cumsum(np.asarray(weights))[:-1]
    return np.searchsorted(edges, fraction(bits), side="right").astype(np.int64)


class Stream:
    """A sequence of random bits of its own for each name: files do not disturb each other."""

    def __init__(self, seed: int, name: str) -> None:
        self._source = np.random.SFC64(np.random.SeedSequence([seed, crc32(name.encode())]))

    def bits(self, count: int) -> Bits:
        """So many words of random bits."""
        return np.asarray(self._source.random_raw(count), dtype=np.uint64)

    def words(self, count: int, width: int) -> Bits:
        """Rows of enough words for `width` characters each."""
        across = -(-width // 8)
        return self.bits(count * across).reshape(count, across)

    def below(self, limit: int | Ints, count: int) -> Ints:
        """Whole numbers below a limit."""
        return below(self.bits(count), limit)

    def between(self, low: int, high: int, count: int) -> Ints:
        """Whole numbers of a range, both ends included."""
        return between(self.bits(count), low, high)

    def fraction(self, count: int) -> Floats:
        """Numbers from 0 up to 1."""
        return fraction(self.bits(count))

    def chance(self, share: float, count: int) -> Mask:
        """True for about this share."""
        return chance(self.bits(count), share)

    def order(self, count: int) -> Ints:
        """The numbers from 0 to count - 1 in a random order."""
        return np.argsort(self.bits(count), kind="stable")

    def pick(self, allowed: Mask, count: int) -> Ints:
        """Distinct positions where `allowed` holds, or all of them if there are not so many."""
        if count == 0:
            return np.empty(0, np.int64)
        found = np.empty(0, np.int64)
        for _ in range(20):
            drawn = self.below(len(allowed), 2 * count)
            found = np.concatenate([found, drawn[allowed[drawn]]])
            _, first = np.unique(found, return_index=True)
            found = found[np.sort(first)]
            if len(found) >= count:
                return found[:count]
        left = np.flatnonzero(allowed)
        return left[self.order(len(left))[:count]]


class Keyed:
    """Random bits that belong to a key: asked again for the same key and name, they are the same.

    So the values of an entity need not be remembered; who made the key is enough.
    """

    def __init__(self, seed: int, name: str) -> None:
        self._seed = int(Stream(seed, f"keyed {name}").bits(1)[0])

    def bits(self, name: str, keys: Ints) -> Bits:
        """One word for each key."""
        return self.words(name, keys, 8)[:, 0]

    def words(self, name: str, keys: Ints, width: int) -> Bits:
        """Rows of enough words for `width` characters each."""
        across = -(-width // 8)
        start = np.uint64((self._seed + crc32(name.encode()) * 0x9E3779B97F4A7C15) & (2**64 - 1))
        first = _mixed(keys.astype(np.uint64) * _GOLDEN + start)
        steps = np.arange(1, across + 1, dtype=np.uint64) * _GOLDEN
        return _mixed(first[:, None] + steps)


def _mixed(bits: Bits) -> Bits:
    """The finalizer of SplitMix64: every bit of the input changes half of the output."""
    bits = (bits ^ (bits >> np.uint64(30))) * _MIX_1
    bits = (bits ^ (bits >> np.uint64(27))) * _MIX_2
    return bits ^ (bits >> np.uint64(31))

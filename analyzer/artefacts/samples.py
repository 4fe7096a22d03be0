"""Samples of many objects in little memory: object names held once, numbers as esxtop printed them.

A counter of the esxtop CSV has two decimals. Its whole number of hundredths takes two or four bytes where a float takes
eight, and divided by 100 it is the very float that Python reads from the text. Numbers of which that is not true stay
floats.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

_HUNDREDTHS = 100.0
_SMALL, _LARGE = "<i2", "<i4"  # the least number of each stands for NaN


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """Numbers in little memory: floats, or whole hundredths, pressed together by zstd where that pays.

    form  dtype of the numbers, as numpy writes it
    held  an array of them, or the bytes it was pressed to
    """

    form: str
    held: Any

    def plain(self) -> Any:
        """Return the numbers as a flat array of their form."""
        return _unpack_numbers(self.held, self.form) if isinstance(self.held, bytes) else self.held

    def take(self, places: Any) -> Any:
        """Return the numbers at some places as float64; those that were looked at last are kept ready."""
        return floats_of(
            (_ready(self.held, self.form) if isinstance(self.held, bytes) else self.held)[places]
        )

    def floats(self) -> Any:
        """Return the numbers as a flat array of float64, NaN where there is none."""
        return floats_of(self.plain())

    def held_floats(self) -> Any:
        """Return the floats that are held as such, None where whole hundredths are held."""
        import numpy as np  # noqa: PLC0415 - heavy

        return self.plain() if np.dtype(self.form).kind == "f" else None

    def sql(self, name: str) -> str:
        """Return the SQL by which a column of `plain` gives what `floats` gives, NULL where there is none."""
        import numpy as np  # noqa: PLC0415 - heavy

        if np.dtype(self.form).kind == "f":
            return f"CASE WHEN isfinite({name}) THEN {name}::DOUBLE END"
        return f"CASE WHEN {name} <> {np.iinfo(self.form).min} THEN {name}::DOUBLE / {_HUNDREDTHS}::DOUBLE END"


def _unpack_numbers(held: bytes, form: str) -> Any:
    import numpy as np  # noqa: PLC0415 - heavy
    import zstandard  # noqa: PLC0415 - heavy

    return np.frombuffer(zstandard.ZstdDecompressor().decompress(held), dtype=form)


_ready = lru_cache(maxsize=200)(
    _unpack_numbers
)  # a chart draws one object out of all frames, the next chart another


def pack_numbers(cells: Any) -> Packed:
    """Return numbers packed.

    cells  floats, NaN where there is none; or whole hundredths (int32), the least number where there is none
    """
    import numpy as np  # noqa: PLC0415 - heavy
    import zstandard  # noqa: PLC0415 - heavy

    whole = _find_hundredths(cells) if cells.dtype.kind == "f" else cells
    array = np.ascontiguousarray(cells if whole is None else _shorten_numbers(whole)).reshape(-1)
    pressed = zstandard.ZstdCompressor(level=1).compress(array.tobytes()) if array.size else b""
    if len(pressed) * 4 >= array.nbytes * 3:
        return Packed(array.dtype.str, array)
    return Packed(
        array.dtype.str, bytes(memoryview(pressed))
    )  # a copy: zstandard keeps the room it began with


def join_numbers(parts: Sequence[Packed]) -> Packed:
    """Return the numbers of several frames one behind the other, of one form and ready to be read."""
    import numpy as np  # noqa: PLC0415 - heavy

    forms = {part.form for part in parts}
    if len(forms) == 1:
        return Packed(parts[0].form, np.concatenate([part.plain() for part in parts]))
    if forms == {_SMALL, _LARGE}:
        widened = []
        for part in parts:
            cells = part.plain()
            wide = cells.astype(_LARGE)
            wide[cells == np.iinfo(cells.dtype).min] = np.iinfo(_LARGE).min
            widened.append(wide)
        return Packed(_LARGE, np.concatenate(widened))
    return Packed("<f8", np.concatenate([part.floats() for part in parts]))


def _shorten_numbers(cells: Any) -> Any:
    """Return whole hundredths (int32) in two bytes each where they fit."""
    import numpy as np  # noqa: PLC0415 - heavy

    least, small = np.iinfo(_LARGE).min, np.iinfo(_SMALL)
    if cells.max(initial=0) > small.max:
        return cells
    if cells.min(initial=0) > small.min:
        return cells.astype(_SMALL)
    missing = cells == least
    if cells.min(initial=0, where=~missing) <= small.min:
        return cells
    found = cells.astype(_SMALL)
    found[missing] = small.min
    return found


def _find_hundredths(cells: Any) -> Any:
    """Return floats as whole hundredths, or None where one is no such number."""
    import numpy as np  # noqa: PLC0415 - heavy

    missing = np.isnan(cells)
    there = np.where(missing, 0.0, cells)
    with np.errstate(over="ignore"):
        scaled = np.rint(there * _HUNDREDTHS)
    if (
        np.abs(scaled).max(initial=0.0) > np.iinfo(_LARGE).max
        or not (scaled / _HUNDREDTHS == there).all()
    ):
        return None
    if (np.signbit(there) & (there == 0)).any():
        return None
    found = scaled.astype(_LARGE)
    found[missing] = np.iinfo(_LARGE).min
    return found


def floats_of(cells: Any) -> Any:
    """Return plain numbers of a form as float64, NaN where there is none."""
    import numpy as np  # noqa: PLC0415 - heavy

    if cells.dtype.kind == "f":
        return cells
    numbers = cells / _HUNDREDTHS
    numbers[cells == np.iinfo(cells.dtype).min] = np.nan
    return numbers


@dataclass(frozen=True, slots=True, eq=False)
class SampleLines:
    """The line of each row, where all objects of a sample are on one line; as good as the array it stands for."""

    numbers: Any  # line of each sample
    objects: int

    def __len__(self) -> int:
        return len(self.numbers) * self.objects

    def __getitem__(self, row: Any) -> Any:
        return self.numbers[row // self.objects] if isinstance(row, int) else self.__array__()[row]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.__array__())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        import numpy as np  # noqa: PLC0415 - heavy

        found = np.repeat(self.numbers, self.objects)
        return found if dtype is None else found.astype(dtype)

    def tolist(self) -> list[int]:
        """Return the lines as Python numbers."""
        found: list[int] = self.__array__().tolist()
        return found


@dataclass(frozen=True, slots=True, eq=False)
class SampleColumns(Mapping[str, Any]):
    """The columns of a frame, sample by sample and in each all objects; an array is made when it is asked for.

    names    column -> what is in it for each object; frames of a capture share these arrays
    moments  column -> what is in it for each sample
    numbers  column -> packed numbers, row by row; None for a counter that the capture does not have
    """

    names: Mapping[str, Any]
    moments: Mapping[str, Any]
    numbers: Mapping[str, Any] = field(default_factory=dict)
    samples: int = 0
    objects: int = 0

    def __getitem__(self, name: str) -> Any:
        import numpy as np  # noqa: PLC0415 - heavy

        if name in self.names:
            return np.tile(self.names[name], self.samples)
        if name in self.moments:
            return np.repeat(self.moments[name], self.objects)
        cells = self.numbers[name]
        if cells is None:
            return np.full(self.samples * self.objects, np.nan)
        return cells.floats()

    def __iter__(self) -> Iterator[str]:
        yield from self.names
        yield from self.moments
        yield from self.numbers

    def __len__(self) -> int:
        return len(self.names) + len(self.moments) + len(self.numbers)

    def __contains__(self, name: object) -> bool:
        return name in self.names or name in self.moments or name in self.numbers

    def take(self, name: str, rows: Sequence[int]) -> Any:
        """Return the cells of one column for some rows."""
        import numpy as np  # noqa: PLC0415 - heavy

        places = np.asarray(rows, dtype=np.int64)
        if name in self.names:
            return self.names[name][places % self.objects]
        if name in self.moments:
            return self.moments[name][places // self.objects]
        cells = self.numbers[name]
        if cells is None:
            return np.full(len(places), np.nan)
        return cells.take(places)


def trim_memory() -> None:
    """Give memory that was freed back to the system: between what is kept of a capture lies what reading it took."""

    _ready.cache_clear()
    with suppress(AttributeError, OSError, TypeError):  # only glibc knows how
        ctypes.CDLL(None).malloc_trim(0)

"""Cells such as `12.34` of one long row made whole numbers of hundredths, all at once.

esxtop prints two decimals. Eight bytes before the end of a cell, read as one integer, hold all of a usual
one; its digits are added up two, four and eight at a time. The whole number of hundredths is exact, and divided by
100 it is rounded once: that is the float Python reads from the same text.
"""

from __future__ import annotations

from typing import Any

SPARE = b"0" * 16  # comes before the row, so that 16 bytes before the end of any cell can be read
_INT32 = 2**31 - 1
_LEAST, _MOST = len("0.00"), 16
_ZEROS = 0x3030_3030_3030_3030  # eight times "0": what is left of a digit's byte is its value
_TO_HIGH_BIT = 0x7676_7676_7676_7676  # lifts a byte over 9 into its high bit
_HIGH_BITS = 0x8080_8080_8080_8080
_STEPS = (
    (8, 10, 0x00FF_00FF_00FF_00FF),
    (16, 100, 0x0000_FFFF_0000_FFFF),
    (32, 10_000, 0xFFFF_FFFF),
)


def read_hundredths(row: bytes, starts: Any, ends: Any) -> Any:
    """Return the hundredths of a row's cells, or None when one is not `[-]digits.dd` of at most 16 characters.

    They come as int32; where one does not fit, or is a zero with a minus, all come as floats of what the cells say.

    row          SPARE and the text of the row
    starts, ends int64 arrays: where each cell begins and ends in it, quotes left out
    """
    import numpy as np  # noqa: PLC0415 - a heavy import that only a CSV must pay for

    if not len(ends):
        return None
    words = np.ndarray(
        (len(row) - 7,), dtype="<u8", buffer=row, strides=(1,)
    )  # 8 bytes from each place on
    lengths = ends - starts
    minus = None
    if b"-" in row:
        minus = np.frombuffer(row, dtype=np.uint8)[starts] == ord("-")
        lengths -= minus
    most = lengths.max()
    if lengths.min() < _LEAST or most > _MOST:
        return None
    word = words[ends - 8]  # its low bytes stand left in the text
    if ((word & np.uint64(0xFF << 40)) != np.uint64(ord(".") << 40)).any():
        return None
    decimals = word & np.uint64(0xFFFF << 48)
    word <<= np.uint64(24)  # the point and what is right of it go, …
    word >>= np.uint64(16)  # … and the rest moves to the decimals
    word |= decimals
    found = _read_digits(word, np.minimum(lengths, 8) - 1 if most > 8 else lengths - 1)
    if found is not None and most > 8:
        long = np.flatnonzero(lengths > 8)
        high = _read_digits(words[ends[long] - 16], lengths[long] - 8)
        if high is None:
            return None
        found[long] += high * np.uint64(10**7)
    if found is None:
        return None
    if found.max() > _INT32 or (
        minus is not None and not found[minus].all()
    ):  # zero has no sign as a whole number
        numbers = found / 100.0
    else:
        numbers = found.astype(np.int32)
    if minus is not None:
        np.negative(numbers, out=numbers, where=minus)
    return numbers


def _read_digits(words: Any, counts: Any) -> Any:
    """Return the numbers that the last 1 to 8 characters of words of eight spell; None when one is no digit.

    `words` is overwritten.
    """
    import numpy as np  # noqa: PLC0415 - a heavy import that only a CSV must pay for

    left = (64 - 8 * counts).astype(np.uint64)  # bits of the characters before them
    words ^= np.uint64(_ZEROS)
    words >>= left
    words <<= left
    if (((words + np.uint64(_TO_HIGH_BIT)) | words) & np.uint64(_HIGH_BITS)).any():
        return None
    for bits, scale, kept in _STEPS:  # two digits, then four, then eight become one number
        right = words >> np.uint64(bits)
        words *= np.uint64(scale)
        words += right
        words &= np.uint64(kept)
    return words

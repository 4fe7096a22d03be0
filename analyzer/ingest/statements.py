"""What a line of a log states, without its head and with its numbers as N: lines that state the same are one."""

from __future__ import annotations

import re

# time, host, program, world: what comes before the words
_HEAD = re.compile(
    r"^.{0,120}?(?:cpu\d+:\d+(?: opID=[\w-]+)?\)|[\w.-]+\[[\w.:-]+\]:? |(?:\| )?[\w-]+\| \w\d+: )(?:\[[^\]]{0,200}\] )?"
)
_STAMP = re.compile(
    r"^\W{0,3}\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-]\d\d:?\d\d)?[\s|]*|^[A-Z][a-z]{2} [ \d]\d [\d:.]+ "
)
_NUMBER = re.compile(r"0x[0-9a-fA-F]+|\b[0-9a-fA-F]{6,}\b|\d+")


def extract_words(text: str) -> str:
    """Return what a line says, without its head and with its numbers as N."""
    return mask_numbers(_remove_head(text))


def mask_numbers(words: str) -> str:
    """Return words with their numbers as N: lines that say the same are counted together."""
    return _NUMBER.sub("N", words[:200])[:160].strip()


def _remove_head(text: str) -> str:
    without_program = _HEAD.sub("", text, count=1)
    return _STAMP.sub("", without_program, count=1).strip()

"""What makes two lines say the same: their words, with names, addresses and numbers as `#`; codes stay."""

from __future__ import annotations

import re

MOST_TEXT = 600  # characters of a line that are masked
MOST_TEMPLATE = 240

# A status decides what a line says: as letters it is no number that is masked.
_CODE = re.compile(
    r"\bH:0x(\w+) D:0x(\w+) P:0x(\w+)|sense data: 0x(\w+) 0x(\w+) 0x(\w+)"
    r"|(?:\b(?:error_?code|httpStatus|status(?: code)?|error code|RPC error|sts|errno)\W{1,4})"
    r"([A-Z]{0,3}\d{1,6}|0x[0-9a-f]{1,8})\b|\b((?-i:[A-Z]{2})\d{3,6})\b",
    re.IGNORECASE,
)
_LETTERS = str.maketrans("0123456789", "ghijklmnop")
_NAME = re.compile(
    r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){1,3}[0-9a-f]{8,12}\b|\b[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{12}\b"
    r"|\b(?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.\d\b"
    r"|\b(?:naa|eui|t10|mpx|vml|iqn|nqn)\.[^\s\"',;)\]]+|\bvmhba\d+:C\d+:T\d+:L\d+"
    r"|\b[0-9a-f]{2}(?::[0-9a-f]{2}){5,}\b|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b"
    r"|(?<![\w:])::ffff:\d{1,3}(?:\.\d{1,3}){3}\b|\b(?:[0-9a-f]{0,4}:){3,7}[0-9a-f]{0,4}\b"
    r"|(?:/[\w.@+~-]+){2,}/?|\b0x[0-9a-f]+\b|\b(?=[0-9a-f]{0,40}\d)[0-9a-f]{6,}\b"
    r"|\"[^\"]*[\d/._][^\"]*\"|'[^']*[\d/._][^']*'|\d+",
    re.IGNORECASE,
)
_BLANKS = re.compile(r"\s+")
_OBJECTS = re.compile(
    r"\b(?:naa|eui|t10|mpx)\.[^\s\"',;)\]]+|\bvmhba\d+(?::C\d+:T\d+:L\d+)?|\bvmnic\d+|\bvmk\d+"
    r"|\b[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{12}\b|/vmfs/volumes/[^/\s]+(?:/[^/\s]+)?"
    r"|\bvSwitch\d+|\b(?:\d{1,3}\.){3}\d{1,3}\b",
    re.IGNORECASE,
)


def mask_text(text: str) -> str:
    """Return what a line says, with names, addresses, paths and numbers as `#`."""
    kept = _CODE.sub(_spell_code, text[:MOST_TEXT])
    return _BLANKS.sub(" ", _NAME.sub("#", kept)).strip()[:MOST_TEMPLATE]


def _spell_code(found: re.Match[str]) -> str:
    code = "".join(group or "" for group in found.groups())
    return f" code{code.lower().translate(_LETTERS)} "


def find_object(text: str) -> str:
    """Return the first device, port, address or volume that a line names, "" for none."""
    found = _OBJECTS.search(text[:MOST_TEXT])
    return found[0] if found else ""

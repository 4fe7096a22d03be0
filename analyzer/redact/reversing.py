"""Puts the names back into a text that speaks of their pseudonyms."""

from __future__ import annotations

import re

from analyzer.redact.namemap import NETWORKS, NameMap, forms
from analyzer.redact.replacing import lowered, trie


def reverse(known: NameMap, text: str) -> str:
    """Return a text with the names in the place of their pseudonyms; what is no pseudonym of this map stays."""
    back: dict[str, str] = {}
    for kind, names in known.names.items():
        for name, other in names.items() if kind not in NETWORKS else ():
            for real, made in forms(kind, name, other):
                back.setdefault(made.lower(), real)
    if not back:
        return text
    pattern = re.compile(rf"(?<![^\W_]){trie(back)}(?![^\W_])")
    parts: list[str] = []
    at = 0
    for found in pattern.finditer(lowered(text)):
        parts += [text[at : found.start()], back[found[0]]]
        at = found.end()
    return "".join([*parts, text[at:]])

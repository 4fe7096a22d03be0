"""Puts the names back into a text that speaks of their pseudonyms."""

from __future__ import annotations

import re

from analyzer.redact.namemap import NETWORKS, NameMap, name_forms
from analyzer.redact.replacing import lower_same_length, trie_pattern


def reverse_text(known: NameMap, text: str) -> str:
    """Return a text with the names in the place of their pseudonyms; what is no pseudonym of this map stays."""
    back: dict[str, str] = {}
    for kind, names in known.names.items():
        for name, other in names.items() if kind not in NETWORKS else ():
            for real, made in name_forms(kind, name, other):
                back.setdefault(made.lower(), real)
    if not back:
        return text
    pattern = re.compile(rf"(?<![^\W_]){trie_pattern(back)}(?![^\W_])")
    parts: list[str] = []
    at = 0
    for found in pattern.finditer(lower_same_length(text)):
        parts += [text[at : found.start()], back[found[0]]]
        at = found.end()
    return "".join([*parts, text[at:]])

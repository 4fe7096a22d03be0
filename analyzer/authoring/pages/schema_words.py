"""Hover texts of the editor: meaning and example for every key of a rule below the top level.

They are in `schema_words.yaml`. The meanings of the top level are those of the loader (`rules.keys.KEYS`).
"""

from __future__ import annotations

from importlib import resources
from typing import Any

import yaml

_WORDS: dict[str, Any] = yaml.safe_load(
    (resources.files(__package__) / "schema_words.yaml").read_text("utf-8")
)

# Key at the top level -> further sentences for the hover text, and an example.
TOP: dict[str, tuple[str, str]] = {
    key: (words.get("more", ""), words["example"]) for key, words in _WORDS["top"].items()
}
# `parent.key` -> meaning, and an example.
BELOW: dict[str, tuple[str, str]] = {
    key: (words["meaning"], words["example"]) for key, words in _WORDS["below"].items()
}


def _read_words(parent: str, *keys: str) -> dict[str, tuple[str, str]]:
    """Return the texts of a parent by its keys: all, or some."""
    found = {}
    for key, words in BELOW.items():
        if key.startswith(f"{parent}."):
            found[key.partition(".")[2]] = words
    return {key: found[key] for key in keys or found}


def _repeat_words(parent: str, words: dict[str, tuple[str, str]]) -> dict[str, tuple[str, str]]:
    return {f"{parent}.{key}": pair for key, pair in words.items()}


# Keys that have the words of another parent's, but for those that the file gives them itself.
BELOW = {
    **_repeat_words("rows", _read_words("examples")),
    **_repeat_words(
        "case", {key: words for key, words in _read_words("expect").items() if key != "result"}
    ),
    **_repeat_words(
        "sign", _read_words("logs") | _read_words("seen", "at_least", "within", "distinct")
    ),
    **_repeat_words(
        "cleared", _read_words("logs") | _read_words("outcomes", "severity", "confidence", "say")
    ),
    **BELOW,
}
# Value -> meaning, for keys with a fixed list of values; kinds of columns; columns that every table has.
VALUES: dict[str, dict[str, str]] = _WORDS["values"]
KINDS: dict[str, str] = _WORDS["kinds"]
ORIGIN: dict[str, str] = _WORDS["origin"]

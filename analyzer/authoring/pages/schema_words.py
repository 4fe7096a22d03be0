"""Hover texts of the editor: meaning and example for every key of a rule below the top level.

They stand in `schema_words.yaml`. The meanings of the top level are those of the loader (`rules.keys.KEYS`).
"""

from __future__ import annotations

from importlib import resources
from typing import Any

import yaml

_TOLD: dict[str, Any] = yaml.safe_load(
    (resources.files(__package__) / "schema_words.yaml").read_text("utf-8")
)

# Key at the top level -> further sentences for the hover text, and an example.
TOP: dict[str, tuple[str, str]] = {
    key: (told.get("more", ""), told["example"]) for key, told in _TOLD["top"].items()
}
# `parent.key` -> meaning, and an example.
BELOW: dict[str, tuple[str, str]] = {
    key: (told["meaning"], told["example"]) for key, told in _TOLD["below"].items()
}


def _read_words(parent: str, *keys: str) -> dict[str, tuple[str, str]]:
    """Return the texts of a parent by its keys: all, or some."""
    found = {
        key.partition(".")[2]: told for key, told in BELOW.items() if key.startswith(f"{parent}.")
    }
    return {key: found[key] for key in keys or found}


def _is_same(parent: str, told: dict[str, tuple[str, str]]) -> dict[str, tuple[str, str]]:
    return {f"{parent}.{key}": words for key, words in told.items()}


# Keys that have the words of another parent's, but for those that the file gives them itself.
BELOW = {
    **_is_same("rows", _read_words("examples")),
    **_is_same(
        "case", {key: words for key, words in _read_words("expect").items() if key != "result"}
    ),
    **_is_same("sign", _read_words("logs") | _read_words("seen", "at_least", "within", "distinct")),
    **_is_same(
        "cleared", _read_words("logs") | _read_words("outcomes", "severity", "confidence", "say")
    ),
    **BELOW,
}
# Value -> meaning, for keys with a fixed list of values; kinds of columns; columns that every table has.
VALUES: dict[str, dict[str, str]] = _TOLD["values"]
KINDS: dict[str, str] = _TOLD["kinds"]
ORIGIN: dict[str, str] = _TOLD["origin"]

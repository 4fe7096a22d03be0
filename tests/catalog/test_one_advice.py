"""The advice on a setting stands once, in shared.yaml: two rules of their own words contradict each other sooner or later."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from analyzer import kb

FOLDER = Path(kb.__file__).parent
# The shared text, and the words by which advice on the same setting is known.
SETTINGS = {
    "account_check": r"pam_tally2|faillock",
    "manager_restart": r"\bone manager at a time\b|\brestart\b[^.;]*\bmanagers\b|\bdo not restart those\b",
    "manager_services": r"\bstart datastore first\b",
    "ntp_servers": r"\b(?:two|three|four|\d)\b[^.]*\bservers\b",
    "overlay_mtu": r"\bMTU\b.*\b1[67]00\b|\b1[67]00\b.*\bMTU\b",
}
READ = ("do", "note", "caution")


def list_texts(value: Any, *, own: bool = False) -> Iterator[str]:
    """Yield the texts of a remedy that tell what to do; in its short form every value does."""
    if isinstance(value, dict):
        steps = "where" in value
        for key, item in value.items():
            yield from list_texts(item, own=not steps or key in READ)
    elif isinstance(value, list):
        for item in value:
            yield from list_texts(item)
    elif isinstance(value, str) and own:
        yield value


@pytest.mark.parametrize("name", sorted(SETTINGS))
def test_the_advice_stands_in_one_shared_text(name: str) -> None:
    """No rule has words of its own on it, and at least two name the shared text."""
    words = re.compile(SETTINGS[name], re.IGNORECASE)
    users = 0
    for path in sorted(FOLDER.glob("*/*.yaml")):
        rule = yaml.safe_load(path.read_text(encoding="utf-8"))
        texts = list(list_texts(rule.get("fix")))
        users += f"${name}" in texts
        assert [text for text in texts if words.search(text)] == [], path.name
    shared = yaml.safe_load((FOLDER / "shared.yaml").read_text(encoding="utf-8"))["texts"]
    assert words.search(shared[name])
    assert users >= 2

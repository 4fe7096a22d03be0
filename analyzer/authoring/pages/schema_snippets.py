"""Snippets of the rule schema: what an editor offers for a new join, outcome, example, or a whole rule.

They are in `schema_snippets.yaml`.
"""

from __future__ import annotations

from importlib import resources
from typing import Any

import yaml

from analyzer.case.verdicts import CONFIDENCES, SEVERITIES, Verdict


def _read_snippets() -> dict[str, Any]:
    text = (resources.files(__package__) / "schema_snippets.yaml").read_text("utf-8")
    words = {"SEVERITIES": SEVERITIES, "CONFIDENCES": CONFIDENCES, "RESULTS": tuple(Verdict)}
    for name, allowed in words.items():
        text = text.replace(f"|{name}|", "|" + ",".join(allowed) + "|")
    snippets: dict[str, Any] = yaml.safe_load(text)
    return snippets


_SNIPPETS = _read_snippets()


def offer_snippets(part: str) -> dict[str, Any]:
    """Return what the schema of a part of a rule says of its snippets."""
    return {"defaultSnippets": _SNIPPETS[part]}

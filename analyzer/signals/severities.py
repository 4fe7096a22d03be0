"""What severities weigh that sources print: of an alarm, an event, a record of a controller."""

from __future__ import annotations

import re

_SEVERITIES = (
    (6.5, r"fatal|non-?recoverable|unrecoverable|emergency|panic|catastrophic"),
    (5.5, r"(?<!non-)(?<!non)critical|alert"),
    (4.5, r"error|err|high|major|severe"),
    (3.3, r"warning|warn|medium|moderate|minor|question|non-?critical"),
    (0.0, r"low|info|information|informational|notice|debug|ok|normal|none|cleared"),
)
_COMPILED = tuple((weight, re.compile(rf"\b(?:{words})\b", re.I)) for weight, words in _SEVERITIES)
SURE = 5.0  # a word of this weight is a severity in any sentence; the others are words like many


def weigh_severity(text: str) -> float | None:
    """Return what the worst severity in a text weighs, 0 for one that is no trouble, None where it names none."""
    return next((weight for weight, words in _COMPILED if words.search(text)), None)

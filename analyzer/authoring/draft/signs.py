"""Values that are a sign: the condition for each, how an answer shows it, and what would be harmless."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from analyzer.artefacts.tables import Column

TROUBLE = re.compile(
    r"err|drop|fail|miss|crc|full|lost|loss|retr|discard|overr|fault|reset|timeout|stop|out_of|absent|abort"
)
_MEASURED = {
    "packets",
    "times",
    "bytes",
    "%",
    "s",
    "ms",
    "us",
    "segments",
    "1/s",
    "bit/s",
    "Mbit/s",
    "kB",
    "entries",
}

MOST_LITERAL = 10**18  # an expression takes no larger number


@dataclass(frozen=True, slots=True)
class Sign:
    """A value of a column that a draft asks for; `many` when its alias has many rows."""

    alias: str
    column: Column
    value: Any
    many: bool = False

    @property
    def name(self) -> str:
        """The column with its alias."""
        return f"{self.alias}.{self.column.name}"

    @property
    def grows(self) -> bool:
        """Say whether it is a counter or a measure, of which any value above zero is the sign."""
        column = self.column
        if column.kind not in ("int", "float") or isinstance(self.value, bool) or self.value <= 0:
            return False
        if column.kind == "float" or column.unit in _MEASURED:
            return True
        return bool(TROUBLE.search(column.name))


def write_condition(sign: Sign) -> str:
    """Return the condition a sign becomes: above zero for what counts, the same value for the rest."""
    name = sign.name
    kind = sign.column.kind
    value = sign.value
    if kind == "bool":
        if value:
            text = name
        else:
            text = f"not {name}"
    elif sign.grows:
        text = f"{name} > 0"
    elif kind in ("int", "float") and abs(value) < MOST_LITERAL:
        text = f"{name} == {value}"
    elif kind in ("str", "version") and str(value).isascii() and str(value).isprintable():
        text = f"{name} == {json.dumps(str(value))}"
    else:
        text = f"known({name})"
    if sign.many:
        return f"any({text})"
    return text


def describe_sign(sign: Sign) -> str:
    """Return how an answer shows a sign."""
    words = sign.column.name.replace("_", " ")
    if not sign.many:
        return f"{words} {{{sign.name}}}"
    if sign.column.kind in ("int", "float"):
        return f"{words} up to {{max({sign.name})}}"
    return f"{words} in {{count({sign.name})}} rows"


def find_harmless(sign: Sign) -> Any:
    """Return a value of a column that is no sign."""
    value = sign.value
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        if sign.grows:
            return 0
        return value + 1
    if sign.column.kind == "version":
        return "9.9.9"
    return "other"

"""What makes signals of different cases the same: their kind, where they come from and what they say without values.

Signals of one kind have one hash in all cases and versions, so that an archive can count the cases that have it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from analyzer.case.case_file import show_surrogates
from analyzer.signals.cell_words import MOST_TEXT
from analyzer.signals.templates import mask_text

_BYTES = 8  # of a hash
# `rx_errors is 4,501, 0.0055 % of rx_packets; …` says in another case another number, and other columns behind it.
_NUMBER_CELL = re.compile(r"([^;]*? is )-?\d")


@dataclass(slots=True)
class KindTally:
    """One kind of signal in one case.

    hash      16 hex digits of kind, module and template
    template  what the signal says, with # for what differs from case to case; secrets are hidden in it
    count     lines, cells and files of it
    weight    the greatest, and `age` the one of the signal that has it
    nodes     ids of the machines that have it
    """

    hash: str
    kind: str
    module: str
    template: str
    count: int = 0
    weight: float = 0.0
    age: str = ""
    nodes: set[str] = field(default_factory=set)


def write_template(kind: str, what: str) -> str:
    """Return what a signal says without the values and names that differ from case to case."""
    if kind == "cell":
        value = _NUMBER_CELL.match(what[:MOST_TEXT])
        if value is not None:
            return f"{value[1]}#"
        return mask_text(what.partition("; ")[0])
    if kind == "core dump file":
        return mask_text(what)
    return what  # the others are masked already


def hash_kind(kind: str, module: str, template: str) -> str:
    """Return the hash of a kind of signal, 16 hex digits; a case document, which shows bytes, gives the same."""
    text = show_surrogates("\0".join((kind, module, template)))
    return hashlib.blake2b(text.encode(), digest_size=_BYTES).hexdigest()


def tally_kinds(signals: Iterable[Mapping[str, Any]]) -> list[KindTally]:
    """Return the kinds of the signals of a case, in the order of their first; lines counted together have none.

    signals  with the keys of the record `Signal`; those with defaults may be missing
    """
    found: dict[str, KindTally] = {}
    for one in signals:
        if not one["what"]:
            continue
        kind, module = str(one["kind"]), str(one.get("module", ""))
        template = write_template(kind, str(one["what"]))
        name = hash_kind(kind, module, template)
        tally = found.setdefault(name, KindTally(name, kind, module, template))
        weight = float(one.get("weight", 0.0))
        if not tally.nodes or weight > tally.weight:
            tally.weight, tally.age = weight, str(one.get("age", ""))
        tally.count += int(one.get("count", 1))
        tally.nodes.add(str(one["node"]))
    return list(found.values())

"""What a module is whose name stands in a line: a sentence, its log, and what shows its state (kb.log_module).

Names are compared without regard to case. A name that no row has is tried without the number or the object behind it,
as the head of a line gives it, and then without its last part: `Hostsvc` explains `Hostsvc.SyslogConfigProvider`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from analyzer.artefacts.tables import Tables, Value
from analyzer.signals.heads import cut_module

TABLE = "kb.log_module"
_ANY = "any"
_LAST_PART = re.compile(r"[.:\s-][^.:\s-]*\Z")

ModuleRow = Mapping[str, Value]


class ModuleNote(NamedTuple):
    """What a module is, in our words; log and ask are "" where they are not known.

    module  name as the row has it
    source  table, row, where the row comes from, and how sure that is
    """

    module: str
    what: str
    log: str
    ask: str
    source: str

    @classmethod
    def read_row(cls, row: ModuleRow) -> ModuleNote:
        """Return the note of a row."""
        module, what = str(row["module"]), str(row["what"])
        log, ask = str(row.get("log") or ""), str(row.get("ask") or "")
        source = f"{TABLE}, {module}: {row['source']} ({row['mark']})"
        return cls(module, what, log, ask, source)


def read_module_rows(tables: Tables) -> list[ModuleRow]:
    """Return the rows of the catalog; none when the catalog has no such table."""
    table = tables.get(TABLE)
    return list(table.own_rows) if table else []


def find_module_note(
    rows: Sequence[ModuleRow], module: str, product: str = ""
) -> ModuleNote | None:
    """Return what a module is, None where no row tells.

    rows     of kb.log_module, as `read_module_rows` returns them
    module   as the head of a line gives it
    product  esxi, nsx or nsxv as the rows have it; "" where it is not known
    """
    fitting = [row for row in rows if not product or row["product"] in (product, _ANY)]
    for name in _list_stems(module):
        row = _find_row(fitting, name)
        if row is not None:
            return ModuleNote.read_row(row)
    return None


def describe_module(note: ModuleNote) -> str:
    """Return what a module is, where it goes on and what to ask for, in one line."""
    parts = [f"{note.module}: {note.what.removesuffix('.')}"]
    if note.log:
        parts.append(f"goes on in {note.log}")
    if note.ask:
        parts.append(f"ask for {note.ask}")
    return "; ".join(parts)


def add_module_notes(
    signals: Iterable[Mapping[str, Any]], rows: Sequence[ModuleRow], kinds: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return signals with what the module of each line is (`about`).

    kinds  kind of each node by its id
    """

    @cache
    def describe_name(module: str, product: str) -> str:
        note = find_module_note(rows, module, product)
        return describe_module(note) if note else ""

    found = []
    for one in signals:
        about = ""
        if one["kind"] == "line" and one["module"]:
            about = describe_name(one["module"], name_product(kinds.get(one["node"], "")))
        found.append({**one, "about": about})
    return found


def name_product(kind: str) -> str:
    """Return the product of a kind of node as the rows name it, "" where it has none of them."""
    if kind.startswith("nsxt"):
        return "nsx"
    if kind.startswith("nsx"):
        return "nsxv"
    return "esxi" if kind == "esxi" else ""


def _list_stems(module: str) -> Iterator[str]:
    """Yield a name in small letters, then what is left of it when the number and then each last part is cut."""
    name = module.strip().lower()
    if not name:
        return
    yield name
    cut = cut_module(name)
    if cut and cut != name:
        yield cut
    while found := _LAST_PART.search(cut):
        cut = cut[: found.start()]
        if cut:
            yield cut


def _find_row(rows: Iterable[ModuleRow], name: str) -> ModuleRow | None:
    """Return the only row of that name, or else the only one whose name without its number is that."""
    exact, shortened = [], []
    for row in rows:
        written = str(row["module"]).lower()
        if written == name:
            exact.append(row)
        elif cut_module(written) == name:
            shortened.append(row)
    found = exact or shortened
    return found[0] if len(found) == 1 else None

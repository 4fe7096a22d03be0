"""The records of the case document: their keys, their empty values, and how a record is filled and made plain.

case-schema.json says the same for other programs; a test holds the two
together.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from analyzer.case.verdicts import Cut, Evidence, Finding, Fix, NodeCut, Trace
from analyzer.runtime.text import make_visible

Doc = dict[str, Any]

TRACE_DEPTH = 200


def plain(item: Any, known: dict[int, Doc] | None = None) -> Any:
    """Return dataclasses as dictionaries in the order of their fields, everything below as well.

    known  what was made of lines of traces by their ids: a line that several findings share is one in the document
    """
    kind = type(item)
    if kind in _SCALARS:
        return item
    if kind is list or kind is tuple:
        return [each if type(each) in _SCALARS else plain(each, known) for each in item]
    if kind is Trace and known is not None:
        if id(item) not in known:
            known[id(item)] = {name: plain(getattr(item, name), known) for name in _TRACE}
        return known[id(item)]
    names = _names(kind)
    if names is not None:
        return {name: plain(getattr(item, name), known) for name in names}
    if isinstance(item, Mapping):
        return {str(key): plain(value) for key, value in item.items()}
    if isinstance(item, list | tuple):
        return [plain(value) for value in item]
    return item


_TRACE = tuple(field.name for field in fields(Trace))
_SCALARS = frozenset({str, int, float, bool, type(None)})


def _names(kind: type) -> tuple[str, ...] | None:
    """Return the names of the fields of a dataclass, None for any other kind of value."""
    if kind not in _FIELDS:
        _FIELDS[kind] = tuple(field.name for field in fields(kind)) if is_dataclass(kind) else None
    return _FIELDS[kind]


_FIELDS: dict[type, tuple[str, ...] | None] = {}


_EMPTY: dict[str, Any] = {"?": None, "#": 0}


def _record(keys: str) -> Doc:
    """Return a record by its keys: `size?` may be null, `line#` is a number, `kb[]` a list, `kind=event`; else text."""
    made: Doc = {}
    for key in keys.split():
        name, _, value = key.partition("=")
        made[name.rstrip("?#[]")] = [] if name.endswith("[]") else _EMPTY.get(name[-1], value)
    return made


CASE: Doc = {
    "name": "",
    "files": [],
    "created": "",
    "span": None,
    "complete": True,
    "masked": False,
    "incident": "",
}
SPAN: Doc = {"first": "", "last": ""}
FILE: Doc = {"name": "", "size": None, "sha256": ""}
TOOL: Doc = {"name": "backline", "version": "", "catalog": "", "rules": 0}
SETTINGS: Doc = {
    "file": "",
    "sha256": "",
    "day": "",
    "mutes": [],
    "thresholds": [],
    "unused": [],
    "catalogs": [],
}
MUTE = _record("rule subject node reason until state=holds findings# unknowns#")
THRESHOLD: Doc = {"rule": "", "name": "", "value": None, "shipped": None, "reason": ""}
CATALOG: Doc = {"kind": "", "name": "", "version": "", "sha256": "", "rules": 0, "broken": 0}
NODE: Doc = {
    "id": "",
    "kind": "",
    "name": "",
    "product": "",
    "version": "",
    "build": "",
    "release": "",
    "uptime_s": None,
    "captured": "",
    "sources": [],
    "logs": [],
    "warnings": [],
    "bundle": True,
}
LOG: Doc = {"table": "", "first": "", "last": "", "lines": 0, "members": 0, "parts": []}
HOST: Doc = {"node": "", "rows": []}
CARD_ROW: Doc = {"title": "", "items": [], "total": 0, "missing": []}
CARD_ITEM: Doc = {"name": "", "text": "", "address": "", "line": 0}
SOURCE = _record(
    "address size? state=listed read_by why lines# looked_at# faults# node unread_outputs[]"
)
UNREAD_OUTPUT: Doc = {"line": 0, "command": "", "lines": 0}
EVENT: Doc = {
    "time": "",
    "node": "",
    "text": "",
    "address": "",
    "line": 0,
    "kind": "event",
    "rule": "",
}
PROBLEM = _record(
    "node kind=event what object title count# first last ended address line# text last_address last_line#"
)
PORT = _record("node vm vnic adapter port_id switch portgroup uplinks[] mac")
SITE = _record("what name other channel state said said_by at note address line#")
FAULT: Doc = {"address": "", "line": 0, "text": "", "parser": "", "why": ""}
CHART: Doc = {"title": "", "unit": "", "node": "", "times": [], "lines": [], "same_as": ""}
LINE: Doc = {"label": "", "values": []}
HARMLESS = _record("id node count# first last title text unless log kb[] source[] address line#")
LOG_LINE = _record("time node log level component object text address line#")
DAMAGE: Doc = {"address": "", "offset": None, "what": "", "left_out": ""}

EVIDENCE = plain(Evidence("", "", 0, ""))
TRACE = plain(Trace("", ""))
FIX = plain(Fix(""))
FINDING = plain(Finding("", "", "", [], [], "", "", "", "", "", "", "", ""))
ASK: Doc = {"what": "", "command": False, "remark": "", "nodes": []}
_WANTED = {"missing": "", "reason": "", "why": "", "ask": "", "asks": [], "commands": []}
GROUP: Doc = {
    **_WANTED,
    "rules": [],
    "subjects": [],
    "nodes": [],
    "muted": "",
    "in_bundle": False,
    "settles": [],
}
QUIET: Doc = {"rule": "", "title": "", "kb": [], "looked_at": 0, "not_applicable": 0}
CUT = plain(Cut("", "", "", 0, 0, 0, ""))
NODE_CUT = plain(NodeCut("", 0, 0, 0))
RECORDS: dict[str, Doc] = {
    "nodes": NODE,
    "hosts": HOST,
    "sources": SOURCE,
    "findings": FINDING,
    "cannot_tell": GROUP,
    "quiet": QUIET,
    "cuts": CUT,
    "problems": PROBLEM,
    "timeline": EVENT,
    "topology": PORT,
    "site": SITE,
    "faults": FAULT,
    "damage": DAMAGE,
    "harmless": HARMLESS,
    "log": LOG_LINE,
}
DOCUMENT: Doc = {
    "case": {},
    "tool": {},
    "settings": {},
    "series": {},
    "problems_total": 0,
    "faults_total": 0,
} | {key: [] for key in RECORDS}

_SURROGATE = re.compile("[\ud800-\udfff]")

# Columns that come from tables as numbers but are names in the document.
_AS_TEXT = frozenset(
    {"version", "build", "port_id", "vnic", "read_by", "captured", "time", "first", "last"}
)


def filled(what: str, defaults: Mapping[str, Any], item: Any) -> Doc:
    """Return `item` with every key of `defaults`, in that order; ValueError for a key it does not know."""
    given = plain(item)
    unknown = sorted(set(given) - set(defaults))
    if unknown and isinstance(item, Mapping):
        raise ValueError(f"a {what} of the case document has no key {unknown[0]!r}")
    out: Doc = {}
    for key, empty in defaults.items():
        value = given.get(key, empty)
        if value is None and empty is not None and key != "span":
            value = empty
        if key in _AS_TEXT and not isinstance(value, str):
            value = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
        if isinstance(empty, list):
            value = [value] if isinstance(value, str) else list(value)
        out[key] = value
    return out


def clean(value: Any) -> Any:
    """Return `value` as plain JSON: lone surrogates visible, no NaN, numbers of numpy as Python's.

    What is plain already is returned as it is: a copy of a large document costs as much memory as the document.
    """
    kind = type(value)
    if kind is str:
        return value if value.isascii() else _writable(value)
    if kind is dict:
        return _clean_record(value)
    if kind is list:
        return _clean_list(value)
    if isinstance(value, str):
        return _writable(str(value))
    if isinstance(value, Mapping):
        return {_writable(str(key)): clean(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [clean(item) for item in value]
    return _clean_number(value)


def _clean_record(value: Doc) -> Doc:
    """Return a dictionary of clean values: itself where all of them are."""
    changed = False
    for key, item in value.items():
        if type(key) is not str or not key.isascii():
            return {_writable(str(key)): clean(item) for key, item in value.items()}
        if clean(item) is not item:
            changed = True
    return {key: clean(item) for key, item in value.items()} if changed else value


def _clean_list(value: list[Any]) -> list[Any]:
    """Return a list of clean values: itself where all of them are."""
    items = [clean(item) for item in value]
    return value if all(map(operator.is_, items, value)) else items


def _clean_number(value: Any) -> Any:
    if value is None or isinstance(value, bool | int):
        return value
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, bool | int) else str(value)


def _writable(text: str) -> str:
    """Return text that UTF-8 can hold: bytes that were no text are shown as `\\xNN`."""
    return (
        text if text.isascii() else _SURROGATE.sub(lambda match: make_visible(match.group()), text)
    )

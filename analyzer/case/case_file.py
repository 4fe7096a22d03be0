"""The case document as a file: how case.json is written, read back and described by a JSON Schema."""

from __future__ import annotations

import json
import math
import operator
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from analyzer.case.asks import parse_ask
from analyzer.case.document import SCHEMA, Ask, CaseChart, CaseDocument, Signal
from analyzer.case.packed_text import find_case_text
from analyzer.case.questions import link_questions
from analyzer.case.ranking import order_findings
from analyzer.case.verdicts import Trace
from analyzer.runtime.errors import RefusedError
from analyzer.runtime.text import make_visible

TRACE_DEPTH = 200

# DEL, C1, line separators, bidi controls, BOM: JSON would let them through to a terminal as they are.
_STEERING = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def write_case(doc: CaseDocument) -> str:
    """Return the document as JSON, one record a line.

    The same document gives the same bytes; the text can always be written as UTF-8.
    """
    return "".join(write_parts(doc))


def write_parts(doc: CaseDocument) -> Iterator[str]:
    """Yield the text of `write_case`, about one record at a time, so that a large document is never whole in memory."""
    lead = "{\n"
    for key in CaseDocument.__struct_fields__:
        value = getattr(doc, key)
        yield f"{lead}{encode_line(key)}: "
        if isinstance(value, list) and value:
            yield "[\n"
            for number, item in enumerate(value):
                if number:
                    yield f",\n{encode_line(item)}"
                else:
                    yield encode_line(item)
            yield "\n]"
        elif isinstance(value, dict) and value:
            yield "{\n"
            for number, (name, item) in enumerate(value.items()):
                if number:
                    yield ",\n"
                else:
                    yield ""
                yield f"{encode_line(name)}:{encode_line(item)}"
            yield "\n}"
        else:
            yield encode_line(value)
        lead = ",\n"
    yield "\n}\n"


def encode_line(value: Any) -> str:
    """Return a value as JSON on one line, without a sign that steers a terminal."""
    plain = msgspec.to_builtins(value, enc_hook=clean_number)
    try:
        text = _dump_plain(plain)
    except (TypeError, ValueError):  # a number that JSON does not know
        text = ""
    if not text or _SURROGATE.search(text):  # nearly every record is clean as it is
        text = _dump_plain(clean_value(plain))
    return _STEERING.sub(escape_sign, text)


def _dump_plain(plain: Any) -> str:
    """Return JSON; the encoder of msgspec writes small floats in another form than all versions before."""
    return json.dumps(plain, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def escape_sign(match: re.Match[str]) -> str:
    """Return a sign as JSON writes it by its number."""
    return f"\\u{ord(match.group()):04x}"


def read_case(path: Path) -> CaseDocument:
    """Return the document kept in `path`, a file or the folder of a triage; a RefusedError says what is wrong."""
    try:
        if path.is_dir() and (path / "case.json").exists():
            path /= "case.json"
        if path.exists() and not path.is_file():  # a device may never end
            why = "not a regular file"
            if path.is_dir():
                why = "it holds no case.json"
            raise refuse_document(str(path), why)
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise RefusedError(
            "the case document cannot be read",
            where=str(path),
            why=error.strerror or "",
            do="Give the case.json that `backline triage` wrote.",
        ) from None
    except UnicodeDecodeError:
        raise refuse_document(str(path), "it is not UTF-8 text, perhaps a bundle") from None
    return parse_case(text, str(path))


def parse_case(text: str, where: str) -> CaseDocument:
    """Return the document that is written as `text`; a RefusedError says what is wrong with it, at `where`."""
    text = find_case_text(text, where) or text
    try:
        raw = json.loads(text)
    except json.JSONDecodeError as error:
        raise refuse_document(f"{where}:{error.lineno}", f"it is not JSON: {error.msg}") from None
    except (ValueError, RecursionError):
        raise refuse_document(where, "a number or a nesting in it is too large") from None
    if not isinstance(raw, dict) or "schema" not in raw:
        raise refuse_document(where, "it has no key `schema`")
    if raw["schema"] != SCHEMA:
        why = f"its schema is {raw['schema']!r}, this version reads {SCHEMA!r}"
        raise refuse_document(where, why)
    try:
        doc = msgspec.convert(raw, CaseDocument)
    except msgspec.ValidationError as error:
        raise refuse_document(where, describe_fault(error, raw)) from None
    except RecursionError:
        raise refuse_document(where, "a nesting in it is too large") from None
    for fault in find_faults(doc):
        raise refuse_document(where, fault)
    complete_earlier(doc, raw)
    clean_value(doc)
    doc.findings = order_findings(doc.findings)  # one of an earlier version has another order
    return doc


def refuse_document(where: str, why: str) -> RefusedError:
    """Return the error of a file that is no case document."""
    return RefusedError(
        "this case document cannot be shown",
        where=where,
        why=why,
        do="Give the case.json that `backline triage` wrote, or run triage again with the bundle.",
    )


_MISSING = re.compile(r"Object missing required field `(\w+)`")
_IN_LIST = re.compile(r"(?P<parent>.*?)\.?(?P<key>\w+)(?:\[[\d.]+\])+")


def describe_fault(error: msgspec.ValidationError, raw: Mapping[str, Any]) -> str:
    """Return in a sentence what msgspec says of a damaged document: which record, which key, what is wrong."""
    what, _, path = str(error).partition(" - at `$")
    path = path.removesuffix("`").removeprefix(".")
    if path.startswith("series[...]"):
        name, inner = find_bad_chart(raw["series"])
        what, _, rest = str(inner).partition(" - at `$")
        path = f"series {name!r}{rest.removesuffix('`')}"
    missing = _MISSING.match(what)
    if missing:
        return f"{path or 'the document'} has no key `{missing[1]}`"
    if what.startswith("Expected `object"):
        return f"{path or 'the document'} is not an object"
    in_list = _IN_LIST.fullmatch(path)
    if in_list:
        kind = "a number"
        if what.startswith("Expected `str`"):
            kind = "text"
        parent = in_list["parent"] or "the document"
        return f"{parent} has a value that is not {kind} under `{in_list['key']}`"
    parent, _, key = path.rpartition(".")
    if " >= " in what:
        return f"{parent or 'the document'} has a number that is too small under `{key}`"
    return f"{parent or 'the document'} has another kind of value under `{key}`"


def find_bad_chart(series: Mapping[str, Any]) -> tuple[str, msgspec.ValidationError]:
    """Return the first chart that cannot be read, which msgspec does not name, and what is wrong with it."""
    for name, chart in series.items():
        try:
            msgspec.convert(chart, CaseChart)
        except msgspec.ValidationError as error:
            return name, error
    raise AssertionError("all charts can be read")


def find_faults(doc: CaseDocument) -> Iterator[str]:
    """Yield what the types of a document cannot say: references to nothing, a nesting that no report can draw."""
    for name, chart in doc.series.items():
        other = doc.series.get(chart.same_as)
        if chart.same_as and (other is None or other.same_as):
            yield f"series {name!r} names a chart under `same_as` that holds no samples"
    for number, finding in enumerate(doc.findings):
        if finding.trace is not None and measure_depth(finding.trace) > TRACE_DEPTH:
            yield f"findings[{number}].trace is deeper than {TRACE_DEPTH} levels"


def measure_depth(trace: Trace) -> int:
    """Return how many levels a trace has below its top, one more than `TRACE_DEPTH` at most."""
    depth, level = 0, trace.children
    while level and depth <= TRACE_DEPTH:
        depth += 1
        level = [child for item in level for child in item.children]
    return depth


def complete_earlier(doc: CaseDocument, raw: Mapping[str, Any]) -> None:
    """Fill in what documents of earlier versions lack and what follows from the rest.

    raw  the document as it was written: it shows which keys are there
    """
    for source, written in zip(doc.sources, raw["sources"], strict=True):
        if "looked_at" not in written:  # earlier versions looked at every line
            source.looked_at = source.lines
    if "problems" in raw and "signals" not in raw:
        doc.signals = msgspec.convert(raw["problems"], list[Signal])
        doc.signals_total = len(doc.signals)
    linked = True
    for group, written in zip(doc.cannot_tell, raw["cannot_tell"], strict=True):
        if "asks" not in written:
            group.asks = [
                Ask(what=one.what, command=one.command, remark=one.remark, nodes=list(group.nodes))
                for one in parse_ask(group.ask)
            ]
        linked = linked and "settles" in written
    if not linked:
        link_questions(doc.cannot_tell, doc.findings, {})


def make_schema() -> str:
    """Return the JSON Schema of the case document as text: what this version writes, so every key is required."""
    made = msgspec.json.schema(CaseDocument)
    kinds = made["$defs"]
    whole = kinds.pop(CaseDocument.__name__)
    for kind in (whole, *kinds.values()):
        kind["additionalProperties"] = False
        kind["required"] = [name for name in kind["properties"] if name != "map"]
        for field in kind["properties"].values():
            field.pop("default", None)
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA,
        "title": "Backline case document",
    }
    whole.pop("title")
    return json.dumps({**head, **whole, "$defs": kinds}, indent=1, ensure_ascii=False) + "\n"


def clean_value(value: Any) -> Any:
    """Return `value` as plain JSON: lone surrogates visible, no NaN, numbers of numpy as Python's.

    Records are changed in place. What is plain already is returned as it is: a copy of a large document costs as
    much memory as the document.
    """
    kind = type(value)
    if kind is str:
        if value.isascii():
            return value
        return show_surrogates(value)
    if kind is dict:
        return clean_dict(value)
    if kind is list:
        items = [clean_value(item) for item in value]
        if all(map(operator.is_, items, value)):
            return value
        return items
    if isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            item = getattr(value, name)
            cleaned = clean_value(item)
            if cleaned is not item:
                setattr(value, name, cleaned)
        return value
    if isinstance(value, str):
        return show_surrogates(str(value))
    if isinstance(value, Mapping):
        return {show_surrogates(str(key)): clean_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [clean_value(item) for item in value]
    return clean_number(value)


def clean_dict(value: dict[Any, Any]) -> dict[Any, Any]:
    """Return a dictionary of clean values: itself where all of them are."""
    changed = False
    for key, item in value.items():
        if type(key) is not str or not key.isascii():
            return {show_surrogates(str(key)): clean_value(item) for key, item in value.items()}
        if clean_value(item) is not item:
            changed = True
    if changed:
        return {key: clean_value(item) for key, item in value.items()}
    return value


def clean_number(value: Any) -> Any:
    """Return a number as Python has it, null for one that JSON does not know, the text of anything else."""
    if value is None or value is msgspec.UNSET or isinstance(value, bool | int):
        return value
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return None
    if isinstance(value, bool | int):
        return value
    return str(value)


def show_surrogates(text: str) -> str:
    """Return text that UTF-8 can hold: bytes that were no text are shown as `\\xNN`."""
    if text.isascii():
        return text
    return _SURROGATE.sub(lambda match: make_visible(match.group()), text)

"""What of a case document no report could read, and what a document of an earlier version did not know."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from analyzer.case import case_shape as shape
from analyzer.case.asks import parse_ask
from analyzer.case.case_shape import DOCUMENT, RECORDS, TRACE_DEPTH, Doc, plain

# Lists of plain words, wherever they stand in a record.
_WORDS = {
    "also",
    "not_this",
    "explained_by",
    "explains",
    "maybe_worse",
    "chart",
    "source",
    "before",
    "after",
}
_WORDS |= {
    "rules", "subjects", "nodes", "sources", "warnings", "uplinks", "limits", "advice", "notes", "unused", "commands",
    "settles",
}  # fmt: skip


def completed(doc: Doc) -> None:
    """Give a document of an earlier version the keys that it did not know, with their empty values.

    Only keys that were added later are filled in; whatever else is missing is a fault of the document.
    """
    for key in ("cuts", "notes", "problems", "hosts", "harmless", "site", "log"):
        doc.setdefault(key, [])
    doc.setdefault("problems_total", 0)
    for known in _records([doc.get("case")]):
        known.setdefault("incident", "")
    for log in (log for node in _records(doc.get("nodes")) for log in _records(node.get("logs"))):
        log.setdefault("parts", [])
    series = doc.get("series")
    for chart in _records(list(series.values()) if isinstance(series, dict) else ()):
        chart.setdefault("same_as", "")
    for key, names in _LATER.items():
        for record in _records(doc.get(key)):
            for name in names:
                record.setdefault(name, plain(RECORDS[key][name]))
    for group in _records(doc.get("cannot_tell")):
        group.setdefault("asks", _parse_records(group))
    if any("settles" not in group for group in _records(doc.get("cannot_tell"))):
        _link_earlier(doc)
    for step in (
        step for finding in _records(doc.get("findings")) for step in _records(finding.get("fix"))
    ):
        step.setdefault("caution", shape.FIX["caution"])
    for source in _records(doc.get("sources")):  # earlier versions looked at every line
        source.setdefault("looked_at", source.get("lines", shape.SOURCE["looked_at"]))
        source.setdefault("unread_outputs", [])


_LATER = {
    "nodes": ("bundle",),
    "findings": ("values", "magnitude", "excess"),
    "cannot_tell": ("commands", "in_bundle"),
}


def _parse_records(group: Doc) -> list[Doc]:
    """Return the records of an ask that an earlier version kept as a text alone."""
    ask, nodes = group.get("ask"), group.get("nodes")
    if not isinstance(ask, str) or not isinstance(nodes, list):
        return []
    return [
        {"what": item.what, "command": item.command, "remark": item.remark, "nodes": list(nodes)}
        for item in parse_ask(ask)
    ]


def _link_earlier(doc: Doc) -> None:
    """Give the questions of an earlier version the findings that they bear on; a document at fault is left alone."""
    groups, findings = _records(doc.get("cannot_tell")), _records(doc.get("findings"))
    for group in groups:
        group.setdefault("settles", [])
    of_finding = {
        "rule": str,
        "node": str,
        "muted": str,
        "verdict": str,
        "maybe_worse": list,
        "also": list,
    }
    of_group = {"rules": list, "nodes": list, "missing": str, "ask": str}
    sound = [isinstance(one.get(key), kind) for one in findings for key, kind in of_finding.items()]
    sound += [isinstance(one.get(key), kind) for one in groups for key, kind in of_group.items()]
    words = [
        word for one in findings for key in ("maybe_worse", "also") for word in one.get(key) or ()
    ]
    words += [word for one in groups for key in ("rules", "nodes") for word in one.get(key) or ()]
    if all(sound) and all(isinstance(word, str) for word in words):
        link_questions(groups, findings, {})


def link_questions(
    groups: Sequence[Doc], findings: Iterable[Doc], causes: Mapping[str, Sequence[str]]
) -> None:
    """Write under `settles` of each question the rules whose findings an answer would settle.

    These are findings that could be worse or say what they could not check, and on the same machine those of a rule
    in need of it, and those that a rule in need of it may explain (`causes`: rule -> rules).
    """
    live = [one for one in findings if one["verdict"] == "match" and not one["muted"]]
    there: dict[
        str, set[tuple[str, str]]
    ] = {}  # rule that found something or may be its cause -> who found, and where
    worse: dict[str, set[str]] = {}  # table -> rules
    doubts: dict[str, set[tuple[str, str]]] = {}  # what a finding asks for -> its rule, and why
    for one in live:
        for rule in (one["rule"], *causes.get(one["rule"], ())):
            there.setdefault(rule, set()).add((one["rule"], one["node"]))
        for table in one["maybe_worse"]:
            worse.setdefault(table, set()).add(one["rule"])
        for line in one["also"]:
            why, found, asked = line.partition(ASKED)
            if found:
                doubts.setdefault(asked.rstrip("."), set()).add((one["rule"], why))
    for group in groups:
        settled = set(worse.get(group["missing"], ()))
        near = {pair for rule in group["rules"] for pair in there.get(rule, ())}
        settled |= {
            rule for rule, node in near if not node or not group["nodes"] or node in group["nodes"]
        }
        asked = doubts.get(group["ask"].rstrip("."), set())
        alike = [one["missing"] for one in groups if one["ask"] == group["ask"]] if asked else []
        for rule, why in asked:
            named = any(f"({missing})" in why for missing in alike)
            if f"({group['missing']})" in why or not named:
                settled.add(rule)
        group["settles"] = sorted(settled)


ASKED = " Ask for: "  # in a sentence of a finding, before what to request


def _records(value: Any) -> list[Doc]:
    """Return the objects of a list, and none when it is no list: what is wrong is told by `problems`."""
    return (
        [item for item in value if isinstance(item, dict)]
        if isinstance(value, list | tuple)
        else []
    )


def problems(doc: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (place, what is wrong) for every record that a report could not read."""
    yield from _missing("the document", DOCUMENT, doc)
    yield from _missing("the document", {"limits": [], "advice": [], "notes": []}, doc)
    yield from _missing("tool", shape.TOOL, doc["tool"])
    yield from _settings_problems(doc["settings"])
    yield from _missing("case", shape.CASE, doc["case"])
    if doc["case"]["span"] is not None:
        yield from _missing("case.span", shape.SPAN, doc["case"]["span"])
    yield from _each("case.files", shape.FILE, doc["case"]["files"])
    for key, defaults in RECORDS.items():
        yield from _each(key, defaults, doc[key])
    for number, node in enumerate(doc["nodes"]):
        yield from _each(f"nodes[{number}].logs", shape.LOG, node["logs"])
        for place, log in enumerate(node["logs"]):
            yield from _each(f"nodes[{number}].logs[{place}].parts", shape.SPAN, log["parts"])
    for number, group in enumerate(doc["cannot_tell"]):
        yield from _each(f"cannot_tell[{number}].asks", shape.ASK, group["asks"])
    for number, card in enumerate(doc["hosts"]):
        yield from _each(f"hosts[{number}].rows", shape.CARD_ROW, card["rows"])
        for place, row in enumerate(card["rows"]):
            yield from _each(f"hosts[{number}].rows[{place}].items", shape.CARD_ITEM, row["items"])
    for number, finding in enumerate(doc["findings"]):
        yield from _finding_problems(f"findings[{number}]", finding)
    for number, cut in enumerate(doc["cuts"]):
        yield from _each(f"cuts[{number}].by_node", shape.NODE_CUT, cut["by_node"])
    for name, chart in doc["series"].items():
        yield from _chart_problems(f"series {name!r}", chart)
        if (
            chart["same_as"]
            and (doc["series"].get(chart["same_as"]) or {"same_as": "-"})["same_as"]
        ):
            yield f"series {name!r}", "names a chart under `same_as` that holds no samples"


def _settings_problems(settings: Any) -> Iterator[tuple[str, str]]:
    yield from _missing("settings", shape.SETTINGS, settings)
    for key, defaults in (
        ("mutes", shape.MUTE),
        ("thresholds", shape.THRESHOLD),
        ("catalogs", shape.CATALOG),
    ):
        yield from _each(f"settings.{key}", defaults, settings[key])
    for number, change in enumerate(settings["thresholds"]):
        for key in ("value", "shipped"):
            if isinstance(change[key], bool) or not isinstance(change[key], int | float):
                yield f"settings.thresholds[{number}]", f"has no number under `{key}`"


def _each(place: str, defaults: Mapping[str, Any], records: list[Any]) -> Iterator[tuple[str, str]]:
    for number, record in enumerate(records):
        yield from _missing(f"{place}[{number}]", defaults, record)


def _finding_problems(place: str, finding: Doc) -> Iterator[tuple[str, str]]:
    if not all(isinstance(article, int) for article in [*finding["kb"], *finding["issues"]]):
        yield place, "has an article that is not a number"
    if not all(isinstance(value, str) for value in finding["values"].values()):
        yield place, "has a value that is not text under `values`"
    for key in ("magnitude", "excess"):
        if isinstance(finding[key], bool) or not isinstance(finding[key], int | float | None):
            yield place, f"has a value that is not a number under `{key}`"
    yield from _each(f"{place}.evidence", shape.EVIDENCE, finding["evidence"])
    yield from _each(f"{place}.fix", shape.FIX, finding["fix"])
    if finding["trace"] is not None:
        yield from _trace_problems(f"{place}.trace", finding["trace"], 0)


def _chart_problems(place: str, chart: Any) -> Iterator[tuple[str, str]]:
    yield from _missing(place, shape.CHART, chart)
    yield from _each(f"{place}.lines", shape.LINE, chart["lines"])
    for line in chart["lines"]:
        if not all(value is None or isinstance(value, int | float) for value in line["values"]):
            yield place, "holds a value that is not a number"


def _trace_problems(place: str, trace: Any, depth: int) -> Iterator[tuple[str, str]]:
    yield from _missing(place, shape.TRACE, trace)
    if depth > TRACE_DEPTH:
        yield place, f"is deeper than {TRACE_DEPTH} levels"
        return
    for child in trace["children"]:
        yield from _trace_problems(place, child, depth + 1)


def _missing(place: str, defaults: Mapping[str, Any], record: Any) -> Iterator[tuple[str, str]]:
    """Yield what `record` lacks of `defaults`; the caller stops at the first, so later code may index."""
    if not isinstance(record, dict):
        yield place, "is not an object"
        return
    for key, empty in defaults.items():
        if key not in record:
            yield place, f"has no key `{key}`"
        elif empty is not None and type(record[key]) is not type(empty):
            yield place, f"has another kind of value under `{key}`"
        elif _lists_words(key, defaults) and not all(isinstance(word, str) for word in record[key]):
            yield place, f"has a value that is not text under `{key}`"


def _lists_words(key: str, defaults: Mapping[str, Any]) -> bool:
    return key in _WORDS and isinstance(defaults[key], list) and defaults is not DOCUMENT

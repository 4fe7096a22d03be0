"""How much of the input was read and what was not: the wording all reports share."""

from __future__ import annotations

import re
from collections import Counter

from analyzer.report.wording import Doc, count_noun, join_few
from analyzer.runtime.short_lines import bound_line


def is_complete(doc: Doc) -> bool:
    """Tell whether nothing of the input was cut, damaged, refused, not understood or stopped by a limit."""
    return bool(doc["case"]["complete"]) and not _list_losses(doc)


def describe_completeness(doc: Doc) -> str:
    """Return one sentence on what of the input could not be used."""
    if is_complete(doc):
        left, lost = _describe_left_out(doc), _describe_lost_lines(doc)
        if not left and not lost:
            return "complete, nothing cut, damaged or left out"
        said = f"complete but for {lost}" if lost else "complete, nothing cut or damaged"
        return said + (f"; left out: {left}" if left else "")
    said = ", ".join(_list_losses(doc)) or "something is missing"
    return f"NOT COMPLETE: {said}. In these parts, absence proves nothing"


NOTHING = "nothing found"


NOTHING_READ = (
    "nothing found in what could be read"  # where something was cut, damaged or not understood
)


def describe_nothing(doc: Doc) -> str:
    """Return the words for a case without a finding: never plain "nothing found" when something was not read."""
    if is_complete(doc):
        left = ", ".join(
            part for part in (_describe_unread_outputs(doc), _describe_lost_lines(doc)) if part
        )
        return f"{NOTHING_READ}; left out: {left}" if left else NOTHING
    lost = [source["address"] for source in list_unread(doc) if source["state"] != "other"]
    names = list(dict.fromkeys(map(_name_file, lost)))
    if not names:
        return NOTHING_READ
    verb = "was" if len(names) == 1 else "were"
    return f"{NOTHING_READ}; {join_few(names, 3)} {verb} not fully read"


def list_unread(doc: Doc) -> list[Doc]:
    """Return what came in and was not read, or not to the end, as records with state, address and why.

    First what was not read or understood, then what is cut or damaged, at last what is no support material. Damage
    in a source that is there already says nothing new.
    """
    order = ("refused", "unknown", "cut", "damaged", "other")
    found = [source for source in doc["sources"] if source["state"] in order]
    there = {source["address"] for source in found}
    found += [
        {"state": "damaged", "address": address, "why": damage["what"]}
        for address, damage in {item["address"]: item for item in reversed(doc["damage"])}.items()
        if address not in there
    ]
    return sorted(found, key=lambda one: order.index(one["state"]))


_UNREAD = {
    "refused": "Not read",
    "unknown": "Not understood",
    "cut": "Cut short",
    "damaged": "Damaged",
    "other": "Not read",
}


def describe_unread(source: Doc) -> str:
    """Return one line on a source that was not read, or not to the end."""
    return f"{_UNREAD[source['state']]}: {source['address']}" + (
        f" ({source['why']})" if source["why"] else ""
    )


def name_other_files(doc: Doc, most: int) -> str:
    """Return one line that names the files that are no diagnostic material; "" for none."""
    names = [
        _name_file(source["address"]) for source in list_unread(doc) if source["state"] == "other"
    ]
    return f"Not read, not diagnostic material: {join_few(names, most)}" if names else ""


def _list_losses(doc: Doc) -> list[str]:
    states = Counter(source["state"] for source in doc["sources"])
    parts = [
        count_noun(len(doc["damage"]), "place damaged", "places damaged"),
        count_noun(states["cut"], "source cut short", "sources cut short"),
        count_noun(states["refused"], "source refused", "sources refused"),
        count_noun(states["unknown"], "source not understood", "sources not understood"),
        count_noun(len(doc["limits"]), "limit reached", "limits reached"),
    ]
    return [part for part in parts if part]


def _describe_left_out(doc: Doc) -> str:
    """Return what was left out without a loss, in words; "" for nothing."""
    states: Counter[str] = Counter()
    for source in doc["sources"]:
        folded = re.search(r" \((\d+) files\)$", source["address"])
        states[source["state"]] += int(folded[1]) if folded and source["state"] == "listed" else 1
    parts = [
        count_noun(
            states["listed"],
            "source that Backline does not read",
            "sources that Backline does not read",
        ),
        count_noun(states["skipped"], "source skipped", "sources skipped"),
        count_noun(states["duplicate"], "duplicate", "duplicates"),
        count_noun(
            states["other"],
            "file that is not diagnostic material",
            "files that are not diagnostic material",
        ),
        *_list_not_collected(doc),
        _describe_unread_outputs(doc),
    ]
    return ", ".join(part for part in parts if part)


def _describe_lost_lines(doc: Doc) -> str:
    """Return how many lines no parser understood, with file and line of the first; "" for none."""
    lines = count_noun(
        doc["faults_total"], "line that was not understood", "lines that were not understood"
    )
    if not lines or not doc["faults"]:
        return lines
    first = doc["faults"][0]
    place = f"{_name_file(first['address'])}:{first['line']}"
    return f"{lines} ({place if doc['faults_total'] == 1 else f'first: {place}'})"


def _name_file(address: str) -> str:
    """Return the name of a file without what it lies in."""
    return re.split(r"[!/]", address.rstrip("!/"))[-1]


def _describe_unread_outputs(doc: Doc) -> str:
    """Return the commands of transcripts whose output nothing reads, in words; "" for none."""
    commands = [one["command"] for source in doc["sources"] for one in source["unread_outputs"]]
    named = join_few([f"`{bound_line(command, 60)}`" for command in dict.fromkeys(commands)], 3)
    return f"the output of {named}, which Backline does not read" if commands else ""


def _list_not_collected(doc: Doc) -> list[str]:
    """Return which members of an NSX site are not there, in words: left out by the collection, or only named by others.

    Of the second kind are managers, controllers and edges, where the bundle of another one is in the case.
    """
    members = [one for one in doc.get("site") or [] if one["what"] == "member"]
    skipped = [one["name"] for one in members if one["state"] == "Skipped"]
    nodes = [one for one in members if one["channel"] in ("manager", "controller", "edge")]
    bundles = any("!" in one["address"] and one["state"] == "in the case" for one in nodes)
    absent = [
        f"{one['channel']} {one['name']}"
        for one in nodes
        if bundles and one["state"] == "not in the case"
    ]
    return [
        f"not collected: {join_few(skipped, 3)}" if skipped else "",
        f"{join_few(absent, 3)} (only named by others)" if absent else "",
    ]


def describe_coverage(doc: Doc) -> str:
    """Return one sentence on how much was read."""
    states = Counter(source["state"] for source in doc["sources"])
    order = (
        ("read", "read"), ("searched", "searched"), ("duplicate", "duplicate"), ("listed", "listed"),
        ("skipped", "skipped"), ("cut", "cut"), ("refused", "refused"), ("unknown", "not understood"),
        ("other", "ignored"),
    )  # fmt: skip
    said = (
        ", ".join(f"{states[state]:,} {word}" for state, word in order if states[state]) or "none"
    )
    lines = sum(source["lines"] for source in doc["sources"])
    text = f"Sources: {said}."
    if lines:
        faults = doc["faults_total"]
        # of a large log only some lines are looked at one by one; cases of before have no such number
        looked = sum(source.get("looked_at") or source["lines"] for source in doc["sources"])
        whole = "" if looked >= lines else f" of the {looked:,} looked at one by one"
        text += f" {lines:,} lines read, {faults:,} not understood{whole}{_format_share(faults / (looked or lines))}."
    return text


def _format_share(part: float) -> str:
    if not part:
        return ""
    return f" ({part:.2%})" if part >= 0.0001 else " (less than 0.01%)"

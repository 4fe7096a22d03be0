"""How much of the input was read and what was not: the wording all reports share."""

from __future__ import annotations

import re
from collections import Counter

from analyzer.case.document import CaseDocument, CaseSource
from analyzer.report import signals
from analyzer.report.wording import count_noun, join_few
from analyzer.runtime.short_lines import bound_line

NOTHING = "nothing found"
# Where something was cut, damaged or not understood.
NOTHING_READ = "nothing found in what could be read"
_FOLDED = re.compile(r" \((\d+) files\)$")  # how a source says that it is several files
_SHARED, _MOST_REASONS = 5, 12  # sources with one reason that are a list of their own; such lists
# States of sources that were not read to the end, in the order of a report, and how each is named.
_UNREAD = {
    "refused": "Not read",
    "unknown": "Not understood",
    "cut": "Cut short",
    "damaged": "Damaged",
    "other": "Not read",
}
_COVERAGE = {
    "read": "read",
    "searched": "searched",
    "duplicate": "duplicate",
    "listed": "listed",
    "skipped": "skipped",
    "cut": "cut",
    "refused": "refused",
    "unknown": "not understood",
    "other": "ignored",
}


def group_listed(doc: CaseDocument) -> list[tuple[str, list[CaseSource]]]:
    """Return the sources that are only listed, those that share a reason under it, and the others last under ""."""
    listed = [source for source in doc.sources if source.state == "listed"]
    reasons = Counter(source.why for source in listed if source.why and not source.read_by)
    shared = [why for why, count in reasons.most_common(_MOST_REASONS) if count >= _SHARED]
    groups: dict[str, list[CaseSource]] = {why: [] for why in (*shared, "")}
    for source in listed:
        why = source.why
        if source.read_by or why not in groups:
            why = ""
        groups[why].append(source)
    return [(why, sources) for why, sources in groups.items() if sources]


def is_complete(doc: CaseDocument) -> bool:
    """Say whether nothing of the input was cut, damaged, refused, not understood or stopped by a limit."""
    return bool(doc.case.complete) and not _list_losses(doc)


def describe_completeness(doc: CaseDocument) -> str:
    """Return one sentence on what of the input could not be used."""
    if not is_complete(doc):
        losses = ", ".join(_list_losses(doc)) or "something is missing"
        return f"NOT COMPLETE: {losses}. In these parts, absence proves nothing"
    left_out = _describe_left_out(doc)
    lost_lines = _describe_lost_lines(doc)
    if not left_out and not lost_lines:
        return "complete, nothing cut, damaged or left out"
    text = "complete, nothing cut or damaged"
    if lost_lines:
        text = f"complete but for {lost_lines}"
    if left_out:
        return f"{text}; left out: {left_out}"
    return text


def describe_nothing(doc: CaseDocument) -> str:
    """Return the words for a case without a finding.

    Never plain "nothing found" above a sign of trouble, or when something was not read.
    """
    likely = len(signals.list_likely(doc))
    if likely:
        signs = count_noun(likely, "sign of trouble that", "signs of trouble that")
        rest = "" if is_complete(doc) else ", in what could be read"
        return f"no known problem, but {signs} no rule explains{rest}"
    if is_complete(doc):
        parts = filter(None, [_describe_unread_outputs(doc), _describe_lost_lines(doc)])
        left_out = ", ".join(parts)
        if left_out:
            return f"{NOTHING_READ}; left out: {left_out}"
        return NOTHING
    names: dict[str, None] = {}
    for source in list_unread(doc):
        if source.state != "other":
            names[_name_file(source.address)] = None
    if not names:
        return NOTHING_READ
    verb = "were"
    if len(names) == 1:
        verb = "was"
    return f"{NOTHING_READ}; {join_few(list(names), 3)} {verb} not fully read"


def list_unread(doc: CaseDocument) -> list[CaseSource]:
    """Return what came in and was not read, or not to the end, as records with state, address and why.

    First what was not read or understood, then what is cut or damaged, at last what is no support material. Damage
    in a source that is in the list already is nothing new.
    """
    found = [source for source in doc.sources if source.state in _UNREAD]
    listed = {source.address for source in found}
    damages = {item.address: item.what for item in reversed(doc.damage)}
    for address, what in damages.items():
        if address not in listed:
            found.append(_make_damaged(address, what))
    order = list(_UNREAD)
    return sorted(found, key=lambda source: order.index(source.state))


def _make_damaged(address: str, what: str) -> CaseSource:
    """Return the record of a source that is damaged."""
    return CaseSource(
        address=address,
        size=None,
        state="damaged",
        read_by="",
        why=what,
        lines=0,
        faults=0,
        node="",
    )


def describe_unread(source: CaseSource) -> str:
    """Return one line on a source that was not read, or not to the end."""
    line = f"{_UNREAD[source.state]}: {source.address}"
    if source.why:
        return f"{line} ({source.why})"
    return line


def name_other_files(doc: CaseDocument, most: int) -> str:
    """Return one line that names the files that are no diagnostic material; "" for none."""
    others = [source for source in list_unread(doc) if source.state == "other"]
    names = [_name_file(source.address) for source in others]
    if names:
        return f"Not read, not diagnostic material: {join_few(names, most)}"
    return ""


def describe_coverage(doc: CaseDocument) -> str:
    """Return one sentence on how much was read."""
    states = Counter(source.state for source in doc.sources)
    counts = []
    for state, word in _COVERAGE.items():
        if states[state]:
            counts.append(f"{states[state]:,} {word}")
    text = f"Sources: {', '.join(counts) or 'none'}."
    lines = looked_at = 0
    for source in doc.sources:
        lines += source.lines
        # of a large log only some lines are looked at one by one; older cases have no such number
        looked_at += source.looked_at or source.lines
    if not lines:
        return text
    faults = doc.faults_total
    sample = ""
    if not (looked_at >= lines):
        sample = f" of the {looked_at:,} looked at one by one"
    share = faults / (looked_at or lines)
    percent = ""
    if share:
        percent = " (less than 0.01%)"
        if share >= 0.0001:
            percent = f" ({share:.2%})"
    return f"{text} {lines:,} lines read, {faults:,} not understood{sample}{percent}."


def _list_losses(doc: CaseDocument) -> list[str]:
    """Return what of the material is lost or unread, counted by its kind."""
    states = Counter(source.state for source in doc.sources)
    parts = [
        count_noun(len(doc.damage), "place damaged", "places damaged"),
        count_noun(states["cut"], "source cut short", "sources cut short"),
        count_noun(states["refused"], "source refused", "sources refused"),
        count_noun(states["unknown"], "source not understood", "sources not understood"),
        count_noun(len(doc.limits), "limit reached", "limits reached"),
    ]
    return [part for part in parts if part]


def _describe_left_out(doc: CaseDocument) -> str:
    """Return what was left out without a loss, in words; "" for nothing."""
    states: Counter[str] = Counter()
    for source in doc.sources:
        folded = _FOLDED.search(source.address)
        count = 1
        if folded and source.state == "listed":
            count = int(folded[1])
        states[source.state] += count
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
        *_describe_missing_members(doc),
        _describe_unread_outputs(doc),
    ]
    return ", ".join(part for part in parts if part)


def _describe_missing_members(doc: CaseDocument) -> list[str]:
    """Return which members of an NSX site are missing: those the collection left out, and those only named by others.

    Of the second kind are managers, controllers and edges, where the bundle of another one is in the case.
    """
    skipped, absent, has_bundle = [], [], False
    for one in doc.site:
        if one.what != "member":
            continue
        if one.state == "Skipped":
            skipped.append(one.name)
        if one.channel not in ("manager", "controller", "edge"):
            continue
        if one.state == "not in the case":
            absent.append(f"{one.channel} {one.name}")
        elif one.state == "in the case" and "!" in one.address:
            has_bundle = True
    parts = []
    if skipped:
        parts.append(f"not collected: {join_few(skipped, 3)}")
    if absent and has_bundle:
        parts.append(f"{join_few(absent, 3)} (only named by others)")
    return parts


def _describe_lost_lines(doc: CaseDocument) -> str:
    """Return how many lines no parser understood, with file and line of the first; "" for none."""
    total = doc.faults_total
    lines = count_noun(total, "line that was not understood", "lines that were not understood")
    if not lines or not doc.faults:
        return lines
    first = doc.faults[0]
    place = f"{_name_file(first.address)}:{first.line}"
    if total == 1:
        return f"{lines} ({place})"
    return f"{lines} (first: {place})"


def _describe_unread_outputs(doc: CaseDocument) -> str:
    """Return the commands of transcripts whose output nothing reads, in words; "" for none."""
    commands: dict[str, None] = {}
    for source in doc.sources:
        for output in source.unread_outputs:
            commands[output.command] = None
    if not commands:
        return ""
    names = join_few([f"`{bound_line(command, 60)}`" for command in commands], 3)
    return f"the output of {names}, which Backline does not read"


def _name_file(address: str) -> str:
    """Return the name of a file without what it lies in."""
    return re.split(r"[!/]", address.rstrip("!/"))[-1]

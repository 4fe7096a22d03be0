"""What local settings changed in a case: the sentences all reports share.

Every function takes the case document; nothing is escaped here, as in `view`.
"""

from __future__ import annotations

from analyzer.case.document import CaseDocument, MutedEntry
from analyzer.report import view
from analyzer.report.wording import count_noun


def write_title(doc: CaseDocument) -> str:
    """Return the heading of what is muted."""
    muted = count_noun(view.count_silenced(doc), "entry", "entries")
    return f"Muted by local settings: {muted or 'nothing'}"


def list_settings_notes(doc: CaseDocument) -> list[str]:
    """Return what a reader must know: changed thresholds, mutes that ran out, mutes without a date to judge them by."""
    settings = doc.settings
    notes = []
    for change in settings.thresholds:
        notes.append(
            f"Threshold {change.name} of {change.rule} is {change.value!r} here "
            f"({change.shipped!r} as shipped): {_end_sentence(change.reason)}"
        )
    notes += settings.unused
    for mute in settings.mutes:
        scope = _describe_scope(mute)
        if mute.state == "ran out":
            notes.append(
                f"The mute of {scope} ({mute.reason}) expired on {mute.until}; this case is from "
                f"{settings.day}.{_describe_covered(mute)}"
            )
        elif mute.state == "undated" and _has_matched(mute):
            notes.append(
                f"The mute of {scope} holds until {mute.until}; nothing in this case has a date, so it is "
                "not known whether that day has passed."
            )
    return notes


def list_idle_mutes(doc: CaseDocument) -> list[str]:
    """Return the mutes that matched nothing."""
    lines = []
    for mute in doc.settings.mutes:
        if mute.state != "ran out" and not _has_matched(mute):
            lines.append(
                f"A mute of {_describe_scope(mute)} (until {mute.until}) matched nothing in this case: "
                f"{_end_sentence(mute.reason)}"
            )
    return lines


def list_rule_sources(doc: CaseDocument) -> list[str]:
    """Return where the rules came from, one line each; empty when all came with the tool."""
    catalogs = doc.settings.catalogs
    if all(catalog.kind == "shipped" for catalog in catalogs):
        return []
    lines = []
    for catalog in catalogs:
        name = " ".join(filter(None, [catalog.kind, catalog.name, catalog.version]))
        parts = [
            count_noun(catalog.rules, "rule", "rules") or "no rule",
            count_noun(catalog.broken, "file cannot be used", "files cannot be used"),
            f"sha256 {catalog.sha256[:16]}",
        ]
        lines.append(f"{name}: {', '.join(filter(None, parts))}")
    return lines


def _describe_scope(mute: MutedEntry) -> str:
    """Return what a mute is about: the rule, and the subject and node where it names them."""
    scope = str(mute.rule)
    if mute.subject:
        scope += f" for {mute.subject}"
    if mute.node:
        scope += f" on {mute.node}"
    return scope


def _has_matched(mute: MutedEntry) -> bool:
    return bool(mute.findings or mute.unknowns)


def _describe_covered(mute: MutedEntry) -> str:
    """Return what a mute that ran out would have muted, as a sentence; "" for nothing."""
    one, many = "object that cannot be judged", "objects that cannot be judged"
    parts = [
        count_noun(mute.findings, "finding", "findings"),
        count_noun(mute.unknowns, one, many),
    ]
    covered = " and ".join(filter(None, parts))
    if covered:
        return f" It would have muted {covered}."
    return ""


def _end_sentence(text: str) -> str:
    """Return a text with a full stop at its end."""
    if text.endswith((".", "!", "?")):
        return text
    return f"{text}."

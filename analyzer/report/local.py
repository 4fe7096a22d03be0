"""What local settings changed in a case: the sentences all reports share.

Every function takes the case document; nothing is escaped here, as in `view`.
"""

from __future__ import annotations

from analyzer.report import view, wording
from analyzer.report.wording import Doc


def write_title(doc: Doc) -> str:
    """Return the heading of what is muted."""
    return f"Muted by local settings: {wording.count_noun(view.count_silenced(doc), 'entry', 'entries') or 'nothing'}"


def list_settings_notes(doc: Doc) -> list[str]:
    """Return what a reader must know: changed thresholds, mutes that ran out, mutes without a date to judge them by."""
    settings = doc["settings"]
    out = [
        f"Threshold {change['name']} of {change['rule']} is {change['value']!r} here "
        f"({change['shipped']!r} as shipped): {_end_sentence(change['reason'])}"
        for change in settings["thresholds"]
    ]
    out += settings["unused"]
    for mute in settings["mutes"]:
        if mute["state"] == "ran out":
            out.append(
                f"The mute of {_describe_scope(mute)} ({mute['reason']}) expired on {mute['until']}; this case is from "
                f"{settings['day']}.{_describe_covered(mute)}"
            )
        elif mute["state"] == "undated" and _did_match(mute):
            out.append(
                f"The mute of {_describe_scope(mute)} holds until {mute['until']}; nothing in this case has a date, so it is "
                "not known whether that day has passed."
            )
    return out


def list_idle_mutes(doc: Doc) -> list[str]:
    """Return the mutes that matched nothing."""
    lines = []
    for mute in doc["settings"]["mutes"]:
        if mute["state"] != "ran out" and not _did_match(mute):
            lines.append(
                f"A mute of {_describe_scope(mute)} (until {mute['until']}) matched nothing in this case: "
                f"{_end_sentence(mute['reason'])}"
            )
    return lines


def list_rule_sources(doc: Doc) -> list[str]:
    """Return where the rules came from, one line each; empty when all came with the tool."""
    rows = doc["settings"]["catalogs"]
    if all(row["kind"] == "shipped" for row in rows):
        return []
    out = []
    for row in rows:
        name = " ".join(word for word in (row["kind"], row["name"], row["version"]) if word)
        broken = wording.count_noun(row["broken"], "file cannot be used", "files cannot be used")
        parts = [
            wording.count_noun(row["rules"], "rule", "rules") or "no rule",
            broken,
            f"sha256 {row['sha256'][:16]}",
        ]
        out.append(f"{name}: {', '.join(part for part in parts if part)}")
    return out


def _describe_scope(mute: Doc) -> str:
    """Return what a mute is about: the rule, and the subject and node where it names them."""
    subject = f" for {mute['subject']}" if mute["subject"] else ""
    return f"{mute['rule']}{subject}" + (f" on {mute['node']}" if mute["node"] else "")


def _did_match(mute: Doc) -> bool:
    return bool(mute["findings"] or mute["unknowns"])


def _describe_covered(mute: Doc) -> str:
    parts = [
        wording.count_noun(mute["findings"], "finding", "findings"),
        wording.count_noun(
            mute["unknowns"], "object that cannot be judged", "objects that cannot be judged"
        ),
    ]
    said = " and ".join(part for part in parts if part)
    return f" It would have muted {said}." if said else ""


def _end_sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."

"""What hosts call a problem, or a rule knows, and no finding rests on, as all reports word it."""

from __future__ import annotations

from typing import Any

from analyzer.report import wording

Doc = dict[str, Any]

TITLE = "In the logs, but in no finding"
KINDS = {
    "core dump file": ("core dump file", "core dump files"),
    "core dump": ("core dump", "core dumps"),
    "backtrace": ("backtrace", "backtraces"),
    "alert": ("ALERT", "ALERTs"),
    "event": ("problem event", "problem events"),
    "warning": ("warning or error", "warnings and errors"),
    "few lines": ("known sign, too few lines", "known signs, too few lines"),
}


def standing(doc: Doc) -> list[Doc]:
    """Return the problems that no log shows as over."""
    return [one for one in doc["problems"] if not one["ended"]]


def over(doc: Doc) -> list[Doc]:
    """Return the problems of which a later event tells the end."""
    return [one for one in doc["problems"] if one["ended"]]


def name(problem: Doc) -> str:
    """Return what a problem is called: the event, the words of the ALERT, the frame, the file."""
    if not problem["what"]:
        return "lines of other kinds, counted together"
    return f"{problem['what']}, {problem['object']}" if problem["object"] else str(problem["what"])


def word(problem: Doc) -> str:
    """Return the word for its kind."""
    return KINDS[problem["kind"]][0]


def summary(doc: Doc) -> str:
    """Return how many there are of each kind, in one sentence: `2 core dumps, 3 problem events (14 lines)`."""
    some = standing(doc)
    counts = [
        wording.counted(sum(one["kind"] == kind for one in some), *words)
        for kind, words in KINDS.items()
    ]
    lines = sum(one["count"] for one in some)
    said = ", ".join(filter(None, counts))
    ended = len(over(doc))
    parts = [f"{said} ({wording.counted(lines, 'line or file', 'lines or files')})" if said else ""]
    parts += [f"{ended:,} more {'is' if ended == 1 else 'are'} over" if ended else ""]
    left = doc["problems_total"] - len(doc["problems"])
    parts += [f"{left:,} more kinds were counted and are not listed" if left > 0 else ""]
    return "; ".join(filter(None, parts))


def when(problem: Doc) -> str:
    """Return the first and the last time; a file, and a line without a time, has none."""
    first, last = problem["first"], problem["last"]
    if not (first or last):
        return ""
    if problem["count"] == 1 or first == last:
        return wording.stamp(last or first)
    return f"{wording.stamp(first).removesuffix(' UTC')} to {wording.stamp(last)}"


def places(problem: Doc) -> list[str]:
    """Return the address of the first line, and that of the last where it is another."""
    last = {"address": problem["last_address"], "line": problem["last_line"]}
    some = [wording.place(problem), wording.place(last) if problem["last_address"] else ""]
    return list(dict.fromkeys(filter(None, some)))

"""What hosts call a problem, or a rule knows, and no finding rests on, as all reports word it."""

from __future__ import annotations

from analyzer.case.comparison import Place
from analyzer.case.document import CaseDocument, Problem
from analyzer.report.wording import count_noun, format_time, write_place

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


def list_standing(doc: CaseDocument) -> list[Problem]:
    """Return the problems that no log shows as over."""
    return [one for one in doc.problems if not one.ended]


def list_over(doc: CaseDocument) -> list[Problem]:
    """Return the problems that a later event ended."""
    return [one for one in doc.problems if one.ended]


def name_problem(problem: Problem) -> str:
    """Return what a problem is called: the event, the words of the ALERT, the frame, the file."""
    if not problem.what:
        return "lines of other kinds, counted together"
    if problem.object:
        return f"{problem.what}, {problem.object}"
    return str(problem.what)


def name_kind(problem: Problem) -> str:
    """Return the word for its kind."""
    return KINDS[problem.kind][0]


def summarize_problems(doc: CaseDocument) -> str:
    """Return how many there are of each kind, in one sentence: `2 core dumps, 3 problem events (14 lines)`."""
    standing = list_standing(doc)
    parts = []
    if standing:
        counts = []
        for kind, (one, many) in KINDS.items():
            number = sum(problem.kind == kind for problem in standing)
            if number:
                counts.append(count_noun(number, one, many))
        lines = sum(problem.count for problem in standing)
        in_lines = count_noun(lines, "line or file", "lines or files")
        parts.append(f"{', '.join(counts)} ({in_lines})")
    over = len(list_over(doc))
    if over:
        verb = "is" if over == 1 else "are"
        parts.append(f"{over:,} more {verb} over")
    left = doc.problems_total - len(doc.problems)
    if left > 0:
        parts.append(f"{left:,} more kinds were counted and are not listed")
    return "; ".join(parts)


def describe_times(problem: Problem) -> str:
    """Return the first and the last time; a file, and a line without a time, has none."""
    first, last = problem.first, problem.last
    if not (first or last):
        return ""
    if problem.count == 1 or first == last:
        return format_time(last or first)
    return f"{format_time(first).removesuffix(' UTC')} to {format_time(last)}"


def list_places(problem: Problem) -> list[str]:
    """Return the address of the first line, and that of the last where it is another."""
    places = [write_place(problem)]
    if problem.last_address:
        places.append(write_place(Place(problem.last_address, problem.last_line)))
    return list(dict.fromkeys(filter(None, places)))

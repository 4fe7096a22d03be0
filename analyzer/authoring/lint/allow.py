"""Comments that allow a complaint: `# lint: allow R014 because the row itself is the sign`.

Such a comment holds for the line below it, or for its own line when something stands before it;
above the first key of the file it holds for the whole file. The reason is not optional: whoever
reads the rule next must be able to judge it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

import yaml

from analyzer.authoring.lint.codes import CODES, LOAD
from analyzer.authoring.lint.complaints import Complaint, RuleFile
from analyzer.rules.language.rulefile import FileSpan, did_you_mean

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_COMMENT = re.compile(r"(?:^|(?<=\s))#\s*lint\s*:\s*(.*?)\s*$", re.IGNORECASE)
_ALLOW = re.compile(
    r"allow\s+(?P<codes>[^\s,]+(?:\s*,\s*[^\s,]+)*)(?:\s+because\b\s*(?P<reason>.*))?$",
    re.IGNORECASE,
)
_OWN = ("R090", "R091")
# Where a scalar begins and ends, and whether it is a block.
Span = tuple[FileSpan, FileSpan, bool]
FORM = "write # lint: allow R014 because <reason>"


@dataclass(slots=True)
class Allow:
    """One comment that was understood: its codes with their places, and the lines it holds for."""

    codes: dict[str, FileSpan]
    lines: range
    used: set[str] = field(default_factory=set)


def apply(file: RuleFile, asked: Collection[str]) -> None:
    """Take the complaints out that a comment allows; complain of comments that are wrong or allow nothing.

    `asked` are the stages whose codes were looked for; nothing is said of a comment for others.
    """
    if file.tree is None or "lint" not in file.text.text.lower():
        return
    allows = list(_allows(file))
    file.found = [one for one in file.found if not _allowed(one, allows)]
    for allow in allows:
        for code, place in allow.codes.items():
            if code not in allow.used and CODES[code].stage in asked:
                text = f"{code} is allowed here, but there is nothing to allow"
                file.complain("R091", text, place, "remove the comment")


def _allowed(complaint: Complaint, allows: Iterable[Allow]) -> bool:
    if CODES[complaint.code].stage == LOAD or complaint.code in _OWN:
        return False
    hit = [
        one for one in allows if complaint.code in one.codes and complaint.place.line in one.lines
    ]
    for allow in hit:
        allow.used.add(complaint.code)
    return bool(hit)


def _allows(file: RuleFile) -> Iterable[Allow]:
    """Yield the comments that are understood; complain of the others."""
    spans = _scalars(file.text.text)
    top = (
        min((place.line for place in file.tree.keys.values()), default=1)
        if file.tree is not None
        else 1
    )
    for number, line in enumerate(file.text.lines, 1):
        found = _COMMENT.search(line)
        if found is None or any(_inside(span, number, found.start() + 1) for span in spans):
            continue
        codes = _read(file, number, found)
        if codes:
            yield Allow(codes, _lines(file, number, found, spans, top))


def _read(file: RuleFile, number: int, found: re.Match[str]) -> dict[str, FileSpan]:
    """Return the codes of a comment with their places; complain of what is wrong with it."""
    whole = FileSpan(number, found.start() + 1, max(1, found.end() - found.start()))
    allow = _ALLOW.match(found[1])
    if allow is None:
        file.complain("R090", "this comment is not understood", whole, FORM)
        return {}
    codes: dict[str, FileSpan] = {}
    for word in re.finditer(r"[^\s,]+", allow["codes"]):
        place = FileSpan(
            number, found.start(1) + word.start() + allow.start("codes") + 1, len(word[0])
        )
        code = CODES.get(word[0].upper())
        if code is None:
            file.complain(
                "R090",
                f"there is no code `{word[0][:40]}`",
                place,
                did_you_mean(word[0].upper(), CODES),
            )
        elif code.stage == LOAD or code.code in _OWN:
            why = (
                "a file with it is not used"
                if code.stage == LOAD
                else "it is about the comments themselves"
            )
            file.complain("R090", f"{code.code} cannot be allowed: {why}", place, "fix the rule")
        else:
            codes[code.code] = place
    if not (allow["reason"] or "").strip(" <>…."):
        file.complain("R090", "a comment allows something and gives no reason", whole, FORM)
        return {}
    return codes


def _lines(file: RuleFile, number: int, found: re.Match[str], spans: list[Span], top: int) -> range:
    """Return the lines a comment holds for."""
    lines = file.text.lines
    if lines[number - 1][: found.start()].strip():
        target = number
    elif number < top:
        return range(1, len(lines) + 1)
    else:
        below = range(number + 1, len(lines) + 1)
        target = next(
            (
                n
                for n in below
                if lines[n - 1].strip() and not lines[n - 1].lstrip().startswith("#")
            ),
            number,
        )
    last = max((stop.line for start, stop, _ in spans if start.line == target), default=target)
    return range(target, last + 1)


def _scalars(text: str) -> list[Span]:
    """Return where the scalars that can hold a `#` begin and end, and whether they are blocks (`|` or `>`)."""
    found = []
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.ScalarEvent) and event.start_mark and event.end_mark:
            start, end = event.start_mark, event.end_mark
            block = event.style in ("|", ">")
            if event.style or end.line > start.line:
                last = end.line + (0 if end.column == 0 and end.line > start.line else 1)
                stop = FileSpan(last, end.column + 1) if not block else FileSpan(last, 1 << 30)
                found.append((FileSpan(start.line + 1, start.column + 1), stop, block))
    return found


def _inside(span: Span, line: int, column: int) -> bool:
    start, stop, block = span
    if block:  # what stands behind `|` or `>` on its line is a comment
        return start.line < line <= stop.line
    return (start.line, start.column) <= (line, column) < (stop.line, stop.column)

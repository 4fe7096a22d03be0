"""Comments that allow a complaint: `# lint: allow R014 because the row itself is the sign`.

Such a comment holds for the line below it, or for its own line when something comes before it;
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
from analyzer.authoring.lint.complaints import RuleFile
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


def apply_comments(file: RuleFile, asked: Collection[str]) -> None:
    """Take the complaints out that a comment allows; complain of comments that are wrong or allow nothing.

    `asked` are the stages whose codes were looked for; nothing is said of a comment for others.
    """
    if file.tree is None or "lint" not in file.text.text.lower():
        return
    allows = _read_allows(file)
    kept = []
    for complaint in file.found:
        hit = []
        for one in allows:
            if complaint.code in one.codes and complaint.place.line in one.lines:
                hit.append(one)
        if not hit or CODES[complaint.code].stage == LOAD or complaint.code in _OWN:
            kept.append(complaint)
            continue
        for allow in hit:
            allow.used.add(complaint.code)
    file.found = kept
    for allow in allows:
        for code, place in allow.codes.items():
            if code not in allow.used and CODES[code].stage in asked:
                text = f"{code} is allowed here, but there is nothing to allow"
                file.complain("R091", text, place, "remove the comment")


def _read_allows(file: RuleFile) -> list[Allow]:
    """Return the comments that are understood; complain of the others."""
    # Where the scalars that can hold a `#` begin and end, and whether they are blocks (`|` or `>`).
    spans = []
    for event in yaml.parse(file.text.text, Loader=_LOADER):
        if isinstance(event, yaml.ScalarEvent) and event.start_mark and event.end_mark:
            start, end = event.start_mark, event.end_mark
            block = event.style in ("|", ">")
            if event.style or end.line > start.line:
                last = end.line + 1
                if end.column == 0 and end.line > start.line:
                    last = end.line
                stop = FileSpan(last, 1 << 30 if block else end.column + 1)
                begin = FileSpan(start.line + 1, start.column + 1)
                spans.append((begin, stop, block))
    allows = []
    for number, line in enumerate(file.text.lines, 1):
        found = _COMMENT.search(line)
        if found is None:
            continue
        inside = False
        for first, last_place, is_block in spans:
            if is_block:  # what follows `|` or `>` on its line is a comment
                inside |= first.line < number <= last_place.line
            else:
                place = (number, found.start() + 1)
                inside |= (first.line, first.column) <= place < (last_place.line, last_place.column)
        if inside:
            continue
        codes = _read_codes(file, number, found)
        if codes:
            allows.append(Allow(codes, _find_lines(file, number, found, spans)))
    return allows


def _read_codes(file: RuleFile, number: int, found: re.Match[str]) -> dict[str, FileSpan]:
    """Return the codes of a comment with their places; complain of what is wrong with it."""
    length = found.end() - found.start()
    whole = FileSpan(number, found.start() + 1, max(1, length))
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
            why = "it is about the comments themselves"
            if code.stage == LOAD:
                why = "a file with it is not used"
            file.complain("R090", f"{code.code} cannot be allowed: {why}", place, "fix the rule")
        else:
            codes[code.code] = place
    if not (allow["reason"] or "").strip(" <>…."):
        file.complain("R090", "a comment allows something and gives no reason", whole, FORM)
        return {}
    return codes


def _find_lines(file: RuleFile, number: int, found: re.Match[str], spans: list[Span]) -> range:
    """Return the lines a comment holds for."""
    lines = file.text.lines
    keys: Iterable[FileSpan] = ()
    if file.tree is not None:
        keys = file.tree.keys.values()
    target = number
    if not lines[number - 1][: found.start()].strip():
        if number < min((place.line for place in keys), default=1):
            return range(1, len(lines) + 1)
        for below in range(number + 1, len(lines) + 1):
            text = lines[below - 1].strip()
            if text and not text.startswith("#"):
                target = below
                break
    last = max((stop.line for start, stop, _ in spans if start.line == target), default=target)
    return range(target, last + 1)

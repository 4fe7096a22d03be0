"""Lines of a text that is no log: what a command answers when it fails, and bodies of the NSX and vSphere APIs.

An API error is JSON (`error_code`, `error_message`, `httpStatus`; NSX-T API guide, "API error reporting") or XML
(`<errorCode>`, `<details>`; NSX for vSphere API guide), wherever it stands: in a traceback, a log of Terraform or Ansible.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence

from analyzer.secrets.values import hide_lone_line
from analyzer.signals.grammar import LineReading, weigh_text
from analyzer.signals.heads import read_head
from analyzer.signals.lines import LEAST_EXCERPT, MOST_EXCERPT, ExcerptLine, LineKind, add_entry
from analyzer.signals.templates import mask_text

SURE = 4.0  # weight from which a text without any output that Backline knows is worth a report

_API = re.compile(
    r"\"?error_?(?:code|message)\"?\s*[:=]|<error(?:Code)?>|<details>.{0,200}</details>|\"httpStatus\""
    r"|\bVMWARE_ERROR|\"error\"\s*:",
    re.IGNORECASE,
)
_FAILED = re.compile(
    r"^(?:\S+: )?(?:error|fatal|usage|unknown command|invalid|cannot|could not|unable|failed|no such|permission denied"
    r"|connection (?:refused|timed|reset)|command not found"
    r"|.{0,60}: (?:not found|No such file|Permission denied|command not found|can't open))",
    re.IGNORECASE,
)
_HARDWARE = re.compile(
    r"\b(?:non-?recoverable|lower critical|upper critical|transition to (?:critical|non|off)|asserted|predictive|fatal"
    r"|uncorrectable|bus (?:fatal|error)|redundancy lost)\b",
    re.IGNORECASE,
)
ANSWER_PATTERNS = (_API, _FAILED, _HARDWARE)
_NOTHING = re.compile(
    r"\s*(?:[\w /()<>.#,-]{1,80}?[:=]?\s+0|0 [\w /()<>.#,-]{1,80}"
    r"|[\w /()<>.#-]{1,80}[:=]\s*(?:0|no|none|false|<0>)),?\s*",
    re.IGNORECASE,
)
_ANSWER_WEIGHT = 4.5
API_ERROR, FAILED, HARDWARE = "API error", "the answer is an error", "hardware event"
_PLAIN_FORMS = frozenset({API_ERROR, FAILED, HARDWARE})


def weigh_answer(line: str) -> LineReading:
    """Weigh a line of a text that is no log: an answer, a body of an API, an output that no parser reads."""
    if _NOTHING.fullmatch(line):
        return LineReading(0.0)
    reading = weigh_text(line)
    extra = []
    if _API.search(line):
        extra.append(API_ERROR)
    if _FAILED.search(line.strip()):
        extra.append(FAILED)
    if _HARDWARE.search(line) and not re.search(r"\bde-?assert", line, re.IGNORECASE):
        extra.append(HARDWARE)
    if not extra:
        return reading
    return LineReading(max(reading.weight + 0.3, _ANSWER_WEIGHT), (*extra, *reading.why))


def find_answer_lines(
    lines: Sequence[str],
    first_line: int,
    address: str,
    scope: str,
    only: Container[int] | None = None,
) -> Iterator[ExcerptLine]:
    """Yield the lines of a short text that say trouble: lines of logs in it, answers, bodies of an API.

    only  the numbers of the lines that are looked at, None for all
    """
    if len(lines) > MOST_EXCERPT:
        return
    for number, line in enumerate(lines, first_line):
        if only is not None and number not in only:
            continue
        shown = hide_lone_line(line)
        head = read_head(shown)
        if head.form or head.is_stamped:
            reading = add_entry(weigh_text(head.text, head.level, head.form), shown)
            text = head.text
        else:
            reading, text = weigh_answer(shown), shown
        if reading.weight >= LEAST_EXCERPT:
            kind = LineKind(head.module, mask_text(text), round(reading.weight, 2), reading.why)
            yield ExcerptLine(scope, address, number, shown, kind)


def is_sure(line: ExcerptLine, *, is_typed: bool) -> bool:
    """Say whether a line is no prose: it has the form of a log, of an answer or of an API, and weighs enough.

    is_typed  the text has prompts of a shell, so that it is the output of a command
    """
    if line.kind.weight < SURE:
        return False
    head = read_head(line.text)
    has_form = bool(head.form or head.is_stamped or head.level)
    return is_typed or has_form or bool(_PLAIN_FORMS & set(line.kind.why))

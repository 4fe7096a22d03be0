"""A gate in front of TextFSM: only lines that some rule of a template may match are fed to it.

A line that no rule of any state matches changes nothing in a TextFSM (it has no implicit action),
so leaving it out cannot change the rows. This holds for templates in which every rule needs a
literal text, thus not for one with a catch-all such as `^. -> Error`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import StringIO
from typing import Any

from analyzer.blocks import BLOCK
from analyzer.engines import Needle, build, choose
from analyzer.prefilter import literal_choices, required_literals

__all__ = ["Gate", "gate_fault", "gate_template", "required_literals"]

_BATCH = 2000  # lines handed to TextFSM at once; keeps memory flat at no cost
# Where str.splitlines, which TextFSM uses, splits besides at line feeds.
_BREAKS = (b"\x0b", b"\x0c", b"\x1c", b"\x1d", b"\x1e")
_WIDE_BREAKS = (b"\xc2\x85", b"\xe2\x80\xa8", b"\xe2\x80\xa9")


class Gate:
    """The gate of one template; `machine` is its unmodified TextFSM."""

    def __init__(self, machine: Any, engine: str = "auto") -> None:
        self.machine = machine
        patterns = dict.fromkeys(rule.regex for rules in machine.states.values() for rule in rules)
        self._engine = build(choose(engine), {n: Needle.of(pattern) for n, pattern in enumerate(patterns)})

    def lines(self, data: bytes) -> Iterator[tuple[int, str]]:
        """Yield (1-based number, text) of the lines that a rule may match, in order."""
        number, at = 1, 0
        for start, end in _stretches(data):
            part = data[start:end]
            seen = -1
            for place in sorted({at for at, _ in self._engine.propose(part, len(part))}):
                if place <= seen:
                    continue
                begin = part.rfind(b"\n", 0, place) + 1
                seen = part.find(b"\n", place)
                seen = len(part) if seen < 0 else seen
                number += data.count(b"\n", at, start + begin)
                at = start + begin
                yield number, _text(part[begin:seen])

    def rows(self, data: bytes) -> list[list[Any]]:
        """Return the rows of the template over a text, the same as without the gate."""
        self.machine.Reset()
        if not _splits_at_feeds_only(data):
            return list(self.machine.ParseText(_text(data)))
        batch: list[str] = []
        for _, line in self.lines(data):
            batch.append(line)
            if len(batch) == _BATCH:
                self.machine.ParseText("\n".join(batch) + "\n", eof=False)
                batch = []
        return list(self.machine.ParseText("\n".join(batch) + "\n" if batch else ""))


def gate_template(template_text: str, engine: str = "auto") -> Gate | None:
    """Return the gate of a TextFSM template, or None when it has a rule that needs no literal.

    Raises textfsm.TextFSMTemplateError when the template is none.
    """
    machine = _machine(template_text)
    return None if _fault(machine) else Gate(machine, engine)


def gate_fault(template_text: str) -> str:
    """Return why a template cannot be gated (its rule and line), or ""."""
    return _fault(_machine(template_text))


def _machine(template_text: str) -> Any:
    import textfsm  # noqa: PLC0415 - a heavy import that `--help` must not pay for

    return textfsm.TextFSM(StringIO(template_text))


def _fault(machine: Any) -> str:
    for state, rules in machine.states.items():
        for rule in rules:
            if not literal_choices(rule.regex):
                return f"template line {rule.line_num}, state {state}: no literal text in `{rule.match}`"
    return ""


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _stretches(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield spans of whole lines of about one block."""
    start = 0
    while start < len(data):
        end = data.rfind(b"\n", start, start + BLOCK) + 1 or data.find(b"\n", start) + 1 or len(data)
        yield start, end
        start = end


def _splits_at_feeds_only(data: bytes) -> bool:
    if any(one in data for one in _BREAKS) or (not data.isascii() and any(one in data for one in _WIDE_BREAKS)):
        return False
    return b"\r" not in data or not re.search(rb"\r(?!\n)", data)

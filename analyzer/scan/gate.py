"""A filter before TextFSM: it gets only the lines that some rule of a template may match.

A line that no rule of any state matches changes nothing in a TextFSM (it has no implicit action),
so leaving it out cannot change the rows. This holds for templates in which every rule needs a
literal text, thus not for one with a catch-all such as `^. -> Error`.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO
from typing import Any

from analyzer.scan.blocks import BLOCK
from analyzer.scan.compiled_pattern import SAMPLE, Engine, Needle
from analyzer.scan.engines import build, choose
from analyzer.scan.prefilter import required_literals

__all__ = ["TemplateGate", "gate_fault", "gate_template", "required_literals"]

_BATCH = 2000  # lines handed to TextFSM at once; keeps memory flat at no cost
_FEW = 2  # literals up to which `bytes.find` for each beats the compiled engines


class TemplateGate:
    """The gate of one template; `machine` is its unmodified TextFSM.

    It seeks literals only. TextFSM splits lines at more characters than the line feed; a piece
    that holds a literal lies in a line that holds it, and that line is fed as it is.
    """

    def __init__(self, machine: Any, engine: str = "auto") -> None:
        self.machine = machine
        patterns = dict.fromkeys(rule.regex for rules in machine.states.values() for rule in rules)
        self._needles = [Needle.of(pattern) for pattern in patterns]
        self._name = choose(engine)
        self._engine: Engine | None = None

    def lines(self, data: bytes) -> Iterator[tuple[int, str]]:
        """Yield (1-based number, text) of the lines that a rule may match, in order."""
        number = 1
        at = 0
        for start, line in self._lines(data):
            number += data.count(b"\n", at, start)
            at = start
            yield number, _text(line)

    def rows(self, data: bytes) -> list[list[Any]]:
        """Return the rows of the template over a text, the same as without the gate."""
        self.machine.Reset()
        batch: list[bytes] = []
        for _, line in self._lines(data):
            batch.append(line)
            if len(batch) == _BATCH:
                self.machine.ParseText(_text(b"\n".join(batch) + b"\n"), eof=False)
                batch = []
        return list(self.machine.ParseText(_text(b"\n".join(batch))))

    def _lines(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """Yield offset and bytes of the lines let through, without line feeds."""
        engine = self._engine = self._engine or self._built(data[:SAMPLE])
        for start, end in _stretches(data):
            part = data[start:end]
            stop = -1
            for place in sorted({place for place, _ in engine.propose(part, len(part))}):
                if place <= stop:
                    continue
                begin = part.rfind(b"\n", 0, place) + 1
                stop = part.find(b"\n", place)
                stop = len(part) if stop < 0 else stop
                yield start + begin, part[begin:stop]

    def _built(self, sample: bytes) -> Engine:
        """Return an engine for the literals that are rarest in a sample of the text."""
        needles = {number: needle.by_literals(sample) for number, needle in enumerate(self._needles)}
        literals = {text for needle in needles.values() for choice in needle.choices for text in choice.texts}
        return build("pure" if len(literals) <= _FEW else self._name, needles)


def gate_template(template_text: str, engine: str = "auto") -> TemplateGate | None:
    """Return the gate of a TextFSM template, or None when it has a rule that needs no literal.

    Raises textfsm.TextFSMTemplateError when the template is none.
    """
    machine = _machine(template_text)
    return None if _fault(machine) else TemplateGate(machine, engine)


def gate_fault(template_text: str) -> str:
    """Return why a template cannot be gated (its rule and line), or ""."""
    return _fault(_machine(template_text))


def _machine(template_text: str) -> Any:
    import textfsm  # noqa: PLC0415 - a heavy import that `--help` must not pay for

    return textfsm.TextFSM(StringIO(template_text))


def _fault(machine: Any) -> str:
    for state, rules in machine.states.items():
        for rule in rules:
            if required_literals(rule.regex) is None:
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

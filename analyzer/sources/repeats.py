"""Dumps that a session prints again and again: the same command and the same lines with other numbers.

Thousands of ports give thousands of dumps of vsish. The first of a form is told apart from what stands around it line
by line; of the next ones one regex says that they are the same, and the pieces are made as those of the first were.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from analyzer.lazy_dataclass import dataclass
from analyzer.sources.shapes import Recogniser

MOST_LAYOUTS = 32
MOST_LINES = 400
_COUNTER = re.compile(r"(\s*[^:{}\[\]]+:)([0-9]{1,18})$")
_NUMBER = re.compile(r"[0-9]{1,18}$")
_DIGITS = "[0-9]{1,18}"
_OTHERS = ("7", "9" * 18)  # numbers by which a line is tried before it is trusted


@dataclass(frozen=True, slots=True)
class Repeat:
    """A prompt with its command and the whole dump below it.

    before   the line of the prompt up to the command
    params   parameters of the command that are the same in all
    numbers  parameters that are numbers, in the order of the pattern's groups
    """

    prompt: re.Pattern[str]
    pattern: re.Pattern[str]
    size: int
    recogniser: Recogniser
    before: int
    host: str
    node: str
    kind: str
    params: dict[str, str]
    numbers: tuple[str, ...]


class Repeats:
    """The dumps of a text that were seen, by the line below their prompt.

    same    tells whether a line means the same with other numbers: no prompt, no start of an output, no brace
    prompt  tells whether a line is a prompt
    """

    def __init__(self, same: Callable[[str], bool], prompt: Callable[[str], bool]) -> None:
        self._same, self._prompt = same, prompt
        self._by_title: dict[str, list[Repeat]] = {}
        self._count = 0

    def find(self, lines: Sequence[str], at: int) -> tuple[Repeat, dict[str, str]] | None:
        """Return the dump that begins with the prompt on a line, and the parameters of its command."""
        if not self._by_title or at + 1 >= len(lines):
            return None
        for repeat in self._by_title.get(lines[at + 1], ()):
            end = at + repeat.size
            found = repeat.pattern.fullmatch("\n".join(lines[at:end]))
            if found and (end >= len(lines) or self._begins(lines, end)):
                return repeat, repeat.params | dict(zip(repeat.numbers, found.groups(), strict=True))
        return None

    def _begins(self, lines: Sequence[str], at: int) -> bool:
        """Tell whether a line is a prompt; those of dumps that were seen are known by one regex."""
        below = self._by_title.get(lines[at + 1], ()) if at + 1 < len(lines) else ()
        return any(repeat.prompt.fullmatch(lines[at]) for repeat in below) or self._prompt(lines[at])

    def learn(
        self,
        lines: Sequence[str],
        recogniser: Recogniser,
        command: str,
        told: Mapping[str, str],
        hosts: tuple[str, str, str],
    ) -> None:
        """Take note of a dump that was told apart: its prompt, its title, its keys and its last brace.

        told   parameters that the command gave; hosts: name of the host, kinds of node of the prompt and of the dump
        """
        match = recogniser.match_command(command)
        plain = self._count < MOST_LAYOUTS and 3 <= len(lines) <= MOST_LINES and lines[0].endswith(command)
        if not (plain and match and lines[1].endswith(" {") and lines[-1] == "}"):
            return
        if {name: text for name, text in match.groupdict().items() if text is not None} != told:
            return
        parts = []
        for line in lines[2:-1]:
            counter = _COUNTER.match(line)
            if counter is None:
                return
            others = [counter[1] + digits for digits in _OTHERS]
            if not all(self._same(other) and recogniser.goes_on(other) for other in others):
                return
            parts.append(re.escape(counter[1]) + _DIGITS)
        before = len(lines[0]) - len(command)
        typed, params, numbers = self._command(command, match)
        first = re.escape(lines[0][:before]) + typed
        whole = "\n".join([first, re.escape(lines[1]), *parts, "}"])
        repeat = Repeat(re.compile(first), re.compile(whole), len(lines), recogniser, before, *hosts, params, numbers)
        self._by_title.setdefault(lines[1], []).append(repeat)
        self._count += 1

    def _command(self, command: str, match: re.Match[str]) -> tuple[str, dict[str, str], tuple[str, ...]]:
        """Return the regex of a command, its parameters that stay, and the names of those that are numbers."""
        typed, at, params = "", 0, {}
        numbers: list[str] = []
        named = [(match.span(name), name) for name, text in match.groupdict().items() if text is not None]
        for (start, end), name in sorted(named):
            text = command[start:end]
            if start >= at and _NUMBER.match(text):
                typed += re.escape(command[at:start]) + f"({_DIGITS})"
                numbers.append(name)
                at = end
            else:
                params[name] = text
        return typed + re.escape(command[at:]), params, tuple(numbers)

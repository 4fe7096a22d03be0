"""Dumps that a session prints again and again: the same command and the same lines with other numbers.

Thousands of ports give thousands of dumps of vsish. The first of a form is separated from the text around it line by
line; for the next ones one regex says that they are the same, and their pieces are made as those of the first were.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

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

    is_plain   says whether a line means the same with other numbers: no prompt, no start of an output, no brace
    is_prompt  says whether a line is a prompt
    """

    def __init__(self, is_plain: Callable[[str], bool], is_prompt: Callable[[str], bool]) -> None:
        self._is_plain, self._is_prompt = is_plain, is_prompt
        self._by_title: dict[str, list[Repeat]] = {}
        self._count = 0

    def find_repeat(self, lines: Sequence[str], at: int) -> tuple[Repeat, dict[str, str]] | None:
        """Return the dump that begins with the prompt on a line, and the parameters of its command."""
        if not self._by_title or at + 1 >= len(lines):
            return None
        for repeat in self._by_title.get(lines[at + 1], ()):
            end = at + repeat.size
            found = repeat.pattern.fullmatch("\n".join(lines[at:end]))
            if found is None:
                continue
            if end < len(
                lines
            ):  # a prompt must come below; those seen before are known by one regex
                others = self._by_title.get(lines[end + 1], ()) if end + 1 < len(lines) else ()
                is_known = any(one.prompt.fullmatch(lines[end]) for one in others)
                if not is_known and not self._is_prompt(lines[end]):
                    continue
            numbers = dict(zip(repeat.numbers, found.groups(), strict=True))
            return repeat, repeat.params | numbers
        return None

    def learn_dump(
        self,
        lines: Sequence[str],
        recogniser: Recogniser,
        command: str,
        params: Mapping[str, str],
        hosts: tuple[str, str, str],
    ) -> None:
        """Take note of a dump that was read: its prompt, its title, its keys and its last brace.

        params  parameters that the command gave
        hosts   name of the host, kinds of node of the prompt and of the dump
        """
        if (
            self._count >= MOST_LAYOUTS
            or not 3 <= len(lines) <= MOST_LINES
            or not lines[0].endswith(command)
        ):
            return
        match = recogniser.match_command(command)
        if match is None or not lines[1].endswith(" {") or lines[-1] != "}":
            return
        named = {name: text for name, text in match.groupdict().items() if text is not None}
        if named != params:
            return
        counters = self._make_counter_patterns(lines[2:-1], recogniser)
        if counters is None:
            return
        before = len(lines[0]) - len(command)
        typed, fixed, numbers = _make_command_pattern(command, match)
        first = re.escape(lines[0][:before]) + typed
        whole = "\n".join([first, re.escape(lines[1]), *counters, "}"])
        repeat = Repeat(
            re.compile(first),
            re.compile(whole),
            len(lines),
            recogniser,
            before,
            *hosts,
            fixed,
            numbers,
        )
        self._by_title.setdefault(lines[1], []).append(repeat)
        self._count += 1

    def _make_counter_patterns(
        self, lines: Sequence[str], recogniser: Recogniser
    ) -> list[str] | None:
        """Return the regex of each line, None when a line is no counter or means more with another number."""
        patterns = []
        for line in lines:
            counter = _COUNTER.match(line)
            if counter is None:
                return None
            for digits in _OTHERS:
                other = counter[1] + digits
                if not self._is_plain(other) or not recogniser.goes_on(other):
                    return None
            patterns.append(re.escape(counter[1]) + _DIGITS)
        return patterns


def _make_command_pattern(
    command: str, match: re.Match[str]
) -> tuple[str, dict[str, str], tuple[str, ...]]:
    """Return the regex of a command, its parameters that stay, and the names of those that are numbers."""
    named = [name for name, text in match.groupdict().items() if text is not None]
    pattern, at = "", 0
    fixed: dict[str, str] = {}
    numbers: list[str] = []
    for name in sorted(named, key=lambda name: (match.span(name), name)):
        start, end = match.span(name)
        if start >= at and _NUMBER.match(match[name]):
            pattern += re.escape(command[at:start]) + f"({_DIGITS})"
            numbers.append(name)
            at = end
        else:
            fixed[name] = match[name]
    return pattern + re.escape(command[at:]), fixed, tuple(numbers)

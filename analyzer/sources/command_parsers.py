"""Which parsers read what a typed command printed, and with which parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from analyzer.sources import prompts
from analyzer.sources.output_extent import Text
from analyzer.sources.prompts import Command, Prompt
from analyzer.sources.shapes import Recogniser


class KnownCommand(NamedTuple):
    """A parser that knows a command, the parameters it reads from it, and whether the output is filtered."""

    recogniser: Recogniser
    params: dict[str, str]
    filtered: bool


@dataclass(slots=True)
class TypedCommand:
    """One command of a command line and the parsers that know it, best first."""

    command: Command
    known: list[KnownCommand]


class CommandParsers:
    """The parsers of the commands of one text; what was found for a command is kept."""

    def __init__(self, text: Text) -> None:
        self.commands = text.commands
        self._known: dict[Command, list[KnownCommand]] = {}

    def read_line(self, typed: str, prompt: Prompt) -> list[TypedCommand]:
        """Return the commands of a command line, each with the parsers that may read its output at such a prompt."""
        commands = []
        for command in prompts.split_commands(typed):
            known = [
                one for one in self.find_known(command) if _fits_prompt(one.recogniser, prompt)
            ]
            commands.append(TypedCommand(command, known))
        return commands

    def measure_known(self, command: str) -> int:
        """Return how many characters of a command a parser knows at most."""
        longest = 0
        for recogniser in self.commands.find_candidates(command):
            found = recogniser.match_command(command)
            if found:
                longest = max(longest, found.end() - found.start())
        return longest

    def find_known(self, command: Command) -> list[KnownCommand]:
        """Return the parsers that know a command, the longest match first, then those for the rest."""
        if command not in self._known:
            ranked = []
            for recogniser in self.commands.find_candidates(f"{command.bare}\n{command.text}"):
                bare = recogniser.match_command(command.bare)
                whole = recogniser.match_command(command.text) if command.filtered else None
                found = whole if bare is None else bare
                if found is None:
                    continue
                # a pattern that reaches over the pipe knows its filter
                filtered = command.filtered and bare is not None
                params = {
                    name: value
                    for name, value in found.groupdict().items()
                    if (value is not None and not any(sign in value for sign in "$`{}*<>"))
                }
                order = (
                    recogniser.rest,
                    found.start() - found.end(),
                    -len(found.re.pattern),
                    recogniser.name,
                )
                ranked.append((order, KnownCommand(recogniser, params, filtered)))
            ranked.sort(key=lambda entry: entry[0])
            self._known[command] = [known for _, known in ranked]
        return self._known[command]


def _fits_prompt(recogniser: Recogniser, prompt: Prompt) -> bool:
    """Say whether a command may be this recogniser's: one that others have too takes a sure prompt."""
    if not recogniser.common:
        return True
    kinds = (
        (prompts.NSXT_MANAGER, prompts.NSXT_EDGE)
        if recogniser.node == prompts.NSXT
        else (recogniser.node,)
    )
    return prompt.sure and prompt.node in kinds

"""Which parsers read what a typed command printed, and with which parameters."""

from __future__ import annotations

from analyzer.lazy_dataclass import dataclass
from analyzer.sources import prompts
from analyzer.sources.output_extent import Text
from analyzer.sources.prompts import Command, Prompt
from analyzer.sources.shapes import Recogniser

Known = list[tuple[Recogniser, dict[str, str], bool]]  # parser, parameters, whether the output is filtered


@dataclass(slots=True)
class TypedCommand:
    """One command of a command line and the parsers that know it, best first."""

    command: Command
    known: Known


class CommandParsers:
    """The parsers of the commands of one text; what was found for a command is kept."""

    def __init__(self, text: Text) -> None:
        self.commands = text.commands
        self._known: dict[Command, Known] = {}

    def of_line(self, typed: str, prompt: Prompt) -> list[TypedCommand]:
        """Return the commands of a command line, each with the parsers that may read its output at such a prompt."""
        return [
            TypedCommand(one, [entry for entry in self.known(one) if _is_of(entry[0], prompt)])
            for one in prompts.commands_of(typed)
        ]

    def reach(self, command: str) -> int:
        """Return how many characters of a command a parser knows at most."""
        known = self.commands.candidates(command)
        matches = (recogniser.match_command(command) for recogniser in known)
        return max((found.end() - found.start() for found in matches if found), default=0)

    def known(self, command: Command) -> Known:
        """Return (recogniser, parameters, filtered) for a command, the longest match first, then those for the rest."""
        if command not in self._known:
            ranked = []
            for recogniser in self.commands.candidates(f"{command.bare}\n{command.text}"):
                bare = recogniser.match_command(command.bare)
                whole = recogniser.match_command(command.text) if command.filtered else None
                found = whole if bare is None else bare
                if found is None:
                    continue
                # a pattern that reaches over the pipe knows its filter
                filtered = command.filtered and bare is not None
                params = {name: value for name, value in found.groupdict().items() if _literal(value)}
                order = (recogniser.rest, found.start() - found.end(), -len(found.re.pattern), recogniser.name)
                ranked.append((order, (recogniser, params, filtered)))
            ranked.sort(key=lambda entry: entry[0])
            self._known[command] = [entry[1] for entry in ranked]
        return self._known[command]


def _literal(value: str | None) -> bool:
    return value is not None and not any(sign in value for sign in "$`{}*<>")


def _is_of(recogniser: Recogniser, prompt: Prompt) -> bool:
    """Tell whether a command may be this recogniser's: one that others have too takes a sure prompt."""
    kinds = (prompts.NSXT_MANAGER, prompts.NSXT_EDGE) if recogniser.node == prompts.NSXT else (recogniser.node,)
    return not recogniser.common or (prompt.sure and prompt.node in kinds)

"""A command group that imports its modules on demand, so that `--help` and completion start at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

STRICT_WORD = "--redact=strict"
STRICT_OPTION = (
    "--redact-strict"  # the same for click: an option whose value may lack takes the path behind it
)


def split_strict(words: Sequence[str]) -> list[str]:
    """Return the words of a command line with STRICT_OPTION for STRICT_WORD."""
    end = words.index("--") if "--" in words else len(words)
    before = [STRICT_OPTION if word == STRICT_WORD else word for word in words[:end]]
    return [*before, *words[end:]]


class LateGroup(click.Group):
    """A group whose command `x` is the `command` of the module `analyzer.commands.<prefix>x`.

    commands_help  the line of the help for each command, in the order of the help
    """

    def __init__(
        self, *args: Any, prefix: str, commands_help: Mapping[str, str], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self._prefix, self._help_lines = prefix, commands_help

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names of the commands."""
        return list(self._help_lines)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - the same
        """Return one command, or None when there is none of this name."""
        if cmd_name not in self._help_lines:
            return None
        module = import_module(f"analyzer.commands.{self._prefix}{cmd_name}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - the same
        """Write the commands into the help without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self._help_lines.items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands that begin with `incomplete` without importing them, then the options."""
        commands = [
            CompletionItem(name, help=line)
            for name, line in self._help_lines.items()
            if name.startswith(incomplete)
        ]
        return [*commands, *click.Command.shell_complete(self, ctx, incomplete)]

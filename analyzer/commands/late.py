"""A command group that imports its modules on demand, so that `--help` starts at once."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click


class LateGroup(click.Group):
    """A group whose command `x` is the `command` of the module `analyzer.commands.<prefix>x`.

    names  of these commands; without other commands in the order of the help
    """

    def __init__(self, *args: Any, prefix: str, names: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._prefix, self._names = prefix, tuple(names)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names of the commands."""
        return sorted({*self.commands, *self._names}) if self.commands else list(self._names)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return one command, or None when there is none of this name."""
        if cmd_name not in self._names:
            return super().get_command(ctx, cmd_name)
        command: click.Command = import_module(
            f"analyzer.commands.{self._prefix}{cmd_name}"
        ).command
        return command

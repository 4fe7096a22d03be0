"""`backline rules …`: the tools around a rule; each command is a module `rules_<name>` with its `command`."""

from __future__ import annotations

from importlib import import_module

import click

# In the order of an author's work, which is the order of the help.
COMMANDS = ("new", "list", "show", "lint", "fmt", "test", "explain", "watch", "profile", "schema", "doc")


class LateCommands(click.Group):
    """A group whose commands are imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return [name for name in COMMANDS if self.get_command(ctx, name)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """Return one command, or None when there is none of this name."""
        if cmd_name not in COMMANDS:
            return None
        try:
            module = import_module(f"analyzer.commands.rules_{cmd_name}")
        except ModuleNotFoundError:
            return None
        command: click.Command = module.command
        return command


@click.group(cls=LateCommands)
def rules() -> None:
    """Write, prove and ship rules: one KB rule is one YAML file.

    \b
    Example:
      backline rules new kb-2039495 --kb my-rules
      backline rules test my-rules/kb-2039495.yaml
    """

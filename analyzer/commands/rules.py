"""`backline rules …`: the tools around a rule; each command is a module `rules_<name>` with its `command`."""

from __future__ import annotations

import click

from analyzer.commands.late import LateGroup

# In the order of an author's work, which is the order of the help.
COMMANDS = (
    *(
        "new",
        "list",
        "show",
        "lint",
        "fmt",
        "test",
        "explain",
        "watch",
        "profile",
        "backtest",
        "diff",
    ),
    *("schema", "doc"),
)


@click.group("rules", cls=LateGroup, prefix="rules_", names=COMMANDS)
def command() -> None:
    """Write, prove and ship rules: one KB rule is one YAML file.

    \b
    Example:
      backline rules new kb-2039495 --kb my-rules
      backline rules test my-rules/kb-2039495.yaml
    """

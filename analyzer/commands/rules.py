"""`backline rules …`: the tools around a rule; each command is a module `rules_<name>` with its `command`."""

from __future__ import annotations

import click

from analyzer.commands.late import LateGroup

# In the order of an author's work, which is the order of the help.
COMMANDS = {
    "new": "Write ID.yaml, a rule to start from.",
    "list": "List the rules.",
    "show": "Show a rule in plain words.",
    "lint": "Check rules as a careful reviewer would.",
    "fmt": "Format rules: order of keys, blank lines, indent, width.",
    "test": "Run the examples of rules.",
    "explain": "Explain why a rule matches a case, or why not.",
    "watch": "Judge a rule over a case again after every save.",
    "profile": "Time every rule on a case, slowest first.",
    "backtest": "Judge rules over all stored cases.",
    "diff": "Compare what two versions of a catalog find.",
    "catalog": "Show what each table of facts knows, and its date.",
    "schema": "Print the JSON Schema of rule files.",
    "doc": "Describe rules in Markdown.",
    "update": "Take a catalog from a signed FILE; nothing is fetched.",
}


@click.group("rules", cls=LateGroup, prefix="rules_", commands_help=COMMANDS)
def command() -> None:
    """Write, prove and ship rules: one KB rule is one YAML file.

    \b
    Example:
      backline rules new kb-2039495 --kb my-rules
      backline rules test my-rules/kb-2039495.yaml
    """

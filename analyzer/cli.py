"""The `backline` command: results on stdout, progress and warnings on stderr.

Each command is a module of `analyzer.commands` that is imported when the command is called; its line of the help
stands here, so that `--help` and the completion of a shell start at once.
"""

from __future__ import annotations

import os
import re
import sys
from io import TextIOWrapper
from typing import Any

import click

from analyzer import __version__
from analyzer.commands.late import LateGroup, split_strict
from analyzer.commands.plain import explain_unprinted, report_interrupt

COMMANDS = {
    "archive": "Search and manage stored cases.",
    "batch": "Triage every case below PATHS and keep it in an archive.",
    "browse": "Look through a saved case in the terminal: findings left, detail and log right.",
    "compare": "Show what changed between cases, or differs between hosts.",
    "completion": "Print the script that completes commands in your shell.",
    "doctor": "Show what Backline runs on, for a bug report.",
    "esxtop": "Show the worst value of each esxtop metric, and when it was.",
    "launcher": "Write an icon to drop bundles on.",
    "log": "Print the lines of all logs of all hosts, merged by time.",
    "mcp": "Answer questions of an MCP client about cases, on standard input and output.",
    "redact": "Put the real names back into a redacted text.",
    "rules": "Write, prove and ship rules: one KB rule is one YAML file.",
    "serve": "Open a page on this machine to drop files on.",
    "show": "Print a saved case again, in any form; no bundle is needed.",
    "tables": "List the tables that were read, or print one.",
    "triage": "Triage PATHS as one case and write its report.",
    "watch": "Triage whatever arrives in a folder.",
}


class DefaultToTriage(LateGroup):
    """A group whose first word may be a path: `backline PATH...` is `backline triage PATH...`."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Put `triage` in front when the first word is a path, not a command."""
        if args and args[0] not in self.list_commands(ctx):
            word = args[0]
            if word == "-" or os.path.lexists(word) or re.search(r"[./]", word):
                args = ["triage", *args]
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options; one of `triage` may come before the path: `backline --node esx01 PATH`."""
        args = split_strict(args)
        own = {name for option in self.get_params(ctx) for name in option.opts}
        for place, word in enumerate(args):
            if word in own:
                continue
            if word.startswith("-") and self._has_triage_option(ctx, word.partition("=")[0]):
                args = [*args[:place], "triage", *args[place:]]
            break
        return super().parse_args(ctx, args)

    def _has_triage_option(self, ctx: click.Context, word: str) -> bool:
        triage = self.get_command(ctx, "triage")
        return any(word in (*o.opts, *o.secondary_opts) for o in triage.params) if triage else False

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Read the options; Ctrl-C meanwhile is an interrupt too (click would say "Aborted!" and exit with 1)."""
        _escape_unencodable()
        try:
            return super().make_context(*args, **kwargs)
        except KeyboardInterrupt:
            raise SystemExit(report_interrupt()) from None
        except OSError as error:  # of --version
            raise SystemExit(explain_unprinted(error)) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; the same while it is being found and imported."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise SystemExit(report_interrupt()) from None
        except OSError as error:  # of the help of a command
            raise SystemExit(explain_unprinted(error)) from None


def _escape_unencodable() -> None:
    """Write signs that the encoding of the output lacks as `\\u2192`: a pipe of Windows takes code page 1252 alone."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")


@click.group(
    cls=DefaultToTriage,
    prefix="",
    commands_help=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="backline")
@click.option("--debug", is_flag=True, help="Show a traceback when something fails.")
def main(debug: bool) -> None:
    """Analyze VMware support material offline: drop a case in, get the case report.

    \b
    Example:
      backline esx-host-2017-10-14--16.53-71234.tgz vsish.txt esxtop.csv
    """

"""What commands that query an archive share: the archive, a time range, and how rows are printed."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from functools import partial, wraps
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from analyzer.commands.places import RuleName
from analyzer.commands.plain import DONE, INTERRUPTED, PARTIAL, USAGE
from analyzer.runtime.text import for_terminal

if TYPE_CHECKING:
    from analyzer.archive.store import Archive

    _Type = click.ParamType[Any]
else:
    _Type = click.ParamType

Command = TypeVar("Command", bound=Callable[..., Any])
_OPENED = "analyzer.archives"  # in the context of click
_TEXTS = frozenset({"name", "text", "same", "subject", "node", "note", "by", "term"})
_BYTES = re.compile("[\ud800-\udfff]")
SEVERITIES = ("critical", "major", "warning", "info")
STATES = ("ok", "partial", "refused", "failed")
MOST = 1000  # rows that a terminal gets unless it asks for more


class _Place(_Type):
    name = "text"

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None = None) -> str:  # noqa: ARG002
        """Say what belongs there: a folder after the command is no archive yet."""
        return "Name the archive that `backline batch` filled: --archive DIR."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ARG002
        """Return the word as it is."""
        return value

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> Any:
        """Complete folders."""
        return click.Path(file_okay=False).shell_complete(ctx, param, incomplete)


def archive_option(command: Command) -> Command:
    """Add `--archive`, which must be given; see `archive_may`."""
    return _with_archive(command, required=True, words="The archive: a folder or a URL.")


def archive_may(words: str) -> Callable[[Command], Command]:
    """Add `--archive`; the command gets `archive_url`. Objects found damaged are told at its end, with exit code 5."""
    return partial(_with_archive, required=False, words=words)


def _with_archive(command: Command, *, required: bool, words: str) -> Command:

    @wraps(command)
    def told(*args: Any, **kwargs: Any) -> None:
        ctx = click.get_current_context()
        status = DONE
        if (option := _no_text(kwargs)) is not None:
            click.echo(
                f"backline: {option} contains a byte that is not text. Type it in by hand.",
                err=True,
            )
            ctx.exit(USAGE)
        try:
            command(*args, **kwargs)
        except click.exceptions.Exit as ended:
            status = ended.exit_code
        damaged = {
            name: why for one in ctx.meta.get(_OPENED, ()) for name, why in one.damaged.items()
        }
        for name, why in sorted(damaged.items()):
            click.echo(
                f"backline: not complete: {for_terminal(name)} cannot be read: {for_terminal(why)}",
                err=True,
            )
        if damaged:
            click.echo("backline: `backline archive verify` says what to do", err=True)
        ctx.exit(PARTIAL if damaged and status != INTERRUPTED else status)

    option = click.option(
        "--archive", "archive_url", type=_Place(), required=required, metavar="DIR", help=words
    )
    return cast("Command", option(told))


def _no_text(given: Mapping[str, Any]) -> str | None:
    """Return the option whose text holds an undecodable byte; paths and names of cases may."""
    for name in sorted(_TEXTS & given.keys()):
        some = given[name] if isinstance(given[name], tuple) else (given[name],)
        if any(isinstance(text, str) and _BYTES.search(text) for text in some):
            return "a term" if name == "term" else f"--{name}"
    return None


def case_filters(only: str = "Only") -> Callable[[Command], Command]:
    """Return what adds the filters of cases: `--rule`, `--severity`, `--state` and `--name`, "" where not given.

    only  how their help begins
    """

    def among(name: str, choices: Sequence[str], help_text: str) -> Callable[[Command], Command]:
        kind, shown = click.Choice(["", *choices]), f"[{'|'.join(choices)}]"
        return click.option(name, default="", type=kind, metavar=shown, help=f"{only} {help_text}")

    def added(command: Command) -> Command:
        command = click.option(
            "--name", default="", metavar="GLOB", help=f"{only} names like acme-*."
        )(command)
        command = among("--state", STATES, "cases in this state.")(command)
        command = among("--severity", SEVERITIES, "cases with a finding this severe or worse.")(
            command
        )
        rule = f"{only} cases with a finding of this rule."
        return click.option("--rule", default="", type=RuleName(), metavar="ID", help=rule)(command)

    return added


def time_options(command: Command) -> Command:
    """Add `--since` and `--until`; the command gets their texts, "" where not given."""
    until = click.option(
        "--until", default="", metavar="TIME", help="Up to the end of this day, month or year."
    )
    since = click.option(
        "--since",
        default="",
        metavar="TIME",
        help="Starting at 2026, 2026-03, 2026-03-01 or a moment (UTC).",
    )
    return since(until(command))


def form_options(command: Command) -> Command:
    """Add `--json` and `--csv`; the command gets `form`."""
    table = click.option("--csv", "form", flag_value="csv", help="CSV, safe for a spreadsheet.")
    return click.option("--json", "form", flag_value="json", help="One JSON object per line.")(
        table(command)
    )


def limit_option(command: Command) -> Command:
    """Add `--limit`; the command gets `limit`, None when not given."""
    most = f"Show at most N rows; 0 for all. Default: {MOST} on the terminal, all as CSV or JSON."
    return click.option("--limit", type=click.IntRange(0), metavar="N", help=most)(command)


def seconds_option(command: Command) -> Command:
    """Add `--seconds`."""
    kind = click.FloatRange(0.1, 86_400)
    return click.option(
        "--seconds", type=kind, default=60.0, show_default=True, help="Stop the query after this."
    )(command)


def opened(url: str) -> Archive:
    """Return the archive of a folder or URL."""
    from analyzer.archive.store import Archive

    archive = Archive.open(url)
    click.get_current_context().meta.setdefault(_OPENED, []).append(archive)
    return archive


def print_rows(
    head: Sequence[str],
    rows: Iterable[Sequence[Any]],
    form: str | None,
    limit: int | None,
    words: str = "rows",
    shown: tuple[Sequence[str], Callable[[Any], Sequence[Any]]] | None = None,
) -> int:
    """Print rows and tell on stderr when some were left out; return how many were printed.

    shown  heading and form of a row for the terminal, where it is another than that of CSV and JSON
    """
    from analyzer.archive.query.rows import write

    most = limit if limit is not None else 0 if form else MOST
    coming = iter(rows)
    some: Iterable[Sequence[Any]] = islice(coming, min(most, sys.maxsize)) if most else coming
    if form is None and shown is not None:
        head, some = shown[0], map(shown[1], some)
    try:
        count = write(sys.stdout, head, some, form)
        if most and count == most and next(coming, None) is not None:
            say_more_rows(count, words)
    finally:
        ended(coming)
    return count


def say_more_rows(count: int, words: str = "") -> None:
    """Tell that more than `count` rows were there."""
    sys.stdout.flush()
    click.echo(
        f"only the first {f'{count:,} {words}'.strip()} are shown; --limit 0 shows all", err=True
    )


def ended(rows: Iterable[Any]) -> None:
    """End rows that nobody takes any more: the database behind them is closed now, not when Python ends."""
    if isinstance(rows, Generator):
        rows.close()


def replaced(rule: str) -> tuple[str, ...]:
    """Return the ids that a rule of the installed catalog, or of this folder's settings, says it replaces."""
    if not rule:
        return ()
    from analyzer.rules import run_catalog

    catalog = run_catalog.load_run_catalog(run_catalog.read_local()[0], drafts=True, retired=True)
    return tuple(next((one.replaces for one in catalog.rules if one.id == rule), ()))

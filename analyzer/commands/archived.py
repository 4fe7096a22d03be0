"""What commands that query an archive share: the archive, a time range, and how rows are printed."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from functools import partial, wraps
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from analyzer.archive.query.rows import write_rows
from analyzer.archive.store import Archive
from analyzer.commands.places import RuleName
from analyzer.commands.plain import DONE, INTERRUPTED, PARTIAL, USAGE
from analyzer.rules import run_catalog
from analyzer.runtime.text import for_terminal

if TYPE_CHECKING:
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


class ArchivePlace(_Type):
    """The folder or URL of an archive."""

    name = "text"

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None = None) -> str:  # noqa: ARG002
        """Return what belongs there: a folder after the command is no archive yet."""
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


def optional_archive_option(words: str) -> Callable[[Command], Command]:
    """Add `--archive`; the command gets `archive_url`. Damaged objects are listed at its end, with exit code 5."""
    return partial(_with_archive, required=False, words=words)


def _with_archive(command: Command, *, required: bool, words: str) -> Command:
    @wraps(command)
    def run_with_archive(*args: Any, **kwargs: Any) -> None:
        ctx = click.get_current_context()
        status = DONE
        option = _find_undecodable(kwargs)
        if option is not None:
            click.echo(
                f"backline: {option} contains a byte that is not text. Type it in by hand.",
                err=True,
            )
            ctx.exit(USAGE)
        try:
            command(*args, **kwargs)
        except click.exceptions.Exit as end:
            status = end.exit_code
        damaged: dict[str, str] = {}
        for archive in ctx.meta.get(_OPENED, ()):
            damaged |= archive.damaged
        for name, why in sorted(damaged.items()):
            click.echo(
                f"backline: not complete: {for_terminal(name)} cannot be read: {for_terminal(why)}",
                err=True,
            )
        if damaged:
            click.echo("backline: `backline archive verify` says what to do", err=True)
        ctx.exit(PARTIAL if damaged and status != INTERRUPTED else status)

    option = click.option(
        "--archive",
        "archive_url",
        type=ArchivePlace(),
        required=required,
        metavar="DIR",
        help=words,
    )
    return cast("Command", option(run_with_archive))


def _find_undecodable(given: Mapping[str, Any]) -> str | None:
    """Return the option whose text holds an undecodable byte; paths and names of cases may."""
    for name in sorted(_TEXTS & given.keys()):
        value = given[name]
        for text in value if isinstance(value, tuple) else (value,):
            if isinstance(text, str) and _BYTES.search(text):
                return "a term" if name == "term" else f"--{name}"
    return None


def case_filters(only: str = "Only") -> Callable[[Command], Command]:
    """Return what adds the filters of cases: `--rule`, `--severity`, `--state` and `--name`, "" where not given.

    only  how their help begins
    """

    def choose_from(name: str, choices: Sequence[str], words: str) -> Callable[[Command], Command]:
        kind = click.Choice(["", *choices])
        metavar = f"[{'|'.join(choices)}]"
        return click.option(name, default="", type=kind, metavar=metavar, help=f"{only} {words}")

    names = click.option("--name", default="", metavar="GLOB", help=f"{only} names like acme-*.")
    states = choose_from("--state", STATES, "cases in this state.")
    least = choose_from("--severity", SEVERITIES, "cases with a finding this severe or worse.")
    words = f"{only} cases with a finding of this rule."
    rules = click.option("--rule", default="", type=RuleName(), metavar="ID", help=words)

    def add_filters(command: Command) -> Command:
        return rules(least(states(names(command))))

    return add_filters


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


def open_archive(url: str) -> Archive:
    """Return the archive of a folder or URL."""

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
    """Print rows, and on stderr that some were left out; return how many were printed.

    shown  heading and form of a row for the terminal, where it is another than that of CSV and JSON
    """

    most = limit
    if most is None:
        most = 0 if form else MOST
    source = iter(rows)
    printed: Iterable[Sequence[Any]] = islice(source, min(most, sys.maxsize)) if most else source
    if form is None and shown is not None:
        head, printed = shown[0], map(shown[1], printed)
    try:
        count = write_rows(sys.stdout, head, printed, form)
        if most and count == most and next(source, None) is not None:
            say_more_rows(count, words)
    finally:
        close_rows(source)
    return count


def say_more_rows(count: int, words: str = "") -> None:
    """Print that there were more than `count` rows."""
    sys.stdout.flush()
    click.echo(
        f"only the first {f'{count:,} {words}'.strip()} are shown; --limit 0 shows all", err=True
    )


def close_rows(rows: Iterable[Any]) -> None:
    """End rows that no one takes any more: the database behind them is closed now, not when Python ends."""
    if isinstance(rows, Generator):
        rows.close()


def list_replaced(rule: str) -> tuple[str, ...]:
    """Return the ids that a rule of the installed catalog, or of this folder's settings, says it replaces."""
    if not rule:
        return ()

    catalog = run_catalog.load_run_catalog(run_catalog.read_local()[0], drafts=True, retired=True)
    return tuple(next((one.replaces for one in catalog.rules if one.id == rule), ()))

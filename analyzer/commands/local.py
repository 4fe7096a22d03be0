"""Options for how cases are read and judged: rules, settings, packs, limits, processes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from analyzer.commands.plain import check_paths
from analyzer.rules.run_catalog import read_local
from analyzer.runtime.errors import UsageError
from analyzer.runtime.limits import Limits
from analyzer.runtime.text import for_terminal

if TYPE_CHECKING:
    from analyzer.case.document import CaseDocument
    from analyzer.rules.run_catalog import Local
    from analyzer.sources.remote import Place

Command = TypeVar("Command", bound=Callable[..., Any])


def local_options(command: Command) -> Command:
    """Add the options of settings and packs; the command gets `choice`, which holds those of rules and limits too."""

    @wraps(command)
    def run_with_choice(*args: Any, **words: Any) -> Any:
        return command(*args, choice=RuleChoice(words), **words)

    file = click.Path(path_type=Path, readable=False)
    packs = click.option("--no-packs", is_flag=True, help="Leave installed rule packs out.")
    unset = click.option("--no-settings", is_flag=True, help="Do not use a backline.toml.")
    settings = click.option(
        "--settings", "settings_file", type=file, help="Settings to use instead of ./backline.toml."
    )
    return cast("Command", settings(unset(packs(run_with_choice))))


def kb_option(command: Command) -> Command:
    """Add `--kb`."""
    folder = click.Path(path_type=Path, readable=False)
    return click.option(
        "--kb", multiple=True, type=folder, help="More rules (a folder and everything below it)."
    )(command)


def draft_option(command: Command) -> Command:
    """Add `--draft`."""
    return click.option("--draft", is_flag=True, help="Judge draft rules as well.")(command)


def limits_option(command: Command) -> Command:
    """Add `--limit`."""
    return click.option(
        "--limit", "limit_pairs", multiple=True, metavar="NAME=N", help="Change a limit."
    )(command)


def judging_options(command: Command) -> Command:
    """Add all of these: what a command takes that reads and judges many cases."""
    return kb_option(draft_option(local_options(limits_option(command))))


def jobs_option(command: Command) -> Command:
    """Add `--jobs`; the command gets None when it is not given."""
    many = "Cases to work on at once; one per processor by default."
    return click.option("--jobs", type=click.IntRange(1), metavar="N", help=many)(command)


class RuleChoice:
    """What the words of a command choose of rules, settings and limits; nothing is read before it is needed.

    kb        folders of further rules
    settings  path of the settings file, "" for none, None for a backline.toml of the current folder
    """

    def __init__(self, words: dict[str, Any]) -> None:
        self.kb: tuple[Path, ...] = words.pop("kb", ())
        self.draft: bool = words.pop("draft", False)
        self.packs = not words.pop("no_packs")
        self._file = words.pop("settings_file")
        self._none = words.pop("no_settings")
        self.settings: str | None = None
        if self._none:
            self.settings = ""
        elif self._file is not None:
            self.settings = str(self._file)
        self._limits = words.pop("limit_pairs", ())

    @property
    def limits(self) -> Limits:
        """The limits; UsageError for an unknown one."""

        return Limits().with_overrides(list(self._limits))

    def check_words(self) -> None:
        """Refuse an unknown limit, and a folder of rules that does not exist."""
        _ = self.limits
        check_paths(self.kb, UsageError)

    def load_local(self, material: Sequence[Place] = (), *, quiet: bool = True) -> Local:
        """Return the settings and packs; a file that is used, or left alone, is named on stderr."""

        check_paths(self.kb, UsageError)
        if self._file is not None and self._none:
            raise UsageError("--settings and --no-settings cannot be combined")
        on_disk = [path for path in material if isinstance(path, Path)]
        found, warning = read_local(
            self._file, settings=not self._none, packs=self.packs, material=on_disk
        )
        if warning:
            click.echo(f"backline: {for_terminal(warning)}", err=True)
        if found.settings.file and not quiet:
            click.echo(
                f"backline: using {for_terminal(found.settings.file)}: {found.settings.about()}",
                err=True,
            )
        return found


def list_overdue(document: CaseDocument) -> list[str]:
    """Return a reminder for each mute that holds for this case although its day has passed.

    A case is judged by its own date, so that it gives the same report next year; only this
    reminder on the terminal looks at the clock.
    """
    today = datetime.now(UTC).strftime("%Y-%m-%d")
    settings = document.settings
    lines = []
    for mute in settings.mutes:
        if mute.state != "ran out" and mute.until < today:
            why = "older" if mute.state == "holds" else "without a date"
            lines.append(
                f"{settings.file}: the mute of {mute.rule} expired on {mute.until}; it holds for this "
                f"case only because the case is {why}"
            )
    return lines

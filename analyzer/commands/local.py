"""Options for how cases are read and judged: rules, settings, packs, limits, processes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from analyzer.text import for_terminal

if TYPE_CHECKING:
    from analyzer.rules.run_catalog import Local
    from analyzer.sources.remote import Place

Command = TypeVar("Command", bound=Callable[..., Any])


def local_options(command: Command) -> Command:
    """Add the options; the command gets `settings_file`, `no_settings` and `no_packs`, for `local_of`."""
    file = click.Path(path_type=Path, readable=False)
    command = click.option("--no-packs", is_flag=True, help="Leave installed rule packs out.")(command)
    command = click.option("--no-settings", is_flag=True, help="Do not use a backline.toml.")(command)
    return click.option("--settings", "settings_file", type=file, help="Settings to use instead of ./backline.toml.")(
        command
    )


def kb_option(command: Command) -> Command:
    """Add `--kb`; the command gets `kb`, folders."""
    folder = click.Path(path_type=Path, readable=False)
    return click.option("--kb", multiple=True, type=folder, help="More rules (a folder and everything below it).")(
        command
    )


def draft_option(command: Command) -> Command:
    """Add `--draft`."""
    return click.option("--draft", is_flag=True, help="Judge draft rules as well.")(command)


def limits_option(command: Command) -> Command:
    """Add `--limit`; the command gets `limit_pairs`, for `Limits.with_overrides`."""
    return click.option("--limit", "limit_pairs", multiple=True, metavar="NAME=N", help="Change a limit.")(command)


def judging_options(command: Command) -> Command:
    """Add all of these: what a command takes that reads and judges many cases."""
    return kb_option(draft_option(local_options(limits_option(command))))


def jobs_option(command: Command) -> Command:
    """Add `--jobs`; the command gets None when it is not given."""
    many = "Cases to work on at once; one per processor by default."
    return click.option("--jobs", type=click.IntRange(1), metavar="N", help=many)(command)


def local_of(
    settings_file: Path | None, no_settings: bool, no_packs: bool, material: Sequence[Place] = (), *, quiet: bool = True
) -> Local:
    """Return the settings and packs that the options name; stderr tells of a file that is used, or left alone."""
    from analyzer.errors import UsageError
    from analyzer.rules.run_catalog import local

    if settings_file is not None and no_settings:
        raise UsageError("--settings and --no-settings cannot be combined")
    on_disk = [path for path in material if isinstance(path, Path)]
    found, warning = local(settings_file, settings=not no_settings, packs=not no_packs, material=on_disk)
    if warning:
        click.echo(f"backline: {for_terminal(warning)}", err=True)
    if found.settings.file and not quiet:
        click.echo(f"backline: using {for_terminal(found.settings.file)}: {found.settings.about()}", err=True)
    return found


def overdue(document: dict[str, Any]) -> list[str]:
    """Return a reminder for each mute that holds for this case although its day has passed.

    A case is judged by its own date, so that it gives the same report next year; only this
    reminder on the terminal looks at the clock.
    """
    today = datetime.now(UTC).strftime("%Y-%m-%d")
    return [
        f"{document['settings']['file']}: the mute of {mute['rule']} expired on {mute['until']}; it holds for this "
        f"case only because the case is {'older' if mute['state'] == 'holds' else 'without a date'}"
        for mute in document["settings"]["mutes"]
        if mute["state"] != "ran out" and mute["until"] < today
    ]

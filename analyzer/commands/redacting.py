"""`--redact`: the option that commands share, and what each calls with the text that it is about to write."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from analyzer.errors import UsageError
from analyzer.text import for_terminal

if TYPE_CHECKING:
    from analyzer.redact.redaction import Redaction

Command = TypeVar("Command", bound=Callable[..., Any])


def redact_options(command: Command) -> Command:
    """Add `--redact` and `--redact-map`; the command gets `redact`, which makes the redaction when it is asked for."""

    @wraps(command)
    def chosen(*args: Any, **words: Any) -> Any:
        return command(*args, redact=RedactChoice(words), **words)

    file = click.Path(path_type=Path, readable=False, dir_okay=False)
    kept = "Where the names and their pseudonyms are kept; give it again for the next case."
    with_map = click.option("--redact-map", metavar="FILE", type=file, help=kept)(chosen)
    return cast(
        "Command", click.option("--redact", is_flag=True, help="Put pseudonyms in the place of all names.")(with_map)
    )


class RedactChoice:
    """What the words of a command say of redaction; nothing is imported before it is asked for."""

    def __init__(self, words: dict[str, Any]) -> None:
        self.on: bool = words.pop("redact")
        self.path: Path | None = words.pop("redact_map")

    def begin(self, *, beside: str = "") -> Redaction | None:
        """Return the redaction, None when it was not asked for; the map lies in its file.

        beside  what the map may be named after when no file was given; without it that is refused
        """
        if not self.on:
            if self.path is not None:
                raise UsageError("--redact-map needs --redact")
            return None
        from analyzer.redact.redaction import Redaction

        if self.path is None and not beside:
            raise UsageError(
                "--redact needs a file for the names", do="Name it with --redact-map, apart from what you hand out."
            )
        return Redaction(self.path)


def released(redaction: Redaction, results: Mapping[str, str], *, map_beside: Path | None = None) -> None:
    """Look at results before they are written, and keep the map; LeftNameError when a name is left in one.

    map_beside  the folder of the results: without a file of its own the map lies beside it, never inside
    """
    redaction.check(results)
    if redaction.map.path is None and map_beside is not None:
        redaction.map.path = map_beside.parent / f"{map_beside.name}.redact-map.json"
    redaction.save()


def told_of_map(redaction: Redaction) -> None:
    """Say where the names are kept."""
    if redaction.map.path is not None:
        told = for_terminal(str(redaction.map.path))
        click.echo(f"backline: the names are in {told}; keep it to yourself", err=True)

"""What a command accepts as a case: a path, or a storage URL such as `s3://bucket/case.tgz`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

from analyzer.artefacts.logtime import read_given_clock, read_given_time
from analyzer.rules.catalog import default_paths
from analyzer.runtime.errors import BacklineError, UsageError
from analyzer.runtime.paths import folder_name
from analyzer.runtime.text import one_line
from analyzer.sources.case_names import name_case_by_files
from analyzer.sources.remote import place

if TYPE_CHECKING:
    from analyzer.sources.remote import Place

    Given = TypeVar("Given", bound=Place)
    _Type = click.ParamType[Any]
else:
    _Type = click.ParamType

# One that may not be there: the command says so in its words
ANY_PATH = click.Path(path_type=Path, readable=False)


def choose_output(paths: Sequence[Place]) -> Path:
    """Return the folder for the results of a case where none is given."""

    return name_folder(name_case_by_files(paths))


def name_folder(case: str) -> Path:
    """Return the folder for the results of a case of this name."""
    return Path("backline-out") / folder_name(case)


class _PlainError(click.ClickException):
    """An error before the command runs, printed like every other."""

    exit_code = BacklineError.exit_code

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the error as one line."""
        click.echo(f"backline: {self.message}", file=file, err=file is None)


class _PlainUsageError(_PlainError):
    exit_code = UsageError.exit_code


class CasePath(_Type):
    """A path or an URL; the command gets a `Path` or a `RemotePath`. Nothing is opened here."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path or URL of a word."""
        if isinstance(value, str) and "://" in value:
            try:
                return place(value)
            except BacklineError as error:
                kind = _PlainError
                if error.exit_code == UsageError.exit_code:
                    kind = _PlainUsageError
                raise kind(one_line(str(error))) from None
        return ANY_PATH.convert(value, param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> Any:
        """Complete paths."""
        return ANY_PATH.shell_complete(ctx, param, incomplete)


class InputPath(CasePath):
    """A path or an URL of a command for which `-` is standard input."""

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None) -> str:  # noqa: ARG002
        """Say what to type for what a pipe brings: nothing is read from it without."""
        return f"Give a path, or - for standard input: command | {ctx.command_path if ctx else 'backline'} -"


class RuleName(_Type):
    """The id of a rule, or the path of its file; a shell completes both."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ARG002
        """Return the word as it is: what it names is looked up later."""
        return value

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> Any:  # noqa: ARG002
        """Complete ids of shipped rules and of `--kb`, by the names of their files; else paths."""

        folders = [*default_paths(), *map(Path, ctx.params.get("kb") or ())]
        ids = {file.stem for folder in folders for file in folder.rglob("*.yaml")}
        found = [
            CompletionItem(one) for one in sorted(ids - {"shared"}) if one.startswith(incomplete)
        ]
        return found or [CompletionItem(incomplete, type="file")]


def parse_incident(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str:
    """Return the time of an option as `place_incident` takes it: with its day or without, "" when it is not given."""
    time = (read_given_time(value) or read_given_clock(value)) if value else ""
    if value and not time:
        typed = one_line(value)
        raise click.BadParameter(
            f"{typed!r} is not a time. Write it as 06:15 or 2017-10-14T09:12:46Z; it is UTC."
        )
    return time


def parse_moment(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str:
    """Return the time of an option as ISO 8601 in UTC, "" when it is not given; without a zone it is UTC."""

    time = read_given_time(value) if value else ""
    if time is None:
        typed = one_line(value or "")
        raise click.BadParameter(f"{typed!r} is not a time. Write it as 2017-10-14T09:12:46Z.")
    return time

"""The `backline` command: results on stdout, progress and warnings on stderr.

Heavy modules are imported inside the commands, so that `--help` starts at once.
"""

from __future__ import annotations

import os
import re
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from analyzer import __version__
from analyzer.commands.late import LateGroup
from analyzer.commands.local import (
    RuleChoice,
    draft_option,
    kb_option,
    limits_option,
    local_options,
    overdue,
)
from analyzer.commands.places import InputPath, default_output, folder_named, moment
from analyzer.commands.plain import (
    DONE,
    FOUND,
    PARTIAL,
    Interrupt,
    check_paths,
    ends_with,
    interrupted,
    not_printed,
    speaks_plainly,
)
from analyzer.commands.redacting import RedactChoice, redact_options, released, say_where_the_map_is
from analyzer.commands.showing import (
    SEVERITIES,
    ShownPart,
    form_option,
    log_lines,
    part_options,
    print_form,
    refuse_together,
    show_document,
    show_summary,
)
from analyzer.commands.standard_input import standard_input
from analyzer.runtime.errors import BacklineError
from analyzer.runtime.result_files import RESULTS
from analyzer.runtime.text import for_terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from analyzer.pipeline.case_data import RunResult
    from analyzer.pipeline.triage import Options
    from analyzer.redact.redaction import Redaction
    from analyzer.sources.remote import Place

    Given = TypeVar("Given", bound=Place)

REPORT = RESULTS[1]
FEW_FILES = 10  # so many archives in a folder are one case without a question
FEW_PATHS = 5  # fewer paths are one case without a question
# Imported when they are asked for.
_FOLDER = click.Path(path_type=Path, readable=False)

LATE = (
    "archive",
    "batch",
    "compare",
    "completion",
    "doctor",
    "esxtop",
    "launcher",
    "log",
    "redact",
    "rules",
    "serve",
    "show",
    "tables",
    "watch",
)


class DefaultToTriage(LateGroup):
    """A group whose first word may be a path: `backline PATH...` is `backline triage PATH...`."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Put `triage` in front when the first word is a path, not a command."""
        known = self.list_commands(ctx)
        if (
            args
            and args[0] not in known
            and (args[0] == "-" or os.path.lexists(args[0]) or re.search(r"[./]", args[0]))
        ):
            args = ["triage", *args]
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options; one of `triage` may come before the path: `backline --node esx01 PATH`."""
        own = {name for one in self.get_params(ctx) for name in one.opts}
        first = next((place for place, word in enumerate(args) if word not in own), len(args))
        theirs = {
            name
            for one in self.commands["triage"].params
            for name in (*one.opts, *one.secondary_opts)
        }
        if first < len(args) and args[first] != "-" and args[first].partition("=")[0] in theirs:
            args = [*args[:first], "triage", *args[first:]]
        return super().parse_args(ctx, args)

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Read the options; Ctrl-C meanwhile is an interrupt too (click would say "Aborted!" and exit with 1)."""
        _write_what_the_terminal_can()
        try:
            return super().make_context(*args, **kwargs)
        except KeyboardInterrupt:
            raise SystemExit(interrupted()) from None
        except OSError as error:  # of --version
            raise SystemExit(not_printed(error)) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; the same while it is being found and imported."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise SystemExit(interrupted()) from None
        except OSError as error:  # of the help of a command
            raise SystemExit(not_printed(error)) from None


def _write_what_the_terminal_can() -> None:
    """Write signs that the encoding of the output lacks as `\\u2192`: a pipe of Windows takes code page 1252 alone."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")


@click.group(
    cls=DefaultToTriage,
    prefix="",
    names=LATE,
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


@main.command()
@click.argument("paths", nargs=-1, required=True, type=InputPath())
@click.option(
    "-o", "--output", type=_FOLDER, help="Folder for the results (default: backline-out/NAME)."
)
@form_option()
@click.option(
    "--json",
    "json_to",
    metavar="-",
    help="Write case.json to stdout (`--json -`) and nothing else there.",
)
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Print all findings and questions, and harmless lines.",
)
@part_options
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
@click.option(
    "--fail-on",
    type=click.Choice(SEVERITIES),
    help="Exit with 1 if a finding is this severe or worse.",
)
@kb_option
@draft_option
@local_options
@click.option(
    "--incident",
    metavar="TIME",
    callback=moment,
    help="UTC time of the trouble, to centre the report on.",
)
@click.option("--open", "open_it", is_flag=True, help="Open the report in the browser.")
@click.option(
    "--one-case",
    is_flag=True,
    help="A folder of folders is one case, also when it looks like many.",
)
@limits_option
@redact_options
@speaks_plainly
def triage(
    paths: tuple[Place, ...],
    output: Path | None,
    form: str | None,
    json_to: str | None,
    everything: bool,
    part: ShownPart,
    quiet: bool,
    fail_on: str | None,
    choice: RuleChoice,
    incident: str,
    open_it: bool,
    one_case: bool,
    redact: RedactChoice,
) -> None:
    """Triage PATHS as one case and write its report.

    Writes case.json, report.html and report.md into the output folder, and prints a summary. A path may be a
    storage URL, such as s3://bucket/case.tgz, which is read in place. `-` is standard input. With --format or --json
    nothing is written without -o. The results always hold the whole case; --severity, --node and --rule choose what
    is printed.

    \b
    Example:
      backline triage esx-host.tgz vsish.txt -o case-1234
      backline triage esx-host.tgz --format sarif > case.sarif
    """
    refuse_together(format=form, json=json_to is not None, all=everything)
    refuse_together(quiet=quiet, all=everything)
    refuse_together(json=json_to is not None, severity=part)
    printed = form is not None or json_to is not None
    redaction = redact.begin(beside="" if printed and output is None else "the results")
    words = TriageWords(choice, incident, quiet or printed, json_to is not None, redaction)
    with standard_input(paths) as given:
        if not one_case:
            _refuse_many(given)
        words.folder = output or (None if printed else default_output(given))
        outcome, failed = words.triaged(given, named=output is not None)
    folder = words.folder
    document = outcome.document
    if json_to is not None:
        from analyzer.pipeline import case

        _json_result(json_to, case.written(document), redaction)
    if outcome.refused is not None:
        raise outcome.refused
    ends_with(_status(document, outcome.partial or bool(failed), outcome.broken_rules, fail_on))
    if not quiet and not printed:
        failed += _shown(document, part, redaction, everything=everything)
    if folder is not None and not quiet and not printed:
        for line in log_lines(document, part, paths, folder) if redaction is None else ():
            click.echo(line)
        click.echo(f"report: {folder / REPORT}")
    if folder is not None and redaction is not None:
        say_where_the_map_is(redaction)
    if folder is not None and open_it:
        click.launch((folder / REPORT).resolve().as_uri())
    for line in [*failed, *outcome.broken_rules, *([] if quiet else overdue(document))]:
        click.echo(f"backline: {for_terminal(line)}", err=True)
    if form is not None:
        print_form(part.of(document, redaction), form, choice.limits, redaction)
    partial = outcome.partial or bool(failed)
    click.get_current_context().exit(_status(document, partial, outcome.broken_rules, fail_on))


def _refuse_many(paths: Sequence[object]) -> None:
    """Raise UsageError for paths, or a folder, that are many cases; few files, or a folder of few, cost no look."""
    if len(paths) >= FEW_PATHS or any(
        isinstance(path, Path) and _may_hold_many(path) for path in paths
    ):
        from analyzer.archive.batches.many_cases import refuse_many

        refuse_many(paths)


def _may_hold_many(path: Path) -> bool:
    try:
        with os.scandir(path) as entries:
            return any(
                entry.is_dir() or number >= FEW_FILES for number, entry in enumerate(entries)
            )
    except OSError:  # no folder, or one that who reads it tells about
        return False


@contextmanager
def _progress(
    paths: Sequence[Place], options: Options, silent: bool
) -> Iterator[Callable[[], None]]:
    """Show on a terminal what a run does; yield what to call when it begins to write."""
    if silent or not sys.stderr.isatty():
        yield lambda: None
        return
    from analyzer.commands.progress import TriageProgress

    with TriageProgress(paths) as bar:
        options.progress, options.on_read, options.on_judged = bar.member, bar.read, bar.judged
        yield bar.writes


def _json_result(json_to: str, text: Iterable[str], redaction: Redaction | None) -> None:
    if redaction is not None:
        text = ["".join(text)]
        released(redaction, {"case.json": text[0]})
    if json_to == "-":
        sys.stdout.writelines(text)
    else:
        from analyzer.runtime.output import write_all

        write_all(Path(json_to).parent, {Path(json_to).name: text})


@dataclass(slots=True)
class TriageWords:
    """What the words of the command say of one run.

    silent        without a progress line, and no word about settings that are used
    keep_refused  a case of which nothing was understood gets a document too
    redaction     what names become in all that is written, None where they stay
    folder        where the results go, None for nowhere
    """

    choice: RuleChoice
    incident: str
    silent: bool
    keep_refused: bool
    redaction: Redaction | None = None
    folder: Path | None = None

    def triaged(self, paths: Sequence[Place], *, named: bool) -> tuple[RunResult, list[str]]:
        """Run the pipeline with a progress line on a terminal; write the results, and return what failed of them.

        named  the user gave the name of the folder: it stays as it is, also where names are replaced
        """
        from analyzer.case.verdicts import Judgement
        from analyzer.pipeline.triage import triage as run
        from analyzer.runtime.output import check_folder

        check_paths(paths, BacklineError)
        options = self._options(paths)
        if self.folder is not None:
            check_folder(self.folder, RESULTS)
        with Interrupt() as stop, _progress(paths, options, self.silent) as writes:
            outcome = run(paths, options)
            stop.check()
            outcome.judgement = (
                Judgement()
            )  # all of it is in the document, and the report needs the room
            writes()
            self._redact(outcome, named=named)
            lost = (
                []
                if self.folder is None or outcome.refused
                else self._write(outcome.document, self.folder)
            )
        return outcome, lost

    def _redact(self, outcome: RunResult, *, named: bool) -> None:
        if self.redaction is None:
            return
        outcome.document = self.redaction.of(outcome.document)
        if self.folder is not None and not named:
            self.folder = folder_named(outcome.document["case"]["name"])

    def _options(self, paths: Sequence[Place]) -> Options:
        from analyzer.pipeline.triage import Options

        limits = self.choice.limits
        local = self.choice.local(paths, quiet=self.silent)
        options = Options(limits, self.choice.kb, local, with_drafts=self.choice.draft)
        options.keep_refused, options.incident = self.keep_refused, self.incident
        if (redaction := self.redaction) is not None:
            options.on_gathered = lambda material: redaction.facts(material.facts)
        return options

    def _write(self, document: dict[str, Any], folder: Path) -> list[str]:
        """Write the three results; all are made before the first is written. Return what failed."""
        from analyzer.pipeline import case
        from analyzer.report.results import results
        from analyzer.runtime.output import write_all

        made, failed = results(document, case.written(document), self.choice.limits.report_bytes)
        if self.redaction is not None:
            whole = {
                name: content if isinstance(content, str) else "".join(content)
                for name, content in made.items()
            }
            released(self.redaction, whole, beside=folder)
            made = dict(whole)
        write_all(folder, made)
        return failed


def _shown(
    document: dict[str, Any], part: ShownPart, redaction: Redaction | None, *, everything: bool
) -> list[str]:
    """Print the summary; return what failed: the report is written, and a fault in a summary must not hide it."""
    try:
        if everything:
            show_document(part.of(document, redaction), everything=True, redaction=redaction)
        else:
            show_summary(document, part, redaction)
    except (OSError, BacklineError):
        raise
    except Exception as error:  # noqa: BLE001 - whatever failed, the report is there
        from analyzer.runtime.errors import describe_fault, find_error_place

        return [f"the summary could not be printed: {describe_fault(find_error_place(error))}"]
    return []


def _status(document: dict[str, Any], partial: bool, broken: list[str], fail_on: str | None) -> int:
    worst = SEVERITIES.index(fail_on) if fail_on else -1
    found = any(
        finding["severity"] in SEVERITIES and SEVERITIES.index(finding["severity"]) <= worst
        for finding in document["findings"]
        if not finding["muted"]
    )
    failed = any(finding["verdict"] == "error" for finding in document["findings"])
    if broken:
        return 4
    if partial or failed:  # a rule that failed while judging leaves its question open
        return PARTIAL
    return FOUND if found else DONE

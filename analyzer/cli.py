"""The `backline` command: results on stdout, progress and warnings on stderr.

Heavy modules are imported inside the commands, so that `--help` starts at once.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from analyzer import __version__
from analyzer.commands.late import LateGroup
from analyzer.commands.local import RuleChoice, draft_option, kb_option, limits_option, local_options, overdue
from analyzer.commands.places import CasePath
from analyzer.commands.plain import DONE, FOUND, PARTIAL, Interrupt, check_paths, interrupted, speaks_plainly
from analyzer.commands.redacting import RedactChoice, redact_options, released
from analyzer.commands.showing import show_document, show_in
from analyzer.errors import BacklineError
from analyzer.result_files import RESULTS
from analyzer.text import for_terminal, one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from analyzer.case_data import RunResult
    from analyzer.limits import Limits
    from analyzer.redact.redaction import Redaction
    from analyzer.sources.remote import Place
    from analyzer.triage import Options

LATE = (
    "archive",
    "batch",
    "esxtop",
    "launcher",
    "redact",
    "rules",
    "serve",
    "watch",
)  # imported when they are asked for
SEVERITIES = ("critical", "major", "warning", "info")


class DefaultToTriage(LateGroup):
    """A group whose first word may be a path: `backline PATH...` is `backline triage PATH...`."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Put `triage` in front when the first word is no command but a path."""
        known = self.list_commands(ctx)
        if args and args[0] not in known and (os.path.lexists(args[0]) or re.search(r"[./]", args[0])):
            args = ["triage", *args]
        return super().resolve_command(ctx, args)

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Read the options; Ctrl-C meanwhile is an interrupt too (click would say "Aborted!" and exit with 1)."""
        try:
            return super().make_context(*args, **kwargs)
        except KeyboardInterrupt:
            raise SystemExit(interrupted()) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; the same while it is being found and imported."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise SystemExit(interrupted()) from None


def _moment(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str:
    """Return the time of an option as ISO 8601 in UTC, "" when it is not given; without a zone it is UTC."""
    from analyzer.logtime import given

    told = given(value) if value else ""
    if told is None:
        raise click.BadParameter(f"{one_line(value or '')!r} is no time. Write it as 2017-10-14T09:12:46Z.")
    return told


@click.group(cls=DefaultToTriage, prefix="", names=LATE, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="backline")
@click.option("--debug", is_flag=True, help="Show a traceback when something fails.")
def main(debug: bool) -> None:
    """Analyze VMware support material offline: drop a case in, get the case report.

    \b
    Example:
      backline esx-host-2017-10-14--16.53-71234.tgz vsish.txt esxtop.csv
    """


@main.command()
@click.argument("paths", nargs=-1, required=True, type=CasePath())
@click.option("-o", "--output", type=click.Path(path_type=Path, readable=False), help="Folder for the results.")
@click.option("--json", "json_to", metavar="-", help="Write case.json to stdout (`--json -`) and nothing else there.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
@click.option("--fail-on", type=click.Choice(SEVERITIES), help="Exit with 1 if a finding is this severe or worse.")
@kb_option
@draft_option
@local_options
@click.option("--all", "everything", is_flag=True, help="Also lines that look bad and are harmless, with their number.")
@click.option("--incident", metavar="TIME", callback=_moment, help="UTC time of the trouble, to centre on.")
@click.option("--open", "open_it", is_flag=True, help="Open the report in the browser.")
@limits_option
@redact_options
@speaks_plainly
def triage(
    paths: tuple[Place, ...],
    output: Path | None,
    json_to: str | None,
    quiet: bool,
    fail_on: str | None,
    choice: RuleChoice,
    everything: bool,
    incident: str,
    open_it: bool,
    redact: RedactChoice,
) -> None:
    """Triage PATHS as one case; write case.json, report.html and report.md.

    A path may be a storage URL, such as s3://bucket/case.tgz; it is read in place.

    \b
    Example:
      backline triage esx-host.tgz vsish.txt -o case-1234
    """
    from analyzer import case
    from analyzer.output import check_folder
    from analyzer.triage import Options

    limits = choice.limits
    check_paths(paths, BacklineError)
    redaction = redact.begin(beside="" if json_to is not None else "the results")
    local = choice.local(paths, quiet=quiet)
    folder = output or (None if json_to is not None else _default_output(paths))
    if folder is not None:
        check_folder(folder, RESULTS)
    options = Options(limits, choice.kb, local, with_drafts=choice.draft)
    options.keep_refused, options.incident = json_to is not None, incident
    if redaction is not None:
        options.on_gathered = lambda material: redaction.facts(material.facts)
    outcome = _outcome(paths, options, silent=quiet or json_to is not None)
    if redaction is not None:
        outcome.document = redaction.of(outcome.document)
        folder = folder and (output or _folder_for(outcome.document["case"]["name"]))
    if json_to is not None:
        _json_result(json_to, case.written(outcome.document), redaction)
    if outcome.refused is not None:
        raise outcome.refused
    shown = not quiet and json_to is None
    show = (lambda: _shown(outcome.document, redaction, everything=everything)) if shown else None
    failed = [] if folder is None else _results(outcome.document, folder, limits, redaction, show=show, open_it=open_it)
    for line in [*failed, *outcome.broken_rules, *([] if quiet else overdue(outcome.document))]:
        click.echo(f"backline: {for_terminal(line)}", err=True)
    partial = outcome.partial or bool(failed)
    click.get_current_context().exit(_status(outcome.document, partial, outcome.broken_rules, fail_on))


@main.command()
@click.argument("case_json", type=click.Path(path_type=Path, readable=False))
@click.option("--format", "form", type=click.Choice(["text", "md", "html", "json"]), default="text")
@click.option("-v", "--verbose", count=True, help="-v shows evidence, -vv the whole trace.")
@click.option("--all", "everything", is_flag=True, help="Also lines that look bad and are harmless, with their number.")
@redact_options
@speaks_plainly
def show(case_json: Path, form: str, verbose: int, everything: bool, redact: RedactChoice) -> None:
    """Render a saved case again; no bundle is needed.

    \b
    Example:
      backline show case-1234/case.json --format md
    """
    from analyzer import case

    check_paths((case_json,), BacklineError)
    redaction = redact.begin()
    document = case.load(case_json)
    if redaction is not None:
        document = redaction.of(document)
    show_in(form, document, verbose, redaction, everything=everything)


@main.command()
@click.argument("path", type=CasePath())
@click.argument("table", required=False)
@click.option("--csv", "form", flag_value="csv", help="Rows as CSV, safe for a spreadsheet.")
@click.option("--json", "form", flag_value="json", help="Rows as JSON.")
@speaks_plainly
def tables(path: Place, table: str | None, form: str | None) -> None:
    """List what was parsed from PATH, or print one TABLE with the origin of each row.

    \b
    Example:
      backline tables esx-host.tgz esxi.net_stats --csv
    """
    from analyzer.tableview import coverage, print_table

    check_paths((path,), BacklineError)
    if table is None:
        coverage(path, form)
    else:
        print_table(path, table, form)


def _json_result(json_to: str, text: Iterable[str], redaction: Redaction | None) -> None:
    if redaction is not None:
        text = ["".join(text)]
        released(redaction, {"case.json": text[0]})
    if json_to == "-":
        sys.stdout.writelines(text)
    else:
        from analyzer.output import write_all

        write_all(Path(json_to).parent, {Path(json_to).name: text})


def _default_output(paths: tuple[Place, ...]) -> Path:
    from analyzer.triage import case_name

    return _folder_for(case_name(paths))


def _folder_for(case: str) -> Path:
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", case).strip(".-") or "case"
    return Path("backline-out") / name[:100]


def _outcome(paths: tuple[Place, ...], options: Options, *, silent: bool) -> RunResult:
    """Run the pipeline, with a bar on a terminal."""
    from analyzer.triage import triage as run
    from analyzer.verdicts import Judgement

    with Interrupt() as stop, _Progress(paths, silent) as bar:
        options.progress, options.on_read = bar.member, bar.read
        outcome = run(paths, options)
        stop.check()
    outcome.judgement = Judgement()  # all of it is in the document, and the report needs the room
    return outcome


def _results(
    document: dict[str, Any],
    folder: Path,
    limits: Limits,
    redaction: Redaction | None,
    *,
    show: Callable[[], list[str]] | None,
    open_it: bool,
) -> list[str]:
    """Write the results and show them with `show`, which returns what failed; return all that did."""
    from analyzer import case

    report, failed = _write(document, case.written(document), folder, limits, redaction)
    if show is not None:
        failed += show()
        click.echo(f"report: {report}")
    if redaction is not None and redaction.map.path is not None:
        click.echo(f"backline: the names are in {for_terminal(str(redaction.map.path))}; keep it to yourself", err=True)
    if open_it:
        click.launch(report.resolve().as_uri())
    return failed


def _write(
    document: dict[str, Any], text: Iterable[str], folder: Path, limits: Limits, redaction: Redaction | None
) -> tuple[Path, list[str]]:
    """Write the three results; all are made before the first is written. Return the report, and what failed."""
    from analyzer.output import write_all
    from analyzer.report.results import results

    made, failed = results(document, text, limits.report_bytes)
    if redaction is not None:
        whole = {name: content if isinstance(content, str) else "".join(content) for name, content in made.items()}
        released(redaction, whole, beside=folder)
        made = dict(whole)
    write_all(folder, made)
    return folder / "report.html", failed


def _shown(document: dict[str, Any], redaction: Redaction | None, *, everything: bool) -> list[str]:
    """Print the summary; return what failed: the report is written, and a fault in a summary must not hide it."""
    try:
        show_document(document, everything=everything, redaction=redaction)
    except (OSError, BacklineError):
        raise
    except Exception as error:  # noqa: BLE001 - whatever failed, the report is there
        from analyzer.errors import fault, placed

        return [f"the summary could not be printed: {fault(placed(error))}"]
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


class _Progress:
    """A progress bar on a terminal, by bytes read from disk; silent elsewhere."""

    def __init__(self, paths: tuple[Place, ...], silent: bool) -> None:
        self.paths = paths
        self.on = not silent and sys.stderr.isatty()
        self.bar: Any = None

    def __enter__(self) -> _Progress:
        if self.on:
            from rich.console import Console
            from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

            from analyzer.ingest.file_hashes import input_files

            total = sum(path.stat().st_size for path in input_files(self.paths))
            self.bar = Progress(
                BarColumn(bar_width=24),
                DownloadColumn(binary_units=True),
                TimeRemainingColumn(),
                TextColumn("{task.description}", markup=False),
                console=Console(stderr=True),
                transient=True,
            )
            self.bar.start()
            self.task = self.bar.add_task("reading", total=total)
        return self

    def member(self, address: str, _size: int) -> None:
        """Show which member was read last."""
        if self.bar is not None:
            self.bar.update(self.task, description=for_terminal(address)[-60:])

    def read(self, count: int) -> None:
        """Move the bar by bytes read from disk."""
        if self.bar is not None:
            self.bar.advance(self.task, count)

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()

"""`backline triage`: one case from the files that were given, and its report."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from analyzer.case import case_file
from analyzer.case.verdicts import Judgement
from analyzer.commands.archived import open_archive, optional_archive_option
from analyzer.commands.local import (
    RuleChoice,
    draft_option,
    kb_option,
    limits_option,
    list_overdue,
    local_options,
)
from analyzer.commands.places import ANY_PATH, InputPath, choose_output, name_folder, parse_incident
from analyzer.commands.plain import (
    BROKEN_RULE,
    DONE,
    FOUND,
    PARTIAL,
    Interrupt,
    check_paths,
    keep_status,
    print_warning,
    speak_plainly,
)
from analyzer.commands.redacting import (
    RedactChoice,
    redact_form_options,
    release_results,
    say_where_the_map_is,
)
from analyzer.commands.showing import (
    SEVERITIES,
    FormHead,
    ShownPart,
    form_option,
    heading_options,
    list_log_commands,
    part_options,
    print_form,
    refuse_together,
    show_document,
    show_summary,
)
from analyzer.commands.standard_input import open_standard_input
from analyzer.ingest.file_hashes import FileHashes
from analyzer.pipeline.triage import Options
from analyzer.pipeline.triage import triage as run
from analyzer.report.results import render_results
from analyzer.runtime.errors import BacklineError, describe_fault, find_error_place
from analyzer.runtime.output import check_folder, write_all
from analyzer.runtime.paths import absolute_path
from analyzer.runtime.result_files import RESULTS
from analyzer.sources.case_names import name_case_by_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from analyzer.archive.store import Archive
    from analyzer.case.document import CaseDocument
    from analyzer.pipeline.case_data import RunResult
    from analyzer.redact.redaction import Redaction
    from analyzer.sources.remote import Place

    Given = TypeVar("Given", bound=Place)

REPORT = RESULTS[1]
FEW_FILES = 10  # so many archives in a folder are one case without a question
FEW_PATHS = 5  # fewer paths are one case without a question


@click.command("triage")
@click.argument("paths", nargs=-1, required=True, type=InputPath())
@click.option(
    "-o", "--output", type=ANY_PATH, help="Folder for the results (default: backline-out/NAME)."
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
    callback=parse_incident,
    help="UTC time of the trouble, to centre the report on; 06:15 is the last one in the logs.",
)
@optional_archive_option(
    "Say at each sign of trouble how many cases of this archive have it; nothing is stored."
)
@click.option("--open", "open_it", is_flag=True, help="Open the report in the browser.")
@click.option(
    "--one-case",
    is_flag=True,
    help="A folder of folders is one case, also when it looks like many.",
)
@limits_option
@heading_options
@redact_form_options
@speak_plainly
def command(
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
    archive_url: str | None,
    open_it: bool,
    one_case: bool,
    redact: RedactChoice,
    head: FormHead,
) -> None:
    """Triage PATHS as one case and write its report.

    Writes case.json, report.html and report.md into the output folder, and prints a summary. A path may be a
    storage URL, such as s3://bucket/case.tgz, which is read in place. `-` is standard input. With --format or --json
    nothing is written without -o. The results always hold the whole case; --severity, --node and --rule choose what
    is printed. With --archive they also say how many earlier cases have each sign of trouble that no rule knows.

    \b
    Example:
      backline triage esx-host.tgz vsish.txt -o case-1234
      backline triage esx-host.tgz --format sarif > case.sarif
      backline triage esx-host.tgz --archive archive
    """
    refuse_together(format=form, json=json_to is not None, all=everything)
    refuse_together(quiet=quiet, all=everything)
    refuse_together(json=json_to is not None, severity=part)
    head.check_form(form, redacted=redact.on)
    printed = form is not None or json_to is not None
    beside = "" if printed and output is None else "the results"
    redaction = redact.begin_redaction(beside=beside, form=form)
    handed = redact.begin_handover(form)
    words = TriageWords(choice, incident, quiet or printed, json_to is not None, redaction)
    words.handed = handed
    if archive_url is not None:
        words.archive = open_archive(archive_url)
    with open_standard_input(paths) as given:
        if not one_case:
            _refuse_many(given)
        words.folder = output or (None if printed else choose_output(given))
        outcome, failed = words.run_triage(given, named=output is not None)
    folder = words.folder
    document = outcome.document
    if json_to is not None:
        _write_json(json_to, case_file.write_parts(document), redaction)
    if outcome.refused is not None:
        raise outcome.refused
    keep_status(
        _find_status(document, outcome.partial or bool(failed), outcome.broken_rules, fail_on)
    )
    if not quiet and not printed:
        failed += _print_summary(document, part, redaction, everything=everything)
    if folder is not None and not quiet and not printed:
        for line in list_log_commands(document, part, paths, folder) if redaction is None else ():
            click.echo(line)
        click.echo(f"report: {folder / REPORT}")
    if folder is not None and redaction is not None:
        say_where_the_map_is(redaction)
    if folder is not None and open_it:
        click.launch((folder / REPORT).resolve().as_uri())
    for line in [*failed, *outcome.broken_rules, *([] if quiet else list_overdue(document))]:
        print_warning(line)
    if form is not None:
        shown, names = document, redaction
        if handed is not None:
            shown, names = handed.redact_document(document), handed
        print_form(part.cut_document(shown, names), form, choice.limits, names, head)
    partial = outcome.partial or bool(failed)
    click.get_current_context().exit(_find_status(document, partial, outcome.broken_rules, fail_on))


def _refuse_many(paths: Sequence[object]) -> None:
    """Raise UsageError for paths, or a folder, that are many cases; few files, or a folder of few, cost no look."""
    looks_many = any(isinstance(path, Path) and _may_hold_many(path) for path in paths)
    if looks_many or len(paths) >= FEW_PATHS:
        from analyzer.archive.batches.many_cases import refuse_many

        refuse_many(paths)


def _may_hold_many(path: Path) -> bool:
    try:
        with os.scandir(path) as entries:
            return any(
                entry.is_dir() or number >= FEW_FILES for number, entry in enumerate(entries)
            )
    except OSError:  # no folder, or one whose reading says why
        return False


@contextmanager
def _show_progress(
    paths: Sequence[Place], options: Options, silent: bool
) -> Iterator[Callable[[], None]]:
    """Show on a terminal what a run does; yield what to call when it begins to write."""
    if silent or not sys.stderr.isatty():
        yield lambda: None
        return
    from analyzer.commands.progress import TriageProgress

    with TriageProgress(paths) as bar:
        options.progress, options.on_read, options.on_judged = (
            bar.show_member,
            bar.show_read,
            bar.show_judged,
        )
        yield bar.show_writing


def _write_json(json_to: str, text: Iterable[str], redaction: Redaction | None) -> None:
    if redaction is not None:
        text = ["".join(text)]
        release_results(redaction, {"case.json": text[0]})
    if json_to == "-":
        sys.stdout.writelines(text)
    else:
        write_all(Path(json_to).parent, {Path(json_to).name: text})


@dataclass(slots=True)
class TriageWords:
    """What the words of the command choose for one run.

    silent        without a progress line, and no word about settings that are used
    keep_refused  a case of which nothing was understood gets a document too
    redaction     what names become in all that is written, None where they stay
    folder        where the results go, None for nowhere
    archive       that knows earlier cases, None for none
    handed        what names become in the form that is redacted unasked; the results keep theirs
    """

    choice: RuleChoice
    incident: str
    silent: bool
    keep_refused: bool
    redaction: Redaction | None = None
    folder: Path | None = None
    archive: Archive | None = None
    handed: Redaction | None = None

    def run_triage(self, paths: Sequence[Place], *, named: bool) -> tuple[RunResult, list[str]]:
        """Run the pipeline with a progress line on a terminal; write the results, and return what failed of them.

        named  the user gave the name of the folder: it stays as it is, also where names are replaced
        """

        check_paths(paths, BacklineError)
        options = self._options(paths)
        failed: list[str] = []
        if self.folder is not None:
            check_folder(self.folder, RESULTS)
        with Interrupt() as stop, _show_progress(paths, options, self.silent) as writes:
            outcome = run(paths, options)
            stop.raise_if_pressed()
            # all of it is in the document, and the report needs the room
            outcome.judgement = Judgement()
            writes()
            if self.archive is not None:
                outcome.document, failed = _tell_known(
                    outcome.document, self.archive, paths, options
                )
            if self.redaction is not None:
                outcome.document = self.redaction.redact_document(outcome.document)
                if self.folder is not None and not named:
                    self.folder = name_folder(outcome.document.case.name)
            if self.folder is not None and not outcome.refused:
                failed += self._write(outcome.document, self.folder)
        return outcome, failed

    def _options(self, paths: Sequence[Place]) -> Options:
        limits = self.choice.limits
        local = self.choice.load_local(paths, quiet=self.silent)
        options = Options(limits, self.choice.kb, local, with_drafts=self.choice.draft)
        options.keep_refused, options.incident = self.keep_refused, self.incident
        if self.archive is not None:
            options.hashes = FileHashes(paths, every=True)
        redaction = self.redaction or self.handed
        if redaction is not None:
            options.on_gathered = lambda material: redaction.take_facts(material.facts)
        return options

    def _write(self, document: CaseDocument, folder: Path) -> list[str]:
        """Write the three results; all are made before the first is written. Return what failed."""

        text = case_file.write_parts(document)
        results, failed = render_results(document, text, self.choice.limits.report_bytes)
        if self.redaction is not None:
            texts = {name: "".join(content) for name, content in results.items()}
            release_results(self.redaction, texts, beside=folder)
            results = dict(texts)
        write_all(folder, results)
        return failed


def _tell_known(
    document: CaseDocument, archive: Archive, paths: Sequence[Place], options: Options
) -> tuple[CaseDocument, list[str]]:
    """Return a document whose signals say what an archive knows of them, and what failed of that."""
    from analyzer.archive.query.known_kinds import list_own_keys, tell_known

    assert options.hashes is not None
    try:
        source = ""
        if len(paths) == 1:
            path = paths[0]
            source = str(absolute_path(path) if isinstance(path, Path) else path)
        own = list_own_keys(name_case_by_files(paths), source, options.hashes)
        return tell_known(document, archive, own), []
    except BacklineError as error:
        return document, [f"what stored cases have of these signs is not known: {error}"]


def _print_summary(
    document: CaseDocument, part: ShownPart, redaction: Redaction | None, *, everything: bool
) -> list[str]:
    """Print the summary; return what failed: the report is written, and a fault in a summary must not hide it."""
    try:
        if everything:
            show_document(
                part.cut_document(document, redaction), everything=True, redaction=redaction
            )
        else:
            show_summary(document, part, redaction)
    except (OSError, BacklineError):
        raise
    except Exception as error:  # noqa: BLE001 - whatever failed, the report is there
        return [f"the summary could not be printed: {describe_fault(find_error_place(error))}"]
    return []


def _find_status(
    document: CaseDocument, partial: bool, broken: list[str], fail_on: str | None
) -> int:
    findings = document.findings
    if broken:
        return BROKEN_RULE
    # a rule that failed while judging leaves its question open
    if partial or any(finding.verdict == "error" for finding in findings):
        return PARTIAL
    severe = SEVERITIES[: SEVERITIES.index(fail_on) + 1] if fail_on else ()
    if any(finding.severity in severe for finding in findings if not finding.muted):
        return FOUND
    return DONE

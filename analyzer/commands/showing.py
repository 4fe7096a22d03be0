"""What a command prints of a case document: a summary, all of it, or a form that other programs read."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from analyzer.case import case_file
from analyzer.case.document import CaseDocument
from analyzer.commands.places import RuleName
from analyzer.commands.redacting import release_results
from analyzer.report import html
from analyzer.report.case_heading import HEADED, CaseHeading, check_heading
from analyzer.report.log_lines import LogDrawer
from analyzer.report.mail_words import LANGUAGES
from analyzer.report.open_asks import keep_questions
from analyzer.runtime.errors import UsageError
from analyzer.runtime.text import for_terminal

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from analyzer.redact.redaction import Redaction
    from analyzer.runtime.limits import Limits
    from analyzer.sources.remote import Place

Command = TypeVar("Command", bound=Callable[..., Any])
SEVERITIES = ("critical", "major", "warning", "info")
FORMS = (
    "note", "jira", "markdown", "mail", "sarif", "junit", "csv", "jsonl", "md", "html", "json", "llm"
)  # fmt: skip
UNWRAPPED = 1_000_000  # columns of a pipe: whatever reads it wraps as it likes


def part_options(command: Command) -> Command:
    """Add `--severity`, `--node` and `--rule`; the command gets them as `part`."""

    @wraps(command)
    def run_with_part(*args: Any, **words: Any) -> Any:
        part = ShownPart(words.pop("severity"), words.pop("node"), words.pop("rule"))
        return command(*args, part=part, **words)

    rules = click.option(
        "--rule",
        multiple=True,
        type=RuleName(),
        metavar="ID",
        help="Show only this rule; * and ? are wildcards.",
    )
    nodes = click.option(
        "--node",
        multiple=True,
        metavar="NAME",
        help="Show only this machine; * and ? are wildcards.",
    )
    least = click.option(
        "--severity", type=click.Choice(SEVERITIES), help="Show only findings this severe or worse."
    )
    return cast("Command", least(nodes(rules(run_with_part))))


def form_option(*more: str) -> Callable[[Command], Command]:
    """Add `--format`: one of FORMS or of `more`; the command gets it as `form`, None when not given."""
    kinds = click.Choice([*more, *FORMS])
    return click.option("--format", "form", type=kinds, help="Print this form on standard output.")


def heading_options(command: Command) -> Command:
    """Add `--sr`, `--customer` and `--language`; the command gets them as `head`, and has it checked."""

    @wraps(command)
    def run_with_heading(*args: Any, **words: Any) -> Any:
        head = FormHead(words.pop("sr"), words.pop("customer"), words.pop("language"))
        return command(*args, head=head, **words)

    number = click.option(
        "--sr", metavar="NUMBER", help="Number of the request, to head a note or the mail."
    )
    customer = click.option(
        "--customer", metavar="NAME", help="Name of the customer, to head a note or the mail."
    )
    language = click.option(
        "--language", type=click.Choice(LANGUAGES), help="Language of the mail (default: en)."
    )
    return cast("Command", number(customer(language(run_with_heading))))


@dataclass(frozen=True, slots=True)
class FormHead:
    """What heads a form, and the language of the mail, as they were typed; None for what was not."""

    sr: str | None = None
    customer: str | None = None
    language: str | None = None

    def check_form(self, form: str | None, *, redacted: bool) -> None:
        """Raise UsageError for what cannot be written, or where the form has no place for it."""
        given = self.sr is not None or self.customer is not None
        if given and form not in HEADED:
            raise UsageError(
                "--sr and --customer head a note or the mail",
                do=f"Choose --format {', '.join(HEADED[:-1])} or {HEADED[-1]}.",
            )
        if self.language and form != "mail":
            raise UsageError("--language is that of the mail", do="Add --format mail.")
        if redacted and self.customer is not None:
            raise UsageError(
                "--customer cannot be combined with --redact",
                why="what is redacted names no customer",
                do="Leave --customer out; --sr may stay.",
            )
        self.make_heading()

    def make_heading(self) -> CaseHeading:
        """Return the heading; UsageError for a text that is no line."""
        sr = "" if self.sr is None else check_heading("--sr", self.sr)
        customer = "" if self.customer is None else check_heading("--customer", self.customer)
        return CaseHeading(sr, customer)


NO_HEAD = FormHead()


class ShownPart:
    """What of a case is shown: all of it when nothing is chosen."""

    def __init__(
        self, severity: str | None, nodes: tuple[str, ...], rules: tuple[str, ...]
    ) -> None:
        self._words = (severity or "", nodes, rules)

    def __bool__(self) -> bool:
        return any(self._words)

    def cut_document(
        self, document: CaseDocument, redaction: Redaction | None = None
    ) -> CaseDocument:
        """Return the part of a case document; UsageError for a machine or rule that the case does not have.

        redaction  made the document: a machine may be called by its name or by its pseudonym
        """
        if not self:
            return document
        from analyzer.report.choice import Choice, choose_part

        severity, nodes, rules = self._words
        choice = Choice(
            severity, nodes if redaction is None else redaction.redact_machines(nodes), rules
        )
        choice.check_names(document)
        return choose_part(document, choice)


def show_summary(
    document: CaseDocument, part: ShownPart, redaction: Redaction | None = None
) -> None:
    """Print a case on one screen; see `show_document` for `redaction`."""
    from analyzer.report import summary

    chosen = part.cut_document(document, redaction)
    _print_checked(redaction, lambda shown: summary.print_summary(chosen, shown, part=bool(part)))


def list_log_commands(
    document: CaseDocument, part: ShownPart, paths: Iterable[Place], folder: Path
) -> list[str]:
    """Return the commands that print the log around the worst finding shown; none where none has a time.

    Where all hosts have more lines there than anyone reads, one for its host, and one for its object on all hosts.

    folder  where the results of the case are
    """
    from analyzer.report import finding_rows, summary

    chosen = part.cut_document(document)
    numbers = finding_rows.number_findings(chosen)
    first = summary.pick_first_stories(finding_rows.list_stories(chosen))
    worst = [one for story in first for one in story.row.findings]
    finding = next((one for one in worst if one.first_seen), None)
    given = [str(path) for path in paths]
    if finding is None or "-" in given:
        return []
    ways: list[list[str]] = [[]]
    if any(node.logs for node in document.nodes):
        narrowed = LogDrawer(document).find_narrowed(finding)
        if narrowed is not None:
            ways = [narrowed.options]
            if narrowed.thing:
                ways.append(list(narrowed.thing))
    command = ["backline", "log", *given, "--case", str(folder)]
    command += ["--around", numbers[finding.id]]
    return [for_terminal(f"log: {shlex.join([*command, *way])}") for way in ways]


def show_document(
    document: CaseDocument,
    verbose: int = 0,
    *,
    everything: bool = False,
    redaction: Redaction | None = None,
) -> None:
    """Print the report of a case document; `verbose` 1 shows evidence, 2 the trace; `everything` harmless lines.

    redaction  looks at what is printed first; LeftNameError when a name is left in it
    """
    from analyzer.report import terminal

    _print_checked(
        redaction,
        lambda shown: terminal.print_case(document, shown, verbose, everything=everything),
    )


def _print_checked(redaction: Redaction | None, render: Callable[[Console], None]) -> None:
    console = make_console()
    if redaction is None:
        with keep_questions():
            render(console)
        return
    with console.capture() as printed, keep_questions():
        render(console)
    _release(printed.get(), redaction)
    click.echo(printed.get(), nl=False)


def _release(text: str, redaction: Redaction) -> None:
    release_results(redaction, {"the output": text})


def print_form(
    document: CaseDocument,
    form: str,
    limits: Limits | None = None,
    redaction: Redaction | None = None,
    head: FormHead = NO_HEAD,
) -> None:
    """Print a form for other programs, as UTF-8 whatever the terminal speaks; `redaction` looks at it first."""
    with keep_questions():
        texts = _render_form(document, form, limits, head)
    if redaction is not None:
        texts = ["".join(texts)]
        _release("".join(texts), redaction)
    for text in texts:
        write_text(text)


def _render_form(
    document: CaseDocument, form: str, limits: Limits | None, head: FormHead
) -> Iterable[str]:
    """Return the text of a case document in one of FORMS, whole or in parts."""
    if form == "html":
        return html.render_pieces(
            document, html.REPORT_BYTES if limits is None else limits.report_bytes
        )
    if form == "json":
        return case_file.write_parts(document)
    from analyzer.report import junit, lists, llm, mail, markdown, sarif, short_note

    if form in short_note.PRINTERS:
        return [short_note.render_short_note(document, form, head.make_heading())]
    if form == "mail":
        return [mail.write_mail(document, head.make_heading(), head.language or LANGUAGES[0])]
    forms = {
        "csv": lists.render_csv,
        "jsonl": lists.render_json_lines,
        "junit": junit.render_junit,
        "llm": llm.render_llm,
        "md": markdown.render_note,
        "sarif": sarif.render_sarif,
    }
    return [forms[form](document)]


def show_form(
    form: str,
    document: CaseDocument,
    verbose: int = 0,
    redaction: Redaction | None = None,
    *,
    everything: bool = False,
    head: FormHead = NO_HEAD,
) -> None:
    """Print a case document as text, or in one of FORMS."""
    if form == "text":
        show_document(document, verbose, everything=everything, redaction=redaction)
    else:
        print_form(document, form, redaction=redaction, head=head)


def write_text(text: str) -> None:
    """Write to standard output as UTF-8 with plain line ends, on Windows as well."""
    raw = getattr(sys.stdout, "buffer", None)
    if raw is None:
        sys.stdout.write(text)
        return
    sys.stdout.flush()
    raw.write(text.encode("utf-8", "backslashreplace"))


def refuse_together(**words: object) -> None:
    """Refuse options that contradict each other; raises UsageError that names those of `words` that are given."""
    given = [f"--{name}" for name, value in words.items() if value]
    if len(given) > 1:
        raise UsageError(f"{' and '.join(given)} cannot be combined")


def make_console() -> Console:
    """Return the console that reports are printed to; lines of a pipe are as long as they are."""
    from rich.console import Console

    class Plain(Console):
        """A console that raises when its reader has gone; rich would end with status 1, which means a finding."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    width = None if sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdecimal() else UNWRAPPED
    return Plain(highlight=False, width=width)

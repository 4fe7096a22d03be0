"""`--redact`: the option that commands share, and what each calls with the text that it is about to write."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import replace
from functools import wraps
from itertools import chain, islice
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from analyzer.commands.late import STRICT_OPTION, STRICT_WORD
from analyzer.commands.plain import hide_in_errors
from analyzer.runtime.errors import RefusedError, UsageError
from analyzer.runtime.paths import absolute_path
from analyzer.runtime.text import for_terminal

if TYPE_CHECKING:
    from analyzer.archive.batches.find import FindSummary
    from analyzer.archive.batches.summary import Summary
    from analyzer.redact.log_lines import LineNames
    from analyzer.redact.redaction import Redaction
    from analyzer.sources.remote import Place
    from analyzer.views.log_reading import LogQuery, LogSummary, MergedLine, MergedLog

Command = TypeVar("Command", bound=Callable[..., Any])
HANDED = "llm"  # the form that goes to a stranger's program, and is redacted unless somebody says otherwise


def redact_options(command: Command) -> Command:
    """Add `--redact` and `--redact-map`; the command gets `redact`, which makes the redaction when it is asked for."""

    @wraps(command)
    def run_chosen(*args: Any, **words: Any) -> Any:
        choice = RedactChoice(words)
        if choice.on:
            hide_in_errors(choice.hide_given)
        try:
            return command(*args, redact=choice, **words)
        finally:
            choice.say_what_stays()

    file = click.Path(path_type=Path, readable=False, dir_okay=False)
    kept = "File that keeps the names and their pseudonyms; give it again for the next case."
    made = click.option("--redact-map", metavar="FILE", type=file, help=kept)(run_chosen)
    made = click.option(STRICT_OPTION, is_flag=True, hidden=True)(made)
    words = f"Replace all names with pseudonyms; with {STRICT_WORD} also each word of the material that nobody knows."
    return cast("Command", click.option("--redact", is_flag=True, help=words)(made))


def redact_form_options(command: Command) -> Command:
    """Add the options of `redact_options` and `--no-redact`, for a command that prints forms: HANDED is redacted unasked."""
    words = f"Keep real names in --format {HANDED}, which is redacted unasked."
    return click.option("--no-redact", is_flag=True, help=words)(redact_options(command))


class RedactChoice:
    """What the words of a command say of redaction; nothing is imported before it is asked for."""

    def __init__(self, words: dict[str, Any]) -> None:
        self.strict: bool = words.pop("redact_strict")
        self.on: bool = words.pop("redact") or self.strict
        self.path: Path | None = words.pop("redact_map")
        self.keep: bool = words.pop("no_redact", False)
        self._begun: Redaction | None = None

    def begin_redaction(self, *, beside: str = "", form: str | None = None) -> Redaction | None:
        """Return the redaction, None when it was not asked for; the map lies in its file.

        beside  what the map may be named after when no file was given; without it that is refused
        form    that is printed; what `begin_handover` redacts may have a map too
        """
        if self.on and self.keep:
            raise UsageError("--redact and --no-redact cannot be combined")
        if not self.on:
            if self.path is not None and not self._hands_over(form):
                raise UsageError("--redact-map needs --redact")
            return None
        if self.path is None and not beside:
            raise UsageError(
                "--redact needs a file for the names",
                do="Name it with --redact-map, apart from what you hand out.",
            )
        self._begun = make_redaction(self.path, strict=self.strict)
        return self._begun

    def begin_handover(self, form: str | None) -> Redaction | None:
        """Return the redaction of a form that is redacted unasked, None for others; without a file no map is kept."""
        if not self._hands_over(form):
            return None
        redaction = make_redaction(self.path)
        if self.path is not None:
            self._begun = redaction
        return redaction

    def _hands_over(self, form: str | None) -> bool:
        return form == HANDED and not self.on and not self.keep

    def hide_given(self, text: str) -> str:
        """Return an error or a warning without names; what was given is called by what of its name stays.

        What is said of the file of the map stays: its owner is to mend that.
        """
        if text.startswith(f"{self.path}: "):
            return text
        redaction = self._begun or make_redaction()
        for path in _list_given():
            name = absolute_path(path).name
            for written in (str(absolute_path(path)), path) if len(path) > len(name) else ():
                text = text.replace(written, name)
            redaction.begin_taking().take_given(name)
        redaction.take_lines([text])
        return redaction.redact_text(text)

    def say_what_stays(self) -> None:
        """Say how many names running text keeps, once they are in the map."""
        if self._begun is not None and (words := len(self._begun.map.words)):
            one = (
                f"{words:,} names are words or numbers"
                if words > 1
                else "1 name is a word or a number"
            )
            click.echo(f"backline: {one}, and left in running text; the map lists them", err=True)


def make_redaction(path: Path | None = None, *, strict: bool = False) -> Redaction:
    """Return a redaction whose map lies in a file; it is imported when it is asked for."""
    from analyzer.redact.redaction import Redaction

    return Redaction(path, strict=strict)


def _list_given() -> list[str]:
    """Return the paths, or the names of cases, that the command was given, the longest first."""
    context = click.get_current_context()
    given: list[str] = []
    for one in context.command.params:
        value = context.params.get(one.name or "") if isinstance(one, click.Argument) else None
        given += map(str, value if isinstance(value, tuple) else (value or "",))
    return sorted(filter(None, given), key=len, reverse=True)


def map_file(folder: Path) -> Path:
    """Return where the map of results lies when no file was named: beside their folder, never inside."""
    return folder.parent / f"{folder.name}.redact-map.json"


def place_map(redaction: Redaction, folder: Path) -> None:
    """Let the map lie beside the folder of the results; UsageError when the user wants it inside, where it goes along."""
    path = redaction.map.path
    if path is None:
        redaction.map.path = map_file(folder)
    elif path.resolve().is_relative_to(folder.resolve()):
        raise UsageError(
            f"the map of names would lie in the results: {path}",
            do="Name a file outside of their folder with --redact-map.",
        )


def release_results(
    redaction: Redaction, results: Mapping[str, str], *, beside: Path | None = None
) -> None:
    """Look at results before they are written, and keep the map; LeftNameError when a name is left in one.

    beside  the folder of the results: without a file of its own the map lies beside it, never inside
    """
    redaction.check_results(results)
    if beside is not None:
        place_map(redaction, beside)
    redaction.keep_map()


def say_where_the_map_is(redaction: Redaction) -> None:
    """Say where the names are kept."""
    if redaction.map.path is not None:
        map_path = for_terminal(str(redaction.map.path))
        click.echo(f"backline: the names are in {map_path}; keep it to yourself", err=True)


def redacted_summary(
    summary: Summary, count: FindSummary, redaction: Redaction
) -> tuple[Summary, FindSummary]:
    """Return what a batch tells at its end without the names of cases, folders and what their faults quote.

    The archive itself keeps the originals: it is what cases are judged again from; `archive export --redact` hands out.
    """

    texts = [text for one in summary.troubles for text in (one.name, one.source, one.why)]
    paths = [
        *count.mixed,
        *count.empty,
        *count.left_out,
        *count.archives,
        *(path for path, _ in count.unreadable),
    ]
    for path in (
        *(one.name for one in summary.troubles),
        *(one.source for one in summary.troubles),
        *paths,
    ):
        redaction.identities.take_given(path)
    redaction.take_lines(texts)
    made = redaction.name_replacer.replace_texts(
        [*texts, *paths, *(why for _, why in count.unreadable)]
    )
    troubles = [
        replace(one, name=made[one.name], source=made[one.source], why=made[one.why])
        for one in summary.troubles
    ]
    redaction.check_results({"the summary": "\n".join(made.values())})
    redaction.keep_map()
    found = replace(
        count,
        mixed=[made[path] for path in count.mixed],
        empty=[made[path] for path in count.empty],
        left_out=[made[path] for path in count.left_out],
        archives=[made[path] for path in count.archives],
        unreadable=[(made[path], made[why]) for path, why in count.unreadable],
    )
    return replace(summary, troubles=troubles), found


AT_ONCE = 5000  # lines that are replaced and looked at together
_NAMED_FIELDS = attrgetter(
    "host", "log", "component", "object", "text", "address"
)  # of a merged line: what may hold a name
_Line = TypeVar("_Line")


def redacted_log(
    redaction: Redaction, paths: Sequence[Place], query: LogQuery, form: str
) -> tuple[Iterator[str], LogSummary]:
    """Return the lines of the merged log of material without names, and its summary, complete behind the last line.

    The names are those of its tables, read as triage reads them, and those that lines show by their form.
    """
    from analyzer.pipeline.triage import Options, gather_case
    from analyzer.redact.log_lines import LineNames
    from analyzer.views.log_reading import MergedLog

    bundled: set[str] = set()
    with suppress(RefusedError):  # of logs alone the lines tell what there is to know
        facts = gather_case(paths, (), Options()).facts
        redaction.take_facts(facts)
        bundled = {facts.name(key) for key, node in facts.nodes.items() if not node.loose}
    for path in paths:
        redaction.identities.take_given(path.name)
    names = LineNames(redaction.begin_taking())
    merged = MergedLog(paths, query, heard=names.take_texts, with_objects=form != "text")
    return _redacted_lines(redaction, merged, names, form, bundled), merged.summary


def _redacted_lines(
    redaction: Redaction, merged: MergedLog, names: LineNames, form: str, bundled: Set[str]
) -> Iterator[str]:
    """Yield lines without names, some at a time; LeftNameError before the first of some in which one is left.

    bundled  machines of which a bundle is there: its members have names that bundles give
    """
    from analyzer.redact.log_lines import LineProof, LineReplacer
    from analyzer.views.log_text import write_lines

    lines = merged.read_lines()
    first = list(islice(lines, 1))  # all was read once now
    for host, log in merged.summary.seen:
        redaction.identities.take_cell("host", host)
        names.take_texts([log.part.address])
        redaction.identities.take_source(log.part.address, bundled=host in bundled)
    names.close()
    redaction.keep_map()
    replacer = LineReplacer(redaction.name_replacer)
    proof = LineProof(redaction.name_residue, replacer.free)

    def free_names() -> Iterator[MergedLine]:
        for some in _batch_lines(chain(first, lines)):
            made = replacer.replace_texts(
                dict.fromkeys(chain.from_iterable(map(_NAMED_FIELDS, some)))
            )
            for line in some:
                yield _hide_unmarked(_rename_line(line, made), redaction)

    for shown in _batch_lines(write_lines(free_names(), form)):
        redaction.refuse_left(proof.find_survivors("the output", shown))
        redaction.keep_map()  # before the lines go out: a name in them may be spelled anew
        yield from shown


def _rename_line(line: MergedLine, made: Mapping[str, str]) -> MergedLine:
    time, host, log, level, component, thing, text, address, number, assumed = line
    return type(line)._make(
        (
            time,
            made[host],
            made[log],
            level,
            made[component],
            made[thing],
            made[text],
            made[address],
            number,
            assumed,
        )
    )


def _hide_unmarked(line: MergedLine, redaction: Redaction) -> MergedLine:
    if not redaction.is_strict:
        return line
    hide = redaction.hide_words
    return line._replace(
        component=hide(line.component), object=hide(line.object), text=hide(line.text)
    )


def _batch_lines(lines: Iterable[_Line]) -> Iterator[list[_Line]]:
    coming = iter(lines)
    while some := list(islice(coming, AT_ONCE)):
        yield some

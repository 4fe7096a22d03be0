"""`backline archive search`: which machines, which findings, which lines, how many a month."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from analyzer.archive.query import search, searchtext, terms
from analyzer.archive.query.browse import parse_window
from analyzer.commands.archived import (
    MOST,
    archive_option,
    close_rows,
    form_options,
    limit_option,
    list_replaced,
    open_archive,
    print_rows,
    say_more_rows,
    seconds_option,
    time_options,
)
from analyzer.commands.places import RuleName
from analyzer.commands.plain import speak_plainly
from analyzer.runtime.errors import UsageError
from analyzer.runtime.text import count_noun

if TYPE_CHECKING:
    from analyzer.archive.query.search import Filter, SearchResult, Window
    from analyzer.archive.query.terms import Term
    from analyzer.archive.store import Archive


LETTERS = "texts in terms are case-sensitive; --text WORD looks in findings, kept log lines and tables, upper or lower case"


@click.command("search")
@click.argument("term", nargs=-1)
@archive_option
@click.option("--rule", default="", type=RuleName(), metavar="ID", help="Findings of this rule.")
@click.option(
    "--kb", type=int, metavar="NUMBER", help="Findings of the rules that name this KB article."
)
@click.option(
    "--text", default="", metavar="STRING", help="Findings, log lines, rows that hold this text."
)
@click.option(
    "--by",
    type=click.Choice(["month", "host", "rule"]),
    default=None,
    help="Count findings by this.",
)
@click.option(
    "--same",
    default="",
    metavar="COLUMN",
    help="The rows must agree in this column: pnic, vm_name, ...",
)
@click.option("--anywhere", is_flag=True, help="Terms may hold on different machines of one case.")
@click.option("--unknown", is_flag=True, help="Cases that cannot be judged, and what to ask for.")
@time_options
@limit_option
@seconds_option
@form_options
@speak_plainly
def command(
    term: tuple[str, ...],
    archive_url: str,
    rule: str,
    kb: int | None,
    text: str,
    by: str | None,
    same: str,
    anywhere: bool,
    unknown: bool,
    since: str,
    until: str,
    limit: int | None,
    seconds: float,
    form: str | None,
) -> None:
    """Search all stored cases. TERMs are `TABLE: CONDITION` in the language of rules; a machine must fulfil all.

    A word alone (`i40en`) is looked for in findings, kept log lines and the rows of all tables. Several TERMs may
    stand in one, with semicolons between them. `driver: ixgben` (NICs, HBAs, all adapters) and `version: 6.7.0` are
    short for the two that are asked most often.

    A table is one of facts (`backline tables --doc`) or `nodes`; the condition is checked on each
    of its rows. Where a table is missing or cut, the answer is "cannot tell": such machines are counted,
    and --unknown lists them. --since and --until look at the time of a finding or line; with terms,
    at the time of the case.

    \b
    Example:
      backline archive search --archive archive i40en
      backline archive search --archive archive 'driver: ixgben'
      backline archive search --archive archive 'esxi.pnic_info: driver == "ixgben" and driver_version < "1.7.20"' \\
          'esxi.pnic_stats: rx_missed_errors > 0' 'nodes: version >= "6.5" and version < "6.6"'
      backline archive search --archive archive --kb 2039495 --since 2026
      backline archive search --archive archive --by month
      backline archive search --archive archive --text "lost connectivity"
    """

    if term and not text and all(map(terms.is_bare_word, term)):
        text = " ".join(word.strip() for word in term)
        term = ()
    _check_options(term, rule, kb, text, by, same, anywhere=anywhere, unknown=unknown)
    inside = parse_window(since, until)
    parts = [part.text for text in term for part in terms.split_field(text) if part.text.strip()]
    asked = [terms.read_term(part, number) for number, part in enumerate(parts or term, 1)]
    archive = open_archive(archive_url)
    if asked:
        _search_machines(
            archive, asked, inside, same, seconds, form, limit, anywhere=anywhere, unknown=unknown
        )
        return
    chosen = search.Filter(rule, kb, list_replaced(rule))
    if text:
        _search_texts(archive, text, chosen, inside, seconds, form, limit)
        return
    found = search.find_findings(
        archive, chosen, window=inside, by=by or "", unknown=unknown, seconds=seconds
    )
    print_rows(found.head, found.rows, form, limit, "rows", searchtext.shorten_ids(found.head))
    _print_notes(
        searchtext.findings_text(found, listed=unknown) if chosen else "",
        form,
        searchtext.left_text(found),
    )


def _search_texts(
    archive: Archive,
    text: str,
    chosen: Filter,
    inside: Window,
    seconds: float,
    form: str | None,
    limit: int | None,
) -> None:
    """Print the findings, log lines and rows that hold a text, and where else to look."""

    found = search.find_texts(archive, text, chosen, window=inside, seconds=seconds)
    count = print_rows(
        found.head, found.rows, form, limit, "lines", searchtext.format_text_rows(found.head)
    )
    lines = count_noun(count, "line or row", "lines and rows")
    kept = "log lines are kept where a signature hit, others stay in the bundle"
    if not count:
        pattern = shlex.quote(f"(?i){re.escape(text)}")
        kept += f"; `backline log PATH --grep {pattern}` looks there"
    _print_notes(f"{lines}; {kept}", form, searchtext.left_text(found))


def _check_options(
    term: Sequence[str],
    rule: str,
    kb: int | None,
    text: str,
    by: str | None,
    same: str,
    *,
    anywhere: bool,
    unknown: bool,
) -> None:
    """Refuse what does not go together."""
    findings = bool(rule) or kb is not None or by is not None
    if not (term or findings or text):
        raise UsageError(
            "nothing to search for",
            do="Give terms, --rule, --kb, --text or --by; --help shows examples.",
        )
    if term and (findings or text):
        do = "Ask one after the other, or with `backline archive sql`."
        raise UsageError("terms cannot be combined with --rule, --kb, --by or --text", do=do)
    if text and (by or unknown):
        raise UsageError("--text cannot be combined with --by or --unknown")
    if not term and (same or anywhere):
        raise UsageError("--same and --anywhere need terms", do="Give at least two terms.")
    if unknown and not (term or rule or kb is not None):
        raise UsageError("--unknown needs terms, --rule or --kb")


def _search_machines(
    archive: Archive,
    asked: Sequence[Term],
    inside: Window,
    same: str,
    seconds: float,
    form: str | None,
    limit: int | None,
    *,
    anywhere: bool,
    unknown: bool,
) -> None:
    """Search the machines that fulfil terms and print them."""

    found = search.find_machines(
        archive,
        asked,
        window=inside,
        same=same,
        anywhere=anywhere,
        unknown=unknown,
        seconds=seconds,
    )
    if unknown:
        rows = searchtext.format_unknown(asked, found.rows)
        print_rows(
            searchtext.UNKNOWN,
            rows,
            form,
            limit,
            "rows",
            searchtext.shorten_ids(searchtext.UNKNOWN),
        )
    elif form == "csv":
        print_rows(searchtext.MACHINES_CSV, searchtext.for_csv(asked, found.rows), form, limit)
    elif form == "json":
        head = [*searchtext.MACHINES_JSON, *(["same"] if same else [])]
        print_rows(head, searchtext.for_json(asked, found.rows), form, limit)
    else:
        _print_blocks(asked, found, limit)
    said = searchtext.machines_text(found, anywhere=anywhere, listed=unknown)
    if not (unknown or found.counts["machines"]):
        said += f"\n{LETTERS}"
    _print_notes(said, form, searchtext.left_text(found))


def _print_blocks(asked: Sequence[Term], found: SearchResult, limit: int | None) -> None:
    most = MOST if limit is None else limit
    left: list[Any] = []
    try:
        for line in searchtext.format_machines(asked, _take_first(found.rows, most, left)):
            click.echo(line)
    finally:
        close_rows(found.rows)
    if left:
        say_more_rows(most)


def _take_first(rows: Iterable[Any], most: int, left: list[Any]) -> Iterator[Any]:
    """Yield `most` rows, all for 0; one that was left out goes to `left`."""
    for number, row in enumerate(rows):
        if most and number >= most:
            left.append(row)
            return
        yield row


def _print_notes(words: str, form: str | None, left: str) -> None:
    """Say which cases an answer leaves out, and what it amounts to: below a table, beside CSV and JSON."""
    sys.stdout.flush()
    if text := "\n".join(filter(None, (left, words))):
        click.echo(text if form else f"\n{text}", err=bool(form))

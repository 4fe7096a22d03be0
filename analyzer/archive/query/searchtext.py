"""Search results as text for people, and as rows for CSV and JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from analyzer.archive.query.browse import SHORT
from analyzer.archive.query.search import SearchResult
from analyzer.archive.query.terms import Term
from analyzer.runtime.short_lines import bound_line, bound_middle
from analyzer.runtime.text import count_noun

FIXED = 8  # case, id, created, node, kind, product, version, same: what is in front of the terms
LONGEST = 300  # characters of one line on the terminal
ADDRESS = 60  # characters of an address on the terminal; CSV and JSON hold it whole

MACHINES_CSV = [
    "case",
    "id",
    "created",
    "node",
    "product",
    "version",
    "table",
    "values",
    "address",
    "line",
]
MACHINES_JSON = ["case", "id", "created", "node", "product", "version", "terms"]
UNKNOWN = ["case", "id", "created", "node", "table", "why", "ask"]

_HOW = " (--unknown lists them)"

Row = Sequence[Any]


def format_machines(terms: Sequence[Term], rows: Iterable[Row]) -> Iterator[str]:
    """Yield lines for the terminal: each machine, below it the rows that fulfil each term."""
    for row in rows:
        name, case, created, node, _kind, product, version, same = row[:FIXED]
        what = " ".join(filter(None, (product, version)))
        day = created.strftime("%Y-%m-%d") if created else ""
        head = [
            node or "",
            f"({what})" if what else "",
            same or "",
            f"case {name}",
            case[:SHORT],
            day,
        ]
        yield bound_line("  ".join(part for part in head if part), LONGEST)
        for term, (count, shown) in zip(terms, _split_answers(row), strict=True):
            for one in shown:
                where = (
                    f"  at {bound_middle(one['source'], ADDRESS)}:{one['line']}"
                    if one["source"]
                    else ""
                )
                machine = f"{one['node']}: " if node is None else ""
                yield bound_line(
                    f"  {term.table.name}: {machine}{_format_values(term, one)}{where}", LONGEST
                )
            if count > len(shown):
                yield f"  {term.table.name}: and {count - len(shown):,} more rows"


def _split_answers(row: Row) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    cells = row[FIXED:]
    return (
        (int(count or 0), shown or []) for count, shown in zip(cells[::2], cells[1::2], strict=True)
    )


def _format_values(term: Term, one: dict[str, Any]) -> str:
    pairs = zip(term.list_shown_columns(), one["cells"], strict=True)
    return (
        " ".join(f"{column}={'?' if cell is None else cell}" for column, cell in pairs) or "there"
    )


def for_csv(terms: Sequence[Term], rows: Iterable[Row]) -> Iterator[list[Any]]:
    """Yield one row for each row that fulfils a term."""
    for row in rows:
        name, case, created, node, _kind, product, version, _same = row[:FIXED]
        for term, (_count, shown) in zip(terms, _split_answers(row), strict=True):
            for one in shown:
                where = [one["source"] or None, one["line"]]
                machine = [one["node"] if node is None else node, product, version]
                yield [
                    name,
                    case,
                    created,
                    *machine,
                    term.table.name,
                    _format_values(term, one),
                    *where,
                ]


def for_json(terms: Sequence[Term], rows: Iterable[Row]) -> Iterator[list[Any]]:
    """Yield one record for each machine."""
    for row in rows:
        name, case, created, node, _kind, product, version, same = row[:FIXED]
        term_records = []
        for term, (count, shown) in zip(terms, _split_answers(row), strict=True):
            some = [
                {
                    "node": one["node"],
                    "values": dict(zip(term.list_shown_columns(), one["cells"], strict=True)),
                    "address": one["source"],
                    "line": one["line"],
                }
                for one in shown
            ]
            term_records.append(
                {"term": term.text, "table": term.table.name, "fulfilling": count, "rows": some}
            )
        record = [name, case, created, node, product, version, term_records]
        yield [*record, same] if same is not None else record


def format_unknown(terms: Sequence[Term], rows: Iterable[Row]) -> Iterator[list[Any]]:
    """Yield why a machine cannot be judged: case, id, created, node, table, why, what to ask for."""
    for name, case, created, node, number, why in rows:
        term = terms[number]
        yield [name, case, created, node, term.table.name, why, term.table.ask]


def machines_text(found: SearchResult, *, anywhere: bool, listed: bool = False) -> str:
    """Return the answer in a sentence; `listed` when the machines that cannot be judged were asked for."""
    count = found.counts
    thing = "case" if anywhere else "machine"
    if not count["asked"]:
        return "no machine in these cases is of the kind that the terms need"
    where = "" if anywhere else f" in {count_noun(count['cases'], 'case')}"
    said = f"{count_noun(count['machines'], thing)}{where}, of {count['asked']:,} asked"
    if count["untold"]:
        said += f"; cannot tell for {count_noun(count['untold'], thing)}{'' if listed else _HOW}"
    return said


def findings_text(found: SearchResult, *, listed: bool = False) -> str:
    """Return the findings in a sentence, and how many machines and cases could not be judged."""
    count = found.counts
    parts = [
        f"{count_noun(count['findings'], 'finding')} on {count_noun(count['machines'], 'machine')}"
        f" in {count_noun(count['cases'], 'case')} of {count['asked_cases']:,}"
    ]
    if count["untold"]:
        parts.append(
            f"of {count_noun(count['untold'], 'machine')} the rule cannot tell{'' if listed else _HOW}"
        )
    if count["unjudged_cases"]:
        parts.append(f"{count_noun(count['unjudged_cases'], 'case')} not judged by it")
    return "; ".join(parts)


def left_text(found: SearchResult) -> str:
    """Return which cases answer no question: those that could not be read, those without a time to choose them by.

    What a sentence of this module says already, as not judged by a rule or among those asked, is not repeated again.
    """
    parts = []
    if count := found.counts.get("unread_cases"):
        parts.append(f"{count_noun(count, 'case')} could not be read")
    if count := found.counts.get("undated_cases"):
        parts.append(f"{count_noun(count, 'case')} left out: no time is known")
    return "; ".join(parts)


def shorten_ids(head: Sequence[str]) -> tuple[list[str], Callable[[Row], Row]]:
    """Return a heading and the form of its rows for the terminal: ids are cut short."""
    if "id" not in head:
        return [*head], lambda row: row
    at = head.index("id")
    return [*head], lambda row: [*row[:at], str(row[at])[:SHORT], *row[at + 1 :]]


def format_text_rows(head: Sequence[str]) -> tuple[list[str], Callable[[Row], Row]]:
    """Return a heading and the form of the rows of `texts` for the terminal: the text first, then where it is."""
    place = {name: number for number, name in enumerate(head)}
    front = [name for name in head if name not in ("address", "line", "text")]

    def format_row(cells: Row) -> Row:
        address, line = cells[place["address"]], cells[place["line"]]
        where = f"{bound_middle(address, ADDRESS)}:{line}" if address else None
        own = [
            str(cells[place[name]])[:SHORT] if name == "id" else cells[place[name]]
            for name in front
        ]
        return [*own, cells[place["text"]], where]

    return [*front, "text", "at"], format_row

"""`backline archive sql`: one SELECT over the stored cases, read only."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from analyzer.archive.query import ask
from analyzer.commands.archived import (
    archive_option,
    form_options,
    limit_option,
    open_archive,
    print_rows,
    seconds_option,
)
from analyzer.commands.places import ANY_PATH
from analyzer.commands.plain import speak_plainly
from analyzer.runtime.errors import UsageError

MOST_BYTES = 1_000_000


@click.command("sql")
@click.argument("select", required=False)
@archive_option
@click.option(
    "--file",
    "file",
    type=ANY_PATH,
    help="Read the statement from a file.",
)
@click.option(
    "--tables", is_flag=True, help="List the tables and their columns; SELECT may name one table."
)
@limit_option
@seconds_option
@form_options
@speak_plainly
def command(
    select: str | None,
    archive_url: str,
    file: Path | None,
    tables: bool,
    limit: int | None,
    seconds: float,
    form: str | None,
) -> None:
    """Query the stored cases in SQL.

    QUERY is one SELECT of DuckDB's SQL; `-` reads it from standard input.
    Tables are cases, nodes, findings, unknowns, verdicts, hits, labels, and one for each kind of fact
    (esxi.vnic, nsx.controllers, ...). Each has case_id; facts have node, taken, address and line.
    Only these tables can be read, and nothing can be written.

    \b
    Example:
      backline archive sql --archive archive "SELECT rule, count(*) FROM findings GROUP BY rule"
      backline archive sql --archive archive --tables esxi.pnic_info
    """

    if tables:
        head = ["table", "column", "type", "meaning"]
        print_rows(
            head,
            ask.describe_views([select] if select else []),
            form,
            limit if limit is not None else 0,
        )
        return
    answer = ask.run_sql(open_archive(archive_url), _read_statement(select, file), seconds=seconds)
    print_rows(answer.head, answer.rows, form, limit)


def _read_statement(select: str | None, file: Path | None) -> str:
    """Return the statement from the command line, a file or standard input."""
    if (select is None) == (file is None):
        raise UsageError(
            "give one statement",
            do="On the command line in quotes, with --file, or as - from standard input.",
        )
    if file is not None:
        try:
            if not file.is_file():
                raise UsageError("there is no such file", where=str(file))
            with file.open("rb") as stream:
                return _decode_statement(stream.read(MOST_BYTES + 1), str(file))
        except OSError as error:
            raise UsageError(
                "the file cannot be read", where=str(file), why=error.strerror or ""
            ) from None
    if select == "-":
        return _decode_statement(sys.stdin.buffer.read(MOST_BYTES + 1), "standard input")
    return select or ""


def _decode_statement(raw: bytes, where: str) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError("the statement is not UTF-8 text", where=where) from None

"""`backline archive similar`: the stored cases that share the rarest signs of trouble with one of them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import click

from analyzer.archive.labels import label_lines
from analyzer.archive.query import browse
from analyzer.archive.query.similar import SignalKind, SimilarCase, SimilarCases, find_similar
from analyzer.commands.archived import (
    archive_option,
    form_options,
    open_archive,
    print_rows,
    seconds_option,
)
from analyzer.commands.plain import speak_plainly
from analyzer.report.signals import describe_known
from analyzer.runtime.text import count_noun, for_terminal, one_line

HEAD = ("case", "id", "share", "shared", "signs", "kinds", "labels")


@click.command("similar")
@click.argument("case")
@archive_option
@seconds_option
@form_options
@speak_plainly
def command(case: str, archive_url: str, seconds: float, form: str | None) -> None:
    """Show the stored cases that are most like CASE.

    CASE is a name, or the start of an id.
    Cases are alike when they share signs of trouble that no finding rests on, and the fewer cases have a sign the
    more it counts. The percentage says how much of what CASE shows the other one has as well. Up to five are shown,
    each with the rarest signs that both have, and with its labels. Cases that were refused, or stored by an earlier
    version, are not compared: what signs they have is not known.

    \b
    Example:
      backline archive similar acme-2291 --archive archive
      backline archive similar 3fa91c --archive archive --json
    """

    archive = open_archive(archive_url)
    snapshot, stored = browse.find_stored_case(archive, case)
    found = find_similar(archive, snapshot, stored, seconds)
    if form:
        print_rows(HEAD, map(list_cells, found.cases), form, limit=0)
    else:
        for line in format_similar(found):
            click.echo(for_terminal(line))
    sys.stdout.flush()
    for note in list_notes(found):
        click.echo(note, err=True)


def format_similar(found: SimilarCases) -> Iterator[str]:
    """Yield the lines for people: the heaviest signs of the case, then each similar case."""
    signs = count_noun(found.total, "kind of sign", "kinds of signs")
    others = count_noun(found.asked, "other case")
    yield f"{one_line(found.name)}  {found.id[: browse.SHORT]}  {signs}, compared with {others}"
    for kind, known in found.own:
        yield f"  {name_kind(kind)}"
        if words := describe_known(known):
            yield f"    {one_line(words)}"
    for one in found.cases:
        yield ""
        shared = f"has {one.shared:,} of these {found.total:,}, and {count_noun(one.total - one.shared, 'other')}"
        yield f"{one_line(one.name)}  {one.id[: browse.SHORT]}  {one.share:.0%} alike: {shared}"
        for kind in one.kinds:
            yield f"  {name_kind(kind)}  (in {kind.cases:,} of {found.asked + 1:,})"
        for label in label_lines(one.labels):
            yield f"  label: {label}"


def name_kind(kind: SignalKind) -> str:
    """Return a kind of sign on one line: where it comes from and what it says."""
    return one_line(f"{kind.module}: {kind.template}" if kind.module else kind.template)


def list_cells(one: SimilarCase) -> list[Any]:
    """Return the row of a similar case, see `HEAD`."""
    kinds = [asdict(kind) for kind in one.kinds]
    labels = [asdict(label) for label in one.labels]
    return [one.name, one.id, round(one.share, 4), one.shared, one.total, kinds, labels]


def list_notes(found: SimilarCases) -> Iterator[str]:
    """Yield what is to be said of the whole."""
    if not found.total:
        yield "this case has no signs of trouble that no finding rests on"
    elif not found.cases:
        yield "no other case shares a sign with it"
    if found.unknown:
        yield (
            f"not compared: {count_noun(found.unknown, 'case')} whose signs are not known"
            " (refused, or stored by an earlier version)"
        )

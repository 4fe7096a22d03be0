"""Exports stored cases as plain files: a folder per case, one file per table of facts."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analyzer.archive.entries import Snapshot
from analyzer.archive.entry import Stored
from analyzer.archive.object_store.object_store import GoneError
from analyzer.archive.query import redacting, rows, views
from analyzer.archive.query.ask import QueryDatabase
from analyzer.archive.query.browse import SHORT
from analyzer.archive.store import Archive
from analyzer.case import dumps
from analyzer.errors import WriteError
from analyzer.language.logic import text_literal
from analyzer.limits import Limits
from analyzer.output import ELSEWHERE, check_folder, write_all

if TYPE_CHECKING:
    from analyzer.redact.redaction import Redaction

PARQUET, CSV = "parquet", "csv"
FACTS = "facts"
SECONDS = 600.0  # of one table
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
LONGEST_NAME = 80


def folder_name(name: str, case: str) -> str:
    """Return the name of a case's folder: its name made harmless, and the start of its id, so that no two meet."""
    safe = _UNSAFE.sub("-", name).strip(".-")[:LONGEST_NAME].rstrip(".-") or "case"
    return f"{safe}-{case[:SHORT]}"


def export(
    archive: Archive,
    snapshot: Snapshot,
    cases: Sequence[Stored],
    folder: Path,
    *,
    facts: str = "",
    redaction: Redaction | None = None,
    done: Callable[[Path], None] = lambda _path: None,
) -> list[tuple[Stored, str]]:
    """Write case.json, report.html and report.md of each case, and with `facts` (parquet or csv) their tables.

    redaction  replaces all names; nothing is written when one would be left (LeftNameError)
    done       called with the folder of each case when it is written
    Returns the cases that have no report, with the reason. Nothing is written outside `folder`; a file is
    written whole or not at all. Raises WriteError when it cannot be written.
    """
    check_folder(folder, ())
    left: list[tuple[Stored, str]] = []
    if redaction is not None:
        _learn(archive, cases, redaction, facts=bool(facts))
    for case in cases:
        if case.judged.kind == "none":
            left.append((case, str(archive.meta(case).get("why", ""))))
            continue
        text, document = _document(archive, snapshot, case)
        if redaction is not None:
            document = redaction.redacted(document)
            text = dumps(document)
        made = _reports(document, text)
        if redaction is not None:
            redaction.check(made)
        target = _inside(folder, folder_name(document["case"]["name"], case.id))
        write_all(target, made)
        done(target)
    if facts:
        _facts(archive, snapshot, cases, _inside(folder, FACTS), facts, redaction)
    if redaction is not None:
        redaction.keep()
    return left


def _learn(archive: Archive, cases: Sequence[Stored], redaction: Redaction, *, facts: bool) -> None:
    """Collect every name of the cases before the first is written, and keep the map."""
    redacting.collect(archive, cases, redaction)
    if facts:
        with _filled(archive, cases) as (db, tables):
            learner = redacting.RedactedTables(db, redaction)
            for name, query in tables.items():
                learner.learn(name, query)
    redaction.keep()


def _document(archive: Archive, snapshot: Snapshot, case: Stored) -> tuple[str, dict[str, Any]]:
    """Return the case document as it was stored, and as reports read it."""
    try:
        return archive.document_text(case), archive.document(case)
    except GoneError:  # a compaction was quicker
        moved = snapshot.fresh().find(case.id)
        return archive.document_text(moved), archive.document(moved)


def _reports(document: dict[str, Any], text: str) -> dict[str, str]:
    from analyzer.report import html, markdown  # noqa: PLC0415 - heavy

    page = html.render(document, Limits().report_bytes)
    return {"case.json": text, "report.html": page, "report.md": markdown.render(document)}


def _inside(folder: Path, name: str) -> Path:
    """Return a folder below `folder`; one that is a link could lead elsewhere and is refused."""
    target = folder / name
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise WriteError("cannot write results here", where=str(target), why="it is a link or a file", do=ELSEWHERE)
    return target


def _facts(
    archive: Archive, snapshot: Snapshot, cases: Sequence[Stored], folder: Path, form: str, redaction: Redaction | None
) -> None:
    """Write every view that has rows of these cases; once more when a compaction was quicker."""
    ids = {case.id for case in cases}
    try:
        _tables(archive, cases, folder, form, redaction)
    except GoneError:
        _tables(archive, [case for case in snapshot.fresh().every() if case.id in ids], folder, form, redaction)


def _tables(archive: Archive, cases: Sequence[Stored], folder: Path, form: str, redaction: Redaction | None) -> None:
    with _filled(archive, cases) as (db, tables):
        redacted = redacting.RedactedTables(db, redaction) if redaction is not None else None
        for name, query in tables.items():
            own = query if redacted is None else redacted.query(query, proved=form == CSV)
            _write_table(db, own, folder, f"{name}.{form}", form)
            if redaction is not None and form == CSV:
                redacting.checked(folder / f"{name}.{form}", redaction)


@contextmanager
def _filled(archive: Archive, cases: Sequence[Stored]) -> Iterator[tuple[QueryDatabase, dict[str, str]]]:
    """Give a database over some cases, and the query of each view that has rows of them, by its name."""
    every = views.every()
    db = QueryDatabase(archive, cases, {view.stored for view in every.values()} - {views.LABELS}, SECONDS)
    try:
        found: dict[str, str] = {}
        for name, view in every.items():
            if view.stored != views.LABELS and not db.may_have(view.stored):
                continue
            db.view(name)
            query = "SELECT * FROM " + ".".join(f'"{part}"' for part in name.split("."))
            if db.rows(f"SELECT count(*) FROM ({query} LIMIT 1)")[0][0]:
                found[name] = query
        yield db, found
    finally:
        db.close()


def _write_table(db: QueryDatabase, query: str, folder: Path, name: str, form: str) -> None:
    with _replacing(folder, name) as path:
        if form == PARQUET:
            db.rows(f"COPY ({query}) TO {text_literal(str(path))} (FORMAT parquet, COMPRESSION zstd)")
            return
        with path.open("w", encoding="utf-8", newline="") as out:
            head, found = db.stream(query)
            rows.write(out, head, found, CSV)


@contextmanager
def _replacing(folder: Path, name: str) -> Iterator[Path]:
    """Give a temporary file that takes its name when the block ends well."""
    target = folder / name
    temporary = None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{name}.", dir=folder)
        os.close(handle)
        yield Path(temporary)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(target)
        temporary = None
    except OSError as error:
        why = error.strerror or str(error)
        raise WriteError("cannot write the result", where=str(target), why=why, do=ELSEWHERE) from error
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)

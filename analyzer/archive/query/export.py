"""Exports stored cases as plain files: a folder per case, one file per table of facts."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.archive.documents import DamagedError
from analyzer.archive.entries import Snapshot
from analyzer.archive.entry import Stored
from analyzer.archive.object_store.object_store import GoneError
from analyzer.archive.query import redacting, rows, views
from analyzer.archive.query.ask import QueryDatabase
from analyzer.archive.query.browse import SHORT
from analyzer.archive.store import Archive
from analyzer.case.case_file import write_case
from analyzer.report import html, markdown
from analyzer.rules.language.logic import text_literal
from analyzer.runtime.errors import WriteError
from analyzer.runtime.limits import Limits
from analyzer.runtime.output import ELSEWHERE, check_folder, write_all

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


def export_cases(
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
    with closing(Tables(archive, cases)) as tables:
        if redaction is not None:  # every name is known before the first case is written
            try:
                redacting.collect_tables(tables.database, tables.view_queries, redaction)
            except DamagedError:
                if facts:
                    raise
                redacting.collect_facts(archive, cases, redaction)  # of those that are whole
            if facts:
                for name, query in tables.view_queries.items():
                    redacting.learn_names(tables.database, name, query, redaction)
            redacting.collect_documents(archive, cases, redaction)
            redaction.keep_map()
        left = _write_documents(archive, snapshot, cases, folder, redaction, done)
        if facts:
            _write_facts(tables, snapshot, _choose_folder(folder, FACTS), facts, redaction)
    if redaction is not None:
        redaction.keep_map()
    return left


def _write_documents(
    archive: Archive,
    snapshot: Snapshot,
    cases: Sequence[Stored],
    folder: Path,
    redaction: Redaction | None,
    done: Callable[[Path], None],
) -> list[tuple[Stored, str]]:
    """Write the folder of each case; return those that have no report, with the reason."""
    left: list[tuple[Stored, str]] = []
    for case in cases:
        if case.judged.kind == "none":
            left.append((case, str(archive.read_meta(case).get("why", ""))))
            continue
        try:
            text, document = archive.document_text(case), archive.read_document(case)
        except GoneError:  # a compaction was quicker
            moved = snapshot.take_again().find_case(case.id)
            text, document = archive.document_text(moved), archive.read_document(moved)
        if redaction is not None:
            document = redaction.redact_taken(document)
            text = write_case(document)

        page = html.render_page(document, Limits().report_bytes)
        made = {"case.json": text, "report.html": page, "report.md": markdown.render_note(document)}
        if redaction is not None:
            redaction.check_results(made)
        target = _choose_folder(folder, folder_name(document.case.name, case.id))
        write_all(target, made)
        done(target)
    return left


def _choose_folder(folder: Path, name: str) -> Path:
    """Return a folder below `folder`; one that is a link could lead elsewhere and is refused."""
    target = folder / name
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise WriteError(
            "cannot write results here",
            where=str(target),
            why="it is a link or a file",
            do=ELSEWHERE,
        )
    return target


def _write_facts(
    tables: Tables, snapshot: Snapshot, folder: Path, form: str, redaction: Redaction | None
) -> None:
    """Write every view that has rows of these cases; once more when a compaction was quicker."""
    ids = {case.id for case in tables.cases}
    try:
        _write_tables(tables, folder, form, redaction)
    except GoneError:
        with closing(
            Tables(
                tables.archive,
                [case for case in snapshot.take_again().list_every_case() if case.id in ids],
            )
        ) as again:
            _write_tables(again, folder, form, redaction)


def _write_tables(tables: Tables, folder: Path, form: str, redaction: Redaction | None) -> None:
    db = tables.database
    redacted = redacting.RedactedTables(db, redaction) if redaction is not None else None
    for name, query in tables.view_queries.items():
        own = query
        if redacted is not None:
            own = redacted.redacted_query(query, table=name, proved=form == CSV)
        with _replace_file(folder, f"{name}.{form}") as path:
            if form == PARQUET:
                target = text_literal(str(path))
                db.fetch_rows(f"COPY ({own}) TO {target} (FORMAT parquet, COMPRESSION zstd)")
            else:
                with path.open("w", encoding="utf-8", newline="") as out:
                    head, found = db.stream_rows(own)
                    rows.write_rows(out, head, found, CSV)
        if redaction is not None and form == CSV:
            redacting.check_file(folder / f"{name}.{form}", redaction)


class Tables:
    """A database over some cases, opened when it is asked for, and the query of each view that has rows of them."""

    def __init__(self, archive: Archive, cases: Sequence[Stored]) -> None:
        self.archive, self.cases = archive, cases
        self._db: QueryDatabase | None = None

    @property
    def database(self) -> QueryDatabase:
        """The database."""
        if self._db is None:
            stored = {view.stored for view in views.list_views().values()} - {views.LABELS}
            self._db = QueryDatabase(self.archive, self.cases, stored, SECONDS)
        return self._db

    @cached_property
    def view_queries(self) -> dict[str, str]:
        """The queries by the names of their views."""
        db, found = self.database, dict[str, str]()
        for name, view in views.list_views().items():
            if view.stored != views.LABELS and not db.may_have(view.stored):
                continue
            db.create_view(name)
            query = "SELECT * FROM " + ".".join(f'"{part}"' for part in name.split("."))
            if db.fetch_rows(f"SELECT count(*) FROM ({query} LIMIT 1)")[0][0]:
                found[name] = query
        return found

    def close(self) -> None:
        """Close the database."""
        if self._db is not None:
            self._db.close()


@contextmanager
def _replace_file(folder: Path, name: str) -> Iterator[Path]:
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
        raise WriteError(
            "cannot write the result", where=str(target), why=why, do=ELSEWHERE
        ) from error
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)

"""Backline as a library: `from analyzer import open_case` (docs/library.md)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analyzer.archive.query import browse
from analyzer.archive.restore import recall
from analyzer.archive.store import Archive
from analyzer.case import case_file
from analyzer.case.document import CannotTellGroup, CaseDocument
from analyzer.case.verdicts import Finding
from analyzer.merged_log import around as moments
from analyzer.pipeline.case_tables import CaseTables, plain_names
from analyzer.pipeline.triage import Options, triage
from analyzer.report import html, markdown
from analyzer.report.finding_names import find_finding
from analyzer.rules.run_catalog import read_local
from analyzer.runtime.errors import RefusedError, UsageError
from analyzer.runtime.output import write_all
from analyzer.runtime.text import count_noun
from analyzer.sources.remote import Place, place
from analyzer.views.log_reading import LogQuery, MergedLog

if TYPE_CHECKING:
    import pandas as pd

    from analyzer.views.log_reading import MergedLine

_SAVED = "case.json"
_ARCHIVE = "backline-archive.json"
_NO_MATERIAL = (
    "A saved case holds findings and no tables: open the bundle itself, or an archived case."
)


def open_case(
    paths: str | Path | Iterable[str | Path],
    *,
    case: str = "",
    kb: Sequence[str | Path] = (),
    drafts: bool = False,
    incident: str = "",
) -> OpenedCase:
    """Open a case: bundles and loose files are triaged in memory; what was triaged before is read back.

    paths     a path or several, also URLs of a storage; a folder of results, a case.json, or an archive; `~` is home
    case      of an archive the name of the case, or the start of its id
    kb        folders of more rules; drafts: judge draft rules as well. For a triage alone
    incident  when the trouble was, ISO 8601 in UTC. For a triage alone

    Nothing is written. Raises RefusedError when nothing can be read, UsageError for a word that fits nothing.
    """
    is_one = isinstance(paths, str | bytes | Path) or hasattr(paths, "read")
    if not is_one and isinstance(paths, Iterable):
        given = [_parse_path(path) for path in paths]
    else:
        given = [_parse_path(paths)]
    if not given:
        raise UsageError("no path is given")
    if case:
        return _open_archived(str(given[0]), case)
    for path in given:
        if isinstance(path, Path):
            _check_path(path)
    saved = find_saved(given)
    if saved is not None:
        return OpenedCase(case_file.read_case(saved))
    return _triage_paths(given, [Path(one) for one in kb], drafts, incident)


@dataclass(slots=True)
class OpenedCase:
    """A case: its document (docs/case.md), its findings, and its tables where the material is at hand.

    document  the case document, as case.json holds it
    paths     the material that was triaged; none of a saved or archived case
    """

    document: CaseDocument
    paths: tuple[Place, ...] = ()
    _tables: CaseTables | None = None

    @property
    def name(self) -> str:
        """The name of the case."""
        return self.document.case.name

    @property
    def complete(self) -> bool:
        """False when something was cut, damaged or not read: absence proves nothing then."""
        return self.document.case.complete

    @property
    def findings(self) -> list[Finding]:
        """What was found, worst first; `verdict` is match, or error of a rule that broke."""
        return list(self.document.findings)

    @property
    def cannot_tell(self) -> list[CannotTellGroup]:
        """What could not be judged: the rules, what is missing, why, and what to ask for."""
        return list(self.document.cannot_tell)

    @property
    def tables(self) -> dict[str, int]:
        """How many rows each table has that holds any; logs are not counted. UsageError of a saved case."""
        return self._open_tables().counts()

    def table(self, name: str) -> pd.DataFrame:
        """Return a table with the origin of each row first: `node`, `member` and `line`.

        Columns are those of `backline tables --doc`; one that has the name of an origin is called `value_member` or so.
        An empty frame means that the material holds no such row: `cannot_tell` says whether that proves anything.

        Raises UsageError for a table that no parser makes, and for a saved case.
        """

        return plain_names(self._open_tables().frame(name))

    def log(
        self, around: str | datetime | Finding, length: str = "10m", *, host: str = "", object: str = "",
        grep: str = "", level: str = "",
    ) -> Iterator[MergedLine]:  # fmt: skip
        """Yield the lines of all logs, of all hosts, merged by time in UTC, as `backline log` prints them.

        around  a time (UTC unless it names a zone), or a finding (also its id); length: of the stretch, 90s, 10m, 2h
        host    part of a name; object: a word such as vmnic3; grep: a regex; level: this severe or worse

        Raises UsageError of a saved or archived case: it keeps no whole logs.
        """

        if not self.paths:
            raise UsageError(
                "there are no logs to read",
                do="Open the bundle itself: other cases keep no whole logs.",
            )
        window = moments.center_window(self._find_moment(around), moments.parse_span(length))
        return MergedLog(
            self.paths, LogQuery(window=window, host=host, object=object, pattern=grep, level=level)
        ).read_lines()

    def report(self, path: str | Path) -> Path:
        """Write the report, whole or not at all: HTML, Markdown or the document by the ending .html, .md or .json.

        Returns the path. Raises WriteError when it cannot be written, UsageError for another ending.
        """

        target = Path(path)
        write_all(target.parent, {target.name: "".join(_render_report(self.document, target))})
        return target

    def _find_moment(self, around: str | datetime | Finding) -> datetime:
        if isinstance(around, datetime):
            return around if around.tzinfo else around.replace(tzinfo=UTC)
        name = around.id if isinstance(around, Finding) else around
        moment = moments.parse_time(name) if isinstance(around, str) else None
        return moment or moments.find_moment(find_finding(self.document, name))

    def _open_tables(self) -> CaseTables:
        if self._tables is None:
            if not self.paths:
                raise UsageError("this case has no tables", do=_NO_MATERIAL)

            self._tables = CaseTables(self.paths)
        return self._tables

    def __repr__(self) -> str:
        return f"<case {self.name!r}: {count_noun(len(self.document.findings), 'finding')}>"

    def _repr_html_(self) -> str:
        """Show the findings as a table in a notebook."""
        heads = ("severity", "confidence", "title", "machine", "object")
        head = "".join(f"<th>{word}</th>" for word in heads)
        body = ""
        for record in self.document.findings:
            cells = ""
            for key in ("severity", "confidence", "title", "node", "subject"):
                cells += f"<td>{escape(getattr(record, key))}</td>"
            body += f"<tr>{cells}</tr>"
        material = "complete" if self.complete else "not complete"
        rest = f"material {material}; cannot tell: {len(self.cannot_tell):,}"
        title = escape(repr(self)[1:-1])
        return f"<p><b>{title}</b>, {rest}</p><table><tr>{head}</tr>{body}</table>"


def _parse_path(path: Any) -> Place:
    if not isinstance(path, str | Path):
        raise TypeError(f"a path is a str or a Path, not {type(path).__name__}: {path!r:.80}")
    return place(path) if isinstance(path, str) and "://" in path else Path(path).expanduser()


def _check_path(path: Path) -> None:
    """Refuse what is not there, and an archive without the name of a case."""
    if not os.path.lexists(path):
        raise RefusedError("no such file or folder", where=str(path), do="Check the path.")
    if (path / _ARCHIVE).is_file():
        do = f"Name one of its cases: open_case({str(path)!r}, case=...). `backline archive list` has their names."
        raise UsageError("this is an archive of many cases", where=str(path), do=do)


def _triage_paths(paths: list[Place], kb: list[Path], drafts: bool, incident: str) -> OpenedCase:
    found, _ = read_local(
        None,
        settings=False,
        packs=True,
        material=[path for path in paths if isinstance(path, Path)],
    )
    options = Options(kb=kb, local=found, with_drafts=drafts, incident=incident)
    return OpenedCase(triage(paths, options).document, tuple(paths))


def find_saved(paths: Sequence[Place]) -> Path | None:
    """Return the case document that a single path means: the file itself, or that of a folder of results."""
    path = paths[0]
    if len(paths) > 1 or not isinstance(path, Path):
        return None
    if path.is_dir():
        path = path / _SAVED
        return path if path.is_file() and (path.parent / "report.html").is_file() else None
    if path.name == _SAVED:
        return path
    if path.suffix != ".json" or not path.is_file():
        return None
    with path.open("rb") as stream:
        is_document = b'"schema": "backline/case-' in stream.read(200)
    return path if is_document else None


def _open_archived(url: str, name: str) -> OpenedCase:
    archive = Archive.open(url)
    _, stored = browse.find_stored_case(archive, name)
    document = browse.read_document(archive, stored)
    tables = CaseTables((), lambda: recall.recall_case(archive, stored, ()).facts)
    return OpenedCase(document, _tables=tables)


def _render_report(document: CaseDocument, path: Path) -> list[str]:
    if path.suffix == ".html":
        return html.render_pieces(document)
    if path.suffix == ".md":
        return [markdown.render_note(document)]
    if path.suffix == ".json":
        return [case_file.write_case(document)]
    raise UsageError("the name of a report ends in .html, .md or .json", where=str(path))

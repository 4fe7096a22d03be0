"""The cases that a server answers for: opened when first asked for, with the pseudonyms of all of them in one map."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analyzer.archive.query import browse
from analyzer.archive.query.redacting import collect_names
from analyzer.archive.restore import recall
from analyzer.archive.store import Archive
from analyzer.case import case_file
from analyzer.case.document import CaseDocument
from analyzer.library import find_saved
from analyzer.pipeline.case_data import CaseData
from analyzer.pipeline.case_tables import CaseTables
from analyzer.pipeline.triage import Options, triage
from analyzer.redact.redaction import Redaction
from analyzer.redact.reversing import reverse_text
from analyzer.rules.run_catalog import read_local
from analyzer.runtime.errors import UsageError
from analyzer.runtime.text import one_line
from analyzer.sources.remote import Place

OWN_KEYS = frozenset(
    ("rule", "severity", "confidence", "level", "table")
)  # of answers: words of the program


@dataclass(slots=True)
class AskedCase:
    """A case that answers: its document as it is handed out, its material and tables where they are at hand."""

    key: str
    document: CaseDocument
    paths: tuple[Place, ...] = ()
    tables: CaseTables | None = None


class OpenCases:
    """The given cases as `case-1`, `case-2`, …, and those of an archive by the start of their id.

    redaction  None where real names are handed out
    """

    def __init__(
        self, paths: Sequence[Place], archive_url: str, redaction: Redaction | None
    ) -> None:
        self.paths = {f"case-{number}": path for number, path in enumerate(paths, 1)}
        self.archive_url = archive_url
        self.redaction = redaction
        self._opened: dict[str, AskedCase] = {}
        self._archive: Archive | None = None
        for path in paths:
            self.take_given(str(path))
        self.take_given(archive_url)

    @property
    def archive(self) -> Archive:
        """The archive; UsageError where none was given."""
        if not self.archive_url:
            raise UsageError(
                "no archive was given",
                do="Start the server with --archive DIR to search stored cases.",
            )
        if self._archive is None:
            self._archive = Archive.open(self.archive_url)
        return self._archive

    def open_case(self, key: str) -> AskedCase:
        """Return a case by its key, the only one for ""; UsageError with the keys there are for another."""
        if not key and len(self.paths) == 1:
            key = next(iter(self.paths))
        if key in self._opened:
            return self._opened[key]
        if key in self.paths:
            opened = self._open_path(key, self.paths[key])
        elif key and self.archive_url:
            opened = self._open_stored(key)
        else:
            raise UsageError(
                f"no case {one_line(key, 60)!r}" if key else "no case is named",
                do="`list_cases` has the keys of the cases.",
                choices=list(self.paths),
            )
        self._opened[key] = opened
        return opened

    def _open_path(self, key: str, path: Place) -> AskedCase:
        """Open a bundle, a folder, or what a triage wrote."""
        saved = find_saved([path])
        if saved is not None:
            return AskedCase(key, self._redact_document(case_file.read_case(saved)))
        material = [path] if isinstance(path, Path) else []
        local, _ = read_local(None, settings=False, packs=True, material=material)
        options = Options(local=local)
        options.on_gathered = self._take_facts
        document = triage([path], options).document
        return AskedCase(key, self._redact_document(document), (path,), CaseTables([path]))

    def _open_stored(self, key: str) -> AskedCase:
        """Open a case of the archive; its tables are those that are stored."""
        archive = self.archive
        _, stored = browse.find_stored_case(archive, self.find_name(key))
        document = browse.read_document(archive, stored)
        if self.redaction is not None:
            collect_names(archive, [stored], self.redaction)
        tables = CaseTables((), lambda: recall.recall_case(archive, stored, ()).facts)
        return AskedCase(key, self._redact_document(document), tables=tables)

    def take_stored(self, ids: Sequence[str]) -> None:
        """Take the names of stored cases, those of their tables too."""
        if self.redaction is None:
            return
        snapshot = self.archive.take_snapshot()
        collect_names(self.archive, [snapshot.find_case(one) for one in ids], self.redaction)

    def take_given(self, path: str) -> None:
        """Take the name of a file, folder or case."""
        if self.redaction is not None and path:
            self.redaction.begin_taking().take_given(path)

    def take_cells(self, kind: str, cells: Sequence[str]) -> None:
        """Take cells that hold a name of a kind."""
        if self.redaction is not None:
            names = self.redaction.begin_taking()
            for cell in cells:
                names.take_cell(kind, cell)

    def take_lines(self, lines: Sequence[str]) -> None:
        """Take the names that lines show by their form."""
        if self.redaction is not None:
            self.redaction.take_lines(lines)

    def find_name(self, word: str) -> str:
        """Return a word of a question with real names in the place of pseudonyms."""
        if self.redaction is None:
            return word
        _ = self.redaction.name_replacer  # a name has its pseudonym when it was replaced once
        return reverse_text(self.redaction.map, word)

    def free_answer(self, answer: dict[str, Any]) -> dict[str, Any]:
        """Return an answer without the names that were taken."""
        if self.redaction is None:
            return answer
        made: dict[str, Any] = self.redaction.name_replacer.replace_document(answer, OWN_KEYS)
        return made

    def free_text(self, text: str) -> str:
        """Return a text without the names that were taken, and with the keys of cases in the place of their paths."""
        if self.redaction is None:
            return text
        for key, path in self.paths.items():
            text = text.replace(str(path), key)
        if self.archive_url:
            text = text.replace(self.archive_url, "the archive")
        return self.redaction.redact_text(text)

    def check_answer(self, text: str) -> None:
        """Raise LeftNameError when a name is left in what is about to leave; keep the map where it has a file."""
        if self.redaction is not None:
            self.redaction.check_results({"the answer": text})
            self.redaction.keep_map()

    def _redact_document(self, document: CaseDocument) -> CaseDocument:
        if self.redaction is None or document.case.masked:
            return document
        return self.redaction.redact_document(document)

    @property
    def _take_facts(self) -> Callable[[CaseData], None] | None:
        redaction = self.redaction
        if redaction is None:
            return None
        return lambda material: redaction.take_facts(material.facts)

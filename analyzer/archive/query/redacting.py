"""Stored cases for somebody else: names are collected from facts and documents, and replaced in what is exported."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from analyzer.archive.entry import Stored
from analyzer.archive.object_store.object_store import GoneError
from analyzer.archive.query.ask import QueryDatabase
from analyzer.archive.store import Archive
from analyzer.errors import BacklineError
from analyzer.facts.database import quoted
from analyzer.redact.columns import PLAIN, kind_of
from analyzer.redact.redaction import Redaction

_NAMES = "_pseudonyms"
AT_ONCE = 20_000  # texts that are looked at together


def collect(archive: Archive, cases: Sequence[Stored], redaction: Redaction) -> None:
    """Give the redaction the names of stored cases; where only a judgement is stored, those of its document."""
    from analyzer.archive.restore import recall  # noqa: PLC0415 - heavy

    for case in cases:
        if case.judged.kind == "none":
            continue
        try:
            redaction.facts(recall.material(archive, case, ()).facts)
        except GoneError:
            raise
        except BacklineError:  # no facts are stored, so none are exported either
            pass
        redaction.document(archive.document(case))


class RedactedTables:
    """The tables of an export with their names replaced, as queries over the same database."""

    def __init__(self, db: QueryDatabase, redaction: Redaction) -> None:
        self.db, self.redaction = db, redaction
        db.con.execute(f"CREATE TABLE {_NAMES} (old VARCHAR PRIMARY KEY, new VARCHAR)")

    def learn(self, table: str, query: str) -> None:
        """Take the names that the texts of a table show by their form."""
        for texts in self._texts(query, [one for one in self._columns(query) if _holds_text(table, one)]).values():
            for start in range(0, len(texts), AT_ONCE):
                self.redaction.lines(texts[start : start + AT_ONCE])

    def query(self, query: str, *, proved: bool = False) -> str:
        """Return the query of a table without names; LeftNameError when one would be left in a cell.

        proved  what is written of it is read again (`checked`), so the cells need not be
        """
        columns = self._columns(query)
        held = self._texts(query, columns)
        texts = list(dict.fromkeys(text for own in held.values() for text in own))
        made = self.redaction.replacer.texts(texts)
        if not proved:
            self.redaction.check({"facts": "\n".join(made.values())})
        self.db.con.execute(f"DELETE FROM {_NAMES}")
        changed = [(old, new) for old, new in made.items() if old != new]
        olds, news = [old for old, _ in changed], [new for _, new in changed]
        self.db.con.execute(f"INSERT INTO {_NAMES} SELECT unnest($1::VARCHAR[]), unnest($2::VARCHAR[])", [olds, news])
        given = (
            f"coalesce((SELECT new FROM {_NAMES} WHERE old = r.{quoted(one)}), r.{quoted(one)}) AS {quoted(one)}"
            for one, own in held.items()
            if any(made[text] != text for text in own)
        )
        replaced = ", ".join(given)
        return f"SELECT r.* REPLACE ({replaced}) FROM ({query}) r" if replaced else query

    def _columns(self, query: str) -> list[str]:
        rows: list[tuple[Any, ...]] = self.db.rows(f"DESCRIBE {query}")
        return [row[0] for row in rows if row[1] == "VARCHAR" and row[0] != "case_id"]

    def _texts(self, query: str, columns: Sequence[str]) -> dict[str, list[str]]:
        """Return the texts that stand in columns, sorted; the table is read once for all of them."""
        if not columns:
            return {}
        names = map(quoted, columns)
        lists = ", ".join(f"list(DISTINCT {name}) FILTER (WHERE {name} IS NOT NULL)" for name in names)
        (found,) = self.db.rows(f"SELECT {lists} FROM ({query})")
        return {column: sorted(texts or ()) for column, texts in zip(columns, found, strict=True)}


def _holds_text(table: str, column: str) -> bool:
    """Tell whether cells of a column may speak of anything; those of typed columns are known from the facts."""
    try:
        return kind_of(table, column) != PLAIN
    except KeyError:  # of the cases themselves: subjects, sentences, lines
        return True


def checked(path: Path, redaction: Redaction) -> None:
    """Read a file that was written, and remove it when a name is left in it; then LeftNameError."""
    try:
        redaction.check({path.name: path.read_text(encoding="utf-8")})
    except BacklineError:
        path.unlink()
        raise

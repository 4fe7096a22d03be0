"""Redacts a case: the one thing that commands call, `Redaction`.

Verdicts are made of the originals; only what leaves is replaced. What was made is read again before it is written: a
name that is left refuses all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import convert, to_builtins

from analyzer.case.document import CaseDocument, Signal
from analyzer.ingest.problems import MASKED, classify_problem
from analyzer.redact import namemap
from analyzer.redact.identities import Identities
from analyzer.redact.replacing import Replacer
from analyzer.redact.residue import LeftName, Residue
from analyzer.runtime.errors import BacklineError

if TYPE_CHECKING:
    from analyzer.facts import Facts

# Keys whose texts are the program's own and no words: hashes, schema, states, names of tables and rules.
KEPT = frozenset(
    (
        "sha256", "schema", "catalog", "version", "build", "rule", "rules", "kind", "state", "status", "verdict",
        "severity", "confidence", "reason", "table", "read_by", "parser", "unit", "product",
    )
)  # fmt: skip
SHOWN = 5  # survivors named in the message


class LeftNameError(BacklineError):
    """A name is left in what was made; nothing of it may leave."""

    exit_code = 6

    def __init__(self, left: Iterable[LeftName]) -> None:
        places = list(dict.fromkeys(map(str, left)))
        more = f"; and {len(places) - SHOWN} more" if len(places) > SHOWN else ""
        super().__init__(
            "a name is left after redaction, so nothing was written",
            why="; ".join(places[:SHOWN]) + more,
            do="Please report this; until then read the case without --redact and hand nothing out.",
        )


class Redaction:
    """Pseudonyms for one case, or for several that share a map.

    Give it all it shall know (`facts`, `document`), then ask for what leaves (`redacted`, `text`), then let it look at
    the results (`check`), and `save` the map.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.map = namemap.load_map(path)
        self.identities = Identities(self.map.learnt)
        self._replacer: Replacer | None = None
        self._residue: Residue | None = None  # made with the replacer
        self._machines: list[
            tuple[tuple[str, ...], str]
        ] = []  # names of each machine, and its pseudonym

    def redact_document(self, doc: CaseDocument) -> CaseDocument:
        """Take the names of a case document, and return it without them."""
        self.take_document(doc)
        return self.redact_taken(doc)

    def take_facts(self, facts: Facts) -> None:
        """Take the names that the tables of a case hold."""
        self.identities.take_facts(facts)
        self._replacer = None

    def take_document(self, doc: CaseDocument) -> None:
        """Take the names that a case document holds."""
        self.identities.take_document(doc)
        self._replacer = None

    def take_lines(self, texts: Iterable[str]) -> None:
        """Take the names that lines show by their form."""
        self.identities.take_lines(texts)
        self._replacer = None

    @property
    def name_replacer(self) -> Replacer:
        """What replaces the names that were taken so far."""
        if self._replacer is None:
            names = self.identities.list_found()
            self.map.reserve_names(name for _, name in names)
            self._replacer = Replacer(self.map, names)
            self._residue = Residue(self._replacer, names)
        return self._replacer

    @property
    def name_residue(self) -> Residue:
        """What looks for the names that were taken so far."""
        _ = self.name_replacer
        assert self._residue is not None
        return self._residue

    def redact_taken(self, doc: CaseDocument) -> CaseDocument:
        """Return a case document without names; it says so, and by which state of the map."""
        plain = self.name_replacer.replace_document(to_builtins(doc), KEPT)
        made = convert(plain, CaseDocument)
        made.case.masked = True
        made.case.map = self.map_state
        for old, new in zip(doc.signals, made.signals, strict=True):
            if old.text in self.name_replacer.encoded:
                new.what = new.text  # with other digits what was encoded can no longer be read
            elif old.text != new.text:
                name_again(new)
        for old_node, node in zip(doc.nodes, made.nodes, strict=True):
            self._machines.append(((old_node.name, old_node.id), node.name or node.id))
        made.settings.file = _name_file(made.settings.file)  # files of this machine
        for catalog in made.settings.catalogs:
            catalog.name = _name_file(catalog.name)
        return made

    def replace_names(self, value: dict[str, Any]) -> dict[str, Any]:
        """Return another document, such as a comparison, without the names that were taken."""
        made: dict[str, Any] = self.name_replacer.replace_document(value, KEPT)
        return made

    def redact_text(self, text: str) -> str:
        """Return a text without the names."""
        return self.name_replacer.replace_text(text)

    def redact_machines(self, words: Iterable[str]) -> tuple[str, ...]:
        """Return names of machines, or patterns, as a redacted document has them; a pseudonym stays as it is."""
        found: dict[str, None] = {}
        for word in words:
            low = word.casefold()
            fits = [
                new
                for names, new in self._machines
                if any(fnmatchcase(one.casefold(), low) for one in names)
            ]
            found |= dict.fromkeys(fits or [word])
        return tuple(found)

    @property
    def map_state(self) -> str:
        """The state of the map, for the head of a report: no name is in it."""
        return f"revision {self.map.next_revision}"

    def check_results(self, results: Mapping[str, str]) -> None:
        """Raise LeftNameError when a name is left in one of the results; then nothing may be written."""
        look = self.name_residue
        left = [
            one for result, text in results.items() for one in look.find_survivors(result, text)
        ]
        left += [
            one for result in results for one in look.find_survivors("the name of a result", result)
        ]
        self.refuse_left(left)

    @staticmethod
    def refuse_left(left: Iterable[LeftName]) -> None:
        """Raise LeftNameError when a name is left."""
        if places := list(left):
            raise LeftNameError(places)

    def begin_taking(self) -> Identities:
        """Return what takes names, to give it more of them; what was made of those before is made anew."""
        self._replacer = None
        return self.identities

    def keep_map(self) -> None:
        """Give every name that was taken its pseudonym, and write the map where it is kept."""
        self.map.words |= self.name_replacer.words
        self.map.save_map()


def name_again(signal: Signal) -> None:
    """Make the words of a signal anew from its line, which has no names: half masked, a name is no longer found."""
    problem = classify_problem(signal.kind, signal.text) if signal.kind in MASKED else None
    if problem is not None:
        signal.what = problem.what


def _name_file(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]

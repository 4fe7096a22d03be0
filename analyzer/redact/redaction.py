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
from analyzer.case.packed_text import open_packed_texts
from analyzer.ingest.problems import MASKED, classify_problem
from analyzer.redact import namemap
from analyzer.redact.identities import Identities
from analyzer.redact.provenance import PRODUCT, Plan, list_texts, plan_record
from analyzer.redact.replacing import Replacer
from analyzer.redact.residue import LeftName, Residue
from analyzer.redact.strict import StrictWords, hide_record, list_naming
from analyzer.runtime.errors import BacklineError

if TYPE_CHECKING:
    from analyzer.facts import Facts

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

    def __init__(self, path: Path | None = None, *, strict: bool = False) -> None:
        self.is_strict = strict  # words of the material that nothing marks are hidden, too
        self._naming: set[str] = set()  # texts that tell things apart, whose words get pseudonyms
        self._strict_words: StrictWords | None = None
        self.map = namemap.load_map(path)
        self.identities = Identities(self.map.learnt)
        self._own_texts: set[str] = set()  # what the product says in the documents, in lower case
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
        plain, plan = to_builtins(doc), plan_record(CaseDocument)
        self.take_naming(plain, plan)
        if has_own_rules(doc):
            texts = list_texts(plain, plan)
            self._own_texts.update(text.lower() for owner, text in texts if owner == PRODUCT)
        self._replacer = None

    def take_lines(self, texts: Iterable[str]) -> None:
        """Take the names that lines show by their form."""
        self.identities.take_lines(texts)
        self._replacer = None

    @property
    def name_replacer(self) -> Replacer:
        """What replaces the names that were taken so far."""
        if self._replacer is None:
            self._replacer = self._make_replacer()
            if self.is_strict and self._take_unknown(self._replacer):
                self._replacer = self._make_replacer()
            self._residue = Residue(self._replacer, self.identities.list_found())
            self._strict_words = None
        return self._replacer

    def _make_replacer(self) -> Replacer:
        names = self.identities.list_found()
        self.map.reserve_names(name for _, name in names)
        return Replacer(self.map, names, "\n".join(sorted(self._own_texts)))

    def _take_unknown(self, replacer: Replacer) -> bool:
        """Take words of texts that tell things apart, where neither the product nor a pseudonym says them."""
        words = _begin_strict(replacer)
        made = replacer.replace_texts(sorted(self._naming))
        found = {word for text in made.values() for word in words.list_unknown(text)}
        before = len(self.identities.names)
        for word in sorted(found):
            self.identities.take_cell("label", word)
        return len(self.identities.names) > before

    @property
    def strict_words(self) -> StrictWords:
        """What hides words that nothing marks."""
        replacer = self.name_replacer
        if self._strict_words is None:
            self._strict_words = _begin_strict(replacer)
        return self._strict_words

    def take_naming(self, plain: dict[str, Any], plan: Plan) -> None:
        """Take texts of a document that tell one thing from another: in a strict redaction their words get pseudonyms."""
        if self.is_strict:
            self._naming.update(list_naming(plain, plan))
            self._replacer = None

    def hide_unmarked(self, plain: Any, plan: Plan) -> Any:
        """Return a redacted document; of a strict redaction without the words of the material that nothing marks."""
        if not self.is_strict:
            return plain
        own = (text for owner, text in list_texts(plain, plan) if owner == PRODUCT)
        self.strict_words.keep_words(own)
        return hide_record(plain, plan, self.strict_words)

    def hide_words(self, text: str) -> str:
        """Return a redacted text of the material; a strict redaction hides the words that nothing marks."""
        return self.strict_words.hide_words(text) if self.is_strict else text

    @property
    def name_residue(self) -> Residue:
        """What looks for the names that were taken so far."""
        _ = self.name_replacer
        assert self._residue is not None
        return self._residue

    def redact_taken(self, doc: CaseDocument) -> CaseDocument:
        """Return a case document without names; it says so, and by which state of the map."""
        plain = self.name_replacer.replace_record(
            to_builtins(doc), plan_record(CaseDocument), own=has_own_rules(doc)
        )
        made = convert(self.hide_unmarked(plain, plan_record(CaseDocument)), CaseDocument)
        made.case.masked = True
        made.case.map = self.map_state
        for old, new in zip(doc.signals, made.signals, strict=True):
            if old.text in self.name_replacer.encoded:
                new.what = new.text  # with other digits what was encoded can no longer be read
            elif old.text != new.text:
                name_again(new)
                # `esx-0` is nobody's name; with its digits masked it reads as `esx-7` does, which is one
                new.what = self.redact_text(new.what)
        for old_row, row in zip(doc.site, made.site, strict=True):
            if row.what == "member":
                row.channel = (
                    old_row.channel
                )  # the kind of the member, where a channel may be named
        for old_node, node in zip(doc.nodes, made.nodes, strict=True):
            self._machines.append(((old_node.name, old_node.id), node.name or node.id))
        made.settings.file = _name_file(made.settings.file)  # files of this machine
        for catalog in made.settings.catalogs:
            catalog.name = _name_file(catalog.name)
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
        """Raise LeftNameError when a name is left in one of the results; then nothing may be written.

        What a page carries packed is looked at as the text that it is.
        """
        look = self.name_residue
        left = [
            one
            for result, text in results.items()
            for one in look.find_survivors(result, open_packed_texts(text))
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


def _begin_strict(replacer: Replacer) -> StrictWords:
    return StrictWords(
        (*replacer.all_forms.values(), *replacer.placed.values()), replacer.shapes.issued
    )


def has_own_rules(doc: CaseDocument) -> bool:
    """Say whether all rules of a document came with the product: of others a title may hold a name."""
    return all(part.kind == "shipped" for part in doc.settings.catalogs)


def name_again(signal: Signal) -> None:
    """Make the words of a signal anew from its line, which has no names: half masked, a name is no longer found."""
    problem = classify_problem(signal.kind, signal.text) if signal.kind in MASKED else None
    if problem is not None:
        signal.what = problem.what


def _name_file(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]

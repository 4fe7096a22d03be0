"""Which parsers take a member by its place: a word that the place must hold comes first, as most are no parser's."""

from __future__ import annotations

import re
from collections.abc import Iterable

from analyzer.artefacts import parsing
from analyzer.artefacts.parsing import Parser
from analyzer.runtime.snapshot import keep_answers
from analyzer.scan.prefilter import Required, literal_choices
from analyzer.sources import shapes

GRAM = 4
MOST_FOLDERS = 1000  # that are kept; hostile archives have many
# An output of a bundle; its name tells the command, but with blanks and signs lost (esxcli has no dashes in its words).
_OUTPUT = re.compile(
    r"(?:^|/)commands/(?:\d+\.)?(?P<program>localcli|esxcli)_(?P<words>\w[\w-]*)\.txt$"
)


def note(parsers: Iterable[Parser]) -> None:
    """Work out what a run will ask of the patterns of parsers, see `PatternAnswers`."""
    some = list(parsers)
    KnownFiles(some)
    for parser in some:
        if parser.stream:
            words_of(parser.shape)
    shapes.note_patterns(some)


class KnownFiles:
    """The parsers whose `files` are searched in the path of a member, in the order in which they are given.

    Of each word `GRAM` letters from its middle are looked up: of the hundreds of words thirty are left to be searched.
    """

    def __init__(self, parsers: Iterable[Parser]) -> None:
        self._words = [
            (word, pattern, one)
            for one in parsers
            for pattern in one.files
            for word in words_of(pattern)
        ]
        self._by_gram: dict[str, list[int]] = {}
        for number, (word, *_) in enumerate(self._words):
            self._by_gram.setdefault(_gram(word), []).append(number)
        self._short = [
            number for gram, own in self._by_gram.items() if len(gram) < GRAM for number in own
        ]
        self._near: dict[
            str, set[int]
        ] = {}  # folder -> words that may stand in it; a folder has hundreds of members
        self._of_words: dict[
            str, list[Parser]
        ] = {}  # words of a command -> parsers whose files are named so
        self._outputs = [
            (word, parser)
            for word, _, parser in self._words
            if "localcli_" in word and not parser.rest
        ]

    def takes(self, path: str) -> list[Parser]:
        """Return the parsers of a member, given by its path inside its bundle."""
        return self.find(path)[0]

    def find(self, path: str) -> tuple[list[Parser], bool]:
        """Return the parsers of a member and whether they are a guess: nobody but a parser of the rest lists an output.

        It then goes to the parser of its command: releases differ in options (`list -i`).
        """
        listed = self._listed(path)
        if found := [parser for parser in listed if not parser.rest]:
            return found, False
        named = _OUTPUT.search(path)
        return (self._of_command(named) or listed, True) if named else (listed, False)

    def _listed(self, path: str) -> list[Parser]:
        folder = path.rfind("/") + 1
        if path[:folder] not in self._near:
            if len(self._near) >= MOST_FOLDERS:
                self._near.clear()
            self._near[path[:folder]] = self._grams(path[:folder])
        near = self._near[path[:folder]] | self._grams(path[max(0, folder - GRAM) :])
        likely = [self._words[number] for number in sorted(near.union(self._short))]
        taking = {
            id(parser): parser
            for word, pattern, parser in likely
            if word in path and parsing.compile_pattern(pattern).search(path)
        }
        return list(taking.values())

    def _grams(self, text: str) -> set[int]:
        """Return the words of which a text holds the letters that are looked up."""
        numbers = self._by_gram.get
        return {number for at in range(len(text)) for number in numbers(text[at : at + GRAM], ())}

    def _of_command(self, named: re.Match[str]) -> list[Parser]:
        beginning = f"localcli_{named['words'].partition('--')[0]}"
        if beginning not in self._of_words:
            found = {id(parser): parser for word, parser in self._outputs if beginning in word}
            self._of_words[beginning] = list(found.values())
        command = f"{named['program']} {named['words'].replace('-', ' ')}"
        return [one for one in self._of_words[beginning] if one.match_command(command)]


def _gram(word: str) -> str:
    middle = max(0, (len(word) - GRAM) // 2)
    return word[middle : middle + GRAM]


@keep_answers
def words_of(pattern: str) -> list[str]:
    """Return words of which one stands in every text that a pattern is found in; "" where none is known."""
    sure = [choice for choice in literal_choices(pattern) if not choice.ignore_case]
    return sorted(max(sure, key=_worth).texts) if sure else [""]


def _worth(choice: Required) -> tuple[bool, tuple[int, int]]:
    """Order choices: many members lie in one folder."""
    return not any(text.endswith("/") for text in choice.texts), choice.weight

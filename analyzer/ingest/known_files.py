"""Which parsers take a member by its place: a word that the place must hold comes first, as most are no parser's."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from analyzer.artefacts import parsing
from analyzer.artefacts.parsing import Parser
from analyzer.runtime.snapshot import keep_answers
from analyzer.scan.prefilter import Required, literal_choices
from analyzer.sources import shapes

GRAM = 4
MOST_FOLDERS = 1000  # that are kept; hostile archives have many
# An output of a bundle; its name gives the command, but with blanks and signs lost (esxcli has no dashes in its words).
_OUTPUT = re.compile(
    r"(?:^|/)commands/(?:\d+\.)?(?P<program>localcli|esxcli)_(?P<words>\w[\w-]*)\.txt$"
)


def note_patterns(parsers: Iterable[Parser]) -> None:
    """Work out what a run will ask of the patterns of parsers, see `PatternAnswers`."""
    some = list(parsers)
    for parser in some:
        for pattern in parser.files:
            find_literal_words(pattern)
        if parser.stream:
            find_literal_words(parser.shape)
        if parser.head_of and parser.shape:
            literal_choices(parser.shape)
    shapes.note_patterns(some)


@lru_cache(maxsize=4)  # a run asks for the same parsers for each case
def _index_words(
    parsers: tuple[Parser, ...],
) -> tuple[list[tuple[str, str, Parser]], dict[str, list[int]], list[int]]:
    """Return the words of the files of parsers, the numbers of the words by the letters that are looked up, the short words."""
    words: list[tuple[str, str, Parser]] = []
    for parser in parsers:
        for pattern in parser.files:
            for word in find_literal_words(pattern):
                words.append((word, pattern, parser))
    by_gram: dict[str, list[int]] = {}
    short: list[int] = []  # words that are no longer than what is looked up
    for number, (word, *_) in enumerate(words):
        middle = max(0, (len(word) - GRAM) // 2)
        gram = word[middle : middle + GRAM]
        by_gram.setdefault(gram, []).append(number)
        if len(gram) < GRAM:
            short.append(number)
    return words, by_gram, short


class KnownFiles:
    """The parsers whose `files` are searched in the path of a member, in the order in which they are given.

    Of each word `GRAM` letters from its middle are looked up: of the hundreds of words thirty are left to be searched.
    """

    def __init__(self, parsers: Iterable[Parser]) -> None:
        self._words, self._by_gram, self._short = _index_words(tuple(parsers))
        # folder -> words that may be in it; a folder has hundreds of members
        self._near: dict[str, set[int]] = {}
        # words of a command -> parsers whose files are named so
        self._of_words: dict[str, list[Parser]] = {}

    def find_parsers(self, path: str) -> list[Parser]:
        """Return the parsers of a member, given by its path inside its bundle."""
        return self.match_path(path)[0]

    def match_path(self, path: str) -> tuple[list[Parser], bool]:
        """Return the parsers of a member and whether they are a guess: only a parser of the rest lists an output.

        It then goes to the parser of its command: releases differ in options (`list -i`).
        """
        folder = path.rfind("/") + 1
        near = self._near.get(path[:folder])
        if near is None:
            if len(self._near) >= MOST_FOLDERS:
                self._near.clear()
            near = self._near[path[:folder]] = self._look_up_grams(path[:folder])
        near = near | self._look_up_grams(path[max(0, folder - GRAM) :])
        listed: dict[int, Parser] = {}
        for number in sorted(near.union(self._short)):
            word, pattern, parser = self._words[number]
            if word in path and parsing.compile_pattern(pattern).search(path):
                listed[id(parser)] = parser

        if found := [parser for parser in listed.values() if not parser.rest]:
            return found, False
        output = _OUTPUT.search(path)
        if output is None:
            return list(listed.values()), False
        beginning = f"localcli_{output['words'].partition('--')[0]}"
        if beginning not in self._of_words:
            named: dict[int, Parser] = {}
            for word, _, parser in self._words:
                if beginning in word and not parser.rest:
                    named[id(parser)] = parser
            self._of_words[beginning] = list(named.values())
        command = f"{output['program']} {output['words'].replace('-', ' ')}"
        guessed = [one for one in self._of_words[beginning] if one.match_command(command)]
        return guessed or list(listed.values()), True

    def _look_up_grams(self, text: str) -> set[int]:
        """Return the words of which a text holds the letters that are looked up."""
        numbers = self._by_gram.get
        return {number for at in range(len(text)) for number in numbers(text[at : at + GRAM], ())}


@keep_answers
def find_literal_words(pattern: str) -> list[str]:
    """Return words of which one is in every text that a pattern is found in; "" where none is known."""
    sure = [choice for choice in literal_choices(pattern) if not choice.ignore_case]
    if not sure:
        return [""]

    def weigh_choice(choice: Required) -> tuple[bool, tuple[int, int]]:
        in_many = any(text.endswith("/") for text in choice.texts)  # many members lie in one folder
        return not in_many, choice.weight

    return sorted(max(sure, key=weigh_choice).texts)

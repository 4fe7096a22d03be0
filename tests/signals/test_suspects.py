"""The search of a long text proposes every line that the grammar gives a weight. All lines are synthetic."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer import rules
from analyzer.signals.answers import ANSWER_PATTERNS, find_answer_lines
from analyzer.signals.grammar import LINE_PATTERNS
from analyzer.signals.lines import MOST_EXCERPT, ExcerptLine
from analyzer.signals.suspects import find_suspect_lines
from analyzer.signals.words import CLASSES

PATTERNS = [*LINE_PATTERNS, *ANSWER_PATTERNS, *(words.pattern for words in CLASSES)]
LETTERS = st.characters(min_codepoint=32, max_codepoint=126)


def read_lines(lines: list[str], only: set[int] | None = None) -> list[ExcerptLine]:
    """Return what the grammar finds in lines, or in those of some numbers."""
    return list(find_answer_lines(lines, 1, "session.txt", "", only))


def list_example_lines() -> Iterator[str]:
    """Yield the lines of the examples of all rules: logs, outputs of commands, answers."""
    for rule in rules.load(examples=True).rules:
        for example in rule.examples:
            texts = [text or "" for text in example.logs.values()]
            texts += [str(file.get("text", "")) for file in example.files]
            for text in texts:
                yield from text.splitlines()


@pytest.mark.size
def test_each_example_line_that_weighs_is_proposed() -> None:
    """Three thousand lines of logs and outputs: those that the search leaves out weigh nothing."""
    every = list(dict.fromkeys(list_example_lines()))
    assert len(every) > 2500
    random.Random(1).shuffle(every)
    left_out = 0
    for start in range(0, len(every), MOST_EXCERPT):
        lines = every[start : start + MOST_EXCERPT]
        suspects = find_suspect_lines(lines, 1)
        assert read_lines(lines, suspects) == read_lines(lines)
        left_out += len(lines) - len(suspects)
    assert left_out > 500


@given(st.sampled_from(PATTERNS), st.data())
def test_what_a_pattern_of_the_grammar_takes_is_proposed(
    pattern: re.Pattern[str], data: st.DataObject
) -> None:
    """Between any other words, letters beyond ASCII among them, and at any place of the text."""
    plain = re.sub(r"\(\?(?:!|<!|=|<=)[^()]*(?:\([^()]*\)[^()]*)*\)|\\b|\^", "", pattern.pattern)
    text = data.draw(st.from_regex(plain, fullmatch=True, alphabet=LETTERS))
    before = data.draw(st.lists(st.sampled_from(["", "total 0", "naïve – ∅", "x" * 200])))
    lines = [*before, f"{data.draw(st.sampled_from(['', 'module: ', 'ü ']))}{text}", "the end"]
    found = read_lines(lines)
    assert {line.line for line in found} <= find_suspect_lines(lines, 1)


def test_a_long_session_takes_hardly_more_time_than_to_search_it() -> None:
    """Fifty thousand long lines that say nothing: the grammar would take two minutes for them."""
    lines = [
        f"-rw-------  1 root root {number} {'made-up-' * 100}.vmdk" for number in range(50_000)
    ]
    find_suspect_lines(["the search is built"], 1)
    start = time.process_time()
    assert find_suspect_lines(lines, 1) == set()
    assert time.process_time() - start < 5  # measured: 0.1

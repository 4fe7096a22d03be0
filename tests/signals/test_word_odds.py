"""Facts about the words of known trouble: how they are made, what they may change, and what they may not."""

from __future__ import annotations

import csv
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.redact.words import is_product_word
from analyzer.signals.stems import LEAST
from analyzer.signals.word_odds import (
    FILE,
    MOST_GAIN,
    add_gain,
    find_word_gain,
    read_odds,
    split_words,
)
from tools import word_odds
from tools.word_odds import LineSets, SourceLine

ODDS = {"scsi": 1.0, "aborted": 0.8, "device": 0.3, "session": -0.9, "closed": -0.6}


@pytest.fixture(scope="module")
def lines() -> LineSets:
    """Return the lines of the catalog and of the samples."""
    return word_odds.collect_lines()


def test_the_file_is_what_the_tool_makes(lines: LineSets) -> None:
    """Nobody chose a word by hand; `python tools/docs.py` writes the file after a change of rules or samples."""
    rows = list(csv.reader(FILE.read_text(encoding="utf-8").splitlines()))
    made = word_odds.count_words(lines)
    assert rows[0] == list(word_odds.HEAD)
    assert rows[1:] == [
        [word, f"{one.odds:.2f}", str(one.rules), str(one.others)] for word, one in made.items()
    ]


def test_no_word_weighs_much_and_none_is_a_name() -> None:
    """A word needs three rules to speak for a line; a word of trouble hardly speaks against one."""
    for row in csv.DictReader(FILE.read_text(encoding="utf-8").splitlines()):
        word, odds, rules = row["word"], float(row["log_odds"]), int(row["rules"])
        assert word.isalpha() and word.islower() and is_product_word(word)
        assert abs(odds) <= word_odds.MOST_ODDS
        assert odds < 0 or rules >= word_odds.FEWEST_PLACES
        assert not word_odds.is_telling(word) or odds >= word_odds.MOST_AGAINST


def test_words_tell_lines_that_they_were_not_made_of(lines: LineSets) -> None:
    """Cross-validated they order lines better than the grammar alone, and nearly as well as the lines they know."""
    score = word_odds.measure_folds(lines)
    assert score.held_out > score.grammar + 0.05
    assert score.memorised - score.held_out < 0.1


def test_one_line_makes_no_word() -> None:
    """What one rule alone says, in however many lines, has no odds."""
    evidence = {
        SourceLine("one", "", f"the performance of {word} failed", 4.0) for word in ("a", "b", "c")
    }
    assert not word_odds.count_words(LineSets(frozenset(evidence), frozenset()))


def test_the_reason_names_the_words_that_say_most() -> None:
    """Three words at most; words of everyday lines are counted against them."""
    gain = find_word_gain("ScsiDeviceIO", "command aborted on device #, session #", ODDS)
    assert gain == (0.6, "words of known trouble: scsi, aborted, device")
    assert find_word_gain("", "nothing that is known", ODDS) == (0.0, "")


def test_the_order_of_words_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A set has another order in each process, and a sum of floats depends on it: the gain does not."""
    odds = {"one": 0.1, "two": 0.2, "four": 0.4}
    gains = set()
    for words in permutations(odds):
        monkeypatch.setattr("analyzer.signals.word_odds.split_words", lambda *_, words=words: words)
        gains.add(find_word_gain("", "", odds).gain)
    assert len(gains) == 1


def test_words_take_nothing_from_a_line() -> None:
    """A line of everyday words keeps its weight: nothing is pushed down for how it is worded."""
    assert find_word_gain("", "session closed", ODDS) == (0.0, "")


def test_codes_and_numbers_are_no_words() -> None:
    """A code as the templates spell it says nothing here, and a name of a function falls into its parts."""
    assert split_words("vmk_Scsi", "failStatus codegig 0x2a of vm12") == {
        "vmk",
        "scsi",
        "fail",
        "status",
    }


@given(st.floats(0, 12), st.floats(0, MOST_GAIN))
def test_words_never_carry_a_line_over_the_bar(weight: float, gain: float) -> None:
    """A line that the grammar lists stays listed, and one below the bar is not lifted."""
    assert (add_gain(weight, gain) >= LEAST) == (weight >= LEAST)


@given(st.lists(st.sampled_from(sorted(read_odds())), max_size=40))
def test_all_words_together_are_bounded(words: list[str]) -> None:
    """However long a line is."""
    assert 0 <= find_word_gain("", " ".join(words), read_odds()).gain <= MOST_GAIN

"""Words that known trouble uses: how much likelier a word is in the lines that rules rest on than in other lines.

Of lines that look alike to the grammar this says which one reads like trouble that somebody has written a rule about.
`word_odds.csv` holds the words; `tools/docs.py` makes it of the examples of the catalog (tools/word_odds.py). A word
weighs little and all words of a line together no more than `MOST_GAIN`, so that they order lines and judge none.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from functools import cache
from math import fsum
from pathlib import Path
from typing import NamedTuple

from analyzer.signals.stems import LEAST

FILE = Path(__file__).with_name("word_odds.csv")
MOST_GAIN = 1.5  # what all words of a line may add
_SHARE = (
    0.5  # of the log-odds of its words that a line gets: words of one line depend on one another
)
_NAMED = 3  # words that a reason names
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORD = re.compile(r"[a-z]{3,}")
_SPELLED_CODE = re.compile(r"code[a-p]+")  # analyzer.signals.templates

WordOdds = Mapping[str, float]


class WordGain(NamedTuple):
    """What the words of a line add to its weight, and the reason in words."""

    gain: float
    why: str = ""


def split_words(module: str, template: str) -> frozenset[str]:
    """Return the words of a kind of line in lower case: no numbers, no codes, names of functions in parts."""
    text = _CAMEL.sub(" ", f"{template} {module}").replace("_", " ").lower()
    return frozenset(word for word in _WORD.findall(text) if not _SPELLED_CODE.fullmatch(word))


@cache
def read_odds() -> WordOdds:
    """Return the log-odds of the words of the catalog, each within 1 of 0."""
    with FILE.open(encoding="utf-8", newline="") as file:
        return {word: float(odds) for word, odds, *_ in list(csv.reader(file))[1:]}


def find_word_gain(module: str, template: str, odds: WordOdds) -> WordGain:
    """Return what the words of a kind of line add, by the log-odds of words; they take nothing from its weight."""
    known = {word: odds[word] for word in split_words(module, template) if word in odds}
    # a set has no order, and `sum` rounds by order
    gain = round(min(_SHARE * fsum(known.values()), MOST_GAIN), 1)
    if gain <= 0:
        return WordGain(0.0)
    # of words that weigh the same the longer one says more
    ranked = sorted(known, key=lambda word: (-known[word], -len(word), word))
    named = [word for word in ranked if known[word] > 0][:_NAMED]
    return WordGain(gain, f"words of known trouble: {', '.join(named)}")


def add_gain(weight: float, gain: float) -> float:
    """Return a weight with what words add; a line below the bar is not lifted."""
    return weight + gain if weight >= LEAST else weight

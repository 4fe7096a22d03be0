"""Make analyzer/signals/word_odds.csv, the log-odds of words, of what is in the repository; `tools/docs.py` writes it.

    python tools/word_odds.py            how well the words tell evidence of rules that they were not made of

For: the lines of matching examples that the rule itself finds; a rule counts a word once, however many examples it has.
Against: lines that no rule finds, of the samples and of examples that must not match; a kind of line counts once.
A word has to stand in three rules, or in lines of three samples or rules. Only words that the program itself says are
kept, so that no name of an example gets in. Nothing here knows a single line, and no word is chosen by hand.

The measure is cross-validated: rules, and the places of other lines, are parted into folds, and each fold is judged by
words made of the rest.
"""

from __future__ import annotations

import csv
import hashlib
import io
import math
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from analyzer.artefacts.parsing import registry
from analyzer.ingest.problems import is_reported
from analyzer.redact.words import is_product_word
from analyzer.rules import run_catalog
from analyzer.signals.lines import classify_line
from analyzer.signals.stems import LEAST
from analyzer.signals.word_odds import WordOdds, add_gain, find_word_gain, split_words
from analyzer.signals.words import CLASSES

ROOT = Path(__file__).resolve().parent.parent
HEAD = ("word", "log_odds", "rules", "other_lines")
FOLDS = 5
MOST_ODDS = 1.0  # of one word, either way
MOST_AGAINST = -0.2  # of a word that the grammar takes for trouble
FEWEST_PLACES = 3
_LEAST_ODDS = 0.1
_HEAVY = 3.0  # weight of a class from which its words are words of trouble


class SourceLine(NamedTuple):
    """A kind of line and where it is from: the id of a rule, or the file of a sample."""

    place: str
    module: str
    template: str
    weight: float

    @classmethod
    def read_line(cls, place: str, text: str) -> SourceLine:
        """Return the kind of a line of a place."""
        kind = classify_line(text)
        return cls(place, kind.module, kind.template, kind.weight)


class LineSets(NamedTuple):
    """Kinds of lines that rules rest on, and kinds that no rule finds."""

    evidence: frozenset[SourceLine]
    others: frozenset[SourceLine]

    def list_places(self) -> list[str]:
        """Return the places of all lines, in order."""
        return sorted({line.place for line in self.evidence | self.others})

    def keep_places(self, places: Iterable[str]) -> LineSets:
        """Return the lines of some places."""
        kept = frozenset(places)
        evidence, others = (frozenset(one for one in some if one.place in kept) for some in self)
        return LineSets(evidence, others)


class WordCount(NamedTuple):
    """One word: its log-odds, the rules that have it, the kinds of other lines that have it."""

    odds: float
    rules: int
    others: int


def collect_lines() -> LineSets:
    """Return the lines of the examples of all rules and of the samples."""
    catalog = run_catalog.load_run_catalog(run_catalog.Local(), examples=True)
    own: dict[str, list[re.Pattern[str]]] = defaultdict(list)
    for one in catalog.signatures():
        pattern = re.compile(one.pattern, re.IGNORECASE if one.ignore_case else 0)
        own[one.id.partition("/")[0]].append(pattern)
    every = [pattern for patterns in own.values() for pattern in patterns]
    evidence, others = set(), set()
    for rule in catalog.rules:
        for example in rule.examples:
            if example.made or example.gap:
                continue
            is_match = str(example.expect.get("result")) == "match"
            for text in "\n".join(filter(None, example.logs.values())).splitlines():
                line = SourceLine.read_line(rule.id, text)
                found = _search_any(own.get(rule.id, ()), text)
                # a rule over rows that are made of lines has no pattern of its own
                if is_match and (found or (rule.id not in own and line.weight >= LEAST)):
                    evidence.add(line)
                elif not is_match and not _search_any(every, text):
                    others.add(line)
    for place, text in _list_sample_lines():
        if not _search_any(every, text) and not is_reported(text):
            others.add(SourceLine.read_line(place, text))
    return LineSets(frozenset(evidence), frozenset(others))


def _search_any(patterns: Iterable[re.Pattern[str]], text: str) -> bool:
    return any(pattern.search(text) for pattern in patterns)


def _list_sample_lines() -> Iterator[tuple[str, str]]:
    """Yield the file and the text of each line of the samples of logs."""
    samples = ROOT / "samples"
    logs = {name for name, parser in registry().items() if parser.log}
    for path in sorted(one for one in samples.rglob("*.txt") if one.parent.name in logs):
        place = path.relative_to(samples).as_posix()
        for text in path.read_text(encoding="utf-8", errors="replace").splitlines():
            if text.strip():
                yield place, text


def count_words(lines: LineSets) -> dict[str, WordCount]:
    """Return the words that say something, with their log-odds, in the order of the alphabet."""
    by_rule: dict[str, set[str]] = defaultdict(set)
    places: dict[str, set[str]] = defaultdict(set)
    for line in lines.evidence:
        by_rule[line.place] |= split_words(line.module, line.template)
    kinds = {(line.module, line.template) for line in lines.others}
    for line in lines.others:
        for word in split_words(line.module, line.template):
            places[word].add(line.place)
    rules = Counter(word for words in by_rule.values() for word in words)
    others = Counter(word for kind in kinds for word in split_words(*kind))
    found = {}
    for word in sorted(rules.keys() | others.keys()):
        is_common = max(rules[word], len(places[word])) >= FEWEST_PLACES
        if not is_common or not is_product_word(word):
            continue
        share = (rules[word] + 0.5) / (len(by_rule) + 1)
        odds = math.log(share) - math.log((others[word] + 0.5) / (len(kinds) + 1))
        least = MOST_AGAINST if is_telling(word) else -MOST_ODDS
        # what too few rules have may speak against a line, but not for it
        most = MOST_ODDS if rules[word] >= FEWEST_PLACES else 0.0
        odds = round(max(least, min(most, odds)), 2)
        if abs(odds) >= _LEAST_ODDS:
            found[word] = WordCount(odds, rules[word], others[word])
    return found


def is_telling(word: str) -> bool:
    """Say whether the grammar takes a word by itself for trouble."""
    return any(words.weight >= _HEAVY and words.pattern.search(word) for words in CLASSES)


def write_table() -> str:
    """Return the text of word_odds.csv."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEAD)
    for word, count in count_words(collect_lines()).items():
        writer.writerow((word, f"{count.odds:.2f}", count.rules, count.others))
    return text.getvalue()


def compare_lines(lines: LineSets, odds: WordOdds) -> float:
    """Return how often a line of evidence weighs more than another line that a log would list; ties count half.

    0.5 is chance, 1 is always. `odds` may be empty: the grammar alone.
    """
    evidence, others = (
        [_weigh_line(line, odds) for line in sorted(some) if line.weight >= LEAST] for some in lines
    )
    if not evidence or not others:
        return math.nan
    won = sum((one > other) + 0.5 * (one == other) for one in evidence for other in others)
    return won / (len(evidence) * len(others))


def _weigh_line(line: SourceLine, odds: WordOdds) -> float:
    gain = find_word_gain(line.module, line.template, odds).gain
    return round(add_gain(line.weight, gain), 1)


def take_odds(lines: LineSets) -> WordOdds:
    """Return the log-odds of words made of some lines."""
    return {word: count.odds for word, count in count_words(lines).items()}


class FoldScore(NamedTuple):
    """`compare_lines` as a mean of folds: the grammar alone, words of the other folds, words of all lines."""

    grammar: float
    held_out: float
    memorised: float


def measure_folds(lines: LineSets, folds: int = FOLDS) -> FoldScore:
    """Return how well words tell lines of rules and places that they were not made of."""
    parts: Mapping[int, list[str]] = defaultdict(list)
    for place in lines.list_places():
        parts[hashlib.blake2b(place.encode(), digest_size=4).digest()[0] % folds].append(place)
    every = take_odds(lines)
    scores = []
    for places in parts.values():
        held = lines.keep_places(places)
        rest = lines.keep_places(set(lines.list_places()) - set(places))
        used: tuple[WordOdds, ...] = ({}, take_odds(rest), every)
        scores.append(FoldScore(*(compare_lines(held, odds) for odds in used)))
    return FoldScore(*(sum(column) / len(scores) for column in zip(*scores, strict=True)))


def main() -> None:
    """Print the measure."""
    lines = collect_lines()
    rules = len({line.place for line in lines.evidence})
    print(f"{rules} rules, {len(lines.others)} other lines, {len(count_words(lines))} words")
    score = measure_folds(lines)
    print("A line of evidence weighs more than another line that a log would list:")
    print(f"  {score.grammar:.1%}  by the grammar alone")
    print(f"  {score.held_out:.1%}  with words made of the other folds ({FOLDS})")
    print(f"  {score.memorised:.1%}  with words made of the same lines: no honest number")


if __name__ == "__main__":
    main()

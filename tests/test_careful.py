"""Patterns whose work can run away: every line has a bounded cost, and what is left out is told, never passed over."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from analyzer.limits import Limits
from analyzer.scan import careful as careful_module
from analyzer.scan.careful import PROVEN, UNDECIDED, Careful, search_of
from analyzer.scan.construct import TooLargeError, automaton
from analyzer.scan.engines import ENGINES
from analyzer.scan.growth import work
from analyzer.scan.signatures import Scanner, Signature
from tests.rule_kit import BASE, Kit, full
from tests.test_patterns import PATTERNS

LONG = 65_536
STEPS = Limits().pattern_steps


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let every line go to the automaton that may go there."""
    monkeypatch.setattr(careful_module, "_PATIENCE", 0.0)
    yield


def careful(pattern: str, flags: int = 0, steps: int = STEPS) -> Careful:
    """Return the careful search of a pattern, with no line so short that `re` is asked at once."""
    found = Careful(re.compile(pattern, flags), steps)
    found._measured, found._short, found._fair = LONG, 0, 0
    return found


def test_short_lines_of_these_tests_do_go_to_the_automaton() -> None:
    """The searches made here do not hand short lines to `re`: what they prove, they prove of the automaton."""
    search = careful(r"a+b")
    assert search("xaab") is PROVEN and search("xaa") is None


@settings(
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(PATTERNS, st.text("aabbc-1 éA", min_size=1, max_size=12), st.booleans())
def test_the_automaton_says_what_re_says(impatient: None, pattern: str, line: str, fold: bool) -> None:
    """For any pattern and line: a match is found, none is found, or with lookaround and back references undecided."""
    flags = re.IGNORECASE if fold else 0
    try:
        compiled = re.compile(pattern, flags)
        auto = automaton(pattern, flags)
        assume(work(auto, line) < 200_000)
        wanted = compiled.search(line) is not None
    except (re.error, TooLargeError, SystemError):  # the last: a fault of `re`, python/cpython#101955
        assume(False)
    answer = careful(pattern, flags)(line)

    if answer is UNDECIDED:
        assert not auto.exact
    else:
        assert (answer is not None) is wanted


@pytest.mark.parametrize(
    ("pattern", "line", "end"),
    [
        (r"\d+ ms", "1" * LONG, " ms"),
        (r"foo.*bar", "foo" * (LONG // 3), "bar"),
        (r"foo.*bar.*baz", "foobar" * (LONG // 6), "baz"),
        (r".*a.*b.*c.*d", "abc" * (LONG // 3), "d"),
        (r"\s*\s*\s*\s*x", " " * LONG, "x"),
        (r"(\w+\s?)*!x", "a" * LONG, "!x"),
        (r"(?:a|aa|aaa)+x!", "a" * LONG, "x!"),
        (r"[01]*1[01]{200}x", "0110101" * (LONG // 7), "1" + "0" * 200 + "x"),
        (r"(?i)(?:straße|STRASSE|k)+!x", "ſtraßeK" * (LONG // 7), "K!X"),
        (r"\b\w+\b.*\b\w+\b.*\b\w+\b;", "ab " * (LONG // 3), "ab;"),
        (r"(?:^|[^a])a+$", "a" * LONG + "b" + "a" * LONG + "c", "a"),
    ],
)
def test_a_hostile_line_is_decided_in_a_moment(impatient: None, pattern: str, line: str, end: str) -> None:
    """Lines of 64 KiB that would cost `re` minutes to centuries are told apart exactly, with a match and without."""
    search = careful(pattern)
    start = time.process_time()
    answers = search(line), search(line + end)

    assert answers == (None, PROVEN)
    assert time.process_time() - start < 5


def test_common_patterns_go_straight_to_re() -> None:
    """A pattern of which it is proven that its work is linear costs nothing more than before."""
    compiled = re.compile(r"Server startup in \d+ ms")

    assert search_of(compiled, STEPS) == compiled.search


def test_groups_are_those_of_re_or_unknown() -> None:
    """Named groups are taken from `re` where its steps are affordable; else they are unknown, never wrong."""
    search = careful(r"(?P<n>\d+) ms")
    fine, dear = "x " * 2000 + "12 ms", "1" * 60_000 + " ms"

    assert search(fine) is PROVEN and search.groups(fine) == {"n": "12"}
    assert search(dear) is PROVEN and search.groups(dear) is None


def test_what_an_automaton_cannot_say_is_counted_first() -> None:
    """With lookaround and back references `re` is asked when its steps are affordable, else the line is undecided."""
    search = careful(r"(?=.*foo).*bar")
    assert search("a" * 2000 + "bar") is None
    found = search("foo" + "a" * 1000 + "bar")
    assert isinstance(found, re.Match)
    assert search("a" * LONG + "foobar") is UNDECIDED
    assert search("a" * LONG) is None  # no bar: certain without `re`

    again = careful(r"([ab]+)-\1;")
    assert again("aab" * 30 + "-" + "aab" * 30 + ";") is not None
    assert again("ab" * 20_000 + "-" + "ab" * 20_000 + ";") is UNDECIDED


def test_the_steps_of_all_lines_are_bounded() -> None:
    """When the steps of a signature are used up, every line that would cost any is undecided at once."""
    search = careful(r"(?=.*foo).*bar")
    search.left = 3 * STEPS
    line = "a" * 1500 + "foobar"
    start = time.process_time()
    answers = [search(line) for _ in range(2000)]

    assert isinstance(answers[0], re.Match) and answers[-1] is UNDECIDED
    assert time.process_time() - start < 20


def test_a_flood_of_new_states_does_not_fill_memory(impatient: None) -> None:
    """An automaton that has a new state for every character is forgotten now and then, and stays right."""
    search = careful(r"[01]*1[01]{14}x")
    line = "".join(f"{n:016b}" for n in range(4000))
    assert search(line) is None
    assert search(line + "1" + "0" * 14 + "x") is PROVEN
    assert search._table is not None and len(search._table._states) <= 70_000


def hostile_log() -> list[str]:
    """Return a log with lines that cost much, and lines that do not."""
    return [
        "2017-10-31 12:00:00 INFO all well",
        "2017-10-31 12:00:01 INFO " + "a" * 40_000 + "foobar",
        "2017-10-31 12:00:02 INFO foo and bar",
        "2017-10-31 12:00:03 INFO " + "1" * 40_000 + " ms",
        "2017-10-31 12:00:04 INFO took 17 ms",
    ]


SIGNATURES = [
    Signature("r/look", "t", r"(?=.*foo).*bar"),
    Signature("r/group", "t", r"(?P<n>\d+) ms"),
    Signature("r/plain", "t", r"all well"),
]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_signature_that_is_stopped_is_told_and_the_others_go_on(engine: str) -> None:
    """What was not decided is named with signature, member and line; hits are the same with every engine."""
    scan = Scanner(SIGNATURES, engine=engine).scan_lines(hostile_log(), "t", "log.txt", "esx1")

    assert [(hit.signature, hit.line) for hit in scan.hits] == [
        ("r/plain", 1), ("r/look", 3), ("r/group", 4), ("r/group", 5),
    ]  # fmt: skip
    assert [hit.groups for hit in scan.hits if hit.signature == "r/group"] == [{"n": None}, {"n": "17"}]
    assert scan.at_least == {"r/look"} and scan.counts["r/look"] == 1
    assert {name: (stop.line, stop.lines, stop.groups) for name, stop in scan.stopped.items()} == {
        "r/look": (2, 1, 0),
        "r/group": (4, 0, 1),
    }
    assert [str(hit) for hit in scan.limits(Limits())] == [
        "log.txt:4: limit pattern_steps=10000000 reached at 4; signature r/group: the groups of 1 lines from line 4 on"
        " are not known. Raise it with --limit pattern_steps=N.",
        "log.txt:2: limit pattern_steps=10000000 reached at 2; signature r/look: 1 lines could not be tried from line 2"
        " on. Raise it with --limit pattern_steps=N.",
    ]


def test_the_steps_of_a_node_are_shared_by_its_members() -> None:
    """`pattern_total` counts over all members of a node; another node has its own."""
    line = "a" * 2000 + "foobar"
    steps = work(automaton(SIGNATURES[0].pattern), line)
    scanner = Scanner(SIGNATURES[:1], limits=Limits(pattern_total=10 * steps))
    scans = [scanner.scan_lines([line] * 7, "t", f"log.{number}", "esx1") for number in range(3)]
    other = scanner.scan_lines([line] * 7, "t", "log", "esx2")

    assert [scan.counts["r/look"] for scan in scans] == [7, 2, 0]
    assert [stop.total for scan in scans for stop in scan.stopped.values()] == [True, True]
    assert scans[2].stopped["r/look"].lines == 7
    assert other.counts["r/look"] == 7 and not other.stopped


def test_the_same_log_gives_the_same_answers_whatever_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow machine decides exactly what a quick one does."""
    lines = [f"{'ab ' * n}timeout {'x' * n} link {'y' * n} {'down' if n % 3 else 'up'}" for n in range(120)]
    signatures = [Signature("r/wild", "t", r"timeout.*link.*down"), Signature("r/lead", "t", r"(?P<w>\S+ )+link")]
    told = []
    for patience in (0.0, 1.0):
        monkeypatch.setattr(careful_module, "_PATIENCE", patience)
        scan = Scanner(signatures).scan_lines(lines, "t", "log", "esx1")
        told.append(([(hit.signature, hit.line, hit.groups) for hit in scan.hits], scan.counts, str(scan.stopped)))

    assert told[0] == told[1]
    assert told[0][1]["r/wild"] == 80


def test_a_fault_of_re_itself_leaves_the_line_undecided() -> None:
    """Groups in possessive repeats make some versions of `re` raise SystemError: the scan goes on."""
    scan = Scanner([Signature("r/odd", "t", "((x)|y|z)*+$")]).scan_lines(["xyz", "x"], "t", "log", "esx1")

    assert scan.counts["r/odd"] + (scan.stopped["r/odd"].lines if scan.stopped else 0) == 2


@pytest.mark.parametrize("engine", ENGINES)
def test_an_approximation_that_can_run_away_is_not_run(engine: str) -> None:
    """A pattern without literals whose approximation for bytes is worse than itself costs no engine more than a moment."""
    signature = Signature("r/odd", "t", r"\d(?:é)+\d", ignore_case=True)
    lines = ["1" + "é" * 20_000, "1éÉ2", "1" + "e" * 60_000]
    start = time.process_time()
    scan = Scanner([signature], engine=engine).scan_lines(lines, "t", "log", "esx1")

    assert [hit.line for hit in scan.hits] == [2]
    assert time.process_time() - start < 10


RULE = """\
rule: made-up
title: A made-up fault
each: one in esxi.base
subject: "thing {one.key}"
logs:
  look: {in: esxi.made_up_log, match: '(?=.*foo).*bar'}
seen:
  some: {log: look, at_least: 2}
  calm: {none: look, for: 1h}
when: %s
outcomes:
  - when: true
    severity: major
    confidence: confirmed
    say: found
"""


@pytest.mark.parametrize(
    ("condition", "log", "verdict"),
    [
        ("look", ["a" * 40_000 + "foobar"], "cannot_tell"),
        ("look", ["a" * 40_000], "no_match"),
        ("look", ["a" * 40_000 + "foobar", "foo bar"], "match"),
        ("some", ["a" * 40_000 + "foobar", "foo bar"], "cannot_tell"),
        ("calm", ["a" * 40_000 + "foobar", "all well"], "cannot_tell"),
        ("calm", ["all well", "foobar"], "no_match"),
        ("not look", ["a" * 40_000 + "foobar"], "cannot_tell"),
    ],
)
def test_a_rule_asking_for_a_stopped_signature_cannot_tell(condition: str, log: list[str], verdict: str) -> None:
    """«No» is never said of a line that was not tried; what is certain without it is said."""
    rule = full(RULE % condition)
    stamped = [f"2017-10-31 {10 + number:02d}:00:00 INFO {line}" for number, line in enumerate(log)]
    kit = Kit().add(BASE, [{"key": 1}])
    kit.log(rule, "\n".join(stamped))
    judgement = kit.judge(rule)

    assert {name for name, count in judgement.counts["made-up"].items() if count} == {verdict}
    if verdict == "cannot_tell":
        assert "took too long in made_up.log" in judgement.cannot_tell[0].why

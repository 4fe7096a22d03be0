"""Patterns whose work can run away: every line has a bounded cost, and what is left out is told, never passed over."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import re2
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import analyzer.scan.careful
from analyzer import rules
from analyzer.pipeline.triage import triage
from analyzer.runtime.limits import Limits
from analyzer.scan.careful import (
    PROVEN,
    UNDECIDED,
    Careful,
    measure_cost,
    refused_by_re2,
    search_of,
)
from analyzer.scan.careful import STEPS as A_CHARACTER
from analyzer.scan.engines import ENGINES
from analyzer.scan.hits import Signature
from analyzer.scan.patterns import find_fatal
from analyzer.scan.signatures import Scanner
from tests.kit.rule_kit import BASE, Kit, full
from tests.scan.test_patterns import PATTERNS

LONG = 65_536
STEPS = Limits().pattern_steps


class Wary(Careful):
    """A search with no line so short that `re` is asked at once: what it proves, it proves of RE2."""

    def is_quick(self, text: str) -> bool:
        """See Careful."""
        return False


def careful(pattern: str, flags: int = 0, steps: int = STEPS) -> Careful:
    """Return the careful search of a pattern."""
    return Wary(re.compile(pattern, flags), steps)


@pytest.fixture
def without_re2(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine for which there is no wheel of google-re2."""
    monkeypatch.setattr(analyzer.scan.careful, "_load_re2", lambda: None)
    find_fatal.cache_clear()
    yield
    find_fatal.cache_clear()


@pytest.mark.size
@settings(
    max_examples=300, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow]
)
@given(PATTERNS, st.text("ab-1 c", min_size=1, max_size=200))
def test_a_line_of_a_sure_length_is_quick_whatever_is_in_it(pattern: str, text: str) -> None:
    """The length that spares a look at the line never calls one quick that the look would not."""
    bound = measure_cost(pattern)
    assume(bound is not None)
    assert bound is not None
    assert len(text) > bound.find_sure_length(A_CHARACTER) or bound.count_steps(
        text
    ) <= A_CHARACTER * len(text)


def test_lines_of_the_worst_kind_are_quick_up_to_the_sure_length() -> None:
    """Of every signature of the catalog: a line of nothing but the texts that its matches begin with."""
    sure = 0
    for rule in rules.load().rules:
        for log in rule.logs.values():
            bound = measure_cost(log.pattern, re.IGNORECASE if log.ignore_case else 0)
            length = bound.find_sure_length(A_CHARACTER) if bound is not None else 0
            sure += length > 150
            for begin, _ in bound.begins if bound is not None and length else ():
                text = (begin * length)[:length]
                assert bound is not None
                assert bound.count_steps(text) <= A_CHARACTER * length, rule.id
    assert sure > 100  # a usual line of a log needs no look


def test_short_lines_of_these_tests_do_go_to_re2() -> None:
    """The searches made here do not hand short lines to `re`."""
    search = careful(r"a+b")
    assert search("xaab") is PROVEN and search("xaa") is None


@pytest.mark.size
@settings(
    max_examples=300, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow]
)
@given(PATTERNS, st.text("aabbc-1 éAK\u2028\u0663\udc80", min_size=1, max_size=12), st.booleans())
def test_re2_says_what_re_says(pattern: str, line: str, fold: bool) -> None:
    """For any pattern and line: a match is found, none is found, or with what RE2 has not it is `re` that decides."""
    flags = re.IGNORECASE if fold else 0
    try:
        compiled = re.compile(pattern, flags)
        wanted = compiled.search(line)
    except (re.error, SystemError):  # the last: a fault of `re`, python/cpython#101955
        assume(False)
    answer = careful(pattern, flags)(line)

    if answer is UNDECIDED:
        assert not line.isascii() or refused_by_re2(pattern, flags)
    else:
        assert (answer is not None) is (wanted is not None)


@pytest.mark.size
@settings(
    max_examples=300, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow]
)
@given(st.tuples(PATTERNS, PATTERNS, PATTERNS), st.text("aabbc-1 é", min_size=1, max_size=12))
def test_re2_cuts_groups_as_re_does(parts: tuple[str, str, str], line: str) -> None:
    """Named groups are those of `re`, or they are unknown."""
    pattern = f"(?:{parts[0]})(?P<one>{parts[1]})(?:{parts[2]}(?P<two>b|{parts[1]}))*"
    try:
        match = re.compile(pattern).search(line)
    except (re.error, SystemError, RecursionError):
        assume(False)
    assume(match is not None)
    found = careful(pattern).find_groups(line)

    assert found is None or (match is not None and found == match.groupdict())


@pytest.mark.parametrize(
    ("pattern", "line", "flags"),
    [
        (r"a\sb", "a\x0bb", 0),
        (r"a\sb", "a\xa0b", 0),
        (r"a\Sb", "a\u2003b", 0),
        (r"\d+ ms", "\u0663 ms", 0),
        (r"\w+ü\w+!", "größüße!", 0),
        (r"id", "\u0130D", re.IGNORECASE),
        (r"id", "\u0131d", re.IGNORECASE),
        (r"[^a-z]x", "\u0130x", re.IGNORECASE),
        (r"end\Z", "the end", 0),
    ],
)
def test_where_re2_alone_would_find_otherwise(pattern: str, line: str, flags: int) -> None:
    """RE2's own reading of a pattern differs from Python's here; the pattern as it is written for RE2 does not."""
    wanted = re.search(pattern, line, flags) is not None
    try:
        alone = re2.search(("(?i)" if flags else "") + pattern, line) is not None
    except re2.error:
        alone = not wanted

    assert alone is not wanted
    assert (careful(pattern, flags)(line) is PROVEN) is wanted


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
def test_a_hostile_line_is_decided_in_a_moment(pattern: str, line: str, end: str) -> None:
    """Lines of 64 KiB that would cost `re` minutes to centuries are told apart exactly, with a match and without."""
    search = search_of(re.compile(pattern), STEPS)
    start = time.process_time()
    answers = search(line), search(line + end)

    assert answers == (None, PROVEN)
    assert time.process_time() - start < 5


def test_common_lines_go_to_re() -> None:
    """Where it is certain to be quick `re` decides, which takes a third of the time."""
    assert search_of(re.compile("link (?:up|down)"), STEPS) == re.compile("link (?:up|down)").search
    search = search_of(re.compile(r"Server startup in (?P<ms>\d+) ms"), STEPS)
    assert isinstance(search("INFO Server startup in 123 ms"), re.Match)
    assert isinstance(search("x" * LONG + " Server startup in 123 ms"), re.Match)


def test_steps_of_many_forms_are_not_counted_where_re2_decides(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A line that a pattern of many forms does not match costs a search, and no count of the steps of each form."""
    forms = "|".join(rf"[{sign}-z]{{1,40}}\s.{{0,20}}?/vmfs" for sign in "abcdefghijkl")
    search = search_of(re.compile(forms), STEPS)
    monkeypatch.setattr(Careful, "is_quick", None)
    assert search("a" * 200) is None
    assert search("z" * 200 + " to /vmfs") is PROVEN


def test_groups_are_those_of_re_or_unknown() -> None:
    """Named groups come from RE2 where `re` might take long; where both may cut otherwise they are unknown, never wrong."""
    search = careful(r"(?P<n>\d+) ms")
    assert search.find_groups("x " * 2000 + "12 ms") == {"n": "12"}
    assert search.find_groups("1" * 60_000 + " ms") == {"n": "1" * 60_000}
    odd = careful(r"(?:(?P<n>\d*),?)+ ms")
    line = "1," * 60_000 + " ms"
    assert odd(line) is PROVEN and odd.find_groups(line) is None


def test_what_re2_leaves_is_reckoned_first() -> None:
    """With lookaround and back references `re` is asked when its steps are affordable, else the line is undecided."""
    search = careful(r"(?=.*foo).*bar")
    assert search("a" * 2000 + "bar") is None
    found = search("foo" + "a" * 1000 + "bar")
    assert isinstance(found, re.Match)
    assert search("a" * LONG + "foobar") is UNDECIDED

    again = careful(r"([ab]+)-\1;")
    assert again("aab" * 30 + "-" + "aab" * 30 + ";") is not None
    assert again("ab" * 20_000 + "-" + "ab" * 20_000 + ";") is UNDECIDED

    border = careful(r"\b\w+\b.*;")
    assert border("ab " * 20_000) is None
    assert border("äb " * 20_000 + ";") is UNDECIDED  # RE2 knows borders of ASCII words only


def test_the_steps_of_all_lines_are_bounded() -> None:
    """When the steps of a signature are used up, every line that would cost any is undecided at once."""
    search = careful(r"(?=.*foo).*bar")
    search.left = 3 * STEPS
    line = "a" * 1500 + "foobar"
    start = time.process_time()
    answers = [search(line) for _ in range(2000)]

    assert isinstance(answers[0], re.Match) and answers[-1] is UNDECIDED
    assert time.process_time() - start < 20


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
    Signature("r/group", "t", r"(?:(?P<n>\d*),?)+ ms"),
    Signature("r/plain", "t", r"all well"),
]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_signature_that_is_stopped_is_told_and_the_others_go_on(engine: str) -> None:
    """What was not decided is named with signature, member and line; hits are the same with every engine."""
    scan = Scanner(SIGNATURES, engine=engine).scan_lines(hostile_log(), "t", "log.txt", "esx1")

    assert [(hit.signature, hit.line) for hit in scan.hits] == [
        ("r/plain", 1), ("r/look", 3), ("r/group", 4), ("r/group", 5),
    ]  # fmt: skip
    assert [hit.groups for hit in scan.hits if hit.signature == "r/group"] == [
        {"n": None},
        {"n": None},
    ]
    assert scan.at_least == {"r/look"} and scan.counts["r/look"] == 1
    assert {name: (stop.line, stop.lines, stop.groups) for name, stop in scan.stopped.items()} == {
        "r/look": (2, 1, 0),
        "r/group": (4, 0, 2),
    }
    assert [str(hit) for hit in scan.list_limits(Limits())] == [
        "log.txt:4: limit pattern_steps=10000000 reached at 4; signature r/group: the groups of 2 lines from line 4 on"
        " are not known. Raise it with --limit pattern_steps=N.",
        "log.txt:2: limit pattern_steps=10000000 reached at 2; signature r/look: 1 lines could not be tried from line 2"
        " on. Raise it with --limit pattern_steps=N.",
    ]


def test_the_steps_of_a_node_are_shared_by_its_members() -> None:
    """`pattern_total` counts over all members of a node; another node has its own."""
    line = "a" * 2000 + "foobar"
    bound = measure_cost(SIGNATURES[0].pattern)
    assert bound is not None
    steps = bound.count_steps(line)
    scanner = Scanner(SIGNATURES[:1], limits=Limits(pattern_total=10 * steps))
    scans = [scanner.scan_lines([line] * 7, "t", f"log.{number}", "esx1") for number in range(3)]
    other = scanner.scan_lines([line] * 7, "t", "log", "esx2")

    assert [scan.counts["r/look"] for scan in scans] == [7, 3, 0]
    assert [stop.total for scan in scans for stop in scan.stopped.values()] == [True, True]
    assert scans[2].stopped["r/look"].lines == 7
    assert other.counts["r/look"] == 7 and not other.stopped


def test_a_line_is_within_its_steps_and_no_less() -> None:
    """Forms are counted until the steps are used up, with the answer of the whole sum."""
    bound = measure_cost(r"aa\d+|x|[ab]{1,9}[bc]{1,9}z|b.*c.*d")
    assert bound is not None and len(bound.forms) == 4
    for line in ("", "x", "aab", "abc" * 9, "b c d"):
        steps = bound.count_steps(line)
        assert bound.is_within(line, steps)
        assert not bound.is_within(line, steps - 1)


@pytest.mark.usefixtures("without_re2")
def test_without_re2_the_shipped_signatures_decide_common_lines() -> None:
    """Where there is no wheel, `re` may search any line of 2,000 characters for all shipped rules but one.

    Its words of other drivers stand anywhere behind the driver and the NIC; a line that takes too long is told.
    """
    need = set()
    for rule in rules.load().rules:
        for log in rule.logs.values():
            bound = measure_cost(log.pattern, re.IGNORECASE if log.ignore_case else 0)
            taken = bound is not None and find_fatal(log.pattern, log.ignore_case) is None
            if not taken or bound is None or bound.count_steps(bound.prefix + "x" * 2000) >= STEPS:
                need.add(rule.id)
    assert need == {"nic-firmware-bad"}


PANIC = (
    "2023-10-14T09:12:01.286Z In(182) vmkernel: cpu3:2098001)@BlueScreen: #PF Exception 14 in world 2098001:made-up IP 0x0 addr 0x0",
    "2023-10-14T09:12:01.287Z In(182) vmkernel: cpu3:2098001)0x451a1b01bba8:[0x42002f10ab55]MadeUpFunction@(madeup)#<None>+0x29 stack: 0x1",
)


@pytest.mark.size
@pytest.mark.usefixtures("without_re2")
def test_without_re2_a_case_is_judged_whole(tmp_path: Path) -> None:
    """A purple screen and a storm of 20,000 failed commands are found without the wheel, and no line is left untried."""
    failed = 'NMP: nmp_ThrottleLogForDevice:3617: Cmd 0x2a (0x43950c44a000, 65575) to dev "naa.60000000000000000000000000000001"'
    status = 'on path "vmhba64:C0:T0:L0" Failed: H:0x0 D:0x2 P:0x0 Valid sense data: 0x3 0x11 0x0. Act:EVAL'
    storm = [
        f"2023-10-14T09:{n // 60 % 60:02}:{n % 60:02}.{n % 1000:03}Z In(182) vmkernel: cpu2:66518){failed} {status}"
        for n in range(20_000)
    ]
    (tmp_path / "vmkernel.log").write_text("\n".join([*storm, *PANIC, ""]))
    document = triage([tmp_path / "vmkernel.log"]).document

    assert {"purple-screen-unknown", "scsi-status"} <= {one.rule for one in document.findings}
    assert not [line for line in document.limits if "pattern" in str(line)]


@pytest.mark.usefixtures("without_re2")
def test_without_re2_a_long_line_is_undecided_and_told() -> None:
    """Where there is no wheel, work is still bounded: the line is left out and named, and nested repeats are refused."""
    scan = Scanner([*SIGNATURES[:1], Signature("r/two", "t", r"[a-f]+[a-z]+ ms")]).scan_lines(
        ["a" * 40_000 + " ms", "abc ms"], "t", "log", "esx1"
    )
    assert scan.counts["r/two"] == 1 and scan.stopped["r/two"].line == 1
    danger = find_fatal(r"head(?:\w+\s?)+tail")
    assert danger is not None and "google-re2 is not installed" in danger.why


def test_a_fault_of_re_itself_leaves_the_line_undecided() -> None:
    """Groups in possessive repeats make some versions of `re` raise SystemError: the scan goes on."""
    scan = Scanner([Signature("r/odd", "t", "((x)|y|z)*+$")]).scan_lines(
        ["xyz", "x"], "t", "log", "esx1"
    )

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
def test_a_rule_asking_for_a_stopped_signature_cannot_tell(
    condition: str, log: list[str], verdict: str
) -> None:
    """«No» is never said of a line that was not tried; what is certain without it is said."""
    rule = full(RULE % condition)
    stamped = [f"2017-10-31 {10 + number:02d}:00:00 INFO {line}" for number, line in enumerate(log)]
    kit = Kit().add(BASE, [{"key": 1}])
    kit.log(rule, "\n".join(stamped))
    judgement = kit.judge(rule)

    assert {name for name, count in judgement.counts["made-up"].items() if count} == {verdict}
    if verdict == "cannot_tell":
        assert "took too long in made_up.log" in judgement.cannot_tell[0].why

"""What is dangerous in a pattern: found where it is, proven by the clock, and never where it is not."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from analyzer import rules
from analyzer.runtime.limits import Limits
from analyzer.scan.careful import UNDECIDED, measure_cost, refused_by_re2, search_of
from analyzer.scan.patterns import FATAL, find_dangers, find_fatal, parts_of, walk_parts

# Patterns that are known to blow up, in the shapes that the literature on ReDoS names: nested repeats, alternatives
# that overlap, an optional part inside a repeat, repeats side by side in a repeat, counts instead of stars, and
# choices that multiply without any star.
EXPONENTIAL = {
    r"(a+)+b": r"(a+)+",
    r"(a*)*b": r"(a*)*",
    r"(a|a)*b": r"(a|a)*",
    r"(a|aa)+b": r"(a|aa)+",
    r"(a|b|ab)*c": r"(a|b|ab)*",
    r"(.*)*!!": r"(.*)*",
    r"(\w+\s?)*:$": r"(\w+\s?)*",
    r"(\w+\s?){1,50}:": r"(\w+\s?){1,50}",
    r"(x+x+)+y": r"(x+x+)+",
    r"^(([a-z])+.)+[A-Z]([a-z])+$": r"(([a-z])+.)+",
    r"^(?:[a-z0-9]+[-.]?)+@example": r"(?:[a-z0-9]+[-.]?)+",
    r"([a-zA-Z0-9])(([\-.]|[_]+)?([a-zA-Z0-9]+))*(@)": r"(([\-.]|[_]+)?([a-zA-Z0-9]+))*",
    r"(\d+)*(-\d+)?=": r"(\d+)*",
    r"lost (?:[0-9a-f]+:?)+ for": r"(?:[0-9a-f]+:?)+",
    r"^(?:a?){30}a{30}b": r"(?:a?){30}",
    r"((ab)?){30}(ab){30}c": r"((ab)?){30}",
    r"^(?:a|a){30}b": r"(?:a|a){30}",
    r"^(?:a[xy]z|a[xw]z){30}b": r"(?:a[xy]z|a[xw]z){30}",
    r"^(?:a?|b?){30}c": r"(?:a?|b?){30}",
    "^" + "a?" * 30 + "a" * 30 + "b": "",
    r"prefix: (?:[^,]+,?)+;": r"(?:[^,]+,?)+",
    r"(?i)(?:é|É)+!|(?:(?:s|ſ)+)+!": r"(?:é|É)+",
}

# Patterns as logs are searched with; none of them may be called dangerous.
COMMON = [
    r"Lost access to volume \S+",
    r'nmp_ThrottleLogForDevice:\d+: Cmd 0x[0-9a-f]{2} \(0x[0-9a-f]+, \d+\) to dev "(?P<dev>[^"]+)"',
    r"failed H:0x[0-9a-f]+ D:0x[0-9a-f]+ P:0x[0-9a-f]+",
    r"vmnic(?P<n>\d+): Link is (?:Up|Down)",
    r"\[esx\.problem\.net\.(?P<what>[a-z.]+)\]",
    r"ScsiDeviceIO: \d+: Cmd\(0x[0-9a-f]+\) 0x[0-9a-f]+, CmdSN 0x[0-9a-f]+ from world \d+",
    r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z cpu\d+:\d+\)WARNING",
    r"latency increased from average value of (?P<avg>\d+) microseconds to (?P<now>\d+) microseconds",
    r"Out of memory: Kill process \d+ \((?P<name>[^)]+)\)",
    r"error code (?P<code>-?\d+)(?: \((?P<text>[^)]*)\))?",
    r"Server startup in (?:\d+|\[\d+\]) (?:ms|milliseconds)",
    r"(?:Heartbeat|heartbeat) timed? ?out",
    r"Path redundancy to storage device (?P<dev>naa\.[0-9a-f]+) degraded",
    r"ALERT: .*PSOD",
    r"Failed to (?:connect|log ?in) to (?P<host>[\w.-]+):(?P<port>\d+)",
    r"esx\.problem\.(?:scsi|vmfs)\.\S+ \| (?P<text>.*)$",
    r"controller (?P<ip>(?:\d{1,3}\.){3}\d{1,3}) (?:failed|is DISCONNECTED)",
    r"(?i)cannot allocate memory",
    r"\bpanic\b.*\bkernel\b",
    r"VMotion \[\d+:\d+\]: .* (?P<pct>\d+)% done",
    r"took (?P<ms>\d+(?:\.\d+)?) ?ms\b",
]


def seconds(pattern: str, line: str) -> float:
    """Return how long one search of a line takes."""
    compiled = re.compile(pattern)
    start = time.process_time()
    compiled.search(line)
    return time.process_time() - start


def runs_away(pattern: str, lines: list[str]) -> bool:
    """Tell whether one of some short lines takes longer than 50 ms, in a process that can be stopped."""
    program = """if True:
        import json, re, sys, time
        pattern, lines = json.loads(sys.argv[1])
        for line in lines:
            start = time.process_time()
            re.search(pattern, line)
            if time.process_time() - start > 0.05:
                sys.exit(9)
    """
    try:
        done = subprocess.run(
            [sys.executable, "-c", program, json.dumps([pattern, lines])], timeout=2, check=False
        )
    except subprocess.TimeoutExpired:
        return True
    return done.returncode == 9


LOOKED = "(?! of them)"  # RE2 has no lookaround


@pytest.mark.parametrize("pattern", EXPONENTIAL)
def test_patterns_that_blow_up_are_searched_by_re2(pattern: str) -> None:
    """Each is accepted, for RE2 takes it, and lines that would cost `re` for ever are decided in a moment."""
    assert find_fatal(pattern) is None
    search = search_of(re.compile(pattern), Limits().pattern_steps)
    start = time.process_time()
    answers = [
        search(text * 400 + end)
        for text in ("a", "aab", "0f", "x", "a1-", "ſs")
        for end in ("!", "\x00", "~")
    ]

    assert UNDECIDED not in answers
    assert time.process_time() - start < 10


@pytest.mark.parametrize("pattern", EXPONENTIAL)
def test_with_a_lookaround_they_are_refused_where_the_blame_is(pattern: str) -> None:
    """What RE2 does not take falls to `re`: refused at its outermost nested repeat, or for counts and choices."""
    danger = find_fatal(pattern + LOOKED)
    if danger is None:  # repeats side by side: the work is reckoned before each line
        bound = measure_cost(pattern + LOOKED)
        assert bound is not None and bound.count_steps("a" * 100) > Limits().pattern_steps
        return
    assert danger.kind in FATAL
    assert "a lookaround" in danger.why or danger.kind == "repeat"
    if danger.kind == "exponential":
        assert pattern[danger.start : danger.end] == (
            EXPONENTIAL[pattern] or pattern[danger.start : danger.end]
        )


def test_what_is_refused_does_run_away() -> None:
    """A refused pattern really takes long, for less than a hundred characters."""
    pattern = r"(\w+\s?)+:(?! of them)"
    assert find_fatal(pattern) is not None
    assert runs_away(pattern, ["a" * length + "!" for length in range(8, 100)])


@pytest.mark.parametrize("pattern", COMMON)
def test_common_patterns_raise_no_alarm(pattern: str) -> None:
    """Patterns of the kind that rules are made of have no danger at all, and take microseconds for a line."""
    assert find_dangers(pattern) == []
    assert not runs_away(
        pattern, [text * 8 for text in ("a", "0", " ", "a0 ", "0x0", "[a.b]", "(1)", pattern[:12])]
    )


def test_the_signatures_of_the_tool_raise_no_alarm() -> None:
    """No signature of a shipped rule is dangerous in any way."""
    found = {
        log.pattern: find_dangers(log.pattern, log.ignore_case)
        for rule in rules.load().rules
        for log in rule.logs.values()
    }

    assert found
    assert all(one == [] for one in found.values()), found


OUTSIDE_RE2: dict[
    str, str
] = {}  # shipped patterns that RE2 does not take -> why they must be as they are


def test_shipped_patterns_outside_re2_are_named() -> None:
    """The work of every shipped signature is linear by construction, but of those named here."""
    found = {
        log.pattern
        for rule in rules.load().rules
        for log in rule.logs.values()
        if refused_by_re2(log.pattern, re.IGNORECASE if log.ignore_case else 0)
    }

    assert found == OUTSIDE_RE2.keys()


@pytest.mark.parametrize(
    ("pattern", "kind", "stretch"),
    [
        (r"(?P<a>\w+) equals (?P=a)", "backreference", r"(?P=a)"),
        (r"([ab])tail\1", "backreference", r"\1"),
        (r"failed(?!.*harmless)", "lookaround", r"(?!.*harmless)"),
        (r"(?<=disk )failed", "lookaround", r"(?<=disk )"),
        (r"host(x{1000}){1000}", "repeat", r"(x{1000}){1000}"),
        (r"host(?:[0-9]{1,99}:){1,99}(?! up)", "exponential", r"(?:[0-9]{1,99}:){1,99}"),
        (r"host(\w+\s?)+(?! up)", "exponential", r"(\w+\s?)+"),
        (r"([ab])((a|aa)b*)+\1", "exponential", r"((a|aa)b*)+"),
        (r"\d+ms|[a-z]{3}", "no-literal", r"\d+ms|[a-z]{3}"),
        (r"6.3.3 failed", "dot", "."),
        (r"vmkernel.log", "dot", "."),
    ],
)
def test_a_danger_stands_where_it_is(pattern: str, kind: str, stretch: str) -> None:
    """Kind and stretch of each danger, with a reason and another way to write it."""
    found = [danger for danger in find_dangers(pattern) if danger.kind == kind]

    assert [pattern[danger.start : danger.end] for danger in found][:1] == [stretch]
    assert found[0].why and found[0].instead
    assert (find_fatal(pattern) is not None) == (kind in FATAL)


@pytest.mark.parametrize(
    "pattern",
    [
        r"vmkernel\.log",
        r"port.* down",
        r"[a.b]tail",
        r"(?<!\S)\w+ failed",
        r"\bfailed(?= )",
        r"^\S+ failed",
        r"\b\w+ failed",
        r"head(?>a+)tail",
        r"head(?:[0-9]+:)+tail",
        r"head(?:[a-z]+ )*tail",
        r"\((?:[^()]|\([^()]*\))*\) done",
        r"head\d{2}\d{2}:\d{4}\d?tail",
    ],
)
def test_what_looks_dangerous_and_is_not(pattern: str) -> None:
    """An escaped dot, a conditions of one character, repeats parted by a sign, counts of a fixed number."""
    kinds = {danger.kind for danger in find_dangers(pattern)}

    assert not kinds & {"exponential", "dot", "lookaround", "repeat"}


def test_a_possessive_repeat_mends_a_nested_one() -> None:
    """Beside a lookaround (a+)+ is refused, (?:a++)+ is not: it gives nothing back."""
    assert find_fatal(r"head(?:a+)+tail(?!x)") is not None
    assert find_fatal(r"head(?:a++)+tail(?!x)") is None


@pytest.mark.parametrize("pattern", ["(a", "a{2,1}", "[z-a]", "(?P<1>a)"])
def test_what_is_no_pattern_is_an_error_of_re(pattern: str) -> None:
    """A pattern that does not compile is told by `re.error`, as Python does."""
    with pytest.raises(re.error):
        find_dangers(pattern)


HOSTILE = {
    "optional": "a?" * 1000 + "a" * 1000,
    "stars": "(.*)" * 900,
    "digits": r"\d+" * 1300,
    "nested": "(" * 90 + "a" + "*)" * 90,
    "counts": "(?:a{0,30}b?){30}c",
    "alternatives": "(?:" + "|".join(f"abc{n}" for n in range(400)) + ")+x",
    "looks": "(?=.*a)" * 400,
    "conditions": r"(?:\b|\B|^|$|a)" * 200,
    "back references": "(a)" + "".join(rf"(\{n}\{n})" for n in range(1, 40)),
    "many sets": "".join(f"[{chr(0x4E00 + n)}{chr(0x4E01 + n)}]" for n in range(400)),
    "two long loops": "(?:" + "a" * 300 + ")*(?:" + "a" * 301 + ")*x",
    "all triples": "(?:"
    + "|".join(a + b + c for a in "acgt" for b in "acgt" for c in "acgt")
    + ")*(?:[acgt]{5})*x",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_looking_at_a_hostile_pattern_takes_no_time(name: str) -> None:
    """The analysis itself cannot be made to hang by a pattern of 4 KiB."""
    pattern = HOSTILE[name][:4096]
    start = time.process_time()
    find_fatal(pattern)
    find_dangers(pattern)
    refused_by_re2(pattern)

    assert time.process_time() - start < 5


ATOMS = [
    "a",
    "b",
    "c",
    "-",
    " ",
    r"\d",
    r"\w",
    r"\s",
    ".",
    "[ab]",
    "[^a]",
    "[b-d]",
    "é",
    r"\W",
    "1",
]
CONDITIONS = [
    "^",
    "$",
    r"\b",
    r"\B",
    "(?=a)",
    "(?!a)",
    "(?<=a)",
    "(?<!b)",
    "(?=ab)",
    "(?!ba)",
    "(?<=ab)",
]
REPEATS = [
    "",
    "",
    "",
    "*",
    "+",
    "?",
    "*?",
    "+?",
    "??",
    "{2}",
    "{1,3}",
    "{0,2}",
    "{2,}",
    "*+",
    "++",
    "?+",
]


def _grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    part = st.tuples(st.sampled_from(["(?:%s)", "(%s)", "(?>%s)", "(?i:%s)"]), inner).map(
        lambda two: two[0] % two[1]
    )
    repeated = st.tuples(st.one_of(part, st.sampled_from(ATOMS)), st.sampled_from(REPEATS)).map(
        "".join
    )
    sequence = st.lists(
        st.one_of(repeated, st.sampled_from(CONDITIONS)), min_size=1, max_size=4
    ).map("".join)
    return st.lists(sequence, min_size=1, max_size=3).map("|".join)


PATTERNS = st.recursive(st.sampled_from(ATOMS), _grown, max_leaves=8)


def built(pattern: str) -> None:
    """Leave out what is no pattern."""
    try:
        re.compile(pattern)
    except re.error:
        assume(False)


@pytest.mark.size
@settings(
    deadline=None,
    max_examples=300,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)
@given(
    PATTERNS,
    st.text("ab-1 é", min_size=1, max_size=40),
    st.text("ab!", max_size=2),
    st.sampled_from([1, 1, 50]),
)
def test_the_steps_reckoned_bound_the_time(pattern: str, piece: str, end: str, times: int) -> None:
    """A search takes no longer than its reckoned steps allow: a microsecond each."""
    built(pattern)
    bound = measure_cost(pattern)
    line = piece * times + end
    assume(bound is not None and bound.count_steps(line) < 300_000)

    try:
        assert bound is not None and seconds(pattern, line) < 0.2 + bound.count_steps(line) * 1e-6
    except SystemError:
        assume(False)  # a fault of `re` in possessive repeats, python/cpython#101955


@settings(deadline=None)
@given(PATTERNS)
def test_parts_cover_the_pattern(pattern: str) -> None:
    """The parts of a pattern lie in order, inside each other, and what a group holds is a pattern of its own."""
    built(pattern)
    for arm, index in walk_parts(parts_of(pattern)):
        part = arm[index]
        assert part.start < part.atom_end <= part.end <= len(pattern)
        assert index == 0 or arm[index - 1].end == part.start
        if part.arms:
            re.compile(pattern[slice(*part.inner)])


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(PATTERNS)
def test_any_pattern_has_an_answer(pattern: str) -> None:
    """Whatever compiles is looked at without an error, and what is said lies inside it."""
    try:
        re.compile(pattern)
    except re.error:
        assume(False)
    for danger in find_dangers(pattern):
        assert 0 <= danger.start <= danger.end <= len(pattern)

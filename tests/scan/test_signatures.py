"""The log scan: the definition of a hit, engines that agree, shares, context, odd logs."""

# ruff: noqa: SIM905 - lists of lines read better as text

from __future__ import annotations

import platform
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.runtime import cache_folder
from analyzer.runtime.errors import RuleFileError, UsageError
from analyzer.runtime.limits import Limits
from analyzer.scan import blocks, engines
from analyzer.scan.blocks import LineBlocks, NulGap
from analyzer.scan.engines import HyperscanEngine, Needle
from analyzer.scan.hits import LogScan, Signature
from analyzer.scan.prefilter import ODD_CASE, analyse, literal_choices, required_literals
from analyzer.scan.signatures import CONTEXT, EXACT, FLOOR, Scanner

ENGINES = [name for name in engines.ENGINES if engines.is_available(name)]
STAMP = "2021-03-08T14:49:25.123Z cpu1:2097465)"

# Shapes that rules use, and shapes that trip up engines which are not Python's.
PATTERNS = [
    (r"Heap: \d+: Heap (?P<heap>\S+) already at its maximum", False),
    (r"(?:lost|regained) access to \w+", False),
    (r"linkstate (down|up)$", False),
    (r"^\d{4}-\d\d-\d\dT\S+ cpu\d+:\d+\)WARNING: ", False),
    (r"[^x]{2,3}z$", False),
    (r"k\u0131ss|kiss", True),
    (r"(?i:KISS) me", False),
    (r"a.b", False),
    (r"é+x", True),
    (r"x(?:a*|b)y", False),
    (r"\bend\b", True),
    (r"(?P<w>lo)(?P=w)", False),
    (r"(?<!un)do(?=ne)", False),
    (r"\d+ms", False),
    (r"^$", False),
    (r"^\s*#", False),
    (r"(?:foo|ba[rz]){2,}", False),
    (r"[\u2120-\u2130]q", True),
    (r"\S\sZ", False),
    (r"(?x) o d d  # a comment", False),
]
SIGNATURES = [
    Signature(f"s{n}", "t", pattern, folded) for n, (pattern, folded) in enumerate(PATTERNS)
]
WORDS = (
    "Heap: 12: Heap |x9 already at its maximum|lost access to |volume|linkstate |down|up|kiss|KI\u017fS|"
    "\u212a\u0131ss|\u212a| me|a|b|é|É|x|y|z|end|END|unend|lo|undone|done|7ms|#|foo|bar|baz|q|odd| |  |\t|Z|"
    "\u2028|\x85|\x1c"
).split("|")
ENDS = [b"\n", b"\n", b"\n", b"\r\n", b"\r", b"\0", b"\0\0\0", b"\x80", b"\xc3", b"\xff\n"]
PIECES = st.sampled_from([*WORDS, STAMP, STAMP + "WARNING: ", "long-" * 8]).map(
    str.encode
) | st.sampled_from(ENDS)
TEXTS = st.lists(PIECES, max_size=60).map(b"".join)


def clean(raw: bytes, limit: int) -> str:
    """Return what a line is by definition."""
    return raw.translate(None, b"\0")[:limit].rstrip(b"\r").decode("utf-8", "surrogateescape")


def lines_of(data: bytes, limit: int = 65_536) -> list[str]:
    """Return all lines of a log by definition."""
    raw = data.split(b"\n")
    if not raw[-1]:
        raw.pop()
    return [clean(line, limit) for line in raw]


def by_definition(
    data: bytes, signatures: list[Signature], limit: int = 65_536
) -> list[tuple[int, str, str]]:
    """Return hits the slow way: `re.search` of every pattern on every line."""
    return [
        (number, one.id, text)
        for number, text in enumerate(lines_of(data, limit), 1)
        for one in signatures
        if re.search(one.pattern, text, re.IGNORECASE if one.ignore_case else 0)
    ]


def found(scan: LogScan) -> list[tuple[int, str, str]]:
    """Return hits of a scan as triples."""
    return [(hit.line, hit.signature, hit.text) for hit in scan.hits]


def pieces(data: bytes, size: int) -> list[bytes]:
    """Return `data` in chunks."""
    return [data[at : at + size] for at in range(0, len(data), size)]


@dataclass
class Double:
    """Stands for a member of a source."""

    data: bytes
    cut: str = ""
    step: int = 1 << 20
    at: int = field(default=0)

    def readinto(self, buffer: memoryview) -> int:
        """Fill the buffer."""
        part = self.data[self.at : self.at + min(len(buffer), self.step)]
        buffer[: len(part)] = part
        self.at += len(part)
        return len(part)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make blocks so small that lines, holes and context span them."""
    monkeypatch.setattr(
        blocks, "BLOCK", 128
    )  # with SMALL limits; a block holds four lines of the limit
    yield


SMALL = Limits(line_bytes=100)
MANY = Limits(hits_per_signature=10**6)


# --- the definition, and engines that agree on it -------------------------------------------------


@given(
    TEXTS, st.integers(1, 90), st.sampled_from([20, 65_536]), st.sampled_from([64, 256, 1 << 20])
)
@settings(max_examples=80, deadline=None)
def test_every_engine_gives_the_hits_of_the_definition(
    data: bytes, step: int, limit: int, block: int
) -> None:
    """Whatever the text, its chunks, blocks and line limit: all engines equal `re.search` line by line."""
    before, blocks.BLOCK = blocks.BLOCK, block
    try:
        wanted = by_definition(data, SIGNATURES, limit)
        for name in ENGINES:
            scan = Scanner(SIGNATURES, name, Limits(line_bytes=limit)).scan(pieces(data, step), "t")
            assert found(scan) == wanted, name
            assert scan.lines == len(lines_of(data))
            assert scan.bytes == len(data)
            assert sum(scan.counts.values()) == len(wanted)
    finally:
        blocks.BLOCK = before


def test_hyperscan_is_tested_where_it_is_installed_with_the_package() -> None:
    """On platforms where hyperscan is an ordinary dependency it loads, so that no test leaves it out unseen."""
    assert "pure" in ENGINES
    if platform.machine() in ("x86_64", "AMD64", "aarch64"):
        assert "hyperscan" in ENGINES


needs_hyperscan = pytest.mark.skipif(
    "hyperscan" not in ENGINES, reason="no hyperscan wheel for this machine"
)


ATOMS = st.sampled_from(
    [
        "a",
        "B",
        "k",
        "é",
        "ſ",
        r"\d",
        r"\w",
        r"\S",
        r"\s",
        ".",
        "[^a]",
        "[a-f]",
        "[^\\d]",
        r"\.",
        "ab",
        " ",
        "[éa]",
        r"[\u2120-\u2130]",
    ]
)


def _patterns() -> st.SearchStrategy[str]:
    def grow(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        counts = st.sampled_from(
            ["*", "+", "?", "{2}", "{1,3}", "{0,2}", "*?", "+?", "{40,}", "{3,50}"]
        )
        return st.one_of(
            st.lists(inner, min_size=1, max_size=3).map("".join),
            st.lists(inner, min_size=2, max_size=3).map(lambda arms: f"(?:{'|'.join(arms)})"),
            st.tuples(inner, counts).map(lambda pair: f"(?:{pair[0]}){pair[1]}"),
            inner.map(lambda one: f"({one})"),
            inner.map(lambda one: f"(?i:{one})"),
            inner.map(lambda one: f"^{one}"),
            inner.map(lambda one: f"{one}$"),
            inner.map(lambda one: rf"\b{one}"),
            inner.map(lambda one: f"(?!{one})"),
        )

    return st.recursive(ATOMS, grow, max_leaves=6)


LINES = st.text(st.sampled_from("aAbBkKſıİK\u212aéÉfs 1.٣x\udc80"), max_size=12)


@pytest.mark.size
@given(_patterns(), st.lists(LINES, max_size=8), st.booleans())
@settings(max_examples=200, deadline=None)
def test_the_approximation_never_misses_a_line(
    pattern: str, lines: list[str], folded: bool
) -> None:
    """Made-up patterns on made-up lines: every engine proposes each line that Python's `re` matches."""
    signature = Signature("one", "t", pattern, folded)
    data = b"".join(line.encode("utf-8", "surrogateescape") + b"\n" for line in lines)
    wanted = by_definition(data, [signature])
    for name in ENGINES:
        assert found(Scanner([signature], name).scan([data], "t")) == wanted, name


@given(_patterns(), LINES, st.booleans())
@settings(max_examples=200, deadline=None)
def test_required_literals_stand_in_every_match(pattern: str, line: str, folded: bool) -> None:
    """Each set of required literals has a member in whatever the pattern matches."""
    flags = re.IGNORECASE if folded else 0
    raw = line.encode("utf-8", "surrogateescape")
    if re.search(pattern, line, flags) and not any(odd in raw for odd in ODD_CASE):
        for choice in literal_choices(pattern, flags):
            text = raw.lower() if choice.ignore_case else raw
            assert any(literal in text for literal in choice.encode_literals()), choice


@pytest.mark.parametrize(
    ("pattern", "flags", "literals"),
    [
        (r"Heap: \d+: Heap (\S+) already at its maximum size", 0, {" already at its maximum size"}),
        (r"\[(WARN|ERROR|FATAL)\]", 0, {"WARN", "ERROR", "FATAL"}),
        (r"(?:lost access|no path) \d+", 0, {"lost access", "no path"}),
        (r"Lost Access", re.IGNORECASE, {"lost access"}),
        (r"(?i)Lost Access", 0, {"lost access"}),
        (r"(?:a|\d)b?", 0, None),
        (r"(foo)?\d", 0, None),
        (r"(?:foo)+\d", 0, {"foo"}),
        (r"\bfoo\b", 0, {"foo"}),
    ],
)
def test_required_literals_of_shapes_that_rules_use(
    pattern: str, flags: int, literals: set[str] | None
) -> None:
    """The longest literal is taken, alternatives give one each, and what may be absent gives none."""
    got = required_literals(pattern, flags)
    assert got == (literals if literals is None else frozenset(literals))


def test_only_four_characters_match_an_ascii_letter_when_case_is_ignored() -> None:
    """The list of odd letters is complete for this Python: all of Unicode is tried."""
    letters = re.compile("[a-z]", re.IGNORECASE)
    odd = {
        chr(code).encode()
        for code in range(128, 0x110000)
        if not 0xD800 <= code < 0xE000 and letters.match(chr(code))
    }
    assert odd == set(ODD_CASE)


def test_an_approximation_ends_where_the_match_is_certain() -> None:
    """What may be empty at either end is left out: one proposal a line, not one for each character."""
    assert analyse(r".*lost access.*").approximation == "lost access"
    assert analyse(r"^.*lost access(?: to \S+)?").approximation == "lost access"
    assert analyse(r"(?:a|b)*").approximation is None


# --- what a scan tells ----------------------------------------------------------------------------


def test_a_hit_has_context_across_blocks(small_blocks: None) -> None:
    """Two lines before and after, also when they lie in the block before or after; fewer at the ends."""
    lines = [f"{STAMP}line {n} " + "." * 50 for n in range(40)]
    data = "\n".join(lines).encode()
    scan = Scanner([Signature("any", "t", r"line \d+")], limits=SMALL).scan([data], "t")
    assert len(scan.hits) == 40
    for index, hit in enumerate(scan.hits):
        assert hit.line == index + 1
        assert hit.before == lines[max(0, index - CONTEXT) : index]
        assert hit.after == lines[index + 1 : index + 1 + CONTEXT]


def test_named_groups_are_in_the_hit() -> None:
    """Named groups of a pattern come as text; a group that took no part is None."""
    pattern = r"port (?P<port>0x[0-9a-f]+)(?: on (?P<switch>\w+))?"
    scan = Scanner([Signature("p", "t", pattern)]).scan(
        [b"x port 0x2a\ny port 0x2b on vSwitch0\n"], "t"
    )
    assert [hit.groups for hit in scan.hits] == [
        {"port": "0x2a", "switch": None},
        {"port": "0x2b", "switch": "vSwitch0"},
    ]


def test_a_scan_reports_only_signatures_of_its_table() -> None:
    """One scanner holds all tables; a scan of one counts only that table's, and names each of them."""
    scanner = Scanner(
        [
            Signature("a", "esxi.vmkernel", "up"),
            Signature("b", "esxi.vobd", "up"),
            Signature("c", "esxi.vobd", "no"),
        ]
    )
    scan = scanner.scan([b"link up\n"], "esxi.vobd", "x.tgz!vobd.log", "n1")
    assert scan.counts == {"b": 1, "c": 0}
    assert [(hit.signature, hit.address) for hit in scan.hits] == [("b", "x.tgz!vobd.log")]


def test_a_table_without_signatures_is_counted_all_the_same() -> None:
    """Lines, bytes, ends and time span are known for a log no rule asks about."""
    data = (
        b"head without a time\n2021-01-01T00:00:00Z a\nmore\n<14>1 2021-01-02T00:00:00Z b\n--> end"
    )
    scan = Scanner([]).scan([data], "esxi.hostd")
    assert (scan.lines, scan.bytes, scan.counts, scan.hits) == (5, len(data), {}, [])
    assert (scan.first, scan.last) == (b"head without a time", b"--> end")
    assert scan.first_stamped == b"2021-01-01T00:00:00Z a"
    assert scan.last_stamped == b"<14>1 2021-01-02T00:00:00Z b"


def test_an_empty_log_is_no_fault() -> None:
    """Nothing in, nothing found, no line."""
    scan = Scanner(SIGNATURES).scan([], "t")
    assert (scan.lines, scan.bytes, scan.hits, scan.first, scan.last) == (0, 0, [], b"", b"")


def test_line_numbers_are_those_of_the_file(small_blocks: None) -> None:
    """NUL holes, CRLF and over-long lines do not shift the numbers; `first_line` starts elsewhere."""
    data = b"one\r\n" + bytes(500) + b"two\r\n" + b"x" * 900 + b"\nkey\n"
    scan = Scanner([Signature("k", "t", "^(one|two|key)$")], limits=Limits(line_bytes=100)).scan(
        [data], "t"
    )
    assert found(scan) == [(1, "k", "one"), (2, "k", "two"), (4, "k", "key")]
    later = Scanner([Signature("k", "t", "^key$")]).scan([data], "t", first_line=11)
    assert [hit.line for hit in later.hits] == [14]


def test_a_nul_hole_is_a_gap_and_not_an_end(small_blocks: None) -> None:
    """What a crash left as zeros is counted with its line; the text behind it is searched."""
    data = b"before\n" + bytes(3000) + b"2021-01-01T00:00:00Z after the crash\nend\n"
    scan = Scanner([Signature("k", "t", "^2021.*crash$")], limits=SMALL).scan(Double(data), "t")
    assert [hit.line for hit in scan.hits] == [2]
    assert scan.nul_bytes == 3000
    assert scan.nul_gaps == [NulGap(2, 3000)]


def test_a_line_longer_than_the_limit_is_cut_and_said(small_blocks: None) -> None:
    """A pattern sees the first `line_bytes` bytes; the line is counted and the limit named."""
    data = b"ok\n" + b"a" * 95 + b"needle" + b"b" * 5000 + b"needle2\nok\n"
    limits = Limits(line_bytes=101)
    scan = Scanner(
        [Signature("n", "t", "needle"), Signature("m", "t", "needle2")], limits=limits
    ).scan([data], "t")
    assert scan.counts == {"n": 1, "m": 0}
    assert (scan.long_lines, scan.long_at, scan.lines) == (1, [2], 3)
    assert "limit line_bytes=101" in str(scan.list_limits(limits)[0])


def test_a_cut_member_loses_its_broken_line_only() -> None:
    """The last line of a cut member is not whole: it is left out, and the reason is kept."""
    scan = Scanner([Signature("k", "t", "key")]).scan(
        Double(b"key 1\nkey", cut="archive ends"), "t"
    )
    assert (scan.counts["k"], scan.lines, scan.cut) == (1, 1, "archive ends")


@given(TEXTS)
@settings(max_examples=60, deadline=None)
def test_lines_decoded_elsewhere_give_the_same_hits(data: bytes) -> None:
    """`scan_lines` of decoded lines equals `scan` of the bytes they came from."""
    scanner = Scanner(SIGNATURES)
    lines = [line.decode("utf-8", "surrogateescape") for line in data.split(b"\n")]
    assert found(scanner.scan_lines(lines, "t")) == by_definition(data + b"\n", SIGNATURES)


def test_half_a_utf16_pair_does_not_stop_a_scan() -> None:
    """A lone surrogate of a broken UTF-16 file is replaced, the line is searched."""
    scan = Scanner([Signature("k", "t", "key")]).scan_lines(["\ud800 key", "other"], "t")
    assert [hit.text for hit in scan.hits] == ["? key"]


# --- shares and storms ----------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
def test_hits_are_kept_up_to_the_share_and_counted_exactly_beyond(engine: str) -> None:
    """Of 1,000 hits with a share of 100: the first 100 kept, the count exact, the last one known."""
    data = b"".join(b"hit %d\n" % n for n in range(1000))
    scan = Scanner([Signature("h", "t", r"hit \d")], engine, Limits(hits_per_signature=100)).scan(
        [data], "t"
    )
    assert len(scan.hits) == 100
    assert scan.counts == {"h": 1000}
    assert (scan.capped, scan.at_least) == ({"h"}, set())
    assert scan.last_hits["h"].line == 1000
    assert "1000 lines" in str(scan.list_limits(Limits(hits_per_signature=100))[0])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.usefixtures("small_blocks")
def test_a_storm_gives_a_lower_bound_and_leaves_other_signatures_alone(engine: str) -> None:
    """Past the exact count a storm is looked for once a block: bounded, flagged, its last block known."""
    limits = Limits(hits_per_signature=30, line_bytes=32)
    cap = limits.hits_per_signature
    signatures = [Signature("s", "t", "storm"), Signature("r", "t", "rare$")]
    lines = [b"storm %d\n" % n for n in range(4 * EXACT * cap)]
    lines[-3:] = [b"storm and rare\n"] * 3
    scan = Scanner(signatures, engine, limits).scan([b"".join(lines)], "t")
    assert scan.counts["r"] == 3
    assert EXACT * cap < scan.counts["s"] < EXACT * cap + len(lines) // 4
    assert scan.at_least == {"s"}
    assert scan.last_hits["s"].line > len(lines) - 20
    pure = Scanner(signatures, "pure", limits).scan([b"".join(lines)], "t")
    assert (pure.counts, found(pure)) == (scan.counts, found(scan))


def test_a_share_is_per_node_over_all_members() -> None:
    """Sixty rotated files share one cap, each still keeps its first hits; another node has its own."""
    scanner = Scanner([Signature("h", "t", "hit")], limits=Limits(hits_per_signature=50))
    data = b"hit\n" * 60
    kept = [len(scanner.scan([data], "t", scope=scope).hits) for scope in ("a", "a", "a", "b")]
    assert kept == [50, FLOOR, FLOOR, 50]


def test_context_and_text_of_a_hit_are_bounded() -> None:
    """A log of very long lines cannot fill memory: text and context are cut, groups come from the line."""
    line = b"x" * 30_000 + b" key=42\n"
    scan = Scanner([Signature("k", "t", r"key=(?P<key>\d+)")]).scan([line * 5], "t")
    hit = scan.hits[2]
    assert len(hit.text) == 8192
    assert {len(text) for text in hit.before + hit.after} == {1024}
    assert hit.groups == {"key": "42"}


# --- construction ---------------------------------------------------------------------------------


def test_a_pattern_that_is_no_regex_is_named() -> None:
    """The error names the signature and what is wrong with the pattern."""
    with pytest.raises(
        RuleFileError, match=r"kb-1/x: the pattern is not a regular expression.*unterminated"
    ):
        Scanner([Signature("kb-1/x", "t", "(unclosed")]).scan([b"a line of the log\n"], "t")


def test_two_signatures_of_one_id_are_refused() -> None:
    """Counts are told by id, so that two of one name would be added up."""
    with pytest.raises(RuleFileError, match="two signatures have one id"):
        Scanner([Signature("a", "t", "x"), Signature("a", "u", "y")])


def test_an_unknown_engine_is_refused_with_the_choices() -> None:
    """A wrong --engine ends in a sentence that lists the right ones."""
    with pytest.raises(UsageError, match="auto, hyperscan, re2, pure"):
        Scanner([], "hyperscam")


def test_without_wheels_the_pure_engine_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither hyperscan nor re2 is needed: `auto` falls back and finds the same."""
    monkeypatch.setattr(engines, "is_available", lambda name: name == "pure")
    scanner = Scanner(SIGNATURES)
    assert scanner.engine == "pure"
    data = f"{STAMP}WARNING: lost access to volume\n".encode()
    assert found(scanner.scan([data], "t")) == by_definition(data, SIGNATURES)


@needs_hyperscan
def test_nothing_is_written_unless_a_cache_folder_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compiled database is kept in `cache_dir` only, loaded from there, and made anew when damaged."""
    monkeypatch.chdir(tmp_path)
    data, cache = b"lost access to volume\n", tmp_path / "cache"
    Scanner(SIGNATURES, "hyperscan").scan([data], "t")
    assert not list(tmp_path.rglob("*"))
    for damage in (False, False, True):
        if damage:
            next(cache.iterdir()).write_bytes(b"junk")
        scanner = Scanner(SIGNATURES, "hyperscan", cache_dir=cache)
        assert found(scanner.scan([data], "t")) == by_definition(data, SIGNATURES)
    assert len(list(cache.iterdir())) == 1


@pytest.mark.parametrize("pattern", [r"[0-9]+$", r"[a-f]$", r"b$", r"(?i)down$", r"x[a-f]$"])
@pytest.mark.parametrize("engine", ENGINES)
def test_the_last_line_of_a_log_is_searched_to_its_end(engine: str, pattern: str) -> None:
    """A match at the very end of the last line is found, whatever stands before it and whoever searches with it."""
    for signatures in (
        [Signature("one", "t", pattern)],
        [Signature("one", "t", pattern), *SIGNATURES],
    ):
        scanner = Scanner(signatures, engine)
        for size in range(40):
            for end in ("7", "b", "xb", "down"):
                data = f"{'=' * size}K {end}\n".encode()
                for chunk in (data, bytearray(data)):
                    assert found(scanner.scan([chunk], "t")) == by_definition(data, signatures), (
                        data
                    )


@needs_hyperscan
def test_the_next_case_of_a_process_compiles_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second scanner of the same signatures compiles no database, of other ones its own; the hits are the same."""
    compiled: list[int] = []
    real = HyperscanEngine._compile_places

    def counted(self: HyperscanEngine, expressions: dict[int, str]) -> object:
        compiled.append(len(expressions))
        return real(self, expressions)

    monkeypatch.setattr(HyperscanEngine, "_compile_places", counted)
    engines._keep_engine.cache_clear()
    data = f"{STAMP}WARNING: lost access to volume\npath 7\n".encode()
    for _ in range(3):
        assert found(Scanner(SIGNATURES, "hyperscan").scan([data], "t")) == by_definition(
            data, SIGNATURES
        )
    assert len(compiled) == 1
    others = [Signature("other", "t", "path \\d")]
    assert found(Scanner(others, "hyperscan").scan([data], "t")) == by_definition(data, others)
    assert len(compiled) == 2


@needs_hyperscan
def test_kept_engines_are_few() -> None:
    """However many lists of signatures a process meets, it keeps a fixed number of engines."""
    for number in range(engines.KEPT + 9):
        Scanner([Signature("one", "t", f"path {number}")], "hyperscan").scan([b"path 7\n"], "t")
    assert engines._keep_engine.cache_info().currsize <= engines.KEPT


@pytest.mark.size
@pytest.mark.parametrize("engine", ENGINES)
def test_threads_that_scan_at_once_share_a_kept_engine(engine: str) -> None:
    """Four threads, each with its own scanner of the same signatures, find what one finds alone."""
    data = f"{STAMP}WARNING: lost access to volume\n{STAMP}path 7 down\n".encode() * 2000
    wanted = by_definition(data, SIGNATURES)
    start = threading.Barrier(4)

    def scan(_: int) -> bool:
        start.wait(30)
        return all(
            found(Scanner(SIGNATURES, engine, MANY).scan([data], "t")) == wanted for _ in range(3)
        )

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(scan, range(4)))


@needs_hyperscan
def test_literals_that_fill_up_a_small_set_propose_nothing() -> None:
    """What is compiled beside few patterns, for the sake of a faster matcher, is no pattern: its text is never a hit."""
    fillers = engines._make_fillers(engines.MANY)
    text = b"".join(bytes.fromhex(one.replace("\\x", "")) for one in fillers)
    scanner = Scanner([Signature("one", "t", r"path \d")], "hyperscan")
    assert len(set(text.splitlines())) == 1
    assert len(set(fillers)) == engines.MANY
    scan = scanner.scan([text + b"\n" + text + b" path 7\n"], "t")
    assert [(hit.line, hit.signature) for hit in scan.hits] == [(2, "one")]
    engine = HyperscanEngine({0: Needle.of(r"path \d")})
    assert not engine.propose(text + b"\n", len(text) + 1)
    assert HyperscanEngine({})._database is None


@pytest.mark.parametrize(
    "size", [0, 1, blocks.BLOCK // 3, blocks.BLOCK - 9, blocks.BLOCK * 2, blocks.BLOCK * 2 + 7]
)
def test_lines_are_counted_to_the_last(size: int) -> None:
    """The lines of a log are counted whether its last block fills a buffer, half of it or none."""
    data = b"\n\nline\n" * (size // 7) + b"x" * (size % 7)
    tally = LineBlocks([data], 8192)
    assert sum(block.lines for block in tally) == tally.tally.lines == len(data.splitlines())


@needs_hyperscan
def test_what_hyperscan_refuses_goes_to_its_literals(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pattern Hyperscan cannot compile is sought by literals or by `re`, and found all the same."""
    monkeypatch.setattr(
        HyperscanEngine, "_is_accepted", lambda self, expression: "volume" not in expression
    )
    real = HyperscanEngine._compile_places

    def refuse(self: HyperscanEngine, expressions: dict[int, str]) -> object:
        if any("volume" in one for one in expressions.values()):
            raise self._hs.error("Pattern is too large.")
        return real(self, expressions)

    monkeypatch.setattr(HyperscanEngine, "_compile_places", refuse)
    signatures = [
        Signature("v", "t", r"volume \d"),
        Signature("w", "t", r"(\d|volume)\w"),
        Signature("x", "t", "path"),
    ]
    data = b"volume 7\npath volumes\n"
    assert found(Scanner(signatures, "hyperscan").scan([data], "t")) == by_definition(
        data, signatures
    )


def test_an_error_of_the_source_reaches_the_caller(small_blocks: None) -> None:
    """The reading thread hands its exception over and ends; nothing hangs."""

    class Broken(Double):
        def readinto(self, buffer: memoryview) -> int:
            if self.at > 1000:
                raise OSError("disk gone")
            return super().readinto(buffer)

    with pytest.raises(OSError, match="disk gone"):
        Scanner(SIGNATURES, limits=SMALL).scan(Broken(b"line\n" * 1000, step=50), "t")


# --- the reference scan ---------------------------------------------------------------------------


@pytest.mark.size
@pytest.mark.parametrize("engine", ENGINES)
def test_a_bundle_gives_the_findings_of_the_reference_scan(engine: str, tmp_path: Path) -> None:
    """On a synthetic bundle, walker and scan find what tarfile, gzip and `re` find line by line."""
    from analyzer.sources import Ledger, walk
    from tools import oracle_triage
    from tools.bundle_logs import make_patterns
    from tools.make_bundle import write_bundle

    bundle = tmp_path / "esx.tgz"
    write_bundle(bundle, 3_000_000, seed=5)
    wanted = set(oracle_triage.scan_bundle(bundle, make_patterns(60)))
    scanner = Scanner(
        [Signature(str(n), "log", pattern) for n, pattern in enumerate(make_patterns(60))], engine
    )
    got = {
        (member.path, hit.line, int(hit.signature))
        for member in walk([bundle], Limits(), Ledger())
        if oracle_triage.is_log("/" + member.path)
        for hit in scanner.scan(member, "log").hits
    }
    assert len(wanted) > 50
    assert got == wanted


def test_a_bundle_is_the_same_bytes_for_the_same_seed(tmp_path: Path) -> None:
    """The generator repeats itself, and another seed gives another bundle."""
    from tools.make_bundle import write_bundle

    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        write_bundle(tmp_path / name, 300_000, seed)
    assert (
        (tmp_path / "a").read_bytes()
        == (tmp_path / "b").read_bytes()
        != (tmp_path / "c").read_bytes()
    )


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=60, deadline=None)
@given(texts=st.lists(TEXTS, min_size=1, max_size=3))
def test_two_logs_in_one_file_are_searched_as_each_alone(engine: str, texts: list[bytes]) -> None:
    """A file that holds lines of two logs gives each the hits, counts and caps that a search for it alone gives."""
    other = [
        Signature(f"o{n}", "other", pattern, folded)
        for n, (pattern, folded) in enumerate(PATTERNS[::3])
    ]
    limits = Limits().with_overrides(["hits_per_signature=2"])  # twenty hits are a storm
    data = b"".join(texts) * 12 + b"\n7ms undone\n" * 30

    together = Scanner([*SIGNATURES, *other], engine, limits)
    one = together.scan(
        [data], "t", parts=[LogScan("other", "", ""), LogScan("nothing is sought in it", "", "")]
    )
    alone = Scanner(SIGNATURES, engine, limits).scan([data], "t")
    beside = Scanner(other, engine, limits).scan([data], "other")

    for found, wanted in ((one, alone), (one.parts[0], beside)):
        assert [(hit.line, hit.signature, hit.text) for hit in found.hits] == [
            (hit.line, hit.signature, hit.text) for hit in wanted.hits
        ]
        assert (found.counts, found.capped, found.at_least) == (
            wanted.counts,
            wanted.capped,
            wanted.at_least,
        )
    assert one.parts[1].counts == {}


def test_a_cache_that_cannot_be_written_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the disk is full in the middle of a write, the search works and no piece of a file stays in the folder."""

    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    tmp_path.chmod(0o700)
    cache_folder.write_sealed(tmp_path / "written", "made-up", b"automaton")
    monkeypatch.setattr(Path, "replace", full)
    cache_folder.write_sealed(tmp_path / "lost", "made-up", b"automaton")
    assert [path.name for path in tmp_path.iterdir()] == ["written"]
    assert cache_folder.read_sealed(tmp_path / "written", "made-up", 100) == b"automaton"


@pytest.mark.parametrize("engine", [name for name in ENGINES if name != "pure"])
def test_rules_that_seek_the_same_words_are_told_apart_by_their_own(engine: str) -> None:
    """A hundred patterns share their longest words: a line is proposed for the few whose own words are in it."""
    count = 100
    needles = {
        number: Needle.of(rf"heartbeat of the volume lost\] \S+ datastore-{number:03d}\b")
        for number in range(count)
    }
    lines = [f"heartbeat of the volume lost] x{n} datastore-{n:03d}\n" for n in range(count)]
    data = "".join(lines).encode()
    proposals = engines.build_engine(engine, needles).propose(data, len(data))
    proposed = {
        (data.count(b"\n", 0, one >> engines.NUMBER_BITS), one & engines.NUMBER_MASK)
        for one in proposals
    }
    assert {(number, number) for number in range(count)} <= proposed
    assert len(proposals) < 5 * count

"""Transcripts without prompts, properties of every split, and texts that were pasted in public."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.artefacts.first_chars import ANY, find_first_signs, find_literals
from analyzer.artefacts.parsing import registry
from analyzer.sources import output_extent, passes, session, shapes
from analyzer.sources.encoding import decode
from analyzer.sources.output_extent import Text
from analyzer.sources.shapes import (
    EDGE_SIGNS,
    SEPARATE,
    Commands,
    Shapes,
    is_fence,
    is_snip,
)
from analyzer.sources.transcript import TranscriptPiece, split
from tests.kit.sample_kit import SAMPLES
from tests.kit.transcript_kit import (
    ALL,
    GET_RX,
    PORTS_DUMP,
    QUEUE_DUMP,
    RX_DUMP,
    SEEDS,
    STATS_DUMP,
    Known,
    only,
    outputs,
    spot,
)

# -- without prompts ------------------------------------------------------------------------------------


def test_shape_alone() -> None:
    """A dump without prompt is found by its shape, claims no host and no parameters."""
    piece = only(["See this:", *RX_DUMP, "Bad, is it not?"])
    assert (*spot(piece), piece.host, piece.params, piece.kind) == ("rx", 2, 4, "", {}, "esxi")


@pytest.mark.parametrize(
    "before",
    [
        [GET_RX],
        [f"`{GET_RX}`", ""],
        ["# " + GET_RX],
        ["```", "$ " + GET_RX],
        ["```", GET_RX, "```", "```"],
    ],
)
def test_echo_gives_parameters(before: list[str]) -> None:
    """A command without prompt, even in a code block of its own, lends the dump below its parameters."""
    piece = only([*before, *RX_DUMP, "```"])
    assert piece.first_line == len(before) + 1
    assert piece.params == {"switch": "vSwitch0", "port_id": "33554464"}


def test_echo_far_above_gives_nothing() -> None:
    """A command mentioned further up does not lend its parameters to a dump below other text."""
    assert only([GET_RX, "and much later", "", *RX_DUMP]).params == {}


def test_quoted_mail() -> None:
    """Quote marks of a mail are taken off before prompts and dumps are looked for."""
    piece = only(["> " + line for line in [f"[root@esx0:~] {GET_RX}", *RX_DUMP]])
    assert (*spot(piece), piece.host) == ("rx", 2, 4, "esx0")
    assert piece.lines == RX_DUMP


def test_terminal_escapes() -> None:
    """Colours, window titles and backspaces of a terminal log do not hide a prompt."""
    line = "\x1b]0;root@vm1: ~\x07\x1b[01;32mroot@vm1\x1b[0m:~# freee\x08"
    piece = only([line, "             total       used", "Mem:       1034088      74780"])
    assert (piece.parser, piece.host, piece.command) == ("free", "vm1", "free")


def test_blanks_of_a_web_page() -> None:
    """Non-breaking blanks of a web page are blanks."""
    assert only(["[root@esx0:~]\xa0net-stats\xa0-l", *PORTS_DUMP]).host == "esx0"


def test_two_dumps_in_a_row() -> None:
    """The title of the next dump ends a dump that lost its brace."""
    pieces = outputs([*QUEUE_DUMP[:-1], *QUEUE_DUMP, *STATS_DUMP[:-1], *RX_DUMP])
    assert [spot(piece) for piece in pieces] == [
        ("queue", 1, 3),
        ("queue", 4, 4),
        ("stats", 8, 3),
        ("rx", 11, 4),
    ]


def test_log_lines_are_one_piece() -> None:
    """Consecutive lines of a log make one piece, a line of another log begins the next."""
    line = "2018-01-01T00:00:0{}.000Z cpu{}:33)NetPort: 1879: x"
    text = [line.format(n, n) for n in range(3)]
    pieces = outputs(["look", *text, "2018-01-01T00:00:00Z info hostd[1] x", "--> more", "", *text])
    assert [spot(piece) for piece in pieces] == [
        ("vmkernel", 2, 3),
        ("hostd", 5, 2),
        ("vmkernel", 8, 3),
    ]


def test_log_of_a_command_keeps_its_odd_lines() -> None:
    """In the output of `tail` a line of no known form stays inside the log, which has the host."""
    line = "2018-01-01T00:00:00.000Z cpu1:33)x"
    piece = only(["[root@esx0:~] tail /var/log/vmkernel.log", line, "*** cut ***", line])
    assert (*spot(piece), piece.host) == ("vmkernel", 2, 3, "esx0")


def test_first_line_is_an_offset() -> None:
    """Numbers start where the caller says."""
    assert split(RX_DUMP, ALL, first_line=100)[0].first_line == 100


def test_prefilter_loses_nothing() -> None:
    """The joined pattern finds every shape, whatever it is made of (groups, flags, back references)."""
    shapes = [r"^\s*(?P<a>x+)y", r"^(?P<a>q)(?P=a)", r"(?i)^k", r"^.{0,5}(?:far|away)"]
    shapes += [r"^ two", r"\s*a|b", r"^(?:| )m", r"^[^a]n"]
    known = [Known(f"k{number}", shape=shape) for number, shape in enumerate(shapes)]
    lines = ["xy", "  xxy", "qq", " two", "  a", "b", "m", " m", "bn", " n", "none", "K", "k"]
    lines += ["so far", "far", "is away", "that is far"]
    for line in lines:
        assert [one.name for one in Shapes(known).find_starting(line)] == [
            one.name for one in known if one.starts_at(line)
        ]


@pytest.mark.parametrize(
    ("pattern", "signs"),
    [
        (r"(?:NIC|nic) x", "Nn"),
        (r"(?:a|b)?[c-e]", "abcde"),
        (r"x*y{0,3}z+", "xyz"),
        (r"(?=q)\bk", "k"),
        (r"(?P<n>\[)\d", "["),
        (r"[\]x]", "]x"),
        (r"\d{2,}", "0123456789"),
    ],
)
def test_first_signs(pattern: str, signs: str) -> None:
    """The characters a match can start with are read from the pattern."""
    assert find_first_signs(pattern) == frozenset(signs)


@pytest.mark.parametrize(
    "pattern", ["", "a?", ".x", "[^a]", "(?i)a", "(?(1)a|b)", r"\Sx", "(a", r"\x41"]
)
def test_first_signs_when_unsure(pattern: str) -> None:
    """What may start with anything, and syntax the reader does not know, is answered with «any»."""
    assert find_first_signs(pattern) == ANY


SIGNS = st.sampled_from(
    [
        "a",
        "B",
        "7",
        " ",
        r"\d",
        r"\w",
        r"\s",
        r"\[",
        ".",
        "[a-c]",
        "[^b]",
        r"[\d.-]",
        "[]|]",
        r"[^\]]",
        "(?!a)",
        "$",
    ]
)
REPEATS = st.sampled_from(["?", "*", "{0,2}", "{1,}", "+?"])
PATTERNS = st.recursive(
    SIGNS,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda pair: f"(?:{pair[0]}|{pair[1]})"),
        st.tuples(inner, REPEATS).map(lambda pair: f"(?:{pair[0]}){pair[1]}"),
    ),
    max_leaves=8,
)


@pytest.mark.size
@settings(max_examples=300)
@given(pattern=PATTERNS, text=st.text(st.sampled_from("aBb7 [c.-"), min_size=1, max_size=6))
def test_first_signs_never_too_few(pattern: str, text: str) -> None:
    """Whatever a pattern matches begins with one of the characters named for it."""
    if re.match(pattern, text):
        assert text[0] in find_first_signs(pattern)


@pytest.mark.size
@settings(max_examples=300)
@given(
    patterns=st.lists(PATTERNS, min_size=1, max_size=4),
    text=st.text(st.sampled_from("aBb7 [].|"), max_size=6),
)
def test_joined_patterns_lose_nothing(patterns: list[str], text: str) -> None:
    """What a recogniser alone finds, all of them together find, with and without indent and any-prefix."""
    lead = ["^", r"^\s*", "^.{0,3}", ""]
    known = [Known(str(n), shape=f"{lead[n % 4]}{one}" or "x") for n, one in enumerate(patterns)]
    known += [Known("both", shape=f"^(?:{patterns[0]}|\\s*{patterns[-1]})|zz")]
    found = [one.name for one in known if one.starts_at(text)]
    assert [one.name for one in Shapes(known).find_starting(text)] == found
    if found and text[:1].isalnum():
        for others in ([], [f"x{number}" for number in range(SEPARATE)]):
            assert text in Shapes(known).find_possible_starts([*others, text])


def test_lines_asked_together_are_quiet_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is noted as quiet of many lines is what one line by itself would be called: no prompt or start is lost."""
    lines = [
        line
        for path in sorted(SAMPLES.rglob("*.txt"))[::3]
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines()
    ]
    monkeypatch.setattr(shapes, "SEPARATE", 0)  # as in a text of many thousand lines
    lines += ["esx01# esxcli network nic list", "time esxcli vm process list", "edge01>", "ls`"]
    lines += ["/bin/ls /vmfs", "sudo ls", "root@esx0:~# ls", "a {", "[root@esx0:~] ls", ""]
    text = Text(["quux"], [one for one in registry().values() if not one.anywhere])
    text.lines = lines
    for at in range(0, len(lines), output_extent._TOGETHER):
        text._note_quiet(at)
    quiet = [line for line in dict.fromkeys(lines) if text.is_quiet(line)]
    assert len(quiet) > 400
    assert [line for line in quiet if not text.is_plain(line)] == []


def test_commands_in_a_long_text_are_all_found() -> None:
    """Where a long session may be parted is told of all lines together as of each."""
    lines = [
        "quux 1",
        "  [root@esx0:~] ls",
        "> esx01# esxcli vm process list",
        "\x1b[0m~ # ls",
        "a# b",
    ]
    lines += ["-" * 80, "/opt/vmware/x", "-" * 80]
    sure = [at for at in range(len(lines)) if session._begins_command(lines, at)]
    assert set(sure) <= set(session.find_possible_places(lines, 0))
    assert 0 not in session.find_possible_places(lines, 0)
    assert 5 in sure


@pytest.mark.parametrize(
    ("pattern", "texts"),
    [
        (r"\bnet-stats\s+-l\b", ("net-stats", "-l")),
        (r"(?:get|cat) /net/(?P<a>\d+)/x", (" /net/", "/x")),
        (r"a|b", ()),
        (r"(?i)abc", ()),
        (r"ab?c*d+", ("a",)),
        (r"\x41b\101c", ("b", "c")),
        (r"[]|a]b[^|]c\|d", ("c|d", "b")),
        (r"x(?:abc)y(?:de)?z", ("xabcy", "z")),
        (r"ab{2}c{d", ("c{d", "a")),
        (r"a(?=b|c)(?P<n>d)(?i:e)f", ()),
    ],
)
def test_literals(pattern: str, texts: tuple[str, ...]) -> None:
    """The texts a match cannot do without are read from the pattern, the longest first."""
    assert find_literals(pattern) == texts


@settings(max_examples=300)
@given(pattern=PATTERNS, text=st.text(st.sampled_from("aBb7 [c.-"), max_size=8))
def test_literals_stand_in_every_match(pattern: str, text: str) -> None:
    """A text without one of the literals is matched nowhere."""
    if re.search(pattern, text):
        assert all(literal in text for literal in find_literals(pattern))


@pytest.mark.parametrize(
    "line", [GET_RX, "net-stats -l | grep x", "ethtool -S eth0", "hostname", "free", "who am i"]
)
def test_no_recogniser_of_a_command_is_left_out(line: str) -> None:
    """Asking only the recognisers whose words stand in a command finds all that know it."""
    asked = Commands(ALL).find_candidates(line)
    assert {one.name for one in asked if one.match_command(line)} == {
        one.name for one in ALL if one.match_command(line)
    }


# -- properties -----------------------------------------------------------------------------------------

SENTENCE = st.lists(
    st.sampled_from(["the", "ring", "of", "host", "was", "full", "and", "we", "saw", "it"]),
    min_size=3,
).map(lambda words: " ".join(words).capitalize() + ".")
PROSE = st.lists(st.one_of(SENTENCE, st.just("")), max_size=6)
DUMPS = st.sampled_from(
    [RX_DUMP, QUEUE_DUMP, STATS_DUMP, PORTS_DUMP, RX_DUMP[:-1], ["  " + x for x in STATS_DUMP]]
)
ANY_LINE = st.one_of(
    st.text(max_size=60).filter(lambda text: "\n" not in text),
    st.sampled_from(
        [*RX_DUMP, *PORTS_DUMP, *STATS_DUMP, GET_RX, "```", "> x", "", "[root@esx0:~] " + GET_RX]
    ),
    st.sampled_from(
        [
            "~ # hostname",
            "esx0",
            "<snip>",
            "root@vm:~# ethtool -S eth0 | grep x",
            "2018-01-01T0:0:0Z cpu1:1)x",
        ]
    ),
)


@settings(max_examples=150)
@given(text=st.lists(ANY_LINE, max_size=30))
def test_no_line_is_lost(text: list[str]) -> None:
    """Whatever the lines are, the pieces cover each of them once, in order."""
    outputs(text)


@settings(max_examples=150)
@given(
    dump=DUMPS,
    before=PROSE,
    after=PROSE,
    prompt=st.sampled_from(["", "[root@esx0:~] ", "~ # ", "root@vm:~# "]),
)
def test_same_stretch_everywhere(
    dump: list[str], before: list[str], after: list[str], prompt: str
) -> None:
    """A dump alone, behind its prompt or between sentences gives the same lines to the same parser."""
    alone = only(dump)
    head = [f"{prompt}{GET_RX}"] if prompt else []
    placed = only([*before, *head, *dump, *(["", *after] if after else [])])
    assert (placed.parser, placed.lines) == (alone.parser, alone.lines)
    assert placed.first_line == len(before) + len(head) + 1


@settings(max_examples=200)
@given(text=st.lists(ANY_LINE, max_size=30))
def test_what_is_remembered_of_a_line_changes_nothing(text: list[str]) -> None:
    """Lines known to be quiet give the pieces that asking every line again gives."""
    remembered = split(text, ALL)

    def look(self: output_extent.Text, line: str) -> output_extent._Seen:
        prompt = self._ask_prompt(line.strip())
        return output_extent._Seen(
            prompt, self.shapes.find_starting(line), prompt is not None or is_fence(line)
        )

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(output_extent.Text, "_look_at", look)  # never says that a line is quiet
        assert split(text, ALL) == remembered


@given(st.text(st.sampled_from("<>[](){}.…-`~8 snipcutcode/"), max_size=14))
def test_edges_begin_with_their_signs(line: str) -> None:
    """A snip or the edge of a code block begins with one of a few signs."""
    if is_snip(line) or is_fence(line):
        assert line.strip()[0] in EDGE_SIGNS


@given(st.text())
def test_only_unprintable_lines_need_washing(line: str) -> None:
    """A line of printable characters holds nothing that washing would take out."""
    if line.isprintable():
        assert passes.wash_line(line) == line


@pytest.mark.size
def test_time_is_linear() -> None:
    """200,000 lines of prose take seconds, and ten times the lines about ten times as long."""
    sentence = "The ring of this host was full and we saw it drop many frames in a very short time."
    took = []
    for count in (20_000, 200_000):
        begin = time.process_time()
        split([sentence, ""] * (count // 2), ALL)
        took.append(time.process_time() - begin)
    assert took[1] < 6
    assert took[1] < 30 * took[0] + 0.5


@pytest.mark.parametrize(
    "line",
    [
        "[" * 60_000,
        "a@" * 30_000,
        "> " * 30_000,
        "for x in 1; do " * 300,
        "{" * 60_000,
        "/a" * 30_000,
        "'`\"" * 1300,
    ],
)
def test_hostile_lines_cost_nothing(line: str) -> None:
    """Lines made to provoke backtracking are passed over in no time."""
    begin = time.process_time()
    split([line] * 5 + RX_DUMP + ["[root@esx0:~] " + line] * 5, ALL)
    assert time.process_time() - begin < 2


# -- the seeds ------------------------------------------------------------------------------------------

ESX0 = {
    "000-vswitchzero.txt": [
        ("net_stats", 301, 4, {}),
        ("client_stats", 313, 23, {"switch": "vSwitch0", "port_id": "33554464"}),
        ("vmxnet3_rx_summary", 342, 22, {"switch": "vSwitch0", "port_id": "33554464"}),
        ("vmxnet3_rx_queues", 397, 2, {"switch": "vSwitch0", "port_id": "33554464"}),
        ("vmxnet3_rx_queue", 403, 7, {"switch": "vSwitch0", "port_id": "33554464", "queue": "0"}),
        ("vmxnet3_rx_queue", 414, 7, {"switch": "vSwitch0", "port_id": "33554466", "queue": "0"}),
        ("vmxnet3_rx_queue", 451, 7, {"switch": "vSwitch0", "port_id": "33554464", "queue": "0"}),
        ("vmxnet3_rx_queue", 478, 7, {"switch": "vSwitch0", "port_id": "33554466", "queue": "0"}),
        ("vmxnet3_rx_queues", 499, 2, {"switch": "vSwitch0", "port_id": "33554466"}),
        ("vmxnet3_rx_queue", 502, 7, {"switch": "vSwitch0", "port_id": "33554466", "queue": "0"}),
        ("vmxnet3_rx_summary", 531, 22, {"switch": "vSwitch0", "port_id": "33554467"}),
    ],
    "002-vswitchzero-esxi.txt": [
        ("net_stats", 196, 3, {}),
        ("client_stats", 207, 1, {"switch": "vSwitch0", "port_id": "33554464"}),
        ("vmxnet3_rx_summary", 214, 21, {"switch": "vSwitch0", "port_id": "33554464"}),
        ("vmxnet3_rx_queue", 271, 5, {"switch": "vSwitch0", "port_id": "33554464", "queue": "0"}),
        ("vmxnet3_rx_queue", 280, 5, {"switch": "vSwitch0", "port_id": "33554466", "queue": "0"}),
        ("vmxnet3_rx_queue", 315, 5, {"switch": "vSwitch0", "port_id": "33554464", "queue": "0"}),
        ("vmxnet3_rx_queue", 339, 5, {"switch": "vSwitch0", "port_id": "33554466", "queue": "0"}),
        ("vmxnet3_rx_queue", 358, 5, {"switch": "vSwitch0", "port_id": "33554466", "queue": "0"}),
        ("vmxnet3_rx_summary", 385, 21, {"switch": "vSwitch0", "port_id": "33554467"}),
    ],
}
GUESTS = {
    "000-vswitchzero.txt": [
        ("iperf-test1", "ethtool_driver", 215, 9, False),
        ("iperf-test1", "ethtool_stats", 281, 4, True),
        ("iperf-test1", "ethtool_stats", 289, 2, True),
        ("iperf-test1", "ethtool_ring", 374, 11, False),
        ("iperf-test1", "ethtool_ring", 432, 11, False),
        ("iperf-test1", "ethtool_stats", 525, 2, True),
    ],
    "002-vswitchzero-esxi.txt": [
        ("iperf-test1", "ethtool_driver", 113, 8, False),
        ("iperf-test1", "ethtool_stats", 176, 4, True),
        ("iperf-test1", "ethtool_stats", 184, 2, True),
        ("iperf-test1", "ethtool_ring", 245, 11, False),
        ("iperf-test1", "ethtool_ring", 296, 11, False),
        ("iperf-test1", "ethtool_stats", 379, 2, True),
    ],
}


def seed(name: str) -> Iterator[TranscriptPiece]:
    if not (SEEDS / name).is_file():
        pytest.skip("the captured texts are not here")
    from analyzer.artefacts.parsing import registry

    return (
        piece
        for piece in split(decode((SEEDS / name).read_bytes()), registry().values())
        if piece.parser
    )


@pytest.mark.corpus
@pytest.mark.parametrize("name", sorted(ESX0))
def test_host_dumps_of_the_seeds(name: str) -> None:
    """Every vsish and net-stats dump of the blog texts is found: first line, length, host, port and queue."""
    found = [piece for piece in seed(name) if piece.host == "esx0"]
    assert [(one.parser, one.first_line, len(one.lines), one.params) for one in found] == ESX0[name]
    assert {one.kind for one in found} == {"esxi"}


@pytest.mark.corpus
@pytest.mark.parametrize("name", sorted(GUESTS))
def test_guest_dumps_of_the_seeds(name: str) -> None:
    """Every ethtool dump of the blog texts is found, and the ones behind grep say so."""
    found = [piece for piece in seed(name) if (piece.parser or "").startswith("ethtool")]
    assert [(p.host, p.parser, p.first_line, len(p.lines), p.filtered) for p in found] == GUESTS[
        name
    ]
    assert {piece.kind for piece in found} == {"guest"}

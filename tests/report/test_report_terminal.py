"""The terminal report: what it says, that it fits, and that no name can steer the terminal."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from rich.console import Console

from analyzer.report import terminal
from tests.kit.case_factory import hostile_case, quiet_case, rich_case

CONTROL = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
COLOUR = re.compile("\x1b\\[[0-9;]*m")


def shown(
    doc: dict[str, object], width: int = 100, verbose: int = 0, *, colour: bool = False
) -> str:
    """Return what a terminal of that width would get."""
    out = io.StringIO()
    console = Console(
        file=out, width=width, force_terminal=colour, color_system="truecolor" if colour else None
    )
    terminal.print_case(doc, console, verbose)
    return out.getvalue()


@pytest.fixture(scope="module")
def text() -> str:
    return shown(rich_case())


def test_worst_first_then_what_could_not_be_judged(text: str) -> None:
    """What it is, counts, findings worst first and signs after their cause, cannot tell with asks, local settings, coverage: in that order."""
    places = [
        text.index(part)
        for part in (
            "VMware ESXi 6.5.0 build 5969303",
            "1 major, 2 warnings, 1 info, 1 exposed, 1 rule broke (6 rules, 52 objects); ",
            "1. MAJOR confirmed  A CPU limit holds",
            "2. WARNING confirmed  VMXNET3 RX ring",
            "48 objects",
            "MAJOR exposed  NSX 6.3.3",
            "RULE BROKE",
            "CANNOT TELL",
            "ask for",
            "MUTED BY LOCAL SETTINGS: 2",
            "Wanted in this lab (until 2018-01-01)",
            "Threshold least of pnic-loses-packets is 0.5 here (0.3 as shipped): Small hosts.",
            "expired on 2017-09-30",
            "Sources: 3 read",
        )
    ]
    assert places == sorted(places)


def test_evidence_and_commands_are_not_broken_over_lines(text: str) -> None:
    """An address or a command stands whole on one line, to be copied, even on a narrow terminal."""
    narrow = shown(rich_case(), width=40)
    for line in (
        "  case-1834/console-esx07.txt:52  ring1_full = 7086",
        "      vsish -e get /net/portsets/<switch>/ports/<port>/vmxnet3/rxSummary",
    ):
        assert line in text.split("\n")
        assert line in narrow.split("\n")
    whole = shown(rich_case(), width=40, verbose=1)
    assert "       ethtool -G eth0 rx 4096" in whole.split("\n")


def test_prose_fits_a_narrow_terminal() -> None:
    """Sentences wrap at the width; only addresses, commands and advice may be longer."""
    for line in shown(rich_case(), width=40).split("\n"):
        assert len(line) <= 40 or re.search(r"[/!].*[/:]|vsish|Controllers, Download", line), line
        assert line == line.rstrip()


def test_verbose_adds_lines_and_trace() -> None:
    """-v shows the lines of evidence and all subjects, -vv the trace with its arithmetic."""
    plain, more, most = (shown(rich_case(), verbose=level) for level in (0, 1, 2))
    assert "# of times the 1st ring is full:7086" not in plain
    assert "# of times the 1st ring is full:7086" in more
    assert "web-47.vmx:41" in more
    assert "(7086 + 3284 = 10370)" not in more
    assert "(7086 + 3284 = 10370)" in most
    assert "rx.ring1_full: 7086  from case-1834/console-esx07.txt:52" in most


def test_no_colour_is_needed_to_understand(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With NO_COLOR no colour is sent though the words stay the same; colour adds nothing but colour."""
    coloured = shown(rich_case(), colour=True)
    assert COLOUR.search(coloured)
    assert COLOUR.sub("", coloured) == text
    monkeypatch.setenv("NO_COLOR", "1")
    out = io.StringIO()
    terminal.print_case(rich_case(), Console(file=out, width=100, force_terminal=True))
    assert not re.search("\x1b\\[[0-9;]*(3[0-7]|9[0-7]|4[0-7])m", out.getvalue())


@pytest.mark.parametrize("width", [20, 40, 100])
def test_hostile_names_cannot_steer(width: int) -> None:
    """Names with escapes, bidi signs and rich markup go out visible and harmless at every depth."""
    for verbose in (0, 1, 2):
        out = COLOUR.sub("", shown(hostile_case(), width=width, verbose=verbose, colour=True))
        assert not CONTROL.search(out)
    assert "\\x1b[31m" in shown(hostile_case(), 400)
    out.encode("utf-8")


@given(st.text(st.characters(codec=None), max_size=30))
@settings(max_examples=60, deadline=None)
def test_any_name_is_printed(name: str) -> None:
    """No name makes the report fail or leaves a control sign in it, rich tags and emoji codes included."""
    document = structs.replace(
        quiet_case(), limits=[name, f"[red]{name}[/red] :smile:"], advice=[name]
    )
    document.nodes[0].name = name
    out = shown(document)
    assert not CONTROL.search(out)
    assert ":smile:" in out


def test_a_terminal_without_unicode_gets_escapes() -> None:
    """On an ASCII terminal a foreign sign is escaped instead of ending the run."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    document = rich_case()
    document.case.name = "Zürich"
    terminal.print_case(document, Console(file=stream, width=80))
    stream.flush()
    assert b"Z\\xfcrich" in raw.getvalue()


def test_a_quiet_case_is_not_called_healthy_when_something_is_unknown() -> None:
    """«Nothing found» comes with the warning that not everything could be judged."""
    assert "nothing found; 61 checks clean, 0 need more data" in shown(quiet_case())
    assert "Not everything could be judged." not in shown(quiet_case())
    unknown = rich_case().cannot_tell
    assert "Not everything could be judged." in shown(
        structs.replace(quiet_case(), cannot_tell=unknown)
    )


@pytest.mark.size
def test_a_case_of_many_machines_takes_one_line_for_its_hosts() -> None:
    """Forty machines do not push what is wrong off the screen; with -v each has its line."""
    doc = quiet_case()
    doc.nodes = [
        structs.replace(doc.nodes[0], id=f"esx{n:02}", name=f"esx{n:02}") for n in range(40)
    ]
    text = shown(doc)

    assert "40 hosts  esx00 … esx39; " in text
    assert "esx00, esx01, esx02 and 37 more: hostd.log names build" in text and "esx03" not in text
    assert all(f"  esx{n:02}  " in shown(doc, verbose=1) for n in range(40))


@pytest.mark.parametrize(
    ("number", "said"),
    [(3, "and 1 more line of evidence\n"), (4, "and 2 more lines of evidence\n")],
)
def test_lines_of_evidence_that_are_not_shown_are_counted_in_english(
    number: int, said: str
) -> None:
    """One line is no lines."""
    doc = rich_case()
    (finding, *_) = doc.findings
    lines = [structs.replace(finding.evidence[0], line=line + 1) for line in range(number)]
    doc.findings = [structs.replace(finding, evidence=lines, explained_by=[])]

    assert said in shown(doc)

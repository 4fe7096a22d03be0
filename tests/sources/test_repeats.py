"""Dumps that come again with other numbers are read in one step, and give what the general way gives."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import example, given, settings
from hypothesis import strategies as st

from analyzer.artefacts.parsing import registry
from analyzer.artefacts.tables import Block, Fault, Row, name_blocks
from analyzer.cli import main
from analyzer.forms.blocks import Layouts
from analyzer.secrets.values import hide, hide_lines
from analyzer.sources.repeats import Repeats
from analyzer.sources.transcript import TranscriptPiece, split

PROMPT = "[root@esx1:~] "
COUNTERS = (
    "pktsTxOK",
    "bytesTxOK",
    "droppedTx",
    "pktsRxOK",
    "bytesRxOK",
    "droppedRx",
    "actions",
    "someLaterCounter",
)
QUEUE = ("intr index", "stopped", "error code", "ring #1 size", "ring #2 size")


@pytest.fixture(autouse=True)
def nothing_learned() -> None:
    """Begin as a new process does: dumps that other tests read have used up no layouts."""
    gc.unfreeze()  # what is frozen for the run is not among the objects
    for one in gc.get_objects():
        if isinstance(one, Layouts):
            one._known.clear()
            one._tried = 0
    gc.freeze()


def client_stats(port: int, first: int, prompt: str = PROMPT, behind: str = "") -> list[str]:
    """Return a prompt and the dump of a port, as vsish prints it."""
    at = f"/net/portsets/DvsPortset-0/ports/{port}/clientStats"
    numbers = [f"   {name}:{first + place}" for place, name in enumerate(COUNTERS)]
    return [f"{prompt}vsish -e get {at}{behind}", "port client stats {", *numbers, "}"]


def queue_status(port: int, queue: int, size: int, prompt: str = PROMPT) -> list[str]:
    """Return a prompt and the status of a receive queue."""
    at = f"/net/portsets/DvsPortset-0/ports/{port}/vmxnet3/rxqueues/{queue}/status"
    numbers = [f"   {name}:{size if 'size' in name else 0}" for name in QUEUE]
    return [f"{prompt}vsish -e get {at}", "status of a vmxnet3 vNIC rx queue {", *numbers, "}"]


def generally(reads: Callable[[], list[object]]) -> list[object]:
    """Return what is read when no dump is known from another."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Repeats, "find_repeat", lambda *_: None)
        patch.setattr(Layouts, "read_block", lambda self, block: self.general(block))
        return reads()


def rows_of(pieces: list[TranscriptPiece]) -> Iterator[Row | Fault]:
    """Return the rows and faults of all outputs, as of one host: what is of no node yet cannot be compared."""
    for piece in pieces:
        if piece.parser is not None:
            block = Block(
                piece.lines,
                piece.first_line,
                "session.txt",
                command=piece.command,
                params=piece.params,
            )
            found = [*registry()[piece.parser].parse(block)]
            name_blocks([item for item in found if isinstance(item, Row)], lambda _scope: "esx1")
            yield from found


def read(lines: list[str]) -> list[object]:
    """Return the pieces of a session, and the rows and faults in them."""
    pieces = split(lines, registry().values())
    return [*pieces, *rows_of(pieces)]


_PORT = st.integers(1, 9_999_999_999)
_NUMBER = st.sampled_from([0, 1, 1812, 4096, 10**17, 10**18, 2**63, 10**25])
_PROMPTS = st.sampled_from([PROMPT, "[root@esx2:~] ", "~ # ", "/net/portsets/> "])
_DUMP = st.one_of(
    st.builds(
        client_stats,
        _PORT,
        _NUMBER,
        _PROMPTS,
        st.sampled_from(["", "", "", " | grep dropped", "; date"]),
    ),
    st.builds(queue_status, _PORT, st.integers(0, 12), _NUMBER, _PROMPTS),
)
_DAMAGE = st.sampled_from(
    ["", "   droppedRx:12 <- look here", "}", "   pktsRxOK:-1", "   inner:structure {", "<snip>", "We then saw this.",
     "port client stats {", "   pktsRxOK:7", "VSISHCmdGetInt():Get failed: Error", f"{PROMPT}date", "   a: b", "12:13"]
)  # fmt: skip


@st.composite
def sessions(draw: st.DrawFn) -> list[str]:
    """Return a session of dumps, some of them damaged: a line in between, a line less."""
    lines: list[str] = []
    for dump in draw(st.lists(_DUMP, min_size=1, max_size=7)):
        part = list(dump)
        if draw(st.integers(0, 3)) == 0:
            at = draw(st.integers(0, len(part)))
            part[at : at + draw(st.integers(0, 1))] = [draw(_DAMAGE)]
        lines += part
    return lines


@pytest.mark.size
@given(sessions())
@settings(max_examples=150, deadline=None)
@example(
    [
        *client_stats(1, 0),
        *client_stats(2, 10**18 - 8),
        *client_stats(3, 2**63),
        *client_stats(4, 5),
    ]
)
@example(
    [*client_stats(1, 0), *queue_status(1, 0, 256), *client_stats(2, 7), *queue_status(2, 1, 512)]
)
@example([*client_stats(1, 0), *client_stats(2, 0), "", "droppedRx:7"])
@example(
    [*client_stats(1, 0), *client_stats(2, 0, behind=" | grep dropped"), *client_stats(10**19, 0)]
)
def test_a_known_dump_gives_what_the_general_way_gives(lines: list[str]) -> None:
    """Pieces, parameters, rows, lines and faults are the same, whatever is damaged or typed in between."""
    assert read(lines) == generally(lambda: read(lines))


def test_a_repeated_dump_takes_the_short_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison above compares two ways: of three like dumps the third is not read line by line."""
    lines = [*client_stats(1, 0), *client_stats(2, 50), *client_stats(3, 90)]
    read(lines)
    monkeypatch.setattr(
        "analyzer.artefacts.parsing.run_template", lambda *_: pytest.fail("the template was run")
    )
    (_, _, _, _, _, piece) = split(lines, registry().values())
    (row,) = rows_of([piece])
    assert isinstance(row, Row)
    assert (row.values["port_id"], row.values["dropped_rx"], row.line_of("dropped_rx")) == (
        3,
        95,
        30,
    )


@pytest.mark.timed
def test_eight_thousand_ports_are_read_five_times_faster_than_line_by_line() -> None:
    """Splitting and parsing a session of many ports costs a fifth of the general way, and gives the same rows."""
    lines = [line for port in range(2000) for line in client_stats(67108864 + port, port * 7919)]
    read(lines[:400])

    def seconds(reads: Callable[[], list[object]]) -> tuple[float, list[object]]:
        begun = time.process_time()
        found = reads()
        return time.process_time() - begun, found

    took = []
    for _ in range(4):
        long, general = seconds(lambda: generally(lambda: read(lines)))
        short, found = seconds(lambda: read(lines))
        assert found == general
        took.append((long, short))
    assert (
        min(long for long, _ in took) / min(short for _, short in took) >= 5
    )  # the least other work beside it


def test_a_session_of_ports_through_the_command(tmp_path: Path) -> None:
    """`backline tables` prints a row for each of many ports, each with its own numbers and its own line."""
    session = tmp_path / "session.txt"
    lines = [line for port in range(300) for line in client_stats(5000 + port, port * 11)]
    session.write_text("\n".join(lines) + "\n", encoding="utf-8")
    result = CliRunner().invoke(main, ["tables", str(session), "esxi.client_stats", "--csv"])
    heading, *rows = [line.split(",") for line in result.stdout.splitlines()]
    wanted = [[str(5000 + port), str(port * 11 + 5), str(port * 11)] for port in range(300)]
    columns = [heading.index(name) for name in ("port_id", "dropped_rx", "pkts_tx_ok")]
    assert [[row[at] for at in columns] for row in rows] == wanted


@given(
    st.lists(
        st.sampled_from(["pktsRxOK:", "password:", "   key:", "api token:", "sid:", "radius:"]),
        max_size=6,
    ),
    st.data(),
)
def test_counters_that_were_seen_hide_no_secret(names: list[str], data: st.DataObject) -> None:
    """A text of many numbers shows what each of its lines shows alone, secrets that are numbers among them hidden."""
    lines = [
        f"{name}{data.draw(st.sampled_from(['7', '181234', '18123456', '00112233']))}"
        for name in names * 2
    ]
    assert hide_lines(lines) == [hide(line) for line in lines]

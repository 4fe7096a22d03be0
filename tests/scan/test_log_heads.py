"""Lines of a log that no form takes are counted, cheaply; a log that nobody understands does not look read.

The lines follow the forms of the format reference; all of them are made up.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from analyzer.artefacts.parsing import registry
from analyzer.artefacts.tables import Block, Fault, Row
from analyzer.pipeline.triage import Options, triage
from analyzer.report import completeness
from analyzer.scan.blocks import LineBlock
from analyzer.scan.heads import PART, SHOWN, WHOLE, Heads, Purse
from tests.kit.full_size import scale_size
from tests.kit.sample_kit import ALL, Sample, recognised
from tests.kit.together import together

JAVA = (
    "2021-03-08T10:00:0{n}.000Z  INFO http-nio-127.0.0.1-7440-exec-1 SomeService 4282 - request {n}"
)
NSX = '2021-03-08T10:00:00.{n:03}Z nsxmgr1 NSX 4282 SYSTEM [nsx@6876 comp="nsx-manager" level="INFO" subcomp="http"] {n}'
VMKERNEL = "2021-03-08T10:{m:02}:{s:02}.{n:03}Z cpu{c}:2097{n:03})ScsiDeviceIO: 3015: Cmd(0x45{n:06x}) 0x2a to dev"


LOGS = [one for one in ALL if registry()[one.parser].log]


def source(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Triage one file; return its record and the document."""
    document = triage([path], Options()).document
    return document.sources[0], document


def test_a_log_of_another_form_is_not_understood(tmp_path: Path) -> None:
    """An nsx-syslog.log whose lines no form takes: all of them are counted, the first are shown, the share is said."""
    log = tmp_path / "nsx-syslog.log"
    log.write_text("".join(JAVA.format(n=n) + "\n" for n in range(3)), encoding="utf-8")

    record, document = source(log)

    assert record.faults == 3
    assert record.why == "3 of 3 lines not understood (100.0%)"
    assert [fault.line for fault in document.faults] == [1, 2, 3]
    assert "3 lines read, 3 not understood (100.00%)" in completeness.describe_coverage(document)


def test_a_packet_log_with_a_head_of_its_own_is_not_understood(tmp_path: Path) -> None:
    """A dfwpktlogs line with the head of a syslog server is read; one with a head that has no form is counted."""
    log = tmp_path / "dfwpktlogs.log"
    packet = "INET match PASS domain-c7/1002 IN 242 UDP 192.0.2.1/138->192.0.2.2/138"
    heads = (
        "2021-03-08T10:00:00Z ",
        "Mar  8 10:00:00 esx1 dfwpktlogs: 12 ",
        "2021-03-08 10:00:01 esx1 | ",
    )
    log.write_text("".join(f"{head}{packet}\n" for head in heads), encoding="utf-8")

    record, document = source(log)

    assert record.faults == 1
    assert [fault.line for fault in document.faults] == [3]


def test_twelve_of_three_thousand(tmp_path: Path) -> None:
    """Strange lines among 3,000 are counted exactly; what continues a line is not strange."""
    lines = [NSX.format(n=n % 1000) for n in range(2988)]
    for at in range(12):
        lines.insert(at * 240 + 7, JAVA.format(n=at % 10))
    lines[100] += "\n\tat com.example.Service.call(Service.java:7)\n\n\t... 12 more"
    log = tmp_path / "nsx-syslog.log"
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")

    record, document = source(log)

    assert record.faults == 12
    assert record.why == "12 of 3,003 lines not understood (0.4%)"
    assert record.looked_at == 3003
    assert len(document.faults) == SHOWN
    assert document.faults_total == 12


def test_a_rotated_log_may_begin_in_the_middle_of_a_message(tmp_path: Path) -> None:
    """Lines that continue one of the file before are no strangers; text before the first line of a log makes an excerpt of it."""
    log = tmp_path / "hostd.1.log"
    known = "2021-03-08T10:00:00.000Z info hostd[2099] [Originator@6876 sub=Vimsvc] ready\n"
    log.write_text(f"-->    key = 7\n--> }}\n{known}torn\n", encoding="utf-8")
    assert source(log)[0].faults == 0

    log.write_text(f"garbage of another program\n{known}", encoding="utf-8")
    excerpt = source(log)[0]
    assert (excerpt.faults, excerpt.why) == (0, "1 line of other text")


@together("sample", LOGS, ids=str, parts=3)
def test_only_the_faults_of_a_sample_are_strange(sample: Sample, tmp_path: Path) -> None:
    """What is counted are the lines that the parser itself reports, whatever form the others have."""
    parser = registry()[sample.parser]
    lines = recognised(parser, sample).lines
    faults = [item.line for item in parser.parse(Block(lines)) if isinstance(item, Fault)]
    data = ("\n".join(lines) + "\n").encode("utf-8", "surrogateescape")

    def takes(line: str) -> bool:
        return any(isinstance(item, Row) for item in parser.parse(Block([line])))

    heads = Heads([parser.shape or parser.head], takes, Purse())
    heads.see_block(LineBlock(data, len(data), 1, data.count(b"\n")))

    assert [number for number, _ in heads.shown] == faults[:SHOWN]
    assert heads.strange == len(faults)


def vmkernel(count: int) -> bytes:
    """Return so many lines of a vmkernel.log, in order of time."""
    lines = (
        VMKERNEL.format(m=n // 60_000 % 60, s=n // 1000 % 60, n=n % 1000, c=n % 64)
        for n in range(count)
    )
    return ("\n".join(lines) + "\n").encode()


@pytest.mark.release
@pytest.mark.size
def test_a_million_lines_are_looked_at_in_parts(tmp_path: Path) -> None:
    """Of a million lines a part is looked at one by one, which is said; strange ones there are counted."""
    log = tmp_path / "vmkernel.log.gz"
    lines = scale_size(1_000_000)
    text = vmkernel(lines)
    odd = b"2021-03-08T10:00:00.000Z another form that no release is known to write\n"
    log.write_bytes(gzip.compress(odd * 3 + text, 1))

    record, document = source(log)

    assert record.lines == lines + 3
    assert 3000 < record.looked_at < 50_000
    assert record.faults == 3
    assert (
        f"3 of {record.looked_at:,} lines looked at ({lines + 3:,} in all) not understood"
        in record.why
    )
    assert (
        f"3 not understood of the {record.looked_at:,} looked at one by one"
        in completeness.describe_coverage(document)
    )


def test_the_work_of_counting_is_bounded() -> None:
    """However large a log: its first bytes are looked at whole, then a small part of each block."""
    data = vmkernel(10_000)
    heads = Heads([r"^\S+ cpu\d+:\d+\)"], lambda _line: False, Purse())
    block = LineBlock(data, len(data), 1, data.count(b"\n"))
    per_line = len(data) / block.lines

    for _ in range(50):
        heads.see_block(block)

    assert heads.strange == 0
    most = (WHOLE + 50 * PART) / per_line + 51
    assert WHOLE / per_line - 10 < heads.looked < most + len(data) / per_line


def test_a_strange_line_shows_no_secret(tmp_path: Path) -> None:
    """A line of a log that nobody understands is shown without the secret in it."""
    log = tmp_path / "nsx-syslog.log"
    log.write_text(JAVA.format(n=1) + " password=Canary7712\n", encoding="utf-8")

    _, document = source(log)

    assert document.faults[0].line == 1
    assert "Canary7712" not in str(document)

"""Pairs of captures with all the logs of a host: what lies between them is told, plain and redacted alike."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner

from analyzer.cli import main
from tests.kit.compare_kit import HostMoment, Vm
from tests.kit.full_size import scale_size
from tests.kit.redaction_check import left
from tools import make_bundle
from tools.bundle_logs import LogText

LATER, UP = "2017-10-16 16:53:20", 3_542_400 + 172_800
MAC, OLD_NIC, NEW_NIC = "00:50:56:a6:81:01", "00:25:90:aa:81:01", "00:25:90:bb:99:01"
OTHER: dict[str, Any] = {
    "name": "esx82.lab.example",
    "serial": "SYN0000082",
    "nics": {"vmnic0": "00:25:90:aa:82:00"},
}
NAMES = [
    "esx81",
    "esx82",
    "esx99",
    "lab.example",
    "web01",
    MAC,
    OLD_NIC,
    NEW_NIC,
    "SYN0000081",
    "SYN0000082",
]


class Between(NamedTuple):
    """What lies between two captures: the hosts of either side, and what has to be said of it and of a counter."""

    before: list[HostMoment]
    after: list[HostMoment]
    said: str
    column: str
    subject: str
    state: str
    difference: int | None


def vm(port: int = 33554470, **words: Any) -> Vm:
    """The VM of which the ports are compared."""
    return Vm("web01", MAC, port, **words)


BETWEEN = {
    "a reboot": Between(
        [HostMoment(crc=500, vms=[vm(missed=4000)])],
        [HostMoment(captured=LATER, uptime=7200, crc=20, received=3_000_000, vms=[vm(33554480, received=50_000, missed=10)])],
        "was rebooted in between", "rx_packets", "vmnic1", "started again", None,
    ),
    "a vMotion": Between(
        [HostMoment(vms=[vm(missed=4000)]), HostMoment(**OTHER)],
        [HostMoment(captured=LATER, uptime=UP), HostMoment(captured=LATER, uptime=UP, vms=[vm(33554499, missed=4100)], **OTHER)],
        " moved", "out_of_buffers", "", "started again", None,
    ),
    "another NIC": Between(
        [HostMoment(crc=500)],
        [HostMoment(captured=LATER, uptime=UP, received=81_900_000, nics={"vmnic0": "00:25:90:aa:81:00", "vmnic1": NEW_NIC})],
        "another card", "rx_packets", "vmnic1", "started again", None,
    ),
    "another name": Between(
        [HostMoment(crc=500)],
        [HostMoment(name="esx99.lab.example", captured=LATER, uptime=UP, crc=596, received=90_000_000)],
        " is now ", "rx_packets", "vmnic1", "went on", 8_779_955,
    ),
}  # fmt: skip


def capture(moments: list[HostMoment], folder: Path, size: int) -> Path:
    """Write the bundles of some hosts, each with `size` bytes of logs beside what its commands print."""
    folder.mkdir()
    for place, moment in enumerate(moments):
        for name, body in moment.files().items():
            if isinstance(body, str):
                (folder / name).write_text(body, encoding="utf-8")
                continue
            with (
                tarfile.open(fileobj=io.BytesIO(gzip.decompress(body))) as one,
                tarfile.open(folder / name, "w:gz") as tar,
            ):
                _packed(one, tar, f"{place}/{moment.captured}", size)
    return folder


def _packed(made: tarfile.TarFile, tar: tarfile.TarFile, seed: str, size: int) -> None:
    for member in made.getmembers():
        tar.addfile(member, made.extractfile(member))
    for log, part in make_bundle.LIVE.items():
        text = b"".join(LogText(log, seed).fill_size(int(size * part)))
        head = tarfile.TarInfo(f"{made.getnames()[0].partition('/')[0]}/var/run/log/{log}.log")
        head.size = len(text)
        tar.addfile(head, io.BytesIO(text))


def compared(folder: Path, sides: list[Path], *words: str) -> dict[str, Any]:
    """Run the command, and return its document."""
    given = ["compare", *map(str, sides), "-o", str(folder), "--quiet", *words]
    done = CliRunner().invoke(main, given)
    assert done.exit_code in (0, 5), done.output
    document: dict[str, Any] = json.loads((folder / "compare.json").read_text(encoding="utf-8"))
    return document


def numbers(document: dict[str, Any]) -> Any:
    """Return what of a comparison no pseudonym may change."""
    return [
        [[one["rule"], one["state"]] for one in document["findings"]],
        [
            [one["table"], one["column"], one["values"], one["verdict"]]
            for one in document["counters"]
        ],
        [[one["table"], one["column"]] for one in document["changes"]],
    ]


def told_apart(between: Between, folder: Path, size: int) -> None:
    """Compare two captures, plain and redacted, and look for what has to be said."""
    sides = [
        capture(between.before, folder / "before", size),
        capture(between.after, folder / "after", size),
    ]
    plain = compared(folder / "plain", sides)
    hidden = compared(folder / "redacted", sides, "--redact")
    for document in (plain, hidden):
        assert between.said in document["summary"]
        found = [
            one
            for one in document["counters"]
            if one["column"] == between.column and between.subject in one["subject"]
        ]
        told = {(one["steps"][0]["state"], one["steps"][0]["difference"]) for one in found}
        assert told == {(between.state, between.difference)}, found
    assert numbers(plain) == numbers(hidden)
    assert left(folder / "plain", NAMES) and left(folder / "redacted", NAMES) == []


@pytest.mark.release
@pytest.mark.size
@pytest.mark.parametrize("what", BETWEEN)
def test_what_lies_between_is_told_redacted_as_well(tmp_path: Path, what: str) -> None:
    """A reboot, a vMotion, another NIC, another name: said so, with the same numbers and verdicts without the names."""
    told_apart(BETWEEN[what], tmp_path, 60_000)


@pytest.mark.release
@pytest.mark.size
@pytest.mark.parametrize("what", BETWEEN)
def test_what_lies_between_captures_of_full_size(tmp_path: Path, what: str) -> None:
    """The same with thirty megabytes of logs (at full size) on each host: no line of them hides what lies between."""
    told_apart(BETWEEN[what], tmp_path, scale_size(30_000_000))

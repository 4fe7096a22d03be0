"""What came twice counts once and is named; what two hosts have in common is kept. All content is synthetic."""

from __future__ import annotations

import gzip
import io
import json
import random
import tarfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer.cli import main

TOP = "esx-esx71.lab.example-2026-01-20--09.27-4711"
LATER = "esx-esx71.lab.example-2026-01-22--10.00-4712"
OTHER = "esx-esx72.lab.example-2026-01-20--09.30-4713"
LOG = "var/run/log/vmkernel.log"
NICS = "localcli_network-nic-list.txt"


def log(seed: int = 1, count: int = 40) -> bytes:
    """Return lines of a vmkernel.log, each with a lost path: a sign that a rule counts."""
    dice = random.Random(seed)
    return b"".join(
        b"2026-01-20T08:%02d:%02d.%03dZ cpu%d:2097152)ScsiDeviceIO: 2954: Cmd(0x45%06x) 0x2a, CmdSN 0x%x from world 1 to dev "
        b'"naa.600a098000" failed H:0x1 D:0x0 P:0x0 Possible sense data: 0x0 0x0 0x0.\n'
        % (i // 60, i % 60, dice.randrange(1000), i % 8, dice.randrange(1 << 24), i)
        for i in range(count)
    )


def pack(path: Path, members: Sequence[tuple[str, bytes]]) -> Path:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w:gz") as archive:
        for name, body in members:
            info = tarfile.TarInfo(name)
            info.size = len(body)
            archive.addfile(info, io.BytesIO(body))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(raw.getvalue())
    return path


def case(out: Path, *paths: Path) -> tuple[int, dict[str, Any], str]:
    done = CliRunner().invoke(
        main, ["triage", *map(str, paths), "-o", str(out), "--no-settings", "--no-packs"]
    )
    assert done.exit_code in (0, 5), done.output
    return (
        done.exit_code,
        json.loads((out / "case.json").read_text()),
        " ".join(done.output.split()),
    )


def log_lines(doc: dict[str, Any]) -> int:
    return sum(
        one["lines"]
        for node in doc["nodes"]
        for one in node["logs"]
        if one["table"] == "esxi.vmkernel"
    )


def duplicates(doc: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one["address"], one["why"]) for one in doc["sources"] if one["state"] == "duplicate"]


def table_rows(path: Path, table: str) -> list[dict[str, Any]]:
    done = CliRunner().invoke(main, ["tables", str(path), table, "--json"])
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in done.output.splitlines()]


VSISH = """[root@{host}:~] vsish -e get /net/portsets/vSwitch0/ports/33554464/vmxnet3/rxSummary
stats of a vmxnet3 vNIC rx queue {{
   LRO pkts rx ok:0
   pkts rx ok:54270
   # of times the 1st ring is full:7086
   # of times the 2nd ring is full:3284
   1st ring size:256
   2nd ring size:512
   fail to map a rx buffer:0
}}
"""


def test_the_same_members_twice_in_one_archive_count_once(tmp_path: Path) -> None:
    """The events are those of one copy; each second copy is named."""
    once = pack(tmp_path / "once.tgz", [(f"{TOP}/{LOG}", log())])
    twice = pack(tmp_path / "twice.tgz", [(f"{TOP}/{LOG}", log()), (f"{TOP}/{LOG}", log())])
    code, doc, said = case(tmp_path / "two", twice)

    assert log_lines(doc) == log_lines(case(tmp_path / "one", once)[1]) == 40
    assert code == 0
    assert [address for address, _ in duplicates(doc)] == [f"twice.tgz!{TOP}/{LOG}"]
    assert "counts once" in duplicates(doc)[0][1]
    assert "1 duplicate" in said
    assert len(table_rows(twice, "esxi.vmkernel")) == len(table_rows(once, "esxi.vmkernel")) > 0


def test_a_bundle_given_twice_counts_once(tmp_path: Path) -> None:
    """Logs and tables of a copied bundle are left out, each named as a duplicate of the other."""
    members = [
        (f"{TOP}/{LOG}", log()),
        (f"{TOP}/commands/vmware_-vl.txt", b"VMware ESXi 7.0.3 build-19193900\n"),
    ]
    pack(tmp_path / "in" / "a.tgz", members)
    pack(tmp_path / "in" / "b.tgz", members)
    _, doc, _ = case(tmp_path / "out", tmp_path / "in")

    assert log_lines(doc) == 40
    assert len(duplicates(doc)) == 2
    assert len(table_rows(tmp_path / "in", "esxi.version")) == 1


def test_a_rotated_log_and_its_packed_twin_count_once(tmp_path: Path) -> None:
    """vmkernel.log and a gz of the same content: the first counts, the second is named with the first."""
    name = f"{TOP}/var/run/log/vmkernel"
    path = pack(
        tmp_path / "b.tgz",
        [(f"{name}.log", log()), (f"{name}.0.gz", gzip.compress(log(), mtime=0))],
    )
    _, doc, _ = case(tmp_path / "out", path)

    assert log_lines(doc) == 40
    assert duplicates(doc) == [
        (f"b.tgz!{name}.0.gz", f"same content as b.tgz!{name}.log; counts once")
    ]


def test_the_same_log_in_two_bundles_of_one_host_counts_once(tmp_path: Path) -> None:
    """A second capture holds a log of the first: it counts once, the new log is read."""
    pack(tmp_path / "in" / "a.tgz", [(f"{TOP}/{LOG}", log())])
    rotated = f"{LATER}/var/run/log/vmkernel.0.gz"
    pack(
        tmp_path / "in" / "b.tgz",
        [(rotated, gzip.compress(log(), mtime=0)), (f"{LATER}/{LOG}", log(2))],
    )
    _, doc, _ = case(tmp_path / "out", tmp_path / "in")

    assert log_lines(doc) == 80
    assert [address for address, _ in duplicates(doc)] == [f"b.tgz!{rotated}"]


def test_a_second_capture_that_says_the_same_is_kept(tmp_path: Path) -> None:
    """Outputs of two captures of one host are facts of two moments, whatever they say."""
    for name, top in (("a", TOP), ("b", LATER)):
        pack(
            tmp_path / "in" / f"{name}.tgz",
            [(f"{top}/commands/vmware_-vl.txt", b"VMware ESXi 7.0.3 build-19193900\n")],
        )

    assert len(table_rows(tmp_path / "in", "esxi.version")) == 2


def test_what_two_hosts_print_alike_is_kept(tmp_path: Path) -> None:
    """Two hosts with the same version: both rows stay, and nothing is called a duplicate."""
    for name, top in (("a", TOP), ("b", OTHER)):
        pack(
            tmp_path / "in" / f"{name}.tgz",
            [(f"{top}/commands/vmware_-vl.txt", b"VMware ESXi 7.0.3 build-19193900\n")],
        )
    _, doc, _ = case(tmp_path / "out", tmp_path / "in")

    assert {row["node"] for row in table_rows(tmp_path / "in", "esxi.version")} == {
        "esx71.lab.example",
        "esx72.lab.example",
    }
    assert duplicates(doc) == []


@pytest.mark.parametrize(
    ("first", "second", "rows"),
    [("esx71", "esx71", 1), ("esx71", "esx72", 2)],
)
def test_a_transcript_given_twice_counts_once_for_a_host(
    tmp_path: Path, first: str, second: str, rows: int
) -> None:
    """The prompt names the host: the same text of one host counts once, that of two hosts twice."""
    (tmp_path / "in").mkdir()
    for name, host in (("before.txt", first), ("after.txt", second)):
        (tmp_path / "in" / name).write_text(VSISH.format(host=host))

    assert len(table_rows(tmp_path / "in", "esxi.vmxnet3_rx_summary")) == rows


@pytest.mark.parametrize(
    ("copy", "rows", "notes"),
    [("vsish (1).txt", 1, 0), ("vsish - Copy.txt", 1, 0), ("esx72.txt", 2, 1)],
)
def test_a_loose_text_without_a_host_is_a_duplicate_only_as_a_copy(
    tmp_path: Path, copy: str, rows: int, notes: int
) -> None:
    """By the name of a copy it counts once; by another name it may be another host: both count, and that is said."""
    (tmp_path / "in").mkdir()
    for name in ("vsish.txt", copy):
        (tmp_path / "in" / name).write_text(
            VSISH.partition("\n")[2].replace("{{", "{").replace("}}", "}")
        )
    _, doc, _ = case(tmp_path / "out", tmp_path / "in")

    assert len(table_rows(tmp_path / "in", "esxi.vmxnet3_rx_summary")) == rows
    assert [note for note in doc["notes"] if "both count" in note] == doc["notes"]
    assert len(doc["notes"]) == notes


def test_equal_members_at_two_places_of_a_bundle_are_kept(tmp_path: Path) -> None:
    """Two virtual machines whose settings are the same text are two members: both stay."""
    vmx = b'.encoding = "UTF-8"\ndisplayName = "web"\nvirtualHW.version = "13"\nethernet0.virtualDev = "e1000"\n'
    members = [(f"{TOP}/vmfs/volumes/ds1/{name}/web.vmx", vmx) for name in ("web-a", "web-b")]
    path = pack(tmp_path / "b.tgz", members)
    _, doc, _ = case(tmp_path / "out", path)

    assert [source["state"] for source in doc["sources"]] == ["read", "read"]


def forged(data: bytes, crc: int) -> bytes:
    """Return `data` with four bytes more, so that its CRC-32 is `crc`."""
    table = []
    for value in range(256):
        for _ in range(8):
            value = (value >> 1) ^ (0xEDB88320 if value & 1 else 0)  # noqa: PLW2901 - the shift register
        table.append(value)
    high = {entry >> 24: place for place, entry in enumerate(table)}
    wanted, places = crc ^ 0xFFFFFFFF, []
    for _ in range(4):
        place = high[wanted >> 24]
        places.append(place)
        wanted = ((wanted ^ table[place]) << 8) & 0xFFFFFFFF
    state, tail = zlib.crc32(data) ^ 0xFFFFFFFF, bytearray()
    for place in reversed(places):
        tail.append((state ^ place) & 0xFF)
        state = (state >> 8) ^ table[place]
    return data + bytes(tail)


def test_a_log_made_to_look_like_another_is_read(tmp_path: Path) -> None:
    """Same size and same CRC-32, other lines: both count."""
    end = b"2026-01-20T08:59:59.000Z cpu1:2097152)end "
    first, second = (forged(log(seed) + end, 0x12345678) for seed in (1, 2))
    assert (len(first), zlib.crc32(first)) == (len(second), zlib.crc32(second))
    name = f"{TOP}/var/run/log/vmkernel"
    path = pack(tmp_path / "b.tgz", [(f"{name}.log", first), (f"{name}.0", second)])
    _, doc, _ = case(tmp_path / "out", path)

    assert duplicates(doc) == []
    assert len(table_rows(path, "esxi.vmkernel")) > 41

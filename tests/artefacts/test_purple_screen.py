"""Purple screens: every row of the catalog is recognised through the command, and a panic of no row is told as well.

All lines here are synthetic; heads follow vmkernel.log of 6.x and 8.x, screens the text of KB 318671 and KB 303440.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer.cli import main

HOST = "esx-esx0.lab.example-2023-10-14--16.53-71234"
ROWS = list(
    csv.DictReader((Path(__file__).resolve().parents[2] / "analyzer/kb/facts/psod.csv").open())
)
FAULT = "#PF Exception 14 in world 2098001:synthetic IP 0x42001a2b3c4d addr 0x10"


def triage(case: Path, out: Path) -> dict[str, Any]:
    """Return the case document of a folder, read through the command."""
    done = CliRunner().invoke(
        main, ["triage", str(case), "-o", str(out), "--no-settings", "--no-packs"]
    )
    assert done.exit_code in (0, 1), done.output
    document: dict[str, Any] = json.loads((out / "case.json").read_text(encoding="utf-8"))
    return document


def findings(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what is told of purple screens."""
    return [one for one in document["findings"] if one["rule"].startswith("purple-screen")]


def frame(function: str, module: str = "vmkernel#nover", offset: int = 0x55) -> str:
    """Return a line of a backtrace."""
    return f"0x453a1b2c3d40:[0x42001a2b3c4d]{function}@{module}+{offset:#x} stack: 0x0"


def sign(key: str) -> str:
    """Return the line that shows a key of the catalog: a frame, or words of the kernel."""
    return frame(key.removesuffix("@")) if key.endswith("@") else f"Synthetic: {key} (synthetic)"


def log_of(days: Sequence[Sequence[str]], head: str = "") -> str:
    """Return a vmkernel.log in which each day has some lines."""
    lines = []
    for number, messages in enumerate(days):
        day = date(2023, 1, 1) + timedelta(days=number)
        for milli, message in enumerate(messages):
            lines.append(f"{day}T10:11:12.{milli:03}Z {head}cpu3:2098001){message}\n")
    return "".join(lines)


def bundle(folder: Path, text: str, name: str = "vmkernel.log") -> Path:
    """Write a bundle with one log."""
    path = folder / "case" / HOST / "var" / "run" / "log" / name
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    return folder / "case"


@pytest.mark.parametrize("head", ["", "In(182) vmkernel: "], ids=["of 7.x", "of 8.x"])
def test_every_row_is_recognised_by_its_signs_and_no_other_row_is(
    tmp_path: Path, head: str
) -> None:
    """42 days, each with a panic and the signs of one row: each row once, and no panic is called unknown."""
    days = [
        [
            f"@BlueScreen: {FAULT}",
            sign(row["key"]),
            *([frame(row["second"])] if row["second"] else []),
        ]
        for row in ROWS
    ]
    found = findings(triage(bundle(tmp_path, log_of(days, head)), tmp_path / "out"))

    told = {one["subject"].partition(",")[0]: one for one in found}
    assert sorted(told) == sorted(row["id"] for row in ROWS)
    assert len(found) == len(ROWS) >= 38
    for row in ROWS:
        assert told[row["id"]]["title"] == row["title"]
        assert told[row["id"]]["severity"] == "critical"
        assert told[row["id"]]["confidence"] == ("likely" if row["second"] else "possible")
        assert [str(number) for number in told[row["id"]]["kb"]] == row["kb"].split()


def test_the_signs_without_a_panic_are_no_purple_screen(tmp_path: Path) -> None:
    """Backtraces that the kernel writes with a warning raise nothing, whatever functions they hold."""
    days = [[sign(row["key"])] for row in ROWS if row["key"].endswith("@")]
    document = triage(bundle(tmp_path, log_of(days)), tmp_path / "out")

    assert findings(document) == []
    assert {one["rule"] for one in document["quiet"]} >= {
        "purple-screen-known",
        "purple-screen-unknown",
    }


@pytest.mark.parametrize(
    ("panic", "word"),
    [
        (FAULT, "First function outside the kernel: MadeUp_Go of madeup"),
        (
            "#GP Exception 13 in world 2098001:synthetic",
            "#GP Exception 13 in world 2098001:synthetic",
        ),
        (
            "NMI IPI: Panic requested by another PCPU. RIPOFF(base):RBP:CS [0x1]",
            "look at the backtrace of that CPU",
        ),
        ("Spin count exceeded (synthetic) - possible deadlock", "KB 395129"),
        ("PCPU 12 locked up. (synthetic)", "PCPU 12 locked up"),
        ("NOT_IMPLEMENTED bora/vmkernel/synthetic/made_up.c:12", "file and line"),
        ("Failed at bora/modules/synthetic/made_up.c:12 -- NOT REACHED", "file and line"),
        ("Words that nobody has seen before", "Words that nobody has seen before"),
    ],
)
def test_a_panic_of_no_row_is_a_finding_with_its_text_and_first_function(
    tmp_path: Path, panic: str, word: str
) -> None:
    """A generic panic proves no row; it is told as unknown, with the function and the modules it names."""
    lines = [
        f"@BlueScreen: {panic}",
        "Module(s) involved in panic: [madeup 1.2.3-4vmw.701.0.0.1]",
        frame("PanicvPanicInt"),
        frame("MadeUp_Go", "(madeup)#<None>"),
        frame("MadeUp_Start", "(madeup)#<None>"),
    ]
    (found,) = findings(triage(bundle(tmp_path, log_of([lines])), tmp_path / "out"))

    assert (found["rule"], found["severity"]) == ("purple-screen-unknown", "critical")
    told = " ".join([found["say"], *found["also"]])
    assert panic in told
    assert word in told
    assert "MadeUp_Go of madeup" in told
    assert "madeup 1.2.3-4vmw" in told


def test_two_panics_of_two_days_are_judged_apart(tmp_path: Path) -> None:
    """A panic that the catalog knows does not hide one of another day that it does not know."""
    days = [
        [f"@BlueScreen: {FAULT}", frame("VmMemPf_PreallocRange")],
        [f"@BlueScreen: {FAULT}", frame("MadeUp_Go")],
    ]
    found = findings(triage(bundle(tmp_path, log_of(days)), tmp_path / "out"))

    assert {(one["rule"], one["subject"]) for one in found} == {
        ("purple-screen-known", "prealloc-range, 2023-01-01"),
        ("purple-screen-unknown", "2023-01-02"),
    }


def test_addresses_and_offsets_play_no_part(tmp_path: Path) -> None:
    """The same function at another address and offset is the same sign; its name as an address or offset is none."""
    lines = [
        f"@BlueScreen: {FAULT}",
        frame("VmMemPf_PreallocRange", offset=0x999).replace("0x42001a2b3c4d", "0x1f"),
    ]
    (found,) = findings(triage(bundle(tmp_path, log_of([lines])), tmp_path / "out"))
    assert found["subject"].startswith("prealloc-range")

    lines = [f"@BlueScreen: {FAULT}", frame("Made_Up", "VmMemPf_PreallocRange#nover")]
    (found,) = findings(triage(bundle(tmp_path / "b", log_of([lines])), tmp_path / "out2"))
    assert found["rule"] == "purple-screen-unknown"


SCREEN = f"""\
VMware ESXi 7.0.3 [Releasebuild-17630552 x86_64]
{FAULT}
PTEs:0x0;
cr0=0x8001003d cr2=0x0 cr3=0x18b40e000 cr4=0x2227e0
frame=0x43b7c4cbe9b0 ip=0x418033a8c1f7 err=0 rflags=0x10202
rax=0x0 rbx=0x43063b5fa3c0 rcx=0x0
PCPU 14: HV:0 SH:0 FS:1 FH:1 CS:1 IS:0
Code start: 0x418032e00000 VMK uptime: 15:22:11:34.852
{frame("NFS41_SMEventCreate", "(nfs41client)#<None>")}
{frame("NFS41_ConnectionRPCEventCB", "(nfs41client)#<None>")}
Coredump to disk. Slot 1 of 1 on device synthetic.
"""


def test_a_pasted_screen_is_recognised_and_proves_nothing_of_the_log(tmp_path: Path) -> None:
    """A screen as text is judged; it is no vmkernel.log, so what rules seek there stays unknown."""
    (tmp_path / "case").mkdir()
    (tmp_path / "case" / "psod.txt").write_text(SCREEN, encoding="utf-8")
    document = triage(tmp_path / "case", tmp_path / "out")

    (found,) = findings(document)
    assert (found["subject"], found["confidence"]) == ("nfs41-event, no date", "likely")
    assert "kb-2113956" not in {one["rule"] for one in document["quiet"]}
    assert document["faults"] == []


def test_a_screen_under_any_name_is_recognised_by_its_lines(tmp_path: Path) -> None:
    """The name of the file is not needed."""
    (tmp_path / "case").mkdir()
    (tmp_path / "case" / "notes from the customer.txt").write_text(SCREEN, encoding="utf-8")
    (found,) = findings(triage(tmp_path / "case", tmp_path / "out"))

    assert found["subject"] == "nfs41-event, no date"


def test_the_text_of_a_dump_is_read_as_a_log(tmp_path: Path) -> None:
    """What esxcfg-dumppart -L writes beside the logs has the lines of vmkernel.log."""
    lines = [f"@BlueScreen: {FAULT}", frame("hid_disconnect"), frame("DLM_free")]
    path = tmp_path / "case" / "vmkernel-log.1"
    path.parent.mkdir()
    path.write_text(log_of([lines]), encoding="utf-8")
    (found,) = findings(triage(path.parent, tmp_path / "out"))

    assert found["subject"] == "usb-dlm, 2023-01-01"


def test_no_row_stands_on_words_that_any_panic_may_print() -> None:
    """Generic panic lines are the key of no row, and no key holds an address."""
    for row in ROWS:
        assert not re.search(r"NMI IPI|Spin count|Exception 1[34]|0x[0-9a-f]{3,}", row["key"]), row[
            "id"
        ]


def test_a_storm_of_backtraces_hides_no_purple_screen(tmp_path: Path) -> None:
    """12,000 frames of the kernel before the panics take no room from the frames that count."""
    storm = [frame("Made_Up")] * 12_000
    known = [
        f"@BlueScreen: {FAULT}",
        frame("PktList_SplitByUplinkPort"),
        frame("PktList_IOCompleteLocked"),
    ]
    unknown = [f"@BlueScreen: {FAULT}", frame("MadeUp_Go", "(madeup)#<None>")]
    found = findings(triage(bundle(tmp_path, log_of([storm, known, unknown])), tmp_path / "out"))

    assert {(one["rule"], one["confidence"]) for one in found} == {
        ("purple-screen-known", "likely"),
        ("purple-screen-unknown", "confirmed"),
    }
    assert any("MadeUp_Go of madeup" in one["say"] for one in found)


OLD_SCREEN = """VMware ESX Server [Releasebuild-98103]
PCPU 1 locked up. Failed to ack TLB invalidate.
frame=0x3a37d98 ip=0x625e94 cr2=0x0 cr3=0x40c66000 cr4=0x16c
es=0xffffffff ds=0xffffffff fs=0xffffffff gs=0xffffffff
eax=0xffffffff ebx=0xffffffff ecx=0xffffffff edx=0xffffffff
*0:1037/helper1-4 1:1107/vmm0:made 2:1121/vmware-vm 3:1122/mks:made
0x3a37ef4:[0x625e94]Made_Up+0x17 stack: 0x833ab4, 0x3a37f10, 0x3a37f48
"""
TYPED_SCREEN = """VMware ESXi 7.0.3 [Releasebuild-17630552 x86_64]
#PF Exception 14 in world 2097253:vmm1:made-up IP 0x418033a8c1f7 addr 0x0

cr0=0x8001003d cr2=0x0 cr3=0x18b40e000 cr4=0x2227e0
frame=0x43b7c4cbe9b0 ip=0x418033a8c1f7 err=0 rflags=0x10202

Code start: 0x418032e00000 VMK uptime: 15:22:11:34.852
0x43b7c4cbe9f0:[0x418033a8c1f7]Made_Up@vmkernel#nover+0x247

Coredump to disk
"""


@pytest.mark.parametrize(
    ("screen", "rule"),
    [(OLD_SCREEN, "purple-screen-known"), (TYPED_SCREEN, "purple-screen-unknown")],
)
def test_a_screen_is_whole_whatever_its_file_is_called(
    tmp_path: Path, screen: str, rule: str
) -> None:
    """A purple screen in a file of any name, with blank lines or of a host of 32 bits, is judged and is no excerpt."""
    (tmp_path / "from the customer.txt").write_text(screen, encoding="utf-8")
    done = CliRunner().invoke(
        main,
        ["triage", str(tmp_path / "from the customer.txt"), "-o", str(tmp_path / "out"), "--quiet"],
    )
    assert done.exit_code == 0, done.output
    (found,) = findings(json.loads((tmp_path / "out" / "case.json").read_text(encoding="utf-8")))
    assert (found["rule"], found["severity"]) == (rule, "critical")

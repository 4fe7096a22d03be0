"""Drafts through the command: what several chosen lines share is asked for, and what names the customer is masked.

All lines are made up in the form of a vmkernel.log and a vobd.log; names and numbers stand for nobody's.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from analyzer.authoring.draft.mask import ASKED, Mask
from analyzer.cli import main

SCSI = (
    "2024-03-01T10:00:{s:02d}.123Z cpu{s}:32800)ScsiDeviceIO: 2368: Cmd(0x439d8{s:02d}5c0) 0x2a, CmdSN 0x8{s:02d}0 from world "
    '3{s:02d}19 to dev "naa.60060e80100{s:02d}2b0052bcb5" failed H:0x0 D:{d} P:0x0 Valid sense data: 0x0 0x0 0x0.'
)


def case(folder: Path, lines: list[str], name: str = "vmkernel.log") -> Path:
    """Return a folder with one log."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def drafted(
    folder: Path, member: str, kb: Path, *more: str
) -> tuple[Result, dict[str, object], str]:
    """Run `rules new --from-lines`; return what was printed, the rule and its text."""
    words = [
        "rules",
        "new",
        "drafted-one",
        str(folder),
        "--from-lines",
        member,
        "--kb",
        str(kb),
        "--force",
        *more,
    ]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    text = (kb / "drafted-one.yaml").read_text(encoding="utf-8")
    return done, yaml.safe_load(text), text


def pattern(rule: dict[str, object]) -> re.Pattern[str]:
    logs = rule.get("logs") or {"sign": rule["sign"]}
    assert isinstance(logs, dict)
    (one,) = logs.values()
    return re.compile(one["match"])


def test_lines_with_one_status_do_not_become_any_scsi_error(tmp_path: Path) -> None:
    """Three lines with D:0x18 find further lines with D:0x18, and none with D:0x2 or D:0x28."""
    lines = [SCSI.format(s=n, d="0x18") for n in range(3)]
    others = [SCSI.format(s=n + 10, d=d) for n, d in enumerate(("0x2", "0x28", "0x8", "0x0"))]
    folder = case(tmp_path / "host", [*lines, *others, SCSI.format(s=20, d="0x18")])
    done, rule, text = drafted(folder, "vmkernel.log:1-3", tmp_path / "kb")
    found = pattern(rule)
    assert all(found.search(line) for line in lines)
    assert found.search(SCSI.format(s=20, d="0x18"))
    assert not [line for line in others if found.search(line)]
    assert "device_status 0x18" in text, "the file says what is asked for"
    assert "4 of 8 lines" in done.stdout
    assert "3 of 3 drafted, all of these hold" in done.stdout


def test_what_differs_stays_a_value(tmp_path: Path) -> None:
    """Two statuses among the chosen lines: any status is found, and its column is there."""
    lines = [SCSI.format(s=1, d="0x18"), SCSI.format(s=2, d="0x28")]
    folder = case(tmp_path / "host", [*lines, SCSI.format(s=3, d="0x2")])
    _, rule, _ = drafted(folder, "vmkernel.log:1-2", tmp_path / "kb")
    found = pattern(rule).search(SCSI.format(s=3, d="0x2"))
    assert found is not None
    assert found["device_status"] == "0x2"


def test_one_line_shares_nothing(tmp_path: Path) -> None:
    """Of a single line nobody can tell what is chance: its numbers are classes, as before."""
    folder = case(tmp_path / "host", [SCSI.format(s=1, d="0x18"), SCSI.format(s=2, d="0x2")])
    _, rule, _ = drafted(folder, "vmkernel.log:1", tmp_path / "kb")
    assert pattern(rule).search(SCSI.format(s=2, d="0x2"))


def test_measures_and_lines_of_the_source_are_no_signs(tmp_path: Path) -> None:
    """An equal duration and the number of a line of the source, which each build has another, stay classes."""
    line = "2024-03-01T10:00:0{n}.000Z cpu1:32800)NetPort: 1879: port {n}5 waited 500 ms with status 0x{s}"
    folder = case(tmp_path / "host", [line.format(n=n, s="bad0") for n in (1, 2, 3)])
    _, rule, _ = drafted(folder, "vmkernel.log:1-3", tmp_path / "kb")
    found = pattern(rule)
    other = line.format(n=4, s="bad0").replace("1879", "2001").replace("500 ms", "700 ms")
    assert found.search(other)
    assert not found.search(line.format(n=4, s="bad1"))


MASKED = [
    ('Lost connection to server filer7 mount point /vol/acme_a mounted as 1234-x ("ACME A").', ["filer7", "/vol", "acme", "ACME"]),
    ("NFS: 157: Command: (mount) Server: (nas01) IP: (10.1.1.1) Path: (/acme/x) Label: (Acme DS) Options: (None)", ["nas01", "acme", "Acme"]),
    ("10.2.3.4:/vol/acme/ds1 is mounted", ["acme", "10.2.3.4", "ds1"]),
    ("fc.20000025b5000001:20000025b5000002-fc.50060e8010411234:50060e8010411235-naa.60060e80", ["25b5", "0e80104"]),
    ("WWPN 50060e8010411234 on vmhba2", ["50060e8010411234"]),
    ("target 50:06:0e:80:10:41:12:34 lost", ["50:06:0e", "12:34"]),
    ('Lost network connectivity on virtual switch "Acme Switch". Physical NIC vmnic1 is down. '
     'Affected portgroups:"Acme Prod", "Mgmt", "VM Network".', ["Acme", "Mgmt"]),
    ("path /vmfs/volumes/My Store/My App Box/My App Box.vmdk failed", ["My", "Store", "App", "Box"]),
    ("'/vmfs/volumes/My Store/Some Folder' gone", ["My", "Store", "Some", "Folder"]),
    ("switch: BlueNet went down", ["BlueNet"]),
]  # fmt: skip


@pytest.mark.parametrize(("line", "names"), MASKED)
def test_names_go_by_their_place_and_form(line: str, names: list[str]) -> None:
    """WWNs, exports, datastores, switches, port groups and names with blanks are masked without being known."""
    shown = Mask().mask_text(line, guess=True)
    assert [name for name in names if name in shown] == []


@pytest.mark.parametrize(
    "line",
    [
        "sshd:/usr/bin/x error: /var/log/vmkernel.log", "ptr 0x4390a2b3c4d5e6f7 at cpu3", "Physical NIC vmnic1 is down",
        "vSwitch0 uplink vmnic4", 'portgroups: "VM Network"',
    ],
)  # fmt: skip
def test_the_words_of_the_product_stay(line: str) -> None:
    """System paths, pointers and devices are no names."""
    assert Mask().mask_text(line) == line


def test_words_of_the_author_are_masked_everywhere(tmp_path: Path) -> None:
    """--mask takes a name that no form tells, with blanks, in each place and case; a device too if it is asked for."""
    lines = [
        f"2024-03-01T10:00:0{n}.000Z cpu1:32800)World: 12: Vivian Box {n} and vivian box again, by Quibble, on vmnic4"
        for n in (1, 2)
    ]
    folder = case(tmp_path / "host", lines)
    _, _, text = drafted(folder, "vmkernel.log:1-2", tmp_path / "kb")
    assert "Quibble" in text, "the control: nothing tells that it is a name"
    done, rule, text = drafted(
        folder,
        "vmkernel.log:1-2",
        tmp_path / "kb",
        "--mask",
        "Vivian Box",
        "--mask",
        "quibble",
        "--mask",
        "vmnic4",
    )
    assert not [word for word in ("vivian", "quibble", "vmnic4") if word in text.lower()]
    assert all(pattern(rule).search(line) for line in lines)
    assert " of --mask" in done.stdout
    assert "3 of 3 drafted, all of these hold" in done.stdout


def test_a_mask_that_can_mask_nothing_is_refused(tmp_path: Path) -> None:
    """--mask without a letter or digit, or for an empty skeleton, is a mistake of usage."""
    for words in (["--mask", "--"], ["--mask", "x"]):
        done = CliRunner().invoke(
            main, ["rules", "new", "drafted-one", "--kb", str(tmp_path), *words]
        )
        assert done.exit_code == 2
    assert Mask({ASKED: {"12"}}).mask_text("a 12 b") == "a word-01 b"


# -- lines that tell the begin and the end of one trouble

PROBLEM = "2024-03-01T1{h}:00:00.000Z: [vmfsCorrelator] 1000us: [esx.problem.vmfs.heartbeat.timedout] {v} store{n}"
CLEARED = "2024-03-01T1{h}:30:00.000Z: [vmfsCorrelator] 2000us: [esx.clear.vmfs.heartbeat.restored] {v} store{n}"
NIC = "2024-03-01T1{h}:00:00.000Z cpu1:32800)<6>bnx2x: vmnic{n} NIC Link is {word}"
VOLUMES = [f"5a1b2c3{n}-1111222{n}-3333-44445555666{n}" for n in range(3)]


def verdicts(rule: Path, folder: Path) -> set[str]:
    """Return the subjects of a drafted rule that match in a case."""
    done = CliRunner().invoke(
        main,
        [
            "triage",
            str(folder),
            "--kb",
            str(rule.parent),
            "--draft",
            "--json",
            "-",
            "--no-settings",
        ],
    )
    assert done.exit_code in (0, 5), done.output
    return {
        one["subject"]
        for one in json.loads(done.stdout)["findings"]
        if one["rule"] == "drafted-one"
    }


@pytest.mark.parametrize(
    "chosen", ["vobd.log:1-2", "vobd.log:2-3"], ids=["problem, clear", "clear, problem"]
)
def test_a_problem_that_was_cleared_is_none(tmp_path: Path, chosen: str) -> None:
    """Drafted from a problem and its clear, the rule names the volumes whose last event is the problem, and no other."""
    first, second, third = VOLUMES
    folder = case(tmp_path / "host", [
        PROBLEM.format(h=0, v=first, n=1), CLEARED.format(h=0, v=first, n=1),
        PROBLEM.format(h=1, v=first, n=1), CLEARED.format(h=1, v=first, n=1),
        PROBLEM.format(h=2, v=second, n=2), CLEARED.format(h=2, v=second, n=2), PROBLEM.format(h=3, v=second, n=2),
        PROBLEM.format(h=4, v=third, n=3),
    ], "vobd.log")  # fmt: skip
    done, rule, _ = drafted(folder, chosen, tmp_path / "kb")
    assert "seen" not in rule
    assert "3 of 3 drafted, all of these hold" in done.stdout
    assert verdicts(tmp_path / "kb" / "drafted-one.yaml", folder) == {second, third}


def test_a_link_that_came_up_again_is_not_down(tmp_path: Path) -> None:
    """The same for a sentence that says «down» once and «up» once, with the adapter in it."""
    folder = case(tmp_path / "host", [
        NIC.format(h=0, n=1, word="Down"), NIC.format(h=1, n=1, word="Up"), NIC.format(h=2, n=2, word="Down"),
    ])  # fmt: skip
    drafted(folder, "vmkernel.log:1-2", tmp_path / "kb")
    (subject,) = verdicts(tmp_path / "kb" / "drafted-one.yaml", folder)
    assert subject.endswith("2")


def test_two_events_of_other_kinds_stay_a_sequence(tmp_path: Path) -> None:
    """The clear of another event ends nothing: the two are one after the other, as before."""
    other = CLEARED.format(h=1, v=VOLUMES[0], n=1).replace(
        "vmfs.heartbeat.restored", "storage.connectivity.restored"
    )
    folder = case(tmp_path / "host", [PROBLEM.format(h=0, v=VOLUMES[0], n=1), other], "vobd.log")
    _, rule, _ = drafted(folder, "vobd.log:1-2", tmp_path / "kb")
    assert rule["when"] == "order"


def test_a_problem_alone_asks_for_its_end(tmp_path: Path) -> None:
    """Who chose no clear is told that there may be one."""
    folder = case(tmp_path / "host", [PROBLEM.format(h=0, v=VOLUMES[0], n=1)], "vobd.log")
    done, _, _ = drafted(folder, "vobd.log:1", tmp_path / "kb")
    assert "esx.clear" in done.stderr


# -- lines of different things


def test_lines_of_different_things_are_judged_for_the_machine(tmp_path: Path) -> None:
    """Two sorts of lines that name two devices are never one device's: the draft judges the host, says so, and matches."""
    head = "2024-03-01T10:00:0{n}.000Z cpu1:32800)"
    texts = [
        "NMP: lost path of device naa.600601600000000000000007 at once",
        "SCSI: reset of device naa.600601600000000000000008 came",
    ]
    folder = case(tmp_path / "host", [head.format(n=n) + text for n, text in enumerate(texts)])
    done, _, text = drafted(folder, "vmkernel.log:1-2", tmp_path / "kb")
    assert "3 of 3 drafted, all of these hold" in done.stdout
    assert "in this case: 1 match" in done.stdout
    assert "each machine" in text
    assert "different things" in done.stderr


def test_lines_of_one_thing_are_judged_for_it(tmp_path: Path) -> None:
    """The same two sorts with one device in both: that device is the subject."""
    head = "2024-03-01T10:00:0{n}.000Z cpu1:32800)"
    texts = [
        "NMP: lost path of device naa.600601600000000000000007 at once",
        "SCSI: reset of device naa.600601600000000000000007 came",
    ]
    folder = case(tmp_path / "host", [head.format(n=n) + text for n, text in enumerate(texts)])
    done, _, text = drafted(folder, "vmkernel.log:1-2", tmp_path / "kb")
    assert "each device" in text
    assert "different things" not in done.stderr
    assert "in this case: 1 match" in done.stdout

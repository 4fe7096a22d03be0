"""Facts about a few lines of a host's logs as people paste them: quoted, without heads, with the marks of a page.

All lines are synthetic, in forms of public articles and posts (parsers/esxi/logs/vmkernel.py, parsers/esxi/logs/purple_screen.py,
analyzer/sources/passes.py name them).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.forms.logs import MASKED
from analyzer.pipeline.triage import triage
from analyzer.report import signals
from analyzer.sources import passes
from analyzer.sources.passes import remove_marks

FRAME = "0x4539b829b{}:[0x42000f4ff0a3]{} stack: 0x0"
VMK = "2024-05-05T10:0{}:00.000Z cpu3:2098123){}"
PANIC = "#PF Exception 14 in world 2098123:synthetic IP 0x42001a2b3c4d addr 0x10"


def _case(tmp_path: Path, *lines: str) -> dict[str, Any]:
    (tmp_path / "paste.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return triage([tmp_path / "paste.txt"]).document


FOUND = {
    "no head at all": (
        ["WARNING: Heap: 2525: Heap cswitch already at its maximum size. Cannot expand."],
        "heap-at-maximum",
        "cswitch",
    ),
    "no stamp": (
        [
            f"cpu3:2098123)@BlueScreen: {PANIC}",
            "cpu3:2098123)" + FRAME.format("180", "VmMemPf_PreallocRange@vmkernel#nover+0x45"),
        ],
        "purple-screen-known",
        "prealloc-range",
    ),
    "the name of the log and an uptime": (
        [
            "vmkernel: 76:23:45:36.239 cpu11:22687)WARNING: Heap: 2525: Heap cswitch already at its maximum size. "
            "Cannot expand."
        ],
        "heap-at-maximum",
        "cswitch",
    ),
    "frames without addresses": (
        [
            "PanicvPanicInt@vmkernel#nover+0x439",
            "NFS41_SMEventCreate@(nfs41client)#<None>+0x7d",
            "NFS41_ConnectionRPCEventCB@(nfs41client)#<None>+0x1b",
        ],
        "purple-screen-known",
        "nfs41-event",
    ),
    "details of a panic": (
        [
            "Panic Details: Crash at 2024-12-28T14:08:15.753Z on CPU 38 running world 2098455 - synthetic.",
            "Panic Message: @BlueScreen: Failed at bora/modules/vmkernel/cmmds/cmmds_audit.c:478 -- NOT REACHED",
        ],
        "purple-screen-known",
        "cmmds-audit",
    ),
    "a panic without a stamp among lines that have one": (
        [
            VMK.format(1, FRAME.format("180", "LibAIODoAsyncIO@vmkernel#nover+0x12a")),
            VMK.format(1, FRAME.format("190", "HelperQueueFunc@vmkernel#nover+0x875")),
            PANIC,
        ],
        "purple-screen-known",
        "nfs41-aio",
    ),
    "a panic known by its frames alone": (
        [
            FRAME.format("180", "PanicvPanicInt@vmkernel#nover+0x327"),
            FRAME.format("1a0", "made_up@(made_up)#<None>+0x4"),
        ],
        "purple-screen-unknown",
        "no date",
    ),
    "bold in a quotation": (
        [
            "> **Jan 22 12:39:34 esx01 vmkernel: 1:21:01:58.702 cpu4:1040)WARNING: Heap: 2525: "
            "Heap cswitch already at its maximum size. Cannot expand.**"
        ],
        "heap-at-maximum",
        "cswitch",
    ),
    "escaped for a page": (
        [
            "> WARNING: Heap: 1370: Heap\\_Align(vmfs3, 4096/4096 bytes, 4 align) failed. caller: 0x8fdbd0"
        ],
        "kb-1004424",
        "ESXi host",
    ),
    "in italics": (
        [
            "_2018-06-07T08:02:43.154Z cpu44:32881)WARNING: Heap: 2525: Heap cswitch already at its maximum size._"
        ],
        "heap-at-maximum",
        "cswitch",
    ),
    "an item of a list": (
        [
            "4. Panic Message: @BlueScreen: Failed at bora/modules/vmkernel/lsom/lsom_commit_flusher.c:2575 -- synthetic"
        ],
        "purple-screen-known",
        "lsom-flusher",
    ),
    "a line about a disk without its head": (
        [
            'DISKLIB-CHAIN : "/vmfs/volumes/1/vm1/vm1-000003.vmdk" : failed to open (The capacity of the parent virtual '
            "disk and the capacity of the child disk are different)."
        ],
        "snapshot-capacity-differs",
        "paste.txt",
    ),
    "a screen and lines with an uptime": (
        [
            "@BlueScreen: ASSERT bora/vmkernel/main/made_up.h:527",
            "0:01:39:57.763 cpu1:4553)Code start: 0x41800be00000 VMK uptime: 0:01:39:57.763",
            "0:01:39:57.770 cpu1:4553)0x4100c0e4fd08:[0x41800be82f8a]Panic+0xa9 stack: 0x0",
        ],
        "purple-screen-unknown",
        "no date",
    ),
    "a masked stamp": (
        [
            "YYYY-MM-DDTHH:MM:SS.514Z cpu##:########)WARNING: Heap: 2525: Heap cswitch already at its maximum size."
        ],
        "heap-at-maximum",
        "cswitch",
    ),
    "an event with a masked stamp": (
        [
            "[YYYY-MM-DDTHH:MM:SS]: [APDCorrelator] 9414268686us: [esx.problem.storage.apd.start] Device or filesystem "
            "with identifier [12345678-00000000] has entered the All Paths Down state."
        ],
        "esx-event",
        "apd.start",
    ),
    "an event without a stamp": (
        [
            "vobd:  [UserWorldCorrelator] 1us: [esx.problem.vpxa.core.dumped] /usr/lib/vmware/vpxa/bin/vpxa crashed"
        ],
        "esx-event",
        "vpxa.core",
    ),
    "the id of an event alone": (
        [
            "[esx.problem.net.vmnic.linkstate.flapping]",
            "  Taking down physical NIC vmnic2 because the link is flapping.",
        ],
        "esx-event",
        "linkstate.flapping",
    ),
    "escaped brackets": (
        [
            "> 2020-04-30T07:26:00.002Z: \\[netCorrelator\\] 844023129us: \\[esx.problem.net.redundancy.lost\\] Lost "
            'uplink redundancy on virtual switch "vSwitch0". Physical NIC vmnic6 is down.'
        ],
        "esx-event",
        "redundancy.lost",
    ),
    "a line of a VM without a stamp": (
        ["vcpu-0| E105: PANIC: made_up: too many locks!"],
        "vm-process-panics",
        "paste.txt",
    ),
    "a log of a VM under any name": (
        [
            "2024-10-14T15:10:11.412Z In(05) vcpu-0 - VMware ESX unrecoverable error: (vcpu-0) synthetic"
        ],
        "vm-crashed",
        "paste.txt",
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_a_quoted_line_is_found(tmp_path: Path, name: str) -> None:
    """A known line is found in each of the forms in which people quote it, and its subject is told."""
    lines, rule, subject = FOUND[name]
    findings = _case(tmp_path, *lines).findings
    assert [one.subject for one in findings if one.rule == rule and subject in one.subject], (
        findings
    )


@pytest.mark.parametrize(
    "text", ["WARNING: nfs: default timeout 20s is short", "WARNING: Heap is at its maximum size"]
)
def test_other_warnings_are_no_log_of_a_host(tmp_path: Path, text: str) -> None:
    """A line that only begins with WARNING is not taken for one of the VMkernel: no log of a host was looked at."""
    document = _case(tmp_path, text)
    assert not document.findings
    assert [node.kind for node in document.nodes] in ([], ["other"])


def test_marks_of_a_page_are_no_text_of_a_line() -> None:
    """Marks go from lines with a time; a mask of asterisks, an output and text without a time stay as they are."""
    shown = "2024-05-05T10:01:00Z cpu8:42)ScsiDeviceIO: Cmd to dev “naa.1″ failed H:0×0 &#8216;x&#8217;<br />"
    assert (
        remove_marks(shown)
        == "2024-05-05T10:01:00Z cpu8:42)ScsiDeviceIO: Cmd to dev \"naa.1\" failed H:0x0 'x'"
    )
    assert (
        remove_marks("```2024-05-05T10:01:00Z esxupdate: x ```")
        == "2024-05-05T10:01:00Z esxupdate: x"
    )
    for kept in ("10:01:00 to dev naa.********************", "<em>10</em> **x**", "plain 10:01:00"):
        assert remove_marks(kept) == kept


MARKS = (
    "**",
    "```",
    "<br />",
    "</em>",
    "&#8216;",
    "“",
    "”",
    "″",
    "0×2f",
    "_2024-05-05T",
    "\\_",
    '\\"',
    "\\[",
    "\\]",
)


@given(
    st.lists(
        st.sampled_from(
            [*MARKS, " ", "\t", "\x1c", "x", "10:01:00", "_", "<", "`", "é", "0", "\\"]
        ),
        max_size=8,
    )
)
def test_a_text_is_called_bare_only_where_no_mark_is_in_it(parts: list[str]) -> None:
    """The quick look says of no text that holds a mark that it holds none."""
    text = "".join(parts)
    assert not (passes._is_bare(text) and passes._MARKS.search(text))


ADMISSION = "Admission failure in path: host/vim/vmvisor/dcui:dcui.2105653:uw.2105653"
OTHER = "synthetic: 12: nothing to see"


def test_one_known_line_stands_below_the_findings(tmp_path: Path) -> None:
    """Of an excerpt, a line whose rule asks for more of them is shown with what it asks: one line repeats nothing."""
    few = _case(tmp_path, VMK.format(1, ADMISSION))
    assert not few.findings
    (told,) = few.signals
    assert (told.kind, told.count, told.line, told.last_line) == ("few lines", 1, 1, 1)
    assert "10 lines within 1 hour" in told.what
    assert signals.summarize_signals(few) == "1 known sign, too few lines (1 line, cell or file)"


def test_several_known_lines_of_an_excerpt_are_a_possible_finding(tmp_path: Path) -> None:
    """Somebody chose three of many lines: the finding has the severity of its rule, is possible, and says what is asked."""
    few = _case(tmp_path, *(VMK.format(number, ADMISSION) for number in range(3)))
    (found,) = few.findings
    assert (found.rule, found.severity, found.confidence) == ("kb-425728", "warning", "possible")
    assert (
        "Seen 3 times in an excerpt; of a whole log the rule asks for 10 within 1 hour."
        in found.also
    )
    assert not few.signals
    (found,) = _case(
        tmp_path, *(VMK.format(number % 10, ADMISSION) for number in range(10))
    ).findings
    assert not any("excerpt; of a whole log" in note for note in found.also)


def test_a_line_that_was_folded_counts_for_what_it_says(tmp_path: Path) -> None:
    """One line that says `message repeated 4 times` is four."""
    line = "2024-05-05T10:01:00.123Z host1 sshd[123]: message repeated {} times: [ error: PAM: Authentication failure for root from 192.0.2.7]"
    (found,) = _case(tmp_path, line.format(4)).findings
    assert (found.rule, found.confidence) == ("ssh-logins-fail", "possible")
    assert "4 failed logins" in found.say
    (found,) = _case(tmp_path, line.format(12)).findings
    assert found.confidence == "confirmed" and "12 failed logins" in found.say


def test_few_lines_of_a_whole_log_are_no_finding(tmp_path: Path) -> None:
    """A log of fifty lines was not chosen by anybody: three of ten are three of ten."""
    lines = [VMK.format(number, ADMISSION) for number in range(3)]
    document = _case(tmp_path, *lines, *(VMK.format(5, OTHER) for _ in range(47)))
    assert not document.findings


def test_lines_of_several_logs_in_one_paste_go_to_their_logs(tmp_path: Path) -> None:
    """A short text of lines of vmkernel.log and vobd.log is both logs, and a stamp without a zone is read."""
    found = _case(
        tmp_path,
        "2024-05-05T10:00:00 cpu3:2098123)ALERT: Bootbank cannot be found at path '/bootbank'",
        "2024-05-05T10:00:01.000Z In(182) vmkernel: cpu3:2098123)nfnic: <1>: INFO: fnic_fdls_link_status_change: 98: "
        "fnic1: FDLS link status change link up:0, usefip:0",
        "2024-05-05T10:00:02.000Z: [netCorrelator] 1us: [vob.net.uplink.watchdog.timeout] Watchdog timeout occurred for "
        "uplink vmnic1",
    )
    assert {one.rule for one in found.findings} == {
        "kb-83963",
        "nfnic-link-down",
        "uplink-watchdog",
    }


def test_an_event_that_ended_in_the_lines_at_hand_says_so(tmp_path: Path) -> None:
    """Where only some lines are there, a later event that ends a problem is told, though more may have come after it."""
    line = "2018-07-06T21:02:{}.204Z info hostd[B7] [Originator@6876 sub=Vimsvc.ha-eventmgr] Event {} : Device or "
    text = "filesystem with identifier naa.60000000000000000000000000000001 has {} the All Paths Down state."
    found = _case(
        tmp_path,
        line.format(11, 1) + text.format("entered"),
        line.format(22, 2) + text.format("exited"),
    )
    (event,) = found.findings
    assert "Cleared at 2018-07-06 21:02:22 UTC or later" in event.say


def test_a_stamp_is_masked_in_many_ways() -> None:
    """Letters of any kind stand for the digits an article leaves out; words and brackets do too, prose does not."""
    masks = "YYYY-MM-DDThh:mm:ss.zzzZ 2025-xx-xxT10:11:12.123Z ####-##-##T##:##:##.###Z <YYYY-MM-DD>T<time>Z <timestamp>"
    assert [text for text in masks.split() if not re.fullmatch(MASKED, text)] == []
    assert not any(
        re.match(MASKED, text)
        for text in ("timestamp of the host", "mm-dd-yyyy", "yes-or-no", "data time")
    )

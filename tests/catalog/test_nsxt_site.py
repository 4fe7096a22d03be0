"""An NSX-T site of three managers and two edges in each of its states, through `backline triage`: each its own report."""

from __future__ import annotations

import io
import itertools
import json
import re
import tarfile
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer import open_case
from analyzer.case import case_file
from analyzer.case.document import SiteRow
from analyzer.case.verdicts import Judgement
from analyzer.cli import main
from analyzer.pipeline.case import fill_record
from analyzer.report import html, markdown
from analyzer.report.completeness import describe_completeness
from analyzer.report.site import SitePicture, draw_site
from tests.kit.case_factory import rich_case
from tools import nsxt_site
from tools.nsxt_site import STATES, cluster_status, format_line, make_uuid, name_edge

Doc = dict[str, Any]


def triage(state: str, folder: Path) -> Doc:
    """Write the site in a state, run the command on it and return its case document."""
    site = folder / "site"
    site.mkdir()
    for name, body in STATES[state]().items():
        (site / name).write_bytes(body.encode() if isinstance(body, str) else body)
    done = CliRunner().invoke(main, ["triage", str(site), "-o", str(folder / "out"), "--quiet"])
    assert done.exit_code in (0, 1, 5), done.output
    return case_file.read_case(folder / "out" / "case.json")


@pytest.fixture(scope="module")
def docs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Doc]:
    """The case document of each state."""
    return {state: triage(state, tmp_path_factory.mktemp("site")) for state in STATES}


def of(doc: Doc, rule: str) -> list[Doc]:
    """Return the findings of a rule."""
    return [one for one in doc.findings if one.rule == rule]


def test_the_nodes_of_nested_archives_have_name_role_and_release(docs: dict[str, Doc]) -> None:
    """An archive within the bundle and the transcript of its node are one node, named by its syslog."""
    nodes = {node.name: node for node in docs["healthy"].nodes}

    assert {name: node.kind for name, node in nodes.items()} == {
        **{f"nsxt-mgr-0{n}": "nsxt_manager" for n in (1, 2, 3)},
        **{f"nsxt-edge-0{n}": "nsxt_edge" for n in (1, 2)},
    }
    assert {node.version for node in nodes.values()} == {"4.1.0.2.0"}
    assert {nodes[name].build for name in ("nsxt-mgr-01", "nsxt-edge-01")} == {
        "21761691",
        "21761695",
    }
    assert all(len(node.sources) == 2 for node in nodes.values())


@pytest.mark.parametrize("state", STATES)
def test_no_state_asks_for_files_of_nsx_for_vsphere(state: str, docs: dict[str, Doc]) -> None:
    """Nothing that is missing is of a table `nsx.…`, and no line of the site is left without being understood."""
    doc = docs[state]

    assert [one for one in doc.cannot_tell if "nsx." in case_file.encode_line(one)] == []
    assert doc.faults == []


def test_a_healthy_site_is_silent(docs: dict[str, Doc]) -> None:
    """No finding above info, and nothing is asked for."""
    doc = docs["healthy"]

    assert [one.rule for one in doc.findings if one.severity != "info"] == []
    assert doc.cannot_tell == []


def test_a_manager_that_is_down_is_named_with_the_groups_it_is_missing_in(
    docs: dict[str, Doc],
) -> None:
    """Both managers that answer say so: one finding for each view, major, with the line of the member."""
    found = of(docs["a manager down"], "nsxt-manager-down")

    assert {one.subject for one in found} == {"nsxt-mgr-03.lab.example"}
    assert [(one.node, one.severity, one.confidence) for one in found] == [
        ("nsxt-mgr-01", "major", "confirmed"),
        ("nsxt-mgr-02", "major", "confirmed"),
    ]
    assert all("is DOWN in 7 groups" in one.say for one in found)


@pytest.mark.parametrize("state", [state for state in STATES if state != "a manager down"])
def test_a_whole_cluster_is_not_accused(state: str, docs: dict[str, Doc]) -> None:
    """Where all members are UP nobody says that one is down."""
    assert of(docs[state], "nsxt-manager-down") == []


def told(doc: Doc) -> list[tuple[str, str, str]]:
    """Return severity, rule and node of the findings above info, as the document orders them."""
    return [(one.severity, one.rule, one.node) for one in doc.findings if one.severity != "info"]


def test_each_state_has_its_own_report(docs: dict[str, Doc]) -> None:
    """What is said of each state above info, worst first: the cause leads, and no two states are told alike."""
    assert {state: sorted(told(doc)) for state, doc in docs.items()} == {
        "healthy": [],
        "a manager down": [
            ("major", "nsxt-manager-down", "nsxt-mgr-01"),
            ("major", "nsxt-manager-down", "nsxt-mgr-02"),
            *(("warning", "nsxt-manager-channel", f"nsxt-edge-0{n}") for n in (1, 2)),
            *(("warning", "nsxt-manager-channel", f"nsxt-mgr-0{n}") for n in (1, 2)),
        ],
        "an edge cut off": [
            ("critical", "nsxt-alarm", "nsxt-mgr-01"),
            ("critical", "nsxt-bgp-down", "nsxt-edge-01"),
            ("critical", "nsxt-bgp-down", "nsxt-edge-01"),
            ("critical", "nsxt-edge-down", "nsxt-edge-01"),
            ("critical", "nsxt-tunnels-down", "nsxt-edge-01"),
            ("major", "kb-438022", "nsxt-edge-01"),
            ("major", "nsxt-tunnels-down", "nsxt-edge-02"),
            ("warning", "nsxt-edge-peer-lost", "nsxt-edge-01"),
            ("warning", "nsxt-edge-peer-lost", "nsxt-edge-02"),
        ],
        "certificate and disk": [
            ("major", "nsxt-alarm", "nsxt-mgr-02"),
            ("major", "nsxt-alarm", "nsxt-mgr-02"),
            ("major", "nsxt-partition-full", "nsxt-mgr-02"),
            ("warning", "nsxt-service-stopped", "nsxt-mgr-02"),
        ],
    }


def test_what_follows_from_a_cause_waits_behind_it(docs: dict[str, Doc]) -> None:
    """The edge that is down, its neighbours and its peer name the lost tunnels as their cause; a channel the lost manager."""
    doc = docs["an edge cut off"]
    (cause,) = [one for one in of(doc, "nsxt-tunnels-down") if one.node == "nsxt-edge-01"]
    (down,) = of(doc, "nsxt-edge-down")
    (far,) = [one for one in of(doc, "nsxt-tunnels-down") if one.node == "nsxt-edge-02"]
    assert cause.explained_by == []
    assert (
        down.explained_by == far.explained_by == of(doc, "kb-438022")[0].explained_by == [cause.id]
    )
    assert [one.explained_by for one in of(doc, "nsxt-bgp-down")] == [[down.id]] * 2
    assert [down.id in one.explained_by for one in of(doc, "nsxt-edge-peer-lost")] == [
        True,
        True,
    ]

    doc = docs["a manager down"]
    causes = {one.id for one in of(doc, "nsxt-manager-down")}
    assert all(
        set(one.explained_by) <= causes and one.explained_by
        for one in of(doc, "nsxt-manager-channel")
    )


def test_an_alarm_stands_behind_what_the_node_itself_shows(docs: dict[str, Doc]) -> None:
    """The alarm of lost tunnels names the edge by its id, that of a full disk the manager: both follow from its finding."""
    (tunnels,) = of(docs["an edge cut off"], "nsxt-alarm")
    disk = {one.title: one.explained_by for one in of(docs["certificate and disk"], "nsxt-alarm")}
    assert tunnels.explained_by == ["nsxt-tunnels-down/nsxt-edge-01"]
    assert disk == {
        "A certificate of NSX has expired": [],
        "Manager disk usage very high": ["nsxt-partition-full/nsxt-mgr-02"],
    }


def test_one_object_of_several_witnesses_is_named_once(docs: dict[str, Doc]) -> None:
    """Four nodes miss one manager: the note names it once with the four, and prints the step once."""
    note = markdown.render_note(docs["a manager down"])
    assert (
        "They are: manager 192.0.2.43 (on nsxt-edge-01, nsxt-edge-02, nsxt-mgr-01, nsxt-mgr-02)"
        in note
    )
    assert note.count("Check TCP port 1234") == 1


def test_an_alarm_that_was_resolved_is_not_reported(docs: dict[str, Doc]) -> None:
    """Of three alarms of a manager two are open; the evidence is the line of its syslog within the nested archive."""
    found = of(docs["certificate and disk"], "nsxt-alarm")

    assert {one.title for one in found} == {
        "A certificate of NSX has expired",
        "Manager disk usage very high",
    }
    assert all(
        ".tgz!manager-2/var/log/syslog" in case_file.encode_line(one.evidence) for one in found
    )


def test_a_cut_archive_says_that_it_cannot_tell(tmp_path: Path) -> None:
    """Without what was typed the state of cluster and tunnels is asked for, and nothing is called clean."""
    site = tmp_path / "site"
    site.mkdir()
    body = STATES["healthy"]()["nsx-support-bundle.tar"]
    assert isinstance(body, bytes)
    (site / "bundle.tar").write_bytes(body[: len(body) // 2])
    done = CliRunner().invoke(main, ["triage", str(site), "-o", str(tmp_path / "out"), "--quiet"])
    assert done.exit_code in (1, 3, 4, 5), done.output
    doc = case_file.read_case(tmp_path / "out" / "case.json")

    assert "get cluster status verbose" in case_file.encode_line(doc.cannot_tell)
    assert doc.damage


def test_a_host_alone_is_not_asked_for_the_managers(tmp_path: Path) -> None:
    """The syslog of NSX-T in a host's folder is read and judged; cluster and edges are no matter of this case."""
    log = tmp_path / "esx-01" / "var" / "run" / "log" / "nsx-syslog.log"
    log.parent.mkdir(parents=True)
    stamp = '2023-03-01T10:{:02}:00Z nsx-proxy: [nsx@6876 comp="nsx-esx" subcomp="nsx-proxy" errorCode="PRX0803" level="WARN"] lost'
    log.write_text("".join(stamp.format(minute) + "\n" for minute in (0, 16)), encoding="utf-8")
    done = CliRunner().invoke(
        main, ["triage", str(tmp_path / "esx-01"), "-o", str(tmp_path / "out"), "--quiet"]
    )
    assert done.exit_code in (0, 1, 5), done.output
    doc = case_file.read_case(tmp_path / "out" / "case.json")

    assert [(one.rule, one.severity) for one in doc.findings] == [("nsxt-error-code", "major")]
    of_host = {
        "nsxt.host_segment",
        "nsxt.host_switch",
        "nsxt.host_tep",
        "nsxt.host_tunnel",
        "nsxt.logical_router",
    }
    asked = {one.missing for one in doc.cannot_tell if one.missing.startswith("nsxt.")}
    assert asked == of_host, "what the host itself prints, and nothing of managers"


# --- the picture -------------------------------------------------------------------------------


def drawn(doc: Doc) -> SitePicture:
    """Return the picture of a case."""
    found = draw_site(doc)
    assert found is not None
    return found


def lines_of(doc: Doc, *states: str) -> dict[tuple[str, str], str]:
    """Return the channels of the picture in some states, by their ends."""
    return {line.ends: line.state for line in drawn(doc).lines if line.state in states}


def test_each_state_has_its_own_picture(docs: dict[str, Doc]) -> None:
    """What is down, per state: nothing; the third manager; all tunnels and neighbours of an edge; nothing."""
    down = {
        state: set(lines_of(doc, "down", "contradicted", "unknown")) for state, doc in docs.items()
    }
    lost = "nsxt-mgr-03.lab.example"

    assert down["healthy"] == down["certificate and disk"] == set()
    assert down["a manager down"] == {
        *((node, lost) for node in ("nsxt-mgr-01", "nsxt-mgr-02", "nsxt-edge-01", "nsxt-edge-02")),
        *(
            (f"nsxt-mgr-0{n}", "management cluster") for n in (1, 2)
        ),  # DEGRADED: neither up nor down
    }
    assert down["an edge cut off"] == {
        ("nsxt-edge-01", "edge cluster"),
        ("nsxt-edge-01", "nsxt-edge-02"),
        *(("nsxt-edge-01", f"192.0.2.{n}") for n in (130, 134)),
        *((f"198.51.100.{n}", "nsxt-edge-01") for n in (21, 22)),
    }


def test_a_member_that_sent_nothing_is_named_and_a_router_is_asked_for_nothing(
    docs: dict[str, Doc],
) -> None:
    """The manager that is off is missing; the neighbours of BGP stand outside of NSX."""
    missing = {one.name: one.channel for one in drawn(docs["a manager down"]).missing}

    assert missing["nsxt-mgr-03.lab.example"] == "manager"
    assert "BGP neighbour" not in missing.values()
    assert set(missing.values()) == {"manager", "transport node", "tunnel end"}
    assert {
        box.state for box in drawn(docs["healthy"]).boxes if box.kind in ("manager", "edge")
    } == {"in the case"}


def test_no_word_of_a_box_is_cut(docs: dict[str, Doc]) -> None:
    """A name of 36 letters stands whole in its box, in lines that fit, and no box reaches into the next one."""
    boxes = drawn(docs["an edge cut off"]).boxes
    assert max(len(box.name) for box in boxes) == 36

    for box in boxes:
        for kind, text in (("", box.name), ("small", box.small)):
            lines = [line for one, line, _ in box.labels if one == kind]
            assert "".join(lines).replace(" ", "") == text.replace(" ", "")
            assert max(map(len, lines)) <= (29 if kind else 23)
        assert box.labels[-1][2] < box.height
    for one, other in itertools.pairwise(sorted(boxes, key=lambda box: (box.x, box.y))):
        assert one.x < other.x or one.y + one.height < other.y


def test_findings_stand_at_the_channel_they_speak_of(docs: dict[str, Doc]) -> None:
    """Lost tunnels at their lines, neighbours at theirs, the edge that reports itself as down at its box."""
    site = drawn(docs["an edge cut off"])
    at = {line.ends: {one.rule for one in line.findings} for line in site.lines if line.findings}
    boxes = {box.name: {one.rule for one in box.findings} for box in site.boxes if box.findings}

    assert at[("nsxt-edge-01", "192.0.2.130")] == {"nsxt-bgp-down"}
    assert "nsxt-tunnels-down" in at[("198.51.100.21", "nsxt-edge-01")]
    assert {"nsxt-tunnels-down", "nsxt-edge-peer-lost"} <= at[("nsxt-edge-01", "nsxt-edge-02")]
    assert boxes == {"nsxt-edge-01": {"nsxt-edge-down"}}


def test_both_ends_of_a_tunnel_speak_of_one_line(docs: dict[str, Doc]) -> None:
    """Each edge says what it sees of the tunnel between them; a line of the syslog has its own time."""
    (line,) = [
        one
        for one in drawn(docs["an edge cut off"]).lines
        if one.ends == ("nsxt-edge-01", "nsxt-edge-02")
    ]
    told = {(one.said_by, one.said, one.at) for one in line.said if one.channel == "tunnel"}

    assert told == {
        ("nsxt-edge-01", "down: Control Detection Time Expired", ""),
        ("nsxt-edge-02", "down: Control Detection Time Expired", ""),
        ("nsxt-edge-01", "down (syslog)", "2023-03-01 09:41:07"),
    }


def test_the_page_prints_the_number_of_the_finding_beside_its_mark(docs: dict[str, Doc]) -> None:
    """The picture is drawn by the code that draws NSX-v; its numbers are those of the findings."""
    page = html.render_page(docs["an edge cut off"])
    svg = page.partition('<figure class="site"')[2].partition("</figure>")[0]

    assert re.findall(r'class="no"[^>]*>(\d+(?: \+\d+)?)<', svg) != []
    assert set(re.findall(r'class="no"[^>]*>(\d+)', svg)) <= {"1", "2", "3", "4", "5", "6", "7"}
    assert "2: NSX-T edge reports itself down" in svg


# --- parts of the site -------------------------------------------------------------------------


def part(folder: Path, drop: Sequence[str], *texts: str) -> Doc:
    """Triage the healthy site without some archives of its bundle, and with some of its texts; no archive: texts alone."""
    files = STATES["healthy"]()
    site = folder / "site"
    site.mkdir()
    for name in texts:
        (site / name).write_bytes(str(files[name]).encode())
    bundle = files["nsx-support-bundle.tar"]
    assert isinstance(bundle, bytes)
    with (
        tarfile.open(fileobj=io.BytesIO(bundle)) as whole,
        tarfile.open(site / "bundle.tar", "w") as kept,
    ):
        for member in whole.getmembers():
            if not any(word in member.name for word in drop):
                kept.addfile(member, whole.extractfile(member))
    if drop == ["nsx"]:
        (site / "bundle.tar").unlink()
    done = CliRunner().invoke(main, ["triage", str(site), "-o", str(folder / "out"), "--quiet"])
    assert done.exit_code in (0, 1, 5), done.output
    return case_file.read_case(folder / "out" / "case.json")


def asked(doc: Doc, rule: str) -> list[str]:
    """Return the subjects that a rule cannot tell of."""
    return sorted(
        subject for one in doc.cannot_tell if rule in one.rules for subject in one.subjects
    )


def test_without_the_bundle_of_one_manager_nothing_is_called_down(tmp_path: Path) -> None:
    """The others have it as UP: it is named as not collected, and the edge that it serves is no finding."""
    texts = ["nsxt-mgr-01.txt", "nsxt-mgr-02.txt", "nsxt-edge-01.txt", "nsxt-edge-02.txt"]
    doc = part(tmp_path, [make_uuid("manager", 3)], *texts)

    assert told(doc) == []
    assert asked(doc, "nsxt-member-not-collected") == ["nsxt-mgr-03.lab.example (manager)"]
    assert asked(doc, "nsxt-transport-node-closed") == [f"transport node {make_uuid('edge', 1)}"]
    assert lines_of(doc, "down", "contradicted") == {}
    assert "manager nsxt-mgr-03.lab.example (only named by others)" in describe_completeness(doc)


def test_without_the_edges_their_ids_remain_and_their_outputs_are_asked_for(tmp_path: Path) -> None:
    """Managers know an id and no kind of it; nothing is said of tunnels, and that is asked for."""
    doc = part(
        tmp_path,
        [make_uuid("edge", 1), make_uuid("edge", 2)],
        *(f"nsxt-mgr-0{n}.txt" for n in (1, 2, 3)),
    )

    assert told(doc) == []
    assert {one.name for one in drawn(doc).missing} == {
        make_uuid(kind, n) for kind in ("edge", "host") for n in (1, 2)
    }
    assert "get bfd-sessions" in case_file.encode_line(doc.cannot_tell)


def test_the_text_of_one_manager_is_no_bundle(tmp_path: Path) -> None:
    """One manager's CLI: its own bundle and those of the two it names are missing; CLOSED there proves nothing."""
    doc = part(tmp_path, ["nsx"], "nsxt-mgr-01.txt")
    states = {
        one.name: one.state for one in doc.site if one.what == "member" and one.channel == "manager"
    }

    assert told(doc) == []
    assert states == {
        "nsxt-mgr-01": "only output of its CLI",
        "nsxt-mgr-02.lab.example": "not in the case",
        "nsxt-mgr-03.lab.example": "not in the case",
    }
    assert len(asked(doc, "nsxt-transport-node-closed")) == 2
    assert len(asked(doc, "nsxt-member-not-collected")) == 3


@pytest.mark.parametrize(
    ("changes", "expected"),
    [(4, [("nsxt-edge-01", "nsxt-edge-02", "+40.000 s", "3.000 s")]), (2, [])],
)
def test_clocks_of_edges_are_compared_by_the_tunnel_between_them(
    tmp_path: Path, changes: int, expected: list[tuple[str, ...]]
) -> None:
    """Both ends log its changes; the estimate is never better than three intervals of BFD, and two changes are too few."""
    words = [("up", "down"), ("down", "up")] * 2
    logs = {}
    for n, second in ((1, 40), (2, 0)):
        ends = f"198.51.100.1{n}:198.51.100.1{3 - n}"
        logs[name_edge(n)] = "".join(
            format_line(
                f"09:1{at}:{second:02d}.000", name_edge(n), 'comp="nsx-edge" subcomp="nsxa" s2comp="tunnel"',
                f"Tunnel {ends}(geneve) state updated from {was} to {now}", "FABRIC", "WARN",
            )
            for at, (was, now) in enumerate(words[:changes])
        )  # fmt: skip
    folder = tmp_path / "site"
    folder.mkdir()
    for name, body in nsxt_site.make_site(logs=logs).items():
        (folder / name).write_bytes(body.encode() if isinstance(body, str) else body)
    CliRunner().invoke(main, ["triage", str(folder), "-o", str(tmp_path / "out"), "--quiet"])
    doc = case_file.read_case(tmp_path / "out" / "case.json")

    assert [(one.name, one.other, one.state, one.said) for one in drawn(doc).skews] == expected


def test_a_tunnel_end_is_the_host_that_has_its_address(tmp_path: Path) -> None:
    """An address of a host in the stack vxlan is the end of a tunnel; one of another stack says nothing of tunnels."""
    vmk = "{0}      {1}      IPv4      {2}      255.255.255.0   198.51.100.255  00:50:56:00:00:21 1600    65535     true    STATIC      {3}"
    head = (
        "Interface  Port Group/DVPort/Opaque Network        IP Family IP Address      Netmask         Broadcast       "
        "MAC Address       MTU     TSO MSS   Enabled Type        NetStack"
    )
    own = [
        ("vmk0", "0", "198.51.100.22", "defaultTcpipStack"),
        ("vmk10", "10", "198.51.100.21", "vxlan"),
    ]
    text = "\n".join(
        ["[root@esx71:~] esxcfg-vmknic -l", head, *(vmk.format(*one) for one in own), ""]
    )
    site = tmp_path / "site"
    site.mkdir()
    for name, body in {**STATES["healthy"](), "esx71.txt": text}.items():
        (site / name).write_bytes(body.encode() if isinstance(body, str) else body)
    CliRunner().invoke(main, ["triage", str(site), "-o", str(tmp_path / "out"), "--quiet"])
    doc = case_file.read_case(tmp_path / "out" / "case.json")
    kinds = {(one.name, one.channel) for one in doc.site if one.what == "member"}
    ends = {one.name for one in doc.site if one.what == "channel" and one.channel == "tunnel"} | {
        one.other for one in doc.site if one.what == "channel" and one.channel == "tunnel"
    }
    assert ("esx71", "host") in kinds and ("198.51.100.22", "tunnel end") in kinds
    assert "esx71" in ends and not [name for name, _ in kinds if name == "198.51.100.21"]


def test_a_host_with_its_bundle_is_no_stranger_and_trouble_is_drawn_first() -> None:
    """A transport node that the API names like a host of the case is that host; of 30 others the one that is down is drawn."""
    names = [f"esx-{n:02}" for n in range(30)]
    nodes = [
        {
            "node_uuid": make_uuid("host", n),
            "node_display_name": name,
            "mgmt_connection_status": "DOWN" if n == 29 else "UP",
        }
        for n, name in enumerate(names)
    ]
    cases = {
        "hosts.txt": f"root@nsxt-mgr-01:~# curl https://localhost/api/v1/transport-nodes/status\n{json.dumps({'results': nodes})}\n",
        "host.txt": "[root@esx-07:~] net-vdl2 -l\nNSX VDS:\tLab\n\tMTU:\t1600\n\t\tVTEP Interface:\tvmk10\n\t\t\tIP:\t\t192.0.2.7\n",
    }
    with TemporaryDirectory() as folder:
        for name, text in cases.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        doc = open_case(folder).document

    site = drawn(doc)
    boxes = {box.name: box for box in site.boxes}
    assert boxes["esx-07"].kind == "host"
    assert {name for name in names if name in boxes} == {"esx-07", "esx-29"}
    assert [name for name, box in boxes.items() if box.bad] == ["esx-29"]
    (told,) = site.together  # the 28 others look alike: one box, and each is named below it
    assert told.startswith("28 transport nodes like esx-00: esx-00, esx-01, ") and told.endswith(
        ", esx-28"
    )


def test_members_that_differ_are_boxes_of_their_own_up_to_a_limit_that_is_told() -> None:
    """Of fifteen hosts with a neighbour each twelve are drawn, those with trouble first; a healthy end has no red frame."""
    place = {"address": "a", "line": 1, "said": "", "said_by": "", "at": "", "note": ""}
    kinds = {"h": "host", "n": "BGP neighbour"}
    site = [
        {
            "what": "member",
            "name": f"{kind}{n:02}",
            "channel": name,
            "other": "",
            "state": "in the case",
            **place,
        }
        for kind, name in kinds.items()
        for n in range(15)
    ]
    site += [
        {
            "what": "channel",
            "name": f"h{n:02}",
            "other": f"n{m:02}",
            "channel": "BGP",
            "state": state,
            **place,
        }
        for n in range(15)
        for m, state in ((n, "down" if n == 14 else "up"), (0, "up"), (1, "up"))
    ]
    found = draw_site(
        rich_case(site=[fill_record(SiteRow, one) for one in site], judgement=Judgement())
    )

    assert found is not None and found.together == []
    hosts = [box for box in found.boxes if box.kind == "host"]
    assert len(hosts) == 12 and "h14" in {box.name for box in hosts}
    assert [box.name for box in found.boxes if box.bad] == ["n14"]
    assert any("3 more members (host)" in text for text in found.left_out)


def test_an_answer_of_the_api_is_of_the_manager_its_address_names() -> None:
    """`curl` on a jump host: the answer is of the manager in the URL, by the name that the cluster status gives it."""
    status = cluster_status()
    found = re.search(r"(?P<fqdn>\S+)\s+(?P<ip>192\.0\.2\.\d+)\s+UP", status)
    assert found is not None
    text = f'root@jump:~# curl -u admin:x https://{found["ip"]}/api/v1/alarms\n{{"results": []}}\n\nm> get cluster status\n{status}'
    with TemporaryDirectory() as folder:
        Path(folder, "session.txt").write_text(text, encoding="utf-8")
        names = {node.name for node in open_case(folder).document.nodes}

    assert found["fqdn"] in names
    assert "jump" not in names


def _cells(text: str, table: str, column: str, folder: Path) -> list[Any]:
    """Return a column of a table that a pasted text fills."""
    path = folder / "pasted.txt"
    path.write_text(text, encoding="utf-8")
    done = CliRunner().invoke(main, ["tables", str(path), table, "--json"])
    return [json.loads(line)[column] for line in done.stdout.splitlines()]


def test_managers_that_share_a_name_are_told_by_their_addresses(tmp_path: Path) -> None:
    """Two managers of the list that both go by the name they were deployed with are two members of the site."""
    rows = [
        f" {make_uuid('manager', n)}       nsx-manager       192.0.2.{n}        UP" for n in (1, 2)
    ]
    head = "nsxt-mgr-01> get cluster status verbose\nGroup Type: HTTPS\nGroup Status: STABLE\n\nMembers:"
    text = "\n".join([head, " UUID      FQDN      IP      STATUS", *rows, ""])
    assert {"192.0.2.1", "192.0.2.2"} <= set(_cells(text, "nsxt.site_member", "ip", tmp_path))

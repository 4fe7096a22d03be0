"""An NSX-T site of three managers and two edges in each of its states, through `backline triage`: each its own report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer.cli import main
from analyzer.report import markdown
from tools.case_nsxt import STATES

Doc = dict[str, Any]


def triage(state: str, folder: Path) -> Doc:
    """Write the site in a state, run the command on it and return its case document."""
    site = folder / "site"
    site.mkdir()
    for name, body in STATES[state]().items():
        (site / name).write_bytes(body.encode() if isinstance(body, str) else body)
    done = CliRunner().invoke(main, ["triage", str(site), "-o", str(folder / "out"), "--quiet"])
    assert done.exit_code in (0, 1, 5), done.output
    return dict(json.loads((folder / "out" / "case.json").read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def docs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Doc]:
    """The case document of each state."""
    return {state: triage(state, tmp_path_factory.mktemp("site")) for state in STATES}


def of(doc: Doc, rule: str) -> list[Doc]:
    """Return the findings of a rule."""
    return [one for one in doc["findings"] if one["rule"] == rule]


def test_the_nodes_of_nested_archives_have_name_role_and_release(docs: dict[str, Doc]) -> None:
    """An archive within the bundle and the transcript of its node are one node, named by its syslog."""
    nodes = {node["name"]: node for node in docs["healthy"]["nodes"]}

    assert {name: node["kind"] for name, node in nodes.items()} == {
        **{f"nsxt-mgr-0{n}": "nsxt_manager" for n in (1, 2, 3)},
        **{f"nsxt-edge-0{n}": "nsxt_edge" for n in (1, 2)},
    }
    assert {node["version"] for node in nodes.values()} == {"4.1.0.2.0"}
    assert {nodes[name]["build"] for name in ("nsxt-mgr-01", "nsxt-edge-01")} == {"21761691", "21761695"}
    assert all(len(node["sources"]) == 2 for node in nodes.values())


@pytest.mark.parametrize("state", STATES)
def test_no_state_asks_for_files_of_nsx_for_vsphere(state: str, docs: dict[str, Doc]) -> None:
    """Nothing that is missing is of a table `nsx.…`, and no line of the site is left without being understood."""
    doc = docs[state]

    assert [one for one in doc["cannot_tell"] if "nsx." in json.dumps(one)] == []
    assert doc["faults"] == []


def test_a_healthy_site_is_silent(docs: dict[str, Doc]) -> None:
    """No finding above info, and nothing is asked for."""
    doc = docs["healthy"]

    assert [one["rule"] for one in doc["findings"] if one["severity"] != "info"] == []
    assert doc["cannot_tell"] == []


def test_a_manager_that_is_down_is_named_with_the_groups_it_is_missing_in(docs: dict[str, Doc]) -> None:
    """Both managers that answer say so: one finding for each view, major, with the line of the member."""
    found = of(docs["a manager down"], "nsxt-manager-down")

    assert {one["subject"] for one in found} == {"nsxt-mgr-03.lab.example"}
    assert [(one["node"], one["severity"], one["confidence"]) for one in found] == [
        ("nsxt-mgr-01", "major", "confirmed"),
        ("nsxt-mgr-02", "major", "confirmed"),
    ]
    assert all("is DOWN in 7 groups" in one["say"] for one in found)


@pytest.mark.parametrize("state", [state for state in STATES if state != "a manager down"])
def test_a_whole_cluster_is_not_accused(state: str, docs: dict[str, Doc]) -> None:
    """Where all members are UP nobody says that one is down."""
    assert of(docs[state], "nsxt-manager-down") == []


def told(doc: Doc) -> list[tuple[str, str, str]]:
    """Return severity, rule and node of the findings above info, as the document orders them."""
    return [(one["severity"], one["rule"], one["node"]) for one in doc["findings"] if one["severity"] != "info"]


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
    (cause,) = [one for one in of(doc, "nsxt-tunnels-down") if one["node"] == "nsxt-edge-01"]
    (down,) = of(doc, "nsxt-edge-down")
    (far,) = [one for one in of(doc, "nsxt-tunnels-down") if one["node"] == "nsxt-edge-02"]
    assert cause["explained_by"] == []
    assert down["explained_by"] == far["explained_by"] == of(doc, "kb-438022")[0]["explained_by"] == [cause["id"]]
    assert [one["explained_by"] for one in of(doc, "nsxt-bgp-down")] == [[down["id"]]] * 2
    assert [down["id"] in one["explained_by"] for one in of(doc, "nsxt-edge-peer-lost")] == [True, True]

    doc = docs["a manager down"]
    causes = {one["id"] for one in of(doc, "nsxt-manager-down")}
    assert all(set(one["explained_by"]) <= causes and one["explained_by"] for one in of(doc, "nsxt-manager-channel"))


def test_an_alarm_stands_behind_what_the_node_itself_shows(docs: dict[str, Doc]) -> None:
    """The alarm of lost tunnels names the edge by its id, that of a full disk the manager: both follow from its finding."""
    (tunnels,) = of(docs["an edge cut off"], "nsxt-alarm")
    disk = {one["title"]: one["explained_by"] for one in of(docs["certificate and disk"], "nsxt-alarm")}
    assert tunnels["explained_by"] == ["nsxt-tunnels-down/nsxt-edge-01"]
    assert disk == {
        "A certificate of NSX has expired": [],
        "A partition of a manager is nearly full": ["nsxt-partition-full/nsxt-mgr-02"],
    }


def test_one_object_of_several_witnesses_is_named_once(docs: dict[str, Doc]) -> None:
    """Four nodes miss one manager: the note names it once with the four, and prints the step once."""
    note = markdown.render(docs["a manager down"])
    assert "They are: manager 192.0.2.43 (on nsxt-edge-01, nsxt-edge-02, nsxt-mgr-01, nsxt-mgr-02)" in note
    assert note.count("Check TCP port 1234") == 1


def test_an_alarm_that_was_resolved_is_not_reported(docs: dict[str, Doc]) -> None:
    """Of three alarms of a manager two are open; the evidence is the line of its syslog within the nested archive."""
    found = of(docs["certificate and disk"], "nsxt-alarm")

    assert {one["title"] for one in found} == {
        "A certificate of NSX has expired",
        "A partition of a manager is nearly full",
    }
    assert all(".tgz!manager-2/var/log/syslog" in json.dumps(one["evidence"]) for one in found)


def test_a_cut_archive_says_that_it_cannot_tell(tmp_path: Path) -> None:
    """Without what was typed the state of cluster and tunnels is asked for, and nothing is called clean."""
    site = tmp_path / "site"
    site.mkdir()
    body = STATES["healthy"]()["nsx-support-bundle.tar"]
    assert isinstance(body, bytes)
    (site / "bundle.tar").write_bytes(body[: len(body) // 2])
    done = CliRunner().invoke(main, ["triage", str(site), "-o", str(tmp_path / "out"), "--quiet"])
    assert done.exit_code in (1, 3, 4, 5), done.output
    doc = json.loads((tmp_path / "out" / "case.json").read_text(encoding="utf-8"))

    assert "get cluster status verbose" in json.dumps(doc["cannot_tell"])
    assert doc["damage"]


def test_a_host_alone_is_not_asked_for_the_managers(tmp_path: Path) -> None:
    """The syslog of NSX-T in a host's folder is read and judged; cluster and edges are no matter of this case."""
    log = tmp_path / "esx-01" / "var" / "run" / "log" / "nsx-syslog.log"
    log.parent.mkdir(parents=True)
    stamp = '2023-03-01T10:{:02}:00Z nsx-proxy: [nsx@6876 comp="nsx-esx" subcomp="nsx-proxy" errorCode="PRX0803" level="WARN"] lost'
    log.write_text("".join(stamp.format(minute) + "\n" for minute in (0, 16)), encoding="utf-8")
    done = CliRunner().invoke(main, ["triage", str(tmp_path / "esx-01"), "-o", str(tmp_path / "out"), "--quiet"])
    assert done.exit_code in (0, 1, 5), done.output
    doc = json.loads((tmp_path / "out" / "case.json").read_text(encoding="utf-8"))

    assert [(one["rule"], one["severity"]) for one in doc["findings"]] == [("nsxt-error-code", "major")]
    assert "nsxt." not in json.dumps(doc["cannot_tell"])

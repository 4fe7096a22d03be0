"""An NSX 6.3.3 site in each state its control plane can be in, through `backline triage`: each its own report."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer.artefacts import parsing
from analyzer.artefacts.tables import Block, Row
from analyzer.case import case_file
from analyzer.case.document import CaseDocument
from analyzer.cli import main
from analyzer.facts import Facts, nsxv_site
from analyzer.facts.site_signs import CHANNEL
from analyzer.report import view
from tools.nsx_site import CONTROL_PLANES

FAULT, CLUSTER, SPLIT = "kb-2151719", "nsx-majority-lost", "nsx-cluster-split"
RESTART = "restart api-server"


def triage(state: str, folder: Path) -> CaseDocument:
    """Write the site in a state, run the command on it and return its case document."""
    site = folder / "site"
    site.mkdir()
    for name, body in CONTROL_PLANES[state]().items():
        (site / name).write_bytes(body.encode() if isinstance(body, str) else body)
    done = CliRunner().invoke(main, ["triage", str(site), "-o", str(folder / "out"), "--quiet"])
    assert done.exit_code in (0, 1, 5), done.output
    return case_file.read_case(folder / "out" / "case.json")


def of(doc: dict[str, Any], rule: str) -> list[dict[str, Any]]:
    """Return the findings of a rule."""
    return [one for one in doc.findings if one.rule == rule]


def commands(found: list[dict[str, Any]]) -> list[str]:
    """Return the steps of findings as texts."""
    return [" ".join((step.do, step.run, step.note)) for one in found for step in one.fix]


@pytest.mark.parametrize(
    ("state", "severity", "confidence", "words"),
    [
        ("healthy", "info", "exposed", "This release has the fault"),
        (
            "struck after a restart of the Manager",
            "major",
            "likely",
            "none of its 3 controllers, although all 3 report",
        ),
        (
            "one controller down",
            "warning",
            "possible",
            "controller-2 (192.0.2.32) is UNKNOWN, 1 of 3 controllers in all",
        ),
        ("majority lost", "info", "exposed", "the controllers themselves report a broken cluster"),
        (
            "three cluster ids",
            "info",
            "exposed",
            "the controllers themselves report a broken cluster",
        ),
        ("one view of three", "warning", "possible", "none of its 3 controllers"),
        ("a view that breaks off", "warning", "possible", "none of its 3 controllers"),
        (
            "hosts lost the controllers (REST)",
            "warning",
            "possible",
            "hosts report that they lost them too",
        ),
        (
            "hosts lost the controllers (1941)",
            "warning",
            "possible",
            "hosts report that they lost them too",
        ),
        ("lines of nvpstatuscheck alone", "warning", "possible", "none of its 3 controllers"),
        ("one is deployed, one removed", "info", "exposed", "This release has the fault"),
    ],
)
def test_each_state_has_its_own_answer(
    state: str, severity: str, confidence: str, words: str, tmp_path: Path
) -> None:
    """Severity, confidence and words of KB 2151719 in each state; «confirmed» in none, for its cause is never seen."""
    (found,) = of(triage(state, tmp_path), FAULT)

    assert (found.severity, found.confidence) == (severity, confidence)
    assert words in found.say


@pytest.mark.parametrize(
    "state",
    [
        "healthy",
        "one controller down",
        "majority lost",
        "three cluster ids",
        "hosts lost the controllers (REST)",
        "hosts lost the controllers (1941)",
        "one is deployed, one removed",
    ],
)
def test_no_restart_of_api_server_where_it_is_not_the_remedy(state: str, tmp_path: Path) -> None:
    """A broken cluster, one controller that is off, a healthy site: the command is not offered."""
    assert not [step for step in commands(of(triage(state, tmp_path), FAULT)) if RESTART in step]


def test_the_fault_offers_its_remedy(tmp_path: Path) -> None:
    """All views are sound and the hosts connected: restart api-server, and the restart of the Manager is told."""
    (found,) = of(triage("struck after a restart of the Manager", tmp_path), FAULT)

    assert found.fix[0].run == RESTART
    assert found.fix[0].do == ""
    assert any("The Manager started at 2017-10-02 08:00:00 UTC" in line for line in found.also)


@pytest.mark.parametrize("state", ["lines of nvpstatuscheck alone"])
def test_without_the_controllers_own_view_the_remedy_has_a_condition(
    state: str, tmp_path: Path
) -> None:
    """It is not known whether the cluster is sound: the step says what to look at before."""
    (found,) = of(triage(state, tmp_path), FAULT)

    assert found.fix[0].run == RESTART
    assert found.fix[0].do.startswith(
        "if show control-cluster status is healthy on every controller"
    )
    assert any("nvpstatuscheck in vsm.log: 12" in line for line in found.also)


def test_the_controller_that_is_down_is_named_in_the_steps(tmp_path: Path) -> None:
    """One of three: name and address stand in the finding and in what to do."""
    (found,) = of(triage("one controller down", tmp_path), FAULT)

    assert any("Look at controller-2 (192.0.2.32)" in step for step in commands([found]))


def test_a_lost_majority_is_told_as_what_it_is(tmp_path: Path) -> None:
    """Critical, by the controller that says so; the API fault waits behind it and its title is not the first."""
    doc = triage("majority lost", tmp_path)
    (lost,) = of(doc, CLUSTER)
    (fault,) = of(doc, FAULT)

    assert (lost.severity, lost.confidence) == ("critical", "likely")
    assert "Disconnected from cluster majority" in lost.say
    assert any("Do not restart the last one that runs" in step for step in commands([lost]))
    assert fault.explained_by == [lost.id]
    assert doc.findings[0].rule == CLUSTER


def test_different_cluster_ids_are_a_split_cluster(tmp_path: Path) -> None:
    """Three ids below one Manager: critical, with the id of each controller."""
    found = of(triage("three cluster ids", tmp_path), SPLIT)

    assert {(one.severity, one.confidence) for one in found} == {("critical", "confirmed")}
    assert len({one.say for one in found}) == 3


@pytest.mark.parametrize(
    "state", ["healthy", "struck after a restart of the Manager", "one controller down"]
)
def test_a_sound_cluster_is_not_accused(state: str, tmp_path: Path) -> None:
    """All controllers that were asked joined, have the majority and one id: no finding on the cluster."""
    doc = triage(state, tmp_path)
    assert not [
        one
        for one in doc.findings
        if one.rule in (CLUSTER, SPLIT, "nsx-join-incomplete", "nsx-role-inactive")
    ]


def test_controllers_being_changed_do_not_count_as_lost(tmp_path: Path) -> None:
    """DEPLOYING and REMOVING are told and taken out of the count."""
    (found,) = of(triage("one is deployed, one removed", tmp_path), FAULT)

    assert any("deployed or removed are not counted: 2" in line for line in found.also)


def test_a_release_with_the_fix_is_left_alone(tmp_path: Path) -> None:
    """6.3.4: whatever the controllers look like, KB 2151719 does not apply."""
    assert of(triage("fixed release", tmp_path), FAULT) == []


@pytest.mark.parametrize("state", ["one view of three", "a view that breaks off"])
def test_before_all_controllers_were_heard_the_first_step_is_to_ask_them(
    state: str, tmp_path: Path
) -> None:
    """A view is missing or cut: it is not known whether the cluster is sound, so no restart is offered to copy."""
    (found,) = of(triage(state, tmp_path), FAULT)

    assert found.fix[0].run == "show control-cluster status"
    assert "restart api-server on each controller in turn" in found.fix[0].note
    assert RESTART not in [step.run for step in found.fix]
    said = (
        "of 1 of the 3 controllers"
        if state == "one view of three"
        else "roles is missing for 1 of them"
    )
    assert any(said in line for line in found.also)


def test_the_release_is_told_once(tmp_path: Path) -> None:
    """A release whose name says no more than product and version is not repeated behind them."""
    (manager,) = (node for node in triage("healthy", tmp_path).nodes if node.name == "nsxmgr01")

    assert view.list_facts(manager)[0] == "NSX for vSphere 6.3.3 build 6276725"


def test_a_controller_is_named_by_the_address_it_shows_as_its_own(tmp_path: Path) -> None:
    """The prompt `nsx-controller #` names no machine; `show network interface` does, and the finding says it."""
    status = CONTROL_PLANES["majority lost"]()["controller-1.txt"]
    assert isinstance(status, str)
    interfaces = (
        "nsx-controller # show network interface\n"
        "Interface       Address/Netmask     MTU     Admin-Status  Link-Status\n"
        "breth0          192.0.2.31/24       1500    UP            UP\n"
        "eth0                                1500    UP            UP\n"
    )
    (tmp_path / "case.txt").write_text(status + interfaces, encoding="utf-8")
    done = CliRunner().invoke(
        main, ["triage", str(tmp_path / "case.txt"), "-o", str(tmp_path / "out"), "--quiet"]
    )
    assert done.exit_code in (0, 1, 5), done.output
    (found,) = of(case_file.read_case(tmp_path / "out" / "case.json"), CLUSTER)
    assert found.node == "192.0.2.31"
    assert found.subject.startswith("192.0.2.31 (")


@pytest.mark.parametrize("state", CONTROL_PLANES)
def test_no_sample_prints_a_state_that_no_source_shows(state: str) -> None:
    """Of the Central CLI only RUNNING is published; other states stand in the REST answer, which defines them."""
    files = CONTROL_PLANES[state]()
    assert "DISCONNECTED" not in str(files)
    if "central-cli.txt" in files:
        rows = [
            line.split()
            for line in str(files["central-cli.txt"]).splitlines()
            if line.startswith("controller-")
        ]
        assert {row[2] for row in rows} == {"RUNNING"}
    else:
        stated = set(re.findall("<status>(.*?)</status>", str(files["controllers.xml"])))
        assert stated <= {"RUNNING", "UNKNOWN", "DEPLOYING", "REMOVING"}


def test_a_row_given_by_hand_may_lack_cells() -> None:
    """A row of an example states some cells only: what it lacks is not shown, never a `No` and never an error."""
    facts = Facts(parsing.tables())
    facts.node("m1", "m1", "nsx_manager", captured="2017-10-31T00:00:00Z")
    facts.node("esx1", "esx1", "esxi", captured="2017-10-31T00:00:00Z")
    given: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("nsx.host_controller_error", "m1", {"host_id": "host-30", "error_code": "1255604"}),
        ("nsx.vdr", "esx1", {}),
        ("nsx.vdr", "esx1", {"vdr": "default+edge-1", "control_plane_active": False}),
    )
    for line, (name, node, values) in enumerate(given, 1):
        facts.add(
            Row(facts.tables[name], values, Block([""] * 3, 1, "given.txt").assign_node(node), line)
        )
    nsxv_site.put_site(facts)
    told = sorted((str(row.values["said"]), row.values["up"]) for row in facts.store(CHANNEL).rows)
    facts.close()

    assert told == [
        ("1255604", False),
        ("a logical router: Control Plane Active not shown", None),
        ("default+edge-1: Control Plane Active No", False),
    ]


def test_the_manager_tells_which_host_an_id_is_and_how_its_edges_are(tmp_path: Path) -> None:
    """`show cluster <id>` ties an id to its host; `show edge all` is a channel of each Edge, with the finding at it."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "nsxmgr.txt").write_text(
        "nsxmgr> show cluster domain-c7\nDatacenter: Lab\nCluster: A\n"
        "No.  Host Name            Host Id    Installation Status\n1    esx-01.lab.example   host-31    Ready\n\n"
        "nsxmgr> show edge all\nEdge ID     Name         Size Version Status\n"
        "edge-1      lab-esg01    C    6.4.6   GREEN\nedge-9      lab-esg09    C    6.4.6   RED\n"
    )
    (folder / "esx.txt").write_text(
        "[root@esx-01:~] esxcli network ip connection list\n"
        "tcp         0       0  192.0.2.52:43925      192.0.2.31:1234       ESTABLISHED     44923  newreno  netcpa-worker\n"
    )
    (folder / "connection.xml").write_text(
        "<hostConnStatusList><hostConnStatuses><hostConnStatus><hostId>host-31</hostId>"
        "<hostToControllerConn>DOWN</hostToControllerConn></hostConnStatus></hostConnStatuses></hostConnStatusList>"
    )
    assert (
        CliRunner()
        .invoke(main, ["triage", str(folder), "-o", str(tmp_path / "out"), "--quiet"])
        .exit_code
        == 0
    )
    doc = case_file.read_case(tmp_path / "out" / "case.json")

    members = {one.name for one in doc.site if one.what == "member"}
    channels = {(one.name, one.other, one.said) for one in doc.site if one.what == "channel"}
    assert any(name.startswith("esx-01") for name in members) and "host-31" not in members
    assert {(to, said) for _, to, said in channels} >= {
        ("lab-esg01", "GREEN"),
        ("lab-esg09", "RED"),
    }
    assert [one.subject for one in of(doc, "nsx-edge-red")] == ["edge-9 (lab-esg09)"]


def test_the_units_of_an_edge_with_a_domain_are_two_members(tmp_path: Path) -> None:
    """The number of a unit follows the domain (`edge.example-0`): its peer, which ends in -1, is not the unit itself."""
    path = tmp_path / "pasted.txt"
    path.write_text(
        "edge.example-0> show service highavailability\n"
        "Highavailability Status:             running\n"
        "Highavailability Unit Name:          edge.example-0\n"
        "Highavailability Unit State:         active\n"
        "Highavailability Healthcheck Status:\n"
        "   Peer host [edge.example-1]: good\n"
        "   This host [edge.example-0]: good\n",
        encoding="utf-8",
    )
    done = CliRunner().invoke(main, ["tables", str(path), "site.channel", "--json"])
    (row,) = [json.loads(line) for line in done.stdout.splitlines()]
    assert (row["from_member"], row["to_member"]) == ("edge.example-0", "edge.example-1")

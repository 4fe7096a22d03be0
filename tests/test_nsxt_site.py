"""An NSX-T site of three managers and two edges in each of its states, through `backline triage`: each its own report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer.cli import main
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

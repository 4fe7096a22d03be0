"""An NSX for vSphere site of Manager, controllers, hosts and Edge in ten states, through `backline triage`."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer.cli import main
from tools.nsx_site import STATES, state

# What a release has, whatever the site looks like: such findings are gone on a release with the fix.
BOUND = {"kb-2151719", "nsx-1961105", "nsx-1970527"}
HOSTS_OWN = {"esxi-advisory", "esxi-defect", "esxi-build-age"}  # of the ESXi release below, the same in every state


@cache
def case(name: str, release: str = "") -> dict[str, Any]:
    """Return the case document that the command makes of a site in a state."""
    with TemporaryDirectory() as folder:
        site = Path(folder, "site")
        site.mkdir()
        for file, body in state(name, release).items():
            (site / file).write_bytes(body if isinstance(body, bytes) else body.encode())
        done = CliRunner().invoke(main, ["triage", str(site), "-o", str(Path(folder, "out")), "--quiet"])
        assert done.exit_code == 0, done.output
        return dict(json.loads(Path(folder, "out", "case.json").read_text(encoding="utf-8")))


def findings(name: str, release: str = "") -> set[tuple[str, str, str]]:
    """Return (rule, severity, confidence) of what is said of NSX in a state."""
    found = case(name, release)["findings"]
    return {(one["rule"], one["severity"], one["confidence"]) for one in found if one["rule"] not in HOSTS_OWN}


EXPOSED = {("kb-2151719", "info", "exposed"), ("nsx-1961105", "info", "exposed")}
WRONG: dict[str, set[tuple[str, str, str]]] = {
    "healthy": set(),
    "exposed": set(),
    "struck after a manager restart": {("nsx-controllers-silent", "warning", "possible")},
    "one controller down": {
        ("nsx-controller-down", "major", "likely"),
        ("nsx-host-channel-rest", "major", "likely"),
        ("nsx-netcpa-not-connected", "warning", "likely"),
    },
    "majority lost": {
        ("nsx-majority-lost", "critical", "likely"),
        ("nsx-controllers-silent", "warning", "possible"),
        ("nsx-host-channel-rest", "major", "likely"),
        ("nsx-netcpa-not-connected", "warning", "likely"),
    },
    "split cluster": {
        ("nsx-cluster-split", "critical", "confirmed"),
        ("nsx-startup-nodes-differ", "warning", "confirmed"),
    },
    "clock skew": {("nsx-clock-skew", "major", "possible")},
    "a host cut off": {
        ("nsx-host-lost-controllers", "major", "likely"),
        ("nsx-host-channel-rest", "warning", "likely"),
        ("nsx-netcpa-not-connected", "warning", "likely"),
        ("nsx-vni-no-controller", "major", "likely"),
        ("nsx-vdr-inactive", "major", "possible"),
    },
    "disk of a controller slow": {
        ("nsx-controller-disk-log", "critical", "confirmed"),
        ("nsx-controller-disk-rest", "major", "confirmed"),
        ("nsx-zookeeper-lost", "major", "likely"),
    },
    "manager bundle missing": set(),
}


def test_every_state_is_judged() -> None:
    """The list of answers has the ten states of the generator."""
    assert list(WRONG) == list(STATES) and len(WRONG) == 10


@pytest.mark.parametrize("name", STATES)
def test_each_state_has_its_own_report(name: str) -> None:
    """What is wrong is found, what is right is left alone."""
    assert {one for one in findings(name) if one[0] not in BOUND} == WRONG[name]


@pytest.mark.parametrize("name", STATES)
def test_a_release_with_the_fixes_claims_nothing_bound_to_a_version(name: str) -> None:
    """The same state on 6.3.5: the same faults of the site, and none of the release."""
    assert findings(name, "6.3.5") == WRONG[name]


@pytest.mark.parametrize(
    ("name", "severity", "confidence", "words"),
    [
        ("exposed", "info", "exposed", "This release has the fault"),
        ("struck after a manager restart", "major", "likely", "none of its 3 controllers, although all 3 report"),
        ("one controller down", "warning", "possible", "controller-2 (192.0.2.32) is UNKNOWN"),
        ("majority lost", "info", "exposed", "controllers themselves report a broken cluster"),
        ("split cluster", "info", "exposed", "controllers themselves report a broken cluster"),
        ("a host cut off", "info", "exposed", "This release has the fault"),
    ],
)
def test_the_api_fault_is_judged_against_the_cluster(name: str, severity: str, confidence: str, words: str) -> None:
    """KB 2151719 on 6.3.3: struck only where all controllers are silent and sound, behind a lost majority elsewhere."""
    (found,) = (one for one in case(name)["findings"] if one["rule"] == "kb-2151719")
    assert (found["severity"], found["confidence"]) == (severity, confidence)
    assert words in found["say"]


def test_a_lost_majority_comes_first() -> None:
    """The first finding is the majority, and the fault of the API stands behind it."""
    doc = case("majority lost")
    assert doc["findings"][0]["rule"] == "nsx-majority-lost"
    (fault,) = (one for one in doc["findings"] if one["rule"] == "kb-2151719")
    assert fault["explained_by"] == [doc["findings"][0]["id"]]


def test_without_the_manager_its_rules_cannot_tell() -> None:
    """No bundle of the Manager: what only it says is asked for, and nothing is called healthy."""
    missing = {one["missing"] for one in case("manager bundle missing")["cannot_tell"]}
    assert {"nsx.manager", "nsx.controllers", "nsx.host_connection", "nsx.vsm_log"} <= missing


def test_everything_in_the_bundles_is_understood() -> None:
    """No line of the generator is a fault of a parser, in any state."""
    assert [case(name)["faults"] for name in STATES] == [[]] * len(STATES)

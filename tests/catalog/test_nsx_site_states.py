"""An NSX for vSphere site of Manager, controllers, hosts and Edge in ten states, through `backline triage`."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer.case import case_file
from analyzer.cli import main
from analyzer.report import markdown
from analyzer.report.completeness import describe_completeness
from analyzer.report.finding_rows import list_stories
from tools.nsx_site import STATES, make_files, make_state

# What a release has, whatever the site looks like: such findings are gone on a release with the fix.
BOUND = {"kb-2151719", "nsx-1961105", "nsx-1970527"}
HOSTS_OWN = {
    "esxi-advisory",
    "esxi-defect",
    "esxi-build-age",
}  # of the ESXi release below, the same in every state


@cache
def case(name: str, release: str = "") -> dict[str, Any]:
    """Return the case document that the command makes of a site in a state."""
    return made(name, release)[0]


@cache
def made(name: str, release: str = "") -> tuple[dict[str, Any], str]:
    """Return what the command makes of a site in a state: the case document and the page."""
    with TemporaryDirectory() as folder:
        site = Path(folder, "site")
        site.mkdir()
        for file, body in make_state(name, release).items():
            (site / file).write_bytes(body if isinstance(body, bytes) else body.encode())
        done = CliRunner().invoke(
            main, ["triage", str(site), "-o", str(Path(folder, "out")), "--quiet"]
        )
        assert done.exit_code == 0, done.output
        document = case_file.read_case(Path(folder, "out", "case.json"))
        return document, Path(folder, "out", "report.html").read_text(encoding="utf-8")


def findings(name: str, release: str = "") -> set[tuple[str, str, str]]:
    """Return (rule, severity, confidence) of what is said of NSX in a state."""
    found = case(name, release).findings
    return {(one.rule, one.severity, one.confidence) for one in found if one.rule not in HOSTS_OWN}


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
    "clock skew": {
        ("nsx-clock-skew", "major", "possible"),
        ("nsx-clock-skew", "warning", "possible"),
    },
    "a host cut off": {
        ("nsx-host-lost-controllers", "major", "likely"),
        ("nsx-host-channel-rest", "warning", "likely"),
        ("nsx-netcpa-not-connected", "major", "likely"),
        ("nsx-vni-no-controller", "major", "likely"),
        ("nsx-vdr-inactive", "major", "possible"),
        ("nsx-vxlan-out-of-sync", "warning", "confirmed"),
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
    ("name", "causes"),
    [
        ("struck after a manager restart", ["kb-2151719"]),
        ("one controller down", ["nsx-controller-down"]),
        ("majority lost", ["nsx-majority-lost"]),
        ("split cluster", ["nsx-cluster-split"]),
        ("clock skew", ["nsx-clock-skew", "nsx-clock-skew"]),
        ("a host cut off", ["nsx-netcpa-not-connected"]),
        ("disk of a controller slow", ["nsx-controller-disk-log"]),
        ("manager bundle missing", []),
        ("healthy", []),
    ],
)
def test_one_cause_is_told_once(name: str, causes: list[str]) -> None:
    """What the Manager, the hosts and the controllers say of one fault stands behind its cause, which comes first."""
    told = [story.row for story in list_stories(case(name)) if not story.row.hollow]
    assert [row.first.rule for row in told] == causes


def test_the_note_names_a_cause_and_a_step_once() -> None:
    """Three objects of one cause are one line of the case note, and a step that helps all is printed once."""
    note = markdown.render_note(case("a host cut off"))
    assert note.count("Then fix this: The control plane agent") == 0
    several = "(esx42.lab.example to 192.0.2.31, esx42.lab.example to 192.0.2.32, esx42.lab.example to 192.0.2.33)"
    assert f"Fix this first: netcpa not connected to a controller {several}" in note
    assert note.count("/etc/init.d/netcpad status\n```") == 1


@pytest.mark.parametrize(
    ("name", "severity", "confidence", "words"),
    [
        ("exposed", "info", "exposed", "This release has the fault"),
        (
            "struck after a manager restart",
            "major",
            "likely",
            "none of its 3 controllers, although all 3 report",
        ),
        ("one controller down", "warning", "possible", "controller-2 (192.0.2.32) is UNKNOWN"),
        ("majority lost", "info", "exposed", "controllers themselves report a broken cluster"),
        ("split cluster", "info", "exposed", "controllers themselves report a broken cluster"),
        ("a host cut off", "info", "exposed", "This release has the fault"),
    ],
)
def test_the_api_fault_is_judged_against_the_cluster(
    name: str, severity: str, confidence: str, words: str
) -> None:
    """KB 2151719 on 6.3.3: struck only where all controllers are silent and sound, behind a lost majority elsewhere."""
    (found,) = (one for one in case(name).findings if one.rule == "kb-2151719")
    assert (found.severity, found.confidence) == (severity, confidence)
    assert words in found.say


def test_a_lost_majority_comes_first() -> None:
    """The first finding is the majority, and the fault of the API stands behind it."""
    doc = case("majority lost")
    assert doc.findings[0].rule == "nsx-majority-lost"
    (fault,) = (one for one in doc.findings if one.rule == "kb-2151719")
    assert fault.explained_by == [doc.findings[0].id]


def test_without_the_manager_its_rules_cannot_tell() -> None:
    """No bundle of the Manager: what only it says is asked for, and nothing is called healthy."""
    missing = {one.missing for one in case("manager bundle missing").cannot_tell}
    assert {"nsx.manager", "nsx.controllers", "nsx.host_connection", "nsx.vsm_log"} <= missing


def test_a_member_that_was_skipped_stands_in_the_first_lines() -> None:
    """The sentence on the material names the Manager whose bundle was not collected."""
    assert "not collected: NSX Manager" in describe_completeness(case("manager bundle missing"))
    assert "not collected: controller-2" in describe_completeness(case("one controller down"))


@pytest.mark.size
def test_everything_in_the_bundles_is_understood() -> None:
    """No line of the generator is a fault of a parser, in any state."""
    assert [case(name).faults for name in STATES] == [[]] * len(STATES)


def said(name: str, what: str) -> list[dict[str, Any]]:
    """Return the records of the site of one sort: member, channel, skew."""
    return [one for one in case(name).site if one.what == what]


def test_members_are_known_by_all_their_names() -> None:
    """Id, address and bundle of a controller, id and name of a host, address and bundle of the Manager: one member each."""
    assert {(one.name, one.channel, one.other) for one in said("exposed", "member")} == {
        ("nsx-controller-1", "controller", "192.0.2.31, controller-1"),
        ("nsx-controller-2", "controller", "192.0.2.32, controller-2"),
        ("nsx-controller-3", "controller", "192.0.2.33, controller-3"),
        ("esx41.lab.example", "host", "host-41"),
        ("esx42.lab.example", "host", "host-42"),
        ("edge-1-0", "edge", ""),
        ("edge-1-1", "edge", ""),
        ("nsxmgr01-techsupport", "manager", "192.0.2.15"),
    }
    assert {one.state for one in said("exposed", "member")} == {"in the case"}


def test_a_member_that_was_not_collected_is_named_with_what_rests_on_it() -> None:
    """A controller that the Manager skipped: named, asked for, and no finding says that it is well."""
    (gone,) = (one for one in said("one controller down", "member") if one.state != "in the case")
    assert (gone.name, gone.other, gone.state) == (
        "controller-2",
        "192.0.2.32, controller-2",
        "Skipped",
    )
    doubts = [
        one
        for one in case("one controller down").cannot_tell
        if "nsx-member-not-collected" in one.rules
    ]
    assert [one.subjects for one in doubts] == [["controller-2 (controller)"]]
    assert "own view of the cluster" in made("one controller down")[1]


def test_both_ends_of_a_channel_are_heard() -> None:
    """The Manager says that it reaches no controller, the hosts that they do; each with its line."""
    channels = said("struck after a manager restart", "channel")
    api = {(one.other, one.state) for one in channels if one.channel == "API"}
    assert api == {(f"nsx-controller-{number}", "down") for number in (1, 2, 3)}
    own = {
        (one.name, one.state)
        for one in channels
        if one.channel == "control plane" and one.said == "ESTABLISHED"
    }
    assert own == {("esx41.lab.example", "up"), ("esx42.lab.example", "up")}
    assert all(one.address and one.line and one.said_by for one in channels)


def test_only_the_last_state_of_a_host_counts() -> None:
    """Hosts that lost the controllers and told that they are back are up; the one that did not is down, at that time."""
    events = [one for one in said("a host cut off", "channel") if one.address.endswith("vsm.log")]
    states = {
        (one.name, one.state, one.at[:19]) for one in events if one.channel == "control plane"
    }
    assert states == {
        ("esx41.lab.example", "up", "2017-10-02 07:22:00"),
        ("esx42.lab.example", "down", "2017-10-02 08:30:00"),
    }


def test_skew_is_estimated_from_what_both_machines_logged() -> None:
    """95 s between two hosts, with its error and number of events, and no stamp of the case is moved by it."""
    (hosts,) = (one for one in said("clock skew", "skew") if "dfwpktlogs" in one.note)
    assert (hosts.name, hosts.other) == ("esx42.lab.example", "esx41.lab.example")
    assert abs(float(hosts.state.split()[0]) - 95) < 0.02
    assert 0.001 < float(hosts.said.split()[0]) < 0.02
    assert "shared events: 20" in hosts.note
    (straight,) = (one for one in said("exposed", "skew") if "dfwpktlogs" in one.note)
    assert abs(float(straight.state.split()[0])) < 0.02


@pytest.mark.parametrize(
    ("name", "line", "title"),
    [
        (
            "one controller down",
            "nsxmgr01-techsupport to controller-2: down",
            "NSX Controller down, others still running",
        ),
        (
            "a host cut off",
            "esx42.lab.example to controllers: down",
            "Host disconnected from the NSX Controllers",
        ),
    ],
)
def test_the_page_draws_the_site_with_the_finding_at_its_channel(
    name: str, line: str, title: str
) -> None:
    """Members, channels and their states are drawn; a mark with the finding stands on the channel it speaks of."""
    page = made(name)[1]
    figure = page[
        page.index('<figure class="site"') : page.index(
            "</figure>", page.index('<figure class="site"')
        )
    ]
    assert f"<title>{line}</title>" in figure
    assert re.search(rf"<title>\d+(?:\.\d+)?: {re.escape(title)}", figure)
    assert figure.count("<rect") == len(said(name, "member"))


def test_a_case_without_a_site_has_no_picture(tmp_path: Path) -> None:
    """A host without NSX gets no section of a site."""
    done = CliRunner().invoke(
        main, ["triage", "samples/cases/healthy-host", "-o", str(tmp_path / "out"), "--quiet"]
    )
    assert done.exit_code == 0, done.output
    assert 'id="site"' not in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def arp(release: str, entries: int, times: int, folder: Path) -> list[tuple[str, str]]:
    """Return severity and confidence of issue 1970527 where each host prints its ARP table so many times."""
    files = make_files(replace(STATES["exposed"], release=release, arp=entries, arp_printed=times))
    for file, body in files.items():
        (folder / file).write_bytes(body if isinstance(body, bytes) else body.encode())
    done = CliRunner().invoke(main, ["triage", str(folder), "-o", str(folder / "out"), "--quiet"])
    assert done.exit_code == 0, done.output
    doc = case_file.read_case(folder / "out" / "case.json")
    return [(one.severity, one.confidence) for one in doc.findings if one.rule == "nsx-1970527"]


@pytest.mark.size
@pytest.mark.parametrize(
    ("release", "entries", "times", "found"),
    [
        ("6.3.3", 5200, 1, ("major", "likely")),
        ("6.3.3", 4600, 1, ("warning", "possible")),
        ("6.3.3", 2600, 2, None),
        ("6.3.5", 5200, 1, None),
    ],
)
def test_an_arp_table_is_counted_once_and_judged_by_the_vib(
    release: str, entries: int, times: int, found: tuple[str, str] | None, tmp_path: Path
) -> None:
    """5,200 entries on hosts of 6.3.3 are found, half as many printed twice are not, nor those of a later VIB."""
    assert set(arp(release, entries, times, tmp_path)) == ({found} if found else set())


def test_a_cut_bundle_of_a_controller_is_told(tmp_path: Path) -> None:
    """The bundle ends early: the member is drawn as cut, and a finding says what is not sure without the rest."""
    site = make_state("exposed")
    bundle = site["nsx-controller-1.tgz"]
    site["nsx-controller-1.tgz"] = bundle[: len(bundle) * 9 // 10]
    for file, body in site.items():
        (tmp_path / file).write_bytes(body if isinstance(body, bytes) else body.encode())
    done = CliRunner().invoke(
        main, ["triage", str(tmp_path), "-o", str(tmp_path / "out"), "--quiet"]
    )
    assert done.exit_code == 5, done.output
    doc = case_file.read_case(tmp_path / "out" / "case.json")
    states = {one.name: one.state for one in doc.site if one.what == "member"}
    assert states["nsx-controller-1"] == "cut" and states["nsx-controller-2"] == "in the case"
    (told,) = (one for one in doc.findings if one.rule == "nsx-member-not-collected")
    assert "its own view of the cluster" in told.say


def test_a_host_without_nsx_is_asked_for_nothing_that_nsx_prints(tmp_path: Path) -> None:
    """The same host with the VIB of NSX is asked for it, and so is every host of a case with a Manager."""
    head = (
        "Name           Version               Vendor  Acceptance Level  Install Date\n"
        + "-" * 76
        + "\n"
    )
    plain = "esx-base       6.5.0-1.20.5969303    VMware  VMwareCertified   2017-10-01\n"
    nsx = "esx-nsxv       6.5.0-0.0.6244264     VMware  VMwareCertified   2017-10-01\n"
    asked = {}
    for name, vibs in (("plain", plain), ("nsx", plain + nsx)):
        root = tmp_path / name / "esx-esx41.lab.example-2017-10-02--09.00-71234" / "commands"
        root.mkdir(parents=True)
        (root / "localcli_software-vib-list.txt").write_text(head + vibs)
        (root / "vmware_-vl.txt").write_text(
            "VMware ESXi 6.5.0 build-5969303\nVMware ESXi 6.5.0 Update 1\n"
        )
        out = tmp_path / f"out-{name}"
        CliRunner().invoke(
            main, ["triage", str(tmp_path / name), "-o", str(out), "--no-settings", "--no-packs"]
        )
        case = case_file.read_case(out / "case.json")
        asked[name] = {one.missing for one in case.cannot_tell if one.missing.startswith("nsx")}
    assert asked["plain"] == set()
    assert {"nsx.vdr", "nsx.vxlan_network"} <= asked["nsx"]


def test_a_manager_alone_is_asked_for_controllers_and_hosts_and_for_no_edge(tmp_path: Path) -> None:
    """Every site has controllers and hosts; an Edge is asked for where something of the case names one."""
    bundle = make_state("healthy")["nsxmgr01-techsupport.tgz"]
    (tmp_path / "nsxmgr01-techsupport.tgz").write_bytes(
        bundle if isinstance(bundle, bytes) else bundle.encode()
    )
    CliRunner().invoke(main, ["triage", str(tmp_path), "-o", str(tmp_path / "out"), "--quiet"])
    doc = case_file.read_case(tmp_path / "out" / "case.json")
    asked = {one.missing for one in doc.cannot_tell}
    assert {"nsx.controllers", "nsx.controller_health", "nsx.vdr"} <= asked
    assert not [one for one in asked if "edge" in one]

"""Which texts belong to one machine, and which must never be mixed."""

from __future__ import annotations

import io
import shutil
import tarfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from analyzer.artefacts import parsing
from analyzer.artefacts.tables import Block
from analyzer.case import case_file
from analyzer.ingest.nodes import name_records, resolve_nodes
from analyzer.pipeline.triage import Options, read_case, triage
from analyzer.runtime.limits import Limits
from analyzer.scan.hits import Signature
from analyzer.scan.signatures import Scanner
from analyzer.sources import Ledger
from analyzer.sources.kinds import KindFinder
from tools.nsx_site import CONTROL_PLANES

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "samples" / "cases"

PORTS = (
    "PortNum          Type SubType SwitchName       MACAddress         ClientName\n"
    "33554464            5       9 vSwitch0         00:50:56:a6:55:f4  {vm}.eth0\n"
)
SUMMARY = (
    "stats of a vmxnet3 vNIC rx queue {{\n   pkts rx ok:100000\n   running out of buffers:{full}\n"
    "   # of times the 1st ring is full:{full}\n   # of times the 2nd ring is full:0\n}}\n"
)
PATH = "vsish -e get /net/portsets/vSwitch0/ports/33554464/vmxnet3/rxSummary\n"


def judged(folder: Path, **files: str) -> dict[str, Any]:
    """Write the files as one case and return its document."""
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    return triage([folder]).document


def test_a_bundle_and_a_transcript_of_one_host_are_one_node() -> None:
    """The bundle says esx31.lab.example, the prompt esx31: one node under the full name."""
    document = triage([CASES / "cpu-limited-vm"]).document

    assert [node.name for node in document.nodes] == ["esx31.lab.example"]


def test_two_hosts_with_one_port_number_are_not_mixed(tmp_path: Path) -> None:
    """The same port number on two hosts: the full ring stays with its host and its VM."""
    document = judged(
        tmp_path / "case",
        a="[root@esx1:~] net-stats -l\n"
        + PORTS.format(vm="one")
        + "[root@esx1:~] "
        + PATH
        + SUMMARY.format(full=0),
        b="[root@esx2:~] net-stats -l\n"
        + PORTS.format(vm="two")
        + "[root@esx2:~] "
        + PATH
        + SUMMARY.format(full=50),
    )
    found = [(f.node, f.object) for f in document.findings if f.rule == "kb-2039495"]

    assert found == [("esx2", "two")]


def test_a_text_without_host_goes_to_the_only_host_and_says_so(tmp_path: Path) -> None:
    """One host in the case: a dump without prompt is taken as its own, with a warning in the report."""
    document = judged(
        tmp_path / "case",
        a="[root@esx1:~] net-stats -l\n" + PORTS.format(vm="one"),
        b=PATH + SUMMARY.format(full=50),
    )
    [node] = document.nodes
    [ring] = [f for f in document.findings if f.rule == "kb-2039495"]

    assert ring.node == node.name == "esx1"
    assert ring.object == "one"
    assert "b.txt names no host" in node.warnings[0]


def test_a_file_that_names_its_host_elsewhere_is_not_said_to_name_none(tmp_path: Path) -> None:
    """A screen of esxtop above a host's prompt: the note speaks of that part of the file, with its line."""
    screen = "    ID     GID NAME      NWLD %USED %RDY %CSTP\n  2101    2101 one          6   0.5  0.0   0.0\n"
    prose = "Seen while the load ran:\n\n"
    document = judged(
        tmp_path / "case",
        a=prose + screen + "\n[root@esx1:~] net-stats -l\n" + PORTS.format(vm="one"),
    )
    [node] = document.nodes

    assert node.warnings == [
        "a part of a.txt (from line 4) names no host; treated as part of esx1, the only ESXi host of the case"
    ]


def test_a_text_without_host_stands_alone_among_several(tmp_path: Path) -> None:
    """Two hosts in the case: a dump without prompt is given to neither."""
    document = judged(
        tmp_path / "case",
        a="[root@esx1:~] net-stats -l\n" + PORTS.format(vm="one"),
        b="[root@esx2:~] net-stats -l\n" + PORTS.format(vm="two"),
        c=PATH + SUMMARY.format(full=50),
    )
    [ring] = [f for f in document.findings if f.rule == "kb-2039495"]

    assert ring.node not in ("esx1", "esx2")
    assert len(document.nodes) == 3


@pytest.mark.parametrize(
    ("release", "nodes"),
    [
        (
            "VMware ESXi 7.0.3 build-19193900\nVMware ESXi 7.0 Update 3\n",
            ["esx-host", "esx51.lab.example"],
        ),
        ("VMware ESXi 6.5.0 build-5969303\nVMware ESXi 6.5.0 Update 1\n", ["esx51.lab.example"]),
    ],
)
def test_a_tree_without_a_name_is_not_the_host_whose_version_it_contradicts(
    tmp_path: Path, release: str, nodes: list[str]
) -> None:
    """A folder with `commands/` that names no host joins the only host of the case, unless it states another version."""
    case = tmp_path / "case"
    shutil.copytree(CASES / "healthy-host", case)
    tree = case / "esx-host" / "commands"
    tree.mkdir(parents=True)
    (tree / "vmware_-vl.txt").write_text(release)
    (tree / "localcli_storage-core-device-list.txt").write_text(
        "mpx.vmhba32:C0:T0:L0:\n   Display Name: Local USB (mpx.vmhba32:C0:T0:L0)\n   Is Removable: true\n   Is Boot Device: true\n"
    )
    document = triage([case]).document

    assert [node.name for node in document.nodes] == nodes
    booted = [one.node for one in document.findings if one.rule == "kb-85685"]
    assert booted == (["esx-host"] if len(nodes) > 1 else [])
    said = " ".join(warning for node in document.nodes for warning in node.warnings)
    assert ("it states version 7.0.3, unlike esx51.lab.example" in said) is (len(nodes) > 1)
    assert ("treated as part of esx51.lab.example" in said) is (len(nodes) == 1)


@pytest.mark.size
def test_controllers_without_a_name_stay_apart() -> None:
    """Every controller has the same prompt; three files are three controllers."""
    document = triage([CASES / "nsx-633-site"]).document

    assert sum(node.kind == "nsx_controller" for node in document.nodes) == 3


def test_a_manager_bundle_without_a_name_is_the_manager_of_the_prompt(tmp_path: Path) -> None:
    """The Manager's bundle and its Central CLI session are one node, and the assumption is shown."""
    for name, body in CONTROL_PLANES["healthy"]().items():
        (tmp_path / name).write_bytes(body.encode() if isinstance(body, str) else body)
    document = triage([tmp_path]).document
    [manager] = [node for node in document.nodes if node.kind == "nsx_manager"]

    assert manager.name == "nsxmgr01"
    assert manager.version == "6.3.3"
    assert manager.warnings


_LOG4J = "2017-10-02 08:25:07,382 47956539 [SyncThread:1] INFO a.b.C - ok (synthetic)\n"
_ZOOKEEPER = "cloudnet/cloudnet_java-zookeeper.20171001-000550.1806.log"
_STATUS = "{prompt} # show control-cluster startup-nodes\n192.0.2.31, 192.0.2.32\n{prompt} #\n"


@pytest.mark.parametrize(
    ("prompts", "names"),
    [
        (("ctl-1", "ctl-2"), ["ctl-1", "ctl-2"]),  # the transcript in the archive names the machine
        (
            ("ctl-1", "ctl-1"),
            ["1.tgz", "2.tgz", "ctl-1"],
        ),  # a name that two archives have tells neither
        (("nsx-controller", "ctl-2"), ["1.tgz", "ctl-2"]),  # every controller has this prompt
    ],
)
def test_an_archive_without_a_name_is_the_machine_that_the_text_in_it_names(
    tmp_path: Path, prompts: tuple[str, str], names: list[str]
) -> None:
    """Log and status report in the archive of a controller are one machine, by its prompt or by its archive."""
    for number, prompt in enumerate(prompts, 1):
        with tarfile.open(tmp_path / f"{number}.tgz", "w:gz") as archive:
            for name, text in {
                _ZOOKEEPER: _LOG4J,
                "status-report.txt": _STATUS.format(prompt=prompt),
            }.items():
                info = tarfile.TarInfo(name)
                info.size = len(text)
                archive.addfile(info, io.BytesIO(text.encode()))

    assert sorted(node.name for node in triage([tmp_path]).document.nodes) == names


@pytest.mark.parametrize("sd", ["nsx@6876", "nsx"])
@pytest.mark.parametrize("role", ["manager", "edge"])
def test_a_text_of_any_role_in_the_tree_of_a_node_of_nsxt_is_of_that_node(
    tmp_path: Path, role: str, sd: str
) -> None:
    """What each node prints (`get version`) and its syslog lie in one archive: one machine with a role and a release."""
    files = {
        "var/log/syslog": f'2024-06-18T08:25:24.123Z n1 NSX 1 - [{sd} comp="nsx-{role}" level="INFO"] ok (synthetic)\n',
        "cli/all.txt": f"{'-' * 80}\nget version\n{'-' * 80}\nVMware NSX Software, Version 2.5.0.0.0.14663978\n",
    }
    with tarfile.open(tmp_path / "n.tgz", "w:gz") as archive:
        for name, text in files.items():
            info = tarfile.TarInfo(f"bed20842-0000-4900-b68b-ca862aa40041/{name}")
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))

    [node] = triage([tmp_path]).document.nodes
    assert (node.name, node.kind, node.version) == ("n1", f"nsxt_{role}", "2.5.0.0.0")


def test_a_guest_prompt_is_a_guest(tmp_path: Path) -> None:
    """Guests of the case are nodes of their own, named by their prompts."""
    document = triage([CASES / "lab-ring-before"]).document

    assert {(node.kind, node.name) for node in document.nodes} == {
        ("esxi", "esx0"), ("guest", "iperf-test1"), ("guest", "iperf-test2"),
    }  # fmt: skip


def test_a_typed_command_is_a_fact_without_its_output(tmp_path: Path) -> None:
    """`st eng` alone is noted with its line, and what was typed after it is nowhere in the document."""
    document = judged(
        tmp_path / "case",
        mgr="nsxmgr01# show version\n\nnsxmgr01# st eng\nPassword: not-to-be-shown\n[root@nsxmgr01 ~]# ls\n",
    )
    [found] = document.findings

    assert found.rule == "kb-2149630"
    assert (found.evidence[0].line, found.evidence[0].text) == (3, "nsxmgr01# st eng")
    assert "not-to-be-shown" not in str(document)


def test_nothing_has_a_node_before_nodes_are_named_and_then_one_for_good(tmp_path: Path) -> None:
    """Rows, samples and logs know their scope from the reader; their node only from `name_records`, which comes once."""
    (tmp_path / "a.txt").write_text(
        "[root@esx1:~] net-stats -l\n" + PORTS.format(vm="one"), encoding="utf-8"
    )
    kinds = KindFinder()
    scanner = Scanner([Signature("any", "esxi.vmkernel", r"\S")], engine="pure")
    paths = [tmp_path, CASES / "cpu-limited-vm", CASES / "slow-storage"]
    intake = read_case(paths, Ledger(), kinds, scanner, Options(limits=Limits()))
    blocks = [*(row.block for row in intake.rows), *(frame.block for frame in intake.frames)]
    read = [*{id(block): block for block in blocks}.values(), *intake.scans]
    assert intake.rows and intake.frames and intake.scans
    for one in read:
        assert one.scope in intake.places
        with pytest.raises(AttributeError, match="no attribute 'node'"):
            _ = one.node

    nodes = resolve_nodes(intake, kinds)
    scopes = [one.scope for one in read]
    name_records(intake, nodes)

    assert [one.scope for one in read] == scopes
    assert [one.node for one in read] == [nodes[scope].id for scope in scopes]
    assert {"esx1", "esx31.lab.example"} <= {one.node for one in read}
    with pytest.raises(AssertionError, match="already"):
        name_records(intake, nodes)


def test_who_asks_for_a_node_too_early_is_told_of_and_gets_no_scope(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A parser that would keep the node of its block fails where the report says so; no scope stands for a node."""
    own = parsing.registry()["net_stats"]

    def early(block: Block) -> parsing.Output:
        for item in own.parse(block):
            item.values["client_name"] = block.node
            yield item

    monkeypatch.setitem(parsing.registry(), "net_stats", replace(own, parse=early))
    text = (
        "[root@esx1:~] net-stats -l\n"
        + PORTS.format(vm="one")
        + "[root@esx1:~] "
        + PATH
        + SUMMARY.format(full=0)
    )
    document = judged(tmp_path / "case", a=text)

    assert ["no attribute 'node'" in fault.why for fault in document.faults] == [True]
    assert "\\u001f" not in case_file.encode_line(document)

"""Chains: from the VM to the wire and to the array, as tables that a rule and an engineer use.

All outputs here are synthetic, in the forms of `net-stats -l`, esxcfg-vswitch, esxcli and .vmx files.
"""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from analyzer.artefacts import parsing
from analyzer.artefacts.tables import Block, Row
from analyzer.cli import main
from analyzer.facts import Facts, made
from analyzer.pipeline.triage import Options, triage

TOP = "esx-esx0.lab.example-2017-10-14--16.53-71234"
VOLUME = "5f1e2d3c-4b5a6978-8796-a5b4c3d2{:04x}"
NETWORK, STORAGE = "esxi.vm_network", "esxi.vm_storage"


def host(vms: int = 2, devices: int = 1, paths: int = 2) -> dict[str, str]:
    """Return the files of a host by name: VMs with two NICs and two disks each, and all their links."""
    uplinks = 2
    files = {
        "commands/net-stats_-l.txt": _ports(vms, uplinks),
        "commands/esxcfg-vswitch_-l.txt": (
            "Switch Name      Num Ports   Used Ports  Configured Ports  MTU     Uplinks\n"
            "vSwitch0         6690        9           128               1500    vmnic0,vmnic1\n\n"
            "  PortGroup Name                            VLAN ID  Used Ports  Uplinks\n"
            "  VM Network                                0        1           vmnic0,vmnic1\n\n"
        ),
        "commands/localcli_network-nic-list.txt": (
            "Name    PCI Device    Driver  Admin Status  Link Status  Speed  Duplex  MAC Address         MTU  Description\n"
            "------  ------------  ------  ------------  -----------  -----  ------  -----------------  ----  -----------\n"
            + "".join(
                f"vmnic{n}  0000:02:00.{n}  ixgben  Up            Up           10000  Full    00:00:5e:00:53:0{n}  1500"
                "  Intel(R) 82599\n"
                for n in range(uplinks)
            )
        ),
        "commands/localcli_storage-filesystem-list--i.txt": (
            "Mount Point                                        Volume Name  UUID                                 Mounted"
            "  Type             Size          Free\n"
            "-------------------------------------------------  -----------  -----------------------------------  -------"
            "  ------  -------------  ------------\n"
            + "".join(
                f"/vmfs/volumes/{VOLUME.format(n)}  ds-{n:04}      {VOLUME.format(n)}     true"
                "  VMFS-6  2198754820096  219875482009\n"
                for n in range(devices)
            )
        ),
        "commands/localcli_storage-vmfs-extent-list.txt": (
            "Volume Name  VMFS UUID                            Extent Number  Device Name                           Partition\n"
            "-----------  -----------------------------------  -------------  ------------------------------------  ---------\n"
            + "".join(
                f"ds-{n:04}      {VOLUME.format(n)}              0  naa.60060160a0b02f00123456780000{n:04x}          1\n"
                for n in range(devices)
            )
        ),
        "commands/localcli_storage-core-path-list.txt": "".join(
            f"fc.2:1-fc.5:{p}-naa.60060160a0b02f00123456780000{n:04x}:\n"
            f"   UID: fc.2:1-fc.5:{p}-naa.60060160a0b02f00123456780000{n:04x}\n"
            f"   Runtime Name: vmhba{2 + p % 2}:C0:T{p}:L{n}\n"
            f"   Device: naa.60060160a0b02f00123456780000{n:04x}\n"
            f"   Adapter: vmhba{2 + p % 2}\n   State: active\n   Transport: fc\n"
            for n in range(devices)
            for p in range(paths)
        ),
        "commands/localcli_storage-core-adapter-list.txt": (
            "HBA Name  Driver  Link State  UID                     Capabilities  Description\n"
            "--------  ------  ----------  ----------------------  ------------  -----------\n"
            "vmhba2    lpfc    link-up     fc.2:1                                Emulex\n"
            "vmhba3    lpfc    link-up     fc.2:2                                Emulex\n"
        ),
        "commands/localcli_vm-process-list.txt": "".join(
            f"vm{n:03}:\n   World ID: {2100000 + n}\n   Process ID: 0\n   VMX Cartel ID: {2099000 + n}\n"
            f"   Display Name: vm{n:03}\n   Config File: /vmfs/volumes/{VOLUME.format(n % devices)}/vm{n:03}/vm{n:03}.vmx\n\n"
            for n in range(vms)
        ),
    }
    for n in range(vms):
        files[f"vmfs/volumes/{VOLUME.format(n % devices)}/vm{n:03}/vm{n:03}.vmx"] = _config(n)
    return files


def _ports(vms: int, uplinks: int) -> str:
    lines = ["PortNum          Type SubType SwitchName       MACAddress         ClientName"]
    lines += [
        f"{33554432 + n}            4       0 vSwitch0         00:00:5e:00:53:0{n}  vmnic{n}"
        for n in range(uplinks)
    ]
    lines += [
        f"{33555000 + 2 * n + k}            5       9 vSwitch0         {_mac(n, k)}  vm{n:03}.eth{k}"
        for n in range(vms)
        for k in range(2)
    ]
    return "\n".join(lines) + "\n"


def _mac(vm: int, vnic: int) -> str:
    return f"00:50:56:00:{vm:02x}:{vnic:02x}"


def _config(vm: int) -> str:
    nics = "".join(
        f'ethernet{k}.present = "TRUE"\nethernet{k}.virtualDev = "vmxnet3"\nethernet{k}.networkName = "VM Network"\n'
        f'ethernet{k}.generatedAddress = "{_mac(vm, k)}"\n'
        for k in range(2)
    )
    disks = "".join(
        f'scsi0:{k}.present = "TRUE"\nscsi0:{k}.fileName = "vm{vm:03}_{k}.vmdk"\n' for k in range(2)
    )
    return (
        '.encoding = "UTF-8"\nconfig.version = "8"\nvirtualHW.version = "13"\n'
        f'displayName = "vm{vm:03}"\nguestOS = "debian10-64"\nmemSize = "4096"\n{nics}{disks}'
    )


def put(folder: Path, files: dict[str, str], *without: str) -> Path:
    """Write the files of a host as an unpacked bundle, but for some, and return its folder."""
    for name, text in files.items():
        if not any(part in name for part in without):
            path = folder / "case" / TOP / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return folder / "case"


def table(case: Path, name: str) -> list[dict[str, str]]:
    """Return the rows of a table as `backline tables` prints them."""
    done = CliRunner().invoke(main, ["tables", str(case), name, "--csv"])
    assert done.exit_code == 0, done.output
    return list(csv.DictReader(io.StringIO(done.output)))


def test_an_engineer_follows_a_vm_to_the_wire(tmp_path: Path) -> None:
    """World, VM, NIC, port, switch, uplink, driver: one row for each uplink that the port may use."""
    rows = table(put(tmp_path, host()), NETWORK)

    assert [(row["vm_name"], row["vnic"], row["pnic"]) for row in rows] == [
        (f"vm{n:03}", str(k), f"vmnic{u}") for n in range(2) for k in range(2) for u in range(2)
    ]
    first = rows[0]
    told = (
        first["vm_world_id"],
        first["port_id"],
        first["switch"],
        first["network"],
        first["driver"],
        first["link_up"],
    )
    assert told == ("2100000", "33555000", "vSwitch0", "VM Network", "ixgben", "True")
    lacks = (
        "esxcli network nic get -n <vmnic> (esxi.pnic_info) of esx0.lab.example is not in the case"
    )
    assert {row["missing_link"] for row in rows} == {lacks}


def test_an_engineer_follows_a_disk_to_the_adapter(tmp_path: Path) -> None:
    """VM, disk, datastore, device, paths, adapter: one row for each path."""
    rows = table(put(tmp_path, host()), STORAGE)

    assert len(rows) == 2 * 2 * 2
    first = rows[0]
    told = [
        first[name]
        for name in (
            "vm_name",
            "vdisk",
            "volume_name",
            "storage_device",
            "path_name",
            "hba",
            "driver",
        )
    ]
    device = "naa.60060160a0b02f001234567800000000"
    assert told == ["vm000", "scsi0:0", "ds-0000", device, "vmhba2:C0:T0:L0", "vmhba2", "lpfc"]


def test_a_missing_link_is_told_and_its_rows_stay(tmp_path: Path) -> None:
    """Without the list of paths each disk is there still, and the row says what to ask for."""
    rows = table(put(tmp_path, host(), "core-path-list"), STORAGE)

    assert len(rows) == 4
    assert {row["storage_device"] for row in rows} == {"naa.60060160a0b02f001234567800000000"}
    assert {row["hba"] for row in rows} == {""}
    lacks = (
        "esxcli storage core path list (esxi.storage_path) of esx0.lab.example is not in the case"
    )
    assert all(lacks in row["missing_link"] for row in rows)


def test_a_name_that_two_vms_have_is_not_guessed(tmp_path: Path) -> None:
    """Two VMs of one name and no MAC address that tells them apart: the configuration stays unknown."""
    files = host(2)
    twins = {
        name: text.replace('displayName = "vm001"', 'displayName = "vm000"').replace(
            "generatedAddress", "other"
        )
        for name, text in files.items()
    }
    rows = table(put(tmp_path, twins), NETWORK)

    mine = [row for row in rows if (row["vm_name"], row["vnic"]) == ("vm000", "0")]
    assert mine and {row["network"] for row in mine} == {""}
    assert all("(esxi.vnic) has 2 rows of vm000, 0" in row["missing_link"] for row in mine)


def test_tables_lists_what_is_made_of_others(tmp_path: Path) -> None:
    """The list of the tables of a case holds the chains."""
    done = CliRunner().invoke(main, ["tables", str(put(tmp_path, host())), "--json"])

    counts = json.loads(done.output)["rows"]
    assert (counts[NETWORK], counts[STORAGE]) == (8, 8)


def test_evidence_of_a_chain_is_the_line_of_the_link(tmp_path: Path) -> None:
    """The NIC without a link is shown in the list of NICs, though the chain begins at the port."""
    files = host(1)
    files["commands/localcli_network-nic-list.txt"] = files[
        "commands/localcli_network-nic-list.txt"
    ].replace("Up           10000  Full", "Down             0  Half")
    document = triage([put(tmp_path, files)], Options()).document

    found = [one for one in document.findings if one.rule == "vm-without-uplink"]
    assert [one.subject for one in found] == [
        "vm000, network adapter 0",
        "vm000, network adapter 1",
    ]
    shown = [item for item in found[0].evidence if "link_up" in item.label]
    assert shown and all(item.address.endswith("localcli_network-nic-list.txt") for item in shown)
    assert ["vmnic0" in item.text for item in shown] == [True, False]
    ports = [item for item in found[0].evidence if "client_name" in item.label]
    assert ports[0].address.endswith("net-stats_-l.txt") and "vm000.eth0" in ports[0].text


def test_a_rule_over_a_chain_asks_for_the_link_that_lacks(tmp_path: Path) -> None:
    """A rule cannot tell without the list of NICs, and asks for that one, not for the list of ports."""
    document = triage([put(tmp_path, host(1), "nic-list")], Options()).document

    unsure = [one for one in document.cannot_tell if "vm-without-uplink" in one.rules]
    assert [(one.missing, one.ask) for one in unsure] == [
        ("esxi.pnic", "`esxcli network nic list`")
    ]
    assert {"vm000, network adapter 0", "vm000, network adapter 1"} <= set(unsure[0].subjects)


def test_the_card_of_the_host_shows_where_its_vms_hang(tmp_path: Path) -> None:
    """A VM of the card has its port, switch and uplinks, its datastore, device and adapters."""
    document = triage([put(tmp_path, host(1))], Options()).document

    rows = {row.title: row for row in document.hosts[0].rows}
    wire, storage = (rows[title].items[0].text for title in ("VMs to the wire", "VMs to storage"))
    assert (
        "eth 0 at port 33555000 of vSwitch0 to vmnic0,vmnic1" in wire
        and "driver of vmnic1: ixgben" in wire
    )
    assert "scsi0:0 on ds-0000; scsi0:1 on ds-0000" in storage
    assert "ds-0000 on naa.60060160a0b02f001234567800000000; over vmhba2, driver lpfc" in storage


@pytest.mark.size
def test_the_chains_of_200_vms_are_made_once(tmp_path: Path) -> None:
    """400 NICs over two uplinks and 400 disks over eight paths: each has its rows, and asked again nothing is made."""
    case = put(tmp_path, host(200, devices=50, paths=8))
    material = triage([case], Options())
    assert not [one for one in material.document.findings if one.rule == "vm-without-uplink"]
    facts = _facts(case)
    assert made.put_tables(facts, {NETWORK, STORAGE}) == {NETWORK, STORAGE}
    assert (facts.count(NETWORK), facts.count(STORAGE)) == (800, 3200)
    assert made.put_tables(facts, {NETWORK, STORAGE}) == set()


@pytest.mark.timed
def test_a_host_of_200_vms_costs_little(tmp_path: Path) -> None:
    """Both chains of such a host take a small part of reading it."""
    case = put(tmp_path, host(200, devices=50, paths=8))
    start = time.process_time()
    triage([case], Options())
    whole = time.process_time() - start

    spent = whole
    for facts in (_facts(case), _facts(case), _facts(case)):
        start = time.process_time()
        made.put_tables(facts, {NETWORK, STORAGE})
        spent = min(spent, time.process_time() - start)
    assert spent < whole / 5, f"{spent:.3f} s of {whole:.3f} s"

    start = time.process_time()
    for _ in range(20):
        assert made.put_tables(facts, {NETWORK, STORAGE}) == set()
    assert time.process_time() - start < spent / 2, "asked again, it is made again"


def _facts(case: Path) -> Facts:
    from analyzer.ingest.nodes import resolve_nodes
    from analyzer.pipeline.triage import gather, read_case
    from analyzer.scan.signatures import Scanner
    from analyzer.sources import Ledger
    from analyzer.sources.kinds import KindFinder

    ledger, kinds = Ledger(), KindFinder()
    intake = read_case([case], ledger, kinds, Scanner([]), Options())
    return gather(intake, resolve_nodes(intake, kinds), ledger)


def test_a_case_without_ports_and_disks_pays_nothing(tmp_path: Path) -> None:
    """The module that makes chains is not even imported."""
    case = put(tmp_path, {"commands/vmware_-vl.txt": "VMware ESXi 6.5.0 build-5969303\n"})
    code = (
        "import sys; from pathlib import Path; from analyzer.pipeline.triage import triage\n"
        f"triage([Path({str(case)!r})]); print('analyzer.facts.chains' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("name", [NETWORK, STORAGE])
def test_a_source_that_was_cut_leaves_the_chain_uncertain(name: str) -> None:
    """More ports, or more paths, may be there: absence proves nothing in the chain either."""
    facts = Facts()
    facts.node("n", "esx1", "esxi")
    start = parsing.tables()[name].made_of[0]
    values = {"type": 5, "client_vm": "a", "vnic": 0, "switch": "s", "port_id": 1}
    facts.add(
        Row(
            parsing.tables()[start],
            values | {"vm_name": "a"},
            Block([""], address="x").assign_node("n"),
            1,
        )
    )
    many = "esxi.portgroup" if name == NETWORK else "esxi.storage_path"
    facts.cover("n", many, "cut", "the file ended early")
    made.put_tables(facts, {name})

    assert facts.lossy("n", name)
    assert facts.coverage("n", name).why == "the file ended early"


@pytest.mark.parametrize("name", [NETWORK, STORAGE, "esxi.switch_uplink"])
def test_a_chain_is_known_no_better_than_what_it_begins_with(name: str) -> None:
    """A .vmx file without a disk tells of no disk: that it tells of the VM makes the chain of disks no more known."""
    facts = Facts()
    facts.node("n", "esx1", "esxi")
    start = parsing.tables()[name].made_of[0]
    for beside in parsing.find_siblings(start):
        facts.cover("n", beside, "read")
    made.put_tables(facts, {name})
    assert facts.coverage("n", name).state == facts.coverage("n", start).state == ""

    facts.cover("n", start, "read")
    made.put_tables(facts, {name})
    assert facts.coverage("n", name).state == "read"


def test_every_table_made_of_others_has_what_makes_it() -> None:
    """A chain is found by the name of its table, and each source it names is a table."""
    from analyzer.facts import chains

    names = {
        name for name in made.list_made_tables() if not made.is_archived(parsing.tables()[name])
    }
    assert {NETWORK, STORAGE} <= names
    for name in names:
        assert chains.find_chain(name).table == parsing.tables()[name]
        assert all(source in parsing.tables() for source in parsing.tables()[name].made_of)

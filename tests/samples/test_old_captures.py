"""What administrators paste of old hosts and from loops over bundles is read by `backline tables`.

The texts are synthetic; their labels are those of parsers/ and samples/.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from analyzer.cli import main


def rows(path: Path, table: str) -> list[dict[str, Any]]:
    """Return the rows of a table as `backline tables PATH TABLE --json` prints them."""
    done = CliRunner().invoke(main, ["tables", str(path), table, "--json"])
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in done.output.splitlines()]


def test_port_binding_of_a_host_of_4x_is_read(tmp_path: Path) -> None:
    """Each VMkernel adapter of `esxcli swiscsi nic list` is a row; a block that is cut lacks what was cut, and no more."""
    text = "~ # esxcli swiscsi nic list -d vmhba33\n" + "\n\n".join(
        f"vmk{n}\npNic name: vmnic{n + 2}\nipv4 address: 192.0.2.{n}\nlink connected: true\nNIC driver: igb"
        for n in (1, 2)
    )
    file = tmp_path / "binding.txt"
    file.write_text(
        f"{text.replace('NIC driver: igb', 'NIC driver: igb' + chr(10) + 'firmware version: 1.4-3', 1)}\n"
    )

    found = rows(file, "esxi.swiscsi_nic")
    assert [
        (row["vmknic"], row["vmnic"], row["driver"], row["firmware_version"]) for row in found
    ] == [
        ("vmk1", "vmnic3", "igb", "1.4-3"),
        ("vmk2", "vmnic4", "igb", None),
    ]


LOOP = """\
$ for log in `ls -d esx-*`; do echo $log; grep '\\.MaxHeapSizeMB' -A 1 $log/commands/esxcfg-info_-a.txt; done
esx-host1.lab.example-2012-08-20--19.28
|----Option Name..................................MaxHeapSizeMB
|----Current Value................................256
esx-host2.lab.example-2012-08-20--19.36
|----Option Name..................................MaxHeapSizeMB
|----Current Value................................80
"""


def test_a_loop_over_bundles_gives_each_output_to_its_host(tmp_path: Path) -> None:
    """The folder that `echo` prints before each output names the host, and the first leaf says whose value follows."""
    file = tmp_path / "loop.txt"
    file.write_text(LOOP)

    values = [row for row in rows(file, "esxi.info_value") if row["info_name"] == "Current Value"]
    assert [(row["node"], row["info_of"], row["info_number"]) for row in values] == [
        ("host1.lab.example", "MaxHeapSizeMB", 256),
        ("host2.lab.example", "MaxHeapSizeMB", 80),
    ]
    assert values[0]["bundle"] == "esx-host1.lab.example-2012-08-20--19.28"


def test_log_lines_of_a_loop_over_bundles_are_those_of_each_host_and_an_excerpt(
    tmp_path: Path,
) -> None:
    """Lines that a loop took from two bundles go to two hosts, and no rule calls a host clean by them."""
    line = "2012-08-20T18:{}:00.000Z cpu1:4100)WARNING: Heap: 2218: Heap netGPHeap already at its maximumSize. Cannot expand.\n"
    file = tmp_path / "loop.txt"
    file.write_text(
        "~ # for d in esx-*; do echo $d; grep Heap $d/var/log/vmkernel.log; done\n"
        + "".join(f"./esx-h{n}-2012-08-20--19.28-77/\n{line.format(10 + n)}" for n in (1, 2))
    )
    out = tmp_path / "out"
    done = CliRunner().invoke(
        main, ["triage", str(file), "-o", str(out), "--no-settings", "--no-packs"]
    )
    assert done.exit_code in (0, 1), done.output
    case = json.loads((out / "case.json").read_text(encoding="utf-8"))

    assert [node["id"] for node in case["nodes"]] == ["h1", "h2"]
    assert not [one["rule"] for one in case["quiet"] if one["looked_at"]]
    assert "loop.txt:2 holds an excerpt by a loop over bundles" in json.dumps(case["cannot_tell"])


def test_a_list_of_bundles_is_no_host(tmp_path: Path) -> None:
    """What `ls` prints of a folder of bundles names no host that anything is known of."""
    file = tmp_path / "list.txt"
    file.write_text(
        "esx-h1-2012-08-20--19.28\nesx-h2-2012-08-20--19.28.tgz\n" + LOOP.splitlines()[2] + "\n"
    )

    assert [row["node"] for row in rows(file, "esxi.info_value")] == ["h1"]


def test_lines_of_services_of_vcenter_are_of_vcenter(tmp_path: Path) -> None:
    """Lifecycle Manager, vSAN management and vpxd of 5.x write as a host's agents do, and belong to vCenter."""
    file = tmp_path / "mixed.txt"
    file.write_text(
        "2022-06-02T12:21:26.285Z info vmware-vum-server[00932] [Originator@6876 sub=Session reason=Timeout expired] closed\n"
        "2022-06-02T11:49:41.274Z ERROR vsan-mgmt[51740] [Helper::wrapper opID=SWI-2] too late\n"
        "2014-01-17T04:55:50.347Z [7F03ECE76700 verbose 'Default' opID=2140bc71] [VpxVmomi] Invoke done\n"
        "2014-01-17T04:55:51.347Z [FFD84B70 verbose 'Default' opID=2140bc71] a host of 5.x\n"
    )
    services = rows(file, "vcenter.service")
    assert [(row["program"], row["level"], row["sub"], row["message"]) for row in services] == [
        ("vmware-vum-server", "info", "Session", "closed"),
        ("vsan-mgmt", "error", "Helper::wrapper", "too late"),
    ]
    assert [row["thread"] for row in rows(file, "vcenter.vpxd")] == ["7F03ECE76700"]
    assert [row["thread"] for row in rows(file, "esxi.hostd")] == ["FFD84B70"]


def test_outputs_of_tools_in_a_bundle_are_read_by_their_real_names(tmp_path: Path) -> None:
    """The file of a script keeps its dot (`swfw.sh.txt`), and protocol endpoints do not count among the devices."""
    top = tmp_path / "esx-esx0.lab.example-2017-10-14--16.53-71234"
    endpoint = '[{"Device":"naa.60000000000000000000000000000a01","Status":"dead","IsVVOLPE":true}]'
    files = {
        "commands/vmware_-vl.txt": "VMware ESXi 6.7.0 build-8169922\n",
        "commands/swfw.sh.txt": "made up\n",
        "commands/clom-tool_stats.txt": "made up: 1\n",
        "json/localcli_storage-core-device-list---pe-only.json": endpoint,
    }
    for name, text in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)

    assert [row["tool_file"] for row in rows(tmp_path, "esxi.tool_line")] == [
        "clom-tool_stats",
        "swfw.sh",
    ]
    assert [row["device_status"] for row in rows(tmp_path, "esxi.protocol_endpoint")] == ["dead"]
    assert rows(tmp_path, "esxi.scsi_device") == []

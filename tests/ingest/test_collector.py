"""What vm-support itself failed to collect is a table, and stands on the first screen of the report.

The lines are synthetic; their texts are those of parsers/esxi/logs/collector.py.
"""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer.cli import main

HOST = "esx-esx0.lab.example-2017-10-14--16.53-71234"
FAILED = 'ERROR Cmd "localcli storage core device list" failed with exit code 1'
LATE = 'ERROR cmd "/bin/vsi_traverse -s" timed out after 600 seconds due to lack of progress in last 120 seconds (9 bytes read)'
EMPTY = (
    'Cmd "cat /var/log/vvold.log" returned no information, don\'t collect file x.txt for this cmd.'
)


def triage(folder: Path, form: str, files: dict[str, str]) -> tuple[dict[str, Any], str, str]:
    """Return the document, the text on the terminal and the page of a bundle: a folder, its parent, or a tgz."""
    top = folder / "case" / HOST
    for name, text in {
        **files,
        "commands/vmware_-vl.txt": "VMware ESXi 6.7.0 build-8169922\n",
    }.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    given = {"folder": top, "parent": top.parent, "tgz": folder / "bundle.tgz"}[form]
    if form == "tgz":
        with tarfile.open(given, "w:gz") as tar:
            tar.add(top, HOST)
    out = folder / "out"
    done = CliRunner().invoke(
        main, ["triage", str(given), "-o", str(out), "--no-settings", "--no-packs"]
    )
    assert done.exit_code in (0, 1), done.output
    case = json.loads((out / "case.json").read_text(encoding="utf-8"))
    return case, done.output, (out / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("form", ["folder", "parent", "tgz"])
def test_the_first_screen_says_what_was_not_collected(tmp_path: Path, form: str) -> None:
    """A failed command and a timeout are two errors beside the host's name; an output that was empty is none."""
    lines = f"{EMPTY}\n{FAILED}\n{LATE}\n"
    case, terminal, page = triage(
        tmp_path, form, {"error.log": lines, "errors-ignored.log": f"{FAILED}\n"}
    )

    said = "vm-support wrote 2 errors while it collected (localcli storage core device list, /bin/vsi_traverse -s)"
    (node,) = case["nodes"]
    assert [warning for warning in node["warnings"] if "vm-support" in warning] == [
        f"{said}, the first at error.log:2"
    ]
    assert "vm-support wrote 2 errors" in " ".join(terminal.split())
    assert said in page.partition("<nav")[0]


def test_a_collector_without_errors_says_nothing(tmp_path: Path) -> None:
    """An empty error.log, or one of the expected errors alone, is no remark."""
    case, _, page = triage(tmp_path, "tgz", {"error.log": "", "errors-ignored.log": f"{FAILED}\n"})

    assert not [warning for node in case["nodes"] for warning in node["warnings"]]
    assert "vm-support wrote" not in page


def test_the_errors_are_a_table(tmp_path: Path) -> None:
    """`backline tables` prints one row an error, with the command, the kind and the seconds."""
    top = tmp_path / HOST
    top.mkdir()
    (top / "error.log").write_text(f"{FAILED}\n{LATE}\n", encoding="utf-8")
    done = CliRunner().invoke(main, ["tables", str(tmp_path), "esxi.collector_failure"])

    assert done.exit_code == 0, done.output
    assert (
        "localcli storage core device list" in done.output
        and "timeout" in done.output
        and "600" in done.output
    )


def test_an_error_log_of_something_else_is_not_taken(tmp_path: Path) -> None:
    """The error.log of a web server in a folder of logs is not vm-support's."""
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "error.log").write_text(
        "2017/10/14 [error] 9#9: *1 open() failed\n", encoding="utf-8"
    )
    (tmp_path / "logs" / "nicinfo.sh.txt").write_text("nothing\n", encoding="utf-8")
    done = CliRunner().invoke(main, ["tables", str(tmp_path)])

    assert "esxi.collector_failure" not in done.output


def test_the_steps_of_the_collector_are_a_table(tmp_path: Path) -> None:
    """`backline tables` prints one row a step of action.log, with the manifest and the seconds."""
    top = tmp_path / HOST
    top.mkdir()
    (top / "action.log").write_text(
        "2017-10-14 16:53:21: commands (base.mfx) took 61.5 sec\n", encoding="utf-8"
    )
    done = CliRunner().invoke(main, ["tables", str(tmp_path), "esxi.collector_action"])

    assert done.exit_code == 0, done.output
    assert "base.mfx" in done.output and "61.5" in done.output


def empty(command: str, name: str) -> str:
    """Return the line with which vm-support leaves out the file of a command that printed nothing."""
    return f'WARNING Cmd "{command}" returned no information, don\'t collect file commands/{name}.txt for this cmd.\n'


NFS41 = ("localcli storage nfs41 list", "localcli_storage-nfs41-list")
NTP = ("localcli system ntp get", "localcli_system-ntp-get")
NIC = ("localcli network nic get -n vmnic0", "localcli_network-nic-get--n-vmnic0")


def asked(case: dict[str, Any]) -> set[str]:
    """Return the tables that a case asks the customer for."""
    return {one["missing"] for one in case["cannot_tell"]}


def test_a_list_that_was_empty_is_not_asked_for(tmp_path: Path) -> None:
    """vm-support collects no file of a list without a row, and says so: no NFS 4.1 datastore is there to be judged."""
    without, _, _ = triage(tmp_path / "a", "tgz", {"error.log": ""})
    told, _, _ = triage(tmp_path / "b", "tgz", {"error.log": empty(*NFS41)})

    assert asked(without) - asked(told) == {"esxi.nfs41_datastore"}
    assert {one["rule"] for one in told["findings"]} == {one["rule"] for one in without["findings"]}


@pytest.mark.parametrize(
    "line", [empty(*NTP), empty(*NIC), FAILED.replace("core device list", "nfs41 list") + "\n"]
)
def test_an_output_that_always_says_something_is_asked_for(tmp_path: Path, line: str) -> None:
    """Settings that were not printed, one NIC of many, or a command that failed: nothing of it is known to be empty."""
    without, _, _ = triage(tmp_path / "a", "tgz", {"error.log": ""})
    told, _, _ = triage(tmp_path / "b", "tgz", {"error.log": line})

    assert asked(told) == asked(without)


def test_an_empty_list_beside_rows_of_the_same_table_changes_nothing(tmp_path: Path) -> None:
    """What another file of the bundle holds of a table counts, not that one of its commands printed nothing."""
    nics = (
        "Name    PCI Device    Driver  Admin Status  Link Status  Speed  Duplex  MAC Address         MTU  Description\n"
        "------  ------------  ------  ------------  -----------  -----  ------  -----------------  ----  -----------\n"
        "vmnic0  0000:02:00.0  ntg3    Up            Up             100  Half    00:00:5e:00:53:01  1500  NetXtreme\n"
    )
    lines = empty("esxcfg-nics -l", "esxcfg-nics_-l")
    case, _, _ = triage(
        tmp_path, "tgz", {"error.log": lines, "commands/localcli_network-nic-list.txt": nics}
    )

    assert "nic-half-duplex" in {one["rule"] for one in case["findings"]}

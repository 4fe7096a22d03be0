"""One cause is one story: what follows from it stands below it; what is over in seconds, or another thing, does not.

All files here are synthetic; lines of vobd.log have the form that parsers/esxi/logs/vobd.py names, tables those of their samples.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer.case import case_file
from analyzer.cli import main
from analyzer.report.finding_rows import list_stories

NAA = "naa.60060160a1b14d0000013c5e8f21aa11"
VOLUME = "5b0c1c39-7a1b2c3d-0f11-002590aa1000"
ADAPTERS = """\
HBA Name  Driver  Link State  UID                                   Capabilities         Description
--------  ------  ----------  ------------------------------------  -------------------  -----------------------
vmhba2    lpfc    link-down   fc.20000024ff2c9a1a:21000024ff2c9a1a  Second Level Lun ID  (0000:05:00.0) Acme FC
vmhba3    lpfc    link-up     fc.20000024ff2c9a1b:21000024ff2c9a1b  Second Level Lun ID  (0000:05:00.1) Acme FC
"""
MEMORY_ERROR = "cpu1:2097192)MCA: 209: CE Poll G0 B8 S9c00004001010091 A1f3d0001 M2 P1f3d/40 Memory Controller Read Error on Channel 1."


def path_of(adapter: str, number: int, state: str) -> str:
    """Return one path as `esxcli storage core path list` prints it."""
    uid = f"fc.{adapter}-fc.{number}-{NAA}"
    values = {
        "UID": uid,
        "Runtime Name": f"{adapter}:C0:T{number}:L0",
        "Device": NAA,
        "Adapter": adapter,
        "LUN": 0,
    }
    values |= {"Plugin": "NMP", "State": state, "Transport": "fc"}
    return uid + "\n" + "".join(f"   {name}: {value}\n" for name, value in values.items()) + "\n"


def at(clock: str, text: str) -> str:
    """Return a line of vobd.log of one day."""
    return f"2020-04-30T{clock}.002Z: [Correlator] 842494494us: {text}\n"


def findings(folder: Path, files: dict[str, str]) -> dict[str, dict[str, Any]]:
    """Return the findings of a bundle with these members, by rule and object."""
    for name, text in files.items():
        path = folder / "case" / "esx-esx0.lab.example-2020-04-30--16.53-71234" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    out = folder / "out"
    command = ["triage", str(folder / "case"), "-o", str(out), "--no-settings", "--no-packs"]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output
    doc = case_file.read_case(out / "case.json")
    return {f"{one.rule} {one.object}": one for one in doc.findings}


def test_an_adapter_without_a_link_is_the_story_of_its_dead_paths(tmp_path: Path) -> None:
    """Dead paths and lost redundancy of the devices behind vmhba2 stand below the link of vmhba2."""
    lost = f"Path redundancy to storage device {NAA} degraded. Path vmhba2:C0:T0:L0 is down."
    paths = (
        path_of("vmhba2", 0, "dead") + path_of("vmhba2", 1, "dead") + path_of("vmhba3", 0, "active")
    )
    found = findings(
        tmp_path,
        {
            "commands/localcli_storage-core-adapter-list.txt": ADAPTERS,
            "commands/localcli_storage-core-path-list.txt": paths,
            "var/run/log/vobd.log": at(
                "07:26:00", f"[esx.problem.storage.redundancy.degraded] {lost}"
            ),
        },
    )
    cause = found["hba-link-down vmhba2"]
    assert (cause.severity, cause.confidence) == ("major", "confirmed")
    assert cause.say.startswith("The link of vmhba2 is down. Dead paths over it: 2.")
    for sign in (
        "dead-storage-path vmhba2:C0:T0:L0",
        "dead-storage-path vmhba2:C0:T1:L0",
        f"esx-event {NAA}",
    ):
        assert cause.id in found[sign].explained_by, sign


@pytest.mark.parametrize(
    "end", ["esx.problem.vmfs.nfs.server.restored", "esx.clear.vmfs.nfs.server.restored"]
)
def test_an_nfs_server_that_came_back_is_over_under_both_names_of_the_event(
    tmp_path: Path, end: str
) -> None:
    """ESXi 6.7 calls the end a problem, 7.0 a clear."""
    text = f"nfs1.lab.example /vol1 {VOLUME} nfs-ds1"
    lost = at("07:26:00", f"[esx.problem.vmfs.nfs.server.disconnect] {text}")
    found = findings(tmp_path, {"var/run/log/vobd.log": lost + at("07:36:00", f"[{end}] {text}")})
    (event,) = found.values()
    assert event.severity == "warning"
    assert "Cleared by a later event" in event.say
    assert "Datastore: nfs-ds1." in event.also


@pytest.mark.parametrize(("end", "severity"), [("07:26:10", "info"), ("07:26:11", "warning")])
def test_what_is_over_within_ten_seconds_is_information(
    tmp_path: Path, end: str, severity: str
) -> None:
    """A heartbeat that is late for a moment calls nobody out of bed."""
    lost = at("07:26:00", f"[esx.problem.vmfs.heartbeat.timedout] {VOLUME} ds-01")
    back = at(end, f"[esx.problem.vmfs.heartbeat.recovered] {VOLUME} ds-01")
    found = findings(tmp_path, {"var/run/log/vobd.log": lost + back})
    assert found[f"esx-event {VOLUME}"].severity == severity


def test_a_killed_vm_is_the_object_not_the_volume_of_its_file(tmp_path: Path) -> None:
    """The event names the VM by the path of its .vmx."""
    text = f"The virtual machine using the configuration file /vmfs/volumes/{VOLUME}/web 01/web 01.vmx did not respond."
    line = at("07:26:00", f"[esx.problem.vm.kill.unexpected.noSwapResponse] {text}")
    assert "esx-event web 01" in findings(tmp_path, {"var/run/log/vobd.log": line})


@pytest.mark.parametrize(("errors", "explained"), [(1, False), (120, True)])
def test_one_corrected_memory_error_explains_nothing(
    tmp_path: Path, errors: int, explained: bool
) -> None:
    """A storm of them is why hostd stood still; a single one is a hint, and no cause."""
    first = "".join(
        f"2020-04-30T07:{number // 60:02}:{number % 60:02}.002Z {MEMORY_ERROR}\n"
        for number in range(errors)
    )
    hung = "2020-04-30T07:20:00.002Z cpu1:2097192)ALERT: hostd detected to be non-responsive\n"
    found = findings(tmp_path, {"var/run/log/vmkernel.log": first + hung})
    sign = next(one for name, one in found.items() if name.startswith("hostd-does-not-respond"))
    assert bool(sign.explained_by) is explained
    assert any(name.startswith("kb-373203") for name in found)


@pytest.mark.parametrize("folder", ["var/log", "var/run/log", "scratch/log"])
def test_logs_of_all_releases_are_read_where_they_lie(tmp_path: Path, folder: str) -> None:
    """Bundles up to 6.0 keep auth.log and syslog.log in var/log, where other systems have files of these names too."""
    line = "2020-04-30T07:26:00Z sshd[2120011]: Connection from 192.0.2.9 port 50112\n"
    findings(tmp_path, {f"{folder}/auth.log": line, f"{folder}/unheard-of.log": line})
    doc = case_file.read_case(tmp_path / "out" / "case.json")
    assert {one.table: one.lines for one in doc.nodes[0].logs} == {
        "esxi.auth": 1,
        "esxi.other_log": 1,
    }


NFS = "a1b2c3d4-e5f60718"
MOUNTED = (
    f'server filer1.example.com mount point /vol/ds, mounted as {NFS}-0000-000000000000 ("ds")'
)


def kernel(clock: str, text: str) -> str:
    """Return a line of vmkernel.log of one day."""
    return f"2020-04-30T{clock}.102Z cpu3:2097540){text}\n"


def test_one_outage_of_nfs_is_one_story(tmp_path: Path) -> None:
    """What the event, the VMkernel, the paths, the retried writes and the stopped file say comes under the lost server."""
    identifier = f"Device or filesystem with identifier [{NFS}]"
    mount = f"filer1.example.com /vol/ds {NFS}-0000-000000000000 ds"
    events = [
        at("08:11:24", f"[esx.problem.vmfs.nfs.server.disconnect] {mount}"),
        at(
            "08:11:25",
            f"[esx.problem.storage.apd.start] {identifier} has entered the All Paths Down state.",
        ),
        at(
            "08:13:45",
            f"[esx.problem.storage.apd.timeout] {identifier} has entered the All Paths Down Timeout state.",
        ),
        at("08:14:45", f"[esx.problem.vmfs.nfs.server.restored] {mount}"),
        at(
            "08:14:46",
            f"[esx.clear.storage.apd.exit] {identifier} has exited the All Paths Down state.",
        ),
    ]
    lines = [
        kernel(
            "08:11:20",
            "WARNING: NFS: 4157: Status:No connection. Retrying synchronous write I/O 1 of 25 times",
        ),
        kernel("08:11:24", f"WARNING: NFS: 352: Lost connection to the {MOUNTED}"),
        kernel(
            "08:11:26", "WARNING: NFSLock: 2210: Stop accessing fd 0x430c6e2e  (app01-flat.vmdk)"
        ),
        kernel("08:14:45", f"NFS: 331: Restored connection to the {MOUNTED}"),
    ]
    found = findings(
        tmp_path,
        {"var/run/log/vobd.log": "".join(events), "var/run/log/vmkernel.log": "".join(lines)},
    )
    doc = case_file.read_case(tmp_path / "out" / "case.json")
    (story,) = [one for one in list_stories(doc) if one.signs]

    assert (
        len(found) == 5 and len(doc.findings) == 6
    )  # of the paths there are two, start and timeout
    assert story.row.first.title == "NFS server disconnected"
    assert len(story.signs) == 5
    # The lost connection comes before the stopped file that follows from it; then the worst first.
    assert [sign.word for sign in story.signs] == ["warning", "major", "warning", "warning", "info"]


def test_the_server_of_one_volume_explains_nothing_of_another(tmp_path: Path) -> None:
    """The paths of another volume are another story."""
    other = "Device or filesystem with identifier [11112222-33334444] has entered the All Paths Down state."
    lost = f"[esx.problem.vmfs.nfs.server.disconnect] filer1.example.com /vol/ds {NFS}-0000-000000000000 ds"
    found = findings(
        tmp_path,
        {
            "var/run/log/vobd.log": at("08:11:24", lost)
            + at("08:11:25", f"[esx.problem.storage.apd.start] {other}")
        },
    )

    assert [one.explained_by for one in found.values()] == [[], []]

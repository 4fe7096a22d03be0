"""Which files of a bundle are read goes by their names: lists of several releases, and what the manual says of the rest.

The lists lie in `tests/bundle_names/`, each with its source.
"""

from __future__ import annotations

import io
import json
import re
import tarfile
from pathlib import Path

import pytest

from analyzer.artefacts.parsing import registry
from analyzer.pipeline.triage import Options, triage

NAMES = Path(__file__).parents[1] / "bundle_names"
MANUAL = Path(__file__).parents[2] / "docs" / "formats.md"
TOP = "esx-esx21.lab-2023-05-02--09.14-2098114"


def listed(release: str) -> list[str]:
    lines = (NAMES / f"{release}.txt").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def unread(release: str) -> set[str]:
    parsers = list(registry().values())
    return {
        name
        for name in listed(release)
        if not any(one.matches_file(f"{TOP}/{name}") for one in parsers)
    }


def excused() -> list[str]:
    """Return the names that the manual says are not read, as patterns."""
    text = MANUAL.read_text()
    table = text.partition("## What of a bundle is not read, and why\n")[2].partition(
        "| members | why |\n"
    )[2]
    rows = [
        line.split(" | ")[0]
        for line in table.partition("\n\n")[0].splitlines()
        if line.startswith("| `")
    ]
    return [one for row in rows for one in re.findall(r"`([^`]+)`", row)]


def matches(pattern: str, name: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split("…"))), name) is not None


def test_every_file_of_a_bundle_of_6_7_is_read_or_has_its_reason_in_the_manual() -> None:
    """No name of 6.7 is left out silently: one that nobody reads stands once in the manual's table."""
    for name in unread("esxi67"):
        assert len([one for one in excused() if matches(one, name)]) == 1, name


def test_the_manual_says_of_no_file_that_it_is_not_read_which_is() -> None:
    """Each line of the table holds for a name of 6.7 that no parser takes, and for none that one does."""
    left = unread("esxi67")
    for pattern in excused():
        told = {name for name in listed("esxi67") if matches(pattern, name)}
        assert told and told <= left, pattern
    read = len(listed("esxi67")) - len(left)
    assert (
        f"the other {read} of the {len(listed('esxi67'))} names of ESXi 6.7 are read"
        in MANUAL.read_text()
    )


@pytest.mark.parametrize("release", ["esxi65", "esxi7-8"])
def test_names_of_other_releases_are_read(release: str) -> None:
    """What bundles of 6.5, 7 and 8 hold under names that 6.7 does not have is read as well."""
    assert len(listed(release)) > 30
    assert unread(release) == set()


def bundle(folder: Path, files: dict[str, str]) -> Path:
    path = folder / f"{TOP}.tgz"
    told = {
        "README": "Command line: vm-support\nCaptured on: 2023-05-02 09:14:00.000000\nvm-support version: v3.3\n",
        "commands/vmware_-vl.txt": "VMware ESXi 8.0.2 build-22380479\nVMware ESXi 8.0 Update 2\n",
    }
    with tarfile.open(path, "w:gz") as archive:
        for name, text in {**told, **files}.items():
            raw = text.encode()
            entry = tarfile.TarInfo(f"{TOP}/{name}")
            entry.size = len(raw)
            archive.addfile(entry, io.BytesIO(raw))
    return path


def test_an_output_that_no_release_before_had_is_read_and_searched(tmp_path: Path) -> None:
    """A command that nobody knows yet becomes rows, whatever its form, and nothing in it counts as not understood."""
    text = "vmhba2:\n   Firmware: 1.2\n== printed by a plug-in ==\n"
    document = triage(
        [bundle(tmp_path, {"commands/localcli_nvme-adapter-list.txt": text})], Options()
    ).document
    assert [one.state for one in document.sources if "nvme-adapter" in one.address] == ["read"]
    assert document.case.complete and not document.damage


def test_the_data_base_of_iscsi_is_read_without_its_secrets(tmp_path: Path) -> None:
    """Portals and timeouts become rows; a secret of CHAP is in no output, not even of a line that was cut."""
    text = (
        "=========[Targets]=========\n   `node.name`='iqn.1992-04.com.example:a5'\n   `node.conn[0].address`='10.20.22.21'\n"
        "   `node.session.auth.password`='hunter2hunter2'\n   `node.session.auth.password_in`='hunter3hunter3\n"
    )
    result = triage([bundle(tmp_path, {"commands/vmkiscsid_--dump-db.txt": text})], Options())
    assert [one.state for one in result.document.sources if "vmkiscsid" in one.address] == ["read"]
    assert "hunter" not in repr(result.document)


def test_an_output_with_other_options_goes_to_the_table_of_its_command(tmp_path: Path) -> None:
    """6.7 collects `storage filesystem list -i`; without the option, or with another one, it is the same table."""
    text = (
        "Mount Point                                        Volume Name  UUID                                 Mounted"
        "  Type         Size       Free\n"
        "-------------------------------------------------  -----------  -----------------------------------  -------"
        "  ----  -----------  ---------\n"
        "/vmfs/volumes/5f1e2d3c-4b5a6978-8796-a5b4c3d2e1f0               5f1e2d3c-4b5a6978-8796-a5b4c3d2e1f0  true   "
        "  vfat    261853184   20000768\n"
    )
    for name in (
        "localcli_storage-filesystem-list",
        "localcli_storage-filesystem-list--x",
        "esxcli_storage-filesystem-list",
    ):
        document = triage([bundle(tmp_path, {f"commands/{name}.txt": text})], Options()).document
        assert "bootbank-nearly-full" in {one.rule for one in document.findings}, name


@pytest.mark.parametrize("command", ["storage-core-device-list--d-x", "nobody-knows-it"])
def test_an_output_that_is_not_what_its_name_tells_is_said_to_be_unread(
    command: str, tmp_path: Path
) -> None:
    """Labels again and again that belong to no device: no row, no line a fault, and the reason beside the file."""
    text = "".join(
        f"   {label}: {turn}\n"
        for turn in range(40)
        for label in ("Vendor", "Status", "Queue Depth")
    )
    result = triage([bundle(tmp_path, {f"commands/localcli_{command}.txt": text})], Options())
    source = next(one for one in result.document.sources if command in one.address)
    assert (source.state, source.faults) == ("listed", 0)
    assert source.why == "its first lines are not the output of the command in its name"


def test_a_long_output_of_a_command_that_nobody_lists_is_read(tmp_path: Path) -> None:
    """Sixty blocks, each below its name, are sixty objects whatever the command is."""
    text = "".join(
        f"naa.6000{turn:04}:\n   Vendor: A\n   Status: on\n   Queue Depth: {turn}\n"
        for turn in range(60)
    )
    folder = bundle(tmp_path, {"commands/localcli_nobody-knows-it.txt": text})
    result = triage([folder], Options())
    source = next(one for one in result.document.sources if "nobody-knows" in one.address)
    assert (source.state, source.lines, source.faults) == ("read", 240, 0)


def test_json_under_the_name_of_a_text_is_read(tmp_path: Path) -> None:
    """Its first lines alone are no JSON: an output of forty lines goes to the table of its command as a whole."""
    volumes = [
        {"Mount Point": f"/vmfs/volumes/{n}", "Volume Name": f"ds{n}", "UUID": f"5f1e2d3{n}-4b5a6978-8796-a5b4c3d2e1f0",
         "Mounted": True, "Type": "VMFS-6", "Size": 261853184, "Free": 20000768} for n in range(5)
    ]  # fmt: skip
    folder = bundle(
        tmp_path,
        {"commands/localcli_storage-filesystem-list--x.txt": json.dumps(volumes, indent=1)},
    )
    (source,) = (
        one for one in triage([folder], Options()).document.sources if "filesystem" in one.address
    )
    assert (source.state, source.read_by, source.faults) == ("read", "filesystems", 0)

"""Forms: an artefact that is declared by its labels is read from a bundle, a transcript and its JSON twin alike."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from analyzer.artefacts.parsing import registry
from analyzer.artefacts.tables import Block, Fault, Row
from analyzer.cli import main
from analyzer.forms.columns import bundle_files, file_name
from analyzer.pipeline.triage import triage
from tests.kit.sample_kit import ALL, SAMPLES
from tests.kit.together import together

PATHS = "localcli_storage-core-path-list"
TEXT = (SAMPLES / "esxi" / "storage" / "storage_path" / "two_paths.txt").read_text(encoding="utf-8")
JSON = (SAMPLES / "esxi" / "storage" / "storage_path" / "json_twin.txt").read_text(encoding="utf-8")
HOST = "esx-host1.lab.example-2024-01-12--13.56-2107676"


def bundle(folder: Path, files: dict[str, str]) -> Path:
    """Write an unpacked vm-support bundle with some command files, and return its folder."""
    known = {
        "README": "Command line: /sbin/vm-support\nBundle name: synthetic\n",
        "commands/vmware_-vl.txt": "VMware ESXi 6.7.0 build-8169922\nVMware ESXi 6.7.0 GA\n",
        "error.log": "",
        "action.log": "",
        "etc/vmware/esx.conf": "",
    }
    top = folder / HOST
    for name, text in (known | files).items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return top


def printed(path: Path, table: str) -> list[dict[str, str]]:
    """Return the rows of a table as `backline tables PATH TABLE --json` prints them, without their places."""
    result = CliRunner().invoke(main, ["tables", str(path), table, "--json"])
    assert result.exit_code == 0, result.output
    return [
        {name: cell for name, cell in row.items() if name[:1] != "_"}
        for row in map(json.loads, result.stdout.splitlines())
    ]


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("localcli storage core path list", "localcli_storage-core-path-list"),
        (
            "localcli storage core claimrule list --claimrule-class=all",
            "localcli_storage-core-claimrule-list---claimrule-classall",
        ),
        ("/bin/vsish -e get /vmkModules/tracing/stats", "vsish_-e-get-vmkModulestracingstats"),
        (
            "localcli --plugin-dir /usr/lib/vmware/esxcli/int device driver list",
            "localcli_--plugin-dir-usrlibvmwareesxcliint-device-driver-list",
        ),
        ("sh -c '/bin/md5sum $(find /bin/ -type f)'", "sh_-c-binmd5sum(findbin-typef)"),
        ("vmkload_mod -v10 -l", "vmkload_mod_-v10--l"),
        ("vmware-vimdump -o - -U dcui", "vmware-vimdump_-o----U-dcui"),
        ("uname -a", "uname_-a"),
        ("/usr/lib/vmware/vm-support/bin/swfw.sh", "swfw.sh"),
        ("date", "date"),
    ],
)
def test_a_bundle_names_the_file_of_a_command_by_rule(command: str, name: str) -> None:
    """The documented examples of the naming rule of vm-support give the documented names."""
    assert file_name(command) == name
    assert bundle_files(command)[0].endswith(r"\.txt$")


TWINS = sorted(
    name for name, parser in registry().items() if any("json/" in one for one in parser.files)
)


@together("name", TWINS)
def test_text_and_json_of_an_output_give_the_same_rows(name: str) -> None:
    """Each artefact with a JSON twin has a sample of it, whose rows are those of the text it names."""
    samples = {sample.text.stem: sample.expected for sample in ALL if sample.parser == name}
    twins = [expected for expected in samples.values() if "twin" in expected]
    assert twins, f"samples/{name} has no JSON twin"
    for expected in twins:
        assert expected["rows"] == samples[expected["twin"]]["rows"]


def test_a_bundle_with_both_twins_tells_each_path_once(tmp_path: Path) -> None:
    """Text and JSON of one output are two files of a bundle and one set of rows; the JSON is named as left out."""
    top = bundle(tmp_path, {f"commands/{PATHS}.txt": TEXT, f"json/{PATHS}.json": JSON})

    document = triage([top]).document

    assert [row["path_state"] for row in printed(top, "esxi.storage_path")] == ["active", "dead"]
    (left_out,) = [one for one in document.sources if one.address.endswith(".json")]
    assert left_out.state == "duplicate"
    assert left_out.why.endswith(f"commands/{PATHS}.txt; counts once")


def test_the_json_twin_alone_is_read(tmp_path: Path) -> None:
    """A bundle without the text gives the rows of the JSON, warnings above it included."""
    both = bundle(tmp_path / "a", {f"commands/{PATHS}.txt": TEXT})
    alone = bundle(tmp_path / "b", {f"json/{PATHS}.json": JSON})
    assert printed(alone, "esxi.storage_path") == printed(both, "esxi.storage_path")


def test_the_twin_that_was_understood_counts(tmp_path: Path) -> None:
    """A text with a line that is not understood gives way to its JSON, and the difference is noted."""
    spoiled = TEXT.replace("LUN: 1", "LUN: one", 1)
    top = bundle(tmp_path, {f"commands/{PATHS}.txt": spoiled, f"json/{PATHS}.json": JSON})

    document = triage([top]).document

    assert [row["lun"] for row in printed(top, "esxi.storage_path")] == [1, 1]
    assert any("as text and as JSON, but they differ" in note for note in document.notes)


def test_a_cut_json_keeps_what_came_before_the_cut() -> None:
    """JSON that ends in the middle gives the objects before it and a fault at the one that is broken."""
    parser = registry()["storage_path"]
    lines = JSON.splitlines()[:-6]
    found = list(parser.parse(Block(lines, address=f"x/json/{PATHS}.json")))
    assert [type(item) for item in found] == [
        Fault,
        Row,
        Fault,
    ]  # the first is the warning above it
    assert (
        found[2].line == next(n for n, line in enumerate(lines, 1) if "No associated" in line) - 3
    )  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "text", ["", "[", "{", "[" * 5000, "[1, 2]", '{"a": ' * 5000, "[{}]", '[{"UID": 12}]', "[nan]"]
)
def test_hostile_json_is_rows_or_faults(text: str) -> None:
    """No JSON makes a form raise, and nothing but an empty file passes without a word."""
    parser = registry()["storage_path"]
    found = list(parser.parse(Block(text.split("\n"), address=f"x/json/{PATHS}.json")))
    assert bool(found) == bool(text)


def test_a_table_has_one_declaration() -> None:
    """Two parsers may fill one table, but they say the same of it: of two meanings the second would be lost."""
    said: dict[str, set[str]] = {}
    for parser in registry().values():
        for table in parser.tables:
            said.setdefault(table.name, set()).add(repr((table.meaning, table.columns, table.log)))

    assert [name for name, meanings in said.items() if len(meanings) > 1] == []

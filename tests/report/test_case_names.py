"""A case is called after its host where the names of its files say nothing."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer.cli import main
from analyzer.sources.case_names import name_case_by_files, name_case_by_host, says_nothing

CASES = Path(__file__).parents[2] / "samples/cases"
HOST = {"name": "esx01", "kind": "esxi"}
OTHER = {"name": "esx02", "kind": "esxi"}
GUEST = {"name": "app07", "kind": "guest"}
LOOSE = {"name": "ESXi host (loose files)", "kind": "esxi"}


@pytest.mark.parametrize(
    "name",
    [
        "in",
        "esxtop.csv",
        "vobd.log",
        "upload.zip",
        "Downloads",
        "logs.tar.gz",
        "esxtop (2).csv",
        "New Folder",
        "1",
        "tmp",
    ],
)
def test_common_names_say_nothing(name: str) -> None:
    """Folders of uploads and single outputs are called like those of any other case."""
    assert says_nothing(name)
    assert name_case_by_host(name, [HOST]) == "esx01"
    assert name_case_by_host(name, [HOST, GUEST]) == "esx01"
    assert name_case_by_host(name, [HOST, OTHER]) == name
    assert name_case_by_host(name, [LOOSE]) == name
    assert name_case_by_host(name, []) == name


@pytest.mark.parametrize(
    "name",
    ["SR-4711", "esx-esx71.lab.example-2017-10-14--16.53-71234.tgz", "slow-storage", "20231107", "nsxmgr01.tgz",
     "customer.zip", "after-upgrade.log", "东京.zip"],
)  # fmt: skip
def test_names_that_say_something_stay(name: str) -> None:
    """The number of a case, the name of a bundle, what somebody wrote: none is replaced."""
    assert name_case_by_host(name, [HOST]) == name


def test_a_folder_of_any_name_gives_way_to_the_one_above(tmp_path: Path) -> None:
    """`SR-4711/in` is the case SR-4711, for the results folder too."""
    inner = tmp_path / "SR-4711" / "in"
    inner.mkdir(parents=True)
    assert name_case_by_files([inner]) == "SR-4711"


def triage_case(given: list[Path], out: Path) -> dict[str, Any]:
    done = CliRunner().invoke(
        main, ["triage", *map(str, given), "-o", str(out), "--no-settings", "--no-packs"]
    )
    assert (out / "case.json").exists(), done.output
    document: dict[str, Any] = json.loads((out / "case.json").read_bytes())
    return document


def test_a_case_is_called_after_its_host(tmp_path: Path) -> None:
    """A bundle in a folder `in` of a folder `tmp`: the report is that of its host."""
    inner = tmp_path / "tmp" / "in"
    inner.mkdir(parents=True)
    for file in (CASES / "healthy-host").glob("*.tgz"):
        shutil.copy(file, inner / "bundle.tgz")
    document = triage_case([inner], tmp_path / "out")
    assert document["case"]["name"] == "esx51.lab.example"
    assert (
        triage_case([inner / "bundle.tgz"], tmp_path / "other")["case"]["name"]
        == "esx51.lab.example"
    )

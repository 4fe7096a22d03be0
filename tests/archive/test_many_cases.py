"""A folder of many cases is recognised, in the command and in the page; one giant case is made of it on demand only."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from analyzer.archive.batches.many_cases import cases_among, cases_below
from analyzer.cli import main
from tests.kit.web_kit import client_of, serving_at

SAMPLES = Path(__file__).resolve().parents[2] / "samples" / "cases"

MANY = [f"case-{number}/esx.tgz" for number in range(6)]
ONE = {
    "few": MANY[:4],
    "notes beside them": [*MANY, "what-the-customer-says.txt"],
    "an unpacked bundle": [
        f"{top}/x.txt" for top in ("commands", "etc", "var", "usr", "vmfs", "json")
    ],
    "unpacked bundles of one site": [
        f"host{number}/{top}/x.txt" for number in range(9) for top in ("commands", "var")
    ],
    "bundles unpacked by name": [
        f"esx-host{number}-2024-01-02--03.04-1/extra/x.txt" for number in range(9)
    ],
    "archives of one capture": [
        f"esx-host{number}-2024-01-02--03.04-1.tgz" for number in range(40)
    ],
    "a site of NSX: its hosts, and machines of NSX whose names have no day": [
        *(f"esx-host{number}-2024-01-02--03.04-1.tgz" for number in range(125)),
        *("nsxmgr01-techsupport.tgz", "nsx-controller-1.tgz", "nsx-controller-2.tgz"),
    ],
    "ten archives": [f"host{number}.tgz" for number in range(10)],
    "folders of pictures": [f"shots-{number}/screen.png" for number in range(9)],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder of six small cases, each in a folder of its own."""
    for number in range(6):
        shutil.copytree(SAMPLES / "lab-ring-before", tmp_path / "cases" / f"case-{number}")
    return tmp_path / "cases"


def test_folders_of_cases_are_told_from_the_folder_of_one(folder: Path) -> None:
    """Six folders with material are six cases; a readme beside them changes nothing; what belongs to one case is one."""
    assert cases_among(MANY).names == [f"case-{number}" for number in range(6)]
    assert len(cases_among([*MANY, "README.md"]).names) == 6
    # What has no day and is not of NSX, or hosts of other months, are no site
    hosts = [f"esx-host{number}-2024-01-02--03.04-1.tgz" for number in range(40)]
    assert len(cases_among([*hosts, "customer-b.tgz"]).names) == 41
    later = "esx-host9-2024-05-02--03.04-1.tgz"
    assert len(cases_among([*hosts, "nsxmgr01.tgz", later]).names) == 42
    assert {what: cases_among(names).names for what, names in ONE.items()} == {
        what: [] for what in ONE
    }
    assert len(cases_below(folder).names) == 6
    assert cases_below(folder / "case-0").names == []


def test_the_command_asks_instead_of_making_one_giant_case(folder: Path, tmp_path: Path) -> None:
    """`triage FOLDER` names the number of cases and both ways on, and writes nothing; --one-case reads it as one."""
    out = tmp_path / "out"
    done = CliRunner().invoke(main, ["triage", str(folder), "-o", str(out), "--no-packs"])
    assert done.exit_code == 2
    said = " ".join(done.output.split())
    assert "this folder holds 6 cases" in said
    assert f"backline batch {folder} --archive ARCHIVE" in said
    assert not out.exists()
    done = CliRunner().invoke(
        main, ["triage", str(folder), "-o", str(out), "--no-packs", "--one-case", "--quiet"]
    )
    assert done.exit_code == 0, done.output
    assert (out / "case.json").is_file()


def test_the_page_asks_as_well(folder: Path, tmp_path: Path) -> None:
    """A path or dropped names of many cases take nothing and name the folders; `together` takes them as one case."""
    with client_of(serving_at(tmp_path)) as client:
        names = [f"case-{number}" for number in range(6)]
        told = {"many": names, "kind": "folders", "beside": [], "archive": False}
        dropped = {"name": "x", "files": [{"name": f"cases/{name}", "size": 1} for name in MANY]}
        for asked in ({"path": str(folder)}, dropped):
            answer = client.post("/cases", json=asked)
            assert (answer.status_code, answer.json()) == (200, told)
            assert client.get("/cases").json()["cases"] == []
        assert client.post("/cases", json=dropped | {"together": True}).status_code == 201


def test_a_flat_folder_of_archives_of_different_cases_is_many_cases(tmp_path: Path) -> None:
    """Forty archives that name no case in common are forty cases, for the command and the page, also given side by side.

    Archives and unpacked hosts beside folders of cases are cases as well, and what belongs to none is named: nothing is lost.
    """
    names = sorted(f"SR-{number}-2024-0{1 + number % 9}-11.tgz" for number in range(40))
    for name in names:
        (tmp_path / "flat").mkdir(exist_ok=True)
        (tmp_path / "flat" / name).write_bytes(b"")
    (tmp_path / "flat" / "list.txt").write_text("synthetic\n")
    done = CliRunner().invoke(
        main, ["triage", str(tmp_path / "flat"), "-o", str(tmp_path / "out"), "--no-packs"]
    )
    said = " ".join(done.output.split())
    assert done.exit_code == 2
    assert "this folder holds 40 cases" in said
    assert "archives that each look like a case, such as SR-0-2024-01-11.tgz" in said
    globbed = CliRunner().invoke(
        main, ["triage", *(str(tmp_path / "flat" / name) for name in names)]
    )  # as `*.tgz`
    assert globbed.exit_code == 2 and "these are 40 cases" in globbed.output
    files = [{"name": name, "size": 1} for name in names]
    beside = [{"name": "list.txt", "size": 1}]
    inside = [one | {"name": f"flat/{one['name']}"} for one in files + beside]
    with client_of(serving_at(tmp_path)) as client:
        for asked in (
            {"path": str(tmp_path / "flat")},
            {"files": files + beside},
            {"files": inside},
        ):
            told = client.post("/cases", json=asked).json()
            assert (told["many"], told["kind"], told["beside"]) == (names, "archives", ["list.txt"])
    mixed = cases_among([*MANY, "late.tgz", "esx-h-2024-01-02--03.04-1/var/x.log"])
    assert (len(mixed.names), mixed.case_kind) == (8, "folders and archives")

"""Rule packs: real wheels, built and installed, and packs that mean harm. Nothing of a pack ever runs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from analyzer import rules
from analyzer.rules import packs
from analyzer.rules.sources import RuleSource

ROOT = Path(__file__).resolve().parents[2]
CASE = ROOT / "samples" / "cases" / "config-traps"

RULE = """\
rule: nn-busy-port
title: A made-up rule of a pack
each: port in esxi.net_stats
when: port.port_id > 5
outcomes:
  - when: true
    severity: warning
    say: "{port.port_id} is high"
"""
FACTS = """\
meaning = "Ports that the team knows."
source = "the team"
key = ["port_id"]
[columns.port_id]
kind = "int"
meaning = "number of the port"
"""
TOUCH = "from pathlib import Path\nPath({!r}).write_text('run')\n"


def backline(*args: str, path: Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run Backline in a process of its own with something further on the search path."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(path)]),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, "-m", "analyzer", *args]
    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )


def pip(*args: str, cwd: Path) -> None:
    """Run pip without any index."""
    command = [
        sys.executable,
        "-m",
        "pip",
        args[0],
        "--quiet",
        "--no-index",
        "--no-deps",
        *args[1:],
    ]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the pack that docs/rule-packs.md describes, built with its pyproject.toml."""
    folder = tmp_path_factory.mktemp("nn-rules")
    page = (ROOT / "docs/rule-packs.md").read_text(encoding="utf-8")
    (project,) = re.findall(r"```toml\n(\[build-system\].*?)```", page, re.DOTALL)
    (folder / "pyproject.toml").write_text(project, encoding="utf-8")
    (folder / "nn_rules").mkdir()
    (folder / "nn_rules" / "__init__.py").write_text(
        TOUCH.format(str(folder / "it-ran")), encoding="utf-8"
    )
    (folder / "nn_rules" / "nn-busy-port.yaml").write_text(RULE, encoding="utf-8")
    (folder / "nn_rules" / "facts").mkdir()
    (folder / "nn_rules" / "facts" / "nn_port.toml").write_text(FACTS, encoding="utf-8")
    (folder / "nn_rules" / "facts" / "nn_port.csv").write_text(
        "port_id,source,mark\n7,the team,verified\n", encoding="utf-8"
    )
    pip("wheel", "--no-build-isolation", "--wheel-dir", "dist", ".", cwd=folder)
    (made,) = (folder / "dist").glob("*.whl")
    return made


@pytest.fixture(scope="module", params=["installed", "zipped"])
def place(
    request: pytest.FixtureRequest, wheel: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Where the pack is: installed with pip, or the wheel itself on the search path."""
    if request.param == "zipped":
        return wheel
    site = tmp_path_factory.mktemp("site")
    pip("install", "--target", str(site), str(wheel), cwd=site)
    return site


@pytest.mark.process
def test_a_pack_takes_part_in_a_triage(place: Path, wheel: Path, tmp_path: Path) -> None:
    """Its rule judges and is named with the pack in every report; its Python code does not run."""
    done = backline("triage", str(CASE), "-o", "out", "--all", path=place, cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    document = json.loads((tmp_path / "out" / "case.json").read_text(encoding="utf-8"))
    origins = {finding["rule"]: finding["origin"] for finding in document["findings"]}
    assert origins["nn-busy-port"] == "pack nn-rules 1.0"
    assert origins["beacon-probing"] == ""
    pack = document["settings"]["catalogs"][1]
    assert (pack["kind"], pack["name"], pack["version"], pack["rules"]) == (
        "pack",
        "nn-rules",
        "1.0",
        1,
    )
    assert re.fullmatch("[0-9a-f]{64}", pack["sha256"])
    for name in ("report.html", "report.md"):
        assert "pack nn-rules 1.0" in (tmp_path / "out" / name).read_text(encoding="utf-8")
    assert "[pack nn-rules 1.0]" in " ".join(done.stdout.split())
    assert not (wheel.parent.parent / "it-ran").exists()


@pytest.mark.release
@pytest.mark.process
def test_packs_are_listed_and_can_be_left_out(place: Path, tmp_path: Path) -> None:
    """`rules list` names pack, version, number of rules and hash; --no-packs leaves it out."""
    done = backline("rules", "list", path=place, cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert re.search(r"^nn-busy-port +test +0 +pack nn-rules 1\.0", done.stdout, re.MULTILINE)
    assert re.search(
        r"^pack nn-rules 1\.0: 1 rule, sha256 [0-9a-f]{64}$", done.stdout, re.MULTILINE
    )
    assert (
        "nn-busy-port"
        not in backline("rules", "list", "--no-packs", path=place, cwd=tmp_path).stdout
    )


@pytest.mark.process
def test_a_pack_brings_tables_of_facts(place: Path, tmp_path: Path) -> None:
    """A table in its folder `facts` is known to every command, installed or zipped."""
    done = backline("rules", "list", "--table", "kb.nn_port", path=place, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "0 of" in done.stdout
    assert (
        "no parser makes table kb.nn_port"
        in backline(
            "rules", "list", "--no-packs", "--table", "kb.nn_port", path=place, cwd=tmp_path
        ).stderr
    )


def test_installed_and_zipped_are_the_same_catalog(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hash is of the rule files, wherever they lie."""
    pip("install", "--target", "site", str(wheel), cwd=tmp_path)
    hashes = []
    for path in (wheel, tmp_path / "site"):
        monkeypatch.setattr(sys, "path", [str(path), *sys.path])
        from analyzer import rules

        (pack,) = rules.load(_packs("nn-rules")).sources
        hashes.append(pack.hash)
        monkeypatch.undo()
    assert hashes[0] == hashes[1]


def _packs(name: str) -> list[RuleSource]:
    return [pack for pack in packs.find_installed() if pack.name == name]


# --- packs that are broken, or mean harm ------------------------------------------------------------


def handmade(
    site: Path, name: str, entry: str, files: dict[str, str], record: list[str] | None = None
) -> Path:
    """Lay an installed distribution by hand, as pip would leave it; `record` overrides its list of files."""
    info = site / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    for path, text in files.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(text, encoding="utf-8")
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8"
    )
    (info / "entry_points.txt").write_text(entry, encoding="utf-8")
    lines = list(files) if record is None else record
    (info / "RECORD").write_text("".join(f"{line},,\n" for line in lines), encoding="utf-8")
    return info


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder of packages, first on the search path of this process."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    return folder


def entry(value: str) -> str:
    """Return the entry points that name a value."""
    return f"[backline.rules]\nmine = {value}\n"


def only(name: str) -> RuleSource:
    """Return the one pack of this name."""
    (pack,) = _packs(name)
    return pack


@pytest.mark.parametrize(
    "value",
    [
        "no_such_package",
        "..",
        "../../etc",
        "/etc",
        "evil_rules:load",
        "evil_rules.sub:load [extra]",
        "os",
        "analyzer.kb",
        "evil rules",
        "évil_rules",
    ],
)
def test_a_value_that_names_no_package_of_the_pack_brings_no_rules(site: Path, value: str) -> None:
    """A missing module, a path, a call, somebody else's package: reported, nothing read, nothing run."""
    ran = site / "it-ran"
    handmade(site, "evil-rules", entry(value), {"evil_rules/__init__.py": TOUCH.format(str(ran))})
    pack = only("evil-rules")

    assert list(pack.files) == []
    (fault,) = pack.faults
    assert "the rule pack cannot be used" in fault.message
    assert fault.file == "pack evil-rules 1.0"
    assert not ran.exists()
    assert "evil_rules" not in sys.modules


def test_a_package_in_a_package_is_found_without_running_either(site: Path) -> None:
    """Python would import the outer package to find the inner one; Backline does not."""
    ran = site / "it-ran"
    files = {
        "nn_rules/__init__.py": TOUCH.format(str(ran)),
        "nn_rules/kb/__init__.py": TOUCH.format(str(ran)),
        "nn_rules/kb/nn-busy-port.yaml": RULE,
        "nn_rules/kb/deeper/nn-other.yaml": RULE,
        "nn_rules/notes.yaml": "not: a rule",
    }
    handmade(site, "nn-rules", entry("nn_rules.kb"), files)

    assert [file.name for file in only("nn-rules").files] == ["nn-busy-port.yaml", "nn-other.yaml"]
    assert not ran.exists()


def test_the_files_beside_a_module_are_its_rules(site: Path) -> None:
    """An entry point may name a module; its rules are the files beside it."""
    files = {"nn_rules/kb.py": "", "nn_rules/nn-busy-port.yaml": RULE}
    handmade(site, "nn-rules", entry("nn_rules.kb"), files)

    assert [file.name for file in only("nn-rules").files] == ["nn-busy-port.yaml"]


def test_a_list_of_files_does_not_lead_out_of_the_package(site: Path) -> None:
    """RECORD lines with .., an absolute path or another package's folder bring nothing in."""
    (site.parent / "secret.yaml").write_text("password: x", encoding="utf-8")
    record = [
        "../secret.yaml",
        "nn_rules/../../secret.yaml",
        str(site.parent / "secret.yaml"),
        "other/secret.yaml",
        "nn_rules/nn-busy-port.yaml",
    ]
    handmade(site, "nn-rules", entry("nn_rules"), {"nn_rules/nn-busy-port.yaml": RULE}, record)

    assert [file.name for file in only("nn-rules").files] == ["nn-busy-port.yaml"]


def test_the_rules_of_a_pack_may_lie_in_folders_by_subject(site: Path) -> None:
    """Rule files below the named package belong to the pack; those beside a named module do so alone."""
    files = {
        "nn_rules/nn-one.yaml": RULE,
        "nn_rules/storage/nn-two.yaml": RULE,
        "nn_other/nn-three.yaml": RULE,
    }
    handmade(site, "nn-rules", entry("nn_rules"), files)
    assert [file.name for file in only("nn-rules").files] == ["nn-one.yaml", "nn-two.yaml"]
    flat = {"mm_rules.py": "", "mm-one.yaml": RULE, "storage/mm-two.yaml": RULE}
    handmade(site, "mm-rules", entry("mm_rules"), flat)
    assert [file.name for file in only("mm-rules").files] == ["mm-one.yaml"]


def test_a_pack_brings_what_its_rules_share(site: Path) -> None:
    """The file of shared parts lies at the top of the package; it is no rule, and rules of the pack may name it."""
    shared = "texts:\n  made_up: Text of the pack.\n"
    rule = RULE + "not_this: [$made_up]\n"
    files = {"nn_rules/shared.yaml": shared, "nn_rules/storage/nn-busy-port.yaml": rule}
    handmade(site, "nn-rules", entry("nn_rules"), files)
    catalog = rules.load([only("nn-rules")])

    assert catalog.broken == []
    assert catalog["nn-busy-port"].not_this == ["Text of the pack."]


def test_a_package_without_rules_says_what_may_be_wrong(site: Path) -> None:
    """The usual slip is data that was not packed; the message names it."""
    handmade(site, "nn-rules", entry("nn_rules"), {"nn_rules/__init__.py": ""})

    (fault,) = only("nn-rules").faults
    assert "no rule file" in fault.message
    assert "package data" in fault.help


@pytest.mark.parametrize("broken", ["METADATA", "RECORD", "entry_points.txt"])
def test_broken_metadata_of_one_pack_leaves_the_others(site: Path, broken: str) -> None:
    """Whatever is wrong with one distribution, the next pack is used."""
    info = handmade(site, "aa-rules", entry("aa_rules"), {"aa_rules/aa-one.yaml": RULE})
    (info / broken).write_bytes(b'\xff\xfe[backline.rules]\n= \x00 ,,,\n"')
    handmade(site, "nn-rules", entry("nn_rules"), {"nn_rules/nn-busy-port.yaml": RULE})

    assert [file.name for file in only("nn-rules").files] == ["nn-busy-port.yaml"]


def test_of_two_packs_of_one_name_the_first_counts(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with every Python package, what stands first on the search path is used, not both."""
    handmade(site, "nn-rules", entry("nn_rules"), {"nn_rules/nn-first.yaml": RULE})
    handmade(tmp_path / "later", "NN.Rules", entry("nn_rules"), {"nn_rules/nn-second.yaml": RULE})
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "later")])

    assert [file.name for file in only("nn-rules").files] == ["nn-first.yaml"]
    assert _packs("NN.Rules") == []


def test_a_pack_under_work_is_found_where_its_source_lies(site: Path, tmp_path: Path) -> None:
    """An editable install has no rule files in its list: they are looked up, and nothing is run."""
    ran = site / "it-ran"
    info = handmade(site, "nn-rules", entry("nn_work.kb"), {}, [])
    (info / "direct_url.json").write_text(
        '{"url": "file:///x", "dir_info": {"editable": true}}', encoding="utf-8"
    )
    (tmp_path / "src" / "nn_work" / "kb").mkdir(parents=True)
    (tmp_path / "src" / "nn_work" / "__init__.py").write_text(
        TOUCH.format(str(ran)), encoding="utf-8"
    )
    (tmp_path / "src" / "nn_work" / "kb" / "nn-busy-port.yaml").write_text(RULE, encoding="utf-8")
    sys.path.append(str(tmp_path / "src"))

    assert [file.name for file in only("nn-rules").files] == ["nn-busy-port.yaml"]
    assert not ran.exists()
    assert "nn_work" not in sys.modules


@pytest.mark.process
def test_a_broken_pack_is_reported_and_the_others_run(tmp_path: Path) -> None:
    """Exit code 4; stderr and report name the packs; shipped rules and sound packs have judged."""
    site = tmp_path / "site"
    handmade(
        site,
        "evil-rules",
        entry("os"),
        {"evil_rules/__init__.py": TOUCH.format(str(tmp_path / "it-ran"))},
    )
    bad = RULE.replace("when: port", "whenn: port").replace("nn-busy-port", "mm-bad")
    clash = (ROOT / "analyzer/kb/network/beacon-probing.yaml").read_text(encoding="utf-8")
    handmade(
        site,
        "mm-rules",
        entry("mm_rules"),
        {"mm_rules/mm-bad.yaml": bad, "mm_rules/beacon-probing.yaml": clash},
    )
    handmade(site, "nn-rules", entry("nn_rules"), {"nn_rules/nn-busy-port.yaml": RULE})
    (tmp_path / "backline.toml").write_text(
        '[[mute]]\nrule = "evil-one"\nreason = "of the broken pack"\nuntil = 2026-12-31\n',
        encoding="utf-8",
    )
    done = backline("triage", str(CASE), "-o", "out", "--quiet", path=site, cwd=tmp_path)

    assert done.returncode == 4, done.stderr
    for words in (
        "pack evil-rules 1.0",
        "mm-rules-1.0/mm-bad.yaml:4:1",
        "mm-rules-1.0/beacon-probing.yaml",
        "mute it",
    ):
        assert words in done.stderr, words
    document: dict[str, Any] = json.loads(
        (tmp_path / "out" / "case.json").read_text(encoding="utf-8")
    )
    matched = {finding["rule"] for finding in document["findings"] if finding["verdict"] == "match"}
    assert {"nn-busy-port", "beacon-probing"} <= matched
    assert [finding["verdict"] for finding in document["findings"]][-3:] == ["error"] * 3
    assert [(one["name"], one["broken"]) for one in document["settings"]["catalogs"][1:]] == [
        ("evil-rules", 1),
        ("mm-rules", 2),
        ("nn-rules", 0),
    ]
    assert (
        "mm-rules 1.0: no rule, 2 files cannot be used"
        in (tmp_path / "out" / "report.html").read_text()
    )
    assert not (tmp_path / "it-ran").exists()


@pytest.mark.process
def test_a_hostile_name_cannot_steer_the_terminal(tmp_path: Path) -> None:
    """Name, version and title of a pack reach the terminal and the page as plain text."""
    site = tmp_path / "site"
    info = handmade(site, "nn-rules", entry("nn_rules"), {"nn_rules/nn-busy-port.yaml": RULE})
    text = (
        "Metadata-Version: 2.1\nName: nn\x1b[31m<script>\n  shipped: 99 rules\nVersion: 1\u202e0\n"
    )
    (info / "METADATA").write_text(text, encoding="utf-8")
    done = backline("rules", "list", path=site, cwd=tmp_path)
    assert "\x1b" not in done.stdout + done.stderr
    assert "\u202e" not in done.stdout + done.stderr
    assert not re.search("^ *shipped: 99", done.stdout, re.MULTILINE)

    backline("triage", str(CASE), "-o", "out", "--quiet", path=site, cwd=tmp_path)
    assert "nn\\x1b[31m&lt;script&gt;" in (tmp_path / "out" / "report.html").read_text(
        encoding="utf-8"
    )


def test_a_zip_with_paths_that_lead_out_brings_only_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wheel on the search path is read in place; members with .. in their names are not reached."""
    path = tmp_path / "nn_rules-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("nn_rules/nn-busy-port.yaml", RULE)
        archive.writestr("../outside.yaml", RULE)
        info = "nn_rules-1.0.dist-info"
        archive.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: nn-rules\nVersion: 1.0\n"
        )
        archive.writestr(f"{info}/entry_points.txt", entry("nn_rules"))
        archive.writestr(
            f"{info}/RECORD", "nn_rules/nn-busy-port.yaml,,\nnn_rules/../../outside.yaml,,\n"
        )
    monkeypatch.setattr(sys, "path", [str(path), *sys.path])

    assert [file.name for file in only("nn-rules").files] == ["nn-busy-port.yaml"]
    assert sorted(item.name for item in tmp_path.iterdir()) == [path.name]

"""Facts about the tool that makes many small synthetic cases."""

from __future__ import annotations

import io
import random
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from analyzer import rules
from analyzer.judge import judge_cases
from analyzer.pipeline.triage import Options, gather_case, triage
from analyzer.rules import default_paths
from analyzer.runtime.errors import BacklineError
from tests.kit import hostile
from tests.kit.together import together
from tools.case_hosts import SYNTHETIC
from tools.make_cases import BREAKAGES, LACKING, SCENARIOS, break_case, make_case, write_cases

TOOL = Path(__file__).resolve().parents[2] / "tools" / "make_cases.py"
SHIPPED = Path(__file__).resolve().parents[2] / "analyzer" / "kb"


def _tree(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.size
def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    """Two runs with one seed write the same files; another seed writes others."""
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        write_cases(tmp_path / name, 30, seed, broken_share=0.2, form="mixed")
    assert _tree(tmp_path / "a") == _tree(tmp_path / "b")
    assert _tree(tmp_path / "a") != _tree(tmp_path / "c")


def test_a_longer_run_begins_with_the_shorter_one(tmp_path: Path) -> None:
    """Case number n does not depend on how many are made, so a bigger set extends a smaller one."""
    write_cases(tmp_path / "few", 12, broken_share=0.3, form="mixed")
    write_cases(tmp_path / "many", 25, broken_share=0.3, form="mixed")
    many = _tree(tmp_path / "many")
    assert _tree(tmp_path / "few").items() <= many.items()


def test_no_two_cases_are_alike(tmp_path: Path) -> None:
    """Every bundle and every session that the tool makes is different from all others; files of examples are as written."""
    write_cases(tmp_path, 60)
    catalog = rules.load(default_paths(), examples=True).rules
    written = {
        file.get("path") for rule in catalog for example in rule.examples for file in example.files
    }
    files = {
        name.partition("/")[2]: name for name in _tree(tmp_path) if not name.endswith("README.md")
    }
    bodies = [
        body
        for name, body in _tree(tmp_path).items()
        if name.partition("/")[2] in files.keys() - written
    ]
    made = [body for body in bodies if SYNTHETIC.encode() in body or body.startswith(b"\x1f\x8b")]
    assert len(set(made)) >= 0.95 * len(made) > 100


@pytest.mark.release
@pytest.mark.size
@together("number", range(len(SCENARIOS)), parts=12)
def test_each_scenario_fires_its_rule(tmp_path: Path, number: int) -> None:
    """The first cases of a set go through the scenarios in order, and each fires the shipped rule it is named after."""
    kind, files = make_case(number)
    for name, body in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(body.encode() if isinstance(body, str) else body)
    catalog = rules.load()
    read = gather_case([tmp_path], catalog.signatures(), Options())
    found = judge_cases(catalog[kind], {read.name: read.facts}, lean=True)[read.name].findings
    assert kind == list(SCENARIOS)[number]
    assert [finding.rule for finding in found if finding.verdict == "match"]


def test_every_shipped_rule_has_a_scenario() -> None:
    """A rule that joins the catalog must join the synthetic cases, or nothing in the archive tests would fire it."""
    assert set(SCENARIOS) == {path.stem for path in SHIPPED.glob("*/*.yaml")}


@pytest.mark.release
@pytest.mark.size
def test_most_cases_are_healthy_and_some_lack_a_piece() -> None:
    """Of 700 cases most are healthy, every scenario and every missing piece occurs."""
    kinds = [make_case(number)[0] for number in range(len(SCENARIOS) + 700)]
    assert 0.5 < kinds[len(SCENARIOS) :].count("healthy") / 700 < 0.7
    assert set(kinds) == {"healthy", *SCENARIOS, *LACKING}


def test_a_healthy_case_has_no_finding_and_a_lacking_one_cannot_tell(tmp_path: Path) -> None:
    """The healthy cases among forty stay quiet in either form; those that lack their session leave a question open."""
    with hostile.rules_read_once():
        for made in write_cases(tmp_path, 34, form="mixed"):
            if made.kind == "healthy" or made.kind.startswith("lacks-"):
                document = triage([made.path]).document
                # a build that lacks the fixes of an advisory is no healthy one, whatever else it is
                assert {finding.rule for finding in document.findings} <= {"esxi-advisory"}, made
                if made.kind == "lacks-session":
                    assert document.cannot_tell


@pytest.mark.size
def test_a_folder_and_an_archive_of_one_case_say_the_same(tmp_path: Path) -> None:
    """A case written as a folder and as one archive gives the same findings."""
    folders = write_cases(tmp_path / "folders", 10)
    archives = write_cases(tmp_path / "archives", 10, form="tgz")
    for one, other in list(zip(folders, archives, strict=True))[::3]:
        found = [
            [(f.rule, f.say) for f in triage([made.path]).document.findings]
            for made in (one, other)
        ]
        assert found[0] == found[1]


def test_every_case_says_that_it_is_synthetic(tmp_path: Path) -> None:
    """Each case and each vm-support bundle in it carries the sentence that it is made up."""
    for number in range(40):
        _kind, files = make_case(number)
        assert SYNTHETIC in str(files["README.md"])
        for name, body in files.items():
            if name.startswith("esx-") and isinstance(body, bytes):
                with tarfile.open(fileobj=io.BytesIO(body)) as tar:
                    member = tar.extractfile(f"{name.removesuffix('.tgz')}/README")
                    assert member is not None and SYNTHETIC.encode() in member.read()


@pytest.mark.size
def test_cases_are_small(tmp_path: Path) -> None:
    """A case is a few to a hundred kilobytes, 5 to 60 on average, so that ten thousand fit any disk."""
    write_cases(tmp_path, 100, form="tgz")
    sizes = [path.stat().st_size for path in tmp_path.iterdir()]
    assert 5_000 < sum(sizes) / len(sizes) < 60_000
    assert max(sizes) < 300_000


@pytest.mark.size
def test_the_broken_share_is_kept_and_all_kinds_occur(tmp_path: Path) -> None:
    """With a fifth broken, about a fifth is, in every way a broken upload can be."""
    kinds = [made.kind for made in write_cases(tmp_path, 200, broken_share=0.2)]
    spoiled = [kind for kind in kinds if kind.startswith("broken-")]
    assert 20 < len(spoiled) < 60
    assert {kind.removeprefix("broken-") for kind in spoiled} == set(BREAKAGES)


@pytest.mark.parametrize("how", ["cut", "empty", "noise", "text", "damaged"])
def test_a_broken_case_is_refused_or_told_to_be_damaged(tmp_path: Path, how: str) -> None:
    """Every way to break a case is seen: it is refused in words, or the report tells of damage or of missing pieces."""
    files = break_case(make_case(3)[1], how, random.Random(9))
    folder = tmp_path / "upload"
    folder.mkdir()
    for name, body in files.items():
        (folder / name).write_bytes(body.encode() if isinstance(body, str) else body)
    try:
        document = triage([folder]).document
    except BacklineError as error:
        assert str(error)
    else:
        assert document.damage or document.cannot_tell or how == "damaged"


@pytest.mark.process
def test_the_command_line_counts_what_it_made(tmp_path: Path) -> None:
    """The tool prints how many cases of which kind it wrote, and refuses a folder that is not empty."""
    run = [
        sys.executable,
        str(TOOL),
        str(tmp_path / "out"),
        "--count",
        "8",
        "--broken",
        "50%",
        "--form",
        "mixed",
    ]
    first = subprocess.run(run, capture_output=True, text=True, check=True, timeout=120)
    assert first.stdout.startswith("8 synthetic cases in ")
    again = subprocess.run(run, capture_output=True, text=True, check=False, timeout=120)
    assert again.returncode == 2
    assert "is not empty" in again.stderr

"""`backline batch` as its users meet it: output, exit codes, options."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit.batch_kit import ROOT, RULE, backline, packs, said, session, small_cases, write

BATCH_ONLY = """
import sys
from analyzer.cli import main
try:
    main(sys.argv[1:], prog_name="backline")
finally:
    heavy = {"pandas", "textfsm", "hyperscan", "jinja2", "fsspec", "s3fs", "distributed", "dask"}
    print("heavy:", sorted(heavy & set(sys.modules)), file=sys.stderr)
"""


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `cases` (two sound ones, one refused) and their `archive`."""
    top = tmp_path_factory.mktemp("stored")
    small_cases(top / "cases", 2)
    write(top / "cases" / "page.tgz", "<!DOCTYPE html><html><body>session expired</body></html>")
    code, out, err = said(backline("batch", top / "cases", "--archive", top / "archive"))
    assert code == 5, err
    assert out.splitlines()[0] == "3 cases: 3 read"
    assert "1 refused:" in out
    assert (
        f"refused: {top / 'cases' / 'page.tgz'}: nothing that Backline can read: looks like HTML"
        in out
    )
    assert "kB a case" in out
    return top


def test_the_second_run_says_that_nothing_is_to_do(stored: Path) -> None:
    """A second run stores nothing; a case refused before still makes it exit with 5."""
    before = packs(stored / "archive")
    code, out, err = said(backline("batch", stored / "cases", "--archive", stored / "archive"))
    assert (code, err) == (5, "")
    assert (
        out == "3 cases: 2 done before\n  1 refused or failed before, not tried again (--retry)\n"
    )
    assert packs(stored / "archive") == before


def test_the_second_run_loads_nothing_heavy(stored: Path, tmp_path: Path) -> None:
    """When there is nothing to do nothing is imported that only reading, judging or reporting a case needs."""
    script = write(tmp_path / "script.py", BATCH_ONLY)
    code, _, err = said(
        backline("batch", stored / "cases", "--archive", stored / "archive", script=script)
    )
    assert (code, err) == (5, "heavy: []\n")


@pytest.mark.process
def test_json_tells_all(stored: Path, tmp_path: Path) -> None:
    """`--json -` writes the summary and nothing else to stdout; `--json FILE` writes it to the file."""
    code, out, err = said(
        backline(
            "batch", stored / "cases", "--archive", stored / "archive", "--retry", "--json", "-"
        )
    )
    record = json.loads(out)
    assert (code, err) == (5, "")
    assert (record["found"], record["done"], record["read"], record["refused"]) == (3, 2, 1, 1)
    assert record["troubles"][0]["source"] == str(stored / "cases" / "page.tgz")
    file = tmp_path / "summary.json"
    said(
        backline(
            "batch", stored / "cases", "--archive", stored / "archive", "--json", file, "--quiet"
        )
    )
    assert json.loads(file.read_text())["no_result"] == 1


def test_list_shows_cases_and_does_nothing(stored: Path, tmp_path: Path) -> None:
    """`--list` prints what would be taken as cases, and what not; no archive is made."""
    write(tmp_path / "cases" / "picture.png", "x")
    (tmp_path / "cases" / "empty").mkdir()
    write(tmp_path / "cases" / "a" / "session.txt", session(0))
    code, out, err = said(
        backline("batch", tmp_path / "cases", "--list", "--archive", tmp_path / "archive")
    )
    assert code == 0
    assert out == f"{tmp_path}/cases/a  (1 file, {len(session(0))} bytes)\n"
    assert "1 empty folder, no case (empty)" in err
    assert "left out (picture.png)" in err
    assert not (tmp_path / "archive").exists()
    code, out, _ = said(backline("batch", tmp_path / "cases", "--list", "--layout", "files"))
    assert out.startswith(f"{tmp_path}/cases/a/session.txt  ")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["CASES"], "--archive DIR is missing"),
        (["--list"], "--list needs a PATH"),
        (["--archive", "ARCHIVE", "--rescan"], "need PATHs"),
        (["CASES", "--archive", "CASES/case-000/archive"], "the archive is inside a case"),
        (["CASES", "--archive", "ARCHIVE", "--limit", "nonsense=1"], "is not valid"),
        (["CASES", "--archive", "ARCHIVE", "--kb", "nowhere"], "no such file or folder"),
        (["CASES", "--archive", "ARCHIVE", "--jobs", "0"], "--jobs"),
        (["CASES", "--archive", "ARCHIVE", "--tls", "a", "b", "c"], "--tls goes with --scheduler"),
    ],
)
def test_a_wrong_command_line_is_told(
    stored: Path, tmp_path: Path, words: list[str], why: str
) -> None:
    """Options that do not fit end with exit code 2 and what is wrong; nothing is made."""
    names = {"CASES": stored / "cases", "ARCHIVE": tmp_path / "archive"}
    given = [
        str(names[word]) if word in names else word.replace("CASES", str(stored / "cases"))
        for word in words
    ]
    code, out, err = said(backline("batch", *given))
    assert (code, out) == (2, "")
    assert why in err
    assert not (tmp_path / "archive").exists()
    assert not (stored / "cases" / "case-000" / "archive").exists()


@pytest.mark.process
def test_what_is_not_there_is_told(stored: Path, tmp_path: Path) -> None:
    """A PATH that is not there, and an archive that is none, are plain errors: 3, and 6 where it cannot be written."""
    code, _, err = said(backline("batch", tmp_path / "nowhere", "--archive", tmp_path / "archive"))
    assert code == 3
    assert "no such file or folder" in err
    assert not (tmp_path / "archive").exists(), "made only when there is something to put in"
    code, _, err = said(backline("batch", stored / "cases", "--archive", stored / "cases"))
    assert code == 3
    assert "this is not a case archive" in err
    code, _, err = said(
        backline("batch", stored / "cases", "--archive", write(tmp_path / "file", "x"))
    )
    assert code == 6, err


@pytest.mark.process
def test_a_broken_rule_is_told_and_the_rest_is_used(stored: Path, tmp_path: Path) -> None:
    """With an invalid rule file the cases are judged by the others, and the run exits with 4."""
    write(tmp_path / "kb" / "bad.yaml", "rule: bad\n")
    shutil.copytree(stored / "archive", tmp_path / "archive")
    code, out, err = said(
        backline(
            "batch",
            stored / "cases",
            "--archive",
            tmp_path / "archive",
            "--kb",
            tmp_path / "kb",
            "--no-settings",
        )
    )
    assert code == 4
    assert "2 judged again" in out
    assert "bad.yaml:" in err


@pytest.mark.process
def test_new_rules_for_the_whole_archive(stored: Path, tmp_path: Path) -> None:
    """Without PATHs, all stored cases are judged by further rules, and it is said what was not searched for."""
    write(tmp_path / "kb" / "made-up.yaml", RULE.format(name="made-up", words="(?P<nic>x)"))
    shutil.copytree(stored / "archive", tmp_path / "archive")
    code, out, _ = said(
        backline("batch", "--archive", tmp_path / "archive", "--kb", tmp_path / "kb")
    )
    assert code == 0
    assert out.splitlines()[0] == "2 cases: 2 judged again"


@pytest.mark.process
def test_settings_of_the_current_folder_are_used(stored: Path, tmp_path: Path) -> None:
    """A backline.toml beside the command mutes findings of the batch too, in every process."""
    write(
        tmp_path / "backline.toml",
        '[[mute]]\nrule = "kb-2039495"\nreason = "made up"\nuntil = 2099-01-01\n',
    )
    shutil.copytree(stored / "archive", tmp_path / "archive")
    code, out, err = said(
        backline("batch", stored / "cases", "--archive", tmp_path / "archive", cwd=tmp_path)
    )
    assert code == 5
    assert out.splitlines()[0] == "3 cases: 2 judged again"
    assert "backline.toml" in err


@pytest.mark.process
def test_hostile_names_do_not_steer_the_terminal(tmp_path: Path) -> None:
    """Names of cases with control characters are shown harmlessly, in the list and in the summary."""
    write(tmp_path / "cases" / "\x1b[31mred\u202e.tgz", "<html><head></head></html>")
    for words in (["--list"], []):
        _, out, err = said(
            backline("batch", tmp_path / "cases", "--archive", tmp_path / "archive", *words)
        )
        assert "\x1b" not in out + err
        assert "\u202e" not in out + err
        assert "\\x1b[31mred" in out


def test_debug_is_not_needed_for_help() -> None:
    """`backline batch --help` starts without the heavy modules and shows an example."""
    program = "import sys; from analyzer.cli import main; main(['batch', '--help'], standalone_mode=False); " \
              "sys.exit(bool({'duckdb', 'pandas', 'numpy', 'yaml'} & set(sys.modules)))"  # fmt: skip
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert run.returncode == 0, run.stderr
    assert "backline batch /cases/2024 --archive /cases/archive" in run.stdout


@pytest.mark.process
def test_many_loose_objects_are_put_together_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From some hundred loose objects on they become a segment; the next run knows them."""
    cases = small_cases(tmp_path / "cases", 60)
    script = write(
        tmp_path / "script.py",
        "from analyzer.archive.batches import batch\nbatch.LOOSE = 50\nfrom analyzer.__main__ import run\n"
        "if __name__ == '__main__':\n    run()\n",
    )
    for expected in ("60 cases: 60 read", "60 cases: 60 done before"):
        code, out, err = said(
            backline("batch", cases, "--archive", tmp_path / "archive", script=script)
        )
        assert (code, out.splitlines()[0]) == (0, expected), err
        assert packs(tmp_path / "archive") == []

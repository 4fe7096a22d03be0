"""A private rule against its own earlier version: of a folder, and of a commit of its repository, which may be hostile."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from analyzer.archive.backtests import against
from analyzer.archive.store import Archive
from analyzer.cli import main
from tests.kit import archive_kit as kit

if shutil.which("git") is None:
    pytest.skip("git is not installed", allow_module_level=True)

RULE = """\
rule: my-port
title: A made-up rule of a team

each: port in esxi.net_stats
when: port.port_id > {least}
outcomes:
  - when: true
    severity: {severity}
    confidence: likely
    say: "{{port.port_id}} is high"
"""


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive of three sample cases."""
    place = tmp_path_factory.mktemp("against") / "archive"
    made = Archive.open(place, create=True)
    for number, name in enumerate(("healthy-host", "lab-ring-after", "lab-ring-before")):
        kit.stored(made, name, kit.packed(name)[0], stamp=number)
    return place


def git(folder: Path, *words: str) -> str:
    """Run git as the team would, without the settings of this machine."""
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    who = ["-c", "user.name=A", "-c", "user.email=a@example.com"]
    done = subprocess.run(
        ["git", *who, *words], cwd=folder, env=env, capture_output=True, text=True, check=True
    )
    return done.stdout


def write(path: Path, least: int, severity: str = "warning") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(RULE.format(least=least, severity=severity), encoding="utf-8")
    return path


@pytest.fixture
def rule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of rules with three commits; the last one moved the rule, and the file of today is not committed."""
    monkeypatch.chdir(tmp_path)
    top = tmp_path / "rules"
    write(top / "my-port.yaml", 99_999_999_999)  # finds nothing
    git(tmp_path, "init", "-q", "rules")
    git(top, "add", ".")
    git(top, "commit", "-qm", "first")
    git(top, "tag", "v1")
    write(top / "my-port.yaml", 1, "major")
    git(top, "commit", "-qam", "second")
    (top / "net").mkdir()
    git(top, "mv", "my-port.yaml", "net/my-port.yaml")
    git(top, "commit", "-qm", "third")
    return write(top / "net" / "my-port.yaml", 1)


def backtest(*words: object) -> Result:
    return CliRunner().invoke(
        main, ["rules", "backtest", *map(str, words), "--jobs", "1", "--no-settings"]
    )


def report(rule: Path, archive: Path, place: str) -> dict[str, Any]:
    done = backtest(rule, "--archive", archive, "--against", place, "--json")
    assert done.exit_code == 0, done.output
    (found,) = json.loads(done.stdout)
    return dict(found)


@pytest.mark.parametrize("ref", ["v1", "HEAD~2", "HEAD^^"])
def test_a_commit_is_compared(rule: Path, archive: Path, ref: str) -> None:
    """Against the first commit all findings of today are gained, wherever the file lay then."""
    found = report(rule, archive, ref)
    assert found["compared"]
    assert found["released"] == f"{ref}:my-port.yaml"
    assert len(found["gained"]) == len(found["hits"]) > 0
    assert found["lost"] == found["changed"] == []


@pytest.mark.process
def test_severities_that_changed_since_a_commit(rule: Path, archive: Path) -> None:
    """Against the last commit the same findings are there, each with another severity."""
    found = report(rule, archive, "HEAD")
    assert found["released"] == "HEAD:net/my-port.yaml"
    assert found["gained"] == found["lost"] == []
    assert {hit["was"].partition(",")[0] for hit in found["changed"]} == {"major"}
    git(rule.parent, "commit", "-qam", "today")
    text = backtest(rule, "--archive", archive, "--against", "HEAD").stdout
    assert "Compared with nothing: HEAD holds exactly the same rule." in text


@pytest.mark.size
def test_a_folder_is_compared(rule: Path, archive: Path, tmp_path: Path) -> None:
    """A folder of rules, read with all below it, is the other version; the report names it."""
    write(tmp_path / "old" / "deep" / "my-port.yaml", 99_999_999_999)
    found = report(rule, archive, "old")
    assert len(found["gained"]) == len(found["hits"]) > 0
    text = backtest(rule, "--archive", archive, "--against", "old").stdout
    assert f"Compared with {Path('old/deep/my-port.yaml')}: " in text
    assert "released" not in text


@pytest.mark.size
def test_without_against_there_is_nothing_to_compare_a_private_rule_with(
    rule: Path, archive: Path
) -> None:
    """The control: the installed catalog holds no rule of this id."""
    assert "no rule my-port is installed" in backtest(rule, "--archive", archive).stdout


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("no-such", "the repository around"),
        ("-c", "cannot be the name of a commit"),
        ("--output=x", "cannot be the name of a commit"),
        ("HEAD\n", "cannot be the name of a commit"),
        ("HEAD:net", "no such commit"),
        ("empty", "holds no rule"),
        ("other", "it holds none of my-port"),
        ("file.txt", "this is not a folder of rules"),
    ],
)
def test_what_cannot_be_compared_is_said(
    rule: Path, archive: Path, tmp_path: Path, place: str, words: str
) -> None:
    """Neither a folder nor a commit, or one without this rule: one sentence, no report."""
    (tmp_path / "empty").mkdir()
    other = write(tmp_path / "other" / "x.yaml", 1).with_name("other-rule.yaml")
    (tmp_path / "other" / "x.yaml").rename(other)
    other.write_text(other.read_text().replace("my-port", "other-rule"), encoding="utf-8")
    (tmp_path / "file.txt").write_text("x", encoding="utf-8")
    done = backtest(rule, "--archive", archive, "--against", place)
    assert done.exit_code in (2, 4)
    assert words in done.output
    assert "judged" not in done.stdout


def test_a_file_beside_any_repository(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rule file that lies in no repository has no commits."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    done = backtest(write(tmp_path / "my-port.yaml", 1), "--archive", archive, "--against", "HEAD")
    assert done.exit_code == 2
    assert "no git repository could be read" in done.output


def test_a_broken_version_is_told(rule: Path, archive: Path) -> None:
    """A commit whose file is no sound rule ends the command with 4 and says where."""
    rule.write_text("rule: my-port\ntitle: x\n", encoding="utf-8")
    git(rule.parent, "commit", "-qam", "broken")
    done = backtest(write(rule, 1), "--archive", archive, "--against", "HEAD")
    assert done.exit_code == 4
    assert "my-port.yaml" in done.output


def test_the_configuration_of_a_repository_runs_nothing(
    rule: Path, archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Text conversion, filters, pager, monitor, aliases and hooks of a stranger's repository are not run."""
    top, mark = rule.parent.parent, tmp_path / "ran"
    evil = tmp_path / "evil.sh"
    evil.write_text(
        f'#!/bin/sh\necho "$0 $@" >> {mark}\ncat "$1" 2>/dev/null\nexit 0\n', encoding="utf-8"
    )
    evil.chmod(0o755)
    for name, value in {
        "core.fsmonitor": evil, "core.pager": evil, "core.sshCommand": evil, "core.hooksPath": tmp_path / "hooks",
        "diff.evil.textconv": evil, "filter.evil.smudge": evil, "filter.evil.process": evil, "alias.cat-file": f"!{evil}",
        "alias.ls-tree": f"!{evil}", "alias.rev-parse": f"!{evil}", "core.editor": evil, "pager.ls-tree": evil,
    }.items():  # fmt: skip
        git(top, "config", name, str(value))
    (top / ".gitattributes").write_text("*.yaml diff=evil filter=evil\n", encoding="utf-8")
    (tmp_path / "hooks").mkdir()
    for hook in ("post-checkout", "reference-transaction", "post-index-change"):
        shutil.copy(evil, tmp_path / "hooks" / hook)
    subprocess.run(["git", "show", "v1"], cwd=top, capture_output=True, check=False)
    assert mark.exists(), "the control: `git show` of a commit runs the text conversion"
    mark.unlink()
    assert report(rule, archive, "v1")["compared"]
    assert not mark.exists()


def test_a_missing_object_is_not_fetched(rule: Path, archive: Path, tmp_path: Path) -> None:
    """A partial clone whose remote is a program: what it lacks is an error, and the program is not run."""
    top, mark = rule.parent.parent, tmp_path / "ran"
    evil = tmp_path / "evil.sh"
    evil.write_text(f"#!/bin/sh\ntouch {mark}\nexit 1\n", encoding="utf-8")
    evil.chmod(0o755)
    for name, value in {
        "remote.origin.url": f"ext::{evil} %S", "remote.origin.promisor": "true", "protocol.ext.allow": "always",
        "remote.origin.partialclonefilter": "blob:none", "protocol.allow": "always",
        "core.repositoryformatversion": "1", "extensions.partialClone": "origin",
    }.items():  # fmt: skip
        git(top, "config", name, value)
    blob = git(top, "rev-parse", "v1:my-port.yaml").strip()
    (top / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    subprocess.run(["git", "cat-file", "blob", blob], cwd=top, capture_output=True, check=False)
    assert mark.exists(), "the control: git itself runs the program"
    mark.unlink()
    done = backtest(rule, "--archive", archive, "--against", "v1")
    assert done.exit_code == 2
    assert not mark.exists()


def test_links_and_large_files_of_a_commit_are_no_rules(
    rule: Path, archive: Path, tmp_path: Path
) -> None:
    """A link under the name of the rule is not followed, and a huge file is not read."""
    secret = write(tmp_path / "secret.yaml", 1)
    rule.unlink()
    rule.symlink_to(secret)
    git(rule.parent, "add", ".")
    git(rule.parent, "commit", "-qm", "link")
    rule.unlink()
    write(rule, 1)
    assert (
        "it holds none of my-port"
        in backtest(rule, "--archive", archive, "--against", "HEAD").output
    )
    rule.write_text("# " + "x" * (2 << 20), encoding="utf-8")
    git(rule.parent, "add", ".")
    git(rule.parent, "commit", "-qm", "large")
    assert "too large" in backtest(write(rule, 1), "--archive", archive, "--against", "HEAD").output


def test_git_is_not_taken_from_the_current_folder(
    rule: Path, archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A `git` that lies in the current folder is not run, even when PATH names that folder."""
    fake = tmp_path / ("git.exe" if sys.platform == "win32" else "git")
    fake.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n", encoding="utf-8")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join(["", ".", os.environ["PATH"]]))
    assert Path(against._find_git()).parent != tmp_path
    assert report(rule, archive, "v1")["compared"]
    assert not (tmp_path / "ran").exists()

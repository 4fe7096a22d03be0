"""Rules kept for the next run: one out of the cache is the rule of its file, and who may write the cache."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analyzer import rules
from analyzer.cli import main
from analyzer.rules import fact_tables
from analyzer.rules.catalog import COPIED, LATER, OF_THE_RUN, RuleStore
from analyzer.rules.language.expression import ExprNode
from analyzer.rules.language.rulefile import RuleText
from analyzer.rules.model import Rule
from analyzer.rules.sources import RuleSource
from analyzer.runtime import cache_folder, snapshot
from analyzer.runtime.limits import Limits
from tests.judge.test_evaluator import NUMBERS, RULE, conditions
from tests.kit import hostile
from tests.kit.rule_kit import TABLES
from tests.kit.together import together

ROOT = Path(__file__).parents[2]
CASES = ROOT / "samples" / "cases"
SHIPPED = next((ROOT / "analyzer" / "kb").rglob("kb-2039495.yaml"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty cache folder that is used from now on."""
    monkeypatch.setenv("BACKLINE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the rule files whose YAML was read from now on."""
    found: list[str] = []
    read_tree = RuleText.read_tree

    def counted(text: RuleText) -> Any:
        found.append(text.name)
        return read_tree(text)

    monkeypatch.setattr(RuleText, "read_tree", counted)
    return found


def differences(one: Any, two: Any, met: dict[int, int], path: str = "rule") -> Iterator[str]:
    """Yield where two values differ, in kind, value or in what is one object and what are two."""
    if type(one) is not type(two) and not (isinstance(one, RuleText) and isinstance(two, RuleText)):
        yield f"{path}: {type(one).__name__} and {type(two).__name__}"
        return
    if isinstance(one, ExprNode) and met.setdefault(id(one), id(two)) != id(two):
        yield f"{path}: one node became two, or two one"
    parts = [list(parts_of(value)) for value in (one, two)]
    if [name for name, _ in parts[0]] != [name for name, _ in parts[1]]:
        yield f"{path}: its parts"
    elif parts[0]:
        for (name, first), (_, second) in zip(*parts, strict=True):
            yield from differences(first, second, met, f"{path}.{name}")
    elif one != two:
        yield f"{path}: {one!r} and {two!r}"


def parts_of(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the parts that a value is made of, by name; none for a plain one."""
    if isinstance(value, RuleText):
        yield from (
            ("name", value.name),
            ("text", value.text),
            ("lines", value.lines),
            ("is_rule", value.is_rule),
        )
    elif is_dataclass(value):
        aside = (
            ("read_examples", "_examples", "at_once", "later", "origin")
            if isinstance(value, Rule)
            else ()
        )
        yield from (
            (one.name, getattr(value, one.name)) for one in fields(value) if one.name not in aside
        )
    elif isinstance(value, dict):
        yield from ((repr(key), part) for key, part in value.items())
    elif isinstance(value, list | tuple):
        yield from ((str(number), part) for number, part in enumerate(value))


def through_the_cache(text: str, tables: Any, folder: Path) -> tuple[Rule, Rule | None]:
    """Return a rule read from its text, and the same rule out of a cache written to disk."""
    kept = RuleText("made-up.yaml", text)
    source = RuleSource("folder", "made-up", files=[folder])
    fresh = rules.build(kept, tables, Limits())
    writing = RuleStore(source, tables, Limits())
    key = writing.make_key(kept, hashlib.sha256(text.encode()).digest())
    writing.add_rule(key, fresh)
    writing.save()
    again = RuleText("made-up.yaml", text)

    def build_again() -> Rule:
        assert again.stored_tree
        return rules.build(again, tables, Limits())

    return fresh, RuleStore(source, tables, Limits()).find_rule(key, again, build_again)


@together(
    "path",
    sorted((ROOT / "analyzer" / "kb").glob("*/*.yaml"))[::8],
    ids=lambda path: path.stem,
    parts=3,
)
def test_a_rule_of_the_catalog_comes_out_as_it_went_in(path: Path, folder: Path) -> None:
    """Every field of every shipped rule, and which parts of it are one object, are the same out of the store."""
    fresh, stored = through_the_cache(
        path.read_text(encoding="utf-8"), fact_tables.list_declared(), folder
    )
    assert stored is not None
    assert stored.later is not None
    assert list(differences(fresh, stored, {})) == []
    assert stored.later is None
    assert rules.catalog.needs_of(fresh) == stored.at_once


@pytest.mark.size
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    only=st.sampled_from(["true", "one.t", "known(first) and any(part.ok)"]),
    when=conditions(),
    outcome=conditions(),
    number=NUMBERS,
    many=st.booleans(),
)
def test_any_rule_comes_out_as_it_went_in(
    folder: Path, only: str, when: str, outcome: str, number: str, many: bool
) -> None:
    """The same holds for generated rules, with bounds and named values of every kind."""
    quoted = {
        name: json.dumps(text)
        for name, text in (("only", only), ("when", when), ("outcome", outcome))
    }
    text = RULE.format(nodes=", nodes: any" if many else "", filter="", single="", **quoted)
    text = text.replace("  named:", f"  more: {json.dumps(number)}\n  named:")
    fresh, stored = through_the_cache(text, TABLES, folder)
    assert stored is not None
    assert list(differences(fresh, stored, {})) == []


def test_the_comparison_sees_a_field_that_was_not_stored(folder: Path) -> None:
    """The check can fail: one field left at another value is told by its name."""
    fresh, stored = through_the_cache(
        SHIPPED.read_text(encoding="utf-8"), fact_tables.list_declared(), folder
    )
    assert stored is not None
    stored.evidence = stored.evidence[:-1]
    assert any(line.startswith("rule.evidence") for line in differences(fresh, stored, {}))


def test_every_field_of_a_rule_is_stored_or_belongs_to_the_run() -> None:
    """A field added to the model comes with the rest of a rule: the list is made of the model."""
    named = {one.name for one in fields(Rule) if one.init}
    assert named == {*COPIED, *LATER, *OF_THE_RUN}


def rules_in(folder: Path) -> Path:
    """Return the one file of the cache."""
    [path] = folder.iterdir()
    return path


def triage(case: str, output: Path, *words: str) -> tuple[int, bytes, bytes]:
    """Return exit code, case.json and page of a triage through the command."""
    done = CliRunner().invoke(
        main, ["triage", str(CASES / case), "-o", str(output), "--quiet", *words]
    )
    return (
        done.exit_code,
        (output / "case.json").read_bytes(),
        (output / "report.html").read_bytes(),
    )


@pytest.mark.size
def test_a_case_is_the_same_out_of_the_cache(
    folder: Path, tmp_path: Path, reads: list[str]
) -> None:
    """With rules read from their files and with rules out of the cache a triage writes the same bytes."""
    cases = ("lab-ring-before", "nsx-633-site", "healthy-host", "cut-bundle")
    with hostile.rules_read_once():
        first = {case: triage(case, tmp_path / f"{case}-first") for case in cases}
    shipped = len(list((ROOT / "analyzer" / "kb").glob("*/*.yaml")))
    assert len(reads) == shipped + 1  # and what they share, once
    reads.clear()
    assert {case: triage(case, tmp_path / f"{case}-second") for case in cases} == first
    assert reads == []


def test_only_the_rules_that_changed_are_read_again(
    folder: Path, tmp_path: Path, reads: list[str]
) -> None:
    """Of a private folder the changed file is read anew and all others come out of the cache."""
    kb = tmp_path / "kb"
    kb.mkdir()
    for number in range(5):
        text = SHIPPED.read_text(encoding="utf-8")
        (kb / f"own-{number}.yaml").write_text(
            text.replace("rule: kb-2039495", f"rule: own-{number}"), encoding="utf-8"
        )
    rules.load([kb])
    reads.clear()
    changed = (
        (kb / "own-3.yaml").read_text(encoding="utf-8").replace("\ntitle: ", "\ntitle: Changed, ")
    )
    (kb / "own-3.yaml").write_text(changed, encoding="utf-8")
    assert [rule.title.startswith("Changed") for rule in rules.load([kb]).rules] == [False] * 3 + [
        True,
        False,
    ]
    assert reads == ["own-3.yaml"]


def private(kb: Path) -> None:
    """Write three rules of somebody's own."""
    kb.mkdir()
    for number in range(3):
        text = SHIPPED.read_text(encoding="utf-8").replace(
            "rule: kb-2039495", f"rule: own-{number}"
        )
        (kb / f"own-{number}.yaml").write_text(text, encoding="utf-8")


def test_a_broken_rule_is_told_the_same_each_time(folder: Path, tmp_path: Path) -> None:
    """A mistake is never stored: its message with the caret is the same in every run."""
    kb = tmp_path / "kb"
    kb.mkdir()
    text = SHIPPED.read_text(encoding="utf-8")
    (kb / "own.yaml").write_text(
        text.replace("rule: kb-2039495", "rule: own").replace("when:", "whenn:", 1),
        encoding="utf-8",
    )
    told = [[str(error) for error in rules.load([kb]).broken] for _ in range(2)]
    assert told[0] == told[1]
    assert "whenn" in told[0][0]


def test_thresholds_of_the_settings_are_never_stored(folder: Path, tmp_path: Path) -> None:
    """A changed threshold holds for its run alone."""
    kb = [tmp_path / "kb"]
    private(kb[0])
    rules.load(kb)
    rule = next(rule for rule in rules.load(kb).rules if rule.thresholds)
    name, (value, _) = next(iter(rule.thresholds.items()))
    changed = rules.load(kb, thresholds={rule.id: {name: value + 1}})
    assert changed[rule.id].thresholds[name] == (value + 1, value)
    assert rules.load(kb)[rule.id].thresholds[name] == (value, value)


@pytest.mark.parametrize("at", [0, 20, 90, 400, -1])
def test_a_damaged_file_counts_as_absent(
    at: int, folder: Path, tmp_path: Path, reads: list[str]
) -> None:
    """One changed byte anywhere: every rule is read from its file again, and the cache is written anew."""
    kb = tmp_path / "kb"
    private(kb)
    rules.load([kb])
    path = rules_in(folder)
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)
    reads.clear()
    rules.load([kb])
    assert reads == ["own-0.yaml", "own-1.yaml", "own-2.yaml"]
    reads.clear()
    rules.load([kb])
    assert reads == []


def test_a_tree_that_cannot_be_read_comes_from_the_rule_file(
    folder: Path, tmp_path: Path, reads: list[str]
) -> None:
    """Bytes that are sealed but no tree (a fault of ours): the rest of the rule is read from its own text."""
    private(tmp_path / "kb")
    fresh = rules.load([tmp_path / "kb"])
    stored = rules.load([tmp_path / "kb"])
    reads.clear()
    for one, two in zip(fresh.rules, stored.rules, strict=True):
        two.text.stored_tree = b"no tree"
        assert list(differences(one, two, {})) == []
    assert reads == ["own-0.yaml", "own-1.yaml", "own-2.yaml"]


def test_rules_of_other_code_or_limits_are_not_taken(
    folder: Path, tmp_path: Path, reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a change of the code, or with other limits on rule files, every rule is read from its file."""
    kb = tmp_path / "kb"
    private(kb)
    rules.load([kb])
    reads.clear()
    rules.load([kb], limits=Limits(pattern_bytes=4000))
    assert len(reads) == 3
    reads.clear()
    monkeypatch.setattr(snapshot, "hash_code", lambda *, times: "other code")
    rules.load([kb])
    assert len(reads) == 3


def test_the_code_is_the_same_by_whatever_path_it_is_reached(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """`bin/backline` and `python -m analyzer` may spell the folder of the code differently, and share one cache."""
    (tmp_path / "link").symlink_to(ROOT / "analyzer")
    here = snapshot.hash_code.__wrapped__(times=True)
    monkeypatch.setattr(snapshot.analyzer, "__file__", str(tmp_path / "link" / "__init__.py"))

    assert snapshot.hash_code.__wrapped__(times=True) == here


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
def test_a_file_that_others_may_write_is_not_read(
    folder: Path, tmp_path: Path, reads: list[str]
) -> None:
    """A folder or a file that group or others may write to counts as absent, and so does a link."""
    kb = tmp_path / "kb"
    private(kb)
    rules.load([kb])
    path = rules_in(folder)
    assert (path.stat().st_mode & 0o777, folder.stat().st_mode & 0o777) == (0o600, 0o700)
    for where, mode in ((path, 0o620), (path, 0o602), (folder, 0o720), (folder, 0o702)):
        before = where.stat().st_mode & 0o777
        where.chmod(mode)
        with pytest.raises(PermissionError):
            cache_folder.read_file(path, 1 << 30)
        where.chmod(before)
    assert cache_folder.read_file(path, 1 << 30)
    elsewhere = folder.parent / "elsewhere"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    reads.clear()
    rules.load([kb])
    assert reads


@pytest.mark.skipif(sys.platform == "win32", reason="owners of POSIX")
def test_a_file_of_another_user_is_not_read(
    folder: Path, tmp_path: Path, reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of another owner is taken, and nothing is written below a folder of another owner."""
    kb = tmp_path / "kb"
    private(kb)
    rules.load([kb])
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    reads.clear()
    rules.load([kb])
    assert reads
    below = folder / "deeper" / "cache"
    cache_folder.write_file(below / "rules-x.cache", b"x")
    assert not below.exists()


def test_a_folder_that_cannot_be_made_is_no_cache(
    tmp_path: Path, reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file where the folder should be, or `off`: no word of it, and all rules are read."""
    (tmp_path / "file").write_text("")
    private(tmp_path / "kb")
    for wanted in (str(tmp_path / "file" / "cache"), "off", "a/relative/one"):
        monkeypatch.setenv("BACKLINE_CACHE", wanted)
        reads.clear()
        whole = rules.load([tmp_path / "kb"])
        assert [name for name in reads if name.startswith("own")] == [
            "own-0.yaml",
            "own-1.yaml",
            "own-2.yaml",
        ]
        assert not whole.broken
    assert sorted(one.name for one in tmp_path.iterdir()) == ["file", "kb"]


@pytest.mark.size
def test_old_files_are_swept_out(folder: Path) -> None:
    """Writing removes what was not used for a month, all but the newest, and halves of files; nothing else."""
    folder.mkdir(mode=0o700)
    day = 86_400
    now = folder.stat().st_mtime
    ages = {
        "rules-old.cache": 31 * day,
        "rules-x.unfinished": 2 * day,
        "notes.txt": 400 * day,
        "rules-new.unfinished": 60,
    }
    ages |= {f"rules-{number:02}.cache": 3600 + number for number in range(cache_folder.MOST_FILES)}
    for name, age in ages.items():
        (folder / name).write_bytes(b"")
        os.utime(folder / name, (now - age, now - age))
    rules.load()
    left = {one.name for one in folder.iterdir()}
    kept = {
        f"rules-{number:02}.cache"
        for number in range(cache_folder.MOST_FILES - len(left - ages.keys()))
    }
    written = left - ages.keys()
    assert written
    assert left - written == kept | {"notes.txt", "rules-new.unfinished"}


def test_the_folder_is_where_the_system_has_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without a word of ours it is the folder that the standard of the system names, and only an absolute one."""
    monkeypatch.delenv("BACKLINE_CACHE", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_folder.find_folder() == tmp_path / ".cache" / "backline"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    assert cache_folder.find_folder() == tmp_path / "own" / "backline"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert cache_folder.find_folder() == tmp_path / "Library" / "Caches" / "backline"


@pytest.mark.process
def test_two_processes_may_write_at_once(folder: Path, tmp_path: Path) -> None:
    """Runs side by side leave one whole file, and say the same."""
    words = [
        sys.executable,
        "-m",
        "analyzer",
        "triage",
        str(CASES / "lab-ring-after"),
        "--json",
        "-",
    ]
    runs = [subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE) for _ in range(2)]
    said = {run.communicate()[0] for run in runs}
    assert len(said) == 1
    assert {one.name[-6:] for one in folder.iterdir()} == {".cache"}


def test_a_fault_in_facts_is_told_each_time(folder: Path, tmp_path: Path) -> None:
    """A CSV file with a mistake is never stored: the same message in every run."""
    facts = tmp_path / "kb" / "facts"
    facts.mkdir(parents=True)
    (facts / "esxi_build.csv").write_text("no,such,columns\n1,2,3\n")
    told = [
        [
            str(fault)
            for fault in fact_tables.read_facts(
                [RuleSource("folder", "kb", files=[tmp_path / "kb"])]
            ).broken
        ]
        for _ in range(2)
    ]
    assert told[0] == told[1] != []

"""Texts, patterns and thresholds that several rules share by name, from the file to the finding of a case.

All cases here are synthetic; lines of vmkernel.log follow the format of the log as hosts of 7.x print it.
"""

from __future__ import annotations

import json
import pickle
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer import rules
from analyzer.archive.backtests.against import load_whole_catalog
from analyzer.archive.backtests.jobs import Version
from analyzer.archive.clusters.worker_protocol import _send_source
from analyzer.authoring.lint import run as lint
from analyzer.cli import main
from analyzer.rules import Rule
from analyzer.rules.language.rulefile import BadRuleError, RuleText
from analyzer.rules.run_catalog import Local
from analyzer.rules.sources import RuleSource
from analyzer.runtime.limits import Limits

HOST = "esx-esx0.lab.example-2017-10-14--16.53-71234"
SHARED = """\
texts:
  collect: Collect {it.nic} and the log.
patterns:
  nic: vmnic\\d+|vusb\\d+
thresholds:
  often: {is: 2, unit: lines, reason: made up for a test}
"""
RULE = """\
rule: link-flaps
title: A link flaps
kb: [7]
source: made up
each: it in flap per nic
join:
  hit: {table: flap, by: nic, rows: many}
subject: "{it.nic}"
object: "{it.nic}"
logs:
  flap:
    in: esxi.vmkernel
    match: '(?P<nic>(?&nic)): Link is down'
let:
  often: $often
when: count(hit) >= often
outcomes:
  - {when: true, severity: warning, say: It flaps.}
fix:
  - where: host
    do: $collect
evidence: [hit.nic]
"""
LINE = "2017-10-14T09:12:4{}.002Z cpu3:2097635)igbn: indrv_UplinkReset:1520: {}: Link is down"


def catalog(folder: Path, shared: str | None = SHARED, rule: str = RULE) -> Path:
    """Write a private catalog: the rule in a folder of its subject, and the shared parts at the top."""
    (folder / "net").mkdir(parents=True, exist_ok=True)
    (folder / "net" / "link-flaps.yaml").write_text(rule, encoding="utf-8")
    if shared is not None:
        (folder / "shared.yaml").write_text(shared, encoding="utf-8")
    return folder


def loaded(folder: Path) -> Rule:
    """Return the rule of a catalog in which nothing is broken."""
    found = rules.load([folder])
    assert found.broken == []
    return found["link-flaps"]


def why(folder: Path) -> list[BadRuleError]:
    """Return what is wrong in a catalog."""
    return rules.load([folder]).broken


def triage(folder: Path, *nics: str) -> tuple[Any, dict[str, Any]]:
    """Run `backline triage` on a host whose links went down; return what it said and the case document."""
    log = folder / "case" / HOST / "var" / "run" / "log" / "vmkernel.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(
        "".join(LINE.format(at, nic) + "\n" for at, nic in enumerate(nics)), encoding="utf-8"
    )
    words = [
        "triage",
        str(folder / "case"),
        "-o",
        str(folder / "out"),
        "--no-settings",
        "--kb",
        str(folder / "kb"),
    ]
    run = CliRunner().invoke(main, words)
    return run, json.loads((folder / "out" / "case.json").read_text(encoding="utf-8"))


def test_a_rule_judges_with_the_parts_it_names(tmp_path: Path) -> None:
    """Both kinds of name match, the threshold decides, and the text has the values of the rule that names it."""
    catalog(tmp_path / "kb")
    run, document = triage(tmp_path, "vmnic0", "vusb1", "vusb1", "other3", "other3")

    assert run.exit_code in (0, 1), run.output
    (told,) = [one for one in document["findings"] if one["rule"] == "link-flaps"]
    assert told["subject"] == "vusb1"
    assert "Collect vusb1 and the log." in json.dumps(told["fix"])


def test_a_rule_with_names_is_the_rule_with_their_values_written_out(tmp_path: Path) -> None:
    """What the judge gets does not tell a name from what it stands for; a threshold can be changed as any other."""
    named = loaded(catalog(tmp_path / "a"))
    written = RULE.replace("$often", "2").replace("$collect", "Collect {it.nic} and the log.")
    plain = loaded(
        catalog(tmp_path / "b", None, written.replace("(?&nic)", "(?:vmnic\\d+|vusb\\d+)"))
    )

    assert named.text.tree().plain() == plain.text.tree().plain()
    assert named.thresholds == plain.thresholds == {"often": (2, 2)}
    assert named.when.text == plain.when.text
    assert [one.pattern for one in named.logs.values()] == [
        one.pattern for one in plain.logs.values()
    ]
    tuned = rules.load([tmp_path / "a"], thresholds={"link-flaps": {"often": 5}})["link-flaps"]
    assert tuned.thresholds == {"often": (5, 2)}


@pytest.mark.parametrize(
    ("before", "after", "words", "help"),
    [
        ("$often", "$oftn", "no threshold `oftn` is shared", "did you mean `often`?"),
        (
            "$collect",
            "$often",
            "`often` is a threshold (kb/shared.yaml:6); a text is needed here",
            "",
        ),
        ("(?&nic)", "(?&nik)", "no pattern `nik` is shared", "did you mean `nic`?"),
    ],
)
def test_a_name_that_is_not_there_is_told_where_it_is_used(
    tmp_path: Path, before: str, after: str, words: str, help: str
) -> None:
    """The rule is broken at the line of the name, with the nearest name of that kind."""
    folder = catalog(tmp_path / "kb", rule=RULE.replace(before, after))
    (error,) = why(folder)

    assert (error.message, error.help) == (words, help)
    assert after in RULE.replace(before, after).splitlines()[error.place.line - 1]
    assert after in error.source


def test_a_mistake_in_a_part_points_at_its_use_and_names_its_definition(tmp_path: Path) -> None:
    """A text with a value that this rule does not have: the place is the rule's, the help leads to the file."""
    (error,) = why(catalog(tmp_path / "kb", SHARED.replace("it.nic", "vm.name")))

    assert error.source.strip() == "do: $collect"
    assert "`collect` is defined at kb/shared.yaml:2" in error.help


@pytest.mark.parametrize(
    ("shared", "words"),
    [
        (SHARED + "  collect: {is: 1, unit: x, reason: y}\n", "`collect` is defined twice: kb/shared.yaml:2 and kb/shared.yaml:7"),
        (SHARED + "  nic: {is: 1, unit: x}\n", "threshold `nic` has no `reason`"),
        (SHARED.replace("vmnic\\d+|", "(vmnic|"), "`nic` is not a regular expression"),
        (SHARED.replace("is: 2", "is: two"), "threshold `often` must be a number, not text"),
        (SHARED.replace("patterns", "pattern"), "unknown key `pattern` in kb/shared.yaml"),
        (SHARED + "texts:\n  x: y\n", "key `texts` is given twice"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_told_by_every_run(tmp_path: Path, shared: str, words: str) -> None:
    """The second run, which finds rules in the cache, tells it as the first did."""
    folder = catalog(tmp_path / "kb", shared)
    (folder / "other-rule.yaml").write_text(
        RULE.replace("link-flaps", "other-rule")
        .replace("$often", "3")
        .replace("$collect", "x")
        .replace("(?&nic)", "x"),
        encoding="utf-8",
    )
    first, second = why(folder), why(folder)

    assert [one for one in first if words in one.message and one.file == "kb/shared.yaml"]
    assert [str(one) for one in first] == [str(one) for one in second]


def test_a_changed_file_changes_rule_and_hash(tmp_path: Path) -> None:
    """A rule out of the cache is never that of the file before; the hash of the catalog tells the difference."""
    folder = catalog(tmp_path / "kb")
    before = rules.load([folder])
    again = rules.load([folder])
    catalog(folder, SHARED.replace("is: 2", "is: 4"))
    after = rules.load([folder])

    assert before.hash == again.hash != after.hash
    assert before.sources[0].hash != after.sources[0].hash
    assert again["link-flaps"].thresholds == {"often": (2, 2)}
    assert after["link-flaps"].thresholds == {"often": (4, 4)}


def test_commits_workers_and_processes_see_the_file(tmp_path: Path) -> None:
    """The rule of a commit, of another machine and of another process has the parts that lay beside it."""
    folder = catalog(tmp_path / "kb")
    git = ["git", "-C", str(folder), "-c", "user.name=x", "-c", "user.email=x@lab.example"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "x"]):
        subprocess.run([*git, *words], check=True)
    catalog(folder, SHARED.replace("is: 2", "is: 9"))
    now = loaded(folder)
    (old,) = load_whole_catalog("HEAD", folder).rules
    sent = pickle.loads(
        pickle.dumps(_send_source(RuleSource("folder", "kb", files=[folder]), Limits()))
    ).rule_source()
    far = rules.load([sent])

    assert old.thresholds == {"often": (2, 2)}
    assert far.broken == []
    assert far["link-flaps"].thresholds == now.thresholds == {"often": (9, 9)}
    assert far.hash == rules.load([folder]).hash
    assert pickle.loads(pickle.dumps(Version.from_rule(old))).build_rule(Limits()).thresholds == {
        "often": (2, 2)
    }
    assert Version.from_rule(old) != Version.from_rule(now)


def test_what_is_escaped_or_in_a_class_names_nothing(tmp_path: Path) -> None:
    """Only a group that no regular expression may begin is a name; examples and commands keep their dollars."""
    match = "(?P<nic>(?&nic)): [(?&nic)]* (\\(?&nic)"
    rule = RULE.replace("(?P<nic>(?&nic)): Link is down", match).replace(
        "do: $collect", "run: $collect"
    )
    plain = loaded(catalog(tmp_path / "kb", rule=rule)).text.tree().plain()

    assert (
        plain["logs"]["flap"]["match"] == "(?P<nic>(?:vmnic\\d+|vusb\\d+)): [(?&nic)]* (\\(?&nic)"
    )
    assert plain["fix"][0]["run"] == "$collect"


def test_a_text_by_itself_keeps_its_names(tmp_path: Path) -> None:
    """The formatter sees the rule as its author wrote it."""
    folder = catalog(tmp_path / "kb")
    file = folder / "net" / "link-flaps.yaml"
    run = CliRunner().invoke(main, ["rules", "fmt", str(file)])

    assert run.exit_code == 0, run.output
    assert "$often" in file.read_text(encoding="utf-8") and "(?&nic)" in file.read_text(
        encoding="utf-8"
    )
    assert RuleText("x.yaml", RULE).tree().plain()["let"] == {"often": "$often"}


def test_lint_knows_the_parts_and_tells_what_no_rule_uses(tmp_path: Path) -> None:
    """A name of the file is no mistake; one that no rule names is told with its line, a wrong one with its own code."""
    folder = catalog(tmp_path / "kb", SHARED + "  rarely: {is: 9, unit: lines, reason: made up}\n")
    told = {
        (one.code, one.place.line) for one in lint.check_files([folder], local=Local(packs=False))
    }
    catalog(folder, SHARED, RULE.replace("$often", "$oftn"))
    wrong = {
        (one.code, one.message) for one in lint.check_files([folder], local=Local(packs=False))
    }

    assert ("R085", 7) in told and not {"R012", "R016", "R006", "R040", "R018"} & {
        code for code, _ in told
    }
    assert ("R012", "no threshold `oftn` is shared") in wrong
    assert ("R085", "no rule uses `often`") in wrong

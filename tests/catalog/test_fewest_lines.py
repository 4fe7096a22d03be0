"""Rules with nothing that goes without saying: examples below their results, one day for a folder.

All log lines and rows are synthetic.
"""

from __future__ import annotations

import re
from pathlib import Path
from statistics import median

import pytest

from analyzer import rules
from analyzer.authoring.fmt.layout import format_rule
from analyzer.pipeline import examples as runner
from analyzer.rules.language.rulefile import BadRuleError
from tests.authoring.test_short_form import backline, written

ROOT = Path(__file__).resolve().parents[2]
SIGN = r"""rule: uplink-down
title: An uplink lost its link
source: the events of vobd.log
revised: 2026-11-20
about: The port of the switch lost the link. The traffic went to the other uplinks.

sign:
  in: esxi.vobd
  match: '\[vob\.net\.vmnic\.linkstate\.down\] vmnic (?P<vmnic>\S+) linkstate down'
  per: vmnic

severity: warning
confidence: confirmed
say: "{vmnic} lost its link, the first time at {sign.first}."

fix: {switch: Look at the port and the cable.}
not_this: Somebody pulled the cable on purpose.

examples:
  match: |
    2017-10-14T14:02:02.101Z: [netCorrelator] 3532322000000us: [vob.net.vmnic.linkstate.down] vmnic vmnic4 linkstate down
  no_match: |
    2017-10-14T14:02:02.101Z: [netCorrelator] 3532322000000us: [vob.net.vmnic.linkstate.up] vmnic vmnic4 linkstate up
"""

ROWS = """rule: ramdisk-full
title: A RAM disk of the host is full
kb: []
source: [made up for this test]
status: test
revised: 2026-11-22
about: >-
  A RAM disk has no space left. What is written there fails, and services of the host stop.

each: disk in esxi.ramdisk
subject: "{disk.ramdisk}"
object: "{disk.node} {disk.ramdisk}"

let:
  bar_pct: 10
when: disk.ramdisk_free_pct < bar_pct

outcomes:
  - when: true
    severity: major
    confidence: confirmed
    say: "{disk.ramdisk_free_pct} % are free, less than {bar_pct} % (our own threshold)."
evidence: [disk.ramdisk_free_pct]

fix:
  - where: host
    run: vdf -h
not_this:
  - A RAM disk that is filled once while an update runs.
ask: "`esxcli system visorfs ramdisk list`"

examples:
  - name: just below the bar
    tables:
      esxi.ramdisk: [{ramdisk: tmp, ramdisk_free_pct: 9}]
    expect: {result: match, severity: major, say: 9 % are free}
  - name: at the bar
    tables:
      esxi.ramdisk: [{ramdisk: tmp, ramdisk_free_pct: 10}]
    expect: {result: no_match}
  - name: another one is full
    like: at the bar
    tables:
      esxi.ramdisk: [{ramdisk: tmp, ramdisk_free_pct: 10}, {ramdisk: root, ramdisk_free_pct: 1}]
    expect: {result: match, severity: major, count: 1}
  - name: the host did not print it
    tables:
      esxi.ramdisk: [{ramdisk: tmp}]
    expect: {result: cannot_tell, missing: disk.ramdisk_free_pct}
  - name: through the real reader
    files:
      - command: esxcli system visorfs ramdisk list
        text: |
          Ramdisk Name  System  Include in Coredumps   Reserved      Maximum      Used  Peak Used  Free  Reserved Free  Maximum Inodes  Allocated Inodes  Used Inodes  Mount Point
          ------------  ------  --------------------  ---------  -----------  --------  ---------  ----  -------------  --------------  ----------------  -----------  ---------------------------
          tmp            false                 false   2048 KiB   262144 KiB  260000 KiB  260000 KiB  1 %            0 %            8192               256            3  /tmp
    expect: {result: match, severity: major}
"""


# -- rules that one line decides


def test_half_of_the_rules_that_one_line_decides_have_thirty_lines_at_most() -> None:
    """Signature, answer, remedy and examples of a plain rule fit on a screen."""
    lengths = []
    for path in (ROOT / "analyzer" / "kb").rglob("*.yaml"):
        text = path.read_text(encoding="utf-8")
        parts = set(re.findall(r"^  ?([a-z_]+):", text, re.MULTILINE)) | set(
            re.findall(r"^([a-z_]+):", text, re.MULTILINE)
        )
        if "sign" in parts and not parts & {
            "at_least",
            "within",
            "cleared",
            "outcomes",
            "logs",
            "let",
            "when",
            "join",
        }:
            lengths.append(len(text.splitlines()))
    assert len(lengths) > 60
    assert median(lengths) <= 30


def test_each_line_that_must_not_match_is_a_case_where_one_line_decides() -> None:
    """A line that would match shows itself, whatever stands beside it; with `cleared` all lines are one case."""
    text = SIGN
    last = text.splitlines()[-1]
    rule = rules.parse(text + last.replace("14:02:02", "14:03:02") + "\n")
    assert [one.name for one in rule.examples if not one.made] == [
        "match 1",
        "no_match 1",
        "no_match 2",
    ]
    ended = rules.parse(
        text.replace("\nseverity", "cleared: 'vmnic (?P<vmnic>vmnic9)'\n\nseverity") + last + "\n"
    )
    assert [one.name for one in ended.examples if not one.made] == ["match 1", "no_match 1"]


# -- rules over rows


def test_the_table_that_is_not_there_is_an_example_of_its_own() -> None:
    """It is made where the author has no case that leaves the answer open, and not for examples in a list."""
    cut = re.sub(r"  - name: the host did not print it\n.*\n.*\n.*\n", "", ROWS)
    text = (
        ROWS[: ROWS.index("examples:")]
        + "examples:\n  match:\n    - {rows: {ramdisk: tmp, ramdisk_free_pct: 9}}\n"
    )
    made = [one for one in rules.parse(text).examples if one.made]
    assert [one.name for one in made] == ["made by Backline: esxi.ramdisk is not in the case"]
    assert all(one.ok for one in runner.run(rules.parse(text)))
    assert not [one for one in rules.parse(cut).examples if one.made]


def test_the_answer_of_an_example_is_that_of_its_place() -> None:
    """A case below the wrong result fails; so does one whose severity is not that of the rule."""
    text = (
        ROWS[: ROWS.index("examples:")]
        + "examples:\n  no_match:\n    - {rows: {ramdisk: tmp, ramdisk_free_pct: 1}}\n"
    )
    failed = [one.name for one in runner.run(rules.parse(text)) if not one.ok]
    assert failed == ["no_match 1"]
    wrong = text.replace("no_match:", "match:").replace(
        "ramdisk_free_pct: 1}}", "ramdisk_free_pct: 1}, expect: {severity: info}}"
    )
    assert [one.name for one in runner.run(rules.parse(wrong)) if not one.ok] == ["match 1"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("rows: {", "row: {", "unknown key `row` in an example of `match`"),
        ("  match:", "  cleared:", "unknown key `cleared` in `examples`"),
        (
            "rows: {ramdisk: tmp, ramdisk_free_pct: 1}",
            "rows: bad",
            "rows of `esxi.ramdisk` are a list, not text",
        ),
        (
            "rows: {ramdisk: tmp, ramdisk_free_pct: 1}",
            "expect: {result: match}",
            "unknown key `result` in `expect`",
        ),
        (
            "\n    - {rows: {ramdisk: tmp, ramdisk_free_pct: 1}}",
            " bad",
            "`match` must be a list, not text",
        ),
    ],
)
def test_a_mistake_is_told_where_it_was_made(old: str, new: str, message: str) -> None:
    """The line of the key, and what may stand there."""
    text = (
        ROWS[: ROWS.index("examples:")]
        + "examples:\n  match:\n    - {rows: {ramdisk: tmp, ramdisk_free_pct: 1}}\n"
    )
    with pytest.raises(BadRuleError, match=re.escape(message)) as told:
        rules.parse(text.replace(old, new))
    assert told.value.place.line > text[: text.index("examples:")].count("\n")


def test_one_answer_and_a_list_of_answers_exclude_each_other() -> None:
    """Which of them counts would be a guess."""
    with pytest.raises(BadRuleError, match="`say` does not go with `outcomes`"):
        rules.parse(ROWS.replace("outcomes:", 'say: "text"\noutcomes:'))


# -- the day of a folder


def test_a_rule_without_a_day_has_that_of_its_folder(tmp_path: Path) -> None:
    """`revised` of shared.yaml; a rule that names its own day keeps it, and no other folder gets it."""
    undated = format_rule(ROWS.replace("revised: 2026-11-22\n", ""))
    written(tmp_path, undated, "ramdisk-full")
    assert "R058" in backline("rules", "lint", str(tmp_path))[1]
    (tmp_path / "shared.yaml").write_text("revised: 2026-11-20\n", encoding="utf-8")
    assert backline("rules", "lint", str(tmp_path)) == (0, "1 rule: 0 errors, 0 warnings\n")
    assert (
        "revised 2026-11-20" in backline("rules", "show", "ramdisk-full", "--kb", str(tmp_path))[1]
    )
    written(tmp_path, ROWS, "ramdisk-full")
    assert (
        "revised 2026-11-22" in backline("rules", "show", "ramdisk-full", "--kb", str(tmp_path))[1]
    )


def test_a_day_that_is_none_is_told_with_its_line(tmp_path: Path) -> None:
    """The rules of the folder are read all the same."""
    written(tmp_path, ROWS, "ramdisk-full")
    (tmp_path / "shared.yaml").write_text("revised: soon\n", encoding="utf-8")
    status, told = backline("rules", "lint", str(tmp_path))
    assert status == 1
    assert "`soon` is not a date" in told
    assert "shared.yaml:1:10" in told

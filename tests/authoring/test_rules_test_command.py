"""`backline rules test`: what it prints, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from analyzer.cli import main

RULE = """\
rule: {name}
title: Few uplinks
each: t in esxi.teaming
subject: "{{t.switch}}"
when: t.n_uplinks < 3
outcomes:
  - {{when: true, severity: {severity}, say: "{{t.n_uplinks}} uplinks"}}
examples:
  - name: two uplinks
    tables: {{esxi.teaming: [{{switch: vSwitch0, n_uplinks: 2}}]}}
    expect: {{result: match, severity: warning, say: 2 uplinks}}
  - name: three uplinks
    tables: {{esxi.teaming: [{{switch: vSwitch0, n_uplinks: 3}}]}}
    expect: {{result: no_match}}
"""
GAP = """\
  - name: a gap
    gap: true
    tables: {{esxi.teaming: [{{switch: vSwitch0, n_uplinks: 2}}]}}
    expect: {{result: {expected}}}
"""


def written(folder: Path, name: str, severity: str = "warning", more: str = "") -> Path:
    """Write a rule file."""
    path = folder / f"{name}.yaml"
    path.write_text(RULE.format(name=name, severity=severity) + more, encoding="utf-8")
    return path


def run(*words: object) -> Result:
    """Run the command."""
    return CliRunner().invoke(
        main, ["rules", "test", "--no-settings", "--no-packs", *map(str, words)]
    )


def test_all_as_expected_is_a_line_a_rule(tmp_path: Path) -> None:
    """A rule that passes is one line, the last line sums up, the exit code is 0."""
    written(tmp_path, "few-uplinks")
    written(tmp_path, "other-uplinks", more=GAP.format(expected="no_match"))
    result = run(tmp_path)

    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "ok    few-uplinks: 2 examples",
        "ok    other-uplinks: 3 examples, 1 known gap",
        "2 rules, 5 examples: all as expected, 1 known gap",
    ]
    assert result.stderr.endswith(" s\n")
    assert run(tmp_path).stdout == result.stdout


def test_a_failing_example_shows_difference_and_trace(tmp_path: Path) -> None:
    """File and line, what was expected and what came, the values with their lines; the exit code is 1."""
    path = written(tmp_path, "few-uplinks", severity="major")
    result = run(path)
    shown = result.stdout.splitlines()

    assert result.exit_code == 1
    assert shown[0] == "FAIL  few-uplinks: 2 examples, 1 not as expected"
    assert shown[1] == f"  {path}:9: two uplinks"
    assert shown[2:6] == [
        "      result: match", "    - severity: warning", "    + severity: major", "      say: 2 uplinks",
    ]  # fmt: skip
    assert "        when: t.n_uplinks < 3  =  true" in shown
    assert "          t.n_uplinks  =  2      example!esxi.teaming:1" in shown
    assert shown[-1] == "1 rule, 2 examples: 1 not as expected"


def test_a_gap_that_passes_is_a_failure(tmp_path: Path) -> None:
    """Once a known gap is closed its mark has to go."""
    result = run(written(tmp_path, "few-uplinks", more=GAP.format(expected="match")))

    assert result.exit_code == 1
    assert (
        "    is marked `gap: true`, but it passes now: remove the mark"
        in result.stdout.splitlines()
    )


def test_a_broken_file_is_shown_and_the_others_run(tmp_path: Path) -> None:
    """The mistake is printed with its caret, the other rule is proved, the exit code is 4."""
    written(tmp_path, "few-uplinks")
    written(tmp_path, "wrong").write_text(
        RULE.format(name="wrong", severity="warning").replace("n_uplinks <", "n_uplink <")
    )
    result = run(tmp_path)

    assert result.exit_code == 4
    assert "has no column `n_uplink`" in result.stdout
    assert "^^^^^^^^" in result.stdout
    assert "did you mean `n_uplinks`?" in result.stdout
    assert result.stdout.endswith(
        "ok    few-uplinks: 2 examples\n1 rule, 2 examples: all as expected, 1 file broken\n"
    )


@pytest.mark.parametrize(
    "words", [("no-such-rule",), ("beacon-probing", "-k", "no such example"), ("--kb", "/nowhere")]
)
def test_no_rule_meant_is_a_wrong_command(words: tuple[str, ...]) -> None:
    """An id, a pattern or a folder that gives nothing to test ends with 2 and one line on stderr."""
    result = run(*words)

    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1


def test_a_pattern_and_verbose_name_the_examples(tmp_path: Path) -> None:
    """-k keeps to some examples, -v names each."""
    written(tmp_path, "few-uplinks")
    result = run(tmp_path, "-k", "THREE", "-v")

    assert result.stdout.splitlines() == [
        "ok    few-uplinks: 1 example", "      ok  three uplinks", "1 rule, 1 example: all as expected",
    ]  # fmt: skip


def test_moved_numbers_are_told_with_their_place(tmp_path: Path) -> None:
    """--mutate names each number that no example holds, where it stands and what would hold it; the exit code is 1."""
    path = written(tmp_path, "few-uplinks")
    assert run(path, "--mutate").exit_code == 0
    path.write_text(path.read_text().replace("n_uplinks: 3}", "n_uplinks: 8}"))
    result = run(path, "--mutate")

    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "FAIL  few-uplinks: 2 examples, 1 moved number unnoticed",
        f"  {path}:5:21: `3` may become 4 and no example notices (when): add an example in which `t.n_uplinks` is 3, "
        "so that `t.n_uplinks < 3` decides the answer.",
        "1 rule, 2 examples: all as expected, 1 moved number unnoticed",
    ]


def test_numbers_of_a_rule_over_facts_can_be_moved() -> None:
    """--mutate judges a rule that joins a table of the catalog beside other conditions."""
    result = run("scsi-status", "--mutate")

    assert result.stdout.endswith("all as expected, every moved number noticed\n"), result.output


def test_json_holds_all_of_it(tmp_path: Path) -> None:
    """--json prints one document: each example with difference and trace, survivors, broken files."""
    written(tmp_path, "few-uplinks", severity="major")
    (tmp_path / "broken.yaml").write_text("rule: broken\n")
    result = run(tmp_path, "--json", "--mutate")
    document = json.loads(result.stdout)
    first = document["rules"][0]["examples"][0]

    assert result.exit_code == 4 and document["ok"] is False
    assert (first["name"], first["line"], first["ok"], first["got"]["wrong"]) == (
        "two uplinks", 9, False, ["severity is major, expected warning"],
    )  # fmt: skip
    assert first["trace"][0] == "few-uplinks: vSwitch0  =  match"
    assert "key `title` is missing" in document["broken"][0]
    assert document["rules"][0]["survivors"] == []


def test_names_in_a_rule_file_do_not_steer_the_terminal(tmp_path: Path) -> None:
    """Escape sequences in names and texts of an example are shown, not sent."""
    path = written(tmp_path, "few-uplinks", severity="major")
    text = (
        path.read_text()
        .replace("two uplinks\n", '"two \\e[31m uplinks\\a"\n', 1)
        .replace("vSwitch0", '"v\\e]0;x\\a"')
    )
    path.write_text(text.replace("say: 2 uplinks", 'say: "\\e[2J"'))
    result = run(path, "-v")

    assert result.exit_code == 1
    assert "two \\x1b[31m uplinks\\x07" in result.stdout
    assert not set(result.stdout) & {"\x1b", "\x07"}


@pytest.mark.size
def test_the_shipped_rules_are_all_as_expected() -> None:
    """Without arguments every shipped rule is proved."""
    result = run()

    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1].endswith("examples: all as expected")

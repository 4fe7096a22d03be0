"""`backline rules lint`: exit codes, the three forms, and that hostile text steers nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.authoring.lint import printing as lint_print
from analyzer.authoring.lint import run as lint
from analyzer.authoring.lint.complaints import Complaint
from analyzer.cli import main
from analyzer.rules import default_paths
from analyzer.rules.language.rulefile import FileSpan
from tests.kit.lint_kit import base, laid
from tests.kit.rule_kit import RULE, TABLES

BAD = "when: n.rx_crc_error > 0"
WARNED = "when: true"


def run(*words: str) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(main, ["rules", "lint", *words])


@pytest.fixture
def rule(tmp_path: Path) -> Path:
    """Return the path of a sound rule."""
    path = tmp_path / "damaged-frames.yaml"
    path.write_text(base(), encoding="utf-8")
    return path


def test_a_sound_rule_exits_with_0(rule: Path) -> None:
    """Nothing but the summary is printed."""
    done = run(str(rule))

    assert (done.exit_code, done.output) == (0, "1 rule: 0 errors, 0 warnings\n")


def test_an_error_exits_with_1_and_a_warning_only_when_strict(rule: Path) -> None:
    """The exit code is what a build looks at."""
    rule.write_text(laid(WARNED), encoding="utf-8")
    assert run(str(rule)).exit_code == 0
    assert run(str(rule), "--strict").exit_code == 1

    rule.write_text(laid(BAD), encoding="utf-8")
    done = run(str(rule))
    assert done.exit_code == 1
    assert done.output.endswith(
        "1 rule: 1 error, 0 warnings\n1 file checked only in part: fix what keeps it from loading and run it again.\n"
    )


def test_a_broken_file_is_an_error_like_any_other(rule: Path) -> None:
    """Not exit code 4: the other rules are checked as well."""
    rule.write_bytes(b"\xff\xfe")
    done = run(str(rule), "beacon-probing")

    assert done.exit_code == 1
    assert "error[R001]: not UTF-8 at byte 0" in done.output
    assert "2 rules: 1 error," in done.output


def test_a_rule_that_does_not_exist_is_a_mistake_of_the_command_line() -> None:
    """Exit code 2 with the nearest id."""
    done = run("beacon-probin")

    assert done.exit_code == 2
    assert "did you mean `beacon-probing`?" in done.output


@pytest.mark.size
def test_without_names_the_whole_catalog_is_checked(tmp_path: Path) -> None:
    """Shipped rules and those of --kb."""
    (tmp_path / "damaged-frames.yaml").write_text(laid(WARNED), encoding="utf-8")
    done = run("--kb", str(tmp_path))

    shipped = len(list(default_paths()[0].glob("*/*.yaml")))
    assert done.exit_code == 0
    assert re.search(rf"^{shipped + 1} rules: 0 errors", done.output, re.MULTILINE)
    assert "warning[R024]" in done.output


def test_a_page_is_printed() -> None:
    """--explain prints the page of the code in any case; a code that is none is a mistake of the command line."""
    done = run("--explain", "r014")
    assert done.exit_code == 0
    assert done.output.startswith("# R014: a column of many rows is outside an aggregate\n")
    assert run("--explain", "R999").exit_code == 2


def test_json_holds_everything(rule: Path) -> None:
    """One document on stdout, also when there is nothing to tell."""
    assert json.loads(run(str(rule), "--format", "json").output) == {
        "rules": 1, "errors": 0, "warnings": 0, "complaints": [],
    }  # fmt: skip
    rule.write_text(laid(BAD), encoding="utf-8")
    (told,) = json.loads(run(str(rule), "--format", "json").output)["complaints"]

    assert told == {
        "code": "R011",
        "level": "error",
        "title": "unknown column",
        "message": "table behind `n` has no column `rx_crc_error`",
        "file": str(rule),
        "line": told["line"],
        "column": 9,
        "width": 12,
        "source": BAD,
        "help": "did you mean `rx_crc_errors`?",
    }
    assert laid(BAD).splitlines()[told["line"] - 1] == BAD


def test_github_shows_a_complaint_beside_its_line(rule: Path) -> None:
    """One workflow command a complaint; the summary does not stand among them."""
    rule.write_text(laid(BAD), encoding="utf-8")
    done = run(str(rule), "--format", "github")
    line = laid(BAD).splitlines().index(BAD) + 1

    assert done.stdout == (
        f"::error file={rule},line={line},col=9,endColumn=21,title=R011%3A unknown column::"
        "table behind `n` has no column `rx_crc_error`. did you mean `rx_crc_errors`?\n"
    )
    assert done.stderr.startswith("1 rule: 1 error")


HOSTILE = (
    "\x1b]0;owned\x07\x1b[2J\u202egpj\u2028::error file=x::owned\r\n::warning::100%,a:b\x9b31m"
)


def complaint() -> Complaint:
    """Return a complaint whose every text is hostile."""
    return Complaint("R011", HOSTILE, HOSTILE, FileSpan(3, 5, 2), HOSTILE, HOSTILE)


def test_github_commands_cannot_be_forged() -> None:
    """Neither a line end nor a colon nor a comma in a rule makes another command or another property."""
    text = lint_print.write_github([complaint()])

    assert text.count("\n") == 1
    assert re.fullmatch(r"::error (\w+=[^:,\n]*,)*title=[^:,\n]*::[^\n]*\n", text)
    assert "file=x" not in text.split("::")[1].replace("error file=x", "")
    assert "%25" in text and "\x1b" not in text and "\u202e" not in text


def test_json_is_plain_ascii() -> None:
    """Steering characters are escaped, and the text comes back as it was."""
    text = lint_print.write_json(1, [complaint()])

    assert text.isascii()
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", text)
    assert json.loads(text)["complaints"][0]["message"] == HOSTILE


def test_a_rule_cannot_steer_the_terminal(tmp_path: Path) -> None:
    """Escapes, bidi signs and line ends in keys, names and titles are shown, not sent."""
    text = laid(
        'title: "A fault \\e[2J\\u202e of\\n error[R001]: forged."\n"\\e[31mkey\\nx": 1\nwhen: n.rx_crc_errors > 0'
    )
    (tmp_path / "damaged-frames.yaml").write_text(text, encoding="utf-8")
    done = run(str(tmp_path / "damaged-frames.yaml"))

    assert done.exit_code == 1
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e]", done.output)
    assert "error[R001]: forged" not in [line[:19] for line in done.output.splitlines()]
    assert "\\x1b[31mkey" in done.output


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_no_damage_to_a_rule_file_ends_the_linter(data: st.DataObject) -> None:
    """A stretch cut out of a rule or put into it anywhere gives complaints or none, never anything else."""
    text = RULE % (
        "logs:\n  l: {in: esxi.made_up_log, match: 'abc+d'}\nseen: {s: {log: l, at_least: 2}}\n"
        "let: {x: one.a + 1}\nwhen: x > 0 and s  # lint: allow R020 because so\n"
        "examples:\n  - {name: e, tables: {esxi.base: [{key: 1}]}, expect: {result: match}}"
    )
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        stop = data.draw(st.integers(start, min(len(text), start + 25)))
        put = data.draw(st.sampled_from(PUT))
        text = text[:start] + put + text[stop:]
    found = lint.check_text(text, "made-up.yaml", TABLES)

    printed = (
        lint_print.write_text(found)
        + lint_print.write_json(1, found)
        + lint_print.write_github(found)
    )
    assert "made-up.yaml" in printed or not found
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", printed)
    assert all(
        one.place.line >= 1 and one.place.column >= 1 and one.place.width >= 1 for one in found
    )


PUT = ["", ":", "\n", "- ", "{", "}", "]", "'", '"', "&a ", "*a", "!x ", "\t", "true", "0", "\x00", "# lint: allow R024", "[a, b]",
       "x.y", "\u2028", "\x1b[2J", "(", "|", ">-\n", "<<: "]  # fmt: skip


@pytest.mark.size
@settings(max_examples=80, deadline=None)
@given(st.sampled_from(["when", "each", "let", "join", "outcomes", "examples", "logs", "seen", "kb", "fix", "rule", "about"]),
       st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=8),
                    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
                    max_leaves=8))  # fmt: skip
def test_no_value_of_a_key_ends_the_linter(key: str, value: object) -> None:
    """Whatever shape stands under a key, the linter tells of it."""
    own = f"{key}: {json.dumps(value)}"

    for one in lint.check_text(laid(own), "damaged-frames.yaml"):
        assert str(one)

"""Steps of the remedy: shown where they fit, with the values of the case, and never a way into a shell."""

from __future__ import annotations

import io
import re
import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from analyzer.artefacts import parsing
from analyzer.authoring.proof.mutation import find_survivors
from analyzer.case.verdicts import Fix
from analyzer.facts import Facts
from analyzer.pipeline import examples
from analyzer.report import html, markdown, terminal
from analyzer.rules.language.command import written
from analyzer.rules.language.rulefile import BadRuleError
from tests.kit.case_factory import rich_case
from tests.kit.lint_kit import codes
from tests.kit.rule_kit import BASE, RULE, TABLES, Kit, full


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let examples speak of the made-up tables."""
    monkeypatch.setattr(examples, "Facts", lambda: Facts({**parsing.tables(), **TABLES}))


STEPS = """when: one.a > 0
fix:
  - {where: host, when: one.b < 10, run: "set {one.s} {one.b}", note: "it is {one.b:,} now"}
  - {where: host, when: one.f > 1.0, unsure: if f is large, do: "look at {one.s}"}
  - {where: all, do: always}"""


def steps(**row: object) -> list[Fix]:
    """Return the steps shown of one thing."""
    judged = Kit().add(BASE, [{"key": 1, "a": 1, **row}]).judge(full(RULE % STEPS))
    return judged.findings[0].fix


def test_a_step_stands_where_its_condition_holds_with_the_values() -> None:
    """True: shown, with the values of the case in command and note. False: not shown."""
    first, last = steps(b=2, s="vmnic0", f=0.5)

    assert first == Fix("host", run="set vmnic0 2", note="it is 2 now")
    assert last == Fix("all", do="always")
    assert steps(b=10, s="vmnic0", f=0.5) == [last]


def test_an_unknown_condition_is_said_or_leaves_the_step_out() -> None:
    """With `unsure` its words stand before the step; without, the step is left out: it may be the wrong advice."""
    assert steps(b=None, s="x", f=None) == [
        Fix("host", do="if f is large: look at x"),
        Fix("all", do="always"),
    ]


HOSTILE = (
    "x; reboot", "$(reboot)", "`reboot`", "a'b", 'a"b', "a\nreboot", "a && b", "| sh", "> /etc/passwd", "a\\", "-rf",
    "--help", "%PATH%", "x\x1b[201~", "\u202ereboot", "{a,b}", "a*", "~root", "!!", "#", "", "é", "x" * 300, "a\tb",
)  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_stays_out_of_a_command(name: str) -> None:
    """A VM or a device can be named by anybody: what a shell reads, options and control characters leave a placeholder."""
    assert steps(b=2, s=name, f=0.5)[0].run == "set <s> 2"


def test_harmless_names_go_in_quoted_where_needed() -> None:
    """Letters, digits and `. _ : -` stand as they are; a path, a blank and a comma in single quotes."""
    assert steps(b=2, s="vmnic0.10:1_a-B", f=0.5)[0].run == "set vmnic0.10:1_a-B 2"
    assert steps(b=2, s="/Net/UseHwTSO", f=0.5)[0].run == "set '/Net/UseHwTSO' 2"
    assert steps(b=2, s="lin-db,02 prod", f=0.5)[0].run == "set 'lin-db,02 prod' 2"
    assert steps(b=2, s=None, f=0.5)[0].run == "set <s> 2"


@given(st.text(max_size=40))
def test_whatever_goes_in_is_one_word_for_a_shell(text: str) -> None:
    """Property: a value is left out, or is exactly one word of a shell, itself, and no option."""
    word = written(text)

    if word is not None:
        assert shlex.split(word) == [text]
        assert not text.startswith("-")
        assert not set(text) & set("\"'`$;&|<>()[]{}*?!#~\\%^\r\n\t\x1b")


@given(st.text(alphabet=st.characters(max_codepoint=126), max_size=12))
def test_a_real_shell_runs_nothing_of_a_value(text: str) -> None:
    """The same with sh itself: what it prints is the value."""
    word = written(text)
    if word is not None:
        done = subprocess.run(
            ["/bin/sh", "-c", f"printf %s {word}"], capture_output=True, text=True, check=True
        )
        assert done.stdout == text


@pytest.mark.parametrize(
    "run", ["set '{one.s}'", 'set "x {one.s}"', "set `{one.s}`", "cat << E {one.s}"]
)
def test_a_value_in_quotes_of_the_author_is_refused(run: str) -> None:
    """Quotes of the tool inside quotes of the author would end those; a here-document has none."""
    with pytest.raises(BadRuleError, match="inside quotes"):
        full(RULE % f"when: one.a > 0\nfix:\n  - {{where: host, run: {run!r}}}".replace('"{', "'{"))


def test_words_for_an_unknown_condition_need_a_condition() -> None:
    """`unsure` without `when` says nothing and is an error."""
    with pytest.raises(BadRuleError, match="needs `when` beside `unsure`"):
        full(RULE % "when: one.a > 0\nfix:\n  - {where: host, do: x, unsure: if y}")


@pytest.mark.parametrize(
    ("step", "code"),
    [
        ("when: n.rx_crc_errors < 0 and n.rx_crc_errors > 5, do: x", "R027"),
        ("when: nothing > 5, do: x", "R012"),
        ("run: 'set {nothing}'", "R018"),
        ("unsure: if so, do: x", "R005"),
        ("when: n.rx_crc_errors, do: x", "R015"),
    ],
)
def test_lint_reads_the_conditions_of_steps(step: str, code: str) -> None:
    """A step that can never be shown, an unknown name in condition or command, words without a condition."""
    assert code in codes(f"fix: [{{where: host, {step}}}]")


@pytest.mark.usefixtures("made_up")
def test_the_number_of_a_condition_wants_examples_on_both_sides() -> None:
    """Mutation moves numbers in conditions of steps too; an example at the border holds them."""
    case = "  - name: n{b}\n    tables: {{esxi.base: [{{key: 1, a: 1, b: {b}}}]}}\n    expect: {{result: match}}"
    text = RULE % "when: one.a > 0\nfix:\n  - {where: host, when: one.b < 10, do: x}"
    both = full(f"{text}\nexamples:\n" + "\n".join(case.format(b=b) for b in (9, 10)))
    one = full(f"{text}\nexamples:\n" + case.format(b=3))

    assert [item for item in find_survivors(both) if item.text == "10"] == []
    assert [item.where for item in find_survivors(one) if item.text == "10"] == ["fix 1", "fix 1"]


@pytest.mark.usefixtures("made_up")
def test_an_example_tells_which_steps_stand_there() -> None:
    """`fix` wants words of a step that is shown, `no_fix` words that none holds; either can fail."""
    text = (
        f"{RULE % STEPS}\nexamples:\n  - name: n\n    tables: {{esxi.base: [{{key: 1, a: 1, b: 20, f: 2.0, s: y}}]}}\n"
        "    expect: {result: match, fix: look at y, no_fix: set y}"
    )
    assert [result.ok for result in examples.run(full(text))] == [True]
    assert [result.ok for result in examples.run(full(text.replace("b: 20", "b: 2")))] == [False]
    assert [result.ok for result in examples.run(full(text.replace("f: 2.0", "f: 0.5")))] == [False]


def test_the_trace_tells_why_a_step_stands_there() -> None:
    """The "Why" of the report shows the condition of each step with its value."""
    judged = Kit().add(BASE, [{"key": 1, "a": 1, "b": 20, "s": "x"}]).judge(full(RULE % STEPS))
    trace = judged.findings[0].trace

    assert trace is not None
    assert [(one.text, one.value) for one in trace.children if one.text.startswith("Step")] == [
        ("Step 1 of the fix, when: b of esxi.base is less than 10", "false"),
        ("Step 2 of the fix, when: f of esxi.base is more than 1", "unknown"),
    ]


# -- reports


def test_the_steps_of_a_sign_wait_for_the_cause() -> None:
    """A finding that another explains: page folded, terminal one line, note below the cause that comes first."""
    doc = rich_case()
    page = html.render_page(doc)
    folded = re.findall(r'<details class="later">.*?</details>', page, re.DOTALL)
    out = io.StringIO()
    terminal.print_case(doc, Console(file=out, width=200), 0)
    note = markdown.render_note(doc)

    assert any("ethtool -G eth0 rx 4096" in part for part in folded)
    assert "Fix this first" in page and "only if it still happens after that" in page
    assert "ethtool -G" not in "".join(
        re.split(r'<details class="later">.*?</details>', body(page), flags=re.DOTALL)
    )
    assert "ethtool -G" not in out.getvalue()
    assert "only if it still happens after that" in out.getvalue()
    assert (
        0
        < note.index("Fix this first")
        < note.index("only for what still happens afterwards")
        < note.index("ethtool -G")
    )
    assert not any(
        "Mend this first" in text or "Look at this first" in text
        for text in (page, out.getvalue(), note)
    )


def test_a_muted_cause_folds_nothing() -> None:
    """A muted cause is named, but nobody is told to fix it first: the steps stand open."""
    doc = rich_case()
    for one in doc.findings:
        if one.explains:
            one.muted = "lab, until 2099-01-01"
    out = io.StringIO()
    terminal.print_case(doc, Console(file=out, width=200), 0)

    assert "ethtool -G eth0 rx 4096" in out.getvalue()
    assert "explained by  A CPU limit" in out.getvalue() and "fix this first" not in out.getvalue()


def body(page: str) -> str:
    """Return a page without its scripts, which hold the note to be copied."""
    return re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)

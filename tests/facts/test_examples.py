"""Every rule of the catalog passes its own examples, and has the examples that prove it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from analyzer import rules
from analyzer.case.verdicts import Verdict
from analyzer.pipeline import examples
from analyzer.rules import Rule
from analyzer.runtime.errors import RuleFileError, UsageError
from tests.kit.rule_kit import RULE, full
from tests.kit.together import together

CATALOG = rules.load(drafts=True, examples=True)


@together("rule", CATALOG.rules, ids=lambda rule: rule.id, parts=16)
def test_examples_of_the_catalog(rule: Rule) -> None:
    """The rule says of each of its examples what the example expects; else the difference and the trace are shown."""
    for example in rule.examples:
        result = examples.run_one(rule, example)

        assert result.ok, (
            f"{rule.id}, example {result.name!r}:\n{result.got.get('wrong') or 'passes, though marked as a gap'}\n"
            f"expected {result.expected}\ngot {result.got}\n{examples.tree(result.trace)}"
        )


# A rule over a shell history or a switch has no «cannot tell» of its own only if no source can lack.
@together("rule", CATALOG.rules, ids=lambda rule: rule.id)
def test_a_rule_proves_itself(rule: Rule) -> None:
    """Each rule has an example that matches, one that does not, one it cannot tell, and one of real file text.

    A rule that asks for nothing where its table is not there has no «cannot tell» for that.
    """
    results = {str(example.expect["result"]) for example in rule.examples}

    assert Verdict.MATCH in results
    assert results & {Verdict.NO_MATCH, Verdict.NOT_APPLICABLE}
    assert Verdict.CANNOT_TELL in results or rule.unasked
    assert any(example.files for example in rule.examples)


def made(
    example: str, condition: str = "one.a > 0", say: str = "found {one.a}"
) -> examples.ExampleResult:
    """Return the result of one example of the made-up rule."""
    text = (RULE % f"when: {condition}").replace("say: found", f'say: "{say}"')
    return examples.run(full(f"{text}\nexamples:\n{example}"))[-1]


ROW = "esxi.base: [{key: 1, a: 3}]"


@pytest.mark.parametrize(
    ("expect", "wrong"),
    [
        ("{result: match, severity: major, confidence: confirmed, say: found 3, count: 1}", ""),
        ("{result: match, subject: thing 1, evidence: one.a = 3}", ""),
        ("{result: no_match}", "result is match, expected no_match"),
        ("{result: match, severity: info}", "severity is major, expected info"),
        ("{result: match, say: found 4}", "say is found 3, expected found 4"),
        ("{result: match, count: 2}", "count is 1, expected 2"),
        ("{result: match, maybe_worse: esxi.part}", "maybe_worse is empty, expected esxi.part"),
    ],
)
def test_an_example_is_compared_in_words(expect: str, wrong: str) -> None:
    """A difference names the field, what it is and what was expected."""
    from analyzer.facts import Facts
    from tests.kit.rule_kit import TABLES

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(examples, "Facts", lambda: Facts(TABLES))
        result = made(f"  - {{name: x, tables: {{{ROW}}}, expect: {expect}}}")

    assert result.got.get("wrong", [""])[0] == wrong
    assert result.ok is not bool(wrong)


def test_a_gap_must_still_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """An example marked `gap` is a known weakness: once it passes, the mark has to go."""
    from analyzer.facts import Facts
    from tests.kit.rule_kit import TABLES

    monkeypatch.setattr(examples, "Facts", lambda: Facts(TABLES))
    failing = made(f"  - {{name: x, gap: true, tables: {{{ROW}}}, expect: {{result: no_match}}}}")
    passing = made(f"  - {{name: x, gap: true, tables: {{{ROW}}}, expect: {{result: match}}}}")

    assert (failing.ok, passing.ok) == (True, False)


def test_like_replaces_whole_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """`like` starts from another example; [] was read and is empty, null was not there."""
    from analyzer.facts import Facts
    from tests.kit.rule_kit import TABLES

    monkeypatch.setattr(examples, "Facts", lambda: Facts(TABLES))
    first = f"  - {{name: x, tables: {{{ROW}}}, expect: {{result: match}}}}\n"
    empty = made(
        first + "  - {name: y, like: x, tables: {esxi.base: []}, expect: {result: no_match}}"
    )
    absent = made(
        first + "  - {name: y, like: x, tables: {esxi.base: null}, expect: {result: cannot_tell}}"
    )
    cut = made(
        first
        + "  - {name: y, like: x, tables: {esxi.base: []}, cut: [esxi.base], expect: {result: cannot_tell}}"
    )

    assert (empty.ok, absent.ok, cut.ok) == (True, True, True)
    assert cut.got["reason"] == "unreadable"


RINGS = """\
rule: made-up
title: A made-up fault
each: rx in esxi.vmxnet3_rx_summary
when: rx.ring1_full > 0
outcomes:
  - {when: true, severity: info}
evidence: [rx.ring1_full]
examples:
  - name: x
    files:
      - %s
        text: |
          stats of a vmxnet3 vNIC rx queue {
             # of times the 1st ring is full:7086
          }
    expect: {result: match, evidence: %s}
"""
COMMAND = "vsish -e get /net/portsets/vSwitch0/ports/33554464/vmxnet3/rxSummary"


@pytest.mark.parametrize(
    "how", [f"command: {COMMAND}", "parser: vmxnet3_rx_summary", "path: notes/paste.txt"]
)
def test_raw_text_goes_through_the_real_parser(how: str) -> None:
    """Given a command, a parser or a path, the text of an example is read as that of a customer is."""
    rule = rules.parse(
        RINGS % (how, '"rx.ring1_full = 7086    # of times the 1st ring is full:7086"')
    )
    result = examples.run(rule)[0]

    assert result.ok, result.got


@pytest.mark.parametrize("how", ["command: rm -rf /", "parser: nope"])
def test_text_that_nobody_reads_is_refused(how: str) -> None:
    """A file that no parser reads is an error with its example."""
    with pytest.raises(UsageError, match="made-up"):
        examples.run(rules.parse(RINGS % (how, "x")))


def test_a_path_that_leaves_its_folder_is_refused() -> None:
    """Neither the reader of rule files nor the one that writes them out lets `../` pass."""
    rule = rules.parse(RINGS % ("path: notes/paste.txt", "x"))
    outside = replace(rule.examples[0], files=({"path": "../outside.txt", "text": "x"},))

    with pytest.raises(RuleFileError):
        rules.parse(RINGS % ("path: ../outside.txt", "x"))
    with pytest.raises(UsageError, match="leaves its folder"):
        examples.run_one(rule, outside)

"""`rules fmt`: the layout changes, what the file says does not."""

from __future__ import annotations

import dataclasses
import io
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, assume, given, reject, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from analyzer.artefacts.tables import Table
from analyzer.authoring.fmt import layout as fmt
from analyzer.authoring.fmt.layout import format_rule
from analyzer.authoring.fmt.printing import GROUPS, ORDERS
from analyzer.authoring.fmt.text import MOST
from analyzer.authoring.fmt.tree import MODELINE, list_comments
from analyzer.cli import main
from analyzer.rules import catalog as rules
from analyzer.rules.keys import KEYS
from analyzer.rules.language.rulefile import BadRuleError, FileSpan, RuleItem, RuleText
from analyzer.runtime.errors import BacklineError
from tests.kit.together import together

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = sorted((ROOT / "analyzer" / "kb").glob("*/*.yaml"))

# What tells where a rule stands, or is worked out of it later.
APART = (
    "text",
    "path",
    "origin",
    "read_examples",
    "_examples",
    "later",
    "nodes",
    "at_once",
    "place",
)

WORDS = (
    "x",
    "a1",
    "frames are lost",
    "one.a > 3 and two.b",
    "it's",
    "a#b",
    "http://h/p",
    "-1",
    "{lost:.3%} of %RDY",
    "ü«»",
    "𝕏y",
)
NUMBERS = (
    "0",
    "17",
    "0x10",
    "1e-4",
    "6.30",
    "0123",
    "10:30",
    "true",
    "null",
    "~",
    "on",
    "2x30 70+0.1x60",
)
LONG = "The guest drains its receive ring slower than frames arrive, and so every further frame is lost until it catches up"


class Messy:
    """Writes YAML as badly as YAML allows: any indent, any style, comments and blank lines anywhere."""

    def __init__(self, draw: st.DrawFn, *, odd: bool) -> None:
        """`odd`: now and then there is what the formatter refuses, inside a flow collection."""
        self.draw, self.odd, self.number, self.anchors = draw, odd, 0, list[str]()

    def one(self, *choices: str) -> str:
        return self.draw(st.sampled_from(choices))

    def often(self, times: int) -> bool:
        return self.draw(st.integers(1, times)) == 1

    def many(self, least: int, most: int) -> range:
        return range(self.draw(st.integers(least, most)))

    def note(self) -> str:
        self.number += 1
        return f"#{self.one('', ' ')}note {self.number}{self.one('', '  ', ': {[')}"

    def between(self, indent: int) -> list[str]:
        """Blank lines and comments between two entries."""
        lines = []
        if self.often(5):
            lines += ["" for _ in self.many(0, 2)]
        if self.often(4):
            column = self.draw(st.integers(0, indent + 4))
            lines += [" " * column + self.note() for _ in self.many(1, 2)]
            lines += ["" for _ in self.many(0, 1)]
        return lines

    def beside(self) -> str:
        return (
            " " * self.draw(st.integers(1, 5)) + self.note()
            if self.often(5)
            else self.one("", "", " ")
        )

    def plain(self) -> str:
        return self.one(*WORDS, *NUMBERS, LONG, LONG + " " + LONG)

    def quoted(self) -> str:
        return self.one(
            '"a \\"b\\" \\n c"', "'it''s: # {x}'", '"' + LONG + ' {x}: y # z"', "''", '"6.3.3"'
        )

    def block(self, indent: int) -> list[str]:
        """A literal or folded text."""
        explicit = self.often(3)
        step = self.draw(st.integers(1, 4))
        margin = " " * (indent + step)
        head = (
            self.one("|", ">")
            + (str(step) if explicit else "")
            + self.one("", "-", "+")
            + self.beside()
        )
        choices = ["text", LONG + " " + LONG, "# no comment", "", "a: b", "trailing  ", "- x"]
        rows = [
            self.one(*choices, *(["   deep", "\tdeep"] if explicit else []))
            for _ in self.many(0, 4)
        ]
        if rows and not explicit and not rows[0].strip():
            rows.insert(0, "first")
        return [
            head,
            *(margin + row if row else "" for row in rows),
            *("" for _ in self.many(0, 2)),
        ]

    def flow(self, depth: int, indent: int) -> str:
        """A flow collection, over several lines now and then, with comments in it."""

        def gap() -> str:
            if not self.often(6):
                return self.one("", " ", "  ")
            return (
                (self.beside() if self.odd else "")
                + "\n"
                + " " * (indent + 1 + self.draw(st.integers(0, 4)))
            )

        def value() -> str:
            if depth < 3 and self.often(3):
                return self.flow(depth + 1, indent)
            if self.odd and self.often(10):
                breaks = "\n" * self.draw(st.integers(1, 2)) + " " * (indent + 2)
                quote = self.one("", "'", '"')
                return f"{quote}a{breaks}b{quote}"
            return (
                self.one("a", "b c", "'x, y'", '"}"', "17", "0x1F", LONG)
                if not self.often(8)
                else ""
            )

        parts = []
        mapping = self.often(2)
        names = self.draw(st.permutations(["when", "say", "do", "run", "k1"]))
        for number in self.many(0, 4):
            item = value()
            parts.append(f"{names[number]}: {item}" if mapping else item or "null")
        opening, closing = ("{", "}") if mapping else ("[", "]")
        return opening + gap() + ",".join(gap() + part + gap() for part in parts) + closing

    def value(self, depth: int, indent: int) -> list[str]:
        """The lines of a value; the first goes on behind the key or the dash."""
        kind = self.draw(st.integers(1, 12))
        if kind <= 3 and depth < 4:
            lead = f" &n{len(self.anchors)}" if self.often(8) else ""
            if lead:
                self.anchors.append(lead[2:])
            return [lead + self.beside(), *self.collection(depth + 1, indent)]
        if kind == 4:
            return [" " + self.flow(0, indent) + self.beside()]
        if kind == 5:
            head, *rest = self.block(indent)
            return [" " + head, *rest]
        if kind == 6:
            return [" " + self.quoted() + self.beside()]
        if kind == 7:
            rows = [
                " " * (indent + 1 + self.draw(st.integers(0, 3))) + self.one("more", LONG)
                for _ in self.many(1, 3)
            ]
            if self.often(4):
                rows.insert(0, "")
            return (
                [" " + self.one("start", '"start'), *rows]
                if not self.often(2)
                else [self.beside(), *rows]
            )
        if kind == 8 and self.anchors:
            return [" *" + self.one(*self.anchors) + " " + self.beside().strip()]
        if kind == 9:
            return [self.beside()]
        return [" " + self.plain() + self.beside()]

    def collection(self, depth: int, indent: int) -> list[str]:
        """A block mapping or list one step further in."""
        inner = indent + self.draw(st.integers(1, 4))
        lines: list[str] = []
        listed = self.often(2)
        names = self.draw(
            st.permutations([*ORDERS["outcomes", "*"], "expect", "'quoted key'", "other"])
        )
        for number in self.many(1, 4):
            lines += self.between(inner)
            key = "-" if listed else names[number] + ":"
            first, *rest = self.closed(self.value(depth, inner))
            lines += [" " * inner + key + first, *rest]
        return lines + self.between(inner)

    @staticmethod
    def closed(lines: list[str]) -> list[str]:
        """End a quoted text that was begun."""
        if lines[0].startswith(' "start'):
            lines[-1] += '"'
        return lines

    def rule(self) -> str:
        names = self.draw(st.permutations([*KEYS, "unknown", "other_word"]))
        lines = ["# yaml-language-server: $schema=x"] if self.often(2) else []
        lines += self.between(0)
        for number in self.many(1, 8):
            first, *rest = self.closed(self.value(0, 0))
            lines += [f"{names[number]}:{first}", *rest, *self.between(0)]
        return "\n".join(lines) + self.one("\n", "", "\n\n")


def orders(
    item: RuleItem, path: tuple[str, ...] = ()
) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return (path, keys in their order) of all mappings."""
    found: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
    if isinstance(item.value, dict):
        found.append((path, tuple(item.value)))
        for key in sorted(item.value):
            free = path in {("join",), ("logs",), ("seen",), ("let",)}
            found += orders(item.value[key], (*path, "*" if free else key))
    elif isinstance(item.value, list):
        for child in item.value:
            found += orders(child, (*path, "*"))
    return found


def check_kept(text: str) -> str:
    """Return the formatted text after checking that nothing but the layout changed."""
    result = laid_out(text)
    before, after = RuleText("before", text).tree(), RuleText("after", result).tree()
    assert fmt.list_said(before) == fmt.list_said(after)
    kept = [one for one in list_comments(text) if not MODELINE.match(one)]
    assert sorted(kept) == sorted(list_comments(result))
    assert laid_out(result) == result
    return result


@lru_cache(maxsize=1000)
def laid_out(text: str) -> str:
    """Return what the formatter makes of a text; of the same text it is asked once."""
    return format_rule(text)


@st.composite
def messy_rules(draw: st.DrawFn, *, odd: bool = False) -> str:
    """Rule files that are YAML and a mapping."""
    text = Messy(draw, odd=odd).rule()
    try:
        tree = RuleText("rule.yaml", text).tree()
    except BadRuleError:
        reject()
    assume(isinstance(tree.value, dict))
    return text


@pytest.mark.size
@settings(
    max_examples=200, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
@given(messy_rules())
def test_values_and_comments_stay_and_a_second_run_changes_nothing(text: str) -> None:
    """However a rule is written: the same values in the same free order, every comment, and a fixed point."""
    result = check_kept(text)
    before, after = RuleText("before", text).tree(), RuleText("after", result).tree()
    free = [[pair for pair in orders(tree) if pair[0] not in ORDERS] for tree in (before, after)]
    assert free[0] == free[1]
    for path, keys in orders(after):
        if path in ORDERS and "&" not in text:
            assert [key for key in keys if key in ORDERS[path]] == [
                key for key in ORDERS[path] if key in keys
            ]


@pytest.mark.size
@settings(
    max_examples=200, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
@given(messy_rules(odd=True))
def test_what_stands_oddly_inside_brackets_is_kept_or_refused(text: str) -> None:
    """A comment or a broken text inside [ ] or { }: nothing is lost, or the file is refused with the place."""
    try:
        check_kept(text)
    except BadRuleError as error:
        assert "inside [ ] or { }" in error.message
        assert text.splitlines()[error.place.line - 1].strip()


@pytest.mark.size
@together("path", SHIPPED)
def test_a_shipped_rule_says_the_same_after_formatting(path: Path) -> None:
    """Values, comments and the fixed point, for every rule of the tool."""
    text = path.read_text(encoding="utf-8")
    check_kept(text)


def say(value: object) -> object:
    """Return what is read of a rule without the places in its file."""
    if isinstance(value, FileSpan | RuleText | Table):
        return None
    if isinstance(value, dict | MappingProxyType):
        return {key: say(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [say(item) for item in value]
    if dataclasses.is_dataclass(value):
        names = [one.name for one in dataclasses.fields(value)]
        return {name: say(getattr(value, name)) for name in names if name not in APART}
    return value


@pytest.mark.size
@together("path", SHIPPED)
def test_a_shipped_rule_is_read_the_same_after_formatting(path: Path) -> None:
    """The rule and its examples are equal before and after, but for the places in the file."""
    text = path.read_text(encoding="utf-8")
    before, after = (rules.parse(one, name=path.name) for one in (text, laid_out(text)))
    assert say(before) == say(after)
    assert say(before.examples) == say(after.examples)


@pytest.mark.size
@together("path", SHIPPED)
def test_block_texts_of_shipped_rules_keep_their_bytes(path: Path) -> None:
    """Log texts and pasted output stand in the result line by line as they were written."""
    text = path.read_text(encoding="utf-8")
    result = laid_out(text)
    for block in text.split(": |\n")[1:]:
        first = len(block) - len(block.lstrip(" "))
        lines = block.split("\n")
        end = next(
            (n for n, line in enumerate(lines) if line and not line.startswith(" " * first)),
            len(lines),
        )
        assert "\n".join(lines[:end]) in result


@pytest.mark.size
def test_the_shipped_rules_are_well_kept() -> None:
    """`backline rules fmt --check` finds nothing to do in the catalog of the tool."""
    assert [
        path.name
        for path in SHIPPED
        if path.read_bytes() != laid_out(path.read_text(encoding="utf-8")).encode()
    ] == []


def test_the_groups_are_the_keys_of_the_loader() -> None:
    """Every key of a rule stands in one group, in the loader's order."""
    assert [key for group in GROUPS for key in group] == list(KEYS)


def test_keys_groups_and_comments_of_a_whole_rule() -> None:
    """Keys move with the comments above and beside them, groups are parted by one blank line, notes at the head stay."""
    text = """\
# yaml-language-server: $schema=rule-schema.json
# lint: allow R003 because the KB says so
title:   'Rings run full'    # one line


examples:
- expect: {say: x, result: match}
  # which case
  name: one
# the id
rule: kb-1   # never again
let: {a: 0x10, b: 6.30}
when: a > 1e-4
# two steps
fix:
    - do: nothing
      where: "host"   # any
outcomes: [{severity: info, when: true}]
each: x in esxi.vm
# the end
"""
    assert (
        format_rule(text)
        == """\
# the id
rule: kb-1   # never again
# lint: allow R003 because the KB says so
title: 'Rings run full'    # one line

each: x in esxi.vm
let: {a: 0x10, b: 6.30}
when: a > 1e-4
outcomes: [{when: true, severity: info}]
# two steps
fix:
  - where: "host"   # any
    do: nothing

examples:
  # which case
  - name: one
    expect: {result: match, say: x}
# the end
"""
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("rule: a # x\n", "rule: a  # x\n"),
        ("rule: # x\n  a\n", "rule: a  # x\n"),
        ("rule:\n  # x\n  a\n", "# x\nrule: a\n"),
        ("{rule: a, title: b}\n", "rule: a\ntitle: b\n"),
        ("--- # x\nrule: a\n...\n# y\n", "# x\nrule: a\n# y\n"),
        ("kb: [a: 1, {b}]\n", "kb: [{a: 1}, {b: null}]\n"),
        ("let:\n    a: 1\n    # tail\nwhen: a\n", "let:\n  a: 1\n  # tail\nwhen: a\n"),
        ("let:\n    a: 1\n# head\nwhen: a\n", "let: {a: 1}\n# head\nwhen: a\n"),
        ("fix:\n- # x\n  do: a\n", "fix:\n  # x\n  - do: a\n"),
        ("fix:\n-\n  # x\n  do: a\n", "fix:\n  # x\n  - do: a\n"),
        ("ask: |+\n  a\n\n\nrule: b\n", "rule: b\n\nask: |+\n  a\n\n\n"),
        ("rule: |+\n a\n\nask: b\n", "rule: |+\n  a\n\nask: b\n"),
        ("ask: |+\n  a\n", "ask: |\n  a\n"),
        ("ask: |4-\n      a\n", "ask: |2-\n    a\n"),
        ("ask: |\n  a", "ask: |-\n  a\n"),
        ("ask: >- # x\n    a\n    b\n", "ask: >-  # x\n  a b\n"),
        ("about: a\n  b\n\n  c\n", "about: >-\n  a b\n\n  c\n"),
        ("rule: a\r\ntitle: b\r\n", "rule: a\ntitle: b\n"),
        ("\ufeffrule: a\n", "rule: a\n"),
        ("caution: &c 'x'\nask: *c\n", "caution: &c 'x'\nask: *c\n"),
        ("not_this:\n\n- a\n\n\n- b\n- c\n", "not_this: [a, b, c]\n"),
        ("kb: [a\n b, c]\n", "kb: [a b, c]\n"),
        ("not_this:\n  - a\n\n  # c\n\n  - b\n", "not_this:\n  - a\n  # c\n\n  - b\n"),
        ("let:\n  a: 1\n# one\n  # two\nwhen: a\n", "let: {a: 1}\n# one\n# two\nwhen: a\n"),
        ("# c\n\n# yaml-language-server: x\nrule: a\n", "# c\nrule: a\n"),
        ("# yaml-language-server: x\n\n# c\nrule: a\n", "# c\nrule: a\n"),
        ("# yaml-language-server: x\nrule: a\n", "rule: a\n"),
        ("unheard_of: 1\nrule: a\n", "rule: a\n\nunheard_of: 1\n"),
    ],
)
def test_how_odd_writing_is_laid_out(before: str, after: str) -> None:
    """One case a line: where comments go, what becomes of `---`, flow and block texts, line ends, blank lines."""
    assert check_kept(before) == after


def test_an_anchor_stays_above_its_aliases() -> None:
    """Where the order of keys would put an alias first, the author's order stays."""
    text = "ask: &a vm-support\ncaution: *a\nrule: x\n"
    assert list(RuleText("x", format_rule(text)).tree().value) == ["ask", "caution", "rule"]
    assert format_rule("caution: *a\n".join(["ask: &a x\n", ""])) == "ask: &a x\ncaution: *a\n"


def test_the_width_holds_for_plain_text_and_rows_and_not_for_quotes() -> None:
    """What fits the widest line stays whole; plain text folds, an expression at its `or`, a row behind its bracket."""
    fits = "word " * 20 + "end"
    wide = "word " * 30 + "end"
    result = check_kept(
        f"about: {fits}\ncaution: {wide}\nask: '{wide}'\n"
        + "when: " + " or ".join(f'(one.a == "x or {n}" and one.b)' for n in range(9)) + "\n"
        + "evidence: [" + ", ".join(f"one.column_{n}" for n in range(14)) + "]\n"
    )  # fmt: skip
    assert f"about: {fits}\n" in result
    assert f"ask: '{wide}'\n" in result
    assert "caution: word word" in result and "end\n" in result
    assert 'when: >-\n  (one.a == "x or 0" and one.b)' in result
    starts = [line for line in result.split("\n") if line.startswith("  or (")]
    assert len(starts) == 2
    assert "\n           one.column_" in result
    for line in result.split("\n"):
        assert len(line) <= MOST or line.startswith("ask: '")


def test_a_paragraph_is_filled_and_what_is_deeper_stays() -> None:
    """Prose is filled behind its key where it reads without quotes, else below it; an expression keeps its lines."""
    assert check_kept("about: >-\n  One.\n  Two.\n") == "about: One. Two.\n"
    long = "Frames are lost, and so is time. " * 6
    assert check_kept(f"about: >-\n  {long.strip()}\n").startswith("about: Frames are lost")
    text = "about: >-\n  One.\n  Two: 2.\n\n  " + "three " * 25 + "3\n  four\n    deep   as it is\n"
    result = check_kept(text)
    assert result.startswith("about: >-\n  One. Two: 2.\n\n  three")
    assert result.endswith("four\n    deep   as it is\n")
    wide = "when: >-\n  " + "a" * 60 + "\n  and " + "b" * 60 + "\n"
    assert check_kept(wide) == wide


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "outcomes:\n  - when: a > 1\n    severity: info\n    say: b\n  - when: true\n    severity: info\n",
            "outcomes:\n  - {when: a > 1, severity: info, say: b}\n  - {when: true, severity: info}\n",
        ),
        ("sign:\n  in: esxi.vobd\n  match: 'a, b'\n", "sign: {in: esxi.vobd, match: 'a, b'}\n"),
        ("let:\n  a: count(x, y)\n", 'let: {a: "count(x, y)"}\n'),
        ("let:\n  a: 1  # why\n  b: 2\n", "let:\n  a: 1  # why\n  b: 2\n"),
        ("source:\n  - one\n", "source: one\n"),
        ("fix:\n  host: >-\n    a\n    b\n", "fix: {host: a b}\n"),
        ("object: '{a.b}'\nsubject: \"{a.b}\"\n", "object: '{a.b}'\n"),
        ("object: ['{a.b}', c]\nsubject: '{a.b}'\n", "object: ['{a.b}', c]\n"),
        ("object: a\nsubject: a\nsign: {in: b, match: c}\n", "sign: {in: b, match: c}\nsubject: a\nobject: a\n"),
        ("examples:\n  match: |\n    1: a\n", 'examples:\n  match: "1: a"\n'),
        ("examples:\n  - files:\n      - text: |\n          a\n", "examples:\n  - files:\n      - text: |\n          a\n"),
    ],
)  # fmt: skip
def test_what_fits_is_written_on_one_line(before: str, after: str) -> None:
    """Small collections go into braces, a default is not repeated, a comment keeps its block."""
    assert check_kept(before) == after


def test_lines_that_differ_by_an_even_stamp_alone_are_one() -> None:
    """A run is folded only where writing it out gives its bytes again; what moves otherwise stays."""
    lines = [f"2024-03-01T10:00:{second:02d}.000Z cpu1: x" for second in (0, 10, 20, 30)]
    odd = "2024-03-01T10:00:59.000Z cpu1: x"

    def case(*rows: str) -> str:
        return "examples:\n  match:\n    - |\n" + "".join(f"      {row}\n" for row in rows)

    assert (
        check_kept(case(*lines)).splitlines()[-1].strip()
        == f'match: ["(repeat: 4 in 30s) {lines[0]}"]'
    )
    assert check_kept(case(*lines, odd)) == case(f"(repeat: 4 in 30s) {lines[0]}", odd)
    assert check_kept(case(lines[0], lines[1], odd)) == case(lines[0], lines[1], odd)


def test_a_command_in_backticks_is_not_broken() -> None:
    """A command inside a sentence stays on one line."""
    result = check_kept(
        "ask: " + "word " * 20 + "`show control-cluster status` of each of the controllers\n"
    )
    assert result.endswith("word\n  `show control-cluster status` of each of the controllers\n")


def test_words_inside_quotes_are_no_connectives() -> None:
    """An expression is not broken before an `or` that stands in a text."""
    result = check_kept(
        "when: "
        + " and ".join(
            f"one.s == 'it is a long text or {n} or \"that\" and then some more'" for n in range(4)
        )
        + "\n"
    )
    assert len(result.split("\n")) > 3
    assert all(
        line.startswith(("when", "  one.s", "  and one.s")) for line in result.strip().split("\n")
    )


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("", "the file is empty", 1),
        ("rule: a\nkb: [1, 2\n", "not YAML", 3),
        ("rule: a\n\tb: 1\n", "not YAML", 2),
        ("- a\n", "the rule must be a mapping, not a list", 1),
        ("rule: a\nrule: b\n", "key `rule` is given twice", 2),
        ("rule: !!str a\n", "a YAML tag is not allowed", 1),
        ("rule: a\ntitle: b\u2028c\n", "a line break that editors do not show (U+2028)", 2),
        ("rule: a\nlogs:\n  ? |\n   b\n  : c\n", "a key over several lines", 3),
        ("rule: a\nkb: [1, # one\n 2]\n", "a comment inside [ ] or { } cannot keep its place", 2),
        ("rule: a\nkb: [ # none\n ]\n", "a comment inside [ ] or { }", 2),
        ("rule: a\nlet: {a: {b: 1,\n # x\n c: 2}}\n", "a comment inside [ ] or { }", 3),
        ("rule: a\nkb: [a\n\n b, c]\n", "a text over several lines inside [ ] or { }", 2),
        ("rule: a\nkb: ['a\n b', c]\n", "a text over several lines inside [ ] or { }", 2),
        ("rule: a\nask: &a # x\n  b\n", "a comment between an anchor and its value", 2),
    ],
)
def test_what_is_no_rule_file_is_refused_with_its_place(text: str, message: str, line: int) -> None:
    """No text comes back for what cannot be read."""
    with pytest.raises(BadRuleError) as caught:
        format_rule(text)
    assert message in caught.value.message
    assert caught.value.place.line == line


@pytest.mark.size
@settings(max_examples=150)
@given(st.data())
def test_damage_gives_the_same_values_or_a_refusal(data: st.DataObject) -> None:
    """A rule with a stretch cut out and something put in anywhere is formatted without loss, or refused in words."""
    text = SHIPPED[0].read_text(encoding="utf-8")
    start = data.draw(st.integers(0, len(text)))
    stop = data.draw(st.integers(start, min(len(text), start + 30)))
    signs = [
        ":",
        "\n",
        "- ",
        "{",
        "]",
        "'",
        "&a ",
        "*a",
        "!x ",
        "\t",
        "#",
        " # x\n",
        "\x85",
        "\u2028",
        "|+\n",
        "\0",
        "? ",
    ]
    put = data.draw(
        st.one_of(st.sampled_from(signs), st.text(st.characters(codec="utf-8"), max_size=4))
    )
    damaged = text[:start] + put + text[stop:]
    try:
        result = format_rule(damaged)
    except BadRuleError as error:
        assert "rule.yaml:" in str(error)
        return
    assert (
        RuleText("a", result).tree().plain()
        == RuleText("b", damaged.replace("\r", "\n")).tree().plain()
    )
    assert format_rule(result) == result


@pytest.mark.size
@pytest.mark.parametrize(
    "text",
    [
        "about: >-\n  " + "`a " * 60_000,
        "about: " + "a " * 60_000 + "\n",
        "about: >-\n  a" + " " * 120_000 + "b\n",
        "when: " + "(a or b) " * 15_000 + "\n",
        "kb: [" + "a: 1, " * 10_000 + "]\n",
        "kb:\n" + "  - 1 # x\n  # y\n" * 9_000,
        "#\n" * 60_000 + "rule: a\n",
        "kb: [" + "a, # x\n " * 9_000 + "]\n",
        "kb: " + "[" * 18 + "a, " * 9_000 + "]" * 18 + "\n",
    ],
    ids=lambda text: text[:12],
)
def test_a_large_file_takes_time_by_its_length(text: str) -> None:
    """A hundred thousand characters of the worst kind are laid out in seconds, not in minutes."""
    start = time.process_time()
    with suppress(BadRuleError):  # a comment inside brackets is refused, as fast
        format_rule(text)
    assert time.process_time() - start < 5


def test_a_result_that_says_something_else_is_never_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """Should the layout ever lose a comment or change a value, the file is left as it is."""
    for wrong in ("rule: b\n", "rule: a\n# y\n", "rule: [\n"):
        monkeypatch.setattr(fmt, "print_document", lambda _document, wrong=wrong: wrong)
        with pytest.raises(BadRuleError, match="cannot be formatted"):
            format_rule("rule: a\n# x\n")


# -- files


def test_mode_and_line_ends_of_a_file_stay(tmp_path: Path) -> None:
    """CRLF files stay CRLF, a byte order mark goes, the permissions are those of before."""
    path = tmp_path / "a.yaml"
    path.write_bytes(b"\xef\xbb\xbftitle: b\r\nrule: a\r\n")
    path.chmod(0o640)
    fmt.write_layout(fmt.read_layout(path))
    assert path.read_bytes() == b"rule: a\r\ntitle: b\r\n"
    assert path.stat().st_mode & 0o777 == 0o640
    assert not fmt.read_layout(path).is_changed
    assert [one.name for one in tmp_path.iterdir()] == ["a.yaml"]


def test_a_failed_write_leaves_the_file_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the last step fails the old text is there, and nothing else lies beside it."""
    path = tmp_path / "a.yaml"
    path.write_text("title: b\nrule: a\n")
    layout = fmt.read_layout(path)

    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(BacklineError, match="cannot be written"):
        fmt.write_layout(layout)
    assert path.read_text() == "title: b\nrule: a\n"
    assert [one.name for one in tmp_path.iterdir()] == ["a.yaml"]


def run(*words: object, text: str | None = None) -> tuple[int, str, str]:
    """Run the command; returns exit code, stdout, stderr."""
    done = CliRunner().invoke(main, ["rules", "fmt", *map(str, words)], input=text)
    return done.exit_code, done.stdout, done.stderr


def test_a_link_is_not_written_through(tmp_path: Path) -> None:
    """What a link leads to may lie anywhere: the file stays, the exit code tells."""
    (tmp_path / "rules").mkdir()
    target = tmp_path / "elsewhere.yaml"
    target.write_text("title: b\nrule: a\n")
    link = tmp_path / "rules" / "a.yaml"
    link.symlink_to(target)
    status, _, said = run(tmp_path / "rules")
    assert (status, target.read_text()) == (1, "title: b\nrule: a\n")
    assert "symbolic link" in said
    assert link.is_symlink()


def test_check_and_diff_write_nothing_and_the_exit_code_tells(tmp_path: Path) -> None:
    """0 and 1 as other formatters; a second run finds nothing to do."""
    path = tmp_path / "a.yaml"
    path.write_text("title: b\nrule: a\n")
    assert run(path, "--check")[:2] == (1, f"would change: {path}\n")
    status, shown, _ = run(path, "--diff")
    assert status == 0 and sorted(shown.split("\n")[3:]) == [
        "",
        " title: b",
        "+rule: a",
        "-rule: a",
    ]
    assert path.read_text() == "title: b\nrule: a\n"
    assert run(path) == (0, f"formatted: {path}\n", "1 file, 1 changed\n")
    assert run(path, "--check") == (0, "", "1 file, 0 would change\n")


def test_a_broken_file_stops_no_other(tmp_path: Path) -> None:
    """The broken one is told with its place and keeps its bytes; the other is formatted."""
    (tmp_path / "a.yaml").write_bytes(b"rule: [\n")
    (tmp_path / "b.yaml").write_text("title: b\nrule: b\n")
    status, shown, said = run(tmp_path)
    assert status == 4
    assert "a.yaml:2:1" in said and "formatted" in shown
    assert (tmp_path / "a.yaml").read_bytes() == b"rule: [\n"
    assert (tmp_path / "b.yaml").read_text() == "rule: b\ntitle: b\n"


def test_standard_input_goes_to_standard_output() -> None:
    """`-` is for editors; a file that is none gives the message and no text."""
    assert run("-", text="title: b\nrule: a\n")[:2] == (0, "rule: a\ntitle: b\n")
    assert run("-", "--check", text="title: b\nrule: a\n")[:2] == (1, "")
    status, shown, said = run("-", text="rule: [")
    assert (status, shown) == (4, "") and "standard input:2:1" in said


def test_nothing_is_written_that_nobody_named() -> None:
    """Without a name the command says what to give; the rules of the tool are not touched by accident."""
    status, _, said = run()
    assert status == 2 and "no rule is named" in said


def test_what_ruamel_yaml_loses_is_kept_or_refused() -> None:
    """Why `rules fmt` is our own: ruamel.yaml drops a comment inside brackets, and keeps one at the key before it."""
    yaml = YAML()

    def written(text: str, order: Sequence[str] = ()) -> str:
        tree, out = yaml.load(text), io.StringIO()
        for key in order:
            tree.move_to_end(key)
        yaml.dump(tree, out)
        return out.getvalue()

    assert "the first" not in written("by: [a, # the first\n  b]\n")
    moved = written("when: a\n# why the fix\nfix: b\nsay: c\n", ["fix", "say", "when"])
    assert moved.index("# why the fix") > moved.index("when:")

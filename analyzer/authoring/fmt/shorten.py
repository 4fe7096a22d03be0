"""`rules fmt --short`: a long rule in the short form, where that says the same.

The keys that the short form derives are taken out of the text, names are put in the place of others, and bare lines
in the place of examples. Both texts are then read, and every part of the two rules is compared: names apart they
must be equal, or the file is left alone.
"""

from __future__ import annotations

import re

from analyzer import rules
from analyzer.authoring.fmt.layout import formatted
from analyzer.authoring.fmt.sameness import same_rule
from analyzer.authoring.fmt.yamltext import block, flow, scalar
from analyzer.rules import Rule
from analyzer.rules.language.rulefile import RuleItem, SharedParts
from analyzer.rules.short import LINE, MADE, SIGN, SUBJECT, is_short
from analyzer.rules.short_examples import CASE_KEYS
from analyzer.runtime.errors import BacklineError

_TOP = re.compile(r"([a-z_]+):")
_ENTRY = re.compile(r"  ([a-z_0-9]+):(.*)$")
_ANSWER = re.compile(r"\s+(?:- )?(when|severity|confidence|say): (.*)$")
_PLAIN = (
    "only",
    "let",
    "when",
    "evidence",
    "chart",
    "seen",
    "join",
)  # expressions and names throughout
_MIXED = (
    "grade",
    "outcomes",
    "notes",
    "fix",
    "subject",
    "object",
)  # texts with values in braces, and conditions
_RESULTS = ("match", "no_match", "cannot_tell")

Blocks = dict[str, list[str]]


def shortened(
    text: str, name: str = "rule.yaml", shared: SharedParts | None = None
) -> tuple[str, str]:
    """Return a rule file in the short form and "", or the file as it is and why it stays so.

    Raises BadRuleError when the file is no rule.
    """
    rule = rules.parse(text, name=name, shared=shared)
    if (
        is_short(rule.text.tree()) or rule.each.table.lines_of is None
    ):  # a rule over rows has no other form
        return text, ""
    why = _unfit(rule)
    if why:
        return text, why
    try:
        short = formatted("\n".join(_Shortener(rule, text).lines()) + "\n", name)
        same = _same(rule, rules.parse(short, name=name, shared=shared))
    except (BacklineError, _OddError) as error:
        return text, str(error).splitlines()[0]
    if not set(_comments(text)) <= set(_comments(short)):
        return text, "a comment would be lost"
    return (short, "") if same else (text, "the short form would have another meaning")


def _comments(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.lstrip().startswith("#")]


class _OddError(Exception):
    """A part is written in a way that cannot be taken apart line by line."""


def _unfit(rule: Rule) -> str:
    if not rule.each.table.key or rule.population is not None:
        return "it does not judge what the lines of a signature name"
    if rule.object is None:
        return "it has no `object`, and the short form gives every rule one"
    own = {rule.each.name, _line(rule), rule.each.table.signature}
    taken = ({*rule.aliases, *rule.logs, *rule.lets, *rule.seen} - own) & {SIGN, *MADE}
    if taken:
        return f"its name `{min(taken)}` means something else in the short form"
    return ""


def _line(rule: Rule) -> str:
    """Return the alias of the join of all lines of a subject, "" when there is none."""
    per = () if rule.each.table.key == ("node",) else rule.each.table.key
    for join in rule.joins:
        own = join.alias.table.signature == rule.each.table.signature and join.alias.many
        if (
            own
            and tuple(theirs for _, theirs in join.by) == per
            and join.where is None
            and not join.any_node
        ):
            return join.alias.name
    return ""


class _Shortener:
    def __init__(self, rule: Rule, text: str) -> None:
        self.rule, self.blocks = rule, _blocks(text)
        self.signature, self.line = rule.each.table.signature, _line(rule)
        self.hidden = {*rule.lets, *rule.seen}  # names that hide a column of the same name

    def lines(self) -> list[str]:
        """Return the lines of the short file; the formatter puts them in order."""
        rule, blocks = self.rule, self.blocks
        sign = self._sign(_cut(blocks, "logs", self.signature))
        if self.line:
            _cut(blocks, "join", self.line)
        for key in _PLAIN:
            blocks[key] = [self._renamed(line) for line in blocks.get(key, [])]
        for key in _MIXED:
            blocks[key] = [self._mixed(line) for line in blocks.get(key, [])]
        shown = " ".join(f"{{{rule.each.name}.{column}}}" for column in rule.each.table.key)
        number = re.match(r"kb-(\d+)$", rule.id)
        drop = {"each"}
        drop |= {"subject"} if rule.subject.text == shown else set()
        drop |= (
            {"object"}
            if rule.object is not None and rule.object.text == shown and not rule.rests_on
            else set()
        )
        drop |= {"kb"} if (number and rule.kb == [int(number[1])]) or not rule.kb else set()
        drop |= {"evidence"} if [node.text for node in rule.evidence] == [self.signature] else set()
        drop |= {"when"} if rule.when.text == self.signature else set()
        drop |= {"ask"} if set(rule.ask.values()) <= {rule.each.table.ask} else set()
        blocks["outcomes"] = self._answer(blocks["outcomes"])
        blocks["examples"] = self._examples(blocks.get("examples", []))
        head = [line for key in ("", "rule") for line in blocks.get(key, [])]
        rest = [
            line
            for key, lines in blocks.items()
            if key not in ("", "rule", *drop)
            for line in lines
        ]
        return [*head, *sign, *rest]

    def _sign(self, lines: list[str]) -> list[str]:
        per = self.rule.each.table.key
        told = "" if per == ("node",) else per[0] if len(per) == 1 else f"[{', '.join(per)}]"
        first = lines[0].partition(":")[2].strip()
        if first.startswith("{") and first.endswith("}"):
            return [f"sign: {first[:-1]}{f', per: {told}' if told else ''}}}"]
        if first:
            raise _OddError("the signature is written in an odd way")
        return ["sign:", *(line[2:] for line in lines[1:]), *([f"  per: {told}"] if told else [])]

    def _renamed(self, text: str) -> str:
        each, line = self.rule.each.name, self.line

        def column(found: re.Match[str]) -> str:
            return f"{SUBJECT}.{found[1]}" if found[1] in self.hidden else found[1]

        text = re.sub(rf"(?<![\w.]){each}\.([a-z]\w*)", column, text)
        if line:
            text = re.sub(rf"(?<![\w.]){line}(?=\.[a-z]|\))", LINE, text)
        return re.sub(rf"(?<![\w.]){self.signature}(?!\w)", SIGN, text)

    def _mixed(self, text: str) -> str:
        if re.match(r"\s*(?:- )?when: ", text):
            return self._renamed(text)
        return re.sub(r"\{[^{}]*\}", lambda found: self._renamed(found[0]), text)

    def _answer(self, lines: list[str]) -> list[str]:
        """Return the one answer of a rule by its keys; more of them as they are."""
        found = [_ANSWER.match(line) for line in lines[1:] if line.strip()]
        parts = {one[1]: one[2] for one in found if one is not None}
        one = len(self.rule.outcomes) == 1 and self.rule.outcomes[0].when.value is True
        if not one or None in found or not re.match(r"outcomes:\s*$", lines[0]):
            return lines
        return [f"{key}: {parts[key]}" for key in ("severity", "confidence", "say") if key in parts]

    def _examples(self, lines: list[str]) -> list[str]:
        """Return bare lines for the examples that are no more than that; others, or all, as they are."""
        item = self.rule.text.tree().value.get("examples")
        home = self.rule.each.table.declared.name
        others = {log.table.name for log in self.rule.logs.values()} - {home}
        if item is None or others or any(line.lstrip().startswith("#") for line in lines):
            return lines
        cases: dict[str, list[str]] = {}
        more: list[str] = []
        chunks = _chunks(lines)
        if len(chunks) != len(item.value):
            return lines
        for child, chunk in zip(item.value, chunks, strict=True):
            if _says_missing(child, home):
                continue
            case = _case(child, home)
            if case is None:
                more += [f"  {line}" if line else "" for line in chunk]
            else:
                cases.setdefault(child.value["expect"].value["result"].text, []).extend(case)
        found = [line for key in _RESULTS if key in cases for line in (f"  {key}:", *cases[key])]
        return ["examples:", *found, *(["  more:", *more] if more else [])]


def _says_missing(item: RuleItem, home: str) -> bool:
    """Tell whether an example is the one that is made: the log is not in the case."""
    plain = item.plain()
    expect = plain.pop("expect")
    plain.pop("name")
    open_ = {"result": "cannot_tell"}
    return plain == {"logs": {home: None}} and expect in (open_, {**open_, "missing": home})


def _case(item: RuleItem, home: str) -> list[str] | None:
    """Return an example as an entry of bare lines, None where it is more."""
    plain = item.plain()
    expect = plain["expect"]
    text = plain.get("logs", {}).get(home)
    if (
        set(plain) != {"name", "logs", "expect"}
        or set(plain["logs"]) != {home}
        or not isinstance(text, str)
    ):
        return None
    if (
        expect["result"] not in _RESULTS
        or not set(expect) - {"result"} <= set(CASE_KEYS)
        or not text.strip()
    ):
        return None
    lines = [
        f"    - name: {scalar(item.value['name'].text)}",
        *block("lines", text.splitlines(), 6),
    ]
    rest = {key: value for key, value in expect.items() if key != "result"}
    return [*lines, *(f"      {flow({key: value})[1:-1]}" for key, value in rest.items())]


# -- the text, key by key


def _blocks(text: str) -> Blocks:
    """Return the lines of the top-level keys; comments above a key belong to it, those above the first to ""."""
    found: Blocks = {"": []}
    waiting: list[str] = []
    last = found[""]
    for line in text.splitlines():
        if key := _TOP.match(line):
            last = found[key[1]] = [*waiting, line]
            waiting = []
        elif line.startswith("#"):
            (waiting if len(found) > 1 else last).append(line)
        elif line.strip() or last is not found[""]:
            last.append(line)
    return found


def _cut(blocks: Blocks, key: str, name: str) -> list[str]:
    """Take one entry out of a mapping and return its lines; the mapping goes with its last entry."""
    lines = blocks.get(key, [])
    start = next(
        (at for at, line in enumerate(lines) if (found := _ENTRY.match(line)) and found[1] == name),
        None,
    )
    if start is None:
        raise _OddError(f"`{key}` is not written one entry after another")
    end = start + 1
    while end < len(lines) and (not lines[end].strip() or lines[end].startswith("   ")):
        end += 1
    taken = lines[start:end]
    blocks[key] = lines[:start] + lines[end:]
    if not any(_ENTRY.match(line) for line in blocks[key]):
        del blocks[key]
    return [line for line in taken if line.strip()]


def _chunks(lines: list[str]) -> list[list[str]]:
    found: list[list[str]] = []
    for line in lines[1:]:
        if line.startswith("  - "):
            found.append([])
        if found:
            found[-1].append(line)
    return found


# -- whether both say the same


def _same(one: Rule, two: Rule) -> bool:
    """Compare two rules but for the names of subject, lines and signature."""
    line = _line(one)
    names = {
        one.each.name: SUBJECT,
        one.each.table.signature: SIGN,
        **({line: LINE} if line else {}),
    }
    extra = not line and any(join.alias.name == LINE for join in two.joins)
    return not extra and same_rule(one, two, names)

"""`rules fmt --short`: leaves out of a rule file what the loader takes without it; each part takes its shortest form.

    status: test, revised as in shared.yaml, kb as in the id       nothing
    a list of one text                                              the text
    fix: [{where, do}, …]                                           where: what to do, or a command in backticks
    a folded text that fits on a line, or on fewer of them          that line, those lines
    cases of one line each, named by their release or not at all    lines below each other
    outcomes with one answer; examples of a rule over rows          the answer; examples below their results

The parts are changed in the concrete tree, so that comments stay where they are; what has a comment is left as it is.
Both texts are then read and compared: a file whose rule would differ in anything but names of examples stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from analyzer import rules
from analyzer.authoring.fmt.by_result import by_result
from analyzer.authoring.fmt.layout import formatted
from analyzer.authoring.fmt.printing import printed
from analyzer.authoring.fmt.sameness import same_rule
from analyzer.authoring.fmt.text import MOST, one_line_scalar
from analyzer.authoring.fmt.tree import CannotLayOutError, YamlEntry, YamlNode, read
from analyzer.rules import Rule
from analyzer.rules.language.rulefile import SharedParts
from analyzer.rules.short_examples import cases_by_line
from analyzer.runtime.errors import BacklineError

_SEVERAL = ("source", "not_this", "explained_by", "replaces")
_RELEASE = re.compile(r"(?:(?:the )?form of )?\d\.(?:\d|x)\Z")  # the line shows it


def compacted(text: str, name: str = "rule.yaml", shared: SharedParts | None = None) -> str:
    """Return a rule file with nothing in it that goes without saying; as it is where that would change the rule.

    Raises BadRuleError when the file is no rule.
    """
    rule = rules.parse(text, name=name, shared=shared)
    undated = rules.parse(re.sub(r"(?m)^revised:.*\n", "", text), name=name, shared=shared)
    try:
        document = read(text)
        _Compactor(rule, undated.revised).edit(document.root)
        short = formatted(printed(document), name)
        again = rules.parse(short, name=name, shared=shared)
    except (BacklineError, CannotLayOutError):
        return text
    fewer = len(short.splitlines()) < len(text.splitlines())
    return short if fewer and same_rule(rule, again) and rule.revised == again.revised else text


class _Compactor:
    """Changes the tree of one file in place."""

    def __init__(self, rule: Rule, day: str) -> None:
        self.rule, self.day = rule, day

    def edit(self, root: YamlNode) -> None:
        """Change every part that has a shorter form."""
        root.entries = [
            one for entry in root.entries if not self._goes_without(entry) for one in _answer(entry)
        ]
        for entry in root.entries:
            if entry.name in _SEVERAL:
                _unwrap(entry)
            elif entry.name == "fix":
                _steps(entry)
            elif entry.name == "examples" and entry.value.kind == "map":
                self._examples(entry.value)
            elif entry.name == "examples" and entry.value.kind == "seq" and not _commented(entry):
                entry.value = by_result(entry.value, self.rule)
            _unfold(entry, 0)
            for inner in (
                entry.value.entries
                if entry.value.block and entry.name in (*_SEVERAL, "fix")
                else ()
            ):
                _unfold(inner, 2)
            if entry.name == "fix":
                _on_one_line(entry)

    def _goes_without(self, entry: YamlEntry) -> bool:
        if _commented(entry):
            return False
        number = re.match(r"kb-(\d+)\Z", self.rule.id)
        return (
            (entry.name == "status" and entry.value.value == "test")
            or (entry.name == "revised" and entry.value.value == self.day)
            or (entry.name == "kb" and self.rule.kb == ([int(number[1])] if number else []))
        )

    def _examples(self, node: YamlNode) -> None:
        for entry in node.entries:
            if entry.name == "more" or entry.value.kind != "seq":
                continue
            for case in entry.value.entries:
                _unname(case)
            _unwrap(entry)
            texts = [case.value for case in entry.value.entries if not _commented(case)]
            each = cases_by_line(self.rule, entry.name)
            if (
                each
                and len(texts) == len(entry.value.entries)
                and all(map(_is_line, texts))
                and texts
            ):
                entry.value = _lines("".join(text.value.rstrip("\n") + "\n" for text in texts))


def _answer(entry: YamlEntry) -> list[YamlEntry]:
    """Return the parts of the one answer of a rule in the place of its list."""
    answers = entry.value.entries if entry.name == "outcomes" and entry.value.kind == "seq" else []
    parts = {part.name: part for part in answers[0].value.entries} if len(answers) == 1 else {}
    if "when" not in parts or parts["when"].value.raw != "true" or _commented(entry):
        return [entry]
    return [part for name, part in parts.items() if name != "when"]


def _commented(entry: YamlEntry) -> bool:
    """Tell whether a comment belongs to an entry or to anything in it."""
    return bool(entry.above or entry.beside or entry.below) or any(
        map(_commented, entry.value.entries)
    )


def _unwrap(entry: YamlEntry) -> None:
    """Put the one text of a list in its place."""
    found = entry.value.entries if entry.value.kind == "seq" else []
    if len(found) == 1 and found[0].value.kind == "scalar" and not _commented(found[0]):
        entry.value = found[0].value


def _unname(case: YamlEntry) -> None:
    """Put the lines of a case in its place where nothing but its release is said of it."""
    parts = {entry.name: entry.value for entry in case.value.entries}
    if (
        set(parts) == {"name", "lines"}
        and _RELEASE.match(parts["name"].value)
        and not _commented(case)
    ):
        case.value = parts["lines"]


def _is_line(node: YamlNode) -> bool:
    return (
        node.kind == "scalar"
        and "\n" not in node.value.strip("\n")
        and node.value[:1].strip() != ""
    )


def _steps(entry: YamlEntry) -> None:
    """Write steps of a place and what to do there as pairs."""
    if entry.value.kind != "seq" or _commented(entry):
        return
    found: list[YamlEntry] = []
    for step in entry.value.entries:
        parts = {part.name: part.value for part in step.value.entries}
        where, done = parts.get("where"), parts.get("do") or parts.get("run")
        if (
            where is None
            or done is None
            or len(parts) != 2
            or done.kind != "scalar"
            or where.kind != "scalar"
        ):
            return
        if "run" in parts:
            done = one_line_scalar(f"`{done.value.strip()}`")
        found.append(YamlEntry(one_line_scalar(where.value), done, step.start, step.column))
    if found and len({one.name for one in found}) == len(found):
        entry.value = YamlNode("map", entry.value.start, entry.value.end, "block", entries=found)


def _on_one_line(entry: YamlEntry) -> None:
    """Write the one step of a remedy behind its key where it fits there."""
    node = entry.value
    if node.kind != "map" or not node.block or len(node.entries) != 1 or _commented(entry):
        return
    (step,) = node.entries
    if (
        step.value.kind != "scalar"
        or step.value.style in ("|", ">")
        or "\n" in step.value.raw
        or step.key is None
    ):
        return
    words = one_line_scalar(step.value.value, flow=True)
    if len(entry.name) + len(step.key.raw) + len(words.raw) + 6 <= MOST and not set(
        step.key.raw
    ) & set("[]{},"):
        step.value, node.style = words, "flow"


def _unfold(entry: YamlEntry, column: int) -> None:
    """Write a folded text on one line, or on the fewest lines, where nothing but its breaks changes."""
    node = entry.value
    words = " ".join(node.value.split(" "))
    if node.style != ">" or "\n" in node.value or "`" in words:
        return
    start = column + (len(entry.key.raw) + 2 if entry.key else 2)
    flat = one_line_scalar(words)
    if start + len(flat.raw) <= MOST:
        entry.value = flat
    elif len(list(_filled(words, MOST - column - 2))) < len(node.raw.strip().splitlines()) - 1:
        entry.value = YamlNode(
            "scalar", node.start, node.end, ">", f">-\n  {words}", words, indent=0
        )


def _filled(words: str, width: int) -> Iterator[str]:
    line = ""
    for word in words.split(" "):
        if line and len(line) + 1 + len(word) > width:
            yield line
            line = ""
        line += f" {word}" if line else word
    yield line


def _lines(text: str) -> YamlNode:
    return YamlNode("scalar", 0, 0, "|", "|", text)

"""Size limits of a rule file: a stranger's file must fill neither memory nor the report.

No number here is near what a rule needs: each is far above the largest rule of the tool.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from analyzer.rules.language.expression import ExprNode
from analyzer.rules.language.rulefile import FileSpan, RuleItem, RuleText, walk_items
from analyzer.rules.model import Rule
from analyzer.runtime.text import UNSAFE

# Key -> how many entries it may have.
ENTRIES = {
    "kb": 100,
    "issues": 100,
    "source": 50,
    "tags": 20,
    "replaces": 50,
    "join": 20,
    "logs": 50,
    "seen": 100,
    "let": 100,
    "grade": 20,
    "outcomes": 50,
    "notes": 50,
    "evidence": 100,
    "chart": 20,
    "fix": 50,
    "not_this": 50,
    "explained_by": 50,
    "ask": 100,
    "examples": 500,
}
TEXT = 8000  # characters of one text; of texts in examples the sum over the file is bounded
PATTERNS = 16_384  # characters of all signatures together
EXAMPLE_TEXT = 4 << 20
EXAMPLE_ROWS = 50_000  # of all examples, series and aliases written out
PARTS = 20_000  # of all expressions and their parts, each with all names written out
DEPTH = 60  # of an expression, with all names written out


def check_entries(text: RuleText, keys: Mapping[str, RuleItem]) -> None:
    """Refuse too many entries, too long texts and texts that steer; raises BadRuleError."""
    for key, item in keys.items():
        most = ENTRIES.get(key)
        if most is not None and isinstance(item.value, dict | list) and len(item.value) > most:
            raise text.error(
                f"more than {most} entries under `{key}`", item.place, "split the rule in two"
            )
        if key != "examples":
            for part in walk_items(item):
                for name, place in part.keys.items():
                    if found := UNSAFE.search(name):
                        raise text.error(
                            f"a control character in a key of `{key}`: {found[0]!r}", place
                        )
                if len(part.text) > TEXT:
                    raise text.error(f"a text of {len(part.text):,} characters under `{key}`", part.place,
                                     f"write at most {TEXT:,}")  # fmt: skip
                if found := UNSAFE.search(part.text):
                    place = text.within(part, found.start(), found.end())
                    raise text.error(
                        f"a control character, or one that reverses the order of letters: {found[0]!r}",
                        place,
                        "remove it; in a pattern write it as an escape in single quotes, '\\x1b'",
                    )
    if "logs" in keys:
        logs = keys["logs"]
        bodies = logs.value.values() if isinstance(logs.value, dict) else ()
        parts = [body.value for body in bodies if isinstance(body.value, dict)]
        if sum(len(part["match"].text) for part in parts if "match" in part) > PATTERNS:
            message = f"signatures of more than {PATTERNS:,} characters in all"
            raise text.error(message, logs.place, "split the rule in two")
    total = 0
    for part in walk_items(keys["examples"]) if "examples" in keys else ():
        total += len(part.text)
        if total > EXAMPLE_TEXT:
            message = f"examples of more than {EXAMPLE_TEXT:,} characters, aliases written out"
            raise text.error(message, part.place, "cut the texts down to the lines that matter")


def check_size(text: RuleText, rule: Rule) -> None:
    """Refuse a rule whose expressions together are too large or too deep; raises BadRuleError.

    The database works out every part that is shown by itself, and plans deep ones slowly.
    """
    templates = [rule.subject, rule.object, *rule.rests_on]
    templates += [one.say for parts in (rule.outcomes, rule.notes) for one in parts]
    templates += [text for step in rule.fix for text in step.templates]
    shown = [node for template in templates if template is not None for node in template.nodes()]
    depths: dict[int, int] = {}
    parts = 0
    for top in [*rule.expressions(), *shown, *rule.evidence, *rule.chart]:
        for node in _inside_out(top, depths):
            parts += node.size
            depths[id(node)] = 1 + max((depths[id(child)] for child in node.args), default=0)
            if depths[id(node)] > DEPTH:
                raise text.error(f"`{node.text[:60]}` is nested deeper than {DEPTH} levels with all names written out",
                                 FileSpan(), "write it in fewer steps")  # fmt: skip
    if parts > PARTS:
        message = f"the expressions have {parts:,} parts with all names written out; {PARTS:,} are allowed"
        raise text.error(
            message, FileSpan(), "name fewer values in `let`, or split the rule in two"
        )


def _inside_out(top: ExprNode, known: Mapping[int, int]) -> Iterator[ExprNode]:
    """Yield the nodes below and including `top` that are not known, each after its parts."""
    waiting = [top]
    while waiting:
        node = waiting[-1]
        missing = [child for child in node.args if id(child) not in known]
        if id(node) in known or not missing:
            waiting.pop()
            if id(node) not in known:
                yield node
        else:
            waiting += missing


def path_fault(path: str, others: Iterable[str]) -> str:
    """Return why an example cannot write a file under this name into its folder, or ""; `others` are there already."""
    parts = path.split("/")
    if path.startswith("/") or re.match(r"[A-Za-z]:", path) or "\\" in path:
        return "is absolute, or not written with /"
    if any(part in ("", ".", "..") for part in parts):
        return "leaves its folder, or has an empty part"
    if UNSAFE.search(path) or "\n" in path or "\t" in path:
        return "has a control character"
    if len(path.encode()) > 1000 or any(len(part.encode()) > 200 for part in parts):
        return "is too long"
    for other in others:
        if path == other or path.startswith(other + "/") or other.startswith(path + "/"):
            return f"cannot go with {other[:60]!r}"
    return ""

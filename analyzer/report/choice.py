"""A part of a case that somebody asked for: by severity, machine or rule. The document itself is never cut.

What is left out is counted in the first note of the part (`notes[0]`), so that no reader takes it for the whole case.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from analyzer.report.numbers import take_part
from analyzer.report.view import SEVERITIES
from analyzer.report.wording import Doc, join_few
from analyzer.runtime.errors import UsageError

_OF_NODE = ("problems", "timeline", "hosts", "topology", "harmless")


@dataclass(frozen=True, slots=True)
class Choice:
    """What is to be shown; empty words choose everything.

    severity  findings this severe or worse
    nodes     machines by name, its first label or a pattern such as `esx*`, in any case
    rules     ids of rules, or patterns
    """

    severity: str = ""
    nodes: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.severity or self.nodes or self.rules)

    def __str__(self) -> str:
        parts = [f"severity {self.severity} or worse"] if self.severity else []
        parts += [f"machine {' or '.join(self.nodes)}"] if self.nodes else []
        parts += [f"rule {' or '.join(self.rules)}"] if self.rules else []
        return ", ".join(parts)

    def check_names(self, doc: Doc) -> None:
        """Refuse a word that fits nothing of this case, with the names that would; raises UsageError."""
        for word in self.nodes:
            names = [name for node in doc["nodes"] if (name := str(node["name"] or node["id"]))]
            if not any(_is_called(name, [word]) for name in names):
                raise UsageError(
                    f"no machine of this case is called {word}",
                    do=f"It has {join_few(names, 10) or 'none'}.",
                )
        for word in self.rules:
            if not any(_fits_any(rule, [word]) for rule in _list_rules(doc)):
                do = "`backline rules list` has the ids; a draft needs --draft."
                raise UsageError(f"no rule of this case is called {word}", do=do)


def choose_part(doc: Doc, choice: Choice) -> Doc:
    """Return the part of a case document that `choice` names, as a document of its own."""
    if not choice:
        return doc
    findings = [one for one in doc["findings"] if _is_wanted(one, choice, doc)]
    there = {one["id"] for one in findings}
    part = doc | {
        "findings": [_cut_links(one, there, doc) for one in findings],
        "cannot_tell": [group for group in doc["cannot_tell"] if _is_asked_for(group, choice, doc)],
        "quiet": [
            row for row in doc["quiet"] if not choice.rules or _fits_any(row["rule"], choice.rules)
        ],
        "cuts": [
            cut for cut in doc["cuts"] if not choice.rules or _fits_any(cut["rule"], choice.rules)
        ],
    }
    if choice.nodes:
        part["nodes"] = [
            node for node in doc["nodes"] if _is_on_node(node["name"] or node["id"], choice, doc)
        ]
        part |= {
            key: [row for row in doc[key] if _is_on_node(row["node"], choice, doc)]
            for key in _OF_NODE
        }
    note = f"Showing {len(findings):,} of {len(doc['findings']):,} findings: {choice}. The case has more."
    return take_part(doc, part | {"notes": [note, *doc["notes"]]})


def _is_wanted(finding: Doc, choice: Choice, doc: Doc) -> bool:
    """Tell whether a finding is wanted; a rule that broke has no severity and is always told."""
    weighs = choice.severity and finding["verdict"] != "error"
    if weighs and SEVERITIES.index(finding["severity"]) > SEVERITIES.index(choice.severity):
        return False
    return (not choice.nodes or _is_on_node(finding["node"], choice, doc)) and (
        not choice.rules or _fits_any(finding["rule"], choice.rules)
    )


def _is_asked_for(group: Doc, choice: Choice, doc: Doc) -> bool:
    if choice.rules and not any(_fits_any(rule, choice.rules) for rule in group["rules"]):
        return False
    return (
        not choice.nodes
        or not group["nodes"]
        or any(_is_on_node(node, choice, doc) for node in group["nodes"])
    )


def _cut_links(finding: Doc, there: set[str], doc: Doc) -> Doc:
    """Return a finding whose causes that are not shown are told in words."""
    gone = [one for one in finding["explained_by"] if one not in there]
    left = [one for one in finding["explains"] if one in there]
    if not gone and len(left) == len(finding["explains"]):
        return finding
    titles = (
        {one["id"]: f"{one['title']} ({one['subject']})" for one in doc["findings"]} if gone else {}
    )
    told = [
        f"Explained by a finding that is not shown here: {titles.get(one, one)}." for one in gone
    ]
    known = [one for one in finding["explained_by"] if one in there]
    return finding | {"explained_by": known, "explains": left, "also": [*finding["also"], *told]}


def _is_on_node(node: str, choice: Choice, doc: Doc) -> bool:
    return any(_is_called(name, choice.nodes) for name in _list_aliases(node, doc))


def _list_aliases(node: str, doc: Doc) -> set[str]:
    """Return the names of a machine: records name it by its id or by its name."""
    known = next((one for one in doc["nodes"] if node in (one["id"], one["name"])), None)
    return {node, known["id"], known["name"]} if known else {node}


def _fits_any(name: str, words: Iterable[str]) -> bool:
    return any(fnmatchcase(name.casefold(), word.casefold()) for word in words)


def _is_called(name: str, words: Iterable[str]) -> bool:
    """Tell whether a word is a machine's name or its first label; an address has no labels."""
    first = name.partition(".")[0]
    return _fits_any(name, words) or (not first.isdigit() and _fits_any(first, words))


def _list_rules(doc: Doc) -> set[str]:
    named = {rule for group in doc["cannot_tell"] for rule in group["rules"]}
    return named | {row["rule"] for row in [*doc["findings"], *doc["quiet"]]}

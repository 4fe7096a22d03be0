"""Complaints that need the rest of the catalog: ids and titles already taken, names that lead nowhere."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from analyzer import rules
from analyzer.authoring.lint.complaints import RuleFile
from analyzer.authoring.lint.words import is_unfinished
from analyzer.rules import Rule
from analyzer.rules.language.rulefile import FileSpan, RuleItem, did_you_mean
from analyzer.rules.model import SAME_LINE
from analyzer.runtime.limits import Limits


@dataclass(slots=True)
class Others:
    """What rules may not share, each with the file that had it first."""

    ids: dict[str, RuleFile] = field(default_factory=dict)
    titles: dict[str, RuleFile] = field(default_factory=dict)
    subjects: dict[tuple[str, str], RuleFile] = field(default_factory=dict)

    def add_file(self, file: RuleFile) -> None:
        """Note a file that is YAML."""
        self.ids.setdefault(file.read_word("rule"), file)
        if not file.is_retired:
            self.titles.setdefault(file.read_word("title").casefold(), file)
            for number in _read_kbs(file):
                self.subjects.setdefault((number, _read_table(file)), file)


class ShippedNames:
    """What shipped rules may not share with others, out of the cache of rules: their YAML is not read for it."""

    def __init__(self, limits: Limits) -> None:
        shipped = rules.load(limits=limits, drafts=True, retired=True).rules
        self.rules: dict[Path, Rule] = {
            rule.path: rule for rule in shipped if rule.path is not None
        }

    def put_names(self, file: RuleFile) -> bool:
        """Give a file a tree of those keys alone; False when it is no shipped rule that loads."""
        rule = self.rules.get(file.path)
        if rule is None:
            return False
        made = {hit.table.name: hit for hit in rule.hits}.get(rule.each.table.name)
        if made is None:
            judged = rule.each.table.name
        elif made.per:
            judged = f"{made.log} per {', '.join(made.per)}"
        else:
            judged = made.log
        texts = {
            "rule": rule.id,
            "title": rule.title,
            "status": rule.status,
            "replaced_by": rule.replaced_by,
            "each": f"{rule.each.name} in {judged}",
        }
        items = {key: _make_item(text) for key, text in texts.items()}
        articles = [_make_item(str(number)) for number in rule.kb]
        items["kb"] = RuleItem(articles, FileSpan())
        file.tree, file.rule = RuleItem(items, FileSpan()), rule
        return True


def _make_item(text: str) -> RuleItem:
    return RuleItem(text, FileSpan(), text)


def collect_others(files: Iterable[RuleFile]) -> Others:
    """Return what the files of a catalog hold, in their order."""
    others = Others()
    for file in files:
        if file.tree is not None:
            others.add_file(file)
    return others


def check_catalog(file: RuleFile, others: Others) -> None:
    """Keep the complaints of a file next to all others."""
    name = file.read_word("rule")
    title = file.read_word("title")
    first = others.ids.get(name)
    if name and _is_another(first, file):
        text = f"rule `{name}` exists already in {_read_name(first)}"
        file.complain(
            "R051", text, file.find_place("rule"), "an id is never used again; choose another"
        )
    if not file.is_retired:
        first = others.titles.get(title.casefold())
        if title and _is_another(first, file) and not is_unfinished(title):
            text = f"rule `{_read_id(first)}` has the same title ({_read_name(first)})"
            file.complain(
                "R052", text, file.find_place("title"), "in a report the two look the same"
            )
        table = _read_table(file)
        numbers = [number for number in _read_kbs(file) if table]
        for number in numbers:
            first = others.subjects.get((number, table))
            if _is_another(first, file):
                other = f"rule `{_read_id(first)}`"
                text = f"{other} judges `{table}` for KB {number} as well ({_read_name(first)})"
                help_text = "merge the two rules, or say in a comment why not"
                file.complain("R053", text, file.find_place("kb"), help_text)
                break
    check_names(file, others)
    check_replaced(file, others)


def check_replaced(file: RuleFile, others: Others) -> None:
    """Complain of rules that were replaced and still judge."""
    places: list[tuple[str | int, ...]] = [("replaces",)]
    for number, _ in enumerate(file.list_entries("replaces")):
        places.append(("replaces", number))
    for steps in places:
        item = file.find_item(*steps)
        name = file.read_word(*steps)
        if item is None or not name or file.is_retired:
            continue
        target = others.ids.get(name)
        if name == file.read_word("rule"):
            file.complain("R060", "`replaces` names the rule itself", item.place)
        elif target is not None and not target.is_retired:
            text = (
                f"rule `{name}` is replaced by this one and is still in use ({_read_name(target)})"
            )
            help_text = f"write status: retired and replaced_by: {file.read_word('rule')} there, or remove it"
            file.complain("R068", text, item.place, help_text)


def check_names(file: RuleFile, others: Others) -> None:
    """Complain of names of rules and rows that lead nowhere."""
    places: list[tuple[str | int, ...]] = [("replaced_by",), ("explained_by",)]
    places += [
        ("explained_by", number) for number, _ in enumerate(file.list_entries("explained_by"))
    ]
    for steps in places:
        name = file.read_word(*steps)
        item = file.find_item(*steps)
        if not name or item is None or (name == SAME_LINE and steps[0] == "explained_by"):
            continue
        name, _, row = name.partition("/")
        target = others.ids.get(name)
        known = sorted({*others.ids} - {file.read_word("rule")})
        if row:
            # A row of another rule's table; only `explained_by` may name one.
            known_names = _name_own_rows(target)
            if str(steps[0]) != "explained_by" or row not in known_names:
                file.complain(
                    "R060",
                    f"there is no row `{item.text}`",
                    item.place,
                    did_you_mean(row, sorted(known_names)),
                )
            continue
        if name == file.read_word("rule"):
            # With several objects it is the same fault on what the object rests on.
            if steps[0] != "explained_by" or len(file.list_entries("object")) <= 1:
                file.complain("R060", f"`{steps[0]}` names the rule itself", item.place)
        elif target is None:
            file.complain(
                "R060", f"there is no rule `{name}`", item.place, did_you_mean(name, known)
            )
        elif steps[0] == "explained_by" and target.is_retired:
            successor = target.read_word("replaced_by")
            help_text = "remove it"
            if successor:
                help_text = f"`{successor}` took over from it"
            file.complain(
                "R060",
                f"rule `{name}` is retired and no longer explains anything",
                item.place,
                help_text,
            )


def _name_own_rows(target: RuleFile | None) -> set[str]:
    """Return the names of the rows that the file of a rule holds itself."""
    rule = target.rule if target is not None else None
    names: set[str] = set()
    if rule is not None and rule.fact:
        table = rule.aliases[rule.fact].table
        for cells in table.own_rows:
            keys = [str(cells.get(column) or "") for column in table.key]
            names.add(" ".join(keys))
    return names


def _is_another(first: RuleFile | None, file: RuleFile) -> bool:
    return first is not None and first is not file


def _read_id(file: RuleFile | None) -> str:
    """Return the id that a file gives its rule, "" without a file."""
    if file is not None:
        return file.read_word("rule")
    return ""


def _read_name(file: RuleFile | None) -> str:
    """Return the name of a file, "" without one."""
    if file is not None:
        return file.name
    return ""


def _read_kbs(file: RuleFile) -> list[str]:
    """Return the articles a rule names, written as one or as a list."""
    own = file.read_word("kb")
    if own:
        return [own]
    found = []
    for number, _ in enumerate(file.list_entries("kb")):
        found.append(file.read_word("kb", number))
    return found


def _read_table(file: RuleFile) -> str:
    return file.read_word("each").partition(" in ")[2].strip()

"""Examples as bare lines of a log or bare rows, and those that the program makes for a rule by itself.

    examples:
      match: |       each line is a case by itself and must match; with `at_least` or `within` all lines are one case
      no_match: |    each line is a case by itself where one line decides; all lines are one case in any other rule
      cleared: |     one case: lines of the trouble, and the line that ends it
      cannot_tell: | one case
      more: [...]    examples of the long form

A list in the place of a text holds one case an entry, a text or {lines, severity, say, …}.

Of a rule over rows the keys are the results, and each holds a list of examples of the long form whose `expect` names no
result; `rows` are those of the table of `each`.

Of a rule over the lines of logs three cases follow from it: the log was not sent, the log is cut, and the first
matching case as a file that the real reader gets from the place where the log lies. They are made where the author
has none of the kind. Of a rule over rows whose examples stand by result, one: its table is not in the case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from analyzer.artefacts import parsing
from analyzer.artefacts.tables import Table, Tables
from analyzer.case.verdicts import Verdict
from analyzer.facts.records import PRODUCT_VIBS
from analyzer.rules.examples import EXAMPLE_KEYS, EXPECT_KEYS, read_examples
from analyzer.rules.language.rulefile import FileSpan, RuleItem, RuleItems, RuleText
from analyzer.rules.model import Example, Rule
from analyzer.rules.repeats import BadRepeatError, write_out_repeats
from analyzer.rules.short import CLEARED, SIGN, is_short
from analyzer.scan.careful import UNDECIDED, search_of

SHORT_KEYS = ("match", "no_match", "cleared", "cannot_tell", "more")
RESULT_KEYS = ("match", "no_match", "not_applicable", "cannot_tell", "more")  # of a rule over rows
ROW_KEYS = ("name", "like", "rows", *(key for key in EXAMPLE_KEYS if key not in ("name", "like")))
MADE = "made by Backline: "
_STEPS = 100_000  # that one line may take of a pattern that only Python's `re` can search
_PATH = re.compile(r"[\w./<>-]+(?:\.log\b|\.<pid>)")
_PLACE = re.compile(r"<([^<>]*)>|(?<=-)N(?=\.log)")
_NAMES = {"process": "vnet", "start": "20170930-000550", "pid": "1806", "uuid": "datastore-01"}
ASKED_KEYS = tuple(key for key in EXPECT_KEYS if key != "result")
CASE_KEYS = ("name", "lines", *ASKED_KEYS)
_PASSED_ON = ("result", "severity", "confidence", "count")


def asked_of(tree: RuleItem) -> RuleItem:
    """Return of the tree of a rule file what reading the examples needs."""
    kept = {
        key: item
        for key, item in tree.value.items()
        if key in ("examples", SIGN, CLEARED, "outcomes")
    }
    written = {
        key: place for key, place in tree.keys.items() if key in kept
    }  # the linter adds keys that were not written
    return RuleItem(kept, tree.place, keys=written)


def all_examples(tree: RuleItem, tables: Tables, rule: Rule) -> list[Example]:
    """Return the examples of a rule, those of the author first; raises BadRuleError for a mistake in one of them.

    tree  of the rule's file, or `asked_of` it; tables: all that parsers make, by name
    """
    item = _write_out(tree.value.get("examples"), rule.text)
    bare = item is not None and isinstance(item.value, dict)
    found = read_examples(
        _lengthen_examples(item, tree, rule) if item is not None and bare else item,
        rule.text,
        tables,
    )
    return [
        *found,
        *made_examples(rule, found, tree.keys.get("examples", tree.place), by_result=bare),
    ]


def _write_out(item: RuleItem | None, text: RuleText) -> RuleItem | None:
    """Return examples with each repeated line in full, in its place; raises BadRuleError."""
    if item is None:
        return item
    if isinstance(item.value, list):
        return replace(item, value=[_write_out(child, text) for child in item.value])
    if isinstance(item.value, dict):
        return replace(
            item, value={key: _write_out(child, text) for key, child in item.value.items()}
        )
    if not isinstance(item.value, str):
        return item
    try:
        full = write_out_repeats(item.text)
    except BadRepeatError as error:
        place = FileSpan(item.place.line + error.number + (not item.quoted), 1)
        raise text.error(error.why, place) from None
    return item if full == item.text else replace(item, value=full, text=full)


# -- bare lines


def _lengthen_examples(item: RuleItem, tree: RuleItem, rule: Rule) -> RuleItem:
    """Return bare lines as examples of the long form, each in its place; raises BadRuleError."""
    text = rule.text
    if SIGN not in rule.logs or rule.each.table.signature != SIGN:
        return _by_result(item, rule)
    keys = text.mapping(item, SHORT_KEYS, "`examples`")
    if "cleared" in keys and CLEARED not in rule.logs:
        raise text.error("examples that are cleared, and no `cleared`", item.keys["cleared"])
    more = _list_items(text, keys, "more")
    found = []
    for key in SHORT_KEYS[:-1]:
        for number, (lines, expect) in enumerate(
            _walk_cases(text, keys[key], key, rule) if key in keys else (), 1
        ):
            logs = {
                name: _make_item(some, lines.place)
                for name, some in _by_log(
                    (text.string(lines, f"a case of `{key}`") + "\n"), rule
                ).items()
            }
            name = expect.pop("name", None) or _make_item(f"{key} {number}", lines.place)
            asked = {
                part: _make_item(value, lines.place)
                for part, value in _find_expected(tree, rule, key).items()
            } | expect
            whole = {
                "name": name,
                "logs": _make_item(logs, lines.place),
                "expect": _make_item(asked, lines.place),
            }
            found.append(_make_item(whole, lines.place))
    return RuleItem([*found, *more], item.place)


def _list_items(text: RuleText, keys: Mapping[str, RuleItem], key: str) -> list[RuleItem]:
    item = keys.get(key)
    if item is None or (item.value is None and key == "more"):
        return []
    if not isinstance(item.value, list):
        raise text.error(f"`{key}` must be a list, not {item.what}", item.place)
    return item.value


def _by_result(item: RuleItem, rule: Rule) -> RuleItem:
    """Return examples of a rule over rows, which stand by their results, as a list; raises BadRuleError."""
    text = rule.text
    keys = text.mapping(item, RESULT_KEYS, "`examples`")
    severities = {outcome.severity for outcome in rule.outcomes}
    only = (
        _make_item(rule.outcomes[0].severity, item.place)
        if len(severities) == 1 and not rule.grades
        else None
    )
    found = []
    for key in RESULT_KEYS[:-1]:
        for number, case in enumerate(_list_items(text, keys, key), 1):
            parts = text.mapping(case, ROW_KEYS, f"an example of `{key}`")
            expect = parts.pop("expect", None)
            asked = {} if expect is None else text.mapping(expect, ASKED_KEYS, "`expect`")
            if key == "match" and only is not None:
                asked = {"severity": only} | asked
            places = dict(case.keys)
            if "rows" in parts:
                rows = parts.pop("rows")
                rows = rows if not isinstance(rows.value, dict) else RuleItem([rows], rows.place)
                tables = parts["tables"].value if "tables" in parts else {}
                home = rule.each.table.declared_table.name
                parts["tables"] = _make_item(
                    {home: rows} | (tables if isinstance(tables, dict) else {}), rows.place
                )
            parts.setdefault("name", _make_item(f"{key} {number}", case.place))
            parts["expect"] = _make_item(
                {"result": _make_item(key, case.place)} | asked, case.place
            )
            found.append(
                RuleItem(parts, case.place, keys=dict.fromkeys(parts, case.place) | places)
            )
    found.sort(key=lambda one: "like" in one.value)  # what is like another one comes after it
    return RuleItem([*found, *_list_items(text, keys, "more")], item.place)


def _make_item(value: Any, place: FileSpan) -> RuleItem:
    keys = dict.fromkeys(value, place) if isinstance(value, dict) else {}
    return RuleItem(value, place, value if isinstance(value, str) else "", keys=keys, made=True)


def _walk_cases(
    text: RuleText, item: RuleItem, key: str, rule: Rule
) -> Iterator[tuple[RuleItem, RuleItems]]:
    """Yield the cases of one key: the lines, and what the author expects of them."""
    if isinstance(item.value, list):
        for child in item.value:
            expect = (
                dict(text.mapping(child, CASE_KEYS, f"a case of `{key}`"))
                if isinstance(child.value, dict)
                else {}
            )
            if isinstance(child.value, dict) and "lines" not in expect:
                raise text.error(f"a case of `{key}` has no `lines`", child.place)
            yield expect.pop("lines", child), expect
    elif not isinstance(item.value, str):
        raise text.error(
            f"`{key}` is lines of a log, or a list of them, not {item.what}", item.place
        )
    elif not cases_by_line(rule, key):  # all lines together are one case
        yield item, {}
    else:
        start = item.place.line + (0 if item.quoted else 1)
        for number, message in _walk_messages(item.text):
            yield RuleItem(message, FileSpan(start + number, item.place.column), message), {}


def cases_by_line(rule: Rule, key: str) -> bool:
    """Say whether each line below a key is a case: together they are one where the rule counts or compares lines."""
    if key == "match":
        return len(rule.seen) <= len(rule.logs)
    return key == "no_match" and len(rule.seen) == len(rule.logs) == 1 and rule.when.text == SIGN


def _walk_messages(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text with their numbers from 0; what is indented goes on with the line before."""
    start, message = 0, ""
    for number, line in enumerate(text.splitlines()):
        if line[:1] in ("", " ", "\t") and message:
            message += f"{line}\n" if line.strip() else ""
            continue
        if message:
            yield start, message
        start, message = number, f"{line}\n" if line.strip() else ""
    if message:
        yield start, message


def _by_log(text: str, rule: Rule) -> dict[str, str]:
    """Return lines by the log that they belong to: that of the first signature that finds them, else of the sign."""
    home = rule.logs[SIGN].table.name
    found = {home: ""}
    found |= {log.table.name: "" for log in rule.logs.values()}
    if len(found) == 1:
        return {home: text}
    searches = [
        (
            log.table.name,
            (search_of(re.compile(log.pattern, re.IGNORECASE if log.ignore_case else 0), _STEPS)),
        )
        for log in rule.logs.values()
    ]
    for line in text.splitlines():
        owner = next(
            (name for name, search in searches if search(line) not in (None, UNDECIDED)), home
        )
        found[owner] = f"{found[owner]}{line}\n"
    return found


def _find_expected(tree: RuleItem, rule: Rule, key: str) -> dict[str, Any]:
    """Return what the rule must say of the cases of a key; the severity where there is no choice of answers."""
    assert isinstance(tree.value, dict) and is_short(tree)
    given = tree.value.get(CLEARED)
    over = given is not None and isinstance(given.value, dict) and "severity" in given.value
    if key in ("no_match", "cannot_tell"):
        return {"result": key}
    if "outcomes" in tree.value:
        return {"result": Verdict.MATCH.value}
    if key == "cleared":
        return (
            {"result": "match", "severity": rule.outcomes[0].severity}
            if over
            else {"result": "no_match"}
        )
    last = rule.outcomes[-1].severity
    return {"result": "match", "severity": last} if last else {"result": "match"}


# -- those that follow from the rule


def made_examples(
    rule: Rule, own: list[Example], place: FileSpan, *, by_result: bool = False
) -> list[Example]:
    """Return the examples that follow from a rule, and of which its author has none of the kind.

    place      in the rule file, where they are said to stand
    by_result  of a rule over rows the author writes them so, and leaves out that the table is not in the case
    """
    lines = rule.each.table.lines_of is not None
    if rule.population is not None or not (lines or by_result):
        return []
    proven = [example for example in own if not example.gap]
    found: list[Example] = []
    log = rule.each.table.declared_table.name
    open_ = {"result": Verdict.CANNOT_TELL.value, "missing": log}
    absent = {"result": Verdict.NOT_APPLICABLE.value} if rule.unasked else open_
    if not lines:
        cannot_tell = any(example.expect.get("result") == Verdict.CANNOT_TELL for example in proven)
        return (
            []
            if cannot_tell
            else [_make_value(place, f"{log} is not in the case", absent, tables={log: None})]
        )
    runs: dict[str, Any] = (
        {"esxi.vib": [{"name": PRODUCT_VIBS[rule.product][0]}]} if rule.product else {}
    )
    if not any(example.expect.get("result") == Verdict.CANNOT_TELL for example in proven):
        found.append(
            _make_value(place, f"{log} is not in the case", absent, tables=runs, logs={log: None})
        )
    if not any(log in example.cut for example in proven):
        logs = {one.table.name: "" for one in rule.logs.values()}
        found.append(
            _make_value(
                place, f"{log} is cut and shows nothing", open_, tables=runs, logs=logs, cut=(log,)
            )
        )
    if (
        not any(example.files for example in proven)
        and (read := _find_example(rule, proven, place)) is not None
    ):
        found.append(read)
    return found


def _make_value(place: FileSpan, name: str, expect: dict[str, Any], **parts: Any) -> Example:
    empty: dict[str, Any] = {"tables": {}, "logs": {}, "files": (), "cut": ()}
    return Example(f"{MADE}{name}", place, **(empty | parts), expect=expect, made=True)


def _find_example(rule: Rule, own: list[Example], place: FileSpan) -> Example | None:
    """Return the first example that matches by lines of logs alone, as files in the places of the logs."""
    for example in own:
        logs = {name: text for name, text in example.logs.items() if text}
        if (
            example.expect.get("result") != Verdict.MATCH
            or example.tables
            or example.cut
            or not logs
        ):
            continue
        tables = {log.table.name: log.table for log in rule.logs.values()}
        paths = {name: own_path(tables[name]) for name in logs if name in tables}
        if len(paths) < len(logs) or not all(paths.values()):
            return None
        files = tuple({"path": paths[name], "text": text} for name, text in logs.items())
        expect = {key: example.expect[key] for key in _PASSED_ON if key in example.expect}
        return _make_value(
            place, f'"{example.name}" read from {" and ".join(paths.values())}', expect, files=files
        )
    return None


def own_path(table: Table) -> str:
    """Return where a log lies in a bundle, as its table says, with names in the place of `<…>`; "" if it does not.

    A log that is known by its lines alone, wherever they stand, has no such place.
    """

    def name(place: re.Match[str]) -> str:
        return _NAMES.get(place[1], f"{place[1]}-01") if place[1] else "1"

    found = _PATH.search(table.source)
    path = _PLACE.sub(name, found[0]) if found else ""
    parsers = (
        one for one in parsing.registry().values() if one.log and one.tables[0].name == table.name
    )
    return path if any(parser.matches_file(path) for parser in parsers) else ""

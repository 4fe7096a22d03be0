"""Complaints about a rule's texts: head, remedy, messages; checked in every file that is YAML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from analyzer import __version__
from analyzer.authoring.lint.complaints import RuleFile, empty
from analyzer.facts.database import version_key
from analyzer.rules.language.rulefile import RuleItem, walk_items

TITLE_MOST = 90
_SAYS_NO_FAULT = re.compile(
    r"(?:kb|issue|pr|bug)?[ -]?\d*$|how to\b|check(?:s|ing)?\b|see kb\b|(?:a )?problems? with\b|issues? with\b|.*\?$",
    re.IGNORECASE,
)
# The end of a sentence; `e.g.` and the like end none.
_SENTENCE = re.compile(
    r"(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\bcf)(?<!\bapprox)(?<!\bNo)[.!?][\u00bb\u201d\"')]*(?:\s+|$)"
)
_DATE = re.compile(r"\d{4}-\d\d-\d\d$")
_RISKY = (
    re.compile(r"\b(?:reboot|poweroff|halt|shutdown)\b"),
    re.compile(r"\brm\s"),
    re.compile(r"\bvsish\b.*\s-e\s+set\b"),
    re.compile(r"\besxcli\b.*\s(?:set|remove|delete|disable|unload|down)\b"),
    re.compile(r"\b(?:reset|restart)\b"),
    re.compile(r"\bkill(?:all)?\s"),
)
_SKELETON = re.compile(r"\b(?:TO ?DO|FIXME|TBD|XXX)\b")
_OPEN_PLURAL = re.compile(r"\b[A-Za-z]+\((?:s|es|ies)\)(?!\w)")
_CODE = ("run", "when", "where", "id")  # of a step or an outcome: what is no text to read
_READ = (
    "title",
    "about",
    "source",
    "outcomes",
    "say",
    "notes",
    "not_this",
    "fix",
    "ask",
    "unsure",
    "lead",
)
# Parts that hold text of hosts, in which any word may stand.
_QUOTES = ("examples", "logs")


def unfinished(text: str) -> bool:
    """Tell whether a text is that of the skeleton."""
    return bool(_SKELETON.search(text))


def check(file: RuleFile) -> None:
    """Keep the complaints about the words of a rule file."""
    _title(file)
    _numbers(file)
    _dates(file)
    _about(file)
    _status(file)
    _outcomes(file)
    _skeleton(file)
    _plurals(file)
    if not file.retired:
        _remedy(file)
        _missing(file)


def _title(file: RuleFile) -> None:
    title, item = file.word("title"), file.at("title")
    if item is None or not title or unfinished(title):
        return
    if len(title) > TITLE_MOST:
        text = f"the title has {len(title)} characters, at most {TITLE_MOST} fit on a line of the report"
        file.complain(
            "R055", text, item.place, "name the fault; leave cause and remedy to `about` and `fix`"
        )
    elif title.endswith(".") and not title.endswith(("...", "etc.")):
        file.complain(
            "R055",
            "the title ends with a full stop",
            item.place,
            "it is a heading; remove the full stop",
        )
    elif _SAYS_NO_FAULT.match(title) or len(title.split()) < 3:
        help_text = 'write what goes wrong, as the customer sees it: "VMXNET3 ring runs full and frames are dropped"'
        file.complain("R055", "the title does not name the fault", item.place, help_text)


def _numbers(file: RuleFile) -> None:
    name = file.word("rule")
    if name and file.path.stem != name and file.path.suffix:
        text = f"rule `{name}` is in a file named {file.path.name}"
        file.complain("R050", text, _value(file, "rule").place, f"name the file {name}.yaml")
    found = re.fullmatch(r"kb-(\d+)", name)
    listed = {item.text for item in [*file.entries("kb"), *filter(None, [file.at("kb")])]}
    if found and found[1] not in listed:
        text = f"the rule is named after KB {found[1]}, which `kb` does not list"
        file.complain("R054", text, file.key("kb"), f"write kb: [{found[1]}]")


def _value(file: RuleFile, key: str) -> RuleItem:
    item = file.at(key)
    assert item is not None
    return item


def _dates(file: RuleFile) -> None:
    revised = file.word("revised")
    if not _is_date(revised) and not unfinished(revised):
        text = (
            f"`{revised}` is not a date"
            if revised
            else "`revised` is missing: the age of the rule is unknown"
        )
        item = file.at("revised")
        place = item.place if item is not None and revised else file.key("revised")
        file.complain("R058", text, place, "write the date of the last change like 2026-11-20")
    checked = file.at("checked")
    if checked is not None and not _is_date(file.word("checked")):
        text = f"`{file.word('checked')}` is not a date"
        file.complain(
            "R058",
            text,
            checked.place,
            "write the day on which the sources were read like 2026-11-20",
        )
    needs, own = file.word("needs"), version_key(__version__)
    wanted = version_key(needs)
    if not needs:
        return
    if wanted is None:
        help_text = f"write the lowest version, like {__version__}"
        file.complain(
            "R059", f"`needs: {needs}` is not a version", _value(file, "needs").place, help_text
        )
    elif own is not None and wanted > own:
        text = f"the rule needs Backline {needs}; this is {__version__}"
        file.complain(
            "R059", text, _value(file, "needs").place, "update the tool, or lower `needs`"
        )


def _is_date(text: str) -> bool:
    try:
        return bool(_DATE.match(text)) and bool(date.fromisoformat(text))
    except ValueError:
        return False


def _about(file: RuleFile) -> None:
    about = file.word("about")
    ends = list(_SENTENCE.finditer(about))
    count = len(ends) + (1 if about and (not ends or ends[-1].end() < len(about)) else 0)
    if 2 <= count <= 4 or file.retired or unfinished(about):
        return
    words = {0: "`about` is empty", 1: "`about` is one sentence"}.get(
        count, f"`about` has {count} sentences"
    )
    file.complain(
        "R057", f"{words}; two to four explain the cause and its effect", file.key("about")
    )


def _status(file: RuleFile) -> None:
    successor = file.word("replaced_by")
    if file.retired and not successor:
        help_text = (
            "name the rule that took over in `replaced_by`, or say with a comment that none did"
        )
        file.complain("R061", "a retired rule names no successor", file.key("status"), help_text)
    if successor and not file.retired:
        text = "`replaced_by` is in a rule that is in use"
        file.complain("R061", text, file.key("replaced_by"), "write status: retired, or remove it")
    if file.word("status") == "stable":
        _stable(file)
        for number, _ in enumerate(file.entries("examples")):
            if file.word("examples", number, "gap") == "true":
                text = "a stable rule has an example with `gap: true`, which is known to fail"
                place = file.key("examples", number, "gap")
                file.complain("R074", text, place, "fix the rule, or write status: test")


def _stable(file: RuleFile) -> None:
    """Complain of a stable rule without the marks that can be seen in the file; the guide has all criteria."""
    rule = file.rule
    if rule is None:
        return
    results = {str(example.expect["result"]) for example in rule.examples if example.files}
    quiet = rule.each.table.lines_of is not None or results & {"no_match", "not_applicable"}
    lacks = [
        *(["`checked`, the day its sources were read"] if empty(file.at("checked")) else []),
        *(
            ["`proven`, the back-test or the captures it was right on"]
            if empty(file.at("proven"))
            else []
        ),
        *(["an example through `files` that matches"] if "match" not in results else []),
        *(["an example through `files` that does not match"] if not quiet else []),
    ]
    if lacks:
        help_text = "write status: test until it has; docs/rule-guide.md says when a rule is stable"
        file.complain(
            "R069",
            f"a stable rule has {', '.join(lacks)}; this one does not",
            file.key("status"),
            help_text,
        )


def _outcomes(file: RuleFile) -> None:
    for number, _ in enumerate(file.entries("outcomes")):
        place = file.key("outcomes", number)
        if empty(file.at("outcomes", number, "say")):
            help_text = 'say what was seen, with the values: "{n.rx_crc_errors} damaged frames"'
            file.complain(
                "R033", "this outcome has no `say`: the report repeats the title", place, help_text
            )
        if empty(file.at("outcomes", number, "confidence")):
            help_text = "one of confirmed, likely, possible, exposed"
            file.complain(
                "R034", "this outcome has no `confidence`: `likely` is taken", place, help_text
            )


def _skeleton(file: RuleFile) -> None:
    for key, part in file.pairs().items():
        if key in _QUOTES:
            continue
        for item in walk_items(part):
            found = _SKELETON.search(item.text) if isinstance(item.value, str) else None
            if found is not None:
                place = file.text.within(item, found.start(), found.end())
                file.complain(
                    "R067",
                    f'"{found[0]}" is still here',
                    place,
                    "write the text, or remove the key",
                )


def _plurals(file: RuleFile) -> None:
    for item in (one for key, part in file.pairs().items() if key in _READ for one in _read(part)):
        found = _OPEN_PLURAL.search(item.text)
        if found is not None:
            place = file.text.within(item, found.start(), found.end())
            help_text = "write the number with its noun: {samples|sample|samples}"
            file.complain("R036", f'"{found[0]}" leaves open how many', place, help_text)


def _read(item: RuleItem) -> Iterator[RuleItem]:
    """Yield the texts of a part that somebody reads, not its conditions and commands."""
    if isinstance(item.value, dict):
        for key, value in item.value.items():
            if key not in _CODE:
                yield from _read(value)
    elif isinstance(item.value, list):
        for value in item.value:
            yield from _read(value)
    elif isinstance(item.value, str):
        yield item


def _remedy(file: RuleFile) -> None:
    steps = file.entries("fix")
    if not steps:
        help_text = "write what to run or do, and where"
        file.complain("R062", "the rule has no step under `fix`", file.key("fix"), help_text)
    if not empty(file.at("caution")):
        return
    for number, _ in enumerate(steps):
        if not empty(file.at("fix", number, "caution")):
            continue
        item = file.at("fix", number, "run")
        found = next(
            (one for pattern in _RISKY if item is not None and (one := pattern.search(item.text))),
            None,
        )
        if item is not None and found is not None:
            text = "this command changes or stops something, and no `caution` says so"
            file.complain(
                "R063", text, item.place, "say what it interrupts, or that it interrupts nothing"
            )


def _missing(file: RuleFile) -> None:
    """Complain of parts that an engineer at night would look for."""
    for key, code, text, help_text in (
        (
            "source",
            "R056",
            "no source is named",
            "name where the facts and every threshold come from",
        ),
        (
            "evidence",
            "R066",
            "no evidence is shown",
            "list the values whose lines prove the finding",
        ),
        ("not_this", "R064", "no look-alike is named", "name at least one look-alike"),
        (
            "ask",
            "R065",
            "`ask` is empty",
            "name the command or file to request when something is missing",
        ),
    ):
        if empty(file.at(key)) and not (key == "ask" and file.short):
            file.complain(code, text, file.key(key), help_text)

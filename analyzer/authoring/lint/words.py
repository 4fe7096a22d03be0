"""Complaints about a rule's texts: head, remedy, messages; checked in every file that is YAML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from analyzer import __version__
from analyzer.authoring.lint.complaints import RuleFile, is_empty
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
_SKELETON = re.compile(r"\b(?:TO ?DO|FIXME|TBD|XXX)\b")
_OPEN_PLURAL = re.compile(r"\b[A-Za-z]+\((?:s|es|ies)\)(?!\w)")
_NAMELESS = re.compile(r"\s*It\b")
# What a title describes although the trade has a term for it.
_LAY_WORDS = re.compile(
    r"\bagain and again\b|\bfor good\b|\b(?:says?|tells?) that\b|\bgets? no memory\b",
    re.IGNORECASE,
)
_CODE = ("run", "when", "where", "id")  # of a step or an outcome: what is no text to read
_SPOKEN = ("title", "outcomes", "say", "notes", "not_this", "fix")
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
# Parts that an engineer at night would look for: key, code, complaint, help.
_NEEDED = (
    ("source", "R056", "no source is named", "name where the facts and every threshold come from"),
    ("evidence", "R066", "no evidence is shown", "list the values whose lines prove the finding"),
    ("not_this", "R064", "no look-alike is named", "name at least one look-alike"),
    (
        "ask",
        "R065",
        "`ask` is empty",
        "name the command or file to request when something is missing",
    ),
)
# Parts that hold text of hosts, in which any word may stand.
_QUOTES = ("examples", "logs")


def is_unfinished(text: str) -> bool:
    """Say whether a text is that of the skeleton."""
    return bool(_SKELETON.search(text))


def check_words(file: RuleFile) -> None:
    """Keep the complaints about the words of a rule file."""
    check_title(file)
    name = file.read_word("rule")
    if name and file.path.stem != name and file.path.suffix:
        text = f"rule `{name}` is in a file named {file.path.name}"
        place = _find_value(file, "rule").place
        file.complain("R050", text, place, f"name the file {name}.yaml")
    found = re.fullmatch(r"kb-(\d+)", name)
    listed = {
        item.text for item in [*file.list_entries("kb"), *filter(None, [file.find_item("kb")])]
    }
    if found and found[1] not in listed:
        text = f"the rule is named after KB {found[1]}, which `kb` does not list"
        file.complain("R054", text, file.find_place("kb"), f"write kb: [{found[1]}]")
    check_dates(file)
    check_about(file)
    check_status(file)
    for number, _ in enumerate(file.list_entries("outcomes")):
        place = file.find_place("outcomes", number)
        if is_empty(file.find_item("outcomes", number, "say")):
            help_text = 'say what was seen, with the values: "{n.rx_crc_errors} damaged frames"'
            file.complain(
                "R033", "this outcome has no `say`: the report repeats the title", place, help_text
            )
        if is_empty(file.find_item("outcomes", number, "confidence")):
            help_text = "one of confirmed, likely, possible, exposed"
            file.complain(
                "R034", "this outcome has no `confidence`: `likely` is taken", place, help_text
            )
    check_skeleton(file)
    for item in (
        one for key, part in file.list_pairs().items() if key in _READ for one in _walk_texts(part)
    ):
        found = _OPEN_PLURAL.search(item.text)
        if found is not None:
            place = file.text.within(item, found.start(), found.end())
            help_text = "write the number with its noun: {samples|sample|samples}"
            file.complain("R036", f'"{found[0]}" leaves open how many', place, help_text)
    check_naming(file)
    if not file.is_retired:
        check_remedy(file)
        for key, code, text, help_text in _NEEDED:
            if is_empty(file.find_item(key)) and not (key == "ask" and file.short):
                file.complain(code, text, file.find_place(key), help_text)


def check_naming(file: RuleFile) -> None:
    """Complain of sentences that begin with "It", and of a title in lay words."""
    for key, part in file.list_pairs().items():
        if key not in _SPOKEN:
            continue
        for item in _walk_texts(part):
            if _NAMELESS.match(item.text):
                help_text = "begin with the object, or with what was logged"
                file.complain("R037", "the text begins with `It`", item.place, help_text)
    title = file.find_item("title")
    found = _LAY_WORDS.search(title.text) if title is not None else None
    if title is not None and found is not None:
        text = f'the title describes in lay words: "{found[0]}"'
        file.complain("R037", text, title.place, "use the term of the trade: PDL, APD, flapping")


def check_title(file: RuleFile) -> None:
    """Complain of a title that is too long, ends with a full stop or names no fault."""
    title = file.read_word("title")
    item = file.find_item("title")
    if item is None or not title or is_unfinished(title):
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


def _find_value(file: RuleFile, key: str) -> RuleItem:
    """Return the value of a key that the file is known to have."""
    item = file.find_item(key)
    assert item is not None
    return item


def check_dates(file: RuleFile) -> None:
    """Complain of days and versions that cannot be read, and of a version to come."""
    revised = file.read_word("revised")
    if not _is_date(revised) and not is_unfinished(revised):
        text = "`revised` is missing: the age of the rule is unknown"
        place = file.find_place("revised")
        item = file.find_item("revised")
        if revised:
            text = f"`{revised}` is not a date"
        if item is not None and revised:
            place = item.place
        file.complain("R058", text, place, "write the date of the last change like 2026-11-20")
    checked = file.find_item("checked")
    if checked is not None and not _is_date(file.read_word("checked")):
        text = f"`{file.read_word('checked')}` is not a date"
        file.complain(
            "R058",
            text,
            checked.place,
            "write the day on which the sources were read like 2026-11-20",
        )
    needs = file.read_word("needs")
    own = version_key(__version__)
    wanted = version_key(needs)
    if not needs:
        return
    if wanted is None:
        help_text = f"write the lowest version, like {__version__}"
        file.complain(
            "R059",
            f"`needs: {needs}` is not a version",
            _find_value(file, "needs").place,
            help_text,
        )
    elif own is not None and wanted > own:
        text = f"the rule needs Backline {needs}; this is {__version__}"
        file.complain(
            "R059", text, _find_value(file, "needs").place, "update the tool, or lower `needs`"
        )


def _is_date(text: str) -> bool:
    """Say whether a text is a date of the calendar."""
    try:
        if not _DATE.match(text):
            return False
        return bool(date.fromisoformat(text))
    except ValueError:
        return False


def check_about(file: RuleFile) -> None:
    """Complain of an explanation that has not two to four sentences."""
    about = file.read_word("about")
    ends = list(_SENTENCE.finditer(about))
    count = len(ends)
    if about and (not ends or ends[-1].end() < len(about)):
        count += 1
    if 2 <= count <= 4 or file.is_retired or is_unfinished(about):
        return
    words = {0: "`about` is empty", 1: "`about` is one sentence"}
    size = words.get(count, f"`about` has {count} sentences")
    text = f"{size}; two to four explain the cause and its effect"
    file.complain("R057", text, file.find_place("about"))


def check_status(file: RuleFile) -> None:
    """Complain of a retired rule without a successor, and of a stable one that lacks something."""
    successor = file.read_word("replaced_by")
    if file.is_retired and not successor:
        help_text = (
            "name the rule that took over in `replaced_by`, or say with a comment that none did"
        )
        file.complain(
            "R061", "a retired rule names no successor", file.find_place("status"), help_text
        )
    if successor and not file.is_retired:
        text = "`replaced_by` is in a rule that is in use"
        file.complain(
            "R061", text, file.find_place("replaced_by"), "write status: retired, or remove it"
        )
    if file.read_word("status") == "stable":
        check_stable(file)
        for number, _ in enumerate(file.list_entries("examples")):
            if file.read_word("examples", number, "gap") == "true":
                text = "a stable rule has an example with `gap: true`, which is known to fail"
                place = file.find_place("examples", number, "gap")
                file.complain("R074", text, place, "fix the rule, or write status: test")


def check_stable(file: RuleFile) -> None:
    """Complain of a stable rule without the marks that can be seen in the file; the guide has all criteria."""
    rule = file.rule
    if rule is None:
        return
    results = set()
    for example in rule.examples:
        if example.files:
            results.add(str(example.expect["result"]))
    quiet = rule.each.table.lines_of is not None or results & {"no_match", "not_applicable"}
    lacks = []
    if is_empty(file.find_item("checked")):
        lacks.append("`checked`, the day its sources were read")
    if is_empty(file.find_item("proven")):
        lacks.append("`proven`, the back-test or the captures it was right on")
    if "match" not in results:
        lacks.append("an example through `files` that matches")
    if not quiet:
        lacks.append("an example through `files` that does not match")
    if lacks:
        text = f"a stable rule has {', '.join(lacks)}; this one does not"
        help_text = "write status: test until it has; docs/rule-guide.md says when a rule is stable"
        file.complain("R069", text, file.find_place("status"), help_text)


def check_skeleton(file: RuleFile) -> None:
    """Complain of texts that are still those of the skeleton."""
    for key, part in file.list_pairs().items():
        if key in _QUOTES:
            continue
        for item in walk_items(part):
            if isinstance(item.value, str):
                found = _SKELETON.search(item.text)
            else:
                found = None
            if found is None:
                continue
            place = file.text.within(item, found.start(), found.end())
            help_text = "write the text, or remove the key"
            file.complain("R067", f'"{found[0]}" is still here', place, help_text)


def _walk_texts(item: RuleItem) -> Iterator[RuleItem]:
    """Yield the texts of a part that somebody reads, not its conditions and commands."""
    if isinstance(item.value, dict):
        for key, value in item.value.items():
            if key not in _CODE:
                yield from _walk_texts(value)
    elif isinstance(item.value, list):
        for value in item.value:
            yield from _walk_texts(value)
    elif isinstance(item.value, str):
        yield item


def check_remedy(file: RuleFile) -> None:
    """Complain of a rule without steps."""
    steps = file.list_entries("fix")
    if not steps:
        help_text = "write what to run or do, and where"
        file.complain("R062", "the rule has no step under `fix`", file.find_place("fix"), help_text)

"""The mail that asks the customer: a subject, each file and command once with its reason, in three languages.

It asks for what would settle a finding at hand, or may be the cause of one; without a finding, for the few things that
most open checks need. What is there is no question any more (`analyzer.pipeline.given_things`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from analyzer.case.document import CaseDocument
from analyzer.report.case_heading import NO_HEADING, CaseHeading, name_case
from analyzer.report.mail_words import ENGLISH, LANGUAGES, WORDS, MailWords
from analyzer.report.open_asks import WantedAsk, list_damaged_files, list_wanted
from analyzer.report.wording import join_few
from analyzer.runtime.short_lines import bound_line, bound_middle
from analyzer.runtime.text import one_line

LINES = 30  # of a mail about one machine
MORE_LINES = 12  # for each machine more
ALL = 6  # hosts that are named also where all of them are meant
FILES = 6  # damaged ones that are named
TITLES = 2  # findings that are named as a reason
TITLE = 90  # characters of the title of a finding
NAME = 120  # characters of the name of a file or a case
REMARK = 160  # characters of a remark
REMARKS = 3  # lines of them above a command
_LOOSE = " (loose files)"  # of the name of a machine that no file names
_JAPANESE_GAP = re.compile("(?<=[\u3040-\u30ff\u4e00-\u9fff]) (?=[\u3040-\u30ff])")
_ON_MANAGER = "on the NSX Manager"


@dataclass(slots=True)
class MailPart:
    """One numbered wish: a sentence, and the lines below it.

    manager  these are REST requests, which the NSX Manager answers
    """

    nodes: tuple[str, ...] = ()
    command: bool = False
    manager: bool = False
    asks: list[WantedAsk] = field(default_factory=list)


def write_mail(
    doc: CaseDocument, heading: CaseHeading = NO_HEADING, language: str = LANGUAGES[0]
) -> str:
    """Return what to ask as the text of one mail to the customer; empty when there is nothing to ask.

    Commands stand alone, each once, below the hosts to run them on, those with a name to fill in last: the others print
    the names. A line that starts with # says why, where and when the next one is run, and a shell skips it. Files are
    a list of their own. Hints on what the files are (`advice`) are for the engineer.

    The mail has LINES lines at most, and MORE_LINES for each machine beyond the first: what presses least is left out.
    """
    wanted = list_wanted(doc)
    damaged = list_damaged_files(doc)
    if not wanted and not damaged:
        return ""
    words = WORDS[language]
    machines = {node for ask in wanted for node in ask.nodes}
    most = LINES + MORE_LINES * max(0, len(machines) - 1)
    fewest, number = min(1, len(wanted)), len(wanted)
    while fewest < number:  # the most that the lines have room for
        middle = (fewest + number + 1) // 2
        if len(_write_lines(doc, wanted[:middle], damaged, heading, words)) <= most:
            fewest = middle
        else:
            number = middle - 1
    return "\n".join([*_write_lines(doc, wanted[:number], damaged, heading, words), ""])


def _write_lines(
    doc: CaseDocument,
    wanted: list[WantedAsk],
    damaged: list[str],
    heading: CaseHeading,
    words: MailWords,
) -> list[str]:
    """Return the lines of a mail that asks for these things."""
    case = bound_middle(name_case(doc, heading, words.unnamed), 2 * NAME)
    known = bound_middle(doc.case.name or words.unnamed, NAME)
    greeting = words.greeting_to if heading.customer else words.greeting
    lines = [words.subject.format(case=case), ""]
    lines += [line.format(customer=heading.customer) for line in greeting]
    lines += ["", words.intro.format(case=known), ""]
    parts = _write_damaged(damaged, words)
    asked = group_asks(wanted)
    parts += [_write_part(part, doc, words) for part in asked]
    for number, (head, *below) in enumerate(parts, 1):
        lines += [f"{number}. {head}", *(f"   {line}" for line in below), ""]
    if any(part.command for part in asked):
        lines += [words.plain_text, ""]
    return [*lines, words.thanks]


def _write_damaged(names: list[str], words: MailWords) -> list[list[str]]:
    """Return the wish for files that came cut short or damaged; no wish for none."""
    shown = [bound_middle(name, NAME) for name in names]
    if not shown:
        return []
    if len(shown) == 1:
        return [[words.again.format(name=shown[0])]]
    more = []
    if len(shown) > FILES:
        more = [words.more_files.format(count=f"{len(shown) - FILES:,}")]
    return [[words.again_many, *shown[:FILES], *more]]


def group_asks(asks: list[WantedAsk]) -> list[MailPart]:
    """Return the wishes: commands, REST requests, files, each by the set of machines, that with most to do first."""
    found: dict[tuple[bool, bool, tuple[str, ...]], MailPart] = {}
    for ask in sorted(asks, key=lambda one: one.has_blank):
        nodes = () if ask.is_request else tuple(ask.nodes)
        key = (not ask.command, ask.is_request, nodes)
        part = found.setdefault(key, MailPart(nodes, ask.command, ask.is_request))
        part.asks.append(ask)
    ordered = sorted(found.items(), key=lambda item: (item[0][:2], -len(item[1].asks)))
    return [part for _, part in ordered]


def _write_part(part: MailPart, doc: CaseDocument, words: MailWords) -> list[str]:
    """Return the sentence of a wish and the lines below it; things with the same reason share the line that says it."""
    if part.manager:
        head = words.requests.format(manager=_name_manager(doc, words))
    else:
        where = describe_nodes(part, doc, words)
        if part.command:
            head = words.run.format(where=where) if where else words.run_anywhere
        else:
            where = where.rstrip(",")  # of a clause of German that ends here
            head = words.send.format(where=where) if where else words.send_anywhere
        head = _JAPANESE_GAP.sub("", head)
    lines = [head]
    by_reason: dict[tuple[bool, str], list[WantedAsk]] = {}
    for ask in part.asks:
        by_reason.setdefault((ask.has_blank, write_reason(ask, words)), []).append(ask)
    last = ""
    for (_, reason), asks in by_reason.items():
        if reason != last:
            lines.append(f"# {reason}")
        last = reason
        for ask in asks:
            lines += _write_ask(ask, words, manager=part.manager)
    return lines


def write_reason(ask: WantedAsk, words: MailWords) -> str:
    """Return in one line why a thing is asked for: the findings that it would settle."""
    titles = [bound_line(title.rstrip("."), TITLE) for title in ask.reasons]
    if not titles:
        return words.reason.format(titles=words.no_finding)
    named = "; ".join(titles[:TITLES])
    if len(titles) > TITLES:
        named = words.more_reasons.format(titles=named, count=f"{len(titles) - TITLES:,}")
    return words.reason.format(titles=named)


def _write_ask(ask: WantedAsk, words: MailWords, *, manager: bool) -> list[str]:
    """Return the lines of one thing: a command below its remarks, or a file with them."""
    remarks = []
    for remark in ask.remarks:
        if manager and remark == _ON_MANAGER:
            continue
        said = words.translate(remark)
        if remark in ask.abouts:
            said = words.about.format(subjects=ask.abouts[remark])
        remarks.append(bound_line(said, REMARK))
    if len(remarks) > REMARKS:
        last = "; ".join(remarks[REMARKS - 1 :])
        remarks = [*remarks[: REMARKS - 1], bound_line(last, REMARK)]
    if ask.command:
        return [*(f"# {remark}" for remark in remarks), one_line(ask.what)]
    if words is ENGLISH:
        return [bound_line(ask.phrase, 2 * REMARK)]
    name = bound_line(words.translate(ask.what), REMARK)
    if remarks:
        return [f"{name} ({'; '.join(remarks)})"]
    return [name]


def describe_nodes(part: MailPart, doc: CaseDocument, words: MailWords) -> str:
    """Return on which machines: no one knows which are "34 more", so all are named, or each one, or all but few."""
    where, but = (words.on, words.but_on) if part.command else (words.of, words.but_of)
    nodes = part.nodes
    hosts = {node.name for node in doc.nodes if node.kind == "esxi"}
    if len(nodes) > ALL and hosts.issuperset(nodes):
        every = words.each_host.format(count=f"{len(hosts):,}")
        rest = sorted(hosts.difference(nodes))
        if not rest:
            return where.format(names=every)
        if len(rest) <= ALL:
            return where.format(names=but.format(every=every, rest=_join_names(rest)))
    names = _name_machines(nodes, doc, words)
    if not names:
        return ""
    return where.format(names=_join_names(names))


def _join_names(names: list[str]) -> str:
    return ", ".join(bound_middle(name, NAME) for name in names)


def _name_machines(nodes: tuple[str, ...], doc: CaseDocument, words: MailWords) -> list[str]:
    """Return machines as a customer knows them: by name, or by the file they came from where nothing names them."""
    files = {re.split(r"[/\\!]", source.address)[-1] for source in doc.sources}
    unnamed = set()
    for node in doc.nodes:
        if not node.bundle and (node.name in files or node.name.endswith(_LOOSE)):
            unnamed.add(node.name)
    named = [name for name in nodes if name not in unnamed]
    own = [name for name in nodes if name in unnamed and not name.endswith(_LOOSE)]
    if len(own) > 1:
        named.append(words.machines.format(files=join_few(own, ALL)))
    elif own:
        named.append(words.machine.format(files=own[0]))
    elif len(named) < len(nodes):
        named.append(words.machine_unknown)
    return named


def _name_manager(doc: CaseDocument, words: MailWords) -> str:
    """Return the machine that answers REST requests: no host and no controller does."""
    names = []
    for node in doc.nodes:
        if node.kind in ("nsx_manager", "nsxt_manager") and node.name:
            names.append(node.name)
    if len(names) == 1:
        return words.manager_named.format(name=bound_middle(names[0], NAME))
    return words.manager

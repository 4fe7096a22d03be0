"""What a case cannot judge, and what to ask the customer for; `mail` writes the e-mail that asks for it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace

from analyzer.case.asks import AskItem, AskPiece, merge_remarks, split_ask, write_phrase
from analyzer.case.document import CannotTellGroup, CaseDocument
from analyzer.report.completeness import is_complete
from analyzer.report.finding_rows import group_findings, list_unknowns
from analyzer.report.wording import count_noun, join_few
from analyzer.runtime.reasons import STILL_LOADED, STILL_WRITTEN

_BLANK = re.compile(r"<[a-z]")
_ONE_OPTION = re.compile(r"^(?P<path>esxcli [a-z ]+ list) -o \S+$")
_REQUEST = re.compile(r"(?:GET|POST|PUT) /")  # of REST, which no shell of a host takes
FEW = 6  # questions that are shown one by one
MOST_OFFERS = 5  # commands and files, besides a bundle


@dataclass(slots=True)
class WantedAsk:
    """One thing to ask for, whatever its wording, with all remarks on it and the machines it is for.

    what     a command as it is typed, or a file in words; `command` says which of both
    abouts   the remarks that name the objects of a question -> these objects
    reasons  titles of the findings that it would settle, the worst first
    """

    what: str
    command: bool
    remarks: list[str]
    nodes: list[str]
    abouts: dict[str, str] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)

    @property
    def key(self) -> str:
        """The same for all wordings of one thing."""
        return AskItem(self.what, self.command).key

    @property
    def remark(self) -> str:
        """All remarks in one line."""
        return "; ".join(self.remarks)

    @property
    def phrase(self) -> str:
        """The thing with its remarks, in one line."""
        return write_phrase(self.what, self.remarks)

    @property
    def is_request(self) -> bool:
        """True for a REST request: the NSX Manager answers it, not the machine it is about."""
        return _REQUEST.match(self.what) is not None

    @property
    def has_blank(self) -> bool:
        """True when a name in <…> is to be filled in first."""
        return _BLANK.search(self.what) is not None


@dataclass(slots=True)
class OpenQuestion:
    """What one missing thing leaves open.

    parts      the records of the case document that lack it
    why, muted the reasons, each once
    settles    rules whose findings the answer would settle
    asks       all that would answer it
    """

    missing: str
    parts: list[CannotTellGroup]
    rules: list[str]
    subjects: list[str]
    nodes: list[str]
    why: list[str]
    muted: list[str]
    in_bundle: bool
    settles: list[str]
    asks: list[WantedAsk]

    @property
    def heading(self) -> str:
        """What is missing in the words of the sender: the command or file, not the name of our table."""
        for why in self.why:
            before, found, _ = why.partition(f" ({self.missing})")
            if found and before:
                return before
        for part in self.parts:
            for ask in part.asks:
                if ask.what:
                    return str(ask.what)
        if self.why:
            return self.why[0]
        return "Not known"

    @property
    def reason(self) -> str:
        """Why it is open."""
        return "; ".join(self.why)

    @property
    def title(self) -> str:
        """The heading; empty where the reason begins with it."""
        if self.reason.startswith(self.heading):
            return ""
        return self.heading


@dataclass(slots=True)
class Offer:
    """One thing that would answer many questions; `settles` says in words how many."""

    ask: WantedAsk
    nodes: list[str]
    settles: str


def split_doubt(line: str) -> tuple[str, list[AskPiece]]:
    """Return what could not be checked, and what to ask for as commands and words."""
    doubt, _, ask = line.partition(" Ask for: ")
    return doubt, split_ask(ask.removesuffix("."))


_KEPT: ContextVar[dict[tuple[int, bool], tuple[CaseDocument, list[OpenQuestion]]] | None] = (
    ContextVar("_KEPT", default=None)
)


@contextmanager
def keep_questions() -> Iterator[None]:
    """Work out the questions of a document once while one result is made of it."""
    before = _KEPT.set({})
    try:
        yield
    finally:
        _KEPT.reset(before)


def list_questions(doc: CaseDocument, *, muted: bool = False) -> list[OpenQuestion]:
    """Return what cannot be judged, one entry for each missing thing, with all asks that would settle it."""
    kept = _KEPT.get()
    if kept is None:
        return _build_questions(doc, muted=muted)
    key = id(doc), muted
    if key not in kept:
        kept[key] = doc, _build_questions(doc, muted=muted)  # the document is kept: so is its id
    return kept[key][1]


def _build_questions(doc: CaseDocument, *, muted: bool) -> list[OpenQuestion]:
    """Return the open questions by what is missing."""
    parts_by_missing: dict[str, list[CannotTellGroup]] = {}
    for part in list_unknowns(doc, muted=muted):
        parts_by_missing.setdefault(part.missing, []).append(part)
    questions = []
    for missing, parts in parts_by_missing.items():
        question = OpenQuestion(
            missing=missing,
            parts=parts,
            rules=_collect_sorted(parts, "rules"),
            subjects=_collect_sorted(parts, "subjects"),
            nodes=_collect_sorted(parts, "nodes"),
            why=list(dict.fromkeys(part.why for part in parts if part.why)),
            muted=list(dict.fromkeys(part.muted for part in parts if part.muted)),
            in_bundle=any(part.in_bundle for part in parts),
            settles=_collect_sorted(parts, "settles"),
            asks=_merge_asks(_read_asks(parts)),
        )
        questions.append(question)
    return questions


def _collect_sorted(parts: list[CannotTellGroup], key: str) -> list[str]:
    return sorted({item for part in parts for item in getattr(part, key)})


def _read_asks(parts: list[CannotTellGroup]) -> Iterator[WantedAsk]:
    """Yield what the questions ask for, one by one."""
    for part in parts:
        for ask in part.asks:
            yield WantedAsk(ask.what, ask.command, [ask.remark], ask.nodes)


def _merge_asks(asks: Iterable[WantedAsk]) -> list[WantedAsk]:
    """Return what to ask for, each thing once whatever its wording, with all remarks and machines.

    One option (`… list -o /Mem/CtlMaxPercent`) is not asked for where the whole list is.
    """
    found: dict[str, WantedAsk] = {}
    for ask in asks:
        known = found.setdefault(ask.key, WantedAsk(ask.what, ask.command, [], []))
        known.remarks = merge_remarks([*known.remarks, *ask.remarks])
        known.nodes = sorted({*known.nodes, *ask.nodes})
        known.abouts = known.abouts | ask.abouts
        known.reasons = list(dict.fromkeys([*known.reasons, *ask.reasons]))
    lists_of_options: dict[str, str] = {}
    whole_lists = set()
    for key, ask in found.items():
        option = _ONE_OPTION.match(key)
        if option:
            lists_of_options[key] = option["path"]
        elif ask.command:
            whole_lists.add(key.partition(" -")[0])
    return [ask for key, ask in found.items() if lists_of_options.get(key) not in whole_lists]


def list_pressing(doc: CaseDocument) -> list[OpenQuestion]:
    """Return the questions that are shown one by one: a few, or those that sharpen a finding.

    No engineer reads dozens. What would sharpen a finding is asked for by the finding itself, is a table that could
    make it worse, or another question of its rule. One file or command is asked for once.
    """
    questions = list_questions(doc)
    # loose files and transcripts alone, all of them whole: what a bundle would add is no news
    is_loose = doc.case.complete and not any(node.bundle for node in doc.nodes)
    if len(questions) <= FEW and not is_loose:
        return questions
    asked = set[str]()
    pressing = []
    for question in list_settling(doc):
        keys = {ask.key for ask in question.asks}
        if not keys <= asked:
            asked |= keys
            pressing.append(question)
    return pressing


def list_settling(doc: CaseDocument) -> list[OpenQuestion]:
    """Return the questions whose answer would settle a finding at hand, or may be its cause.

    Of what a question lacks, other rules may need more: each question holds what to ask for the findings alone.
    """
    rules = set()
    for finding in doc.findings:
        if finding.verdict == "match" and not finding.muted:
            rules.add(finding.rule)
    settling = []
    for question in list_questions(doc):
        parts = [part for part in question.parts if not rules.isdisjoint(part.settles)]
        if parts:
            asks = _merge_asks(_read_asks(parts))
            settling.append(replace(question, asks=asks, settles=_collect_sorted(parts, "settles")))
    return settling


def list_folded(doc: CaseDocument) -> list[OpenQuestion]:
    """Return the other questions, which stay open; a report shows them in one line, and whole where it is opened."""
    pressing = {question.missing for question in list_pressing(doc)}
    return [question for question in list_questions(doc) if question.missing not in pressing]


def describe_folded(doc: CaseDocument) -> str:
    """Return in one sentence how many questions stay open besides, and what some of them lack; empty for none."""
    folded = list_folded(doc)
    if not folded:
        return ""
    more = ""
    if len(folded) < len(list_questions(doc)):
        more = "more "
    count = count_noun(len(folded), f"{more}question", f"{more}questions")
    lacking = list(dict.fromkeys(question.heading for question in folded))
    such = ": "
    if len(lacking) > FEW:
        such = ", such as "
    return f"{count} that these files cannot answer{such}{'; '.join(lacking[:FEW])}"


def list_offers(doc: CaseDocument) -> list[Offer]:
    """Return what would settle most of the folded questions.

    First the support bundle of the hosts, which holds what many outputs and logs hold one by one; of the rest the
    commands and files that most rules need.
    """
    if any(not finding.muted for finding in doc.findings):
        return []
    offers = []
    folded = list_folded(doc)
    bundle = _offer_bundle(doc, [question for question in folded if question.in_bundle])
    if bundle is not None:
        offers.append(bundle)
        folded = [question for question in folded if not question.in_bundle]
    for _ in range(MOST_OFFERS):
        needed: dict[str, list[OpenQuestion]] = {}
        for question in folded:
            # the first alone: what a few of its rules want besides settles no other rule
            for ask in question.asks[:1]:
                needed.setdefault(ask.key, []).append(question)
        if not needed:
            break
        key, questions = max(
            needed.items(), key=lambda item: (len(_collect_rules(item[1])), len(item[1]))
        )
        if offers and len(_collect_rules(questions)) < 2:
            break
        (ask,) = _merge_asks(ask for one in questions for ask in one.asks if ask.key == key)
        offers.append(_build_offer(ask, questions))
        folded = [question for question in folded if question not in questions]
    return offers


def _offer_bundle(doc: CaseDocument, questions: list[OpenQuestion]) -> Offer | None:
    """Return the support bundle as an offer, None where it would answer too little or is here already."""
    if len(questions) < 2:
        return None
    sent = {node.name for node in doc.nodes if node.bundle}
    nodes = set()
    for question in questions:
        for part in question.parts:
            if part.in_bundle:
                nodes |= set(part.nodes)
    if is_complete(doc):
        nodes -= sent
    if sent and not nodes:
        return None
    remark = "the full bundle"
    if sent & nodes:
        remark = "files are missing from the one we received"
    return _build_offer(
        WantedAsk("vm-support", command=True, remarks=[remark], nodes=sorted(nodes)), questions
    )


def _collect_rules(questions: list[OpenQuestion]) -> set[str]:
    return {rule for question in questions for rule in question.rules}


def _build_offer(ask: WantedAsk, questions: list[OpenQuestion]) -> Offer:
    """Return what one thing to ask for would settle."""
    rules = count_noun(len(_collect_rules(questions)), "rule", "rules")
    settles = f"{count_noun(len(questions), 'question', 'questions')} of {rules}"
    return Offer(ask, [] if ask.is_request else ask.nodes, settles)


def list_wanted(doc: CaseDocument) -> list[WantedAsk]:
    """Return all that is asked for, each thing once whatever its wording, with its remarks and machines.

    It is what would settle a finding at hand, first what the worst findings lack, then what most rules need; without a
    finding it is what answers most questions. A name to be filled in is that of the subjects of its question.
    """
    places: dict[str, int] = {}
    titles: dict[str, str] = {}
    for number, row in enumerate(group_findings(doc)):
        places[row.first.rule] = number
        titles.setdefault(row.first.rule, row.first.title)
    if places:
        last = len(places)
        questions = sorted(list_settling(doc), key=lambda one: -len(one.rules))
        questions.sort(key=lambda one: min(places.get(rule, last) for rule in one.settles))
        offers = []
    else:
        questions = list_pressing(doc)
        offers = list_offers(doc)
    wanted = []
    for question in questions:
        subjects = join_few(question.subjects, 8)
        about = f"for {subjects}" if subjects else ""
        settled = sorted(
            (rule for rule in question.settles if rule in titles), key=places.__getitem__
        )
        reasons = [titles[rule] for rule in settled]
        for ask in _sort_blanks_last(question.asks):
            needs_name = ask.has_blank or not ask.command
            one = replace(ask, reasons=reasons)
            if needs_name and about:
                one.remarks = [about, *ask.remarks]
                one.abouts = {about: subjects}
            wanted.append(one)
    wanted += [offer.ask for offer in offers]
    return _merge_asks(wanted)


def _sort_blanks_last(asks: Iterable[WantedAsk]) -> list[WantedAsk]:
    """Return what to ask for, commands with a name to be filled in last: the others print the names."""
    return sorted(asks, key=lambda ask: ask.has_blank)


def list_advice(doc: CaseDocument) -> list[str]:
    """Return the hints of a case; one that is given for many files is printed once, with the first of them."""
    files: dict[str, list[str]] = {}
    for line in doc.advice:
        first, space, rest = line.partition(" ")
        if "!" in first or "/" in first:
            files.setdefault(space + rest, []).append(first)
        else:
            files.setdefault(line, []).append("")
    lines = []
    for hint, names in files.items():
        more = count_noun(len(names) - 1, "more file", "more files")
        others = f" (and {more})" if more else ""
        lines.append(f"{names[0]}{others}{hint}")
    return lines


def list_damaged_files(doc: CaseDocument) -> list[str]:
    """Return the names of files that came cut short or damaged: whole ones answer most open questions.

    A file that is still being copied is not asked for: the customer has sent it whole.
    """
    damaged: dict[str, None] = {}
    arriving = set()
    for item in doc.damage:
        name = _name_file(item.address)
        damaged[name] = None
        if item.what in (STILL_WRITTEN, STILL_LOADED):
            arriving.add(name)
    for source in doc.sources:
        if source.state in ("cut", "damaged"):
            damaged[_name_file(source.address)] = None
    return [name for name in damaged if name not in arriving]


def _name_file(address: str) -> str:
    outer = address.partition("!")[0]
    return re.split(r"[/\\]", outer.rstrip("/"))[-1]

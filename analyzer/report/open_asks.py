"""What a case cannot tell, what to ask the customer for, and the e-mail that asks for it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from analyzer.case.asks import AskItem, AskPiece, merge_remarks, pieces, write_phrase
from analyzer.report.completeness import is_complete
from analyzer.report.finding_rows import group_findings, list_unknowns
from analyzer.report.wording import Doc, count_noun, join_few
from analyzer.runtime.reasons import STILL_LOADED, STILL_WRITTEN
from analyzer.runtime.text import one_line

_LOOSE = " (loose files)"  # of the name of a machine that no file names
_BLANK = re.compile(r"<[a-z]")
_ONE_OPTION = re.compile(r"^(?P<path>esxcli [a-z ]+ list) -o \S+$")
_REQUEST = re.compile(r"(?:GET|POST|PUT) /")  # of REST, which no shell of a host takes
FEW = 6  # questions, which are told one by one
ALL = 6  # hosts that are named also where all of them are meant
MOST_OFFERS = 5  # commands and files, besides a bundle


def split_doubt(line: str) -> tuple[str, list[AskPiece]]:
    """Return what could not be checked, and what to ask for as commands and words."""
    said, _, ask = line.partition(" Ask for: ")
    return said, pieces(ask.removesuffix("."))


_TOLD: ContextVar[dict[tuple[int, bool], tuple[Doc, list[Doc]]] | None] = ContextVar(
    "_TOLD", default=None
)


@contextmanager
def keep_questions() -> Iterator[None]:
    """Work out the questions of a document once for all that asks while one result is made of it."""
    before = _TOLD.set({})
    try:
        yield
    finally:
        _TOLD.reset(before)


def list_questions(doc: Doc, *, muted: bool = False) -> list[Doc]:
    """Return what cannot be told, one entry for each missing thing, with all asks that would settle it."""
    told = _TOLD.get()
    if told is None:
        return _build_questions(doc, muted=muted)
    key = id(doc), muted
    if key not in told:
        told[key] = (
            doc,
            _build_questions(doc, muted=muted),
        )  # the document is kept: its id stays its own
    return told[key][1]


def _build_questions(doc: Doc, *, muted: bool) -> list[Doc]:
    blocks: dict[str, Doc] = {}
    for group in list_unknowns(doc, muted=muted):
        block = blocks.setdefault(group["missing"], {"missing": group["missing"], "parts": []})
        block["parts"].append(group)
    for block in blocks.values():
        for key in ("rules", "subjects", "nodes"):
            block[key] = sorted({item for part in block["parts"] for item in part[key]})
        block["why"] = list(dict.fromkeys(part["why"] for part in block["parts"] if part["why"]))
        block["muted"] = list(
            dict.fromkeys(part["muted"] for part in block["parts"] if part["muted"])
        )
        block["in_bundle"] = any(part["in_bundle"] for part in block["parts"])
        block["settles"] = sorted({rule for part in block["parts"] for rule in part["settles"]})
        block["asks"] = _merge_asks(ask for part in block["parts"] for ask in part["asks"])
    return list(blocks.values())


def name_missing(block: Doc) -> str:
    """Return what is missing: a table, or the column of it that has no value; what a rule calls a row says nothing."""
    missing = str(block["missing"])
    column = missing.rpartition(".")[2]
    return (
        column if any(why.startswith(f"{column} has no value") for why in block["why"]) else missing
    )


def write_heading(block: Doc) -> str:
    """Return what is missing in the words of whoever sends it: the command or file, not the name of our table."""
    missing = str(block["missing"])
    words = [why.partition(f" ({missing})") for why in block["why"]]
    named = next((before for before, found, _ in words if found and before), "")
    return (
        named
        or next((ask["what"] for part in block["parts"] for ask in part["asks"]), "")
        or next(iter(block["why"]), "Not known")
    )


def split_heading(block: Doc) -> tuple[str, str]:
    """Return the heading of a question and why it is open; no heading where the reason begins with it."""
    title, why = write_heading(block), "; ".join(block["why"])
    return "" if why.startswith(title) else title, why


def _merge_asks(records: Iterable[Doc]) -> list[Doc]:
    """Return records of what to ask for, each thing once whatever its wording, with all remarks and machines.

    One option (`… list -o /Mem/CtlMaxPercent`) is not asked for where the whole list is.
    """
    found: dict[str, Doc] = {}
    for record in records:
        known = found.setdefault(find_key(record), {**record, "remarks": [], "nodes": []})
        known["remarks"] = merge_remarks(
            [*known["remarks"], *(record.get("remarks") or [record["remark"]])]
        )
        known["nodes"] = sorted({*known["nodes"], *record["nodes"]})
    paths = {key: option["path"] for key in found if (option := _ONE_OPTION.match(key))}
    lists = {
        key.partition(" -")[0]
        for key, record in found.items()
        if record["command"] and key not in paths
    }
    return [record for key, record in found.items() if paths.get(key) not in lists]


def find_key(record: Doc) -> str:
    """Return what tells one thing to ask for from another, whatever the wording."""
    return AskItem(record["what"], record["command"]).key


def join_remarks(record: Doc) -> str:
    """Return the remarks on a thing in one line."""
    return "; ".join(record["remarks"])


def phrase_ask(record: Doc) -> str:
    """Return a thing to ask for with its remarks, in one line."""
    return write_phrase(record["what"], record["remarks"])


def is_loose(doc: Doc) -> bool:
    """Tell whether a case is loose files and transcripts alone: whole, and no support bundle among them."""
    return bool(doc["case"]["complete"]) and not any(node["bundle"] for node in doc["nodes"])


def list_pressing(doc: Doc) -> list[Doc]:
    """Return the questions that are told one by one: a few, or those that sharpen a finding.

    No engineer reads dozens. What would sharpen a finding is asked for by the finding itself, is a table that could
    make it worse, or another question of its rule. One file or command is asked for once.
    """
    blocks, told = list_questions(doc), set[str]()
    if len(blocks) <= FEW and not is_loose(doc):
        return blocks
    found = []
    for block in list_settling(doc):
        wanted = set(map(find_key, block["asks"]))
        if not wanted <= told:
            told |= wanted
            found.append(block)
    return found


def list_settling(doc: Doc) -> list[Doc]:
    """Return the questions whose answer would settle a finding at hand, or may be its cause.

    Of what a question lacks, other rules may need more: each question holds what to ask for the findings alone.
    """
    rules = {
        one["rule"] for one in doc["findings"] if not one["muted"] and one["verdict"] == "match"
    }
    found = []
    for block in list_questions(doc):
        parts = [part for part in block["parts"] if not rules.isdisjoint(part["settles"])]
        if parts:
            found.append(
                block | {"asks": _merge_asks(ask for part in parts for ask in part["asks"])}
            )
    return found


def list_folded(doc: Doc) -> list[Doc]:
    """Return the other questions, which stay open; they are told in one line, and whole where it is opened."""
    told = {block["missing"] for block in list_pressing(doc)}
    return [block for block in list_questions(doc) if block["missing"] not in told]


def describe_folded(doc: Doc) -> str:
    """Return in one sentence how many questions stay open besides, and what some of them lack; empty for none."""
    rest = list_folded(doc)
    more = "more " if len(rest) < len(list_questions(doc)) else ""
    said = count_noun(len(rest), f"{more}question", f"{more}questions")
    lacking = list(dict.fromkeys(map(write_heading, rest)))
    such = ", such as " if len(lacking) > FEW else ": "
    return f"{said} that these files cannot answer{such}{'; '.join(lacking[:FEW])}" if said else ""


def list_offers(doc: Doc) -> list[Doc]:
    """Return what would settle most of the folded questions, each as a block of what to ask, with `settles` in words.

    First the support bundle of the hosts, which holds what many outputs and logs tell one by one; of the rest the
    commands and files that most rules need.
    """
    if group_findings(doc):
        return []
    rest = list_folded(doc)
    held = [block for block in rest if block["in_bundle"]]
    found = []
    if len(held) > 1:
        parts = [part for block in held for part in block["parts"] if part["in_bundle"]]
        sent = {node["name"] for node in doc["nodes"] if node["bundle"]}
        nodes = sorted(
            {node for part in parts for node in part["nodes"]}
            - (sent if is_complete(doc) else set())
        )
        if nodes or not sent:
            lacks = (
                "of which the one we have lacks files"
                if sent & set(nodes)
                else "as it writes it, complete"
            )
            bundle = {"what": "vm-support", "command": True, "remark": lacks, "nodes": nodes}
            found.append(_build_offer(bundle, held))
            rest = [block for block in rest if not block["in_bundle"]]
    for _ in range(MOST_OFFERS):
        needed: dict[str, list[Doc]] = {}
        for block in rest:
            for ask in block["asks"]:
                needed.setdefault(find_key(ask), []).append(block)
        if not needed:
            break
        key = max(needed, key=lambda one: (len(_collect_rules(needed[one])), len(needed[one])))
        if found and len(_collect_rules(needed[key])) < 2:
            break
        (record,) = _merge_asks(
            ask for block in needed[key] for ask in block["asks"] if find_key(ask) == key
        )
        found.append(_build_offer(record, needed[key]))
        rest = [block for block in rest if block not in needed[key]]
    return found


def _collect_rules(blocks: list[Doc]) -> set[str]:
    return {rule for block in blocks for rule in block["rules"]}


def _build_offer(record: Doc, blocks: list[Doc]) -> Doc:
    rules = count_noun(len(_collect_rules(blocks)), "rule", "rules")
    settles = f"{count_noun(len(blocks), 'question', 'questions')} of {rules}"
    request = _REQUEST.match(
        record["what"]
    )  # the NSX Manager answers it, not the machine it is about
    (merged,) = _merge_asks([record])
    return {
        "asks": [merged],
        "nodes": [] if request else merged["nodes"],
        "subjects": [],
        "settles": settles,
    }


def _list_mailed(doc: Doc) -> list[Doc]:
    """Return what is asked for: what would settle a finding at hand; without a finding what answers most questions.

    First what the worst findings lack, then what most rules need.
    """
    place = {row.first["rule"]: number for number, row in enumerate(group_findings(doc))}
    if not place:
        return [block for block in (*list_pressing(doc), *list_offers(doc)) if block["asks"]]
    blocks = sorted(list_settling(doc), key=lambda block: -len(block["rules"]))
    blocks.sort(key=lambda block: min(place.get(rule, len(place)) for rule in block["settles"]))
    return [block for block in blocks if block["asks"]]


def list_wanted(doc: Doc) -> list[Doc]:
    """Return all that is asked for, each thing once whatever its wording, with its remarks and machines."""
    return _merge_asks(ask for block in _list_mailed(doc) for ask in _name_subjects(block))


def _name_subjects(block: Doc) -> Iterator[Doc]:
    """Yield the records of a question; a name that is to be filled in is that of its subjects."""
    about = f"for {join_few(block['subjects'], 8)}" if block["subjects"] else ""
    for ask in sorted(
        block["asks"], key=lambda one: has_a_blank(one["what"])
    ):  # the others tell the names
        named = bool(about) and (has_a_blank(ask["what"]) or not ask["command"])
        yield {**ask, "remarks": [about, *ask["remarks"]] if named else ask["remarks"]}


def write_mail(doc: Doc) -> str:
    """Return what to ask as the text of one e-mail to the customer; empty when there is nothing to ask.

    Commands stand alone, each once, below the hosts to run them on, those with a name to fill in last: the others tell
    the names. A line that starts with # says where and when the next one is run, and a shell skips it. Files are a
    list of their own. Hints on what the files are (`advice`) are for the engineer.
    """
    asked, again = list_wanted(doc), list_damaged_files(doc)
    if not asked and not again:
        return ""
    parts = [
        f"Please send {name} again: the file we received is cut short or damaged." for name in again
    ]
    requests = [ask for ask in asked if ask["command"] and _REQUEST.match(ask["what"])]
    commands = [ask for ask in asked if ask["command"] and ask not in requests]
    for nodes, lines in _group_by_nodes(commands):
        parts.append(
            "\n".join(
                [
                    f"Please run{_describe_nodes('on', nodes, doc)}:",
                    *(f"   {line}" for line in lines),
                ]
            )
        )
    if requests:
        asked_of = f"Please send what the API of {_name_manager(doc)} answers to these requests:"
        parts.append("\n".join([asked_of, *(f"   {line}" for line in _write_requests(requests))]))
    for nodes, lines in _group_by_nodes([ask for ask in asked if not ask["command"]]):
        parts.append(
            "\n".join(
                [
                    f"Please send{_describe_nodes('from', nodes, doc)}:",
                    *(f"   {line}" for line in lines),
                ]
            )
        )
    out = [
        "Hello,",
        "",
        f"To continue with {doc['case']['name'] or 'this case'}, we need the following:",
        "",
    ]
    for number, part in enumerate(parts, 1):
        out += [f"{number}. {part}", ""]
    out += [
        "Please send each output as plain text, exactly as printed, with its command above it.",
        "",
        "Thank you.",
    ]
    return "\n".join(out) + "\n"


def has_a_blank(command: str) -> bool:
    """Tell whether a name in <…> is to be filled into a command before it can be run."""
    return _BLANK.search(command) is not None


def _describe_nodes(word: str, nodes: tuple[str, ...], doc: Doc) -> str:
    """Return on which machines: nobody knows which are "34 more": all are named, or it is every one, or all but few."""
    hosts = {node["name"] for node in doc["nodes"] if node["kind"] == "esxi"}
    if len(nodes) > ALL and set(nodes) == hosts:
        return f" {word} each of the {len(nodes):,} hosts that you sent files of"
    if len(rest := sorted(hosts - set(nodes))) <= ALL < len(nodes) and set(nodes) <= hosts:
        return f" {word} each of the {len(hosts):,} hosts that you sent files of, but not {word} {', '.join(rest)}"
    files = [name for name in nodes if name in _list_unnamed(doc)]
    named = [name for name in nodes if name not in files]
    if files:
        own = [name for name in files if not name.endswith(_LOOSE)]
        machine = "machines" if len(own) > 1 else "machine"
        named.append(f"the {machine} that {join_few(own, ALL) if own else 'your files'} came from")
    return f" {word} {', '.join(named)}" if named else ""


def _list_unnamed(doc: Doc) -> set[str]:
    """Return the machines that nothing names: called after their file, or as the one of all loose files."""
    files = {re.split(r"[/\\!]", source["address"])[-1] for source in doc["sources"]}
    names = (node["name"] for node in doc["nodes"] if not node["bundle"])
    return {name for name in names if name in files or name.endswith(_LOOSE)}


def _name_manager(doc: Doc) -> str:
    """Return the machine that answers REST requests: no host and no controller does."""
    names = [
        node["name"]
        for node in doc["nodes"]
        if node["kind"] in ("nsx_manager", "nsxt_manager") and node["name"]
    ]
    return f"the NSX Manager {names[0]}" if len(names) == 1 else "the NSX Manager"


def _write_requests(requests: list[Doc]) -> Iterator[str]:
    """Yield the requests with their remarks; that the manager answers them is said above."""
    for ask in requests:
        yield from (
            f"# {one_line(remark)}" for remark in ask["remarks"] if remark != "on the NSX Manager"
        )
        yield one_line(ask["what"])


def list_advice(doc: Doc) -> list[str]:
    """Return the hints of a case; one that is given for many files is told once, with the first of them."""
    files: dict[str, list[str]] = {}
    for line in doc["advice"]:
        first, space, rest = line.partition(" ")
        address = "!" in first or "/" in first
        files.setdefault(space + rest if address else line, []).append(first if address else "")
    more = {
        rest: count_noun(len(names) - 1, "more file", "more files") for rest, names in files.items()
    }
    return [
        f"{names[0]}{f' (and {more[rest]})' if more[rest] else ''}{rest}"
        for rest, names in files.items()
    ]


def _group_by_nodes(asked: list[Doc]) -> list[tuple[tuple[str, ...], list[str]]]:
    """Return the lines to send for each set of nodes, the one with most to do first."""
    found: dict[tuple[str, ...], list[str]] = {}
    for ask in sorted(asked, key=lambda one: has_a_blank(one["what"])):
        lines = found.setdefault(tuple(ask["nodes"]), [])
        if ask["command"]:
            lines += [
                *(f"# {one_line(remark)}" for remark in ask["remarks"]),
                one_line(ask["what"]),
            ]
        else:
            lines.append(one_line(phrase_ask(ask)))
    return sorted(found.items(), key=lambda item: -len(item[1]))


def list_damaged_files(doc: Doc) -> list[str]:
    """Return the names of files that came cut short or damaged: whole ones answer most open questions.

    Of a file that is still being copied nothing is asked: the customer has sent it whole.
    """
    hurt = [item["address"] for item in doc["damage"]]
    hurt += [
        source["address"] for source in doc["sources"] if source["state"] in ("cut", "damaged")
    ]
    coming = {
        _name_file(item["address"])
        for item in doc["damage"]
        if item["what"] in (STILL_WRITTEN, STILL_LOADED)
    }
    return [name for name in dict.fromkeys(map(_name_file, hurt)) if name not in coming]


def _name_file(address: str) -> str:
    return re.split(r"[/\\]", address.partition("!")[0].rstrip("/"))[-1]

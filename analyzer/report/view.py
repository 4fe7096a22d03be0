"""What all reports say in the same words: order, counts, times, sizes, the text of the e-mail.

Every function takes the case document (docs/case.md) or a part of it and
returns plain text or records. Nothing is escaped here: each report does that
for its own output.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from analyzer.asks import Piece, pieces
from analyzer.report.doubts import doubts, notes, worse

Doc = dict[str, Any]

SEVERITIES = ("critical", "major", "warning", "info")
COUNTED = (*SEVERITIES, "exposed", "error")  # the words of `counts`
KB_ADDRESS = "https://knowledge.broadcom.com/external/article?legacyId="


@dataclass(slots=True)
class Group:
    """Findings of one rule with the same weight: one row of a report."""

    findings: list[Doc]
    _same: dict[str, bool] = field(default_factory=dict)

    @property
    def first(self) -> Doc:
        """The finding that speaks for the row."""
        return self.findings[0]

    @property
    def word(self) -> str:
        """Severity in a word; `error` for a rule that broke."""
        return "error" if self.first["verdict"] == "error" else str(self.first["severity"])

    @property
    def confidence(self) -> str:
        """How sure the finding is; a rule that broke says nothing, so it is sure of nothing."""
        return "" if self.word == "error" else str(self.first["confidence"])

    @property
    def hollow(self) -> bool:
        """True when no sign of the fault was seen: only the version fits."""
        return bool(self.first["confidence"] == "exposed")

    def same(self, key: str) -> bool:
        """Tell whether all subjects of the row have the same value under `key`; ask when it is complete."""
        if key not in self._same:
            self._same[key] = all(finding[key] == self.first[key] for finding in self.findings)
        return self._same[key]

    @property
    def worse(self) -> str:
        """What could make the findings of the row worse or surer, in one sentence; empty for nothing."""
        return worse(self.findings)

    @property
    def same_notes(self) -> bool:
        """Tell whether the same sentences are added for all subjects of the row."""
        if "notes" not in self._same:
            first = notes(self.first)
            self._same["notes"] = all(notes(finding) == first for finding in self.findings)
        return self._same["notes"]

    def nodes(self) -> list[tuple[str, list[Doc]]]:
        """Return the nodes of the row by name, each with its findings, worst first."""
        found: dict[str, list[Doc]] = {}
        for finding in self.findings:
            found.setdefault(finding["node"], []).append(finding)
        return sorted(found.items())

    def parted(self, most: int) -> tuple[list[Doc], list[Doc]]:
        """Return the findings that are told with their evidence, and the rest in short.

        The first are the worst `most` and the worst of every node, of that as many again at the utmost.
        """
        worst = {id(own[0]) for _, own in self.nodes()}
        told: list[Doc] = []
        rest: list[Doc] = []
        for place, one in enumerate(self.findings):
            wanted = place < most or (id(one) in worst and len(told) < 3 * most)
            (told if wanted and (one["trace"] or one["evidence"] or not place) else rest).append(one)
        return told, rest


def columns(findings: list[Doc]) -> list[str]:
    """Return the names of the values that findings differ in; none when they do not tell the same ones."""
    names = list(findings[0]["values"]) if findings else []
    if any(list(one["values"]) != names for one in findings):
        return []
    return names[:6]


def unchecked(doc: Doc, row: Group) -> list[str]:
    """Return what could not be checked of a row, one sentence for each reason."""
    return doubts(row.findings, {node["name"]: node["kind"] for node in doc["nodes"]})


def asked(line: str) -> tuple[str, list[Piece]]:
    """Return what could not be checked, and what to ask for as commands and words."""
    said, _, ask = line.partition(" Ask for: ")
    return said, pieces(ask.removesuffix("."))


def per_node(row: Group, most: int) -> str:
    """Return how many subjects of a row each node has: `esx01 50, esx02 50`; empty when there is one node."""
    nodes = row.nodes()
    if len(nodes) < 2:
        return ""
    return few([f"{name or 'no name'} {len(own):,}" for name, own in nodes], most)


def cuts(doc: Doc, rule: str = "") -> list[str]:
    """Return in sentences of which rules not all subjects are told in full; `rule` names one."""
    return [cut["say"] for cut in doc["cuts"] if rule in ("", cut["rule"])]


def groups(doc: Doc) -> list[Group]:
    """Return the findings that count, folded by rule and weight, in the order of the document."""
    return _fold([finding for finding in doc["findings"] if not finding["muted"]])


def muted(doc: Doc) -> list[Group]:
    """Return the findings somebody has muted, folded the same way."""
    return _fold([finding for finding in doc["findings"] if finding["muted"]])


def unknowns(doc: Doc, *, muted: bool = False) -> list[Doc]:
    """Return what cannot be told and is not muted, or is."""
    return [group for group in doc["cannot_tell"] if bool(group["muted"]) is muted]


def _fold(findings: list[Doc]) -> list[Group]:
    rows: dict[tuple[str, ...], Group] = {}
    for finding in findings:
        weight = (finding["verdict"], finding["severity"], finding["confidence"])
        key = (finding["rule"], *weight, finding["muted"])
        if key in rows:
            rows[key].findings.append(finding)
        else:
            rows[key] = Group([finding])
    return list(rows.values())


@dataclass(frozen=True, slots=True)
class Tally:
    """The counts of a case, from which every page, report, list and archive takes its own. Muted ones are apart.

    findings   (word, number) of what was found, zeros left out: one finding is one rule at one severity and
               confidence, on however many subjects; COUNTED are the words
    rules      rules that found something or broke
    subjects   subjects that are ill, each once for every rule
    questions  things that are missing so that something cannot be told, each one block of the report
    quiet      rules that looked at something and found nothing
    idle       rules that had nothing to look at
    muted      findings and questions that local settings fold away
    """

    findings: tuple[tuple[str, int], ...]
    rules: int
    subjects: int
    questions: int
    quiet: int
    idle: int
    muted: int


def tally(doc: Doc) -> Tally:
    """Return the counts of a case document."""
    rows = groups(doc)
    words = Counter("exposed" if row.hollow else row.word for row in rows)
    matches = [cut for cut in doc["cuts"] if cut["verdict"] == "match"]
    return Tally(
        findings=tuple((word, words[word]) for word in COUNTED if words[word]),
        rules=len({row.first["rule"] for row in rows}),
        subjects=sum(len(row.findings) for row in rows if row.word != "error")
        + sum(cut["subjects"] - cut["full"] - cut["short"] for cut in matches),
        questions=len(asks(doc)),
        quiet=len(quiet(doc)),
        idle=len(not_applicable(doc)),
        muted=silenced(doc),
    )


def counts(doc: Doc) -> list[tuple[str, int]]:
    """Return (word, findings) for what was found: severities, then "exposed" and "rule error"; zeros left out.

    A finding that rests on a version alone counts as exposed and not by its severity.
    """
    return list(tally(doc).findings)


def headline(doc: Doc) -> str:
    """Return the counts in one sentence, each with its unit."""
    all_ = tally(doc)
    found = ", ".join(f"{n:,} {plural(word, n)}" for word, n in all_.findings) or nothing(doc)
    if all_.findings:
        units = [counted(all_.rules, "rule", "rules"), counted(all_.subjects, "subject", "subjects")]
        found += f" ({', '.join(filter(None, units))})"
    parts = [found, open_questions(all_.questions), f"quiet: {counted(all_.quiet, 'rule', 'rules') or 'no rule'}"]
    if all_.muted:
        parts.append(f"muted: {counted(all_.muted, 'entry', 'entries')}")
    return "; ".join(parts)


def open_questions(number: int) -> str:
    """Return how many questions are open, in the words that every report and list uses."""
    return f"cannot tell: {counted(number, 'question', 'questions') or 'no question'}"


def silenced(doc: Doc) -> int:
    """Return how many rows are muted: findings and things that cannot be told, folded as the report folds them."""
    return len(muted(doc)) + len(asks(doc, muted=True))


def titles(doc: Doc) -> dict[str, str]:
    """Return how another finding speaks of each: title and subject, by id."""
    return {
        one["id"]: f"{one['title']} ({one['subject']}{', muted' if one['muted'] else ''})" for one in doc["findings"]
    }


def causes(doc: Doc, finding: Doc) -> list[tuple[str, str]]:
    """Return what explains a finding: the words that lead to it, and its id.

    A cause of several comes before what it explains itself, as in the document; what is muted comes last.
    """
    wanted = set(finding["explained_by"])
    found = [one for one in doc["findings"] if one["id"] in wanted] if wanted else []
    live = [one["id"] for one in found if not one["muted"]]
    out = [("Then fix this" if number else "Fix this first", one) for number, one in enumerate(live)]
    return out + [("Explained by", one) for one in finding["explained_by"] if one not in live]


def waits(doc: Doc, finding: Doc) -> bool:
    """Tell whether the fix of a finding waits until another finding of the case, its cause, is fixed."""
    causes = set(finding["explained_by"])
    return bool(causes) and any(one["id"] in causes and not one["muted"] for one in doc["findings"])


def more_evidence(number: int) -> str:
    """Return how many lines of evidence are not shown: `and 1 more line of evidence`."""
    return f"and {number:,} more {'line' if number == 1 else 'lines'} of evidence"


def plural(word: str, number: int) -> str:
    """Return the word of a count as it is read after the number."""
    if word == "error":
        return "rule broke" if number == 1 else "rules broke"
    return "warnings" if word == "warning" and number != 1 else word


def quiet(doc: Doc) -> list[Doc]:
    """Return rules that looked at something and found nothing."""
    return [row for row in doc["quiet"] if row["looked_at"]]


def marks(finding: Doc) -> list[str]:
    """Return what a reader should know of the rule: that it is not yet stable, that it did not come with the tool."""
    young = finding["status"] not in ("", "stable")
    return [*([f"{finding['status']} rule"] if young else []), *([finding["origin"]] if finding["origin"] else [])]


def not_applicable(doc: Doc) -> list[Doc]:
    """Return rules that had nothing to look at."""
    return [row for row in doc["quiet"] if not row["looked_at"]]


def facts(node: Doc) -> list[str]:
    """Return what a node is, in parts: product and version, uptime, time of capture."""
    version = " ".join(part for part in (node["product"] or node["kind"], node["version"]) if part)
    if node["build"]:
        version += f" build {node['build']}"
    if node["release"]:
        version += f", {node['release']}"
    parts = [version] if version else []
    if isinstance(node["uptime_s"], int | float):
        parts.append(f"up {duration(node['uptime_s'])}")
    if node["captured"]:
        parts.append(f"captured {stamp(node['captured'])}")
    if node["logs"]:
        first = min((log["first"] for log in node["logs"] if log["first"]), default="")
        last = max((log["last"] for log in node["logs"] if log["last"]), default="")
        if first and last:
            parts.append(f"logs {span(first, last)}")
    return parts


def complete(doc: Doc) -> bool:
    """Tell whether nothing of the input was cut, damaged, refused, not understood or stopped by a limit."""
    return bool(doc["case"]["complete"]) and not _losses(doc)


def completeness(doc: Doc) -> str:
    """Return one sentence on what of the input could not be used."""
    if complete(doc):
        left = _left_out(doc)
        return f"complete: nothing was cut or damaged; left out: {left}" if left else (
            "complete: nothing was cut, damaged or left out"
        )
    said = ", ".join(_losses(doc)) or "something is missing"
    return f"NOT COMPLETE: {said}. Where it is missing, absence proves nothing"


NOTHING = "nothing found"
NOTHING_READ = "nothing found in what could be read"  # where something was cut, damaged or not understood


def nothing(doc: Doc) -> str:
    """Return the words for a case without a finding: never plain "nothing found" when something was not read."""
    if complete(doc):
        return NOTHING
    lost = [source["address"] for source in unread(doc) if source["state"] != "other"]
    names = list(dict.fromkeys(re.split(r"[!/]", address.rstrip("!/"))[-1] for address in lost))
    if not names:
        return NOTHING_READ
    verb = "was" if len(names) == 1 else "were"
    return f"{NOTHING_READ}; {few(names, 3)} {verb} not read, or not to the end"


def unread(doc: Doc) -> list[Doc]:
    """Return what came in and was not read, or not to the end, as records with state, address and why.

    First what was not read or understood, then what is cut or damaged, at last what is no support material. Damage
    in a source that is there already says nothing new.
    """
    order = ("refused", "unknown", "cut", "damaged", "other")
    found = [source for source in doc["sources"] if source["state"] in order]
    there = {source["address"] for source in found}
    found += [
        {"state": "damaged", "address": address, "why": damage["what"]}
        for address, damage in {item["address"]: item for item in reversed(doc["damage"])}.items()
        if address not in there
    ]
    return sorted(found, key=lambda one: order.index(one["state"]))


_UNREAD = {
    "refused": "Not read",
    "unknown": "Not understood",
    "cut": "Cut short",
    "damaged": "Damaged",
    "other": "Ignored",
}


def unread_line(source: Doc) -> str:
    """Return one line on a source that was not read, or not to the end."""
    return f"{_UNREAD[source['state']]}: {source['address']}" + (f" ({source['why']})" if source["why"] else "")


def _losses(doc: Doc) -> list[str]:
    states = Counter(source["state"] for source in doc["sources"])
    parts = [
        counted(len(doc["damage"]), "place damaged", "places damaged"),
        counted(states["cut"], "source cut short", "sources cut short"),
        counted(states["refused"], "source refused", "sources refused"),
        counted(states["unknown"], "source not understood", "sources not understood"),
        counted(len(doc["limits"]), "limit reached", "limits reached"),
    ]
    return [part for part in parts if part]


def _left_out(doc: Doc) -> str:
    """Return what was left out without a loss, in words; "" for nothing."""
    states: Counter[str] = Counter()
    for source in doc["sources"]:
        folded = re.search(r" \((\d+) files\)$", source["address"])
        states[source["state"]] += int(folded[1]) if folded and source["state"] == "listed" else 1
    parts = [
        counted(states["listed"], "source that Backline does not read", "sources that Backline does not read"),
        counted(states["skipped"], "source skipped", "sources skipped"),
        counted(states["duplicate"], "duplicate", "duplicates"),
        counted(states["other"], "file that is not support material", "files that are not support material"),
    ]
    return ", ".join(part for part in parts if part)


def coverage(doc: Doc) -> str:
    """Return one sentence on how much was read."""
    states = Counter(source["state"] for source in doc["sources"])
    order = (
        ("read", "read"), ("searched", "searched"), ("duplicate", "duplicate"), ("listed", "listed"),
        ("skipped", "skipped"), ("cut", "cut"), ("refused", "refused"), ("unknown", "not understood"),
        ("other", "ignored"),
    )  # fmt: skip
    said = ", ".join(f"{states[state]:,} {word}" for state, word in order if states[state]) or "none"
    lines = sum(source["lines"] for source in doc["sources"])
    text = f"Sources: {said}."
    if lines:
        faults = doc["faults_total"]
        # of a large log only some lines are looked at one by one; cases of before have no such number
        looked = sum(source.get("looked_at") or source["lines"] for source in doc["sources"])
        whole = "" if looked >= lines else f" of the {looked:,} looked at one by one"
        text += f" {lines:,} lines read, {faults:,} not understood{whole}{_share(faults / (looked or lines))}."
    return text


def _share(part: float) -> str:
    if not part:
        return ""
    return f" ({part:.2%})" if part >= 0.0001 else " (less than 0.01%)"


def asks(doc: Doc, *, muted: bool = False) -> list[Doc]:
    """Return what cannot be told, one entry for each missing thing, with all asks that would settle it."""
    blocks: dict[str, Doc] = {}
    for group in unknowns(doc, muted=muted):
        block = blocks.setdefault(group["missing"], {"missing": group["missing"], "parts": []})
        block["parts"].append(group)
    for block in blocks.values():
        for key in ("rules", "subjects", "nodes"):
            block[key] = sorted({item for part in block["parts"] for item in part[key]})
        block["why"] = list(dict.fromkeys(part["why"] for part in block["parts"] if part["why"]))
        block["muted"] = list(dict.fromkeys(part["muted"] for part in block["parts"] if part["muted"]))
        block["asks"] = list(dict.fromkeys(part["ask"] for part in block["parts"] if part["ask"]))
    return list(blocks.values())


def loose(doc: Doc) -> bool:
    """Tell whether a case is loose files and transcripts alone: whole, and no support bundle among them."""
    return bool(doc["case"]["complete"]) and not any(node["bundle"] for node in doc["nodes"])


def pressing(doc: Doc) -> list[Doc]:
    """Return the questions that are told one by one: all of them; of loose files those that sharpen a finding.

    A pasted output was never meant to answer every rule. What would sharpen a finding is asked for by the finding
    itself, is a table that could make it worse, or another question of its rule.
    """
    if not loose(doc):
        return asks(doc)
    live = [one for one in doc["findings"] if not one["muted"] and one["verdict"] == "match"]
    rules = {one["rule"] for one in live}
    tables = {table for one in live for table in one["maybe_worse"]}
    said = {line for one in live for line in one["also"]}

    def sharpens(block: Doc) -> bool:
        asked = any(f"Ask for: {ask.rstrip('.')}" in line for ask in block["asks"] for line in said)
        return asked or block["missing"] in tables or not rules.isdisjoint(block["rules"])

    return [block for block in asks(doc) if sharpens(block)]


def folded(doc: Doc) -> list[Doc]:
    """Return the other questions, which loose files leave open; they are told in one line."""
    told = {block["missing"] for block in pressing(doc)}
    return [block for block in asks(doc) if block["missing"] not in told]


def folded_told(doc: Doc) -> str:
    """Return in one sentence how many questions loose files leave open; empty for none."""
    rest = len(folded(doc))
    more = "more " if rest < len(asks(doc)) else ""
    said = counted(rest, f"{more}question", f"{more}questions")
    return f"{said} that these files alone leave open" if said else ""


def _mailed(doc: Doc) -> list[Doc]:
    """Return what a mail asks for; of loose files without a finding what belongs to the products that were seen."""
    found = pressing(doc)
    if not found and loose(doc) and not groups(doc):
        kinds = {node["kind"].partition("_")[0] for node in doc["nodes"]}
        seen = kinds | ({"esxtop", "guest"} if "esxi" in kinds else set())
        found = [block for block in asks(doc) if block["missing"].partition(".")[0] in seen]
    return [block for block in found if block["asks"]]


def mail(doc: Doc) -> str:
    """Return what to ask as the text of one e-mail to the customer; empty when there is nothing to ask."""
    wanted, again = _mailed(doc), send_again(doc)
    if not wanted and not doc["advice"] and not again:
        return ""
    out = ["Hello,", "", f"to go on with {doc['case']['name'] or 'this case'} we need the following.", ""]
    for number, name in enumerate(again, 1):
        out += [f"{number}. Please send {name} again: it reached us cut short or damaged.", ""]
    for number, block in enumerate(wanted, len(again) + 1):
        where = f" from {few(block['nodes'], 6)}" if block["nodes"] else ""
        out.append(f"{number}. Please send{where}:")
        out += [f"   {line.text}" for ask in block["asks"] for line in pieces(ask)]
        if block["subjects"]:
            out.append(f"   It concerns: {few(block['subjects'], 8)}.")
        out.append("")
    if doc["advice"]:
        out += ["Also helpful:", *(f"- {line}" for line in doc["advice"]), ""]
    out += ["Please send the output as it is printed, as text, with the command above it.", "", "Thank you."]
    return "\n".join(out) + "\n"


def send_again(doc: Doc) -> list[str]:
    """Return the names of files that came cut short or damaged; whole ones would answer most open questions."""
    hurt = [item["address"] for item in doc["damage"]]
    hurt += [source["address"] for source in doc["sources"] if source["state"] in ("cut", "damaged")]
    return list(dict.fromkeys(re.split(r"[/\\]", address.partition("!")[0].rstrip("/"))[-1] for address in hurt))


def pieces_of(block: Doc, most: int = 1_000_000) -> list[list[Piece]]:
    """Return the asks of a block, each as its commands, which can be copied, and the words beside them."""
    return [pieces(ask) for ask in block["asks"][:most]]


def few(items: list[str], most: int) -> str:
    """Return names as a list in words, the rest counted."""
    # Names hold commas themselves: "web-01, ethernet0".
    comma = "; " if any(", " in item for item in items) else ", "
    if len(items) <= most:
        return comma.join(items)
    return f"{comma.join(items[:most])} and {len(items) - most:,} more"


def counted(number: int, one: str, many: str) -> str:
    """Return `3 places` and the like; empty for none."""
    return f"{number:,} {one if number == 1 else many}" if number else ""


def place(record: Doc) -> str:
    """Return `address:line`, or the address alone where there is no line."""
    return f"{record['address']}:{record['line']}" if record["line"] else str(record["address"])


def kb_link(number: int) -> str:
    """Return the address of an article of the knowledge base; only digits get into it."""
    return f"{KB_ADDRESS}{int(number)}"


def epoch(time: object) -> float | None:
    """Return seconds since 1970 of a time of the document, None when it is none."""
    if isinstance(time, int | float):
        return float(time)
    try:
        moment = datetime.fromisoformat(str(time))
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def stamp(time: object) -> str:
    """Return a time as `2017-10-09 14:02:15 UTC`; what is no time comes back as it is."""
    seconds = epoch(time)
    if seconds is None:
        return str(time)
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (ValueError, OverflowError, OSError):
        return str(time)


def span(first: str, last: str) -> str:
    """Return `2017-10-03 09:11 to 2017-10-09 14:02 UTC (6.2 d)`."""
    begin, end = epoch(first), epoch(last)
    if begin is None or end is None:
        return f"{first} to {last}"
    return f"{stamp(first)[:16]} to {stamp(last)[:16]} UTC ({duration(end - begin)})"


def duration(seconds: float) -> str:
    """Return a length of time with a unit a reader can picture."""
    if seconds >= 10 * 86400:
        return f"{seconds / 86400:.0f} d"
    if seconds >= 86400:
        return f"{seconds / 86400:.1f} d"
    if seconds >= 3600:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 60:.0f} min" if seconds >= 60 else f"{seconds:.0f} s"


def size(number: object) -> str:
    """Return bytes as kB, MB, GB (powers of 1000); empty when not known."""
    if not isinstance(number, int | float):
        return ""
    for unit, step in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= step:
            return f"{number / step:.1f} {unit}"
    return f"{number} B"


def summary(values: list[float | None]) -> dict[str, float] | None:
    """Return least, mean, 95th percentile (nearest rank) and most of the known values; None without any."""
    known = sorted(value for value in values if isinstance(value, int | float))
    if not known:
        return None
    rank = max(0, -(-95 * len(known) // 100) - 1)
    mean = sum(known) / len(known)
    return {"n": len(known), "min": known[0], "mean": mean, "p95": known[rank], "max": known[-1]}


def number(value: float) -> str:
    """Return a number short enough to read: three significant digits below 1000."""
    return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:.3g}"

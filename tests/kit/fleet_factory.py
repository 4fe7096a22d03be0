"""Made-up fleets for the tests of the fleet page: names, sentences and numbers say nothing of real products or hosts."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from analyzer.archive.entry import Entry
from analyzer.archive.object_store.object_store import FORMAT
from analyzer.archive.packs.encode import encode_case, none_pack
from analyzer.archive.prints import UNJUDGED, case_id, source_key
from analyzer.archive.store import Archive
from analyzer.case.document import Tool
from analyzer.case.verdicts import CannotTell, Finding, Judgement
from analyzer.pipeline import case
from analyzer.pipeline.case_data import RunResult
from analyzer.report.fleetmap import (
    RANK,
    Fleet,
    FleetCase,
    FleetHit,
    FleetNote,
    FleetRule,
    Host,
    arrange_fleet,
)

WORDS = {"C": "critical", "M": "major", "W": "warning", "I": "info", "V": "major"}
TITLES = (
    "Receive ring runs full and frames are dropped",
    "A CPU limit holds the VM back",
    "The driver of the adapter is known to lose its queues",
    "Heartbeats of the datastore time out",
    "The route table of the controllers is stale",
)


def fleet(cases: int = 60, rules: int = 18, *, seed: int = 7, spoil: str = "") -> Fleet:
    """Return an arranged fleet; `spoil` is put behind every text of a case."""
    chance = random.Random(seed)
    out = Fleet(f"/archives/lab{spoil}", "2017-10-21T06:30:00Z")
    out.rules = [
        FleetRule(
            f"{'kb-' + str(2039495 + n * 7) if n % 3 else 'storage-paths-flap-' + str(n)}",
            TITLES[n % 5] + spoil,
            (2039495 + n,),
        )
        for n in range(rules)
    ]
    out.hosts = [
        Host(f"esx{n:04}.lab{spoil}", "ESXi 6.5.0 build 5969303") for n in range(max(3, cases // 2))
    ]
    likely = [chance.random() ** 4 for _ in range(rules)]
    for number in range(cases):
        out.cases.append(_case(number, chance, spoil))
        signs = [_sign(chance, likely[rule]) for rule in range(rules)]
        if number % 23 == 22:
            out.cases[-1].read, out.cases[-1].why, signs = (
                False,
                f"no file in it could be opened{spoil}",
                ["/"] * rules,
            )
        out.cases[-1].cells = "".join(signs)
        host = chance.randrange(len(out.hosts))
        for rule, sign in enumerate(signs):
            if RANK[sign] < RANK["."]:
                out.hits.append(_hit(number, rule, host, sign, out.cases[-1], chance, spoil))
    return arrange_fleet(out)


def _case(number: int, chance: random.Random, spoil: str) -> FleetCase:
    identity = hashlib.sha256(f"made up {number}".encode()).hexdigest()[:32]
    captured = datetime(2017, 10, 20, tzinfo=UTC) - timedelta(
        hours=int(chance.random() ** 1.5 * 24 * 400)
    )
    stamp = captured.strftime("%Y-%m-%dT%H:%M:%SZ")
    return FleetCase(
        identity, identity[:12], f"case-{18000 + number}{spoil}", f"/cases/2017/case-{18000 + number}{spoil}",
        "2017-10-21T06:30:00Z", stamp, complete=number % 11 != 5,
    )  # fmt: skip


def _sign(chance: random.Random, likely: float) -> str:
    if chance.random() < likely * 0.6:
        return chance.choice("CMMWWWWIV")
    return chance.choices("?!m.-/", (8, 0.3, 1, 60, 30, 1))[0]


def _hit(
    number: int, rule: int, host: int, sign: str, one: FleetCase, chance: random.Random, spoil: str
) -> FleetHit:
    count = chance.choice((1, 1, 1, 2, 3, 48)) if sign in "CMWI?" else 1
    first = one.captured if sign in WORDS and chance.random() < 0.9 else ""
    if sign == "?":
        note = FleetNote(
            f"vmnic{rule}{spoil}", f"4 of 61 lines were not understood{spoil}",
            missing="esxi.nic_stats", ask=f"ethtool -S vmnic{rule}{spoil}",
        )  # fmt: skip
    else:
        weight = f"{WORDS.get(sign, 'major')}, {'exposed' if sign == 'V' else 'likely'}"
        say = f"0.0{rule} % of frames lost; the ring was full {number * 37 + rule:,} times.{spoil}"
        note = FleetNote(
            f"vm-{number}, port 335544{rule:02}{spoil}", say, weight, first, finding=f"rule-{rule}/vm-{number}{spoil}",
            muted=f"Wanted in this lab (until 2018-01-01){spoil}" if sign == "m" else "",
        )  # fmt: skip
    return FleetHit(number, rule, host, sign, count, first, [note] * min(count, 20))


# --- a stored archive, from a few words a case --------------------------------------------------------

KB = {"ring": [2039495], "paths": [2113956, 1005577], "limit": [], "old": [2149630]}


@dataclass
class Told:
    """What one made-up case says: findings and open questions as `rule sign host time`, quiet and absent rules.

    found   `ring C esx1 2017-10-03`: sign as in the map, `m` for a muted finding, `?` for an open question, `mM` for
            a muted one; the time may be missing
    quiet   rules that looked and found nothing; absent: rules that had nothing to check
    signs   `scsi: a device is lost`: module and words of a line that no finding rests on
    """

    name: str
    captured: str
    found: str = ""
    quiet: str = ""
    absent: str = ""
    refused: str = ""
    complete: bool = True
    content: str = ""
    signs: tuple[str, ...] = ()

    @property
    def rows(self) -> list[list[str]]:
        """The words of each finding and question."""
        return [[*line.split(), "", ""][:4] for line in self.found.split(";") if line.strip()]

    @property
    def signals(self) -> list[dict[str, Any]]:
        """The signals that its signs are."""
        found: list[dict[str, Any]] = []
        for sign in self.signs:
            module, _, what = sign.partition(": ")
            found.append(
                {"node": "n0", "kind": "line", "module": module, "what": what, "weight": 4.0}
            )
        return found


def judged(told: Told, spoil: str = "") -> RunResult:
    """Return the outcome of a made-up case."""
    said = Judgement()
    counts: dict[str, Counter[str]] = {rule: Counter() for rule in KB}
    for number, (rule, sign, host, time) in enumerate(told.rows):
        subject, muted = f"vm{number}{spoil}", f"Wanted here{spoil}" if sign in ("m", "mM") else ""
        if sign in ("?", "mM"):
            counts[rule]["cannot_tell"] += 1
            said.cannot_tell.append(
                CannotTell(
                    rule,
                    title(rule),
                    host + spoil,
                    subject,
                    "missing",
                    "esxi.x",
                    f"no x{spoil}",
                    f"`get x`{spoil} on the host",
                    muted,
                )
            )
            continue
        verdict = "error" if sign == "!" else "match"
        counts[rule][verdict] += 1
        severity, sure = (
            {"m": "major", "V": "major"}.get(sign, WORDS.get(sign, "warning")),
            "exposed" if sign == "V" else "likely",
        )
        said.findings.append(
            Finding(
                f"{rule}/{subject}", rule, title(rule), KB[rule], [], "stable", host + spoil, subject, subject, verdict,
                severity, sure, f"{rule} on {subject} is bad.{spoil}", first_seen=f"{time}T00:00:00Z" if time else "", muted=muted,
            )
        )  # fmt: skip
    for rules, verdict in ((told.quiet, "no_match"), (told.absent, "not_applicable")):
        for rule in rules.split():
            counts[rule][verdict] += 1
    said.counts = {rule: dict(count) for rule, count in counts.items() if count}
    head = {"name": told.name, "created": told.captured, "complete": told.complete}
    rules = [(rule, title(rule), KB[rule]) for rule in KB]
    document = case.build_document(
        case=head,
        tool=Tool(name="backline", version="0.1.0", catalog="", rules=0),
        nodes=[],
        sources=[],
        judgement=said,
        catalog_rules=rules,
    )
    return RunResult(document, not told.complete, [], said, rules, signals=told.signals)


def title(rule: str) -> str:
    """Return the title of a made-up rule."""
    return f"The {rule} is bad"


def stored(place: Path, cases: list[Told], spoil: str = "") -> Archive:
    """Return an archive of made-up cases, stored a second apart in their order."""
    archive = Archive.open(place, create=True)
    for number, told in enumerate(cases):
        identity = case_id(
            told.name, [("a.txt", 10, hashlib.sha256(told.content.encode()).hexdigest())]
        )
        source = f"/cases/{told.name}"
        meta = {
            "format": FORMAT, "id": identity, "name": told.name, "source": source, "stored": "2017-10-21T06:30:00Z",
            "tool": "0.1.0", "reading": "a" * 12, "judging": "b" * 12, "catalog": "0" * 12, "settings": "",
            "state": "refused" if told.refused else "ok", "why": told.refused, "searched": [], "seconds": 0.1, "bytes": 1, "files": 1,
        }  # fmt: skip
        stamp = 1_508_567_400_000 + number * 1000  # 2017-10-21 06:30
        kind = "none" if told.refused else "case"
        entry = Entry(
            identity,
            source_key(source),
            "a" * 12,
            UNJUDGED if told.refused else "b" * 12,
            stamp,
            kind,
        )
        archive.put_pack(
            entry,
            none_pack(meta)
            if told.refused
            else encode_case(None, judged(told, spoil), meta, "case"),
        )
    return archive

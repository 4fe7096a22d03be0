"""Words in cells that say trouble: states (`degraded`), and what events and answers say in a sentence."""

from __future__ import annotations

import re
from typing import NamedTuple

MOST_TEXT = 1000  # characters of a cell that are looked at

_BAD_STATE = re.compile(
    r"\b(?:down|dead|fail\w*|fault\w*|degrad\w*|disconnect\w*|closed?|unavail\w*|inaccess\w*|absent"
    r"|off-?line|unhealthy|error\w*|critical|red|out[ _-]?of[ _-]?(?:sync|date|space)|lost|block\w*"
    r"|unreach\w*|denied|expired|invalid|broken|missing|stale|abort\w*|interrupt\w*|warning|yellow"
    r"|stopped|unresponsive|partition\w*|isolat\w*|mismatch\w*|time(?:out|d)|refus\w*|reject\w*"
    r"|unstable|unsup\w*|diagnostic|concat\w*|pdl|apd|unmounted|detect\w+ time expired"
    r"|neighbor signal\w*|high|major|corrupt\w*|poweredoff_unexpected|amber|non-?\w+"
    r"|reduced\W\w*|no[ _-](?:contact|response|heartbeat|access|redundan\w*)"
    r"|unknown|pending|inactive|incomplete|not[ _-]\w+)\b",
    re.IGNORECASE,
)
_WEAK_STATE = re.compile(
    r"\s*(?:unknown|pending|inactive|incomplete|disabled|not[ _-]\w+)\s*", re.IGNORECASE
)
_GOOD_STATE = re.compile(
    r"\s*(?:up|ok\b.*|active|on|online|connected|green|enabled|healthy|mounted|running|established"
    r"|in[ _-]?sync|success\w*|open|normal|good|ready|complete\w*|joined|deployed|full|stable|yes|none"
    r"|no|not[ _](?:applicable|supported)|n/?a|unsupported|supported|standby|idle|link[ _-]up|0"
    r"|no[ _]diagnostic|admin_up|started|registered|published|resolved|ack\w*|read-write|rw"
    r"|powered ?o(?:n|ff)|i/o|active \(i/o\)|on_link|low|medium|info\w*|valid|compliant|succeeded|-+|)\s*",
    re.IGNORECASE,
)
_NO_TROUBLE = re.compile(
    r"\b(?:no|0|zero|without(?: any)?)[ :]+(?:\w+ ){0,2}(?:errors?|fail\w*|faults?|warnings?|timeouts?"
    r"|drops?|dropped|loss(?:es)?|lost|problems?|issues?|conflicts?)\b"
    r"|\b(?:errors?|fail\w*|faults?|drops?|dropped|lost) ?[:=] ?0\b|\bsuccess\w*"
    r"|\bfail(?:over|back|-?safe)\b|\bfully\b|\blink is not ready\b|\blog area (?:reset|cleared)\S*",
    re.IGNORECASE,
)
_ORDINARY = re.compile(
    r"\b(?:present|presence|inserted|enabled|running|in[ -]service|active|idle|in test|on ?line|ok|normal|cleared"
    r"|boot\w*|start\w*|initiat\w*|power(?:ed)?[ -]?(?:on|up|off|down|cycle)|S[0-5]\b|fully|synch\w*|time ?stamp"
    r"|log(?:ged)?[ -]?(?:in|on|out)|connected|performance met|oem|update\w*|button|soft-?off|device enabled)\b",
    re.IGNORECASE,
)
_ENDED = re.compile(r"\bde-?assert(?:ed|ion)?\b", re.IGNORECASE)  # the end of a hardware event


class TroubleWords(NamedTuple):
    """A class of words that say trouble, and what it weighs."""

    weight: float
    name: str
    pattern: re.Pattern[str]


def _make_class(weight: float, name: str, pattern: str) -> TroubleWords:
    return TroubleWords(weight, name, re.compile(pattern, re.IGNORECASE))


_CLASSES = (
    _make_class(
        5,
        "crash",
        r"\bpanic\w*|\bpurple\b|\bPSOD\b|\bcrash\w*|\bcore dumped|\bsegfault|\bmachine.check|\bMC[EA]\b"
        r"|\bIERR\b|\bthermal trip|\bSERR\b|\bPERR\b|\bNMI\b|\bfatal\b|\bcatastroph\w*",
    ),
    _make_class(
        5,
        "damage",
        r"\bcorrupt\w*|\bdata loss|\bmedium error|\bbad block|\bunrecover\w*|\bdamaged\b|\buncorrect\w*"
        r"|\bpredictive fail|\bhardware (?:error|fault|failure)|\bpermanent(?:ly)? \w+|\bPDL\b|\bAPD\b",
    ),
    _make_class(
        4.5,
        "exhausted",
        r"\bout of (?:memory|space|resources|heap|inodes|buffers?)\b|\bno (?:memory|space|free)\b"
        r"|\bexhaust\w*|\bexceed\w*|\b(?:is|are|was) (?:now )?full\b|\binsufficient\b|\bnot enough\b"
        r"|\btoo (?:many|large|long|big|high|slow|much)\b|\boverflow\w*|\boverrun\w*",
    ),
    _make_class(
        4.5,
        "hang",
        r"\bdead-?lock|\bhung\b|\bhangs?\b|\bstall\w*|\bstuck\b|\block-?up\b|\bhang \w+",
    ),
    _make_class(
        4, "failure", r"\bfail(?:s|ed|ure|ures|ing)?\b|\w+(?:Failed|Failure|Error|Exception)\b"
    ),
    _make_class(4, "error", r"\berrors?\b|\berrno\b|\btraceback\b|\bexception\b|\babort\w*"),
    _make_class(
        4,
        "not possible",
        r"\bunable\b|\bcan ?not\b|\bcan'?t\b|\b(?:could|would|did|does|do|has|have|is|was)(?: not|n'?t)\b",
    ),
    _make_class(
        4,
        "no answer",
        r"\btim(?:ed|ing|es)?[- ]?out\b|\bexpired?\b|\bno (?:response|reply|answer|heartbeat)\b"
        r"|\bnot respond\w*|\bunrespons\w*|\bunreach\w*",
    ),
    _make_class(
        4,
        "lost",
        r"\blost\b|\bloss\b|\bdead\b|\binaccess\w*|\bdisconnect\w*|\bunavail\w*|\boffline\b|\bgone\b"
        r"|\bdown\b|\bno (?:path|link|carrier|route|connection|such|valid|active|uplink|longer)\b"
        r"|\bbroken\b|\bLOGO\b|\bRSCN\b",
    ),
    _make_class(
        4,
        "refused",
        r"\brefus\w*|\breject\w*|\bdenied\b|\bforbid\w*|\bunauthori[sz]ed\b|\bblocked\b|\bviolat\w*"
        r"|\bnot (?:authori[sz]ed|permitted|allowed|trusted|licensed)\b|\block(?:ed)? by\b",
    ),
    _make_class(
        4,
        "degraded",
        r"\bdegrad\w*|\bunhealthy\b|\bcritical\b|\bfault(?:y|ed|s)?\b|\bredundancy\b|\bout[- ]of[- ]sync"
        r"|\bnon-?(?:compliant|recoverable|responsive)\b|\bnot (?:compliant|healthy|in sync)\b",
    ),
    _make_class(
        3.5,
        "mismatch",
        r"\bmis-?match\w*|\binconsisten\w*|\bconflict\w*|\bduplicat\w*|\bincompatib\w*|\binvalid\b"
        r"|\billegal\b|\bunsupport\w*|\bnot (?:supported|valid|compatible|recogni[sz]ed)\b|\bstale\b",
    ),
    _make_class(
        3.5,
        "missing",
        r"\bmissing\b|\bnot (?:be )?(?:found|present|exist\w*|running|ready|loaded|installed)\b"
        r"|\babsent\b|\borphan\w*|\bunclaimed\b",
    ),
    _make_class(
        3.5,
        "hardware event",
        r"\bECC\b|\bcorrect(?:ed|able)\b|\bthreshold\b|\bover-?heat\w*|\btemperature\b|\b(?:lower|upper)"
        r" (?:critical|non)|\bhang detected|\breset\w*|\bunexpected\w*|\bretransmi\w*|\bdiscard\w*",
    ),
)


def weigh_state(text: str) -> float:
    """Return what a state weighs: 1 it is bad, 0.75 it is unknown or pending, 0 it says no trouble."""
    text = text[:MOST_TEXT]
    if _GOOD_STATE.fullmatch(text) or not _BAD_STATE.search(text):
        return 0.0
    return 0.75 if _WEAK_STATE.fullmatch(text) else 1.0


def is_ordinary(text: str) -> bool:
    """Tell whether a record says what any machine does: it was switched on, a part is present, a log was cleared."""
    return _ORDINARY.search(text[:MOST_TEXT]) is not None


class WordsFound(NamedTuple):
    """What a text says of trouble: the weight of its heaviest words, 0 for none, and the names of their classes."""

    weight: float
    names: tuple[str, ...] = ()


def find_trouble(text: str) -> WordsFound:
    """Return the words of trouble in a sentence, without those that say there is none."""
    text = text[:MOST_TEXT]
    if _ENDED.search(text):
        return WordsFound(0.0)
    plain = _NO_TROUBLE.sub(" ", text)
    found = [words for words in _CLASSES if words.pattern.search(plain)]
    if not found:
        return WordsFound(0.0)
    return WordsFound(found[0].weight, tuple(words.name for words in found[:2]))

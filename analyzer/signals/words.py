"""The words of trouble, in classes: what a log says when something went wrong, whatever the component.

A class has a weight: 6 for what a machine does not survive, 4 for a failure that is named, 3 for what is slow or was
corrected, below that for what only adds to other words. The classes were chosen by the words of the catalog's own
evidence lines; the weights are our own. `words.csv` holds them.
"""

from __future__ import annotations

import csv
import json
import re
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path


@dataclass(frozen=True, slots=True)
class WordClass:
    """Words that say the same sort of trouble."""

    name: str
    weight: float
    pattern: re.Pattern[str]


def _read_classes() -> tuple[WordClass, ...]:
    """Return the classes in the order of `words.csv`, which has a row for each of their patterns."""
    with Path(__file__).with_name("words.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    found = []
    for (name, weight), own in groupby(rows, key=lambda row: (row["class"], row["weight"])):
        patterns = "|".join(row["pattern"] for row in own)
        value = json.loads(weight)  # 4 stays 4 in a case document
        found.append(WordClass(name, value, re.compile(patterns, re.IGNORECASE)))
    return tuple(found)


CLASSES = _read_classes()

# Words of trouble that say none: a count of 0, a policy, a timeout that is set, the end of trouble.
HARMLESS = re.compile(
    "|".join(
        (
            r"\b(?:no|0|zero|without(?: any)?|any)[\s:]+(?:[a-z]\w*\s+){0,2}(?:errors?|failures?|"
            r"fail(?:ed)?|faults?|warnings?|timeouts?|drops?|dropped|loss(?:es)?|lost|"
            r"problems?|issues?|conflicts?|retries|aborts?|resets?|overruns?|discards?|"
            r"collisions?|violations?)\b",
            r"\b(?:(?:errors?|failures?|fail(?:ed)?|faults?|warnings?|timeouts?|drops?|dropped|"
            r"loss(?:es)?|lost|problems?|issues?|conflicts?|retries|aborts?|resets?|overruns?|"
            r"discards?|collisions?|violations?)|err|errno|error[ _]?code|rc|ret|code|status|"
            r"reason|failreason)\w*\s*(?:count|code|packets|"
            r"""pkts)?\s*[:=]?\s*[\"'(\[<]{0,2}(?:0x0+\b(?![.x]\d)|0+\b(?![.x]\d)|(?:none|"""
            r"""null|nil|n/a|success|ok|false|unset|no)\b(?=\W*(?:$|[,;.)\]}>\"'])))""",
            r"\b(?:err|error|fail|fault)[-_ ]?(?:safe|fast|open|action|policy|order|domain|"
            r"criteria|detection|handler|handling|correct\w*|injection|tolerance|report(?:ing|"
            r"s)?|logging|counters?|recovery|level|threshold|files?|stack)\b",
            r"\bfailover[-_ ]?(?:policy|order|mode|delay|enabled|host|ready|explicit)\b",
            r"\bfailback\b",
            r"\bfail-?safe\b",
            r"\b(?:i/?o |idle |connect(?:ion)? |read |write |session |wait |lock |command |"
            r"login |task )?time-?out(?:s|\w*(?:ms|sec|secs|value|interval))?\s*(?:of|=|:|is|"
            r"""was|set|value|to|\()\s*[\"']?-?\d+""",
            r"\bwith (?:a )?timeout\b",
            r"\b\d+\s*(?:ms|s|sec|seconds?|minutes?) timeout\b",
            r"\btimeout for\b.{0,20}\bis\b",
            r"\bon(?:error|failure|timeout)\b",
            r"\bif\b.{0,40}\bfails?\b",
            r"\bin case of (?:an? )?(?:error|failure)\b",
            r"\bfull(?:[- ]?(?:duplex|path|name|sync|scan|backup|speed|screen|copy|featured?)|"
            r"y)\b",
            r"\b(?:page|count|power|shut|break|cool|tear|touch|slow|key|mouse|wind|"
            r"cascade)[- ]?down\b",
            r"\blost\+found\b",
            r"\bdead[- _]?(?:peer|interval|time|timer)\b",
            r"\b(?:reset|clear|zero)(?:t?ing|ed)? (?:of )?(?:statistics|stats|counters?|"
            r"timers?|error counters)\b",
            r"\b(?:is|are|was|were|isn't|not|never)\s+(?:degraded|corrupt\w*|isolated|dirty|"
            r"locked|stale|expired|full|down|dead|lost|missing)\s*[:=]\s*(?:false|no|0)\b",
            r"\bis not (?:degraded|corrupt\w*|isolated|dirty|stale|expired|full|down|dead|lost|"
            r"missing|blocked)\b",
            r"\b(?:degraded|corrupt\w*|isolated|dirty|stale|expired|down|dead|lost|missing|"
            r"invalid|unreachable|inaccessible|faulty|abort\w*|"
            r"""cancell?ed)\s*[:=]\s*[\"']?(?:false|no|0)\b""",
            r"\bwas not the result of\b",
            r"\bnot an error\b",
            r"\berror-?free\b",
            r"\bstderr\b",
            r"\bcritical section\b",
            r"\bdeny[- ]?list\b",
            r"\b(?:fault|error)(?:Cause|Message)? = (?:\(vmodl\.MethodFault\) )?(?:null|"
            r"<unset>)",
            r"\bsense data: 0x0 0x0 0x0\b",
            r"\bsuccess(?:ful(?:ly)?)?\b",
            r"\bsucceeded\b",
        )
    ),
    re.IGNORECASE,
)

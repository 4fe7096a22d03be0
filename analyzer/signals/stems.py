"""One pattern for lines that may say trouble: the words that weigh something, their roots inside names, codes, levels.

The search of logs proposes the lines it finds; `weigh_text` reads each kind of them once and has the last word. So this
pattern may propose too much, which costs time, and must not miss a line that weighs `LEAST` or more (held by a test).
"""

from __future__ import annotations

from analyzer.signals.words import CLASSES

LEAST = 3.0  # weight from which a line of a whole log is counted

# Names of functions and faults hold words without a boundary: HOST_MUX_MISSING_REPORT, VmfsLockTimeout, IsBadIP.
_IN_NAMES = (
    "panic", "purple", "psod", "bsod", "assert", "crash", "zdump", "core.?dump", "dumping", "sig(?:segv|abrt|bus|ill)",
    "exception", "(?:[^e]|[^d]e)fault", "corrupt", "integrity", "damaged", "uncorrect", "recover", "fatal", "catastroph",
    "over.?heat", "over.?temp", "ierr", "thermal", "machine.?check", "[_.]?[sp]err", "nmi", "double.?bit", "permanent",
    "pdl", "apd", "all.?paths", "memory", "enospc", "[_.]oom", "out[._]?of", "heap",
    "no[._]?(?:mem|space|resource|path|link|such|heap|free|more|reply|answer|retry|respon|heartbeat|host|owner|rout|uplink|carrier)",
    "no[._]?(?:activ|master|longer|peer|server|member|neighb|connect|left|avail|valid|leader|backup|standby|reach)",
    "lock[._]?up", "deadlock", "hung", "[^c]hang", "stall", "stuck", "starv", "split.?brain", "partition", "isolat",
    "quorum", "heartbeat.{0,60}(?:lost|miss|time|fail|no)", "watchdog.{0,60}(?:time|fired|expired|reset|bark|hit)",
    "majority", "fail", "unsuccess", "unable", "cannot", "(?:is|do|was|did|has|does|have|could|would)nt",
    "tim(?:e|ed|es|ing)?[._]?out", "expire", "unrespons", "lost", "losing", "loss", "dead", "gone", "flap", "inaccess",
    "unreach", "disconnect", "unavail", "offline", "broken", "down", "refus", "reject", "deny", "denied", "disallow",
    "malicious", "permission", "access.?right", "eperm", "eacces", "spoof", "tamper", "forbid", "unauthori",
    "bad[._]?block", "blocked", "locked", "violat", "nack", "abort", "abnormal", "bail.{0,12}out", "giv(?:e|en|ing)[._]?up",
    "traceback", "stack.?trace", "terminate", "kill", "unexpected", "interrupted", "exceed", "exhaust", "overflow",
    "overrun", "overload", "over.?commit", "oversubscri", "shortage", "full", "low[._]?on", "running[._]?low", "reach",
    "maximum", "too[._]?(?:many|few|large|small|long|old|short|big|high|low|slow|much)", "insufficient", "throttl",
    "congest", "limit", "degrad", "non.?(?:complian|respons|operation)", "redundan", "deteriorat", "unhealthy", "critical",
    "sync", "error", "err_", "mismatch", "inconsisten", "conflict", "duplicat", "incompatib", "collision", "already",
    "in[._]?use", "differ", "stale", "invalid", "illegal", "malform", "incorrect", "wrong", "bad", "unsupport", "not[._]?",
    "unrecogni", "missing", "absent", "no[._].{1,40}found", "orphan", "drop", "discard", "retransmi", "crc", "missed",
    "slow", "late[._]?by", "latency", "delay", "busy", "contention", "corrected", "ecc_", "threshold",
)  # fmt: skip
_CODES = (
    r"\bh:0x[1-9a-f]", r"d:0x(?:[13-9a-f]|2\b)", r"p:0x[1-9a-f]", r"\bhttp[\"' s/_]",
    r"(?:status|code|response)[\"'_ a-z]{0,8}[\s:=(]{1,4}[\"']?[45]\d\d\b",
    r"error_?code", "bad0", r"\bstatus\(", r"status 0x", r"\buc=1\b", r"\bsc:0x", r"errno",
    r"\be(?:io|again|busy|exist|nodev|nxio|notconn|pipe|conn[a-z]+|hostunreach|netunreach|netdown|rofs|stale|fbig)\b",
    r"\be(?:mfile|nfile|dquot|proto|badf|notsup|timedout)\b", r"exit(?:ed)? ",
    r"\b(?:fault|result|return|reason)[\s_a-z]{0,8}[:=]",
    r"esx\.problem\.", r"\bmsg_(?:post|question)", r"(?:warning|error) message\b", r"message on ", r":\[0x",
    r"^\s+at ", r"\bfile \"", "caused by", r"backtrace", r"\b(?:vmodl?|vim)\.fault\.", r"#\d+\s+0x", r"(?:eip|rip) ?\[?\d* ?0x",
)  # fmt: skip
_LEVELS = (
    "warning", "alert", r"\bwarn\b", r"\b(?:er|cr|al|em|wa)\(\d+\)", r"level=\"(?:err|warn|crit|fatal|alert|emerg)",
    r"\| [ewc]\d+:", "severe", "emerg", r"^[ewf]\d{4} ", r"^[ew]: ", r"\bpanic\b", r"\bcritical\b",
)  # fmt: skip
_TIMES = (
    r"(?:took|takes|taken|stopped|held|wait(?:ed|ing)|stun|downtime|elapsed|rsv time|lasted|duration).{0,24}\d",
    r"\b(?:for|after)\b.{0,24}\d+(?:\.\d+)? ?\(?(?:s|sec|min|hour|ms|msec|milli|us|micro)",
)
_WORDS = (words.pattern.pattern for words in CLASSES if words.weight >= LEAST)

STEMS = "|".join((*_WORDS, *_IN_NAMES, *_CODES, *_LEVELS, *_TIMES))

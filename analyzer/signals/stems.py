"""One pattern for lines that may say trouble: the beginnings of the words that weigh something, and printed levels.

The search of logs proposes the lines it finds; `weigh_text` reads each kind of them once and has the last word. So a
stem may propose too much, which costs time, and must not miss a line that weighs `LEAST` or more (held by a test).
"""

from __future__ import annotations

LEAST = 3.0  # weight from which a line of a whole log is counted

# Words of classes of weight 3 and more, each as short as it may be without proposing every other line.
_WORDS = (
    "panic", "bluescreen", "purple ", "psod", "not_reached", "assert", "crash", "segfault", "sig(?:segv|abrt|bus|ill)",
    r"signal (?:11|6|7|4)\b", "core.?dump", "zdump", "wantcoredump", "fault", "exception", "corrupt", "data loss",
    "data integrity", "medium error", r"bad[ _-]?(?:block|sector|check|packet|udp|ip\b|param|magic|sum)", r"\bbad\b",
    r"check ?sum (?:err|mis|fail)", "unrecover", "damaged", "machine[- ]check", r"\bmc[ea]\b", "uncorrect", "ierr",
    "thermal trip", r"\b[sp]err\b", r"\bnmi\b", "recoverable", "fatal", "catastroph", "over-?heat", "hardware (?:err|fa)",
    "predict", "double-?bit", "parity err", "perm(?:anent)?", r"\bpdl\b", r"\bapd\b", "all[- ]paths", "out of ",
    r"\bno [a-z]", "oom", "enomem", "enospc", "exhaust", "heap", "lock(?:ed)?[- ]?up", "dead-?lock",
    r"hung\b", r"\bhang", "stall", "stuck", "starv", "heartbeat", "watchdog", "split[- ]?brain", "partition", "isolat",
    "quorum", "majority", "fail", "unsuccess", "unable", "can ?not", "can't", r"\bnot\b", "n't", "couldno",
    "time-?out", "tim(?:ed|ing|es)[- ]?out", "deadline exceeded", "expire", "unrespons", "un-respons", r"lost\b",
    r"loss\b", "losing", r"dead\b", "inaccess", "unreach", "disconnect", "unavail", "offline", r"gone\b", "broken",
    "down", "not[-_ ]?up", "flap", "refus", "reject", "denied", r"deny\b", "forbid", "un-?authori", r"\be[a-z]{1,3}acces\b",
    "eacces", "eperm", "permission", "blocked", "locked", "access right", "malicious", "tamper", "spoof", "violat",
    r"nack\b", "disallow", "abort", r"kill(?:ed|ing)\b", "terminat", "abnormal", "unexpected", "traceback", "backtrace",
    "stack trace", "interrupted", "gi(?:ve|ving|ven) up", r"bail\w* out", "exceed", "overflow", "over-?run", r"full\b",
    "too ", "insufficient", "shortage", "low on", "running low", "throttl", "congest", "limit", "reached",
    "overcommit", "overload", "oversubscri", "capacity", "degrad", "deteriorat", "unhealthy", "critical", r"\bred\b",
    "redundancy", "compliant", "responsive", "operational", "sync", "error", r"\berr\b", "errno", " 0 (?:out )?of ",
    r"\beio\b", "mis-?match", "inconsisten", "conflict", "duplicat", "incompatib", "differ", "match", "collision",
    "already ", "in use", "miscompare", "stale", "outdated", "invalid", "illegal", "malform", "incorrect", "wrong",
    "unsupport", "un-?recogni", "garbage", "unparsable", "einval", "missing", "no such", "exist", "absent", "enoent",
    "orphan", "unclaimed", "empty!", "under-?(?:flow|run)", "drop", "discard", "retransmi", r"\bcrc\b", "missed",
    "packet loss", "collapsed", "slow", "latency", "took ", "delay", r"\blag(?:s|g|\b)", "behind", "busy", "contention",
    "backlog", "late by", r"\blong\b", "correct(?:ed|able)", r"\becc\b", r"\bwear\b", "endurance", "threshold",
    "over temperature", "temperature", r"\bfan\b",
)  # fmt: skip
_CODES = (
    r"\bh:0x", "sense data", r"\bhttp", r"(?:status|code|response)[\"']?[\s:=(]", r"error_?code", "bad0", r"\bstatus\(",
    r"status 0x", r"\buc=1\b", r"\bsc:0x", r"\be(?:again|busy|exist|nodev|nxio|notconn|pipe|conn[a-z]+|hostunreach)\b",
    r"\be(?:netunreach|netdown|rofs|stale|fbig|mfile|nfile|dquot|proto|badf|notsup|timedout)\b", r"exit(?:ed)? ",
    r"esx\.problem\.", r"\bmsg_(?:post|question)", r"(?:warning|error) message\b", r"message on ", r":\[0x",
    r"^\s+at ", r"\bfile \"", "caused by", r"backtrace\[", r"\b(?:vmodl?|vim)\.fault\.", r"#\d+\s+0x",
    r"(?:eip|rip) ?\[?\d* ?0x",
)  # fmt: skip
_LEVELS = (
    "warning", "alert", r"\bwarn\b", r"\b(?:er|cr|al|em|wa)\(\d+\)", r"level=\"(?:err|warn|crit|fatal|alert|emerg)",
    r"\| [ewc]\d+:", "severe", "emerg", r"^[ewf]\d{4} ", r"^[ew]: ",
)  # fmt: skip
_TIMES = (
    r"(?:took|takes|taken|stopped|held|wait(?:ed|ing)|stun|downtime|elapsed|rsv time|lasted|duration).{0,24}\d",
    r"\b(?:for|after)\b.{0,24}\d+(?:\.\d+)? ?\(?(?:s|sec|min|hour|ms|msec|milli|us|micro)",
)

STEMS = "|".join((*_WORDS, *_CODES, *_LEVELS, *_TIMES))

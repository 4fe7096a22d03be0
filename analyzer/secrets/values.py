"""Secrets in text: passwords, keys, tokens, session ids and community strings become `*****`.

This is the one filter for all that leaves the program: text is filtered where bytes become lines
(`hide_lines`, artefacts and transcripts) and where a line of a log is kept (`hide`, `hide_around`), so that
evidence, context, faults, tables and the archive hold what is left. Names and addresses are no secrets here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from analyzer.secrets import forms
from analyzer.secrets.records import hide_record, hide_records

HIDDEN = "*****"

# A word that stands before, in or after every secret, in lower case. Text without one is not looked at further.
SIGNS = (
    "pass", "secret", "token", "cookie", "session", "communit", "credential", "auth", "api", "chap",
    "key", "psk", "://", "basic ", "bearer ", "negotiate ", "ntlm ", "$", "eyj", "akia", "licen", "sid", "-u",
    "pw", "ticket", "signature", "trap", "com2sec", "createuser", "users", "targets", "digest", "md5",
    "domainjoin", "vmkfstools", "cst-", "saml", "securestring", "encryption.data", "advanced set",
    "account", "snmp", "echo ", "mysql", "ovftool", "redis-cli", "vicfg-", "ipmitool", "ldap", "vmkiscsi", "vmware-cmd",
    *forms.SIGNS,
)  # fmt: skip
# `sid` is a name by itself or the end of `phpsessid`; the line of a SCSI device (`ScsiDeviceIO`) holds it as well.
_WORDS = tuple(sign for sign in SIGNS if sign != "sid")
_SID = re.compile(r"sessid|(?<![\w.-])sid\b")
_PARTED = re.compile(r"[0-9a-z]{5}-[0-9a-z]{5,6}-")

# Names whose value is a secret whatever it is.
_STRONG = re.compile(
    r".*(?:pass(?:word|wd|phrase|code)|secret|psk|kinit[-_]?pass|authtok"
    r"|pre[-_]?shared[-_]?key|private[-_ ]?key|pwd)\d?"
    r"(?:[-_.]?(?:hash|text|value|data|base64|enc|encrypted|in|confirm(?:ation)?))?"
    r"|.*communit(?:y|ies)(?:[-_ ]?(?:string|name)s?)?|.*vnc\.key|.*keysafe|datafilekey"
    r"|.*(?:encryption|integrity)[-_ ]?key|(?:auth|priv)[-_]?hash"
    r"|.*pass(?:word|wd)_\d|.*chap[-_]?pw|.*keydata|encryption\.data|saml(?:response|request|assertion)"
    r"|root[-_]?pw|bind[-_]?pw|aws_secret_access_key|(?:licen[cs]e|serial)[-_ ]?key"
    r"|(?:.*[-_.])?(?:aes|3?des|hmac|cipher|symmetric|shared|master|signing|decryption|wep|wpa|tsig)"
    r"(?:[-_]?\d{2,3})?[-_ ]?key"
    r"|.*(?:key|trust)store[-_.]?pass|.*(?:ssh|sudo|become|bind|db|smtp|proxy|admin|root|user)[-_]pass"
    r"|guestinfo\.(?:user|vendor)data",
    re.IGNORECASE,
)
# Names whose value is a secret unless it is a plain number, as counters and handles are.
_WEAK = re.compile(
    r".*token|.*api[-_ ]?key|access[-_ ]?key(?:[-_ ]?id)?|ssh[-_ ]?key|credentials?|(?:set-)?cookie\d?"
    r"|.*session[-_ ]?(?:id|key|ticket|token|cookie)?|.*soap_session|jsessionid|phpsessid|x-.*auth.*|.*xsrf-token"
    r"|.*auth[-_ ]?(?:key|code|data)|saml[-_]?(?:token|ticket)|sid|(?:.*[-_.])?ticket|.*[a-z]Ticket",
    re.IGNORECASE,
)
_PAIR = re.compile(
    r"(?<![\w.-])(?P<name>[\w.-]{2,200}(?: (?:key|id|hash|names?|strings?))?)"
    r"[\\\"'\]]{0,3}\s{0,8}(?::=|::(?=\s)|=>|=|:(?!:))\s{0,8}(?:\([\w. ]{1,40}\)\s?)?(?=[^\s,;&])",
    re.IGNORECASE,
)
_UNSET = re.compile(
    r"(?:<unset>|<not set>|\(null\)|null|none|nil|unset|true|false|yes|no|not set|hidden|redacted|\*+)"
    r"(?:[\s\"',;&)\]}<]|$)|[\[{(<]\s*$",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[\"']?(?:0x[0-9a-f]{1,16}|-?\d{1,20})(?:[\s\"',;&)\]}.]|$)", re.IGNORECASE)
_WORTH = re.compile(r"u?(?P<q>\\?[\"'])(?P<quoted>(?:\\.|(?!(?P=q)).)+)(?P=q)?|(?P<bare>[^\s\"',;&<>()\[\]{}]+)")

_ANY_USER = r"(?<!\S)(?:-u|-U|--(?:proxy-)?user(?:name)?)(?:\s*=?\s*)"
# What a form needs to be tried at all (one of these words stands in the line), and the form; group x is the secret.
_FORMS = tuple(
    (signs, pattern)
    for signs, pattern in (
        # HTTP: the whole value of these headers is secret
        (
            ("authorization",),
            r"\b(?:proxy-)?authorization[\"']?\s*[:=]\s*[\"']?"
            r"(?:(?:basic|bearer|digest|negotiate|ntlm|remote|saml|sign)\s+)?(?P<x>[^\"'\r\n\]}>]+)",
        ),
        (("cookie",), r"\b(?:set-)?cookie[\"']?\s*:\s*(?!(?:0x[0-9a-f]+|\d+)\b)[\"']?(?P<x>[^\"'\s][^'\r\n\]}>]*)"),
        (
            ("basic ", "bearer ", "negotiate ", "ntlm "),
            r"\b(?:basic|bearer|negotiate|ntlm)\s+(?=\S*(?:[\d=]|(?-i:[a-z][A-Z])))(?P<x>[A-Za-z0-9+/=._~-]{6,})",
        ),
        # SNMP
        (("communit",), r"\bcommunit(?:y|ies)\s*[:=]\s*(?P<x>[^\s\"'<\[(*][^\r\n\"'<]*)"),
        (
            ("communit",),
            r"\b(?:r[ow])?communit(?:y|ies)(?:\s+(?:string|name))?\s+(?:is\s+|was\s+)?(?P<q>[\"'])(?P<x>[^\"']+)(?P=q)",
        ),
        (("communit",), r"\br[ow]community6?\s+(?P<x>[^\s\"']+)"),
        (("snmp",), r"\bsnmpd?\b[^\r\n]{0,80}?\bcommunity\s+(?!(?:string|name|is|was|list|set)\b)(?P<x>[^\s\"',;:=]+)"),
        # sentences
        (
            ("pass", "secret", "token"),
            r"\b(?:password|passphrase|passwd|secret(?:\s+key)?|token)(?:\s+(?:for|of)\s+\S+)?"
            r"\s+(?:is|was|set to|changed to)\s+"
            r"(?!(?:not|set|too|expired|invalid|required|incorrect|wrong|empty|valid|correct|missing|weak|changed|being"
            r"|accepted|in|about)\b)"
            r"[\"']?(?P<x>[^\s\"',;]+)",
        ),
        (("pass", "secret"), r"\b(?:password|passphrase|passwd|secret)\s+(?P<q>[\"'])(?P<x>[^\"']+)(?P=q)"),
        (("pass",), r"\b(?:password|passphrase)\s+for\s+\S+:\s+(?P<x>\S+)"),
        # XML
        (
            ("<",),
            r"<(?:\w+:)?[\w.-]*(?:pass(?:word|wd|phrase)|secret|psk|token|communit(?:y|ies)|private-?key|credential"
            r"|presharedkey|cookie|sessionid|apikey|licensekey)\b[^<>]*>(?P<x>[^<]+)",
        ),
        # command lines
        (
            ("-", "+"),
            r"(?<!\S)(?:--?|\+)(?:[\w-]*(?:password|passwd|pwd|passphrase|secret|token|psk|communit(?:y|ies)|private-key"
            r"|encryption-key|integrity-key|api-key|licen[cs]e|auth-?hash|priv-?hash)(?:-confirmation)?|pass|key)"
            r"(?:\s*=\s*|\s+)(?!-)[\"']?(?P<x>[^\s\"']+)",
        ),
        (("-u", "--"), rf"{_ANY_USER}(?P<q>[\"'])[^\"':%/]+[:%](?P<x>[^\"']+)"),
        (("-u", "--"), rf"{_ANY_USER}[^\s\"':%/]+[:%](?P<x>[^\s\"']+)"),
        (
            ("echo ",),
            r"\becho\s+(?:-n\s+)?[\"']?(?P<x>[^\s\"'|]+)[\"']?\s*\|"
            r"\s*(?:sudo\s+(?:-S\s+)?)?(?:kinit|passwd|chpasswd|openssl|su\b|sudo)",
        ),
        (("pass:",), r"\bpass(?:in|out)?\s+pass:(?P<x>\S+)"),
        (
            ("<",),
            r"<(?:\w+:)?[\w.-]*(?:pass(?:word|wd|phrase)|secret|psk|cookie|apikey)\b[^<>]*?"
            r"\bvalue=[\"'](?P<x>[^\"'<>]+)",
        ),
        (
            ("pass",),
            r"\bkey=(?:[\"']|\|22)[^\"'|<>]*pass(?:word|wd)[^\"'|<>]*(?:[\"']|\|22)\s[^<>]{0,80}?\bvalue="
            r"(?:[\"']|\|22)(?P<x>[^\"'|<>]+)",
        ),
        (("signature",), r"<(?:\w+:)?SignatureValue\b[^<>]*>(?P<x>[^<]+)"),
        (("sign ",), r"\bauthorization[\"']?\s*[:=]\s*sign\s+(?P<x>[^\r\n]+)"),
        # words of a tree, of a CLI and of configurations, the value behind dots or a blank
        (("secret", "password"), r"\b(?:secret|password)\.{3,}(?P<x>[^\s.]\S*)"),
        (
            ("passw", "passphrase"),
            r"\b(?:set\s+user|username|neighbor|backup\s+server|sftp\s+user|join\s+management-plane)\b[^\r\n|:;=]{0,120}?"
            r"\s(?<!\bor\s)(?<!\band\s)(?:old-)?"
            r"(?:password|passphrase)\s+(?:(?:[057]|hash|encrypted|plain(?:text)?|clear)\s+)?"
            r"(?!(?:for|is|was|has|not|must|will|expired|policy|and|or|of|to|from|in"
            r"|on|with|change[ds]?|reset|failed|age|expir\w*|auth\w*|set|check|attempt\w*|update\w*|length)\b)"
            r"(?P<x>[^\s\"',;:=(]+)",
        ),
        (("passw",), r"\bset\s+user\s.{1,160}?\sold-password\s+(?P<x>\S+)"),
        (("enable password",), r"(?<!\S)enable\s+password\s+(?!auth\w*$|expir\w*$|check\w*$)(?P<x>\S+)$"),
        (("message-digest-key", "authentication-key", "trusted key"), r"\bkey\s+\d+\s+md5\s+(?P<x>\S+)"),
        (("<type>",), r"<type>(?:md5|password|simple)</type>\s*<value>(?P<x>[^<]+)"),
        (
            ("secret", "tacacs", "radius"),
            r"\b(?:radius_secret|(?:auth|radius|tacacs)-server\s.{0,80}?\b(?:secret|key))\s+(?:[067]\s+)?(?P<x>\S+)",
        ),
        (("bindpw", "rootpw"), r"(?<!\S)(?:bindpw|rootpw)\s+(?:--(?:iscrypted|plaintext)\s+)?(?P<x>[^\s=:-]\S*)"),
        (("changed password",), r"\bchanged\s+password\s+(?:for|of)\s+\S+\s+to\s+(?P<x>\S+)"),
        (("reg_sz",), r"password[\"']?\s+REG_SZ\s+[\"']?(?P<x>[^\"'\s]+)"),
        (
            ("convertto-securestring",),
            r"\bConvertTo-SecureString\s+(?:-String\s+)?(?P<q>[\"']?)(?P<x>[^\s\"')-][^\s\"')]*)",
        ),
        (("-ku", "-su", "curl"), r"\bcurl\b.{0,200}?\s-[a-zA-Z]{1,5}u\s+[\"']?[^\s\"':]+:(?P<x>[^\s\"']+)"),
        (("domainjoin",), r"\bdomainjoin-cli\s+join\s+(?:--ou\s+\S+\s+)?\S+\s+\S+\s+(?P<x>\S+)"),
        (("vmkfstools",), r"\bvmkfstools\b.{0,200}?\s-E\s+(?P<x>[^\s/]\S*)"),
        # SNMP v3 and traps
        (("snmp",), r"\bsnmp\s+set\b.{0,400}?--(?:remote-)?users[\s=]+(?P<x>\S+)"),
        (("users:",), r"(?<!\S)users:\s+(?P<x>[^\s/]+(?:/[^\s/]+){2,}.*)"),
        (("snmp",), r"\bsnmp\s+hash\b.{0,200}?\s-A\s+(?P<x>\S+)"),
        (("snmp",), r"\bsnmp\s+hash\b.{0,200}?\s-X\s+(?P<x>\S+)"),
        (("createuser",), r"\bcreateUser\s+\S+\s+(?P<x>\S.*)"),
        (("trap",), r"(?<!\S)trap2?(?:sink|sess)\s+\S+\s+(?P<x>\S+)"),
        (("com2sec",), r"\bcom2sec6?\s+\S+\s+\S+\s+(?P<x>\S+)"),
        (("@",), r"(?:--targets[\s=]+|<targets>|(?<!\S)targets:\s+)[^\s<@]+@\d+[/ ](?P<x>[^<\s,]+)"),
        (("esxcfg-advcfg",), r"\besxcfg-advcfg\b.{0,40}?\s-s\s+(?P<x>\S+)\s+\S*(?:passw|secret)"),
        (
            ("settings advanced set",),
            r"\bsettings\s+advanced\s+set\b.{0,80}(?:passw|secret)\w*\s"
            r".{0,40}?(?:-s|--string-value)[\s=]+(?P<x>\S+)",
        ),
        (("cst-",), r"\bcst-(?:VCT-)?(?P<x>[\w-]{6,})"),
        # by form alone
        (("://",), r"\b[a-z][a-z0-9+.-]*://[^/\s:@\"']+:(?P<x>[^/\s@\"']+)@"),
        (("$",), r"(?P<x>\$(?:1|2[abxy]?|5|6|7|y|gy|md5|sha1|apr1)\$[^\s:\"',;]{6,})"),
        (("eyj",), r"\b(?P<x>eyJ[\w-]{5,}\.[\w-]{5,}(?:\.[\w-]*)?)"),
        (("akia",), r"\b(?P<x>AKIA[0-9A-Z]{16})\b"),
        (("-",), r"(?<![\w-])(?P<x>[0-9A-Z]{5}(?:-[0-9A-Z]{5}){4})(?![\w-])"),
        *forms.FORMS,
    )
)
# Commands whose short options hold secrets: words of which one stands in the line, what names the command, and the
# option with its value.
_COMMANDS = tuple(
    (
        signs,
        command,
        rf"(?<=\s)-{options}(?:\s+|=)?[\"']?(?P<x>(?!-)[^\s\"']+)",
    )
    for signs, command, options in (
        (("account",), r"\b(?:esxcli|localcli)\b.{1,200}\baccount\s+(?:add|set)\b", "[pc]"),
        (("chap",), r"\b(?:esxcli|localcli)\b.{1,200}\bchap\s+set\b", "S"),
        (("snmp",), r"\b(?:esxcli|localcli)\b.{1,200}\bsnmp\s+(?:set|test)\b", "[cu]"),
        (("snmp",), r"\bsnmp(?:walk|get|getnext|bulkwalk|bulkget|set|trap|inform)\b", "[cAX]"),
        (
            ("sshpass", "mysql", "ovftool", "redis-cli", "vicfg-"),
            r"\b(?:sshpass|mysql\w*|ovftool|redis-cli|vicfg-\w+)\b",
            "[pa]",
        ),
        (("ipmitool", "ldap", "vicfg-"), r"\b(?:ipmitool|ldap(?:search|modify|add)|vicfg-iscsi)\b", "[PwW]"),
        (("vmkiscsi", "vmware-cmd"), r"\b(?:vmkiscsi-tool|vmware-cmd)\b", "[Pw]"),
    )
)
_COMMAND_WORDS = sorted({word for words, _, _ in _COMMANDS for word in words})
_LONGEST_LINE = 8192  # longer ones are looked at in parts: the work stays in proportion
_PEM_BEGINS = re.compile(r"-----BEGIN [A-Z0-9 ]*(?:PRIVATE KEY|OPENSSH)[A-Z0-9 ]*-----")
_PEM_ENDS = re.compile(r"-----END [A-Z0-9 ]+-----")
_PEM_LINE = re.compile(
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z0-9 ]*-----"
    r"(?P<x>(?:\\[nr]|&#\d+;|\s)*[\w+/=](?:(?!-----END).)*)"
)
_PEM_LEAST = 60  # characters at the end of a line of a key's body
_PEM_BODY = re.compile(r"(?<![\w+/=])[A-Za-z0-9+/]{60,76}={0,2}$")
# A secret's name at the end of a line: its value follows on the next lines, up to the closing sign.
_OPENED = re.compile(
    r"(?:(?<![\w.-])(?P<name>[\w.-]+(?: (?:key|id|hash|names?|strings?))?)[\"']?"
    r"\s*(?:(?::=|=>|[:=])\s*(?:\([\w. ]{1,40}\)\s?)?(?P<sign>[\[{(]?))"
    r"|<(?:\w+:)?(?P<tag>[\w.-]+)\b[^<>]*(?<!/)>)\s*$"
)
_CLOSED = re.compile(r"^(?:-->)?\s*(?:[\])}]|</)")
_LONGEST = 40  # lines that a value may go on for
_MEMBER = re.compile(
    r"^(?P<head>(?:-->)?\s*[\"']?)(?P<x>(?![-=+|*]+$)[^\s\"'<>\[\](){}][^\r\n\"'<>]*?)(?P<tail>[\"']?,?\s*)$"
)
_NAMED = re.compile(r"^(?:-->)?\s*[\w.\[\]-]+\s*(?:=|:\s|:$)")
_STRAY = re.compile(r"^(?:-->)?\s+[\"'](?P<x>[^\"']+)[\"'],?\s*$")  # an element of an array whose name was not seen


def suspect(raw: bytes) -> bool:
    """Tell quickly whether a text may hold a secret; a text in UTF-16 always may."""
    if b"\x00" in raw[:4096]:
        return True
    low = raw.lower()
    return any(sign.encode() in low for sign in SIGNS)


def _suspect(low: str) -> bool:
    """Tell quickly whether a line, in lower case, may hold a secret; seeking words beats one pattern of them all."""
    if _holds(low, _WORDS):
        return True
    if "sid" in low and _SID.search(low):
        return True
    return low.count("-") > 1 and _PARTED.search(low) is not None


def hide(line: str) -> str:
    """Return a line without the secrets it shows; a line without any comes back as it is."""
    low = line.lower()
    if not _suspect(low):
        return line
    if "-----begin" in low:
        line = _PEM_LINE.sub(_without, line)
    if len(line) > _LONGEST_LINE:
        return "".join(map(hide, _in_parts(line)))
    for words, command, option in _COMMANDS if _holds(low, _COMMAND_WORDS) else ():
        if _holds(low, words) and _compiled(command, re.IGNORECASE).search(line):
            line = _compiled(option, 0).sub(_without, line)
    for signs, form in _FORMS:
        if _holds(low, signs):
            line = _compiled(form, re.IGNORECASE).sub(_without, line)
    line = _hide_pairs(line)
    return hide_record(line, _names_one, HIDDEN) if "value" in low else line


@cache
def _compiled(pattern: str, flags: int) -> re.Pattern[str]:
    """Return a pattern of ours, compiled when a line needs it: of more than a hundred most cases need a few."""
    return re.compile(pattern, flags)


def _in_parts(line: str) -> Iterator[str]:
    """Yield a long line in parts, cut at a blank where there is one."""
    at = 0
    while len(line) - at > _LONGEST_LINE:
        end = line.rfind(" ", at + _LONGEST_LINE // 2, at + _LONGEST_LINE) + 1 or at + _LONGEST_LINE
        yield line[at:end]
        at = end
    yield line[at:]


def _holds(low: str, words: Sequence[str]) -> bool:
    """Tell whether one of some words stands in a line."""
    for word in words:  # noqa: SIM110 - a generator for `any` would cost more than the search
        if word in low:
            return True
    return False


def _hide_pairs(line: str) -> str:
    """Return a line without the values of names that speak of a secret: `name = value`, `name: "value"`."""
    parts: list[str] = []
    at = 0
    for pair in _PAIR.finditer(line):
        if pair.start() < at or not _speaks(pair["name"], line, pair.end()):
            continue
        value = _WORTH.match(line, pair.end())
        if value is None:
            continue
        group = "quoted" if value["quoted"] is not None else "bare"
        if value[group].strip("*"):
            parts += [line[at : value.start(group)], HIDDEN]
            at = value.end(group)
    return "".join([*parts, line[at:]]) if parts else line


def _speaks(name: str, line: str, at: int) -> bool:
    """Tell whether a name says that the value at an offset is a secret, and the value does not stand for none."""
    if _UNSET.match(line, at):
        return False
    return bool(_STRONG.fullmatch(name)) or (bool(_WEAK.fullmatch(name)) and not _NUMBER.match(line, at))


def hide_lines(lines: Sequence[str]) -> list[str]:
    """Return the lines of a text without the secrets they show, values on lines after their name included."""
    return _walk(lines, hide_strays=False)


def hide_around(before: Sequence[str], line: str, after: Sequence[str]) -> tuple[list[str], str, list[str]]:
    """Return a line of a log and its neighbours without secrets.

    Bare strings and base64 that may belong to a name further up are hidden as well.
    """
    lines, at = [*before, line, *after], len(before)
    doubtful = _suspect("\n".join(lines).lower())  # where all together are not, none is by itself
    found = _walk(lines, hide_strays=True) if doubtful else [_stray(line) for line in lines]
    return found[:at], found[at], found[at + 1 :]


def _walk(lines: Sequence[str], *, hide_strays: bool) -> list[str]:
    found: list[str] = []
    going: Callable[[str], tuple[str, bool]] | None = None
    left = 0
    counters: set[str] = set()  # names of numbers that are no secret: dumps hold the same ones a thousand times
    for line in lines:
        name, _, number = line.rpartition(":")
        if going is None and name in counters and number.isdecimal():
            found.append(line)
            continue
        if going is not None and left and hide_strays and not line.strip():
            found.append(line)  # of a log of several hosts: another one wrote here
            continue
        if going is not None and left:
            shown, more = going(line)
            left -= 1
            if not more:
                going = None
            found.append(shown)
            continue
        going, left, shown = _begun(line)
        if number.isdecimal() and not hide_strays and not _suspect(f"{name}:".lower()):
            counters.add(name)
        if hide_strays and going is None:
            shown = _stray(shown)
        found.append(shown)
    return hide_records(found, _names_one, HIDDEN)


def _names_one(name: str) -> bool:
    return bool(_STRONG.fullmatch(name) or _WEAK.fullmatch(name))


def _begun(line: str) -> tuple[Callable[[str], tuple[str, bool]] | None, int, str]:
    """Return how the next lines are hidden, for how many, and this line without secrets."""
    if not _suspect(line.lower()):
        return None, 0, line
    if _PEM_BEGINS.search(line) and not _PEM_ENDS.search(line):
        return _key_body, 200, hide(line)
    opened = _OPENED.search(line)
    name = opened and (opened["name"] or opened["tag"])
    if not opened or not name or not (_STRONG.fullmatch(name) or _WEAK.fullmatch(name)):
        return None, 0, hide(line)
    if opened["sign"] or opened["tag"]:
        return _member, _LONGEST, hide(line)
    return _value, 1, hide(line)


def _key_body(line: str) -> tuple[str, bool]:
    if _PEM_ENDS.search(line):
        return line, False
    return HIDDEN, True


def _member(line: str) -> tuple[str, bool]:
    """Hide an element of a list that began on a line before; the list ends at its closing sign."""
    if _CLOSED.match(line):
        return line, False
    shown = hide(line)
    return (shown if shown != line or _NAMED.match(line) else _element(line)), True


def _value(line: str) -> tuple[str, bool]:
    """Hide a value that stands alone on the line after its name."""
    shown = hide(line)
    return (shown if shown != line or _NAMED.match(line) or " " in line.strip() else _element(line)), False


def _element(line: str) -> str:
    return _MEMBER.sub(lambda match: f"{match['head']}{HIDDEN}{match['tail']}", line)


def _stray(line: str) -> str:
    if stray := _STRAY.match(line):
        return line[: stray.start("x")] + HIDDEN + line[stray.end("x") :]
    if len(line) >= _PEM_LEAST and " " not in line[-_PEM_LEAST:] and (body := _PEM_BODY.search(line)):
        return line[: body.start()] + HIDDEN
    return line


def _without(match: re.Match[str]) -> str:
    whole, start = match[0], match.start()
    if match["x"].strip("*") == "":
        return whole
    return whole[: match.start("x") - start] + HIDDEN + whole[match.end("x") - start :]

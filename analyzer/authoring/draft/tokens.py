"""Cuts a log line into words and values; what the mask replaces is a value too.

Each kind of value has a class, a small regex that finds any value of its kind: in the line as the log has
it and in the masked line. Some values look like a column and get its name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from analyzer.authoring.draft.mask import Mask, Span, mask_spans
from analyzer.authoring.fmt.yamltext import ODD, clean_text
from analyzer.redact.signs import STAMP

MOST_SOURCE = 240  # characters of a line a pattern is made of
MOST_LINE = 2000  # characters of a line that are looked at

# Kinds of mask -> (name of the column, class). Classes end before blanks, quotes and closing brackets.
_MASKED: dict[str, tuple[str, str]] = {
    "ipv4": ("ip", r"\d{1,3}(?:\.\d{1,3}){3}"),
    "ipv6": ("ip", r"[0-9A-Fa-f:.]+"),
    "mac": ("mac", r"[0-9A-Fa-f:.-]+"),
    "wwn": ("wwn", r"[0-9A-Fa-f]{2}(?::?[0-9A-Fa-f]{2}){7}"),
    "export": ("export", r"/[\w.+@$/-]+"),
    "uuid": ("uuid", r"[0-9A-Fa-f-]{36}"),
    "volume": ("volume", r"[0-9A-Fa-f-]{35}"),
    "device": ("device", r"\w+\.[0-9A-Fa-f]+"),
    "t10": ("device", r"[\w.-]+"),
    "host": ("host", r"[\w.-]+"),
    "user": ("user_name", r"[\w.$@\\+-]+"),
    "vm": ("vm", r'[^\s,;)\]"]+'),
    "name": ("", r"[\w-]+"),
    "label": ("label", r'[^\s,;)\]"]+'),
    "datastore": ("datastore", r"[^\s\]/]+"),
    "portgroup": ("portgroup", r'[^\s,;)\]"]+'),
    "switch": ("switch", r'[^\s,;)\]"]+'),
}
_OBJECTS = frozenset(
    ("device", "t10", "scsipath", "nic")
)  # what a rule is judged for, in quotes or bare
_UNITS = (
    "microseconds|milliseconds|seconds|minutes|hours|us|ms|sec|secs|s|bytes|KB|MB|GB|packets|frames|times|retries|errors"
    "|commands"
)
_NOUNS = (
    "port|queue|vlan|vni|lun|code|error|status|state|offset|size|event|count|latency|retry|target|channel|pid|rc|ret|errno"
    "|id"
)
_H = "[0-9A-Fa-f-]"
_VALUES = (
    ("stamp", STAMP.pattern, ""),
    ("quote", r'"[^"]{0,400}"', r'"[^"]*"'),
    ("quote", r"(?<!\w)'[^']{0,400}'(?!\w)", r"'[^']*'"),
    ("path", r"(?<![\w/.:)])/(?:[\w.+@:-]+/)*[\w.+@-]*\w", r'/[^\s,;)\]"]+'),
    ("scsipath", r"\bvmhba\d+:C\d+:T\d+:L\d+", r"vmhba\d+:C\d+:T\d+:L\d+"),
    ("nic", r"\b(?:vmnic|vmhba|vmk|vSwitch|DvsPortset-|dvportgroup-|vcpu-|lag)\d+\b", ""),
    ("hex", r"\b0[xX][0-9A-Fa-f]+\b", r"0x[0-9A-Fa-f]+"),
    ("id", rf"(?<![\w.-])(?={_H}*\d)(?={_H}*[A-Fa-f])[0-9A-Fa-f]{{4,}}(?:-[0-9A-Fa-f]{{2,}})*(?![\w-])", f"{_H}+"),
    ("number", r"(?<![A-Za-z_])\d+(?:\.\d+)*(?:,\d{3})*(?=[A-Za-z%]{0,12}(?![A-Za-z0-9_]))", r"\d[\d.,]*"),
    ("ident", r"\d\w*", r"\w+"),
    ("odd", r"[^ -~\t]+", r"[^ -~]+"),
    ("word", r"[A-Za-z_$][\w$]*(?:[.-][\w$]+)*", ""),
    ("space", r"[ \t]+", r"\s+"),
    ("sign", r"[!-~]", ""),
)  # fmt: skip
_TOKEN = re.compile(
    "|".join(f"(?P<t{number}>{pattern})" for number, (_, pattern, _) in enumerate(_VALUES)),
    re.ASCII,
)
# Words whose digits belong to the name.
_DIGITS_IN_WORDS = frozenset((
    "ipv4", "ipv6", "nfs3", "nfs4", "nfs41", "vmfs3", "vmfs5", "vmfs6", "vmxnet3", "vmxnet2", "e1000", "e1000e", "sha1",
    "sha256", "md5", "base64", "utf8", "x86", "l2", "l3", "raid5",
))  # fmt: skip
_SPECIAL = re.compile(r"[\\.^$*+?{}\[\]|()]")


@dataclass(frozen=True, slots=True)
class Token:
    """A stretch of a line: `kind` is word, space, sign or a kind of value; `regex` finds it again.

    group  the column it looks like, "" for none
    value  the text as the masked line has it
    """

    kind: str
    start: int
    end: int
    regex: str
    value: str
    group: str = ""


@dataclass(frozen=True, slots=True)
class CleanLine:
    """A log line ready for generalising: cleaned, with what is masked in it.

    start   where the message begins, behind the head of the line
    number  the caller's number of the line
    """

    line: str
    spans: tuple[Span, ...]
    start: int
    tokens: tuple[Token, ...]
    number: int = 0

    @property
    def key(self) -> tuple[str, ...]:
        """What lines of one signature have in common."""
        return tuple(token.regex for token in self.tokens)

    def show_masked(self) -> str:
        """Return the masked line, cut behind what the pattern is made of when it is very long."""
        if len(self.line) <= 2 * MOST_SOURCE:
            return mask_spans(self.line, self.spans)
        end = self.start
        if self.tokens:
            end = max(self.tokens[-1].end, end)
        return mask_spans(self.line[:end], [span for span in self.spans if span.end <= end])


def cut_line(line: str, mask: Mask, start: int = 0, end: int = 0, number: int = 0) -> CleanLine:
    """Return a raw log line cut into words and values; its message stands from `start` to `end` (0: its end)."""
    whole = clean_text(line[: 2 * MOST_LINE])
    spans = mask.find_spans(whole, guess=True)
    if len(whole) > MOST_LINE:
        # A very long line is cut at a blank outside of what is masked.
        cut = next((one.start for one in spans if one.start < MOST_LINE < one.end), MOST_LINE)
        blank = whole.rfind(" ", max(0, cut - 400), cut)
        whole = whole[: blank if blank >= 0 else cut]
        spans = [span for span in spans if span.end <= len(whole)]
    if start >= len(whole):
        start = end = 0
    for span in spans:  # a message does not begin or end inside a name
        if span.start < start < span.end:
            start = span.start
        if span.start < end < span.end:
            end = span.end
    tokens = _choose_tokens(_cut_tokens(whole[: end or None], spans, start))
    return CleanLine(whole, tuple(spans), start, tuple(tokens), number)


def _choose_tokens(tokens: Sequence[Token]) -> Sequence[Token]:
    """Begin with the first word, end within the length a pattern is made of and not with a blank."""
    words = []
    for n, one in enumerate(tokens):
        if one.kind == "word" and len(re.sub(r"\W", "", one.value)) >= 2:
            words.append(n)
    values = [n for n, one in enumerate(tokens) if one.kind not in ("space", "sign")]
    begin = next(iter(words or values), 0)
    if begin and tokens[begin - 1].regex == r"\[":
        begin -= 1
    kept = tokens[begin:]
    kept = [one for one in kept if one.end - kept[0].start <= MOST_SOURCE] or list(kept[:1])
    while len(kept) > 1 and kept[-1].kind in ("space", "odd"):
        kept.pop()
    return kept


def _cut_tokens(line: str, spans: Sequence[Span], start: int) -> list[Token]:
    """Cut the message of a line; what a quote or a path holds is one value, with the masked parts in it."""
    found: list[Token] = []
    at = start
    left = [span for span in spans if start < span.end <= len(line)]
    while at < len(line):
        if left and left[0].start <= at:
            span = left.pop(0)
            if span.end > at:
                found.append(_make_masked_token(line, span, at))
                at = span.end
            continue
        if left:
            stop = left[0].start
        else:
            stop = len(line)
        match = _TOKEN.match(line, at)
        assert match is not None
        quoted = _read_quoted_object(line, match, left)
        if quoted:
            found += quoted
            at = match.end()
            left = [span for span in left if span.end > at]
            continue
        # A quote or a path keeps every mask that ends in it.
        inside = all(span.end <= match.end() for span in left if span.start < match.end())
        whole = inside and _find_kind(match)[0] in ("quote", "path")
        if match.end() > stop and not whole:
            match = _TOKEN.match(line, at, stop)
            assert match is not None
        found.append(_make_token(line, match, spans))
        at = match.end()
        left = [span for span in left if span.end > at]
    # Numbers get the name of the column they look like.
    for number, token in enumerate(found):
        if not token.group and token.kind in ("number", "hex"):
            before = "".join(one.value for one in found[max(0, number - 4) : number])
            after = "".join(one.value for one in found[number + 1 : number + 3])
            found[number] = replace(token, group=_name_by_place(before, after, token))
    return found


def _find_kind(match: re.Match[str]) -> tuple[str, str]:
    number = int((match.lastgroup or "t0")[1:])
    return _VALUES[number][0], _VALUES[number][2]


def _read_quoted_object(line: str, match: re.Match[str], left: Sequence[Span]) -> list[Token]:
    """Return quote, value, quote where a quote holds one device or path alone: a rule is judged for each of them."""
    if _find_kind(match)[0] != "quote":
        return []
    start = match.start() + 1
    end = match.end() - 1
    before, after = (Token("sign", at, at + 1, line[at], line[at]) for at in (start - 1, end))
    for span in left:
        if (span.start, span.end) == (start, end) and span.kind in _OBJECTS:
            return [before, _make_masked_token(line, span, start), after]
    inside = _TOKEN.match(line, start, end)
    if inside is not None and inside.end() == end and _find_kind(inside)[0] in _OBJECTS:
        return [before, _make_token(line, inside, ()), after]
    return []


def _make_masked_token(line: str, span: Span, at: int) -> Token:
    """Return the token of a name that was masked; its pattern finds the original as well."""
    group, regex = _MASKED.get(span.kind, ("", r"\S+"))
    original = line[at : span.end]
    if not all(re.fullmatch(regex, text) for text in (original, span.text)):
        blanks = max(original.count(" "), span.text.count(" "))
        if blanks:
            regex = rf"\S+(?: +\S+){{0,{blanks}}}"
        else:
            regex = r"\S+"
    if ODD in original:  # it may stand for a line end of some sort, which is no `\S`
        regex = rf"[^ ]+(?: +[^ ]+){{0,{original.count(' ')}}}"
    return Token(span.kind, at, span.end, regex, span.text, group)


def _make_token(line: str, match: re.Match[str], spans: Sequence[Span]) -> Token:
    """Return the token of a match, its pattern as wide as values of its kind are."""
    kind, regex = _find_kind(match)
    text = match.group()
    start = match.start()
    end = match.end()
    inside = []
    for span in spans:
        if start <= span.start and span.end <= end:
            inside.append(replace(span, start=span.start - start, end=span.end - start))
    shown = mask_spans(line[start:end], inside)
    if kind == "nic":
        prefix = text.rstrip("0123456789")
        return Token(kind, start, end, rf"{escape_text(prefix)}\d+", shown, name_column(prefix))
    if kind == "scsipath":
        return Token(kind, start, end, regex, shown, "path")
    if kind == "space" and text == " ":
        regex = " "
    elif kind == "number" and text.isdecimal():
        regex = r"\d+"
    elif kind == "hex" and text[1] != "x":
        regex = r"0X[0-9A-Fa-f]+"
    elif kind == "stamp":
        digits = re.sub(r" +", " +", re.sub(r"\d+", r"\\d+", escape_text(text)))
        regex = re.sub(r"^[A-Z][a-z]{2}(?= )", "[A-Z][a-z][a-z]", digits)
    elif kind in ("word", "sign"):
        # The last digits of a word are a number where they may be one.
        plain = text.rstrip("0123456789")
        letters = plain.replace("-", "").isalpha()
        regex = escape_text(text)
        if kind == "word" and plain != text and letters and text.lower() not in _DIGITS_IN_WORDS:
            regex = rf"{escape_text(plain)}\d+"
    return Token(kind, start, end, regex, shown)


def escape_text(text: str) -> str:
    """Return text as a pattern that finds it, without needless backslashes."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def name_column(text: str) -> str:
    """Return a word as the name of a column, "" when it cannot be one."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", text).lower()
    name = re.sub(r"[^a-z0-9]+", "_", parted).strip("_")[:30]
    if re.fullmatch(r"[a-z][a-z0-9_]*", name):
        return name
    return ""


def _name_by_place(before: str, after: str, token: Token) -> str:
    """Return the name that the words around a value give it, "" where none do."""
    found = re.search(r"(?<![A-Za-z])([HDP]):$", before)
    if found:
        if token.kind == "hex":
            return {"H": "host_status", "D": "device_status", "P": "plugin_status"}[found[1]]
        return ""
    found = re.search(r"([A-Za-z][\w-]{0,24})=$", before)
    if found:
        return name_column(found[1])
    found = re.search(rf"(?i)(?<![A-Za-z])({_NOUNS})(?:[ :#]| = |: )$", before)
    if found:
        if found[1].lower() == "port":
            return "port_id"
        return name_column(found[1])
    found = re.search(r"(?<![A-Za-z])([PV]F) number $", before)
    if found:
        return found[1].lower()
    found = re.match(rf" ?({_UNITS}|%)(?![A-Za-z0-9])", after)
    if found:
        if found[1] == "%":
            return "percent"
        return name_column(found[1])
    return ""

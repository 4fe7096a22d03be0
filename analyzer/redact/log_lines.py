"""Names in the lines of logs: of millions of lines nearly all words and forms came before, and are not searched again.

`LineNames` takes the names of lines, `LineReplacer` replaces them, `LineProof` looks for those that are left. Each
finds what its like for whole texts finds (`Identities.lines`, `Replacer.texts`, `Residue`), in a fraction of the time.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Set
from itertools import accumulate

from analyzer.redact.encodings import OCTAL as _OCTAL
from analyzer.redact.identities import Identities
from analyzer.redact.namemap import lower_same_length
from analyzer.redact.replacing import (
    ANYWHERE,
    CUT,
    Replacer,
    trie_pattern,
)
from analyzer.redact.residue import LeftName, Residue
from analyzer.redact.textforms import KINDS, found_at

MOST = 300_000  # words, or forms of lines, that are remembered; then it begins anew
_LENGTHS = (
    "",
    "0",
    "0",
    "0",
    "0000",
    "00000",
    "000000",
)  # serial and ticket numbers have at least four to six digits
AT_ONCE = 1000  # lines that are looked at together
# Kinds that a word shows whatever comes before it.
_IN_WORDS = frozenset(
    ("device", "t10", "iqn", "nqn", "wwn", "uuid", "volume", "mac", "ipv6", "email", "licence")
)
_SHAPED = re.compile(
    r"naa\.|eui\.|vml\.|t10\.|[in]qn\.|@|:[0-9a-f]{0,4}:|[0-9a-f]{12}|[0-9a-f]{8}-[0-9a-f]{4}|"
    r"[0-9a-f]{2}-[0-9a-f]{2}-[0-9a-f]{2}-|[0-9a-f]{4}\.[0-9a-f]{4}\.|[0-9a-z]{5}-[0-9a-z]{5}-"
)
_ADDRESS = re.compile(r"\d\.\d{1,3}\.\d{1,3}\.\d")
_RUN = re.compile(r"(?i)\bopid=[\w-]+|\b0x[0-9a-f]+\b|\b(?=[a-f]*\d)[0-9a-f]+\b|\d+", re.ASCII)
_PAIRS = re.compile(r" [0-9A-Fa-f][0-9A-Fa-f] [0-9A-Fa-f][0-9A-Fa-f] [0-9A-Fa-f][0-9A-Fa-f][ -]")
_PARTED = tuple(
    re.compile(f"{form}[._]?[0-9A-Fa-f]{{8}} ") for form in ("naa", "NAA", "eui", "EUI")
)  # a search each
_GAP = "\x00\x00"  # between words that are looked at together: no form goes on behind it
_MORE = "\x00"  # for a word of which the whole line has to tell
_WORD = re.compile(r"[^\W_]+")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?")
_STAMPED = re.compile(rf"{_TIME.pattern}[:|]?")
_NUMBER = re.compile(r":\d+\]")
# Most words of millions of lines that did not come before: short numbers. No address is one, and few names are.
_COUNTED = re.compile(r"0x[0-9a-f]{1,6}|\d+us")
_IN_COUNTED = re.compile(r"0?x?[0-9a-f]{1,6}|\d+(?:us?)?")
# Too short for an id of storage, and of too few groups for an address; a MAC address or a volume may be such groups.
_OPERATION = re.compile(r"opID=[0-9a-f]{1,8}(?:-[0-9a-f]{1,8}){0,2}")
_IN_OPERATION = re.compile(r"o?p?i?d?=?[0-9a-f-]*")
# Words of which nearly each is met once, and what `_sign` makes of them; they are too short to hold an id.
_ONCE = (
    (re.compile(r"0x[0-9a-fA-F]{1,9}(?= )"), "0x"),
    (re.compile(r"opID=[0-9a-f]{1,7}(?:-[0-9a-f]{1,11})?(?![\w@.:-])"), "0x"),
)
_BEGUN = re.compile(rf"{_TIME.pattern} ")  # a line with its time
_CODED = ("&", "%", "<", "\\u", "\\x", "\x1b")  # what begins something to decode
SHORT = 9  # signs of a word that is too short to be an id
BREAK = " \n "  # between lines whose words are looked up together
FEW = 40  # names that are sought one by one, not by a pattern


class _Forms(dict[str, str]):
    """Word -> its form: numbers become zeros, hexadecimal ones a sign for how they begin; all words met anew are kept.

    Addresses stay, as what comes before them tells whether they are versions.
    """

    def __init__(self) -> None:
        super().__init__()
        self.fresh: list[str] = []

    def __missing__(self, word: str) -> str:
        if len(word) > SHORT or word.count(":") > 1 or "@" in word:
            self.fresh.append(word)
        form = word if "." in word and _ADDRESS.search(word) else _RUN.sub(_number_sign, word)
        self[word] = form
        return form


def _number_sign(run: re.Match[str]) -> str:
    """Return what stands for a number: how long it is, as far as signs ask for it, its letters, how it begins."""
    word = run[0]
    if word.isdecimal():
        return _LENGTHS[min(len(word), 6)]
    if word[1] in "xXpP":
        return "0x"
    letter = "A" if word.isupper() else "a"
    long = "0" if len(word) < 4 else "0000"
    return letter + long if word[0].isalpha() else long + letter


def _lines_to_read_whole(lines: Collection[str]) -> list[str]:
    """Return the lines that have to be looked at whole: with something to decode, or an id in pairs of digits."""
    return [line for line in lines if _is_whole(line)] if _is_whole("\n".join(lines)) else []


def _is_whole(text: str) -> bool:
    if not text.isascii() or any(sign in text for sign in _CODED):
        return True
    if ("\\" in text and (_OCTAL.search(text) or "\\n" in text)) or ", 0x" in text:
        return True
    return _PAIRS.search(text) is not None or any(parted.search(text) for parted in _PARTED)


class Counted:
    """Tells words that hold no name: times, and short numbers and ids of operations where no name looks like one."""

    def __init__(self, replacer: Replacer) -> None:
        forms = (*replacer.all_forms, *(name for _, name in replacer.placed))
        like = any(map(_IN_COUNTED.fullmatch, replacer.forms[ANYWHERE])) or any(
            map(_COUNTED.fullmatch, forms)
        )
        self._pattern = _STAMPED if like else re.compile(rf"{_STAMPED.pattern}|{_COUNTED.pattern}")
        alone = {form for form in forms if form not in replacer.forms[ANYWHERE]}
        self._operations = not any(map(_IN_OPERATION.fullmatch, replacer.forms[ANYWHERE]))
        self._operations &= not any("-" in form and _IN_OPERATION.fullmatch(form) for form in alone)
        self._alone = alone
        self._ids = [
            ids for kind, ids in replacer.shapes.known.items() if kind not in ("ipv4", "ipv6")
        ]

    def __call__(self, word: str) -> bool:
        """Say whether a word is such a one."""
        if self._operations and word.startswith("opID=") and _OPERATION.fullmatch(word):
            groups = word[5:].split("-")
            digits = "".join(groups)
            return self._alone.isdisjoint(groups) and not any(digits in ids for ids in self._ids)
        return self._pattern.fullmatch(word) is not None


class LineNames:
    """Gives the names that lines show to the identities of a case; `close` when no line is left.

    Lines of one form differ in numbers alone. The first one is searched; another one only if a name of the first holds
    a number. Then the words of that name are known, and are in the form as they are.
    """

    def __init__(self, identities: Identities) -> None:
        self.identities = identities
        self._forms = _Forms()
        self._done: set[str] = set()
        self._coming: list[str] = []
        self._waiting: list[str] = []

    def take_texts(self, texts: Iterable[str]) -> None:
        """Take lines."""
        self._coming += texts
        if len(self._coming) >= AT_ONCE:
            self._queue_new_lines()
            if len(self._waiting) >= AT_ONCE or len(self._forms.fresh) >= MOST:
                self.close()

    def _queue_new_lines(self) -> None:
        """Let those lines wait whose form is new."""
        self._waiting += self._lines_of_new_form(self._coming)
        self._coming.clear()

    def _lines_of_new_form(self, lines: list[str]) -> list[str]:
        """Return the lines whose form is new."""
        done = self._done
        return [
            line
            for line, form in zip(lines, self._forms_of(lines), strict=True)
            if form not in done
        ]

    def _forms_of(self, lines: list[str]) -> list[str]:
        cut = [
            f"T {line[found.end() :]}" if (found := _BEGUN.match(line)) else line for line in lines
        ]
        text = BREAK.join(cut)
        for pattern, sign in _ONCE:
            text = pattern.sub(sign, text)
        forms = " ".join(map(self._forms.__getitem__, text.split(" "))).split(BREAK)
        if len(forms) == len(lines):
            return forms
        return [
            " ".join(map(self._forms.__getitem__, line.split(" "))) for line in cut
        ]  # one holds a line end

    def close(self) -> None:
        """Search what waits."""
        self._queue_new_lines()
        fresh = "\n".join(word for word in self._forms.fresh if _SHAPED.search(word.lower()))
        self._take_names(fresh, _IN_WORDS.__contains__)
        self._forms.fresh.clear()
        waiting = self._lines_of_new_form(self._waiting)
        firsts: dict[str, str] = {}
        for form, line in zip(self._forms_of(waiting), waiting, strict=True):
            firsts.setdefault(form, line)
        self._search_lines([*firsts.values()])
        self._search_lines(
            [*dict.fromkeys(self._lines_of_new_form(waiting))]
        )  # those whose names differ from the first one's
        self._waiting.clear()
        if len(self._forms) > MOST or len(self._done) > MOST:
            self._forms, self._done = _Forms(), set()

    def _search_lines(self, lines: list[str]) -> None:
        starts = [0, *accumulate(len(line) + 1 for line in lines)]
        for name, start in self._take_names("\n".join(lines), lambda kind: kind not in _IN_WORDS):
            if any(map(str.isdigit, name)):
                line = bisect_right(starts, start) - 1
                # Let the words of a name stand in forms as they are
                text = lines[line]
                place = start - starts[line]
                begin = text.rfind(" ", 0, place) + 1
                end = text.find(" ", place + len(name))
                if end < 0:
                    end = len(text)
                for word in text[begin:end].split(" "):
                    self._forms[word] = word
        self._done.update(self._forms_of(lines))

    def _take_names(self, text: str, wanted: Callable[[str], bool]) -> list[tuple[str, int]]:
        """Take names of some kinds, and return each with where it is."""
        found = list(found_at(text, self.identities.versions, wanted))
        self.identities.take_found((KINDS.get(kind, kind), name) for kind, name, _ in found)
        return [(name, start) for _, name, start in found]


class LineReplacer:
    """Replaces names in lines, word by word; lines with a name of several words, or one that is a word, as a whole."""

    def __init__(self, replacer: Replacer) -> None:
        self.replacer = replacer
        self._words: dict[str, str] = {}  # word -> without a name, or `_MORE`
        self._cut: dict[str, str] = {}  # last word of a line, without the beginning of a name
        self.free: set[str] = (
            set()
        )  # words that were searched for names, as they are and decoded, and hold none
        self._spots = {name for _, name in replacer.placed if _WORD.fullmatch(name)}
        named = {name for _, name in replacer.placed} - self._spots
        self._odd = tuple(name for name in named if " " not in name)
        self._first = {one.split(" ", 1)[0] for one in (*replacer.all_forms, *named) if " " in one}
        self._sizes = sorted(set(map(len, self._first)))
        self._counted = Counted(replacer)

    def replace_texts(self, texts: Iterable[str]) -> dict[str, str]:
        """Return text -> text without the names."""
        every = list(dict.fromkeys(texts))
        whole = dict.fromkeys(_lines_to_read_whole(every))
        apart = [text for text in every if text not in whole]
        starts: list[int] = []
        rests: list[str] = []  # of the lines, without their time
        for text in apart:
            begun = _BEGUN.match(text)
            start = begun.end() if begun else 0
            starts.append(start)
            rests.append(text[start:])
        words = BREAK.join(rests).split(" ")
        self._learn_words({*words} - self._words.keys())
        free = " ".join(map(self._words.__getitem__, words)).split(BREAK)
        if len(free) != len(apart):  # one holds a line end
            free = [" ".join(map(self._words.__getitem__, rest.split(" "))) for rest in rests]

        made: dict[str, str] = {}
        for text, start, new in zip(apart, starts, free, strict=True):
            if _MORE in new:
                whole[text] = None
                continue
            last = new.rfind(" ") + 1
            word = new[last:]
            if len(text) >= CUT:
                if word not in self._cut:
                    self._cut[word] = self.replacer.cut_beginning(word)
                word = self._cut[word]
            made[text] = text[:start] + new[:last] + word
        made.update(self.replacer.replace_texts(whole))
        done = [made[text] for text in every]
        self.replacer.join_words(every, done)
        if len(self._words) > MOST:
            self._words.clear()
            self._cut.clear()
            self.free.clear()
        return dict(zip(every, done, strict=True))

    def _learn_words(self, fresh: set[str]) -> None:
        """Replace the names in words that did not come before, all of them together."""
        words = sorted(word for word in fresh if not self._counted(word))
        numbers = fresh.difference(words)
        self._words.update(zip(numbers, numbers, strict=True))
        self.free |= numbers
        parts = self.replacer.free_text(_GAP.join(words) + _GAP).split(_GAP)
        done = dict(zip(words, parts, strict=False))
        held = {word for _, word, _ in self.replacer.encoded_in("\n".join(done.values()))}
        for word in sorted(held, key=len, reverse=True):  # one may be in another
            other = self.replacer.spell_word("encoded", word)
            done = {old: new.replace(word, other) for old, new in done.items()}
        for word, new in done.items():
            if new == word:
                self.free.add(word)
            # It may be a name by its place, or the beginning of one of several words
            low = lower_same_length(word)
            is_more = any(low[-size:] in self._first for size in self._sizes)
            if self._spots and not is_more:
                is_more = not self._spots.isdisjoint(_WORD.findall(low))
            is_more = is_more or any(name in low for name in self._odd)
            self._words[word] = _MORE if is_more else new


def _strip_frame(line: str) -> str:
    """Return a line of an output without what the program itself wrote: the time, the number of the line."""
    begun = _BEGUN.match(line)
    start = begun.end() if begun else 0
    if line.endswith("]") and _NUMBER.match(line, at := line.rfind(":")):
        return line[start:at]
    return line[start:]


class LineProof:
    """Looks for names in lines as they are handed out: each word once, and what words do not tell in every line.

    free  words that who replaced names searched with these very patterns, and found none in
    """

    def __init__(self, residue: Residue, free: Set[str]) -> None:
        self.residue = residue
        self._free = free
        self._seen: set[str] = set()
        self._counted = Counted(residue.replacer)
        self._several = [
            form for form in residue.replacer.all_forms if not {*' ",\n'}.isdisjoint(form)
        ]
        self._any_of_several: re.Pattern[str] | None = None
        if len(self._several) > FEW:
            self._any_of_several = re.compile(trie_pattern(self._several))

    def find_survivors(self, result: str, lines: Sequence[str]) -> Iterator[LeftName]:
        """Yield the names that are left in lines of a result."""
        text = "\n".join(lines)
        stripped = [*map(_strip_frame, lines)]
        met = set("\n".join(stripped).split())
        pieces = " ".join(met).replace('"', " ").replace(",", " ").split()
        words = set(pieces) - self._free - self._seen
        counted = self._counted
        fresh = _GAP.join(sorted(word for word in words if not counted(word))) + _GAP
        # Whether a name of several words may be in a text in lower case
        low = lower_same_length(text)
        if self._any_of_several is None:
            holds_several = any(form in low for form in self._several)
        else:
            holds_several = self._any_of_several.search(low) is not None
        if (
            holds_several
            or self.residue.any_in(fresh)
            or next(
                self.residue.find_survivors(result, "\n".join(_lines_to_read_whole(lines))), None
            )
        ):
            yield from self.residue.find_survivors(result, text)
        for seen in self.residue.second_look.find_in_lines(stripped, met):
            yield LeftName(result, seen.line, seen.how, seen.kind)
        self._seen |= words
        if len(self._seen) > MOST:
            self._seen.clear()

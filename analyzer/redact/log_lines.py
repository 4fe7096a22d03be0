"""Names in the lines of logs: of millions of lines nearly all words and forms came before, and are not searched again.

`LineNames` takes the names of lines, `LineReplacer` replaces them, `LineProof` looks for those that are left. Each
finds what its like for whole texts finds (`Identities.lines`, `Replacer.texts`, `Residue`), in a fraction of the time.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate

from analyzer.kept_patterns import compiled
from analyzer.redact.encodings import OCTAL as _OCTAL
from analyzer.redact.identities import Identities
from analyzer.redact.replacing import ANYWHERE, CUT, ENCODED_NAME, Replacer, lowered, trie
from analyzer.redact.residue import LeftName, Residue
from analyzer.redact.textforms import KINDS, found_at

MOST = 300_000  # words, or forms of lines, that are remembered; then it begins anew
_LENGTHS = ("", "0", "0", "0", "0000", "00000", "000000")  # serial and ticket numbers have at least four to six digits
AT_ONCE = 1000  # lines that are looked at together
# Kinds that a word shows whatever stands before it.
_IN_WORDS = frozenset(("device", "t10", "iqn", "nqn", "wwn", "uuid", "volume", "mac", "ipv6", "email", "licence"))
_SHAPED = compiled(
    r"naa\.|eui\.|vml\.|t10\.|[in]qn\.|@|:[0-9a-f]{0,4}:|[0-9a-f]{12}|[0-9a-f]{8}-[0-9a-f]{4}|"
    r"[0-9a-f]{2}-[0-9a-f]{2}-[0-9a-f]{2}-|[0-9a-f]{4}\.[0-9a-f]{4}\.|[0-9a-z]{5}-[0-9a-z]{5}-"
)
_ADDRESS = compiled(r"\d\.\d{1,3}\.\d{1,3}\.\d")
_RUN = compiled(r"(?i)\bopid=[\w-]+|\b0x[0-9a-f]+\b|\b(?=[a-f]*\d)[0-9a-f]+\b|\d+", re.ASCII)
_PAIRS = compiled(r" [0-9A-Fa-f][0-9A-Fa-f] [0-9A-Fa-f][0-9A-Fa-f] [0-9A-Fa-f][0-9A-Fa-f][ -]")
_PARTED = tuple(compiled(f"{form}[._]?[0-9A-Fa-f]{{8}} ") for form in ("naa", "NAA", "eui", "EUI"))  # a search each
_GAP = "      \x00"  # between words that are looked at together: no form goes on behind it
_MORE = "\x00"  # for a word of which the whole line has to tell
_WORD = compiled(r"[^\W_]+")
_TIME = compiled(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?")
_STAMPED = compiled(rf"{_TIME.pattern}[:|]?")
_NUMBER = compiled(r":\d+\]")
# Most words of millions of lines that did not come before: short numbers. No address is one, and few names are.
_COUNTED = compiled(r"0x[0-9a-f]{1,6}|\d+us")
_IN_COUNTED = compiled(r"0?x?[0-9a-f]{1,6}|\d+(?:us?)?")
FEW = 40  # names that are sought one by one, not by a pattern


def _by_place(kind: str) -> bool:
    return kind not in _IN_WORDS


class _Forms(dict[str, str]):
    """Word -> its form: numbers become zeros, hexadecimal ones a sign for how they begin; all words met anew are kept.

    Addresses stay, as what stands before them tells whether they are versions.
    """

    def __init__(self) -> None:
        super().__init__()
        self.fresh: list[str] = []

    def __missing__(self, word: str) -> str:
        self.fresh.append(word)
        form = word if _ADDRESS.search(word) else _RUN.sub(_sign, word)
        self[word] = form
        return form


def _sign(run: re.Match[str]) -> str:
    """Return what stands for a number: how long it is, as far as signs ask for it, its letters, how it begins."""
    word = run[0]
    if word.isdecimal():
        return _LENGTHS[min(len(word), 6)]
    if word[1] in "xXpP":
        return "0x"
    letter = "A" if word.isupper() else "a"
    long = "0" if len(word) < 4 else "0000"
    return letter + long if word[0].isalpha() else long + letter


def _whole(lines: Collection[str]) -> list[str]:
    """Return the lines that have to be looked at whole: with something to decode, or an id in pairs of digits."""
    return [line for line in lines if _is_whole(line)] if _is_whole("\n".join(lines)) else []


def _is_whole(text: str) -> bool:
    if (
        not text.isascii()
        or "&" in text
        or "%" in text
        or "<" in text
        or "\\u" in text
        or "\\x" in text
        or "\x1b" in text
    ):
        return True
    if "\\" in text and _OCTAL.search(text):
        return True
    return _PAIRS.search(text) is not None or any(parted.search(text) for parted in _PARTED)


def counted_words(replacer: Replacer) -> re.Pattern[str]:
    """Return the pattern of words that hold no name: times, and short numbers where no name looks like one."""
    forms = (*replacer.all_forms, *(name for _, name in replacer.placed))
    like = any(_IN_COUNTED.fullmatch(form) for form in replacer.forms[ANYWHERE]) or any(map(_COUNTED.fullmatch, forms))
    return _STAMPED if like else compiled(rf"{_STAMPED.pattern}|{_COUNTED.pattern}")


class LineNames:
    """Gives the names that lines show to the identities of a case; `close` when no line is left.

    Lines of one form differ in numbers alone. The first one is searched; another one only if a name of the first holds
    a number. Then the words of that name are known, and stand in the form as they are.
    """

    def __init__(self, identities: Identities) -> None:
        self.identities = identities
        self._forms = _Forms()
        self._done: set[str] = set()
        self._waiting: list[str] = []

    def take(self, texts: Iterable[str]) -> None:
        """Take lines."""
        for text in texts:
            if self._form(text) not in self._done:
                self._waiting.append(text)
        if len(self._waiting) >= AT_ONCE or len(self._forms.fresh) >= MOST:
            self.close()

    def _form(self, text: str) -> str:
        first, _, rest = text.partition(" ")
        form = " ".join(map(self._forms.__getitem__, rest.split(" ")))
        return f"T {form}" if _TIME.fullmatch(first) else f"{self._forms[first]} {form}"

    def close(self) -> None:
        """Search what waits."""
        long = (word for word in self._forms.fresh if len(word) > 9 or word.count(":") > 1 or "@" in word)
        fresh = "\n".join(word for word in long if _SHAPED.search(word.lower()))
        self._take(fresh, _IN_WORDS.__contains__)
        self._forms.fresh.clear()
        self._search(list(dict.fromkeys(text for text in self._waiting if self._form(text) not in self._done)))
        self._waiting.clear()
        if len(self._forms) > MOST or len(self._done) > MOST:
            self._forms, self._done = _Forms(), set()

    def _search(self, lines: list[str]) -> None:
        starts = [0, *accumulate(len(line) + 1 for line in lines)]
        for name, start in self._take("\n".join(lines), _by_place):
            if any(map(str.isdigit, name)):
                line = bisect_right(starts, start) - 1
                self._know(lines[line], start - starts[line], len(name))
        self._done.update(map(self._form, lines))

    def _take(self, text: str, wanted: Callable[[str], bool]) -> list[tuple[str, int]]:
        """Take names of some kinds, and return each with where it stands."""
        found = list(found_at(text, self.identities.versions, wanted))
        self.identities.take((KINDS.get(kind, kind), name) for kind, name, _ in found)
        return [(name, start) for _, name, start in found]

    def _know(self, line: str, start: int, length: int) -> None:
        """Let the words of a name stand in forms as they are."""
        end = line.find(" ", start + length)
        for word in line[line.rfind(" ", 0, start) + 1 : end if end >= 0 else len(line)].split(" "):
            self._forms[word] = word


class LineReplacer:
    """Replaces names in lines, word by word; lines with a name of several words, or one that is a word, as a whole."""

    def __init__(self, replacer: Replacer) -> None:
        self.replacer = replacer
        self._words: dict[str, str] = {}  # word -> without a name, or `_MORE`
        self._cut: dict[str, str] = {}  # last word of a line, without the beginning of a name
        self._spots = {name for _, name in replacer.placed if _WORD.fullmatch(name)}
        named = {name for _, name in replacer.placed} - self._spots
        self._odd = tuple(name for name in named if " " not in name)
        self._first = {one.split(" ", 1)[0] for one in (*replacer.all_forms, *named) if " " in one}
        self._sizes = sorted(set(map(len, self._first)))
        self._counted = counted_words(replacer)

    def texts(self, texts: Iterable[str]) -> dict[str, str]:
        """Return text -> text without the names."""
        every = dict.fromkeys(texts)
        whole = dict.fromkeys(_whole(every.keys()))
        apart = [text for text in every if text not in whole]
        self._learn({*" ".join(apart).split(" ")} - self._words.keys())
        made = {}
        for text in apart:
            new = " ".join(map(self._words.__getitem__, text.split(" ")))
            if _MORE in new:
                whole[text] = None
            else:
                made[text] = new if len(text) < CUT else self._uncut(new)
        made.update(self.replacer.texts(whole))
        if len(self._words) > MOST:
            self._words.clear()
            self._cut.clear()
        return made

    def _learn(self, fresh: set[str]) -> None:
        counted = self._counted.fullmatch
        words = sorted(word for word in fresh if not counted(word))
        self._words.update((word, word) for word in fresh.difference(words))
        free = self.replacer.free(_GAP.join(words) + _GAP).split(_GAP)
        done = dict(zip(words, free, strict=False))
        held = {word for _, word, _ in self.replacer.encoded_in("\n".join(done.values()))}
        for word in sorted(held, key=len, reverse=True):  # one may stand in another
            done = {old: new.replace(word, ENCODED_NAME) for old, new in done.items()}
        self._words.update((word, _MORE if self._is_more(lowered(word)) else new) for word, new in done.items())

    def _uncut(self, text: str) -> str:
        start = text.rfind(" ") + 1
        word = text[start:]
        found = self._cut.get(word)
        if found is None:
            found = self._cut[word] = self.replacer.unbegun(word)
        return text if found == word else text[:start] + found

    def _is_more(self, low: str) -> bool:
        """Tell whether a word may be a name by its place, or the beginning of one of several words."""
        if any(low[-size:] in self._first for size in self._sizes):
            return True
        if self._spots and not self._spots.isdisjoint(_WORD.findall(low)):
            return True
        return any(name in low for name in self._odd)


def _told(word: str) -> str:
    """Return a word of an output without what the program itself wrote: the number of the line in its file."""
    if word.endswith("]") and _NUMBER.match(word, at := word.rfind(":")):
        return word[:at]
    return word


class LineProof:
    """Looks for names in lines as they are handed out: each word once, and what words do not tell in every line."""

    def __init__(self, residue: Residue) -> None:
        self.residue = residue
        self._seen: set[str] = set()
        self._counted = counted_words(residue.replacer)
        self._several = [form for form in residue.replacer.all_forms if not {*' ",\n'}.isdisjoint(form)]

    @cached_property
    def _any_of_several(self) -> re.Pattern[str]:
        return re.compile(trie(self._several))

    def _holds_several(self, low: str) -> bool:
        """Tell whether a name of several words may be in a text in lower case."""
        if len(self._several) <= FEW:
            return any(form in low for form in self._several)
        return self._any_of_several.search(low) is not None

    def survivors(self, result: str, lines: Sequence[str]) -> Iterator[LeftName]:
        """Yield the names that are left in lines of a result."""
        text = "\n".join(lines)
        words = set(text.replace('"', " ").replace(",", " ").split()) - self._seen
        counted = self._counted.fullmatch
        fresh = _GAP.join(sorted({_told(word) for word in words if not counted(word)})) + _GAP
        if (
            self._holds_several(lowered(text))
            or self.residue.any_in(fresh)
            or next(self.residue.survivors(result, "\n".join(_whole(lines))), None)
        ):
            yield from self.residue.survivors(result, text)
        self._seen |= words
        if len(self._seen) > MOST:
            self._seen.clear()

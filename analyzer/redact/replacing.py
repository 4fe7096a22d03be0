"""Replaces the names of a map in texts: all of them in one pass, the longest first.

How a name is sought depends on how well it differs from other words:

anywhere  five characters or more, and no part of a word of the product: inside of other words too
alone     not next to another letter or digit
address   by its shape (`shapes`)
placed    a word of the product, a number or less than three characters: only where a name stands
"""

from __future__ import annotations

import base64
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from analyzer.redact.encodings import (
    LEAST_ENCODED,
    PLAIN,
    Word,
    cut_words,
    decode_text,
    decode_words,
    encoded_words,
    words_in,
)
from analyzer.redact.filenames import rename_file
from analyzer.redact.identities import NAMED_KEYS, iterate_strings
from analyzer.redact.namemap import NameMap, lower_same_length, mark_form, name_forms, write_form
from analyzer.redact.provenance import CUSTOMER, PRODUCT, TEMPLATE, Each, Parts, Plan, list_texts
from analyzer.redact.shapes import KINDS, AddressShapes, Shaped
from analyzer.redact.signs import DEVICES
from analyzer.redact.words import (
    LEAST_ANYWHERE,
    inside_product_compound,
    inside_product_word,
    is_product_word,
)

ANYWHERE, ALONE, PLACED = "anywhere", "alone", "placed"
_NUMBERED = frozenset(("ticket", "serial", "input"))  # names that may be numbers, long ones
_DIGIT = re.compile(r"\d")
LEAST_NUMBER = 6
ENCODED = "encoded"  # kind of words that mean a name; each has a pseudonym when it is met
MOST = 200_000  # texts that are remembered
LEAST_BEGUN = 3  # characters of a beginning of a name
LEAST_LONG = 16  # of one that no other word has: it is cut from short texts as well, such as ids
CUT = 100  # characters of a text from which it may have been cut in the middle of a name
_FILES = r"(?:vmx|vmxf|vmdk|vswp|nvram|vmsd|vmsn|vmss|vmtx|log|iso|flp|ova|ovf|vmem)"
_NOUNS = {
    "vm": r"vm|virtual machine|vm ?name|display ?name|guest",
    "host": r"host|host ?name|server|node|manager|controller",
    "user": r"user|user ?name|account|login|principal",
    "datastore": r"datastore|volume|label",
    "portgroup": r"port ?group|network",
    "switch": r"v?switch|dvs",
}
_SPOT = re.compile(r"[^\W_]+")  # words of a text, for a first look
NAME_FIELDS = frozenset(
    ("vm", "name", "node", "object", "subject", "subjects", "portgroup", "switch")
)
_THING_FIELDS = ("object", "node", "name", "machine", "subject", "was")
_HEAD = re.compile(r".+?(?=, | \()")
_NUMBERS = re.compile(
    r"\d+(?:[.:]\d+)+"
)  # a name that may be a part of an address, or of a version
_END = r"(?![^\W_])"
_START = r"(?<![^\W_])"
_BEGINNING = re.compile(r"(?<![^\W_])(?=...)")  # of a word, or of a sign


def mode_of(kind: str, form: str) -> str:
    """Return how a form of a name, in lower case, is sought."""
    if kind in _NUMBERED and form.isdecimal() and len(form) >= LEAST_NUMBER:
        return ALONE
    if is_product_word(form) or DEVICES.fullmatch(form):
        return PLACED
    if _NUMBERS.fullmatch(form):
        return ALONE
    return ANYWHERE if len(form) >= LEAST_ANYWHERE and not inside_product_word(form) else ALONE


class Joined(NamedTuple):
    """The pseudonym of a host with its domain: those of both, and how many signs of the name each stands for."""

    one: str
    first: int
    last: int
    two: str


class Replacer:
    """Replaces names; made of a map and the names of one case, which are all in it."""

    def __init__(
        self, known: NameMap, names: Iterable[tuple[str, str]], own_words: str = ""
    ) -> None:
        """Take the names; `own_words` is what the product itself says in the document, in lower case."""
        self.map = known
        self._joined: dict[str, Joined] = {}  # pseudonym of a host with its domain -> its parts
        self.forms: dict[str, dict[str, str]] = {
            ANYWHERE: {},
            ALONE: {},
        }  # how -> form -> pseudonym
        self.placed: dict[tuple[str, str], str] = {}  # kind, name -> pseudonym
        self._files: set[str] = set()  # forms of names of files: no text ends in the middle of one
        self.words: dict[str, str] = {}  # name that is a word, too -> kind
        self.shapes = AddressShapes(self._give_shaped)
        self._real: dict[tuple[str, str], str] = {}  # kind, pseudonym -> address or digits
        self._back = AddressShapes(lambda kind, other: self._real[kind, other])
        self._shaped: dict[
            tuple[str, str], str
        ] = {}  # word, pseudonym -> pseudonym as it is written
        self.encoded: set[str] = set()  # texts that held a name which was encoded
        self.pseudonyms: set[str] = set()  # of names that are no addresses
        self._made: dict[str, str] = {}  # text -> without the names, for the next document
        self._said: dict[str, str] = {}  # the same of sentences of the product
        self._meaningless: set[Word] = set()  # words that mean no name in base64 or hexadecimal
        self._dull: set[str] = set()  # what stands between blanks, and holds such words alone
        named: dict[str, list[tuple[str, str, str]]] = defaultdict(list)  # form -> its names
        given: list[str] = []
        for kind, name in names:
            if kind == "given":
                given.append(name)
                continue
            if kind in KINDS:
                self.shapes.take_name(kind, name)
                continue
            placed = mode_of(kind, lower_same_length(name)) == PLACED
            if placed:
                self.words[name] = kind
            for form, other in self._pseudonyms_of(kind, name):
                low = lower_same_length(form)
                mode = PLACED if placed else mode_of(kind, low)
                # without the digits of its name little is left that tells a form from words of the product
                is_vague = _DIGIT.search(name) is not None and _DIGIT.search(form) is None
                if mode == ANYWHERE and is_vague and inside_product_compound(low):
                    mode = ALONE
                if mode == PLACED:
                    self.placed.setdefault((kind, low), other)
                elif low != other.lower():
                    self.forms[mode].setdefault(low, other)
                    named[low].append((kind, name, other))
            if not placed and len(name) < LEAST_ENCODED:
                self._take_encoded(name)

        self._place_own_words(own_words, named)
        self._take_files(given, own_words)

    def _take_files(self, given: Iterable[str], own_words: str) -> None:
        """Take names of files that were given: what the grammar knows stays, each other part gets its pseudonym.

        What the product says as well is sought where the name of a file stands.
        """

        def give(part: str) -> str:
            low = lower_same_length(part)
            found = self.forms[ANYWHERE].get(low) or self.forms[ALONE].get(low)
            return found or self.map.give_pseudonym("input", part)

        forms, pattern = dict(self.all_forms), self.name_pattern
        for name in given:
            other = rename_file(name, give)
            if pattern is not None:  # a host may be called as the grammar calls a file
                other = self._substitute_pattern(pattern, other, forms)
            whole = lower_same_length(name)
            if is_product_word(whole) or whole in own_words:
                self.placed.setdefault(("input", whole), other)
                continue
            for mark, form in name_forms(name):
                low, new = lower_same_length(form), write_form(other, mark)
                if (
                    low != new.lower()
                    and low not in self.forms[ANYWHERE]
                    and not is_product_word(low)
                ):
                    self.forms[ALONE].setdefault(low, new)
                    self._files.add(low)
        del self.all_forms, self.name_pattern  # made anew with them

    def _pseudonyms_of(self, kind: str, name: str) -> Iterator[tuple[str, str]]:
        """Yield (form, pseudonym) of all forms of a name; that of a host with its domain is made of theirs."""
        if kind != "fqdn":
            pseudonym = self.map.give_pseudonym(kind, name)
            self.pseudonyms.add(pseudonym)
            self.map.spell_pseudonym(pseudonym, name)  # the first mixture is that of its column
            for mark, form in name_forms(name):
                yield form, mark_form(pseudonym, mark)
            return
        short, _, domain = name.partition(".")
        host = self.map.give_pseudonym("host", short)
        place = self.map.give_pseudonym("domain", domain)
        self.pseudonyms.add(f"{host}.{place}")
        for mark, form in name_forms(name):
            left, right = write_form(short, mark), write_form(domain, mark)
            sign = form[len(left) : len(form) - len(right)]
            if form == left + sign + right:
                one = mark_form(host, mark if left != short else "")
                two = mark_form(place, mark if right != domain else "")
                self._joined[one + sign + two] = Joined(one, len(left), len(right), two)
                yield form, one + sign + two
            else:
                yield form, self.map.give_pseudonym("label", form)

    def spell_pseudonym(self, other: str, word: str) -> str:
        """Return a pseudonym spelled as the word is that it stands for."""
        if other == ENCODED:
            return self.spell_word(other, word)
        joined = self._joined.get(other)
        if joined is None:
            return self.map.spell_pseudonym(other, word)
        end = len(word) - joined.last
        left = self.map.spell_pseudonym(joined.one, word[: joined.first])
        right = self.map.spell_pseudonym(joined.two, word[end:])
        return left + word[joined.first : end] + right

    def _substitute_pattern(
        self, pattern: re.Pattern[str], text: str, others: Mapping[str, str]
    ) -> str:
        """Return a text with what a pattern for lower case finds replaced by what is given for it."""
        group = "x" if "x" in pattern.groupindex else 0
        spans = []
        for found in pattern.finditer(lower_same_length(text)):
            start, end = found.span(group)
            spans.append((start, end, self.spell_pseudonym(others[found[group]], text[start:end])))
        return _splice_spans(text, spans)

    def _place_own_words(
        self, own_words: str, named: dict[str, list[tuple[str, str, str]]]
    ) -> None:
        """Let forms of names that the product says itself be sought where a name stands, alone."""
        while own_words and self.name_pattern is not None:
            found = {one[0] for one in self.name_pattern.finditer(own_words)} & named.keys()
            if not found:
                return
            for low in found:
                for forms in self.forms.values():
                    forms.pop(low, None)
                for kind, name, other in named.pop(low):
                    self.placed.setdefault((kind, low), other)
                    self.words[name] = kind
            del self.name_pattern  # made anew without them: a longer one may have hidden another

    def _take_encoded(self, name: str) -> None:
        """Take a name too short to be sought in all that may be encoded, for words that are it and nothing else."""
        for one in {name, name.lower(), name.upper()}:
            code = base64.b64encode(one.encode()).decode().rstrip("=")
            for form, least in ((code, 6), (one.encode().hex(), 8)):
                if (
                    len(form) >= least
                    and not form.isdecimal()
                    and not is_product_word(form.lower())
                ):
                    self.forms[ALONE].setdefault(form.lower(), ENCODED)

    @cached_property
    def name_pattern(self) -> re.Pattern[str] | None:
        """The pattern of all names but placed ones, for texts in lower case; None without any."""
        # first sign -> patterns of what follows: one of a set of signs is found fast
        begun: dict[str, list[str]] = defaultdict(list)
        for mode in (ANYWHERE, ALONE):
            by_first: dict[tuple[str, bool], list[str]] = defaultdict(list)
            for form in self.forms[mode]:
                by_first[form[0], _NUMBERS.fullmatch(form) is not None].append(form[1:])
            for (first, is_numbers), rests in by_first.items():
                pattern = trie_pattern(rests)
                if mode == ALONE:
                    pattern = f"(?<![^\\W_]{re.escape(first)}){pattern}{_END}"
                if is_numbers:
                    pattern = f"(?<!\\d[.:]{first}){pattern}(?![.:]\\d)"
                begun[first].append(pattern)
        parts = [f"{re.escape(first)}(?:{'|'.join(begun[first])})" for first in sorted(begun)]
        return re.compile("|".join(parts)) if parts else None

    @cached_property
    def all_forms(self) -> dict[str, str]:
        """Every form but placed ones -> its pseudonym."""
        return {form: other for forms in self.forms.values() for form, other in forms.items()}

    def _placed_in(
        self, texts: Sequence[str], *, said: bool = False
    ) -> Iterator[tuple[str, list[re.Pattern[str]], str]]:
        """Yield names that are words, longest first, with their patterns: those that stand where a name may stand.

        said  the texts are sentences of the product: words around a word tell nothing there
        """
        if not self.placed:
            return
        spots = set(_SPOT.findall(lower_same_length("\n".join(texts))))
        for kind, name in sorted(self.placed, key=lambda one: (-len(one[1]), one)):
            if name in spots or not _SPOT.fullmatch(name):
                patterns = placed_patterns(kind, name, spoken=not said)
                yield name, patterns, self.placed[kind, name]

    @cached_property
    def number_names(self) -> dict[str, str]:
        """Numbers that are names -> pseudonyms, for fields and columns that hold a name."""
        return {name: other for (_, name), other in self.placed.items() if name.isdecimal()}

    @cached_property
    def _longest_form(self) -> int:
        return max(map(len, self.all_forms), default=1)

    @cached_property
    def _name_beginnings(self) -> set[str]:
        forms = self.all_forms.keys() - self._files
        return {form[:end] for form in forms for end in range(LEAST_BEGUN, len(form))}

    @cached_property
    def _beginning_tails(self) -> set[str]:
        """The last signs of all beginnings: by them most texts are passed over."""
        return {one[-LEAST_BEGUN:] for one in self._name_beginnings}

    def replace_text(self, text: str) -> str:
        """Return a text without the names."""
        return self.replace_texts([text])[text]

    def replace_texts(self, texts: Iterable[str], *, said: bool = False) -> dict[str, str]:
        """Return text -> text without the names, for many at once; `said` are sentences of the product."""
        every = list(dict.fromkeys(texts))
        known = self._said if said else self._made
        fresh = [one for one in every if one not in known]
        known |= zip(fresh, self._replace_fresh(fresh, said=said), strict=True)
        done = [known[one] for one in every]
        before = [*done]
        self.join_words(every, done)
        self.encoded.update(
            one for one, old, new in zip(every, before, done, strict=True) if old != new
        )
        if len(known) > MOST:
            known.clear()
        return {one: self.cut_end(new) for one, new in zip(every, done, strict=True)}

    def _replace_fresh(self, every: list[str], *, said: bool = False) -> list[str]:
        """Return texts without the names, each looked at for itself."""
        done = self.free_text("\x00".join(every)).split("\x00")
        if len(done) != len(every):  # one of them holds the sign itself
            done = [self.free_text(one) for one in every]
        low = [lower_same_length(one) for one in done] if self.placed else []
        for name, patterns, other in self._placed_in(done, said=said):
            for place in range(len(done)):
                if name not in low[place]:
                    continue
                for pattern in patterns:
                    done[place] = self._substitute_pattern(pattern, done[place], {name: other})
                low[place] = lower_same_length(done[place])
        before = [*done]
        # Replace what is a name once it is decoded: such a text is shown as it reads, such a word
        # as a remark.
        for decode_place, text in enumerate(done):
            plain = decode_text(text)
            if plain != text and (
                next(self.find_held(lower_same_length(plain)), None)
                or next(self.encoded_in(plain), None)
            ):
                done[decode_place] = self.free_text(plain)
        words = {word for _, word, _ in self.encoded_in("\n".join(done))}
        for decode_place, text in enumerate(done) if words else ():
            for word in sorted(words, key=len, reverse=True):
                if word in text:
                    done[decode_place] = text = text.replace(word, self.spell_word(ENCODED, word))  # noqa: PLW2901
        self.encoded.update(
            one for one, old, new in zip(every, before, done, strict=True) if old != new
        )
        return done

    def join_words(self, texts: Sequence[str], done: list[str]) -> None:
        """Replace words at the ends of texts that are a name in base64 or hexadecimal once they stand together."""
        cut = {both: (one, other) for one, other, both in cut_words(texts)}
        whole = {word for _, word, _ in self.encoded_in("\n".join(cut))} if cut else ()
        words = {part for both in whole if both in cut for part in cut[both]}
        for place, text in enumerate(done) if words else ():
            for word in sorted(words, key=len, reverse=True):
                if word in text:
                    done[place] = text = text.replace(word, self.spell_word(ENCODED, word))  # noqa: PLW2901

    def find_held(self, low: str) -> Iterator[tuple[int, str]]:
        """Yield place and spelling of the names in a text in lower case, then of the addresses."""
        for found in self.name_pattern.finditer(low) if self.name_pattern is not None else ():
            yield found.start(), found[0]
        for one in self.shapes.find_shaped(low):
            if one.other != (word := low[one.start : one.end]):
                yield one.start, word

    def encoded_in(self, text: str) -> Iterator[tuple[str, str, str]]:
        """Yield (how, word, name) of words that hold a name as base64 or hexadecimal, one too long to be chance."""
        chunks = set(text.split()) - self._dull
        if not (fresh := words_in(text, chunks) - self._meaningless):
            self._dull |= chunks
            return
        if self._is_plain:
            held = self.find_held(lower_same_length(decode_words(fresh)))
            if all(len(name) < LEAST_ENCODED for _, name in held):
                # No name is in what these words mean: they are never decoded again
                self._meaningless |= fresh
                self._dull |= chunks
                return
        words = [*encoded_words(text)]
        every = lower_same_length("\x00".join(part for _, _, part in words))
        for start, name in self.find_held(every):
            if len(name) >= LEAST_ENCODED:
                how, word, _ = words[every.count("\x00", 0, start)]
                yield how, word, name

    @cached_property
    def _is_plain(self) -> bool:
        """Say whether all names are of plain signs; others may be in what is decoded in ways that are many."""
        return all(map(PLAIN.fullmatch, self.all_forms))

    def free_text(self, text: str) -> str:
        """Return a text without names, then without addresses."""
        if self.name_pattern is not None:
            text = self._substitute_pattern(self.name_pattern, text, self.all_forms)
        return replace_shapes(self.shapes, text, self._spell_shaped)

    def _give_shaped(self, kind: str, name: str) -> str:
        other = self.map.give_pseudonym(kind, name)
        if (kind, other) not in self._real:
            self._real[kind, other] = name
            self._back.take_name(kind, other)
        return other

    def _spell_shaped(self, text: str, one: Shaped) -> str:
        """Return the pseudonym of an address or id as it is written; where that could not be put back, one of the word."""
        word = text[one.start : one.end]
        made = self._shaped.get((word, one.other))
        if made is None:
            made = copy_case(word, one.other)
            again = replace_shapes(self._back, made)
            if again == made:  # the signs before it tell what it is: `0x`, `::ffff:`
                before, behind = (
                    text[max(0, one.start - 8) : one.start],
                    text[one.end : one.end + 16],
                )
                if (
                    replace_shapes(self._back, f"{before}{made}{behind}")
                    == f"{before}{word}{behind}"
                ):
                    return made
            if again != word:
                made = self.spell_word("address", word)
            self._shaped[word, one.other] = made
        return made

    def spell_word(self, kind: str, word: str) -> str:
        """Return the pseudonym of a word as it is spelled."""
        return self.map.spell_pseudonym(self.map.give_pseudonym(kind, word), word)

    def replace_document(self, value: Any, skip: frozenset[str] = frozenset()) -> Any:
        """Return a JSON value with all its texts replaced, keys of dictionaries too; what is under `skip` stays."""
        made = self.replace_texts(text for key, text in iterate_strings(value) if key not in skip)
        return _rebuild_value(value, made, skip, self.number_names)

    def replace_record(self, value: Any, plan: Plan, *, own: bool) -> Any:
        """Return a document of plain values with its names replaced, each text by whose it is.

        own  the rules are the product's own: its words stay as they are, whatever a machine is called
        """
        by_owner: dict[str, list[str]] = {PRODUCT: [], CUSTOMER: [], TEMPLATE: []}
        for owner, text in list_texts(value, plan):
            by_owner[owner].append(text)
        said = by_owner[TEMPLATE] if own else by_owner[TEMPLATE] + by_owner[PRODUCT]
        made = {
            CUSTOMER: self.replace_texts(by_owner[CUSTOMER]),
            TEMPLATE: self.replace_texts(said, said=True),
        }
        made[PRODUCT] = {} if own else made[TEMPLATE]
        return self._rebuild_record(value, plan, made)

    def _rebuild_record(
        self,
        value: Any,
        plan: Plan,
        made: Mapping[str, Mapping[str, str]],
        key: str = "",
        things: frozenset[str] = frozenset(),
    ) -> Any:
        """Return a value with its texts replaced; `things` are what the records around it speak of."""
        if isinstance(value, str):
            owner = plan if isinstance(plan, str) else CUSTOMER
            if owner == CUSTOMER and key in NAME_FIELDS and value in self.number_names:
                return self.number_names[value]
            new = made[owner].get(value, value)
            return self._replace_head(new) if key in _THING_FIELDS else new
        if isinstance(value, dict):
            if isinstance(plan, Parts):
                things |= _things_of(value)
                rebuilt = {
                    name: self._rebuild_record(inner, plan.get(name), made, name, things)
                    for name, inner in value.items()
                }
                # What a document as a whole says, it says of its machines and sides
                listed = [*(value.get("machines") or ()), *(value.get("sides") or ())]
                self._replace_spoken(rebuilt, plan, things.union(*map(_things_of, listed)))
                return rebuilt
            inner_plan = plan[0] if plan else None
            return {
                (made[CUSTOMER].get(name, name) if key in NAMED_KEYS else name): (
                    self._rebuild_record(inner, inner_plan, made, "", things)
                )
                for name, inner in value.items()
            }
        if isinstance(value, (list, tuple)):
            inner_plan = plan[0] if isinstance(plan, Each) else plan
            return [self._rebuild_record(inner, inner_plan, made, key, things) for inner in value]
        return value

    def _replace_head(self, text: str) -> str:
        """Return what a record speaks of without a name that is a word before a part of the thing: `error, vnic 0`."""
        head = _HEAD.match(text)
        if head is None or head[0].isdecimal():
            return text
        for kind in ("vm", *_NOUNS):
            other = self.placed.get((kind, lower_same_length(head[0])))
            if other is not None:
                return self.spell_pseudonym(other, head[0]) + text[head.end() :]
        return text

    def _replace_spoken(self, record: dict[str, Any], plan: Parts, things: frozenset[str]) -> None:
        """Replace names that are words in the sentences of a record that speaks of things of that name."""
        for kind, name in self.placed if things else ():
            if name not in things or name.isdecimal():
                continue
            given = {name: self.placed[kind, name]}
            for pattern in spoken_patterns(kind, name):
                for key, owner in plan.items():
                    value = record.get(key)
                    if owner == TEMPLATE and isinstance(value, str):
                        record[key] = self._substitute_pattern(pattern, value, given)
                    elif owner == [TEMPLATE] and isinstance(value, list):
                        record[key] = [
                            self._substitute_pattern(pattern, text, given) for text in value
                        ]

    def cut_end(self, text: str) -> str:
        """Return a long text without the beginning of a name at its end, where it was cut."""
        return self.cut_beginning(text, LEAST_BEGUN if len(text) >= CUT else LEAST_LONG)

    def cut_beginning(self, text: str, least: int = LEAST_BEGUN) -> str:
        """Return a text without the beginning of a name at its end; one of many characters becomes the pseudonym."""
        if text[-LEAST_BEGUN:].lower() not in self._beginning_tails:
            return text
        low, seen = lower_same_length(text[-self._longest_form :]), self._name_beginnings
        for found in _BEGINNING.finditer(low):
            begun = low[found.start() :]
            if len(begun) >= least and begun in seen and not is_product_word(begun):
                at = len(text) - len(begun)
                return text[:at] + self.spell_word("cut", text[at:])
        return text


def _things_of(record: Mapping[str, Any]) -> frozenset[str]:
    """Return the names, in lower case, of what a record speaks of."""
    found = [record.get(key) for key in _THING_FIELDS]
    values = record.get("values")
    if isinstance(values, dict):
        found += values.values()
    return frozenset(lower_same_length(one) for one in found if one and isinstance(one, str))


_BARE = frozenset((int, float, bool, type(None)))  # of a document: no text, and none within


def _rebuild_value(
    value: Any,
    made: Mapping[str, str],
    skip: frozenset[str],
    whole: Mapping[str, str],
    key: str = "",
) -> Any:
    """Return a JSON value with its texts replaced; `whole` are numbers that are names in fields that hold one."""
    sort = type(value)
    if sort is str:
        if whole and key in NAME_FIELDS and value in whole:
            return whole[value]
        return value if key in skip else made.get(value, value)
    if sort is dict:
        own = key in NAMED_KEYS
        return {
            made.get(name, name) if own else name: inner
            if type(inner) in _BARE
            else _rebuild_value(inner, made, skip, whole, name)
            for name, inner in value.items()
        }
    if sort is list or sort is tuple:
        return [
            inner if type(inner) in _BARE else _rebuild_value(inner, made, skip, whole, key)
            for inner in value
        ]
    return value


def _splice_spans(text: str, spans: Iterable[tuple[int, int, str]]) -> str:
    """Return a text with some spans replaced."""
    parts: list[str] = []
    at = 0
    for start, end, new in spans:
        parts += [text[at:start], new]
        at = end
    return "".join([*parts, text[at:]]) if parts else text


def spoken_patterns(kind: str, name: str) -> list[re.Pattern[str]]:
    """Return the patterns of a name that is a word, too, where words around it say that it is a name."""
    if DEVICES.fullmatch(name) or name.isdecimal():
        return []
    word = f"(?P<x>{re.escape(name)})"
    nouns = _NOUNS.get(kind, kind)
    places = (
        rf"(?<=[\"'`]){word}(?=[\"'`])",
        rf"\b(?:{nouns})(?:\s?[=:]\s?[\"']?|\s){word}{_END}",
        rf"(?:^|(?<=assumed that )|(?<= and )){word}(?= (?:is|are|was|and) )",
    )
    return [re.compile(place) for place in places]


def placed_patterns(kind: str, name: str, *, spoken: bool = True) -> list[re.Pattern[str]]:
    """Return the patterns of a name that is a word, too: group x is where it is for the name.

    spoken  also those that words around it tell, and a text that is nothing else
    """
    word = f"(?P<x>{re.escape(name)})"
    places = [
        *(
            [rf"^{word}$"] if spoken and not name.isdecimal() else []
        ),  # of numbers `NAME_FIELDS` tell
        rf"(?<=\d\d\d\d:){word}(?=[):.]|$)",
        rf"(?<=/){word}(?=(?:-\d{{6}}|-flat|-delta|-ctk|_\d+)*\.(?!log\b){_FILES}\b)",
        rf"/vmfs/volumes/[^/]+/{word}(?=/)",
        rf"(?<=\] ){word}(?=/[^/\n]{{1,80}}\.{_FILES}\b)",  # [datastore] folder/file.vmx
    ]
    if kind == "vm":
        places += [
            rf"{_START}{word}(?=\.eth\d)",
            rf"(?:^|(?<=[;,] )){word}(?=, (?:network )?adapter \d| \(port \d| \(replaced\))",
        ]
    if kind in ("vm", "host") and not name.isdecimal():
        places += [
            rf"^(?:[a-z0-9]+-)+[a-z0-9]+/{word}$",
            rf"(?:^|(?<=[/ ])){word}(?=\.(?:tgz|txt)\b)",
            rf"(?<=\\){word}(?=\\)",
        ]
    if kind in ("vm", "host"):  # sentences of the product about a machine
        places += [
            rf"(?<= of ){word}(?= is not in the case| ended early| were not understood| has no line of )",
            rf"^(?:[a-z0-9-]+: )?{word}(?=: [a-z0-9]+(?:-[a-z0-9]+)+$)",
        ]
    if kind == "input":  # a folder, or an archive, at the beginning of an address
        places.append(rf"(?:^|(?<=!)){word}(?=[/!])")
    if kind == "datastore":
        places.append(rf"/vmfs/volumes/{word}(?=[/\s]|$)")
    patterns = [re.compile(place) for place in places]
    return patterns + spoken_patterns(kind, name) if spoken else patterns


def trie_pattern(words: Iterable[str]) -> str:
    """Return a pattern that finds the longest of some words."""
    root: dict[str, Any] = {}
    for word in words:
        node = root
        for sign in word:
            node = node.setdefault(sign, {})
        node[""] = {}
    return _branch_pattern(root)


def _branch_pattern(node: dict[str, Any]) -> str:
    """Return the pattern of what goes on from a place of the tree; a run without a fork is written in one."""
    parts = []
    for sign in sorted(sign for sign in node if sign):
        run, inner = sign, node[sign]
        while len(inner) == 1 and "" not in inner:
            (step,) = inner
            run, inner = run + step, inner[step]
        parts.append(re.escape(run) + ("" if set(inner) == {""} else _branch_pattern(inner)))
    body = parts[0] if len(parts) == 1 and "" not in node else f"(?:{'|'.join(parts)})"
    return f"(?:{body})?" if "" in node else body


def _spell_plainly(text: str, one: Shaped) -> str:
    return copy_case(text[one.start : one.end], one.other)


def replace_shapes(
    shapes: AddressShapes, text: str, spell: Callable[[str, Shaped], str] = _spell_plainly
) -> str:
    """Return a text with its addresses and ids replaced; each digit keeps its case."""
    found = shapes.find_shaped(lower_same_length(text))
    return _splice_spans(text, [(one.start, one.end, spell(text, one)) for one in found])


def copy_case(word: str, other: str) -> str:
    """Return an id in the case of another; where that is mixed, each digit has its own."""
    if word.isupper():
        return other.upper()
    if word.islower() or len(word) != len(other):
        return other
    pairs = zip(word, other, strict=True)
    return "".join(sign.upper() if old.isupper() else sign for old, sign in pairs)

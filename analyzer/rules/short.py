"""The short form of a rule file, written out into the keys of the long one before these are read.

    sign:     {in, match, …, per, at_least, within, distinct}   the lines, whose they are, how many there have to be
    cleared:  pattern, or {in, match, …, longer_than, severity, confidence, say}   the line that ends it
    severity, confidence, say                                   the one answer, in the place of `outcomes`

`sign` becomes a signature, the subjects (`each`), a join of all lines of a subject and the condition; a rule may
say more with any key of the long form but `each`. Every value that is taken over keeps its place in the file and
every value that is made has that of the key it is made from, so that an error points at what the author wrote.

What may also be left out of a long rule: `kb` where the id holds the number, the list of `fix` where every step
is a place and what to do there, and `outcomes` where there is one answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from analyzer.rules.language.rulefile import FileSpan, RuleItem, RuleItems, RuleText
from analyzer.rules.logs import LOG_KEYS

SIGN_KEYS = (*LOG_KEYS, "per", "at_least", "within", "distinct")
ANSWER_KEYS = ("severity", "confidence", "say")
CLEARED_KEYS = (*LOG_KEYS, "longer_than", *ANSWER_KEYS)
# Names that the long form gets: rows of the subject, of its lines and of those that end it; questions to the lines.
SUBJECT, LINE, END = "it", "hit", "end"
SIGN, CLEARED, OFTEN, LASTING, OVER = "sign", "cleared", "often", "lasting", "over"
NAMES = (SIGN, CLEARED, OFTEN, LASTING)  # questions to the lines
MADE = (SUBJECT, LINE, END, OFTEN, LASTING, OVER)

_COUNT_KEYS = ("at_least", "within", "distinct")
# Keys that hold expressions, and those of them and below them that are texts with values in braces.
_SPEAK = (
    "only",
    "let",
    "when",
    "grade",
    "outcomes",
    "notes",
    "evidence",
    "chart",
    "subject",
    "object",
    "fix",
    "join",
)
_TEXTS = ("say", "subject", "object", "where", "run", "do", "note", "caution", "unsure")
_PLAIN = ("let", "join")  # their own keys may be called as those of a text
_FIELD = re.compile(r"\{([^{}]*)\}")
_KB = re.compile(r"kb-(\d{1,9})\Z")
_COMMAND = re.compile(r"`([^`]+)`\Z")


def is_short(tree: RuleItem) -> bool:
    """Say whether a rule file is written in the short form."""
    return isinstance(tree.value, dict) and SIGN in tree.value


def expand_short(text: RuleText, tree: RuleItem) -> RuleItem:
    """Return the tree of a rule in the long form; one that is long already stays as it is.

    Raises BadRuleError where a part of the short form is wrong by itself.
    """
    if not isinstance(tree.value, dict):
        return tree
    values, keys = dict(tree.value), dict(tree.keys)
    if (
        "kb" not in values
        and "rule" in values
        and (found := _KB.match(values["rule"].text.strip()))
    ):
        _put_key(
            values,
            keys,
            "kb",
            _make_list([RuleItem(int(found[1]), keys["rule"], found[1])], keys["rule"]),
            keys["rule"],
        )
    if "fix" in values and isinstance(values["fix"].value, dict):
        item = values["fix"]
        steps = []
        for where, child in item.value.items():
            at = item.keys[where]
            command = _COMMAND.match(child.text.strip()) if isinstance(child.value, str) else None
            done = (
                {"run": RuleItem(command[1], child.place, command[1], child.quoted)}
                if command
                else {"do": child}
            )
            step = {"where": _make_text(where, at, quoted=True), **done}
            steps.append(RuleItem(step, at, keys={"where": at, next(iter(done)): child.place}))
        values["fix"] = RuleItem(steps, item.place)
    values = with_default_subject(values)
    if SIGN in values:
        _Short(text, values, keys).write_out()
    elif CLEARED in values:
        help_text = "name the lines of the trouble under `sign`"
        raise text.error(f"`{CLEARED}` goes with `sign`", keys[CLEARED], help_text)
    elif any(key in values for key in ANSWER_KEYS):
        own = {key: values.pop(key) for key in ANSWER_KEYS if key in values}
        places = [keys.pop(key) for key in own]
        if "outcomes" in values:
            message = f"`{next(iter(own))}` does not go with `outcomes`"
            raise text.error(message, places[0], "write it in an outcome")
        answer = _make_mapping(
            {"when": _make_text("true", places[0], value=True), **own}, places[0]
        )
        _put_key(values, keys, "outcomes", _make_list([answer], places[0]), places[0])
    return RuleItem(values, tree.place, keys=keys)


def with_default_subject(values: RuleItems) -> RuleItems:
    """Return the keys of a rule over rows with its subject: the object where the author names no other.

    The lines of a sign have a subject of their own, and that of a population names rows of another table.
    """
    thing = values.get("object")
    if thing is None or any(key in values for key in ("subject", SIGN, "population")):
        return values
    first = thing.value[0] if isinstance(thing.value, list) and thing.value else thing
    return values | {"subject": first} if isinstance(first.value, str) else values


class _Short:
    """Writes out one rule; `values` and `keys` are those of its top level and are changed."""

    def __init__(self, text: RuleText, values: RuleItems, keys: dict[str, FileSpan]) -> None:
        self.text, self.values, self.keys = text, values, keys
        self.at = keys[SIGN]
        self.sign = text.mapping(values.pop(SIGN), SIGN_KEYS, "`sign`")
        # A bare pattern is the `match` of `cleared`, and its log is that of the sign.
        self.cleared: RuleItems = {}
        item = values.pop(CLEARED, None)
        if item is not None:
            found = {"match": item}
            if not isinstance(item.value, str):
                found = text.mapping(item, CLEARED_KEYS, "`cleared`")
            if "match" not in found:
                raise text.error("`cleared` has no `match`", item.place)
            if "say" in found and "severity" not in found:
                message = "`say` of `cleared` needs a `severity` beside it"
                raise text.error(message, found["say"].place)
            own = {"in": self.sign["in"]} if "in" in self.sign else {}
            self.cleared = own | found
        self.answer = {key: values.pop(key) for key in ANSWER_KEYS if key in values}

    def write_out(self) -> None:
        """Put the keys of the long form in the place of the short ones."""
        for key in ("each", "population"):
            if key in self.values:
                raise self.text.error(
                    f"`{key}` does not go with `sign`", self.keys[key], "`per` says what is judged"
                )
        per = self._read_per()
        self._put_default(
            "each",
            _make_text(f"{SUBJECT} in {SIGN} per {', '.join(item.text for item in per)}", self.at),
        )
        shown = " ".join(f"{{{SUBJECT}.{item.text.strip()}}}" for item in per)
        self._put_default("object", _make_text(shown, self.at, quoted=True))
        logs = {SIGN: _make_mapping(self._write_log(self.sign, SIGN), self.at)}
        if self.cleared:
            logs[CLEARED] = _make_mapping(
                self._write_log(self.cleared, CLEARED), self.keys[CLEARED]
            )
        self._merge_part("logs", logs, "a signature")
        by = [] if [item.text for item in per] == ["node"] else per
        own = {}
        if self._speaks_of(LINE) or self._asks_over():
            own[LINE] = _make_mapping(_make_join(SIGN, by, self.at), self.at)
        if self._speaks_of(END) or self._asks_over():
            at = self.keys[CLEARED]
            own[END] = _make_mapping(
                _make_join(
                    CLEARED, [_make_text(item.text, self.cleared["match"].place) for item in by], at
                ),
                at,
            )
        self._merge_part("join", own, "a row")
        self._write_questions()
        if self._asks_over():
            over = _make_text(f"any({END}.time >= max({LINE}.time))", self.keys[CLEARED])
            self._merge_part("let", {OVER: over}, "a value")
        condition = OFTEN if self._is_counted() else SIGN
        if "longer_than" in self.cleared:
            condition = f"{OFTEN} and {LASTING}" if condition == OFTEN else LASTING
        elif self.cleared and "severity" not in self.cleared:
            condition = f"{condition} and not {OVER}"
        self._put_default("when", _make_text(condition, self.at))
        self._write_outcomes()
        self._put_default(
            "evidence",
            _make_list([_make_text(name, self.at) for name in logs], self.at),
        )
        for key in (SIGN, CLEARED, *ANSWER_KEYS):
            self.keys.pop(key, None)

    def _write_questions(self) -> None:
        """Put the questions to the logs that counts and spans of the short form ask."""
        questions: RuleItems = {}
        if self._is_counted():
            counted = {"log": _make_text(SIGN, self.at)} | {
                key: self.sign[key] for key in _COUNT_KEYS if key in self.sign
            }
            questions[OFTEN] = _make_mapping(counted, self.at)
        if "longer_than" in self.cleared:
            at = self.keys[CLEARED]
            ended = {
                "log": _make_text(SIGN, at),
                "until": _make_text(CLEARED, at),
                "longer_than": self.cleared["longer_than"],
            }
            questions[LASTING] = _make_mapping(ended, at)
        self._merge_part("seen", questions, "a question")

    # -- the parts that the author wrote

    def _read_per(self) -> list[RuleItem]:
        item = self.sign.get("per")
        if item is None or item.value is None:
            return [_make_text("node", self.at)]
        children = item.value if isinstance(item.value, list) else [item]
        return [
            _make_text(
                word.strip(),
                self.text.within(child, child.text.find(word.strip()), len(child.text)),
            )
            for child in children
            for word in self.text.string(child, "per").split(",")
        ]

    def _asks_over(self) -> bool:
        """Say whether it matters that the last line of the sign was followed by one that ends it."""
        made = "severity" in self.cleared or (
            "longer_than" not in self.cleared and "when" not in self.values
        )
        return bool(self.cleared) and (made or self._speaks_of(OVER))

    def _is_counted(self) -> bool:
        return any(key in self.sign for key in _COUNT_KEYS)

    # -- the parts of the long form

    def _write_log(self, part: RuleItems, name: str) -> RuleItems:
        for key in ("in", "match"):
            if key not in part:
                raise self.text.error(f"`{name}` has no `{key}`", self.keys[name])
        return {key: part[key] for key in LOG_KEYS if key in part}

    def _write_outcomes(self) -> None:
        """Make the answers: that of what is over, where it has one, and that of all else."""
        if "outcomes" in self.values:
            both = [
                (key, item, part)
                for part in (self.answer, self.cleared)
                for key, item in part.items()
            ]
            for key, item, part in both:
                if key in ANSWER_KEYS:
                    place = self.keys[key] if part is self.answer else item.place
                    raise self.text.error(
                        f"`{key}` does not go with `outcomes`", place, "write it in an outcome"
                    )
            return
        at = next((self.keys[key] for key in self.answer), self.at)
        found = [_make_mapping({"when": _make_text("true", at, value=True), **self.answer}, at)]
        if "severity" in self.cleared:
            own = {key: self.cleared[key] for key in ANSWER_KEYS if key in self.cleared}
            found.insert(
                0,
                _make_mapping(
                    {"when": _make_text(OVER, self.keys[CLEARED]), **own}, self.keys[CLEARED]
                ),
            )
        _put_key(self.values, self.keys, "outcomes", _make_list(found, at), at)

    # -- putting them in

    def _speaks_of(self, name: str) -> bool:
        """Say whether an expression, or a value in a text, uses a name."""
        word = re.compile(rf"\b{name}\b")
        parts = {key: self.values[key] for key in _SPEAK if key in self.values}
        says = [part["say"] for part in (self.answer, self.cleared) if "say" in part]
        texts = [
            text
            for key, part in parts.items()
            for text in _walk_expressions(part, key, texts=key not in _PLAIN)
        ]
        return any(
            word.search(text)
            for text in [*texts, *(one for say in says for one in _walk_expressions(say, "say"))]
        )

    def _put_default(self, key: str, item: RuleItem) -> None:
        if key not in self.values:
            _put_key(self.values, self.keys, key, item, self.at)

    def _merge_part(self, key: str, own: Mapping[str, RuleItem], what: str) -> None:
        """Put entries before those the author wrote under the same key."""
        item = self.values.get(key)
        if item is not None and item.value is not None and not isinstance(item.value, dict):
            return  # the reader refuses it
        given = item.value if item is not None and item.value is not None else {}
        for name in own:
            if name in given and item is not None:
                help_text = f"the short form makes {what} of this name"
                raise self.text.error(
                    f"the name `{name}` is already taken", item.keys[name], help_text
                )
        if not own:
            return
        places = {name: part.place for name, part in own.items()}
        written = item.keys if item is not None else {}
        place = item.place if item is not None else self.at
        merged = RuleItem({**own, **given}, place, keys={**places, **written}, made=item is None)
        _put_key(self.values, self.keys, key, merged, self.keys.get(key, self.at))


# -- items that no author wrote


def _put_key(
    values: RuleItems,
    keys: dict[str, FileSpan],
    key: str,
    item: RuleItem,
    place: FileSpan,
) -> None:
    values[key] = item
    keys.setdefault(key, place)


def _make_text(
    text: str, place: FileSpan, *, quoted: bool = False, value: object = None
) -> RuleItem:
    return RuleItem(text if value is None else value, place, text, quoted, made=True)


def _make_list(items: list[RuleItem], place: FileSpan) -> RuleItem:
    return RuleItem(items, place, made=True)


def _make_mapping(values: RuleItems, place: FileSpan) -> RuleItem:
    return RuleItem(
        values, place, keys={key: item.place for key, item in values.items()}, made=True
    )


def _make_join(table: str, by: list[RuleItem], place: FileSpan) -> RuleItems:
    return {
        "table": _make_text(table, place),
        "by": _make_list(list(by), place),
        "rows": _make_text("many", place),
    }


def _walk_expressions(item: RuleItem, key: str, *, texts: bool = True) -> Iterator[str]:
    """Yield what is an expression below an item: of a text only what is in braces."""
    if isinstance(item.value, dict):
        for name, child in item.value.items():
            yield from _walk_expressions(child, name, texts=texts)
    elif isinstance(item.value, list):
        for child in item.value:
            yield from _walk_expressions(child, key, texts=texts)
    elif texts and key in _TEXTS:
        yield from _FIELD.findall(item.text)
    else:
        yield item.text

"""Case documents whose names were changed, removed and doubled, as a redaction, an editor or another program may leave them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct

from analyzer.case.document import CaseDocument
from tests.kit.case_factory import HOSTILE

NAMES = ("", "host-02", "host", "member", "manager", "-", "0", "a.b", "x" * 300, HOSTILE)


class Step(NamedTuple):
    """One change: what is done, at which of all places, and with which of all words."""

    change: str
    place: int
    word: int


class NamePlace(NamedTuple):
    """A field of a record that holds words of the material."""

    record: Struct
    field: str

    @property
    def name(self) -> str:
        return str(getattr(self.record, self.field))

    def set_name(self, name: str) -> None:
        """Put another name in."""
        setattr(self.record, self.field, name)


def copy_document(doc: CaseDocument) -> CaseDocument:
    """Return a copy that shares nothing with the document."""
    return msgspec.convert(msgspec.to_builtins(doc), CaseDocument)


def spoil_document(doc: CaseDocument, steps: list[Step]) -> CaseDocument:
    """Return a copy of a document after some changes."""
    made = copy_document(doc)
    for step in steps:
        CHANGES[step.change](made, step)
    return made


def _change_one(doc: CaseDocument, step: Step) -> None:
    places = list(list_places(doc))
    place = places[step.place % len(places)]
    place.set_name(_pick_word(places, step.word))


def _change_all(doc: CaseDocument, step: Step) -> None:
    places = list(list_places(doc))
    old = places[step.place % len(places)].name
    new = _pick_word(places, step.word)
    for place in places:
        if place.name == old:
            place.set_name(new)


def _double_item(doc: CaseDocument, step: Step) -> None:
    lists = list(list_lists(doc))
    some = lists[step.place % len(lists)]
    some.insert(step.word % len(some), some[step.word % len(some)])


def _remove_item(doc: CaseDocument, step: Step) -> None:
    lists = list(list_lists(doc))
    some = lists[step.place % len(lists)]
    del some[step.word % len(some)]


CHANGES: dict[str, Callable[[CaseDocument, Step], None]] = {
    "change one": _change_one,
    "change all": _change_all,
    "double": _double_item,
    "remove": _remove_item,
}


def _pick_word(places: list[NamePlace], word: int) -> str:
    """Return one of the names of the document, or one that is none."""
    if word % 2:
        return NAMES[word // 2 % len(NAMES)]
    return places[word // 2 % len(places)].name


def list_places(value: Any) -> Iterator[NamePlace]:
    """Yield the fields with words of the material of a record and of all records in it."""
    for record in _list_records(value):
        for field in _list_customer_fields(type(record)):
            yield NamePlace(record, field)


def list_lists(value: Any) -> Iterator[list[Any]]:
    """Yield the lists of a record and of all records in it that hold something."""
    for record in _list_records(value):
        for field in record.__struct_fields__:
            some = getattr(record, field)
            if isinstance(some, list) and some:
                yield some


def _list_records(value: Any) -> Iterator[Struct]:
    if isinstance(value, Struct):
        yield value
        for field in value.__struct_fields__:
            yield from _list_records(getattr(value, field))
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _list_records(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _list_records(inner)


@cache
def _list_customer_fields(kind: type[Struct]) -> list[str]:
    fields = []
    for name, hint in get_type_hints(kind, include_extras=True).items():
        if get_origin(hint) is Annotated and get_args(hint)[0] is str:
            extras = [one.extra for one in hint.__metadata__ if isinstance(one, Meta)]
            if any(extra and extra.get("text") in ("customer", "template") for extra in extras):
                fields.append(name)
    return fields

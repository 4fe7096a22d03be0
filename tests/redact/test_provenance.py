"""Words of the product stay byte for byte, whatever a machine is called; slots of names never do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import msgspec
import pytest
from msgspec import Meta, Struct

from analyzer.case.document import CaseDocument
from analyzer.redact.redaction import Redaction
from tests.kit.case_factory import rich_case
from tests.kit.every_form import render_forms

WORDS = ("host", "memory", "network", "controller", "Time", "error", "vmkernel", "ring", "warning", "read", "confirmed",
         "Ring runs full", "Quiet rule", "esxi", "adapters")  # fmt: skip

RENDERED = ("network", "Quiet rule")  # all forms take a second


def _whose(kind: type[Struct]) -> dict[str, str]:
    """Return whose text each field of a record holds, where its declaration says so."""
    found = {}
    for name, hint in get_type_hints(kind, include_extras=True).items():
        held = hint
        while get_origin(held) is list:
            (held,) = get_args(held)
        if get_origin(held) is Annotated:
            extras = [one.extra for one in held.__metadata__ if isinstance(one, Meta) and one.extra]
            found[name] = next((str(extra["text"]) for extra in extras if "text" in extra), "")
    return found


def _list_fields(value: Any, at: str = "") -> Iterator[tuple[str, str, Any]]:
    """Yield (place, whose text, value) of the fields of a record and of all records in it."""
    if isinstance(value, Struct):
        whose = _whose(type(value))
        for name in value.__struct_fields__:
            inner = getattr(value, name)
            if name in whose:
                yield f"{at}.{name}", whose[name], inner
            yield from _list_fields(inner, f"{at}.{name}")
    elif isinstance(value, list):
        for number, one in enumerate(value):
            yield from _list_fields(one, f"{at}[{number}]")


def _call_by(word: str) -> CaseDocument:
    """Return a case whose VMs, host, datastore and port group are called by one word."""
    doc = rich_case()
    doc.nodes[0].name = word
    for port in doc.topology:
        port.vm = port.portgroup = word
    for finding in doc.findings:
        finding.object = word
        finding.subject = f"VM {word}"
    doc.log = []
    doc.settings.catalogs = [one for one in doc.settings.catalogs if one.kind == "shipped"]
    return doc


@pytest.mark.parametrize("word", WORDS)
def test_words_of_the_product_stay_whatever_things_are_called(word: str) -> None:
    """Each field of the product is as it was, each slot that was the name is none, and every form can be handed out."""
    plain = _call_by(word)
    old = {place: (whose, value) for place, whose, value in _list_fields(plain)}
    redaction = Redaction()
    made = redaction.redact_document(msgspec.convert(msgspec.to_builtins(plain), CaseDocument))
    replaced = 0
    for place, whose, value in _list_fields(made):
        was = old[place][1]
        if whose == "product" and place != ".case.map":
            assert value == was, place
        if was == word and whose == "customer" and not place.endswith((".module", ".what")):
            assert value != word, place
            replaced += 1
    assert replaced > 5
    assert not any(finding.subject.endswith(word) for finding in made.findings)
    assert [fix.where for one in made.findings for fix in one.fix] == [
        fix.where for one in plain.findings for fix in one.fix
    ]
    if word in RENDERED:
        redaction.check_results(render_forms(made))

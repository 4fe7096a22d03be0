"""What the fields of the case document are made of: the kinds of text, times, addresses, counts.

Each text field says whose text it holds, under `text` of its `Meta.extra`:

product   words of Backline: states, names of tables and rules, sentences without a slot
customer  words of the material: names, addresses of files, lines of logs, what people typed
template  a sentence of Backline whose slots hold words of the material
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta


class DocumentRecord(msgspec.Struct):
    """A record of the case document."""


Product = Annotated[str, Meta(extra={"text": "product"})]
Customer = Annotated[str, Meta(extra={"text": "customer"})]
Template = Annotated[str, Meta(extra={"text": "template"})]
Address = Annotated[
    Customer,
    Meta(
        description="Where a member lies: `outer.tgz!inner/member`; each `!` opens an archive. "
        "Empty when there is none."
    ),
]
Stamp = Annotated[Product, Meta(description="ISO 8601 in UTC, or empty when not known.")]
Count = Annotated[int, Meta(ge=0)]
Number = int | float


def one_of(*words: str) -> Meta:
    """Return what the schema says of a field that holds one of some words; reading accepts any."""
    return Meta(extra_json_schema={"enum": list(words)})

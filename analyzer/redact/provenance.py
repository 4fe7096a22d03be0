"""Whose text each field of a document holds, as its record declares it (`analyzer/case/fields.py`).

Words of the product are left as they are, whatever a machine is called; words of the material are searched for names;
in sentences of the product a name that is a word, too, is one only where the record itself speaks of a thing of that name.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from msgspec import Meta, Struct, structs

PRODUCT, CUSTOMER, TEMPLATE = "product", "customer", "template"
# Templates that are nothing but a slot, or an id made of one.
_SLOTS = frozenset(
    ("id", "subject", "subjects", "chart", "explained_by", "explains", "same_as", "was")
)
Plan = Any  # one of the three words, a `Parts` or an `Each`


class Parts(dict[str, Plan]):
    """The plans of the fields of a record, by the names that a file has."""


class Each(list[Plan]):
    """The plan of each item of a list, or of each value of a dictionary; its keys are words of the material."""


@cache
def plan_record(kind: type[Struct]) -> Parts:
    """Return whose text the fields of a record hold."""
    plan = Parts()
    _PLANNED[kind] = plan  # a record may hold records of its own kind
    for field in structs.fields(kind):
        made = _plan_type(field.type)
        plan[field.encode_name] = CUSTOMER if made == TEMPLATE and field.name in _SLOTS else made
        if isinstance(made, Each) and made == [TEMPLATE] and field.name in _SLOTS:
            plan[field.encode_name] = Each([CUSTOMER])
    return plan


_PLANNED: dict[type[Struct], Parts] = {}


def _plan_type(hint: Any) -> Plan:
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        for meta in hint.__metadata__:
            if isinstance(meta, Meta) and meta.extra and "text" in meta.extra:
                return meta.extra["text"]
        return _plan_type(inner[0])
    if origin is Literal:
        return PRODUCT
    if origin in (Union, UnionType):
        plans = [plan for one in inner if (plan := _plan_type(one)) is not None]
        return plans[0] if plans else None
    if origin in (list, tuple, dict):
        plan = _plan_type(inner[-1] if origin is dict else inner[0])
        return None if plan is None else Each([plan])
    if isinstance(hint, type) and issubclass(hint, Struct):
        return _PLANNED.get(hint) or plan_record(hint)
    return CUSTOMER if hint is str else None


def list_texts(value: Any, plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield (whose, text) of all texts of a document of plain values; keys of dictionaries that are names as well."""
    if isinstance(value, str):
        yield plan if isinstance(plan, str) else CUSTOMER, value
    elif isinstance(value, dict):
        if isinstance(plan, Parts):
            for name, inner in value.items():
                yield from list_texts(inner, plan.get(name))
        else:
            for name, inner in value.items():
                yield CUSTOMER, name
                yield from list_texts(inner, plan[0] if plan else None)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from list_texts(inner, plan[0] if isinstance(plan, Each) else plan)

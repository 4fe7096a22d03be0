"""`@dataclass` that costs little at the start: nothing is compiled for a class with few objects.

`dataclasses.dataclass` writes up to eight functions for each class and compiles them while the module is imported,
0.3 ms a class. That was a sixth of a small case, and most of those functions are never called. Here the constructor
is compiled when a class has had some objects, and the other methods share their code. All
else is the standard library's: `fields`, `replace`, `asdict`, `match` and type checkers know these classes. `frozen`,
`slots`, `eq` and `order` are all that it takes.
"""

from __future__ import annotations

import dataclasses
import operator
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from dataclasses import Field, dataclass

    _Init = Callable[..., None]
    _Fields = Sequence[Field[Any]]

__all__ = ["dataclass"]

_ORDER = {"__lt__": operator.lt, "__le__": operator.le, "__gt__": operator.gt, "__ge__": operator.ge}
_NOT_GIVEN = object()
_MISSING: Any = dataclasses.MISSING
FEW = 50  # objects of a class until its constructor is compiled, which takes as long as making a hundred


def lazy_dataclass(
    cls: type | None = None, /, *, frozen: bool = False, slots: bool = False, eq: bool = True, order: bool = False
) -> Any:
    """Give a class what `dataclasses.dataclass` gives it; a method that the class has itself stays."""
    if cls is None:
        return lambda given: lazy_dataclass(given, frozen=frozen, slots=slots, eq=eq, order=order)
    own = set(cls.__dict__)
    cls.__doc__ = cls.__doc__ or cls.__name__  # without one `dataclass` writes the signature, which takes 2 ms
    if "__eq__" in own and cls.__dict__["__hash__"] is None:
        own.discard("__hash__")  # Python sets None beside an `__eq__`
    made: Any = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)(cls)
    fields = dataclasses.fields(made)
    compared = [field.name for field in fields if field.compare]
    methods: dict[str, Any] = {"__init__": _first_init(made, fields, frozen), "__repr__": _repr(fields)}
    if eq:
        methods |= {"__eq__": _comparison(operator.eq, compared), "__hash__": _hash(compared) if frozen else None}
    if order:
        methods |= {name: _comparison(operation, compared) for name, operation in _ORDER.items()}
    if frozen:
        methods |= _guards(made, frozenset(field.name for field in fields))
    if frozen and slots:
        methods |= {"__getstate__": _state, "__setstate__": _set_state}
    for name, method in methods.items():
        if name not in own:
            setattr(made, name, method)
    return made


def _first_init(cls: type, fields: _Fields, frozen: bool) -> _Init:
    """A constructor for the first objects. When they become many, or a call is wrong, the real one takes its place."""
    names = [field.name for field in fields if field.init]
    needed = {one.name for one in fields if one.init and one.default is one.default_factory}  # both are MISSING
    left = FEW

    def first(self: Any, *values: object, **named: object) -> None:
        nonlocal left
        left -= 1
        known = dict(zip(names, values, strict=False)) | named
        if left <= 0 or len(values) + len(named) != len(known) or not needed <= known.keys() <= set(names):
            cls.__init__ = _init(cls, fields, frozen)  # type: ignore[misc]
            cls.__init__(self, *values, **named)  # type: ignore[misc]
            return
        for field in fields:
            if field.name in known:
                object.__setattr__(self, field.name, known[field.name])
            elif callable(field.default_factory):
                object.__setattr__(self, field.name, field.default_factory())
            elif field.default is not _MISSING:
                object.__setattr__(self, field.name, field.default)
        if hasattr(cls, "__post_init__"):
            self.__post_init__()

    first.__name__ = "__init__"
    return first


def _init(cls: type, fields: _Fields, frozen: bool) -> _Init:
    """The constructor, written out as `dataclasses` does: nothing else is as quick for millions of rows."""
    scope: dict[str, Any] = {"_put": object.__setattr__, "_not_given": _NOT_GIVEN}
    parameters, body = ["self"], []
    for field in fields:
        name, default, made = field.name, f"_default_{field.name}", field.default_factory is not _MISSING
        if made or field.default is not _MISSING:
            scope[default] = field.default_factory if made else field.default
        value = f"{default}()" if made else default
        if field.init:
            value = f"{value} if {name} is _not_given else {name}" if made else name
            parameters.append(f"{name}={'_not_given' if made else default}" if default in scope else name)
        elif default not in scope:
            continue
        body.append(f"_put(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    text = f"def __init__({', '.join(parameters)}):\n  " + "\n  ".join(body or ["pass"])
    found: dict[str, Any] = {}
    exec(f"def make({', '.join(scope)}):\n {text}\n return __init__", found)
    init: _Init = found["make"](**scope)
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init


def _repr(fields: _Fields) -> Callable[[object], str]:
    names = [field.name for field in fields if field.repr]

    @recursive_repr()
    def shown(self: object) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({values})"

    return shown


def _values(names: Sequence[str]) -> Callable[[object], Any]:
    """What two objects are compared by; alone, a value is compared as it is, as in a tuple of one."""
    if len(names) > 1:
        return operator.attrgetter(*names)
    return lambda one: tuple(getattr(one, name) for name in names)


def _comparison(operation: Callable[[Any, Any], bool], names: Sequence[str]) -> Callable[[object, object], bool]:
    values = _values(names)

    def compare(self: object, other: object) -> bool:
        return operation(values(self), values(other)) if other.__class__ is self.__class__ else NotImplemented

    return compare


def _hash(names: Sequence[str]) -> Callable[[object], int]:
    values = _values(names)

    def hashed(self: object) -> int:
        return hash(values(self))

    return hashed


def _guards(cls: Any, names: frozenset[str]) -> dict[str, Callable[..., None]]:
    """The two methods that keep an object as it was made."""

    def put(self: object, name: str, value: object) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def delete(self: object, name: str) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return {"__setattr__": put, "__delattr__": delete}


def _state(self: Any) -> list[Any]:
    """For pickle, which cannot set the slots of a frozen object."""
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)


if not TYPE_CHECKING:
    dataclass = lazy_dataclass

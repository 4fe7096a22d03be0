"""What follows from a condition without any data: never true, never false, implied by another.

A condition is cut into comparisons of one value with plain values ("atoms"). All atoms of one
value make a region: bounds, values it must be one of, values it must not be. Whatever is no such
comparison is an atom of its own that is true or false. The answers are careful: "yes" is sure,
"no" means only that it could not be shown. Unknown values change nothing: a condition that is
never true is false or unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from analyzer.facts.database import version_key
from analyzer.rules.language.expression import FLIPPED, OPPOSITE, ExprNode

_MOST = 500  # parts of a condition, names written out; nothing is said of a larger one


@dataclass(frozen=True, slots=True)
class Atom:
    """`key` stands to `values` as `op` says: one of the comparisons, or `in`, or `not in`."""

    key: str
    op: str
    values: tuple[Any, ...]


@dataclass(slots=True)
class Region:
    """The values that one key may have: a bound is (value, whether the value itself belongs)."""

    low: tuple[Any, bool] | None = None
    high: tuple[Any, bool] | None = None
    among: set[Any] | None = None
    never: set[Any] = field(default_factory=set)

    def add_atom(self, atom: Atom) -> None:
        """Narrow the region by an atom."""
        value = atom.values[0]
        if atom.op in ("==", "in"):
            if self.among is None:
                self.among = set(atom.values)
            else:
                self.among = self.among & set(atom.values)
        elif atom.op in ("!=", "not in"):
            self.never |= set(atom.values)
        elif atom.op in (">", ">="):
            bound = (value, atom.op == ">=")
            if self.low is None or (bound[0], not bound[1]) > (self.low[0], not self.low[1]):
                self.low = bound
        else:
            bound = (value, atom.op == "<=")
            if self.high is None or (bound[0], bound[1]) < (self.high[0], self.high[1]):
                self.high = bound

    def has_value(self, value: Any) -> bool:
        """Say whether one value is in the region."""
        if value in self.never or (self.among is not None and value not in self.among):
            return False
        above = self.low is None or value > self.low[0] or (self.low[1] and value == self.low[0])
        below = (
            self.high is None or value < self.high[0] or (self.high[1] and value == self.high[0])
        )
        return bool(above and below)

    @property
    def empty(self) -> bool:
        """Say whether no value can lie in the region."""
        if self.among is not None:
            return not any(self.has_value(value) for value in self.among)
        if self.low is None or self.high is None or self.low[0] < self.high[0]:
            return False
        return not (self.low[0] == self.high[0] and self.has_value(self.low[0]))

    def lies_within(self, other: Region) -> bool:
        """Say whether every value of this region is in the other."""
        if self.among is not None:
            own = [value for value in self.among if self.has_value(value)]
            return all(map(other.has_value, own))
        if other.among is not None:
            point = self.low
            if point is None or point != self.high or not point[1]:
                return False
            return other.has_value(point[0])
        if any(map(self.has_value, other.never)):
            return False
        if other.low is not None:
            if self.low is None:
                return False
            value, included = self.low
            bound, bound_included = other.low
            if (value, not included) < (bound, not bound_included):
                return False
        if other.high is None:
            return True
        return self.high is not None and self.high <= other.high


def is_never(nodes: Iterable[ExprNode]) -> bool:
    """Say whether conditions can never be true together."""
    atoms = []
    for node in nodes:
        if node.size <= _MOST:
            for atom in list_atoms(node):
                atoms.append(atom)
    return any(region.empty for region in _make_regions(atoms).values())


def is_always(node: ExprNode) -> bool:
    """Say whether a condition is never false."""
    if node.size > _MOST:
        return False
    for one in _make_regions(list_atoms(node, negate=True)).values():
        if one.empty:
            return True
    return False


def does_follow(given: Sequence[ExprNode], node: ExprNode) -> bool:
    """Say whether a condition is true whenever all of `given` are true."""
    atoms = []
    for one in given:
        if one.size <= _MOST:
            for atom in list_atoms(one):
                atoms.append(atom)
    return node.size <= _MOST and _does_follow(_make_regions(atoms), node)


def _does_follow(regions: dict[str, Region], node: ExprNode) -> bool:
    """Say whether an expression is true wherever the values lie in these regions."""
    if any(region.empty for region in regions.values()):
        return True
    if node.op == "let":
        return _does_follow(regions, node.args[0])
    if node.op == "and":
        return all(_does_follow(regions, child) for child in node.args)
    if node.op == "or" and any(_does_follow(regions, child) for child in node.args):
        return True
    wanted = _make_regions(list_atoms(node))
    for key, region in wanted.items():
        if not (key in regions and regions[key].lies_within(region)):
            return False
    return True


def list_atoms(node: ExprNode, *, negate: bool = False) -> list[Atom]:
    """Return the atoms that must all hold for a condition (or, with `negate`, its opposite) to be true."""
    if node.op == "let":
        return list_atoms(node.args[0], negate=negate)
    if node.op == "not":
        return list_atoms(node.args[0], negate=not negate)
    if node.op == ("or" if negate else "and"):
        return [atom for child in node.args for atom in list_atoms(child, negate=negate)]
    if node.op == "literal":
        if bool(node.value) != negate:
            return []
        return [Atom("", "in", ())]
    if node.op == "compare":
        return [_make_atom(node, negate=negate)]
    if node.op == "in":
        values = tuple(_read_value(choice) for choice in node.args[1:])
        return [Atom(_write_key(node.args[0]), "not in" if negate else "in", values)]
    return [Atom(_write_key(node), "==", (not negate,))]


def _make_atom(node: ExprNode, *, negate: bool) -> Atom:
    """Return a comparison, or its opposite, by what it compares."""
    left, right = (_resolve_name(child) for child in node.args)
    if negate:
        op = OPPOSITE[node.name]
    else:
        op = node.name
    if left.op == "literal" and right.op == "literal":
        one = _read_value(left)
        two = _read_value(right)
        if op in ("==", "!="):
            compares = bool((one == two) == (op == "=="))
        else:
            compares = bool(
                {"<": one < two, "<=": one <= two, ">": one > two, ">=": one >= two}[op]
            )
        return Atom("", "in", (True,) if compares else ())
    if left.op == "literal":
        left, right, op = right, left, FLIPPED[op]
    if right.op != "literal":
        same = write_expression(left) == write_expression(right)
        if same and op in ("<", ">", "!="):
            return Atom("", "in", ())
        return Atom(f"{write_expression(left)} {op} {write_expression(right)}", "==", (True,))
    value = _read_value(right)
    if left.type == right.type == "int" and op in ("<", ">"):  # of whole numbers `> 4` is `>= 5`
        if op == ">":
            value, op = (value + 1, ">=")
        else:
            value, op = (value - 1, "<=")
    return Atom(_write_key(left), op, (value,))


def _resolve_name(node: ExprNode) -> ExprNode:
    """Return what follows a name."""
    if node.op == "let":
        return _resolve_name(node.args[0])
    return node


def _write_key(node: ExprNode) -> str:
    """Return what an atom is about; text cut from a log line is one thing as number, another as text."""
    kind: str = node.type
    if kind in ("int", "float"):
        kind = "number"
    return f"{write_expression(node)} {kind}"


def _read_value(node: ExprNode) -> Any:
    """Return a plain value in a form that compares as the rule language compares it."""
    if node.type == "version":
        return version_key(str(node.value)) or str(node.value)
    if node.type == "time" and isinstance(node.value, str):
        return node.value.replace("T", " ").rstrip("Z")
    return node.value


def _make_regions(atoms: Iterable[Atom]) -> dict[str, Region]:
    """Return the region that all atoms leave to each thing they compare."""
    regions: dict[str, Region] = {}
    for atom in atoms:
        region = regions.setdefault(atom.key, Region())
        if not atom.values:
            region.among = set()
        else:
            region.add_atom(atom)
    return regions


def write_expression(node: ExprNode) -> str:
    """Return an expression in one spelling, names written out, so that equal ones are equal texts."""
    if node.op == "let":
        return write_expression(node.args[0])
    if node.op == "column":
        return f"{node.name}.{node.column}"
    if node.op == "literal":
        return f"{node.type}:{node.value!r}"
    if node.op in ("row", "seen", "seen_field"):
        return f"{node.op}:{node.name}.{node.column}"
    if node.op == "compare":
        name = node.name
    else:
        name = node.op
    args = [write_expression(child) for child in node.args]
    return f"{name}({', '.join(args)})"

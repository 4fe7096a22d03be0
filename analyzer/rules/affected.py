"""The keys `affected` and `fixed_in` of a rule: ranges of versions, with builds, inside the lines of a product.

    affected:
      esxi: [">=6.5.0 <6.5.0-7388607", "6.7.0"]     # a range from … to before a build, or a whole version
      nsx: ["6.3.3"]
    fixed_in:
      esxi: [6.5.0-7388607, 6.7.0-10302608]

`6.5.0-7388607` is build 7388607 of version 6.5.0; a build is compared only inside its version, for 7.0 U2e has a
higher build than 7.0 U3c. Several ranges of a product mean any of them, several products mean each of them. What comes
of it is a condition like one an author writes under `only`: outside of it a rule does not apply, and where the version
or a build that decides is unknown it cannot tell.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from analyzer.facts.database import version_key
from analyzer.rules.language.checker import check_expression
from analyzer.rules.language.expression import Alias, ExprNode
from analyzer.rules.language.rulefile import FileSpan, RuleItem
from analyzer.rules.model import Join
from analyzer.rules.values import Values

# Product -> the table that states its version and build, and whether the node of the subject is meant.
PRODUCTS = {"esxi": ("esxi.release", True), "nsx": ("nsx.manager", False)}
_NAMES = {"esxi": "ESXi", "nsx": "NSX"}
RANGES = 50
_TERM = re.compile(r"(>=|<=|>|<)?([0-9]{1,6}(?:\.[0-9]{1,6}){1,4})(?:-([0-9]{1,10}))?\Z")
_HELP = 'write ">=6.5.0 <6.5.0-7388607", or "6.7.0" for a whole version'


@dataclass(frozen=True, slots=True)
class Bound:
    """One end of a range: `<` and version, with a build where the version alone does not tell; sign "" is equal."""

    sign: str
    version: str
    build: int | None = None

    @property
    def place(self) -> tuple[str, float]:
        """Sort key: the version, then the build."""
        return version_key(self.version) or "", -1.0 if self.build is None else float(self.build)

    def condition(self, alias: str) -> str:
        """Return the bound as a condition on the row of an alias."""
        sign = self.sign or "=="
        if self.build is None:
            return f'{alias}.version {sign} "{self.version}"'
        same = f'{alias}.version == "{self.version}" and {alias}.build {sign} {self.build}'
        return same if sign == "==" else f'({alias}.version {sign[0]} "{self.version}" or ({same}))'

    def admits(self, other: Bound) -> bool:
        """Say whether a version, with or without a build, lies on the right side of this bound."""
        mine, theirs = self.place, other.place
        if mine[0] == theirs[0] and None in (self.build, other.build):
            return "=" in self.sign or not self.sign
        return {
            "<": theirs < mine,
            "<=": theirs <= mine,
            ">": theirs > mine,
            ">=": theirs >= mine,
        }.get(self.sign, theirs == mine)


Range = tuple[Bound, ...]


def ranges_of(words: str) -> Range:
    """Return the bounds of one range; ValueError when it is none, or when no version lies in it."""
    found = []
    for term in re.sub(r"([<>]=?)\s+", r"\1", words).split():
        match = _TERM.match(term)
        if match is None or version_key(match[2]) is None:
            raise ValueError(f"`{term[:60]}` is not a bound of a range of versions")
        found.append(Bound(match[1] or "", match[2], int(match[3]) if match[3] else None))
    signs = "".join(sorted(bound.sign[:1] or "=" for bound in found))
    if signs not in ("=", "<", ">", "<>"):
        raise ValueError(f"`{words[:60]}` is not a range of versions")
    if signs == "<>":
        low, high = sorted(found, key=lambda bound: bound.sign[0], reverse=True)
        if not low.place < high.place and not (
            low.place == high.place and low.sign + high.sign == ">=<="
        ):
            raise ValueError(f"no version is in `{words[:60]}`")
    return tuple(found)


def read_ranges(values: Values, keys: Mapping[str, RuleItem], what: str) -> dict[str, list[Range]]:
    """Return the ranges under a key by product; raises BadRuleError."""
    item = keys.get(what)
    if item is None or item.value is None:
        return {}
    found = {}
    for product, body in values.text.mapping(item, PRODUCTS, what).items():
        if PRODUCTS[product][0] not in values.tables:
            raise values.text.error(
                f"no parser makes table `{PRODUCTS[product][0]}`", item.keys[product]
            )
        several = body.value if isinstance(body.value, list) else [body]
        if not 1 <= len(several) <= RANGES:
            raise values.text.error(f"`{what}` has 1 to {RANGES} versions of a product", body.place)
        ranges = []
        for child in several:
            try:
                bounds = ranges_of(values.text.string(child, what))
            except ValueError as error:
                raise values.text.error(str(error), child.place, _HELP) from None
            if what == "fixed_in" and (len(bounds) > 1 or bounds[0].sign):
                message = "`fixed_in` names versions, not ranges"
                raise values.text.error(message, child.place, "write 6.5.0-7388607")
            ranges.append(bounds)
        found[product] = ranges
    return found


def check_fixed(values: Values, keys: Mapping[str, RuleItem]) -> None:
    """Refuse a version that is said to be affected and to have the fix."""
    affected, fixed = read_ranges(values, keys, "affected"), read_ranges(values, keys, "fixed_in")
    for product, versions in fixed.items():
        for (version,) in versions:
            inside = [
                one
                for one in affected.get(product, ())
                if all(bound.admits(version) for bound in one)
            ]
            if inside:
                release = f"{version.version}{'' if version.build is None else f'-{version.build}'}"
                raise values.text.error(
                    f"{product} {release} is affected and fixed at once", keys["fixed_in"].place
                )


def build_gate(
    values: Values, keys: Mapping[str, RuleItem], joins: list[Join], what: str = "affected"
) -> ExprNode | None:
    """Return the condition of the ranges under a key, `affected` of a rule or `releases` of a step, None without it.

    Joins the rows that state versions where none does.
    """
    parts = []
    for product, several in read_ranges(values, keys, what).items():
        alias = _find_stating_row(values, keys[what], product, joins)
        ways = [" and ".join(bound.condition(alias) for bound in one) for one in several]
        parts.append(
            ways[0] if len(ways) == 1 else "(" + " or ".join(f"({way})" for way in ways) + ")"
        )
    if not parts:
        return None
    text = " and ".join(parts)
    return _drop_places(
        check_expression(RuleItem(text, FileSpan(), text), values.text, values.scope, want="bool")
    )


def _find_stating_row(values: Values, item: RuleItem, product: str, joins: list[Join]) -> str:
    """Return the alias of the one row that states the version of a product, joined when the rule has none."""
    table, own_node = PRODUCTS[product]
    for name, alias in values.scope.aliases.items():
        if alias.table.name == table and not alias.many:
            return name
    subject = next(iter(values.scope.aliases.values())).table
    if own_node and subject.product not in ("esxi", "esxtop"):
        message = (
            f"a row of `{subject.spoken_name}` is not on a host, whose version `{product}` asks for"
        )
        raise values.text.error(
            message, item.place, "join the host the rule means, and write the condition in `only`"
        )
    alias = Alias(f"{product}_release", values.tables[table])
    values.scope.aliases[alias.name] = alias
    joins.append(Join(alias, (), any_node=not own_node))
    return alias.name


def releases_in_words(values: Values, keys: Mapping[str, RuleItem]) -> str:
    """Return the words before a step of an unknown release: `if ESXi is from 7.0.0 before 7.0.2 build 18426014`."""
    several = range_texts(read_ranges(values, keys, "releases"))
    return "if " + " and ".join(
        f"{_NAMES[product]} is {' or '.join(words)}" for product, words in several.items()
    )


def join_conditions(one: ExprNode | None, two: ExprNode | None) -> ExprNode | None:
    """Return the condition that asks for both of two, where there are two."""
    if one is None or two is None:
        return two if one is None else one
    text = f"{one.text} and ({two.text})"
    size, level = 1 + one.size + two.size, max(one.level, two.level)
    return ExprNode("and", "bool", text, (one, two), size=size, level=level)


def _drop_places(node: ExprNode) -> ExprNode:
    """Return a condition no part of which is in the rule file."""
    return replace(node, args=tuple(_drop_places(child) for child in node.args), place=None)


def range_texts(several: Mapping[str, list[Range]]) -> dict[str, list[str]]:
    """Return ranges as words: product -> `from 6.5.0 to before 6.5.0 build 7388607`."""
    words = {">=": "from ", ">": "after ", "<": "before ", "<=": "up to ", "": ""}
    found: dict[str, list[str]] = {}
    for product, ranges in several.items():
        texts = found[product] = []
        for bounds in ranges:
            parts = []
            for bound in bounds:
                build = f" build {bound.build}" if bound.build is not None else ""
                parts.append(words[bound.sign] + bound.version + build)
            texts.append(" ".join(parts))
    return found

"""Which numbers of a rule are amounts and get separators: 54,807,350, but port 33554464."""

from __future__ import annotations

from analyzer.language.expression import ExprNode, NameScope

_KEEPS = frozenset(("let", "neg", "+", "-", "*", "least", "greatest", "sum", "max", "min"))


def is_amount(node: ExprNode, scope: NameScope) -> bool:
    """Tell whether a whole number counts or measures something.

    A column is an amount when its table declares a unit; ports, builds, ids and settings have none. A number
    that a rule names, and what is reckoned from amounts alone, is one as well.
    """
    if node.type != "int":
        return False
    if node.op == "count" or (node.op == "seen_field" and node.column == "count"):
        return True
    if node.op == "column":
        alias = scope.aliases.get(node.name, scope.bare)
        column = alias.column(node.column) if alias is not None else None
        return column is not None and bool(column.unit)
    if node.op == "literal":  # a number that the rule's author gave a name
        return True
    return node.op in _KEEPS and all(is_amount(part, scope) for part in node.args)

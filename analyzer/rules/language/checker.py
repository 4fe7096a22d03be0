"""The expression language of rules: Python's own syntax, read by `ast`, checked by a whitelist.

Names, numbers, texts, comparisons (also chained), `and or not`, `in [..]`, `+ - * /` and the
functions sum, max, min, mean, count, share, any, all and known; nothing else. Every name is
checked against the declared tables, every operand against its type, before any SQL is made.
"""

from __future__ import annotations

import ast
import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace

from analyzer.artefacts.tables import Column, ColumnValueError, convert_cell
from analyzer.facts.database import version_key
from analyzer.rules.language.expression import (
    FUNCTIONS,
    PLAIN_KINDS,
    SEEN_FIELDS,
    Alias,
    ExprNode,
    NameScope,
    Type,
)
from analyzer.rules.language.rulefile import (
    BadRuleError,
    FileSpan,
    RuleItem,
    RuleText,
    did_you_mean,
)

LENGTH, SIZE = 4096, 4000  # characters of one expression; nodes of it with all names written out
_NUMBERS = ("int", "float")
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
_ARITHMETIC: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
}


def check_expression(
    item: RuleItem, rule: RuleText, scope: NameScope, *, want: str = "", many: bool = False
) -> ExprNode:
    """Return the checked expression of a scalar; raises BadRuleError with the place of the mistake.

    want  "bool" when the value must be true or false, "" for any type
    many  True when a column of many rows may stand without an aggregate (evidence, chart)
    """
    if isinstance(item.value, bool | int | float):
        text = (
            {True: "true", False: "false"}.get(item.value, item.text)
            if isinstance(item.value, bool)
            else item.text
        )
        item = RuleItem(item.value, item.place, text, item.quoted)
    elif not isinstance(item.value, str) or not item.value.strip():
        raise rule.error(f"an expression is expected here, not {item.what}", item.place)
    node = _Checker(item, rule, scope).check_text()
    if want == "bool" and node.type != "bool":
        raise rule.error(
            f"this must be true or false, but `{quote_expression(node.text)}` is {TYPES[node.type]}",
            item.place,
        )
    if not many:
        require_scalar(node, item, rule)
    return node


def require_scalar(node: ExprNode, item: RuleItem, rule: RuleText) -> None:
    """Refuse a column of many rows that no aggregate folds."""
    if not node.many:
        return
    name = min(node.many)
    start = max(0, item.text.find(f"{name}."))
    shown = item.text[start:].split(" ")[0].rstrip("),]}:")
    raise rule.error(
        f"`{name}` has many rows; wrap it: sum(), max(), min(), mean(), count(), share(), any() or all()",
        rule.within(item, start, start + len(shown)),
    )


class _Checker:
    """Walks one syntax tree; every refusal carries the place in the file."""

    def __init__(self, item: RuleItem, rule: RuleText, scope: NameScope) -> None:
        self.item, self.rule, self.scope = item, rule, scope
        self.lead = len(item.text) - len(item.text.lstrip())
        self.source = item.text.strip()
        self._visited: dict[
            int, ExprNode
        ] = {}  # what was visited: twice at each level would be 2^depth times

    def check_text(self) -> ExprNode:
        if len(self.source) > LENGTH:
            raise self.rule.error(f"longer than {LENGTH} characters", self.item.place)
        flat = " ".join(self.source.split("\n"))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter(
                    "ignore"
                )  # a stray backslash in a text is the author's business
                tree = ast.parse(flat, mode="eval")
            return self.visit_node(tree.body)
        except SyntaxError as error:
            start = max(0, (error.offset or 1) - 1)
            end = max(start + 1, (error.end_offset or 0) - 1)
            raise self.rule.error(
                f"not an expression: {error.msg}", self._find_place(start, end), syntax_help(flat)
            ) from None
        except (RecursionError, MemoryError, ValueError):
            raise self.rule.error(
                "not an expression: too deep or too large", self.item.place
            ) from None

    def visit_node(self, node: ast.expr) -> ExprNode:
        handler: Callable[[ast.expr], ExprNode] | None = getattr(
            self, f"_visit_{type(node).__name__.lower()}", None
        )
        if handler is None:
            raise self.make_error(
                node,
                f"not allowed here: {PLAIN.get(type(node).__name__, type(node).__name__.lower())}",
            )
        if id(node) not in self._visited:
            self._visited[id(node)] = handler(node)
        return self._visited[id(node)]

    def make_error(self, node: ast.expr, message: str, help: str = "") -> BadRuleError:
        start, end = self._find_span(node)
        return self.rule.error(message, self._find_place(start, end), help)

    def _find_span(self, node: ast.expr) -> tuple[int, int]:
        raw = self.source.replace("\n", " ").encode()
        start = len(raw[: node.col_offset].decode(errors="replace"))
        end = len(raw[: node.end_col_offset or 0].decode(errors="replace"))
        return start, max(start + 1, end)

    def _find_place(self, start: int, end: int) -> FileSpan:
        return self.rule.within(self.item, start + self.lead, end + self.lead)

    def _cut_text(self, node: ast.expr) -> str:
        start, end = self._find_span(node)
        return " ".join(self.source[start:end].split())

    def _make_node(
        self,
        node: ast.expr,
        op: str,
        type_: Type,
        *args: ExprNode,
        name: str = "",
        value: object = None,
    ) -> ExprNode:
        size = 1 + sum(child.size for child in args)
        if size > SIZE:
            raise self.make_error(node, f"larger than {SIZE} parts once its names are written out")
        return ExprNode(
            op,
            type_,
            self._cut_text(node),
            args,
            name=name,
            value=value if isinstance(value, bool | int | float | str) else None,
            many=frozenset().union(*(child.many for child in args)),
            size=size,
            level=max((child.level for child in args), default=0),
        )

    def _visit_constant(self, node: ast.Constant) -> ExprNode:
        value = node.value
        if isinstance(value, bool):
            return self._make_node(node, "literal", "bool", value=value)
        if isinstance(value, int) and abs(value) < 10**18:
            return self._with_place(node, "int", value)
        if isinstance(value, float) and math.isfinite(value):
            return self._with_place(node, "float", value)
        if isinstance(value, str) and value.isprintable():
            return self._with_place(node, "str", value)
        if value is None:
            raise self.make_error(
                node, "not allowed here: None", "use known(x) to test whether a value is there"
            )
        raise self.make_error(node, f"not allowed here: {type(value).__name__} {str(value)[:30]}")

    def _with_place(self, node: ast.expr, type_: Type, value: float | str) -> ExprNode:
        """Return a number or a text that knows where it is."""
        return ExprNode(
            "literal",
            type_,
            self._cut_text(node),
            value=value,
            place=self._find_place(*self._find_span(node)),
        )

    def _visit_name(self, node: ast.Name) -> ExprNode:
        name, scope = node.id, self.scope
        if name in ("true", "false"):
            return self._make_node(node, "literal", "bool", value=name == "true")
        if name in scope.lets:
            scope.used.add(name)
            target = scope.lets[name]
            return self._make_node(node, "let", target.type, target, name=name)
        if name in scope.seen:
            scope.used.add(name)
            return self._make_node(node, "seen", "bool", name=name)
        if scope.bare is not None and name in scope.bare.columns():
            return self._make_column(node, scope.bare, name)
        if name in scope.aliases:
            raise self.make_error(
                node, f"`{name}` is a row, not a value", f"write {name}.<column>, or known({name})"
            )
        bare = scope.bare.columns() if scope.bare is not None else []
        raise self.make_error(
            node, f"unknown name `{name}`", did_you_mean(name, [*bare, *scope.names(), *FUNCTIONS])
        )

    def _visit_attribute(self, node: ast.Attribute) -> ExprNode:
        if not isinstance(node.value, ast.Name):
            raise self.make_error(node, "not allowed here: a second dot")
        name, column = node.value.id, node.attr
        if name in self.scope.seen:
            asked = self.scope.seen[name]
            if column not in SEEN_FIELDS and column not in asked:
                raise self._bad_attribute(
                    node, f"`{name}` has no `{column}`", [*SEEN_FIELDS, *asked]
                )
            self.scope.used.add(name)
            if column in asked:
                return self._make_node(node, "literal", PLAIN_KINDS[column], value=asked[column])
            found = self._make_node(node, "seen_field", SEEN_FIELDS[column], name=name)
            return _with_column(found, column)
        alias = self.scope.aliases.get(name)
        if alias is None:
            raise self.make_error(
                node.value, f"unknown name `{name}`", did_you_mean(name, self.scope.names())
            )
        return self._make_column(node, alias, column)

    def _make_column(self, node: ast.expr, alias: Alias, column: str) -> ExprNode:
        declared = alias.column(column)
        if declared is None and column not in alias.groups:
            raise self._bad_attribute(
                node, f"table behind `{alias.name}` has no column `{column}`", alias.columns()
            )
        type_: Type = declared.kind if declared is not None else "group"
        found = _with_column(self._make_node(node, "column", type_, name=alias.name), column)
        return _with_many(found, alias.name) if alias.many else found

    def _bad_attribute(
        self, node: ast.expr, message: str, known: Mapping[str, object] | list[str]
    ) -> BadRuleError:
        start, end = self._find_span(node)
        word = node.attr if isinstance(node, ast.Attribute) else ""
        place = self._find_place(end - len(word), end) if word else self._find_place(start, end)
        near = did_you_mean(word or self._cut_text(node), known)
        return self.rule.error(message, place, near)

    def _visit_boolop(self, node: ast.BoolOp) -> ExprNode:
        args = [self._visit_bool_part(value) for value in node.values]
        return self._make_node(node, "and" if isinstance(node.op, ast.And) else "or", "bool", *args)

    def _visit_bool_part(self, node: ast.expr) -> ExprNode:
        found = self.visit_node(node)
        if found.type != "bool":
            raise self.make_error(
                node, f"`{quote_expression(found.text)}` is {TYPES[found.type]}, not true or false"
            )
        return found

    def _visit_unaryop(self, node: ast.UnaryOp) -> ExprNode:
        if isinstance(node.op, ast.Not):
            return self._make_node(node, "not", "bool", self._visit_bool_part(node.operand))
        if isinstance(node.op, ast.USub | ast.UAdd):
            found = self._visit_number(node.operand)
            if isinstance(node.op, ast.UAdd):
                return found
            if found.op == "literal" and isinstance(found.value, int | float):
                return self._with_place(node, found.type, -found.value)
            return self._make_node(node, "neg", found.type, found)
        raise self.make_error(node, "not allowed here: ~")

    def _visit_number(self, node: ast.expr) -> ExprNode:
        found = self.visit_node(node)
        if found.type not in (*_NUMBERS, "group"):
            raise self.make_error(
                node, f"`{quote_expression(found.text)}` is {TYPES[found.type]}, not a number"
            )
        return _with_type(found, "float") if found.type == "group" else found

    def _visit_binop(self, node: ast.BinOp) -> ExprNode:
        op = _ARITHMETIC.get(type(node.op))
        if op is None:
            raise self.make_error(
                node, f"not allowed here: operator {PLAIN.get(type(node.op).__name__, '')}".rstrip()
            )
        left, right = self.visit_node(node.left), self.visit_node(node.right)
        if op == "-" and left.type == right.type == "time":
            return self._make_node(node, "-", "float", left, right)
        left, right = self._visit_number(node.left), self._visit_number(node.right)
        whole = op != "/" and left.type == right.type == "int"
        return self._make_node(node, op, "int" if whole else "float", left, right)

    def _visit_compare(self, node: ast.Compare) -> ExprNode:
        operands = [node.left, *node.comparators]
        parts = [
            self._compare_pair(node, operator, left, right)
            for operator, left, right in zip(node.ops, operands, operands[1:], strict=False)
        ]
        return parts[0] if len(parts) == 1 else self._make_node(node, "and", "bool", *parts)

    def _compare_pair(
        self, node: ast.Compare, operator: ast.cmpop, left: ast.expr, right: ast.expr
    ) -> ExprNode:
        whole: ast.expr = node
        if len(node.ops) > 1:  # the text of one link of a chain
            whole = ast.copy_location(ast.Compare(left, [operator], [right]), left)
            whole.end_col_offset = right.end_col_offset
        if isinstance(operator, ast.In | ast.NotIn):
            negated = isinstance(operator, ast.NotIn)
            if not isinstance(right, ast.List | ast.Tuple | ast.Set) or not right.elts:
                raise self.make_error(
                    right, "`in` needs a list of values", 'write name in ["a", "b"]'
                )
            found = self.visit_node(left)
            choices = []
            for element in right.elts:
                value = self.visit_node(element)
                if value.op != "literal":
                    raise self.make_error(element, "`in` needs plain values in its list")
                choices.append(self._make_alike(element, found, value)[1])
            first = self._make_alike(whole, found, choices[0])[0]
            inside = self._make_node(whole, "in", "bool", first, *choices)
            return self._make_node(whole, "not", "bool", inside) if negated else inside
        sign = _COMPARE.get(type(operator))
        if sign is None:
            raise self.make_error(whole, "not allowed here: is", "compare with ==, or use known(x)")
        one, two = self._make_alike(whole, self.visit_node(left), self.visit_node(right))
        if one.type == "bool" and sign not in ("==", "!="):
            raise self.make_error(whole, f"true and false have no order: {sign}")
        return self._make_node(whole, "compare", "bool", one, two, name=sign)

    def _make_alike(
        self, node: ast.expr, one: ExprNode, two: ExprNode
    ) -> tuple[ExprNode, ExprNode]:
        """Return both operands in types that compare, or refuse."""
        if one.type == "group" or two.type == "group":
            other = two.type if one.type == "group" else one.type
            target: Type = "float" if other in _NUMBERS else ("str" if other == "group" else other)
            return tuple(
                _with_type(part, target) if part.type == "group" else part for part in (one, two)
            )  # type: ignore[return-value]
        types = {one.type, two.type}
        if len(types) == 1 or types <= set(_NUMBERS):
            return one, two
        for kind in ("version", "time"):
            if kind in types and types <= {kind, "str"}:
                return self._convert_literal(node, one, kind), self._convert_literal(
                    node, two, kind
                )
        if "version" in types and types & set(_NUMBERS):
            number = one if one.type in _NUMBERS else two
            raise self.make_error(
                node,
                "a version cannot be compared with a number",
                f'write version: "{number.text}"',
            )
        help_text = ""
        if "str" in types and types & set(_NUMBERS):
            number = one if one.type in _NUMBERS else two
            help_text = f'write "{number.text}" to compare text' if number.op == "literal" else ""
        raise self.make_error(
            node, f"{TYPES[one.type]} cannot be compared with {TYPES[two.type]}", help_text
        )

    def _convert_literal(self, node: ast.expr, found: ExprNode, kind: str) -> ExprNode:
        if found.type == kind:
            return found
        if found.op != "literal" or not isinstance(found.value, str):
            raise self.make_error(
                node, f"{TYPES[found.type]} cannot be compared with {TYPES[kind]}"
            )
        if kind == "version":
            if version_key(found.value) is None:
                raise self.make_error(
                    node, f"{found.text} is not a version", 'write it like "6.3.4"'
                )
            return _with_type(found, "version")
        try:
            when = convert_cell(Column("time", "time", ""), found.value)
        except ColumnValueError:
            raise self.make_error(
                node, f"{found.text} is not a time", 'write it like "2017-10-02 08:05:00"'
            ) from None
        return replace(found, type="time", value=when)

    def _visit_call(self, node: ast.Call) -> ExprNode:
        if not isinstance(node.func, ast.Name):
            raise self.make_error(node, "not allowed here: call")
        name = node.func.id
        if name not in FUNCTIONS:
            raise self.make_error(
                node.func, f"unknown function `{name}`", did_you_mean(name, FUNCTIONS)
            )
        if node.keywords or any(isinstance(arg, ast.Starred) for arg in node.args):
            raise self.make_error(node, f"{name}() takes plain values only")
        if name in ("min", "max") and len(node.args) > 1:
            args = [self._visit_number(arg) for arg in node.args]
            type_: Type = "int" if all(arg.type == "int" for arg in args) else "float"
            return self._make_node(node, {"min": "least", "max": "greatest"}[name], type_, *args)
        if len(node.args) != 1:
            raise self.make_error(node, f"{name}() takes one value, not {len(node.args)}")
        argument = node.args[0]
        if (
            isinstance(argument, ast.Name)
            and argument.id in self.scope.aliases
            and name in ("known", "count")
        ):
            alias = self.scope.aliases[argument.id]
            found = self._make_node(argument, "row", "bool", name=alias.name)
            if alias.many:
                found = _with_many(found, alias.name)
        else:
            found = self.visit_node(argument)
        if name == "known":
            return self._make_node(node, "known", "bool", found)
        return self._fold_rows(node, name, found)

    def _fold_rows(self, node: ast.Call, name: str, found: ExprNode) -> ExprNode:
        if not found.many:
            raise self.make_error(
                node,
                f"{name}() works over many rows, but `{quote_expression(found.text)}` has only one",
                "give the join `rows: many`, or leave the function out",
            )
        if len(found.many) > 1:
            names = " and ".join(f"`{alias}`" for alias in sorted(found.many))
            raise self.make_error(
                node, f"{name}() can use only one table of many rows, not {names}"
            )
        if name in ("any", "all", "share") and found.type != "bool":
            raise self.make_error(
                node,
                f"{name}() needs a condition; `{quote_expression(found.text)}` is {TYPES[found.type]}",
            )
        if name in ("sum", "mean") and found.type not in _NUMBERS:
            raise self.make_error(
                node,
                f"{name}() needs a number; `{quote_expression(found.text)}` is {TYPES[found.type]}",
            )
        if name in ("max", "min") and found.type not in (*_NUMBERS, "time", "str"):
            wants = "a number, a time or a text"
            raise self.make_error(
                node,
                f"{name}() needs {wants}; `{quote_expression(found.text)}` is {TYPES[found.type]}",
            )
        type_: Type = "bool"
        if name in ("share", "mean"):
            type_ = "float"
        elif name == "count":
            type_ = "int"
        elif name in ("sum", "max", "min"):
            type_ = found.type
        made = self._make_node(node, name, type_, found, name=min(found.many))
        return ExprNode(
            made.op,
            made.type,
            made.text,
            made.args,
            made.name,
            size=made.size,
            level=made.level + 1,
        )


def _with_column(node: ExprNode, column: str) -> ExprNode:
    return ExprNode(node.op, node.type, node.text, node.args, node.name, column, many=node.many)


def _with_many(node: ExprNode, alias: str) -> ExprNode:
    return ExprNode(
        node.op, node.type, node.text, node.args, node.name, node.column, many=frozenset({alias})
    )


def _with_type(node: ExprNode, type_: Type) -> ExprNode:
    return replace(node, type=type_)


# --- words of a message ---
#
# Wording of the checker: types, Python features that rules lack, operators of other languages.


TYPES: dict[str, str] = {
    "bool": "true or false",
    "int": "a number",
    "float": "a number",
    "str": "text",
    "version": "a version",
    "time": "a time",
    "group": "text of a log line",
}
PLAIN = {
    "Lambda": "lambda",
    "IfExp": "if … else",
    "Subscript": "[…]",
    "List": "a list",
    "Tuple": "a comma",
    "Dict": "a dictionary",
    "JoinedStr": "an f-string",
    "ListComp": "a loop",
    "GeneratorExp": "a loop",
    "SetComp": "a loop",
    "DictComp": "a loop",
    "NamedExpr": ":=",
    "Await": "await",
    "Starred": "*",
    "Mod": "%",
    "Pow": "**",
    "FloorDiv": "//",
    "BitAnd": "& (write and)",
    "BitOr": "| (write or)",
    "BitXor": "^",
    "LShift": "<<",
    "RShift": ">>",
    "MatMult": "@",
}


def quote_expression(text: str) -> str:
    """Return an expression as a message quotes it."""
    return text if len(text) <= 60 else text[:59] + "…"


def syntax_help(text: str) -> str:
    """Return what helps with a text that Python cannot read, "" when that is not clear."""
    if "&&" in text or "||" in text or "!" in text.replace("!=", ""):
        return "write and, or, not"
    if "=" in text.replace("==", "").replace("!=", "").replace("<=", "").replace(">=", ""):
        return "compare with =="
    return ""

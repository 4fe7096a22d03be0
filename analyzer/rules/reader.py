"""From the tree of a rule file to a Rule: keys, kinds of value, names, types, patterns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from analyzer.artefacts.tables import Table
from analyzer.case.verdicts import CONFIDENCES, SEVERITIES
from analyzer.rules import affected
from analyzer.rules.bounds import check_entries, check_size
from analyzer.rules.keys import (
    FIX_KEYS,
    GRADE_KEYS,
    ID,
    JOIN_KEYS,
    KEYS,
    NEEDED,
    NOTE_KEYS,
    OUTCOME_KEYS,
    POPULATION_KEYS,
)
from analyzer.rules.language.checker import check_expression
from analyzer.rules.language.command import parse_command
from analyzer.rules.language.expression import Alias, ExprNode, NameScope
from analyzer.rules.language.rulefile import FileSpan, RuleItem, RuleText, did_you_mean
from analyzer.rules.language.template import Template, parse_template
from analyzer.rules.model import (
    PRODUCTS,
    STATUSES,
    Grade,
    Join,
    Note,
    Outcome,
    Population,
    Rule,
    Step,
    ThresholdError,
)
from analyzer.rules.own import find_scopes
from analyzer.rules.short import expand_short, is_short
from analyzer.rules.short_examples import all_examples, asked_of
from analyzer.rules.tables import TableReader
from analyzer.rules.values import Values

_TAG_HELP = "write words of a-z and 0-9 with dashes, like vmxnet3"
MANY_LETS = 100
ALWAYS = ExprNode("literal", "bool", "true", value=True)


class RuleReader(TableReader):
    """Reads one rule file; the first mistake is raised as BadRuleError."""

    def rule(self, thresholds: Mapping[str, float]) -> Rule:
        """Return the rule; signatures are read first, names are bound in the order each, join, logs, seen, let.

        `thresholds` puts other numbers in the place of named ones; ThresholdError where that cannot be.
        """
        tree = self.text.tree()
        self.text.store_tree(tree)
        self.text.mapping(tree, KEYS, "the rule")
        keys = self._long_keys(tree)
        self.rule_id = self._read_word(
            keys["rule"], ID, "an id", "write words of a-z and 0-9 with dashes, like kb-2039495"
        )
        self._read_signatures(keys.get("logs"))
        each = self._read_each(keys["each"])
        self.scope.bare = each if is_short(tree) else None
        joins = self.joins = self._read_joins(keys.get("join"))
        self._free_names(keys.get("logs"))
        seen = self._read_seen(keys.get("seen"), self.logs)
        population = self._read_population(keys["population"]) if "population" in keys else None
        affected.check_fixed(self, keys)
        gate = affected.build_gate(self, keys, joins)
        only = affected.join_conditions(
            gate, self._read_condition(keys["only"]) if "only" in keys else None
        )
        lets, named = self._read_lets(keys.get("let"), thresholds)
        grades = list(map(self._read_grade, self._read_list(keys.get("grade"), "grade")))
        rule = Rule(
            id=self.rule_id,
            title=self._read_line(keys["title"], "title"),
            each=each,
            when=self._read_condition(keys["when"]),
            outcomes=self._read_outcomes(keys["outcomes"], graded=bool(grades)),
            grades=grades,
            subject=self._read_subject(keys.get("subject"), each),
            object=None,
            text=self.text,
            joins=joins,
            fact=fact_alias(self, keys.get("fact"), joins),
            logs=self.logs,
            seen=seen,
            population=population,
            only=only,
            lets=lets,
            thresholds=named,
        )
        self._read_rest(rule, tree, keys, thresholds)
        return rule

    def _read_rest(
        self, rule: Rule, tree: RuleItem, keys: dict[str, RuleItem], thresholds: Mapping[str, float]
    ) -> None:
        """Read what stands around the conditions; examples are read when they are asked for."""
        rule.hits = list(self.hits.values())
        self._check_distinct(rule, keys.get("seen"))
        if unknown := next((name for name in thresholds if name not in rule.thresholds), ""):
            raise _no_threshold(rule, unknown)
        rule.affected = affected.range_texts(affected.read_ranges(self, keys, "affected"))
        rule.fixed_in = affected.range_texts(affected.read_ranges(self, keys, "fixed_in"))
        if things := self._read_things(keys.get("object")):
            rule.object, *rule.rests_on = things
        own = rule.each.table.declared_table.product
        rule.product = self._read_choice(
            keys.get("product"), PRODUCTS, "product", own if own in PRODUCTS else ""
        )
        self._read_head(rule, keys)
        rule.notes = [self._read_note(item) for item in self._read_list(keys.get("notes"), "notes")]
        rule.evidence = [
            check_expression(item, self.text, self.scope, many=True)
            for item in self._read_list(keys.get("evidence"), "evidence")
        ]
        rule.chart = [
            self._read_charted(item) for item in self._read_list(keys.get("chart"), "chart")
        ]
        rule.fix = [self._read_fix(item) for item in self._read_list(keys.get("fix"), "fix")]
        rule.caution = self._read_line(keys.get("caution"), "caution")
        rule.not_this = self._read_lines(keys.get("not_this"), "not_this")
        rule.explained_by = self._read_lines(keys.get("explained_by"), "explained_by")
        rule.ask = self._read_ask(keys.get("ask"))
        check_size(self.text, rule)
        declared = {name: table for name, table in self.tables.items() if table.given is None}
        rule.read_examples = partial(all_examples, asked_of(tree), declared)

    def _long_keys(self, tree: RuleItem) -> dict[str, RuleItem]:
        """Return the keys of the long form, whichever the file is written in; none that is needed is missing."""
        keys: dict[str, RuleItem] = expand_short(self.text, tree).value
        check_entries(self.text, keys)
        for key in NEEDED:
            if key not in keys:
                raise self.text.error(f"key `{key}` is missing", FileSpan(1, 1))
        return keys

    def _check_distinct(self, rule: Rule, item: RuleItem | None) -> None:
        """Refuse a count of different values of what tells the subjects apart: the lines of one subject have one."""
        for name, scope in find_scopes(rule).items():
            seen = rule.seen[name]
            own = {column: scope.keys[place].mine for place, column in scope.of(seen.logs[0])}
            if seen.distinct in own and item is not None:
                place = item.value[name].value["distinct"].place
                message = f"the lines of one subject have one `{seen.distinct}`: `{name}` looks at those alone"
                instead = f"any(every.{seen.distinct} != {own[seen.distinct]})"
                advice = f"join `{seen.logs[0]}` as `every` with `by: []`, rows: many, and write {instead}"
                raise self.text.error(message, place, advice)

    def _read_head(self, rule: Rule, keys: dict[str, RuleItem]) -> None:
        rule.kb = self._read_numbers(keys.get("kb"), "kb")
        rule.issues = self._read_numbers(keys.get("issues"), "issues")
        rule.source = self._read_lines(keys.get("source"), "source")
        rule.status = self._read_choice(keys.get("status"), STATUSES, "status", "test")
        rule.replaced_by = self._read_line(keys.get("replaced_by"), "replaced_by")
        rule.revised = self._read_line(keys.get("revised"), "revised")
        rule.needs = self._read_line(keys.get("needs"), "needs")
        rule.owner = self._read_line(keys.get("owner"), "owner")
        rule.tags = [
            self._read_word(tag, ID, "a tag", _TAG_HELP)
            for tag in self._read_list(keys.get("tags"), "tags")
        ]
        rule.proven = self._read_line(keys.get("proven"), "proven")
        rule.checked = self._read_line(keys.get("checked"), "checked")
        rule.replaces = self._read_lines(keys.get("replaces"), "replaces")
        rule.about = self._read_line(keys.get("about"), "about")

    def _read_things(self, item: RuleItem | None) -> list[Template]:
        """Return the texts that name the affected thing, and after it what that rests on."""
        several = item is not None and isinstance(item.value, list)
        things = self._read_list(item, "object") if several else [item] if item is not None else []
        return [parse_template(one, self.text, self.scope) for one in things]

    # -- names: each, join, logs, seen, let

    def _read_joins(self, item: RuleItem | None) -> list[Join]:
        joins: list[Join] = []
        if item is None or item.value is None:
            return joins
        if not isinstance(item.value, dict):
            raise self.text.error(f"join must be a mapping, not {item.what}", item.place)
        for name, body in item.value.items():
            joins.append(self._read_join(self._read_name(name, item.keys[name]), body))
        return joins

    def _read_join(self, name: str, item: RuleItem) -> Join:
        keys = self.text.mapping(item, JOIN_KEYS, f"join `{name}`")
        if "table" not in keys:
            raise self.text.error(f"join `{name}` has no table", item.place)
        table = self._rows_of(self._read_line(keys["table"], "table"), keys["table"].place)
        rows = self._read_choice(keys.get("rows"), ("one", "many", "each"), "rows", "one")
        check_join(self.text, table, rows, keys)
        alias = Alias(name, table, rows == "many")
        by = self._read_by(keys.get("by"), alias)
        crosses = any(
            "node" in (mine.rpartition(".")[2], theirs) and mine != theirs for mine, theirs in by
        )
        crosses = crosses or (table.signature in self.logs and self.logs[table.signature].any_node)
        crosses = crosses or table.given is not None  # it belongs to no node
        nodes = self._read_choice(
            keys.get("nodes"), ("same", "any"), "nodes", "any" if crosses else "same"
        )
        single = {key: value for key, value in self.scope.aliases.items() if not value.many}
        where = None
        if "where" in keys:
            scope = NameScope({**single, name: Alias(name, table)})
            where = check_expression(keys["where"], self.text, scope, want="bool")
        self.scope.aliases[name] = alias
        return Join(alias, by, nodes == "any", where, rows == "each")

    def _read_by(self, item: RuleItem | None, alias: Alias) -> tuple[tuple[str, str], ...]:
        if item is None or item.value is None:
            return ()
        if isinstance(item.value, dict):
            pairs = [(key, child, item.keys[key]) for key, child in item.value.items()]
        else:
            children = item.value if isinstance(item.value, list) else [item]
            pairs = [(self._read_line(child, "by"), child, child.place) for child in children]
        found = []
        for mine, child, place in pairs:
            theirs = self._read_line(child, "by")
            found.append((self._check_pair(mine, place, theirs, child, alias), theirs))
        return tuple(found)

    def _check_pair(
        self, mine: str, place: FileSpan, theirs: str, child: RuleItem, alias: Alias
    ) -> str:
        """Check one pair of `by`: both columns exist, the kinds agree."""
        head, _, column = mine.rpartition(".")
        owner = self.scope.aliases.get(head) if head else next(iter(self.scope.aliases.values()))
        if owner is None or owner.many:
            raise self.text.error(
                f"`{mine}` cannot be joined on", place, "name a column of a row joined before"
            )
        one, two = owner.column(column), alias.column(theirs)
        if one is None:
            near = did_you_mean(column, owner.columns())
            raise self.text.error(
                f"table `{owner.table.spoken_name}` has no column `{column}`", place, near
            )
        if two is None:
            near = did_you_mean(theirs, alias.columns())
            raise self.text.error(
                f"table `{alias.table.spoken_name}` has no column `{theirs}`", child.place, near
            )
        if one.kind != two.kind:
            raise self.text.error(
                f"`{mine}` is {one.kind}, `{theirs}` is {two.kind}: they never match", child.place
            )
        return f"{owner.name}.{column}"

    def _read_lets(
        self, item: RuleItem | None, thresholds: Mapping[str, float]
    ) -> tuple[dict[str, ExprNode], dict[str, tuple[float, float]]]:
        """Return the named values, and those of them that are plain numbers: name -> (value, as written)."""
        named: dict[str, tuple[float, float]] = {}
        if item is None or item.value is None:
            return {}, named
        if not isinstance(item.value, dict):
            raise self.text.error(f"let must be a mapping, not {item.what}", item.place)
        if len(item.value) > MANY_LETS:
            raise self.text.error(f"more than {MANY_LETS} named values", item.place)
        for name, body in item.value.items():
            self._read_name(name, item.keys[name])
            node = check_expression(body, self.text, self.scope, many=True)
            if (
                node.op == "literal"
                and node.type in ("int", "float")
                and isinstance(node.value, int | float)
            ):
                value = (
                    _fit_threshold(node, thresholds[name], self.text.name, name)
                    if name in thresholds
                    else node.value
                )
                named[name] = (value, node.value)
                node = (
                    node
                    if value == node.value
                    else ExprNode("literal", node.type, repr(value), value=value)
                )
            self.scope.lets[name] = node
        return dict(self.scope.lets), named

    # -- conditions, answers, what is shown

    def _read_condition(self, item: RuleItem) -> ExprNode:
        return check_expression(item, self.text, self.scope, want="bool")

    def _read_grade(self, item: RuleItem) -> Grade:
        keys = self.text.mapping(item, GRADE_KEYS, "a grade")
        for key in GRADE_KEYS:
            if key not in keys:
                raise self.text.error(f"a grade has no `{key}`", item.place)
        return Grade(
            self._read_condition(keys["when"]),
            self._read_choice(keys["severity"], SEVERITIES, "severity", ""),
        )

    def _read_outcomes(self, item: RuleItem, *, graded: bool) -> list[Outcome]:
        found = []
        for child in self._read_list(item, "outcomes"):
            keys = self.text.mapping(child, OUTCOME_KEYS, "an outcome")
            if "severity" not in keys and not graded:
                raise self.text.error(
                    "an outcome has no severity", child.place, "one of " + ", ".join(SEVERITIES)
                )
            found.append(
                Outcome(
                    self._read_condition(keys["when"]) if "when" in keys else ALWAYS,
                    self._read_choice(keys.get("severity"), SEVERITIES, "severity", ""),
                    self._read_choice(keys.get("confidence"), CONFIDENCES, "confidence", "likely"),
                    self._read_words(keys.get("say"), prose=True),
                )
            )
        if not 1 <= len(found) <= 50:
            raise self.text.error("a rule has 1 to 50 outcomes", item.place)
        return found

    def _read_note(self, item: RuleItem) -> Note:
        keys = self.text.mapping(item, NOTE_KEYS, "a note")
        for key in NOTE_KEYS:
            if key not in keys:
                raise self.text.error(f"a note has no `{key}`", item.place)
        return Note(
            self._read_condition(keys["when"]),
            parse_template(keys["say"], self.text, self.scope, prose=True),
        )

    def _read_population(self, item: RuleItem) -> Population:
        keys = self.text.mapping(item, POPULATION_KEYS, "population")
        for key in ("table", "by"):
            if key not in keys:
                raise self.text.error(f"population has no `{key}`", item.place)
        table = self._find_table(self._read_line(keys["table"], "table"), keys["table"].place)
        name = (
            self._read_name(self._read_line(keys["as"], "as"), keys["as"].place)
            if "as" in keys
            else "listed_subject"
        )
        alias = Alias(name, table)
        by = tuple(
            (mine.rpartition(".")[2], theirs) for mine, theirs in self._read_by(keys["by"], alias)
        )
        scope = NameScope({name: alias})
        where = (
            check_expression(keys["where"], self.text, scope, want="bool")
            if "where" in keys
            else None
        )
        shown = keys.get("subject")
        if shown is None:
            fields = " ".join(f"{{{name}.{theirs}}}" for _, theirs in by)
            shown = RuleItem(fields, FileSpan(), fields)
        return Population(alias, by, parse_template(shown, self.text, scope), where)

    def _read_subject(self, item: RuleItem | None, each: Alias) -> Template:
        if item is not None:
            return parse_template(item, self.text, self.scope)
        columns = each.table.key or ("node",)
        if each.table.lines_of is not None and not each.table.key:  # each line for itself
            columns = tuple(column.name for column in self.logs[each.table.signature].columns) or (
                "time",
            )
        fields = " ".join(f"{{{each.name}.{name}}}" for name in columns)
        return parse_template(RuleItem(fields, FileSpan(), fields), self.text, self.scope)

    def _read_charted(self, item: RuleItem) -> ExprNode:
        node = check_expression(item, self.text, self.scope, many=True)
        if node.op != "column" or not node.many or node.type not in ("int", "float"):
            raise self.text.error(
                "a chart takes number columns of a join with `rows: many`", item.place
            )
        return node

    def _read_fix(self, item: RuleItem) -> Step:
        keys = self.text.mapping(item, FIX_KEYS, "a step of fix")
        if not ("run" in keys or "do" in keys):
            raise self.text.error("a step of fix needs `run` or `do`", item.place)
        if "unsure" in keys and not ("when" in keys or "releases" in keys):
            raise self.text.error(
                "a step of fix needs `when` beside `unsure`", keys["unsure"].place
            )
        fits = affected.build_gate(self, keys, self.joins, "releases")
        unsure = self._read_line(keys.get("unsure"), "unsure")
        if fits is not None and not unsure:
            unsure = affected.releases_in_words(self, keys)
        own = self._read_condition(keys["when"]) if "when" in keys else None
        return Step(
            affected.join_conditions(fits, own) or ALWAYS,
            unsure,
            self._read_line(keys.get("where"), "where"),
            parse_command(keys["run"], self.text, self.scope) if "run" in keys else None,
            self._read_words(keys.get("do")),
            *(self._read_words(keys.get(key), prose=True) for key in ("note", "caution")),
        )

    def _read_words(self, item: RuleItem | None, *, prose: bool = False) -> Template | None:
        return (
            parse_template(item, self.text, self.scope, prose=prose) if item is not None else None
        )


def _fit_threshold(node: ExprNode, value: float, file: str, name: str) -> float:
    """Return a changed threshold in the kind of number the rule has: whole stays whole."""
    if node.type == "float":
        return float(value)
    if isinstance(value, float) and not value.is_integer():
        message = f"`{name}` is a whole number in the rule ({node.text}), not {value!r}"
        raise ThresholdError(
            message, file.rpartition("/")[2].rpartition(".")[0], name, "give a whole number"
        )
    return int(value)


def _no_threshold(rule: Rule, name: str) -> ThresholdError:
    """Return the error for a name that is no threshold of the rule, with what it is instead."""
    if name in rule.lets:
        message = f"`{name}` of rule `{rule.id}` is computed: {rule.lets[name].text}"
        advice = "only a plain number under `let` can be changed"
    else:
        message = f"rule `{rule.id}` has no threshold `{name}`"
        advice = (
            did_you_mean(name, rule.thresholds)
            or "none of its values under `let` is a plain number"
        )
    return ThresholdError(message, rule.id, name, advice)


# -- rows of the catalog: the joins that may name them, and the key `fact`


def check_join(text: RuleText, table: Table, rows: str, keys: Mapping[str, RuleItem]) -> None:
    """Refuse a join that asks of a table what goes with tables of the catalog alone, or not with them."""
    if rows == "each" and table.given is None:
        advice = (
            "`each` above says what gets one verdict; `rows: each` adds the rows of a table kb.…"
        )
        raise text.error(
            f"`rows: each` does not go with `{table.spoken_name}`", keys["rows"].place, advice
        )
    if rows == "each" and "where" in keys:
        raise text.error(
            "`where` does not go with `rows: each`",
            keys["where"].place,
            "put it into `only` or `when`",
        )
    if table.given is not None and "nodes" in keys:
        raise text.error(
            f"`{table.spoken_name}` belongs to no node", keys["nodes"].place, "leave `nodes` out"
        )


def fact_alias(values: Values, item: RuleItem | None, joins: Sequence[Join]) -> str:
    """Return the alias under `fact`, else that of the join with `rows: each`, else ""."""
    own = {
        join.alias.name: join
        for join in joins
        if join.alias.table.given is not None and not join.alias.many
    }
    spread = [name for name, join in own.items() if join.each]
    if len(spread) > 1:
        place = item.place if item is not None else values.text.tree().value["join"].place
        raise values.text.error("only one join has `rows: each`", place, "split the rule in two")
    if item is None:
        return spread[0] if spread else ""
    name = values.text.string(item, "fact")
    if name not in own:
        near = did_you_mean(name, own) or "name a join of a table kb.… with one row"
        raise values.text.error(f"no row of the catalog is called `{name[:60]}`", item.place, near)
    if spread and name not in spread:
        raise values.text.error(f"`{spread[0]}` has `rows: each`: it is the fact", item.place)
    return name

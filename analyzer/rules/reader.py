"""From the tree of a rule file to a Rule: keys, kinds of value, names, types, patterns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from analyzer.artefacts.tables import Column, Table
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
from analyzer.rules.language.rulefile import FileSpan, RuleItem, RuleItems, RuleText, did_you_mean
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
        if not self.text.is_checked:
            self.text.store_tree(tree)
        self.text.mapping(tree, KEYS, "the rule")
        keys: RuleItems = expand_short(self.text, tree).value
        if not self.text.is_checked:
            check_entries(self.text, keys)
        for needed in NEEDED:
            if needed not in keys:
                raise self.text.error(f"key `{needed}` is missing", FileSpan(1, 1))

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
        grades = []
        for item in self._read_list(keys.get("grade"), "grade"):
            parts = self._read_mapping(item, GRADE_KEYS, "a grade", GRADE_KEYS)
            condition = self._read_condition(parts["when"])
            severity = self._read_choice(parts["severity"], SEVERITIES, "severity", "")
            grades.append(Grade(condition, severity))
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
        self, rule: Rule, tree: RuleItem, keys: RuleItems, thresholds: Mapping[str, float]
    ) -> None:
        """Read what stands around the conditions; examples are read when they are asked for."""
        rule.hits = list(self.hits.values())
        self._check_distinct(rule, keys.get("seen"))
        for name in thresholds:
            if name in rule.lets and name not in rule.thresholds:
                message = f"`{name}` of rule `{rule.id}` is computed: {rule.lets[name].text}"
                advice = "only a plain number under `let` can be changed"
                raise ThresholdError(message, rule.id, name, advice)
            if name not in rule.thresholds:
                near = did_you_mean(name, rule.thresholds)
                advice = near or "none of its values under `let` is a plain number"
                message = f"rule `{rule.id}` has no threshold `{name}`"
                raise ThresholdError(message, rule.id, name, advice)
        rule.affected = affected.range_texts(affected.read_ranges(self, keys, "affected"))
        rule.fixed_in = affected.range_texts(affected.read_ranges(self, keys, "fixed_in"))
        thing = keys.get("object")
        if thing is not None:
            several = isinstance(thing.value, list)
            texts = self._read_list(thing, "object") if several else [thing]
            # What comes behind the affected thing is what that rests on.
            named = [parse_template(one, self.text, self.scope) for one in texts]
            if named:
                rule.object, *rule.rests_on = named
        own = rule.each.table.declared_table.product
        rule.product = self._read_choice(
            keys.get("product"), PRODUCTS, "product", own if own in PRODUCTS else ""
        )
        rule.unasked = self._read_yes(keys.get("unasked"), "unasked")
        rule.kb = self._read_numbers(keys.get("kb"), "kb")
        rule.issues = self._read_numbers(keys.get("issues"), "issues")
        rule.source = self._read_sources(keys.get("source"))
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
        self._read_shown(rule, keys)
        rule.caution = self._read_line(keys.get("caution"), "caution")
        rule.not_this = self._read_lines(keys.get("not_this"), "not_this")
        rule.explained_by = self._read_lines(keys.get("explained_by"), "explained_by")
        rule.ask = self._read_ask(keys.get("ask"))
        if not self.text.is_checked:
            check_size(self.text, rule)
        declared = {name: table for name, table in self.tables.items() if table.given is None}
        rule.read_examples = partial(all_examples, asked_of(tree), declared)

    def _read_shown(self, rule: Rule, keys: RuleItems) -> None:
        """Read what a finding shows: notes, evidence, charts and the steps of the fix."""
        for item in self._read_list(keys.get("notes"), "notes"):
            parts = self._read_mapping(item, NOTE_KEYS, "a note", NOTE_KEYS)
            condition = self._read_condition(parts["when"])
            words = parse_template(parts["say"], self.text, self.scope, prose=True)
            rule.notes.append(Note(condition, words))
        rule.evidence = [
            check_expression(item, self.text, self.scope, many=True)
            for item in self._read_list(keys.get("evidence"), "evidence")
        ]
        for item in self._read_list(keys.get("chart"), "chart"):
            node = check_expression(item, self.text, self.scope, many=True)
            if node.op != "column" or not node.many or node.type not in ("int", "float"):
                message = "a chart takes number columns of a join with `rows: many`"
                raise self.text.error(message, item.place)
            rule.chart.append(node)
        rule.fix = [self._read_fix(item) for item in self._read_list(keys.get("fix"), "fix")]

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

    # -- names: each, join, logs, seen, let

    def _read_joins(self, item: RuleItem | None) -> list[Join]:
        joins: list[Join] = []
        for name, place, body in self.text.list_entries(item, "join"):
            self._read_name(name, place)
            keys = self.text.mapping(body, JOIN_KEYS, f"join `{name}`")
            if "table" not in keys:
                raise self.text.error(f"join `{name}` has no table", body.place)
            table = self._rows_of(self._read_line(keys["table"], "table"), keys["table"].place)
            rows = self._read_choice(keys.get("rows"), ("one", "many", "each"), "rows", "one")
            check_join(self.text, table, rows, keys)
            alias = Alias(name, table, rows == "many")
            by = self._read_by(keys.get("by"), alias)
            crosses = table.given is not None or any(  # rows of the catalog belong to no node
                "node" in (mine.rpartition(".")[2], theirs) and mine != theirs
                for mine, theirs in by
            )
            if table.signature in self.logs and self.logs[table.signature].any_node:
                crosses = True
            default = "any" if crosses else "same"
            nodes = self._read_choice(keys.get("nodes"), ("same", "any"), "nodes", default)
            where = None
            if "where" in keys:
                single = {key: value for key, value in self.scope.aliases.items() if not value.many}
                scope = NameScope({**single, name: Alias(name, table)})
                where = check_expression(keys["where"], self.text, scope, want="bool")
            self.scope.aliases[name] = alias
            joins.append(Join(alias, by, nodes == "any", where, rows == "each"))
        return joins

    def _read_by(self, item: RuleItem | None, alias: Alias) -> tuple[tuple[str, str], ...]:
        if item is None or item.value is None:
            return ()
        if isinstance(item.value, dict):
            pairs = [(key, child, item.keys[key]) for key, child in item.value.items()]
        else:
            children = item.value if isinstance(item.value, list) else [item]
            pairs = [(self._read_line(child, "by"), child, child.place) for child in children]
        found = []
        rows = self.scope.aliases
        for mine, child, place in pairs:
            theirs = self._read_line(child, "by")
            head, _, column = mine.rpartition(".")
            owner = rows.get(head) if head else next(iter(rows.values()))
            if owner is None or owner.many:
                advice = "name a column of a row joined before"
                raise self.text.error(f"`{mine}` cannot be joined on", place, advice)
            own = self._find_column(owner, column, place)
            other = self._find_column(alias, theirs, child.place)
            if own.kind != other.kind:
                message = f"`{mine}` is {own.kind}, `{theirs}` is {other.kind}: they never match"
                raise self.text.error(message, child.place)
            found.append((f"{owner.name}.{column}", theirs))
        return tuple(found)

    def _find_column(self, alias: Alias, name: str, place: FileSpan) -> Column:
        column = alias.column(name)
        if column is None:
            message = f"table `{alias.table.spoken_name}` has no column `{name}`"
            raise self.text.error(message, place, did_you_mean(name, alias.columns()))
        return column

    def _read_lets(
        self, item: RuleItem | None, thresholds: Mapping[str, float]
    ) -> tuple[dict[str, ExprNode], dict[str, tuple[float, float]]]:
        """Return the named values, and those of them that are plain numbers: name -> (value, as written)."""
        named: dict[str, tuple[float, float]] = {}
        entries = self.text.list_entries(item, "let")
        if item is not None and len(entries) > MANY_LETS:
            raise self.text.error(f"more than {MANY_LETS} named values", item.place)
        for name, place, body in entries:
            self._read_name(name, place)
            node = check_expression(body, self.text, self.scope, many=True)
            is_number = node.op == "literal" and node.type in ("int", "float")
            if is_number and isinstance(node.value, int | float):
                value = node.value
                if name in thresholds:
                    value = float(thresholds[name])
                    if node.type == "int" and not value.is_integer():
                        message = (
                            f"`{name}` is a whole number in the rule ({node.text}), not {value!r}"
                        )
                        rule_id = self.text.name.rpartition("/")[2].rpartition(".")[0]
                        raise ThresholdError(message, rule_id, name, "give a whole number")
                    if node.type == "int":
                        value = int(thresholds[name])
                named[name] = (value, node.value)
                if value != node.value:
                    node = ExprNode("literal", node.type, repr(value), value=value)
            self.scope.lets[name] = node
        return dict(self.scope.lets), named

    # -- conditions, answers, what is shown

    def _read_condition(self, item: RuleItem) -> ExprNode:
        return check_expression(item, self.text, self.scope, want="bool")

    def _read_outcomes(self, item: RuleItem, *, graded: bool) -> list[Outcome]:
        found = []
        for child in self._read_list(item, "outcomes"):
            keys = self.text.mapping(child, OUTCOME_KEYS, "an outcome")
            if "severity" not in keys and not graded:
                raise self.text.error(
                    "an outcome has no severity", child.place, "one of " + ", ".join(SEVERITIES)
                )
            condition = self._read_condition(keys["when"]) if "when" in keys else ALWAYS
            severity = self._read_choice(keys.get("severity"), SEVERITIES, "severity", "")
            confidence = keys.get("confidence")
            sure = self._read_choice(confidence, CONFIDENCES, "confidence", "likely")
            say = self._read_words(keys.get("say"), prose=True)
            found.append(Outcome(condition, severity, sure, say))
        if not 1 <= len(found) <= 50:
            raise self.text.error("a rule has 1 to 50 outcomes", item.place)
        return found

    def _read_population(self, item: RuleItem) -> Population:
        keys = self._read_mapping(item, POPULATION_KEYS, "population", ("table", "by"))
        table = self._find_table(self._read_line(keys["table"], "table"), keys["table"].place)
        name = "listed_subject"
        if "as" in keys:
            name = self._read_name(self._read_line(keys["as"], "as"), keys["as"].place)
        alias = Alias(name, table)
        pairs = self._read_by(keys["by"], alias)
        by = tuple((mine.rpartition(".")[2], theirs) for mine, theirs in pairs)
        scope = NameScope({name: alias})
        where = None
        if "where" in keys:
            where = check_expression(keys["where"], self.text, scope, want="bool")
        shown = keys.get("subject")
        if shown is None:
            fields = " ".join(f"{{{name}.{theirs}}}" for _, theirs in by)
            shown = RuleItem(fields, FileSpan(), fields)
        return Population(alias, by, parse_template(shown, self.text, scope), where)

    def _read_subject(self, item: RuleItem | None, each: Alias) -> Template:
        if item is None:
            columns = each.table.key or ("node",)
            if each.table.lines_of is not None and not each.table.key:  # each line for itself
                groups = self.logs[each.table.signature].columns
                columns = tuple(column.name for column in groups) or ("time",)
            fields = " ".join(f"{{{each.name}.{name}}}" for name in columns)
            item = RuleItem(fields, FileSpan(), fields)
        return parse_template(item, self.text, self.scope)

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

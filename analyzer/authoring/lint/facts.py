"""Complaints about facts: files of rows, what rules make of rows from memory, builds under `affected`."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from analyzer.artefacts.tables import Tables
from analyzer.authoring.lint import commands
from analyzer.authoring.lint.complaints import MOST, Complaint, RuleFile
from analyzer.rules.affected import ranges_of
from analyzer.rules.fact_tables import FactCatalog
from analyzer.rules.language.rulefile import FileSpan
from analyzer.runtime.text import one_line

BUILDS = "kb.esxi_build"
EXPLAINED_BY = (
    "explained_by"  # rules that tell the cause of what a row is about, in any file of facts
)


def check_files(
    facts: FactCatalog, asked: Collection[Path], rules: Collection[str]
) -> Iterator[Complaint]:
    """Yield the complaints about files of facts in the folders `asked`; `rules` are the ids that exist."""
    for fault in facts.faults:
        if (path := facts.paths.get(fault.file)) is None or path.parent in asked:
            yield _make_complaint(
                "R080", facts, fault.file, fault.place.line, fault.message, fault.help
            )
    yield from _check_commands(facts, asked)
    for name, table in facts.tables.items():
        assert table.given is not None
        for column, one in facts.declared[name].columns.items():
            names = one.names or ("rule" if column == EXPLAINED_BY else "")
            known: set[object] = set(rules)
            if names != "rule":
                target, _, target_column = names.rpartition(".")
                known = set()
                if target in facts.tables:
                    known = {row.get(target_column) for row in facts.tables[target].own_rows}
            for file, line, cells in table.given.rows if names else ():
                cell = cells.get(column)
                named: list[object] = []
                if cell is not None:
                    named = [cell]
                if cell is not None and names == "rule":
                    named = list(str(cell).split())
                for value in named:
                    if value not in known and facts.paths[file].parent in asked:
                        message = f"{column}: there is no {names} `{value}`"
                        yield _make_complaint(
                            "R081", facts, file, line, message, "fix the cell, or add what it names"
                        )


def _check_commands(facts: FactCatalog, asked: Collection[Path]) -> Iterator[Complaint]:
    """Yield the complaints about commands in backticks in cells; a step shows a cell, and has no caution of its own."""
    known = commands.read_commands(facts.tables)
    for table in facts.tables.values():
        for file, line, cells in table.given.rows if table.given else ():
            if facts.paths[file].parent not in asked:
                continue
            for column, cell in cells.items():
                ticked = commands.find_ticked(cell) if isinstance(cell, str) else ()
                for _, _, command in ticked:
                    if unknown := commands.find_unknown(command, known):
                        message = f"{column}: no row of {commands.TABLE} is `{unknown}`"
                        help_text = "correct it, or add a row with the source that shows it"
                        yield _make_complaint("R095", facts, file, line, message, help_text)
                    risk = commands.find_risk(command, known) if column == "action" else None
                    if risk is not None and not cells.get("caution"):
                        message = f"{column}: `{command}` changes or stops something"
                        help_text = "give the row a `caution`, or leave the command to a step"
                        yield _make_complaint("R063", facts, file, line, message, help_text)


def _make_complaint(
    code: str, facts: FactCatalog, file: str, line: int, message: str, help: str
) -> Complaint:
    """Return a complaint about a line of a file of facts."""
    lines = facts.texts.get(file, "").splitlines()
    if 0 < line <= len(lines):
        source = lines[line - 1]
    else:
        source = ""
    return Complaint(
        code,
        one_line(message, MOST),
        file,
        FileSpan(line),
        one_line(source, MOST),
        one_line(help, MOST),
    )


def check_rule(file: RuleFile, tables: Tables) -> None:
    """Keep the complaints about what one rule makes of facts."""
    check_memory(file)
    check_builds(file, tables)


def check_memory(file: RuleFile) -> None:
    """Complain of a rule that speaks of rows without a source at hand as of any other."""
    rule = file.rule
    if rule is None or not rule.fact:
        return
    given = rule.aliases[rule.fact].table.given
    if given is not None:
        rows = given.rows
    else:
        rows = ()
    weak = 0
    for _, _, cells in rows:
        if cells.get("mark") == "memory":
            weak += 1
    leaves = [leaf for node in rule.expressions() for leaf in node.walk()]
    columns = set()
    for leaf in leaves:
        if leaf.op == "column":
            columns.add((leaf.name, leaf.column))
    if weak and (rule.fact, "mark") not in columns:
        named = file.tree is not None and "fact" in file.tree.keys
        place = file.find_place("fact" if named else "join")
        table = rule.aliases[rule.fact].table.name
        message = f"{weak} of {len(rows)} rows of `{table}` are from memory"
        help_text = f'write {rule.fact}.mark != "memory" into the condition'
        file.complain("R082", message, place, help_text)


def check_builds(file: RuleFile, tables: Tables) -> None:
    """Complain of a build of ESXi that the list of builds does not know, or knows of another version."""
    table = tables.get(BUILDS)
    if table is None or table.given is None:
        return
    known = {}
    for _, _, cells in table.given.rows:
        known[cells.get("build")] = str(cells.get("product_version"))
    for key in ("affected", "fixed_in"):
        listed = file.find_item(key, "esxi")
        if listed is None:
            items = []
        else:
            items = [listed]
        if listed is not None and isinstance(listed.value, list):
            items = listed.value
        for item in items:
            try:
                bounds = ranges_of(item.text)
            except ValueError:
                continue
            for bound in bounds:
                version = known.get(bound.build, "")
                if bound.build is None or version == bound.version:
                    continue
                message = f"{bound.build} is not in any list of builds"
                if version:
                    message = f"{bound.build} is a build of {version}, not of {bound.version}"
                file.complain("R083", message, item.place, f"see the table {BUILDS}")

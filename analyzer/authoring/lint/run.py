"""Checks rule files as a careful reviewer would: `check` gives every complaint of one run.

A complaint has a code (R001…), a place with line and column, and a page in docs/lint/. What the
loader refuses is an error under its own code; a run reports as many mistakes of a file as it can
tell apart (see loading).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from analyzer import rules
from analyzer.artefacts import parsing
from analyzer.artefacts.tables import Tables
from analyzer.authoring.lint import (
    allow,
    catalog,
    commands,
    examples,
    layout,
    loading,
    logic,
    logs,
    manyrows,
    proving,
    reach,
    shares,
    siblings,
    sources,
    spans,
    words,
)
from analyzer.authoring.lint import facts as fact_lint
from analyzer.authoring.lint.codes import CATALOG, PROOF, RULE, TREE
from analyzer.authoring.lint.complaints import Complaint, RuleFile
from analyzer.authoring.lint.sharing import Sharing
from analyzer.rules import fact_tables, packs, run_catalog, shared_files
from analyzer.rules.language.rulefile import (
    BadRuleError,
    RuleText,
    SharedParts,
    did_you_mean,
    read_file,
)
from analyzer.rules.run_catalog import Local
from analyzer.rules.sources import RuleSource, data_files, read_from, rule_tree, sources_of
from analyzer.runtime.errors import UsageError
from analyzer.runtime.limits import Limits

__all__ = ["Complaint", "check_files", "check_text", "choose_files"]


def choose_files(
    names: Sequence[str], kb: Sequence[Path] = (), local: Local | None = None
) -> list[Path]:
    """Return the rule files that names (ids, files, folders) mean; without names all but those of packs.

    UsageError when there is no such rule or path, BadRuleError when a folder holds none.
    """
    whole = _list_catalog(kb, _read_local(local))
    if not names:
        return whole
    found: list[Path] = []
    for name in names:
        path = Path(name)
        if path.is_dir():
            found += _list_files([path])
        elif path.is_file():
            found.append(path)
        else:
            same = [one for one in whole if one.stem == name]
            if not same:
                known = {one.stem for one in whole}
                near = did_you_mean(name, known) or "Check the path, or see `backline rules list`."
                raise UsageError(f"there is no rule and no file `{name}`", do=near)
            found += same
    return _drop_repeats(found)


def check_files(
    paths: Sequence[Path] | None = None,
    kb: Sequence[Path] = (),
    *,
    thorough: bool = False,
    local: Local | None = None,
) -> list[Complaint]:
    """Return all complaints about rule files, in the order of files and lines.

    paths     files and folders to check; None for the whole catalog, the folders of the settings and `kb`
    kb        further folders of rules, for what rules may not share (ids, titles) and names they use
    thorough  also run the examples and move the thresholds; takes seconds
    local     settings and packs; without it the `backline.toml` of the current folder and all packs
    """
    limits = Limits()
    local = _read_local(local)
    shipped = _list_catalog(kb, local)
    folders = [*rules.default_paths(), *local.settings.kb, *kb]
    # The places whose tables of facts the rules of a run may name.
    own = [*folders, *sorted(one.parent for one in _fact_folders(paths or ()))]
    places = sources_of(own, rules.default_paths())
    if local.packs:
        places += packs.find_installed()
    facts = fact_tables.read_facts(places, limits, thorough=True)
    known = {**parsing.tables(), **facts.tables}
    if paths is None:
        wanted = shipped
    else:
        wanted = _list_files(paths)
    asked = {_real_path(path) for path in wanted}
    sharing = Sharing([*folders, *(path for path in paths or () if path.is_dir())], limits)
    files = []
    for path in _drop_repeats([*shipped, *wanted]):
        files.append(_read_file(path, limits, sharing))
    mine = [file for file in files if _real_path(file.path) in asked]
    if len(mine) < len(files):
        names = catalog.ShippedNames(limits)
    else:
        names = None
    for file in files:
        if not file.found and file in mine:
            loading.load_file(file, known, limits)
        elif not file.found and not (names and names.put_names(file)):
            _read_tree(file)
    if thorough:
        proving.check_proofs(mine)
        proving.check_lines(mine, files, known)
    packed = _read_packs(local, limits)
    others = catalog.collect_others([*packed, *files])
    found = []
    for file in mine:
        found += _check_file(file, others, known, thorough=thorough)
    ids = {file.path.stem for file in (*files, *packed)}
    about_facts = fact_lint.check_files(facts, _fact_folders(wanted), ids)
    return [*found, *about_facts, *sharing.list_complaints(wanted)]


def check_text(
    text: str,
    name: str = "rule.yaml",
    tables: Tables | None = None,
    shared: SharedParts | None = None,
) -> list[Complaint]:
    """Return the complaints about the text of one rule by itself; other rules are not looked at.

    `name` is that of its file: its stem is compared with the id. `shared` is what it may name, without it that of
    the tool.
    """
    file = RuleFile(Path(name), name, RuleText(name, text, shared or shared_files.of_no_place()))
    known = fact_tables.list_declared() if tables is None else tables
    loading.load_file(file, known, Limits())
    return _check_file(file, None, known)


def _check_file(
    file: RuleFile,
    others: catalog.Others | None,
    tables: Tables,
    *,
    thorough: bool = False,
) -> list[Complaint]:
    """Return the complaints about one file after its comments were heard."""
    if file.tree is not None:
        asked = [TREE]
        words.check_words(file)
        commands.check_commands(file, tables)
        logs.check_patterns(file)
        examples.check_examples(file)
        sources.check_records(file)
        layout.check_layout(file)
        if others is not None:
            asked.append(CATALOG)
            catalog.check_catalog(file, others)
        if file.rule is not None:
            if thorough:
                asked += [RULE, PROOF]
            else:
                asked += [RULE]
            logic.check_logic(file)
            manyrows.check_rows(file)
            reach.check_releases(file)
            shares.check_shares(file)
            spans.check_spans(file)
            sources.check_memory(file)
            fact_lint.check_rule(file, tables)
            siblings.check_siblings(file, tables)
        allow.apply_comments(file, asked)
    found = dict.fromkeys(file.found)  # the copies that YAML aliases make count once
    return sorted(found, key=lambda one: (one.place.line, one.place.column, one.code, one.message))


def _read_local(local: Local | None) -> Local:
    """Return the local rules and settings, those of this machine by default."""
    if local is None:
        return run_catalog.read_local()[0]
    return local


def _list_catalog(kb: Sequence[Path], local: Local) -> list[Path]:
    """Return the rule files of the tool, of the settings and of `kb`, in the order in which they are loaded."""
    return _list_files([*rules.default_paths(), *local.settings.kb, *kb])


def _fact_folders(paths: Iterable[Path]) -> set[Path]:
    """Return the folders of facts that go with rule files."""
    found = set()
    for path in paths:
        for file in data_files(RuleSource("file", files=[path]))[0]:
            found.add(file.parent)
    return found


def _read_packs(local: Local, limits: Limits) -> list[RuleFile]:
    """Return the rules of installed packs; they are looked at only for what others may not share with them."""
    found = []
    for source in packs.find_installed() if local.packs else ():
        for path in source.files:
            try:
                text, _ = read_from(source, path, limits)
            except BadRuleError:
                continue
            found.append(RuleFile(Path(text.name), text.name, text))
            _read_tree(found[-1])
    return found


def _list_files(paths: Sequence[Path]) -> list[Path]:
    """Return the rule files of files and folders, each once, in the order of the loader.

    BadRuleError when a folder holds none, or a part of it was left out.
    """
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            try:
                files, faults = rule_tree(path)
            except OSError as error:
                raise UsageError(
                    "cannot be read", where=str(path), why=error.strerror or ""
                ) from None
            if faults:
                raise faults[0]
            found += files
        else:
            found.append(path)
    return _drop_repeats(found)


def _drop_repeats(paths: Sequence[Path]) -> list[Path]:
    first_of_each = {_real_path(path): path for path in reversed(paths)}
    return list(first_of_each.values())[::-1]


def _read_file(path: Path, limits: Limits, sharing: Sharing) -> RuleFile:
    """Read a rule file; one that cannot be read has its complaint and no text."""
    # The path as an engineer types it.
    here = Path.cwd()
    name = str(path.relative_to(here) if path.is_relative_to(here) else path)
    try:
        text, _ = read_file(path, limits)
    except BadRuleError as error:
        file = RuleFile(path, name, RuleText(name, ""))
        file.found.append(loading.make_complaint("R001", error, name))
        return file
    return RuleFile(path, name, RuleText(name, text.text, sharing.find_parts(path)))


def _read_tree(file: RuleFile) -> None:
    """Read a file that is only looked at for its names; its mistakes are not asked for."""
    try:
        file.tree = file.text.tree()
    except BadRuleError:
        return
    loading.write_out(file)


def _real_path(path: Path) -> str:
    return os.path.realpath(path)  # a circle of links is an error to Path.resolve

"""Checks rule files as a careful reviewer would: `check` gives every complaint of one run.

A complaint has a code (R001…), a place with line and column, and a page in docs/lint/. What the
loader refuses is an error under its own code; all mistakes of a file are told as far as they can
be told apart (see loading).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from analyzer import rules
from analyzer.artefacts import parsing
from analyzer.artefacts.tables import Table
from analyzer.authoring.lint import (
    allow,
    catalog,
    examples,
    layout,
    loading,
    logic,
    logs,
    manyrows,
    proving,
    reach,
    shares,
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

__all__ = ["Complaint", "check", "check_text", "chosen"]


def chosen(names: Sequence[str], kb: Sequence[Path] = (), local: Local | None = None) -> list[Path]:
    """Return the rule files that names (ids, files, folders) mean; without names all but those of packs.

    UsageError when there is no such rule or path, BadRuleError when a folder holds none.
    """
    whole = _catalog(kb, _local(local))
    if not names:
        return whole
    found: list[Path] = []
    for name in names:
        path = Path(name)
        if path.is_dir():
            found += _files([path])
        elif path.is_file():
            found.append(path)
        else:
            same = [one for one in whole if one.stem == name]
            if not same:
                known = {one.stem for one in whole}
                near = did_you_mean(name, known) or "Check the path, or see `backline rules list`."
                raise UsageError(f"there is no rule and no file `{name}`", do=near)
            found += same
    return _once(found)


def check(
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
    limits, local = Limits(), _local(local)
    shipped = _catalog(kb, local)
    facts = fact_tables.read_facts(_places(paths, kb, local), limits, thorough=True)
    known = {**parsing.tables(), **facts.tables}
    wanted = shipped if paths is None else _files(paths)
    asked = {_real(path) for path in wanted}
    tops = [
        *rules.default_paths(),
        *local.settings.kb,
        *kb,
        *(path for path in paths or () if path.is_dir()),
    ]
    sharing = Sharing(tops, limits)
    files = [_read(path, limits, sharing) for path in _once([*shipped, *wanted])]
    mine = [file for file in files if _real(file.path) in asked]
    names = catalog.ShippedNames(limits) if len(mine) < len(files) else None
    for file in files:
        if not file.found and file in mine:
            loading.load(file, known, limits)
        elif not file.found and not (names and names.put(file)):
            _tree(file)
    if thorough:
        proving.check(mine)
    others = catalog.of([*_packed(local, limits), *files])
    found = [
        complaint for file in mine for complaint in _about(file, others, known, thorough=thorough)
    ]
    ids = {file.path.stem for file in files} | {one.path.stem for one in _packed(local, limits)}
    about_facts = fact_lint.of_files(facts, _fact_folders(wanted), ids)
    return [*found, *about_facts, *sharing.complaints(wanted)]


def check_text(
    text: str,
    name: str = "rule.yaml",
    tables: Mapping[str, Table] | None = None,
    shared: SharedParts | None = None,
) -> list[Complaint]:
    """Return the complaints about the text of one rule by itself; other rules are not looked at.

    `name` is that of its file: its stem is compared with the id. `shared` is what it may name, without it that of
    the tool.
    """
    file = RuleFile(Path(name), name, RuleText(name, text, shared or shared_files.of_no_place()))
    loading.load(file, fact_tables.list_declared() if tables is None else tables, Limits())
    return _about(file, None, {})


def _about(
    file: RuleFile,
    others: catalog.Others | None,
    tables: Mapping[str, Table],
    *,
    thorough: bool = False,
) -> list[Complaint]:
    """Return the complaints about one file after its comments were heard."""
    if file.tree is not None:
        asked = [TREE]
        for part in (words, logs, examples, layout):
            part.check(file)
        if others is not None:
            asked.append(CATALOG)
            catalog.check(file, others)
        if file.rule is not None:
            asked += [RULE, PROOF] if thorough else [RULE]
            logic.check(file)
            manyrows.check(file)
            reach.check(file)
            shares.check(file)
            spans.check(file)
            layout.check_length(file)
            fact_lint.of_rule(file, tables)
        allow.apply(file, asked)
    found = dict.fromkeys(file.found)  # the copies that YAML aliases make are told once
    return sorted(found, key=lambda one: (one.place.line, one.place.column, one.code, one.message))


def _local(local: Local | None) -> Local:
    return run_catalog.read_local()[0] if local is None else local


def _catalog(kb: Sequence[Path], local: Local) -> list[Path]:
    """Return the rule files of the tool, of the settings and of `kb`, in the order in which they are loaded."""
    return _files([*rules.default_paths(), *local.settings.kb, *kb])


def _fact_folders(paths: Iterable[Path]) -> set[Path]:
    """Return the folders of facts that go with rule files."""
    return {
        file.parent for path in paths for file in data_files(RuleSource("file", files=[path]))[0]
    }


def _places(paths: Sequence[Path] | None, kb: Sequence[Path], local: Local) -> list[RuleSource]:
    """Return the places whose tables of facts the rules of a run may name."""
    own = [
        *rules.default_paths(),
        *local.settings.kb,
        *kb,
        *sorted(one.parent for one in _fact_folders(paths or ())),
    ]
    return [
        *sources_of(own, rules.default_paths()),
        *(packs.find_installed() if local.packs else ()),
    ]


def _packed(local: Local, limits: Limits) -> list[RuleFile]:
    """Return the rules of installed packs; they are looked at only for what others may not share with them."""
    found = []
    for source in packs.find_installed() if local.packs else ():
        for path in source.files:
            try:
                text, _ = read_from(source, path, limits)
            except BadRuleError:
                continue
            found.append(RuleFile(Path(text.name), text.name, text))
            _tree(found[-1])
    return found


def _files(paths: Sequence[Path]) -> list[Path]:
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
    return _once(found)


def _once(paths: Sequence[Path]) -> list[Path]:
    return list({_real(path): path for path in reversed(paths)}.values())[::-1]


def _read(path: Path, limits: Limits, sharing: Sharing) -> RuleFile:
    name = _shown(path)
    try:
        text, _ = read_file(path, limits)
    except BadRuleError as error:
        file = RuleFile(path, name, RuleText(name, ""))
        file.found.append(loading.complaint_of("R001", error, name))
        return file
    return RuleFile(path, name, RuleText(name, text.text, sharing.of(path)))


def _tree(file: RuleFile) -> None:
    """Read a file that is only looked at for its names; its mistakes are not asked for."""
    try:
        file.tree = file.text.tree()
    except BadRuleError:
        return
    loading.write_out(file)


def _real(path: Path) -> str:
    return os.path.realpath(path)  # a circle of links is an error to Path.resolve


def _shown(path: Path) -> str:
    """Return a path as the engineer would type it: below the working folder without that."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)

"""Where rules come from: the tool itself, folders and files of the user, installed packs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analyzer.rules.language.rulefile import BadRuleError, FileSpan, RuleText, leads_out, read_file
from analyzer.rules.language.shared import SHARED
from analyzer.runtime.limits import Limits

RULE_ENDINGS = (".yaml", ".yml")
FACTS, FACT_ENDINGS = "facts", (".csv", ".toml")  # the folder next to the rules, and what it holds
ABOVE = 1  # folders above a rule file that was named by itself, in which `facts` is looked for
FOLDERS = 10_000  # looked into below one that was named: `--kb /` is a mistake and must end

HELP = "name the folder that holds the rule files"


@dataclass(slots=True)
class RuleSource:
    """One place rules come from: the tool itself, a folder or file of the user, an installed pack.

    kind     shipped, folder, file or pack
    files    what there is to read: paths, or files inside a pack's archive
    data     files of facts, where they do not lie next to the rules: of a pack, of a commit, of another machine
    shared   files of shared parts, likewise
    faults   why the place itself cannot be used
    hash     SHA-256 of the rule files; `rules` in use, `broken` that cannot be, `drafts` left out: known after `load`
    """

    kind: str
    name: str = ""
    version: str = ""
    files: Sequence[Any] = ()
    data: Sequence[Any] = ()
    faults: Sequence[BadRuleError] = ()
    hash: str = ""
    rules: int = 0
    broken: int = 0
    drafts: int = 0
    shared: Sequence[Any] = ()

    @property
    def label(self) -> str:
        """What to call it next to a rule: `pack nn-rules 1.2`, `folder my-rules`, `shipped`."""
        return " ".join(word for word in (self.kind, self.name, self.version) if word)


def sources_of(paths: Iterable[Path | RuleSource], shipped: Iterable[Path]) -> list[RuleSource]:
    """Return the places to read, each once; the tool's own folders are known as such."""
    own = {real_path(path) for path in shipped}
    seen: set[Path] = set()
    found = []
    for path in paths:
        if isinstance(path, RuleSource):
            found.append(path)
            continue
        real = real_path(path)
        if real in seen:
            continue
        seen.add(real)
        kind = "shipped" if real in own else "file" if path.is_file() else "folder"
        found.append(RuleSource(kind, "" if real in own else real.name, files=[path]))
    return found


def real_path(path: Path) -> Path:
    """Return a path without links."""
    return Path(os.path.realpath(path))  # a circle of links is an error to Path.resolve


def rule_files(
    sources: Iterable[RuleSource], limits: Limits
) -> tuple[list[tuple[RuleSource, Any]], list[BadRuleError]]:
    """Return every rule file with its source, up to the limit, and what cannot be read."""
    found: list[tuple[RuleSource, Any]] = []
    broken: list[BadRuleError] = []
    for source in sources:
        faults = list(source.faults)
        for path in source.files:
            try:
                if path.is_dir():
                    files, why_not = rule_tree(Path(path))
                    found += [(source, file) for file in files]
                    faults += why_not
                    continue
                there = path.exists()
                reason = "no such file or folder"
            except OSError as error:
                there = False
                reason = "no such file or folder"
                if path.exists():
                    reason = f"cannot be read: {error.strerror}"
            if there:
                found.append((source, path))
            else:
                faults.append(BadRuleError(reason, file=str(path), place=FileSpan()))
        broken += faults
        source.broken = len(faults)
    if len(found) > limits.rules:
        broken.append(
            BadRuleError(
                f"{len(found)} rule files; the first {limits.rules} are used",
                file=str(found[limits.rules][1]),
                place=FileSpan(),
                help="raise it with --limit rules=N",
            )
        )
    return found[: limits.rules], broken


def rule_tree(folder: Path) -> tuple[list[Path], list[BadRuleError]]:
    """Return the rule files of a folder and the folders below it, in order of their paths, and what was left out.

    Hidden folders (`.git`) hold none, and links to folders are not followed: one that leads out is reported. So is a
    folder without any rule or fact: who names it believes that there are some. OSError when it cannot be read.
    """
    found: list[Path] = []
    faults: list[BadRuleError] = []

    def tell(why: str, where: Path, help: str) -> None:
        faults.append(BadRuleError(why, file=str(where), place=FileSpan(), help=help))

    top = os.path.realpath(folder)
    todo = [folder]
    for count, place in enumerate(todo, 1):
        try:
            with os.scandir(place) as entries:  # a third of the time of Path.iterdir
                inside = sorted(entries, key=lambda one: one.name)
        except OSError as error:
            if place is folder:
                raise
            tell(f"cannot be read: {error.strerror}", place, "")
            continue
        mine = [
            one.name for one in inside if one.name.endswith(RULE_ENDINGS) and not _is_folder(one)
        ]
        found += [place / name for name in mine if place is not folder or name != SHARED]
        below = [one for one in inside if not one.name.startswith(".") and _is_folder(one)]
        for link in (one for one in below if one.is_symlink()):
            if not (os.path.realpath(link.path) + os.sep).startswith(top + os.sep):
                tell(
                    "a link to a folder outside is not followed",
                    Path(link.path),
                    "name that folder itself",
                )
        todo += [place / one.name for one in below if not one.is_symlink()]
        if count >= FOLDERS:
            tell(f"more than {FOLDERS} folders lie below it; the rest were not read", folder, HELP)
            break
    facts = RuleSource("folder", files=[folder])
    if not found and not faults and not data_files(facts)[0]:
        endings = " or ".join(f"*{ending}" for ending in RULE_ENDINGS)
        tell(f"the folder holds no rule: there is no {endings} in it or below it", folder, HELP)
    depth = len(folder.parts)
    return sorted(found, key=lambda one: (len(one.parts) > depth + 1, one.parts[depth:])), faults


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a circle of links
        return False


def data_files(source: RuleSource) -> tuple[list[Any], list[BadRuleError]]:
    """Return the files of facts that a place brings, and why a folder of them gives none."""
    found: list[Any] = list(source.data)
    faults: list[BadRuleError] = []
    for path in (one for one in source.files if source.kind != "pack" and isinstance(one, Path)):
        near = [path] if path.is_dir() else list(path.absolute().parents)[: ABOVE + 1]
        folder = next((one / FACTS for one in near if (one / FACTS).is_dir()), None)
        try:
            inside = sorted(folder.iterdir()) if folder is not None else []
        except OSError as error:
            faults.append(
                BadRuleError(
                    f"cannot be read: {error.strerror}", file=str(folder), place=FileSpan()
                )
            )
            continue
        if folder is not None and path.is_dir() and leads_out(folder):
            why = "a link to a folder outside is not followed"
            faults.append(
                BadRuleError(why, file=str(folder), place=FileSpan(), help="copy the files")
            )
            continue
        found += [one for one in inside if one.name.endswith(FACT_ENDINGS)]
    return found, faults


def shared_files(source: RuleSource) -> list[Any]:
    """Return the files of shared parts that a place brings."""
    found: list[Any] = list(source.shared)
    for path in (one for one in source.files if source.kind != "pack" and isinstance(one, Path)):
        near = [path] if path.is_dir() else list(path.absolute().parents)[: ABOVE + 1]
        found += [one / SHARED for one in near if os.path.lexists(one / SHARED)][:1]
    return found


def read_from(source: RuleSource, path: Any, limits: Limits) -> tuple[RuleText, bytes]:
    """Return text and bytes of a rule file; errors in a pack's file name the pack."""
    check_place(source, path)
    if source.kind != "pack":
        return read_file(path, limits)
    prefix = f"{source.name}-{source.version}/"
    try:
        text, raw = read_file(path, limits)
    except BadRuleError as error:
        raise BadRuleError(
            error.message, file=prefix + error.file, place=error.place, help=error.help
        ) from None
    text.name = prefix + text.name
    return text, raw


def check_place(source: RuleSource, path: Any) -> None:
    """Refuse a file of a folder that lies elsewhere; raises BadRuleError."""
    if source.kind == "folder" and leads_out(path):
        message = "a link that leads out of its folder"
        raise BadRuleError(
            message, file=path.name, place=FileSpan(), help="copy the file, or name it with --kb"
        )

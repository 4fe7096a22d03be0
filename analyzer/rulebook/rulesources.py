"""Where rules come from: the tool itself, folders and files of the user, installed packs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analyzer.limits import Limits
from analyzer.rulebook.rulefile import BadRuleError, Place, RuleText, leads_out, read

RULE_ENDINGS = (".yaml", ".yml")


@dataclass(slots=True)
class Source:
    """One place rules come from: the tool itself, a folder or file of the user, an installed pack.

    kind     shipped, folder, file or pack
    files    what there is to read: paths, or files inside a pack's archive
    faults   why the place itself cannot be used
    hash     SHA-256 of the rule files; `rules` in use, `broken` that cannot be: known after `load`
    """

    kind: str
    name: str = ""
    version: str = ""
    files: Sequence[Any] = ()
    faults: Sequence[BadRuleError] = ()
    hash: str = ""
    rules: int = 0
    broken: int = 0

    @property
    def label(self) -> str:
        """What to call it beside a rule: `pack nn-rules 1.2`, `folder my-rules`, `shipped`."""
        return " ".join(word for word in (self.kind, self.name, self.version) if word)


def sources_of(paths: Iterable[Path | Source], shipped: Iterable[Path]) -> list[Source]:
    """Return the places to read, each once; the tool's own folders are known as such."""
    own = {_real(path) for path in shipped}
    seen: set[Path] = set()
    found = []
    for path in paths:
        if isinstance(path, Source):
            found.append(path)
            continue
        real = _real(path)
        if real in seen:
            continue
        seen.add(real)
        kind = "shipped" if real in own else "file" if path.is_file() else "folder"
        found.append(Source(kind, "" if real in own else real.name, files=[path]))
    return found


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))  # a circle of links is an error to Path.resolve


def rule_files(sources: Iterable[Source], limits: Limits) -> tuple[list[tuple[Source, Any]], list[BadRuleError]]:
    """Return every rule file with its source, up to the limit, and what cannot be read."""
    found: list[tuple[Source, Any]] = []
    broken: list[BadRuleError] = []
    for source in sources:
        faults = list(source.faults)
        for path in source.files:
            try:
                found += [(source, file) for file in _listed(path)]
            except OSError as error:
                why = "no such file or folder" if not path.exists() else f"cannot be read: {error.strerror}"
                faults.append(BadRuleError(why, file=str(path), place=Place()))
        broken += faults
        source.broken = len(faults)
    if len(found) > limits.rules:
        broken.append(
            BadRuleError(
                f"{len(found)} rule files; the first {limits.rules} are used",
                file=str(found[limits.rules][1]),
                place=Place(),
                help="raise it with --limit rules=N",
            )
        )
    return found[: limits.rules], broken


def _listed(path: Any) -> list[Any]:
    """Return the rule files of a folder in order of their names, or the file itself; OSError when it is not there."""
    if path.is_dir():
        return sorted((file for file in path.iterdir() if file.name.endswith(RULE_ENDINGS)), key=lambda one: one.name)
    if not path.exists():
        raise FileNotFoundError
    return [path]


def read_from(source: Source, path: Any, limits: Limits) -> tuple[RuleText, bytes]:
    """Return text and bytes of a rule file; errors in a pack's file name the pack."""
    if source.kind == "folder" and leads_out(path):
        message = "a link that leads out of its folder"
        raise BadRuleError(message, file=path.name, place=Place(), help="copy the file, or name it itself with --kb")
    if source.kind != "pack":
        return read(path, limits)
    prefix = f"{source.name}-{source.version}/"
    try:
        text, raw = read(path, limits)
    except BadRuleError as error:
        raise BadRuleError(error.message, file=prefix + error.file, place=error.place, help=error.help) from None
    text.name = prefix + text.name
    return text, raw

"""Complaints about files of shared parts: what cannot be used in them, and what no rule uses."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from analyzer.authoring.lint.complaints import MOST, Complaint
from analyzer.rules import default_paths, shared_files
from analyzer.rules.language.rulefile import BadRuleError, FileSpan, read_file
from analyzer.rules.language.shared import SHARED, SharedFiles, names_in
from analyzer.rules.sources import ABOVE, RuleSource, rule_tree
from analyzer.runtime.limits import Limits
from analyzer.runtime.text import one_line


class Sharing:
    """The files of shared parts that go with rule files; `tops` are the folders that rules are loaded from."""

    def __init__(self, tops: Iterable[Path], limits: Limits) -> None:
        self.tops = [top.resolve() for top in tops if top.is_dir()]
        self.limits = limits
        self.own = {top.resolve() for top in default_paths()}
        self.read: dict[Path, tuple[SharedFiles, list[BadRuleError]]] = {}

    def find_parts(self, path: Path) -> SharedFiles:
        """Return what the rule of a file may name."""
        folder = self._find_folder(path)
        if folder is None:
            return shared_files.of_no_place()
        if folder not in self.read:
            source = RuleSource(
                "shipped" if folder in self.own else "folder", folder.name, files=[folder]
            )
            shared, faults, _ = shared_files.read_parts(source, self.limits)
            self.read[folder] = shared, faults
        return self.read[folder][0]

    def _find_folder(self, path: Path) -> Path | None:
        """Return the nearest folder with shared parts for a rule file, None without one."""
        above = list(path.resolve().parents)
        near = [*(top for top in self.tops if top in above), *above[: ABOVE + 1]]
        for folder in near:
            if (folder / SHARED).is_file():
                return folder
        return None

    def list_complaints(self, paths: Collection[Path]) -> Iterator[Complaint]:
        """Yield the complaints about the files that go with some rule files."""
        for folder in dict.fromkeys(filter(None, map(self._find_folder, paths))):
            _ = self.find_parts(folder / SHARED)
            shared, faults = self.read[folder]
            for fault in [*faults, *shared.faults]:
                yield _make_complaint(
                    "R084", fault.file, fault.place, fault.message, fault.source, fault.help
                )
            used: set[str] = set()
            for path in rule_tree(folder)[0]:
                try:
                    used |= names_in(read_file(path, self.limits)[0].text)
                except BadRuleError:
                    continue
            own = {name for name, _ in shared.files}
            for one in shared.definitions.values():
                file, _, line = one.where.rpartition(":")
                if file in own and one.name not in used:
                    message = f"no rule uses `{one.name}`"
                    place = FileSpan(int(line))
                    lines = next(text for name, text in shared.files if name == file).splitlines()
                    if place.line <= len(lines):
                        source = lines[place.line - 1]
                    else:
                        source = ""
                    yield _make_complaint("R085", file, place, message, source, "remove it")


def _make_complaint(
    code: str, file: str, place: FileSpan, message: str, source: str, help: str
) -> Complaint:
    """Return a complaint about a file of shared parts."""
    return Complaint(
        code, one_line(message, MOST), file, place, one_line(source, MOST), one_line(help, MOST)
    )

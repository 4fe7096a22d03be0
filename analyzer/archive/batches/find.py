"""Finds the cases below some paths by names and folders alone; no file is opened.

`auto` (the default) takes

- a PATH that is a file as a case; a PATH that is a folder as a shelf of cases, unless it is the top of an
  unpacked bundle (it holds `commands`, `etc`, `var`, …), which is one case;
- each file that lies directly on a shelf as a case (the pieces of one file together: `X.FRAG-00000`, … of any file,
  `X.tgz.001`, `X.tgz.partaa`, `X.z01`, … of an archive);
  files that hold no support material by their ending (pictures, documents, programs, checksums) are left out;
- each folder on a shelf as one case with all that lies below it, unless it is a shelf itself. That it is when
    - its name is a date (`2024`, `2024-05`, and in such a folder `05`, `May`, `week 12`, `Q3`),
    - it holds folders and no files of support material,
    - it holds archives and folders, no loose text, and one of the folders holds an archive or an unpacked bundle,
    - or it holds more than ten archives.

`folders` takes the first folder on the way down that holds a file of support material as one case, with all
below it: right where each case has its folder. `files` takes every file as a case of its own wherever it lies:
right where each case is one archive. In both an unpacked bundle is one case.

Left alone everywhere: links, hidden files, results that an earlier run wrote, case archives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from analyzer.archive.batches.trees import Tree, TreeEntry, tree_of
from analyzer.archive.object_store.object_store import HEAD
from analyzer.runtime.errors import BacklineError
from analyzer.sources.names import TREE_TOPS
from analyzer.sources.split_files import find_joined_names

LAYOUTS = ("auto", "folders", "files")
MANY = 10  # more archives than this in one folder are cases of their own
DEEPEST = 40  # folders below a PATH

ARCHIVES = (
    ".tgz", ".tar.gz", ".tar", ".zip", ".tbz", ".tbz2", ".tar.bz2", ".txz", ".tar.xz", ".tzst", ".tar.zst", ".7z",
    ".rar",
)  # fmt: skip
NO_MATERIAL = (
    ".md", ".html", ".htm", ".pdf", ".rtf", ".doc", ".docx", ".xls", ".xlsx", ".ppt", ".pptx", ".odt", ".eml", ".msg",
    ".png", ".jpg", ".jpeg", ".gif", ".bmp", ".svg", ".webp", ".heic", ".tif", ".tiff", ".mp4", ".avi", ".mov", ".mkv",
    ".webm", ".exe", ".msi", ".dll", ".iso", ".ova", ".ovf", ".vmdk", ".pcap", ".pcapng", ".py", ".sh", ".ps1", ".yaml",
    ".yml", ".toml", ".parquet", ".lnk", ".url", ".md5", ".sha1", ".sha256", ".asc", ".sig", ".part", ".crdownload",
    ".filepart", ".tmp",
)  # fmt: skip
# Tops of a tree that no one would use as names of cases or years.
_STRONG = TREE_TOPS - {
    "common", "config", "home", "image", "json", "local", "log", "logs", "opt", "root", "scratch", "snapshot", "store",
    "system", "tmp",
}  # fmt: skip
_YEAR = re.compile(r"(?:19|20)\d\d")
_MONTH = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?"
)
_DATE = re.compile(
    rf"{_YEAR.pattern}(?:[-_. ]?(?:0[1-9]|1[0-2])(?:[-_. ]?[0-3]\d)?)?|(?:{_MONTH})[-_. ]?{_YEAR.pattern}"
    rf"|{_YEAR.pattern}[-_. ]?(?:q[1-4]|(?:w|kw|week)[-_. ]?\d\d?|{_MONTH})",
    re.IGNORECASE,
)
_IN_A_YEAR = re.compile(
    rf"[0-3]?\d|(?:\d\d[-_. ])?(?:{_MONTH})|q[1-4]|(?:w|kw|week)[-_. ]?\d\d?", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class FoundCase:
    """A case that was found: what to read as one case.

    name    of the file or folder, as `triage` would name the case
    source  the place it is read from: absolute path or URL
    paths   to be read together: the file or folder, or the pieces of one file
    files   all regular files: (name relative to the folder that holds `paths`, bytes, mtime in ns)
    """

    name: str
    source: str
    paths: tuple[str, ...]
    files: tuple[tuple[str, int, int], ...]

    @property
    def disk_size(self) -> int:
        """Bytes on the disk."""
        return sum(file[1] for file in self.files)


@dataclass(slots=True)
class FindSummary:
    """What was met and is no case: empty folders, files left out, folders that could not be read; a hint."""

    empty: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    archives: list[str] = field(default_factory=list)
    mixed: list[str] = field(default_factory=list)  # PATHs that look like the folder of one case


def cases_in(
    paths: Sequence[str],
    *,
    layout: str = "auto",
    skip: Sequence[str] = (),
    count: FindSummary | None = None,
) -> Iterator[FoundCase]:
    """Yield the cases below `paths` in the order of the paths and of names, each once.

    skip   folders that are never looked into (the archive)
    count  takes what was met and is no case
    Raises BacklineError for a path that is not there.
    """
    count = FindSummary() if count is None else count
    seen: set[str] = set()
    for path in paths:
        for found in _Finder(tree_of(path), layout, skip, count).find_at(path):
            if found.source not in seen:
                seen.add(found.source)
                yield found


class _Finder:
    def __init__(self, tree: Tree, layout: str, skip: Sequence[str], count: FindSummary) -> None:
        self.tree, self.layout, self.count = tree, layout, count
        self.skip = {tree_of(path).full_name(path) for path in skip}

    def find_at(self, path: str) -> Iterator[FoundCase]:
        """Yield the cases of a PATH that the user gave."""
        top = self.tree.look_up(path)
        if top is None:
            raise BacklineError("no such file or folder", where=path, why="it does not exist, or it "
                                "cannot be read", do="Check the path.")  # fmt: skip
        if not top.folder:
            yield self._file_case(top)
            return
        children = self._list_children(top)
        if children is None:
            return
        if _is_tree(children):
            yield self._folder_case(top)
            return
        texts, archives, folders = _sort_children(children)
        if self.layout == "folders" and not folders and (texts or archives):
            yield self._folder_case(top)
            return
        if self.layout == "auto" and texts and 0 < len(archives) <= MANY and not folders:
            self.count.mixed.append(path)
        yield from self._find_in_objects(top, children, 0, _is_date(top.name, dated=False))

    def _find_in_objects(
        self, objects: TreeEntry, children: list[TreeEntry], depth: int, dated: bool
    ) -> Iterator[FoundCase]:
        """Yield the cases of a folder that is no case itself."""
        if not children and depth:
            self.count.empty.append(objects.path)
        pieces: dict[str, list[TreeEntry]] = {}
        whole = find_joined_names(
            [child.name for child in children if not child.folder], is_archive
        )
        for child in children:
            if not child.folder and child.name in whole:
                pieces.setdefault(whole[child.name], []).append(child)
        for child in children:
            if child.folder:
                yield from self._find_below(child, depth + 1, dated)
            elif name := whole.get(child.name):
                if together := pieces.pop(name, None):
                    source = self.tree.full_name(together[0].path)
                    source = source[: len(source) - len(together[0].name)] + name
                    files = tuple((piece.name, piece.size, piece.mtime) for piece in together)
                    joined = FoundCase(name, source, tuple(piece.path for piece in together), files)
                    yield joined
            elif not is_material(child.name) or (
                self.layout == "folders" and any(one.folder for one in children)
            ):
                self.count.left_out.append(child.path)
            else:
                yield self._file_case(child)

    def _find_below(self, folder: TreeEntry, depth: int, dated: bool) -> Iterator[FoundCase]:
        """Yield the cases of a folder below a PATH (`dated` below a year): itself, or what lies on it."""
        children = self._list_children(folder)
        if children is None:
            return
        dated = _is_date(folder.name, dated=dated)
        if depth < DEEPEST and not self._is_case(children, dated):
            yield from self._find_in_objects(folder, children, depth, dated)
            return
        found = self._folder_case(folder)
        if found.files:
            yield found
        else:
            self.count.empty.append(folder.path)

    def _is_case(self, children: list[TreeEntry], dated: bool) -> bool:
        if _is_tree(children):
            return True
        texts, archives, folders = _sort_children(children)
        if self.layout != "auto":
            return self.layout == "folders" and bool(texts or archives)
        if dated or len(archives) > MANY or not (texts or archives):
            return False
        if texts:
            return True
        for folder in folders:  # one next to archives that holds an archive or a tree itself
            below = self._list_children(folder) or []
            if _is_tree(below) or _sort_children(below)[1]:
                return False
        return True

    def _list_children(self, folder: TreeEntry) -> list[TreeEntry] | None:
        """Return what is looked at in a folder: nothing hidden, no earlier results; None for a case archive."""
        if self.tree.full_name(folder.path) in self.skip:
            return None
        try:
            children = self.tree.list_children(folder.path)
        except OSError as error:
            fault = (folder.path, error.strerror or str(error))
            if fault not in self.count.unreadable:
                self.count.unreadable.append(fault)
            return []
        names = {child.name for child in children}
        if HEAD in names:
            if folder.path not in self.count.archives:
                self.count.archives.append(folder.path)
            return None
        old = self.tree.list_old_results(folder.path, names)
        return [
            child for child in children if not child.name.startswith(".") and child.name not in old
        ]

    def _file_case(self, file: TreeEntry) -> FoundCase:
        return FoundCase(
            file.name,
            self.tree.full_name(file.path),
            (file.path,),
            ((file.name, file.size, file.mtime),),
        )

    def _folder_case(self, folder: TreeEntry) -> FoundCase:
        # All regular files below a folder, those that `triage` reads: hidden ones too, no earlier
        # results.
        files: list[tuple[str, int, int]] = []
        todo = [(folder.path, folder.name)]
        while todo:
            path, name = todo.pop()
            try:
                children = self.tree.list_children(path)
            except OSError as error:
                self.count.unreadable.append((path, error.strerror or str(error)))
                continue
            old = self.tree.list_old_results(path, {child.name for child in children})
            for child in children:
                if child.folder and self.tree.full_name(child.path) not in self.skip:
                    todo.append((child.path, f"{name}/{child.name}"))
                elif not child.folder and child.name not in old:
                    files.append((f"{name}/{child.name}", child.size, child.mtime))
        return FoundCase(
            folder.name, self.tree.full_name(folder.path), (folder.path,), tuple(files)
        )


def _is_tree(children: list[TreeEntry]) -> bool:
    """Say whether a folder is the top of an unpacked bundle: it holds folders that stand at such a top."""
    return is_bundle({child.name for child in children if child.folder})


def is_bundle(names: set[str]) -> bool:
    """Say whether names are those at the top of an unpacked bundle."""
    return bool(names & _STRONG) or len(names & TREE_TOPS) > 1


def _is_date(name: str, *, dated: bool) -> bool:
    """Say whether a folder is named by a year, or, inside such a folder, by a part of the year."""
    return bool(_DATE.fullmatch(name) or (dated and _IN_A_YEAR.fullmatch(name)))


def _sort_children(
    children: list[TreeEntry],
) -> tuple[list[TreeEntry], list[TreeEntry], list[TreeEntry]]:
    """Return the loose files of support material, the archives, and the folders."""
    texts = [
        child
        for child in children
        if not child.folder and is_material(child.name) and not is_archive(child.name)
    ]
    archives = [child for child in children if not child.folder and is_archive(child.name)]
    return texts, archives, [child for child in children if child.folder]


def is_material(name: str) -> bool:
    """Say whether a file may hold support material, by the ending of its name."""
    return not name.lower().endswith(NO_MATERIAL)


def is_archive(name: str) -> bool:
    """Say whether a name is that of an archive."""
    return name.lower().endswith(ARCHIVES)

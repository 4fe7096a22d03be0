"""Where the files of a case that was read before are: still at their place, or gone.

A stored case tells the path it was read from, a case.json what lay beside it. Names in a document come from
outside: none leads out of the folder that is looked at, and a file counts only with the size that it had.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from analyzer.case.document import CaseDocument, GivenFile
from analyzer.runtime.text import one_line
from analyzer.web.guard.wire import Refusal

DROPPED = "dropped:"  # how the source of a case begins whose files were uploaded


def find_files_of_source(document: CaseDocument, source: str) -> list[Path]:
    """Return the path a stored case was read from; Refusal (404) with the reason when its files are not there now."""
    if source.startswith(DROPPED):
        raise _make_refusal("they were dropped into the page, which keeps them until it stops")
    if "://" in source:
        raise _make_refusal(f"they were read from {one_line(source, 300)}, not from this machine")
    path = Path(source)
    if not path.is_absolute():
        raise _make_refusal("the case does not tell where they were")
    if problem := _find_difference(document, path.parent):
        raise _make_refusal(problem)
    return [path]


def find_files_beside(document: CaseDocument, case_json: Path | None) -> list[Path]:
    """Return what a case.json was made of, in its folder or beside that; Refusal (404) when it is not there.

    case_json  where it lies, or the folder with it; None when it was uploaded
    """
    if case_json is None:
        raise _make_refusal("its case.json was dropped, which does not tell where they are")
    folder = case_json if case_json.is_dir() else case_json.parent
    problem = ""
    for base in (folder, folder.parent):
        problem = _find_difference(document, base)
        if not problem:
            tops = dict.fromkeys(PurePosixPath(one.name).parts[0] for one in document.case.files)
            return [base / top for top in tops]
    raise _make_refusal(problem)


def describe_refusal(refusal: Refusal) -> str:
    """Return why the logs of a case cannot be read, in one sentence."""
    return one_line(f"Only its report is here: {refusal.why}.", 700)


def _find_difference(document: CaseDocument, base: Path) -> str:
    """Return why the files of a case are not those below a folder, "" when they are."""
    return next(_list_differences(document.case.files, base), "")


def _list_differences(files: list[GivenFile], base: Path) -> Iterator[str]:
    if not files:
        yield "the case does not tell what it was made of"
    for one in files:
        name = PurePosixPath(one.name)
        shown = one_line(str(base / name), 300)
        if name.is_absolute() or not name.parts or ".." in name.parts or "\0" in one.name:
            yield f"{one_line(one.name, 300)} is no name of a file in a folder"
            continue
        try:
            status = (base / name).stat()
        except (OSError, ValueError):
            yield f"{shown} is not there"
            continue
        if one.sha256 and one.size is not None and status.st_size != one.size:
            yield f"{shown} was changed since: it had {one.size:,} bytes, now {status.st_size:,}"


def _make_refusal(why: str) -> Refusal:
    return Refusal(
        404,
        "the files of this case are not here",
        why=why,
        do="Drop the bundle itself for all lines of its logs.",
    )

"""The version a rule is compared with: from a folder, or from a commit of the rule's git repository.

A repository may be a stranger's, and its configuration can name programs to run. So only `ls-tree` and
`cat-file` are asked, which run none (`git show` would run a textconv), and what the configuration may bring in
is switched off besides: hooks, the file system monitor, fetching what a partial clone lacks. No shell is used, and
`git` is taken from the PATH alone, never from the current folder.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from analyzer.archive.clusters.worker_protocol import SentFile
from analyzer.rules import Catalog, Rule, run_catalog
from analyzer.rules import load as load_rules
from analyzer.rules.language.rulefile import BadRuleError, FileSpan
from analyzer.rules.language.shared import SHARED
from analyzer.rules.run_catalog import Local
from analyzer.rules.sources import FACT_ENDINGS, FACTS, RULE_ENDINGS, RuleSource
from analyzer.runtime.errors import UsageError
from analyzer.runtime.limits import Limits
from analyzer.runtime.text import one_line

SECONDS = 60.0  # for one question to git
QUIET = (
    "--no-pager", "--no-optional-locks", "--no-replace-objects", "--literal-pathspecs",
    "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}", "-c", "protocol.allow=never",
)  # fmt: skip
# An empty list of protocols beats what a configuration allows; the others keep git from asking and from fetching.
ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_FILES = ("100644", "100755")  # modes: neither links nor submodules


@dataclass(frozen=True, slots=True)
class _Blob:
    """A file of a commit: its path from the top of the repository, its object and size in bytes."""

    path: str
    object: str
    size: int


def find_catalog(place: str, rules: Sequence[Rule], local: Local) -> Catalog:
    """Return the rules of a folder, or, for a name that is no folder, of the commit it names in git.

    rules  those that are compared; a commit is looked up in the repository that the file of each lies in

    UsageError when it is neither; what is wrong with a file there is in `broken`.
    """
    folder = Path(place)
    if folder.is_dir():
        return run_catalog.load_run_catalog(
            local, only=[folder], drafts=True, retired=True, tuned=False
        )
    if os.path.lexists(folder):
        raise UsageError(
            "this is not a folder of rules", where=place, do="Name a folder, or a commit of git."
        )
    found = Catalog()
    for rule in rules:
        one = _of_commit(place, rule, Limits())
        found.rules += one.rules
        found.broken += one.broken
    return found


def load_whole_catalog(place: str, beside: Path) -> Catalog:
    """Return all rules of a folder, of a commit, or of a folder in a commit (`COMMIT:PATH`, from the top of it).

    beside  a folder in the repository that a commit is looked up in; a commit without a PATH means this very folder

    Thresholds are as written. UsageError when it is neither; what is wrong with a file is in `broken`.
    """
    limits = Limits()
    if Path(place).is_dir():
        return load_rules([Path(place)], limits=limits, drafts=True, retired=True)
    if os.path.lexists(place):
        raise UsageError(
            "this is not a folder of rules", where=place, do="Name a folder, or a commit of git."
        )
    ref, named, path = place.partition(":")
    commit = _find_commit(beside, ref)
    inside = os.fsdecode(_run_git(beside, "rev-parse", "--show-prefix").rstrip(b"\n"))
    prefix = f"{path.strip('/')}/" if named and path.strip("/") else "" if named else inside
    blobs = []
    for blob in _list_blobs(beside, commit):
        if not blob.path.startswith(prefix) or blob.path == prefix + SHARED:
            continue
        folders = blob.path[len(prefix) :].split("/")[:-1]
        is_hidden = any(folder.startswith(".") for folder in folders)
        if blob.path.endswith(RULE_ENDINGS) and not is_hidden:
            blobs.append(blob)
    if not blobs:
        raise _no_place(place, f"the commit has no rule file below {prefix or 'its top'}")
    blobs.sort(key=lambda blob: ("/" in blob.path[len(prefix) :], blob.path.split("/")))
    files, faults = [], []
    for blob in blobs[: limits.rules]:
        shown = f"{one_line(ref, 80)}:{one_line(blob.path, 200)}"
        if blob.size > limits.rule_file:
            faults.append(
                BadRuleError(
                    f"larger than {limits.rule_file:,} bytes", file=shown, place=FileSpan()
                )
            )
            continue
        data = _run_git(beside, "cat-file", "blob", blob.object)
        files.append(SentFile(blob.path.rpartition("/")[2], shown, data))
    there = _list_blobs(beside, commit)
    facts, shared = (
        _facts_of(beside, there, {prefix}, limits),
        _shared_of(beside, there, [prefix], limits),
    )
    source = RuleSource(
        "file", one_line(place, 80), files=files, data=facts, faults=faults, shared=shared
    )
    return load_rules([source], limits=limits, drafts=True, retired=True)


def _list_blobs(where: Path, commit: str) -> list[_Blob]:
    # The files of `ls-tree -l -z`: `MODE blob OBJECT SIZE<tab>PATH`, https://git-
    # scm.com/docs/git-ls-tree.
    listed = _run_git(where, "ls-tree", "-r", "-l", "-z", "--full-tree", commit)
    found = []
    for line in listed.split(b"\0"):
        head, _, path = line.partition(b"\t")
        words = head.decode("ascii", "replace").split()
        if len(words) == 4 and words[0] in _FILES and words[3].isdigit():
            found.append(_Blob(os.fsdecode(path), words[2], int(words[3])))
    return found


def _of_commit(ref: str, rule: Rule, limits: Limits) -> Catalog:
    """Return a catalog of the one rule as it was in a commit; an empty one when it was not there."""
    file = rule.path
    if file is None or not file.is_file():
        why = f"the file of rule {rule.id} is not on this machine"
        raise _no_place(ref, why)
    where = Path(os.path.realpath(file)).parent
    commit = _find_commit(where, ref)
    prefix = os.fsdecode(_run_git(where, "rev-parse", "--show-prefix").rstrip(b"\n"))
    there = _list_blobs(where, commit)
    names = {rule.id + ending for ending in RULE_ENDINGS}
    blobs = [blob for blob in there if blob.path.rpartition("/")[2] in names]
    same = [blob for blob in blobs if blob.path == prefix + file.name]
    if not same and len(blobs) > 1:
        paths = ", ".join(one_line(blob.path, 80) for blob in blobs[:5])
        raise UsageError(
            f"commit {one_line(ref, 80)} holds rule {rule.id} more than once", why=paths
        )
    if not blobs:
        return Catalog()
    blob = (same or blobs)[0]
    shown = f"{one_line(ref, 80)}:{one_line(blob.path, 200)}"
    if blob.size > limits.rule_file:
        raise UsageError(
            "the file is too large for a rule", where=shown, why=f"{blob.size:,} bytes"
        )
    data = _run_git(where, "cat-file", "blob", blob.object)
    folder, _, name = blob.path.rpartition("/")
    sent = SentFile(name, shown, data)
    near = [f"{one}/" if one else "" for one in (folder, folder.rpartition("/")[0])]
    facts = _facts_of(where, there, near, limits)
    shared = _shared_of(where, there, near, limits)
    source = RuleSource("file", shown, files=[sent], data=facts, shared=shared)
    return load_rules([source], limits=limits, drafts=True, retired=True)


def _facts_of(
    where: Path, blobs: Sequence[_Blob], folders: Collection[str], limits: Limits
) -> list[SentFile]:
    """Return the files of facts that lie in a commit next to rules in some folders."""
    wanted = {f"{folder}{FACTS}" for folder in folders}
    found = []
    for blob in blobs:
        folder, _, name = blob.path.rpartition("/")
        is_small = blob.size <= limits.rule_file
        if folder in wanted and name.endswith(FACT_ENDINGS) and is_small:
            data = _run_git(where, "cat-file", "blob", blob.object)
            found.append(SentFile(name, blob.path, data))
    return found


def _shared_of(
    where: Path, blobs: Sequence[_Blob], folders: Sequence[str], limits: Limits
) -> list[SentFile]:
    """Return the file of shared parts that lies in a commit in the first of some folders that has one."""
    by_path = {one.path: one for one in blobs if one.size <= limits.rule_file}
    for folder in folders:
        blob = by_path.get(folder + SHARED)
        if blob is not None:
            data = _run_git(where, "cat-file", "blob", blob.object)
            return [SentFile(SHARED, blob.path, data)]
    return []


def _find_commit(where: Path, ref: str) -> str:
    """Return the id of the commit that a name means in the repository around a folder."""
    if not ref or ref.startswith("-") or not ref.isprintable():
        raise _no_place(ref, "this cannot be the name of a commit")
    try:
        inside = _run_git(where, "rev-parse", "--is-inside-work-tree").strip()
    except UsageError as error:
        raise _no_place(
            ref, f"no git repository could be read around {where}: {error.why}"
        ) from None
    if inside != b"true":
        raise _no_place(ref, f"{where} is not in a git work tree")
    try:
        return os.fsdecode(
            _run_git(where, "rev-parse", "--verify", "--end-of-options", f"{ref}^{{commit}}")
        ).strip()
    except UsageError:
        raise _no_place(ref, f"the repository around {where} has no such commit") from None


def _no_place(ref: str, why: str) -> UsageError:
    return UsageError(
        "there is nothing to compare with",
        where=ref,
        why=why,
        do="Name a folder of rules, or a commit.",
    )


def _run_git(where: Path, *words: str) -> bytes:
    """Return what git says; UsageError with its reason when it fails."""
    command = [_find_git(), *QUIET, "-C", str(where), *words]
    try:
        done = subprocess.run(
            command, capture_output=True, stdin=subprocess.DEVNULL, timeout=SECONDS, check=False,
            env={**os.environ, **ENVIRONMENT},
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError("git failed", why=one_line(str(error), 200)) from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip() or f"exit status {done.returncode}"
        raise UsageError("git gave no answer", why=one_line(said, 200))
    return done.stdout


def _find_git() -> str:
    """Return the path of git; neither an empty nor a relative entry of PATH counts, which mean the current folder."""
    name = "git.exe" if sys.platform == "win32" else "git"
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = Path(folder, name)
        if path.is_absolute() and path.is_file() and os.access(path, os.X_OK):
            return str(path)
    raise UsageError(
        "git is not installed",
        why="the versions of a repository are read with it",
        do="Name a folder.",
    )

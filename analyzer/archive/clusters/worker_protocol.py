"""What is sent to a cluster worker and comes back: the job, and the rules and settings as the command sees them.

A worker shares nothing with the command but the storage. It does no job before it has found that its
Backline is the same to the byte, and that the rules it was sent make the same catalog.
"""

from __future__ import annotations

import gc
import hashlib
import io
import os
import pickle
import sys
import threading
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import analyzer
from analyzer import __version__, rules
from analyzer.archive.batches.jobs import Job
from analyzer.archive.batches.run_config import ConfigError, WorkerContext, context_of, open_context
from analyzer.archive.batches.work import do_in
from analyzer.rules.language.rulefile import BadRuleError, leads_out
from analyzer.rules.run_catalog import Local
from analyzer.rules.sources import RuleSource, data_files, rule_files, shared_files
from analyzer.runtime.errors import BacklineError, describe_fault

if TYPE_CHECKING:
    from collections.abc import Callable

    from analyzer.archive.batches.run_config import RunConfig
    from analyzer.rules.settings import Settings
    from analyzer.runtime.limits import Limits

# Kinds of an answer; the comment names the second part of the tuple.
DONE = "done"  # the pickled Done
KIT = "kit"  # the rules were not sent along and are not known here: ""
TOOL = "tool"  # another Backline: its version
MISSING = "missing"  # no Backline: why
UNSEEN = "unseen"  # a path that the command sees is not there: the path
BROKEN = "broken"  # a fault of Backline: what happened

_CONTENT = frozenset(
    (".py", ".csv", ".toml", ".txt", ".yaml", ".html")
)  # code, and the data it reads
_OWN = (
    "parsers",
    "templates",
    "kb",
    "docpages",
    "lintpages",
)  # lie elsewhere in a checkout; their content is compared by others
_NOWHERE = f"{os.sep}backline-not-on-this-machine"
_NOT_ENOUGH = 1 << 62

Answer = tuple[str, Any]


@dataclass(frozen=True, slots=True)
class SentFile:
    """A rule file of the command's machine; offers what the rule loader asks of a path."""

    name: str
    shown: str
    data: bytes | None
    fault: tuple[int, str] = (0, "")
    leads_out: bool = False

    def __str__(self) -> str:
        return self.shown

    def __fspath__(self) -> str:
        return self.shown

    @property
    def parent(self) -> str:
        """An empty folder."""
        return _NOWHERE

    def exists(self) -> bool:
        """It was there."""
        return True

    def is_dir(self) -> bool:
        """It is no folder."""
        return False

    def is_file(self) -> bool:
        """Say whether it was a regular file, or one that could not be read."""
        return self.data is not None or bool(self.fault[0])

    def is_symlink(self) -> bool:
        """Say whether it was a link that leads out of its folder."""
        return self.leads_out

    def open(self, mode: str = "rb") -> BinaryIO:
        """Open the bytes that were sent."""
        del mode
        if self.data is None:
            raise OSError(*self.fault)
        return io.BytesIO(self.data)


@dataclass(frozen=True, slots=True)
class SentSource:
    """One place rules come from; `faults` as the arguments of BadRuleError."""

    kind: str
    name: str = ""
    version: str = ""
    files: tuple[SentFile, ...] = ()
    faults: tuple[dict[str, Any], ...] = ()
    data: tuple[SentFile, ...] = ()
    shared: tuple[SentFile, ...] = ()

    def rule_source(self) -> RuleSource:
        """Return the source as the rule loader takes it."""
        faults = [BadRuleError(**fault) for fault in self.faults]
        return RuleSource(
            self.kind, self.name, self.version, self.files, self.data, faults, shared=self.shared
        )


@dataclass(frozen=True, slots=True)
class Kit:
    """Rules and settings of the command's run; `broken`: what its rule loader complained of."""

    settings: Settings
    sources: tuple[SentSource, ...]
    broken: tuple[str, ...]


def kit_of(config: RunConfig) -> Kit:
    """Return what workers need to see the rules and settings of a run."""
    local, catalog = open_context(config)
    sources = tuple(
        SentSource("shipped")
        if source.kind == "shipped"
        else _send_source(source, config.options.limits)
        for source in catalog.sources
    )
    return Kit(replace(local.settings, kb=()), sources, tuple(map(str, catalog.broken)))


def key_of(kit: bytes) -> str:
    """Return the name of a pickled kit."""
    return hashlib.sha256(kit).hexdigest()


def _send_source(source: RuleSource, limits: Limits) -> SentSource:
    files, faults = rule_files([replace(source)], replace(limits, rules=_NOT_ENOUGH))
    sent = tuple(_send_file(file, source.kind, limits) for _, file in files)
    fault_records = tuple(
        {
            "message": one.message,
            "file": one.file,
            "place": one.place,
            "source": one.source,
            "help": one.help,
        }
        for one in faults
    )
    data = tuple(_send_file(file, source.kind, limits) for file in data_files(source)[0])
    shared = tuple(_send_file(file, source.kind, limits) for file in shared_files(source))
    return SentSource(source.kind, source.name, source.version, sent, fault_records, data, shared)


def _send_file(file: Any, kind: str, limits: Limits) -> SentFile:
    if kind == "folder" and leads_out(file):
        return SentFile(file.name, str(file), None, leads_out=True)
    try:
        if not file.is_file():
            return SentFile(file.name, str(file), None)
        with file.open("rb") as stream:
            return SentFile(file.name, str(file), stream.read(limits.rule_file + 1))
    except OSError as error:
        return SentFile(file.name, str(file), None, (error.errno or 5, error.strerror or ""))


def job_runner() -> Callable[[str, bytes], Answer]:
    """Return the function that a worker runs: it carries its own code, so that any worker can at least start it."""

    def run_parcel(want: str, parcel: bytes) -> tuple[str, Any]:
        try:
            from analyzer.archive.clusters.worker_protocol import here  # noqa: PLC0415 - whether there is one is the question
        except Exception as error:  # noqa: BLE001 - no Backline, or one that cannot start
            return "missing", f"{type(error).__name__}: {error}"
        return here(want, parcel)

    return run_parcel


def pack_job(
    job: Job, config: RunConfig, key: str, kit: bytes = b"", *, sure: bool = False
) -> bytes:
    """Return a job as it is sent; `kit` is the pickled Kit for a worker that asked for it, `key` names it.

    sure  do it although this machine does not see the files
    """
    return pickle.dumps((job, config, key, kit, sure))


@cache
def tool_print() -> str:
    """Return what this Backline is: version of Python, version and content of the package without rules and parsers."""
    top = Path(analyzer.__file__).resolve().parent
    digest = hashlib.sha256()
    for file in sorted(top.rglob("*.*")):
        name = file.relative_to(top)
        if name.parts[0] not in _OWN and file.suffix in _CONTENT:
            digest.update(
                f"{name.as_posix()}\0".encode() + file.read_bytes().replace(b"\r\n", b"\n") + b"\0"
            )
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return f"{__version__} {python} {digest.hexdigest()[:12]}"


_ONE = threading.Lock()  # one case at a time in a process, whatever number of threads it was given
_kits: dict[str, Kit] = {}
_contexts: dict[RunConfig, WorkerContext] = {}


def here(want: str, parcel: bytes) -> Answer:
    """Do a job in this process and return the answer; an error is part of it."""
    if tool_print() != want:
        return TOOL, tool_print()
    try:
        job, config, key, kit, sure = pickle.loads(parcel)
        with _ONE:
            if kit:
                _kits.clear()
                _kits[key] = pickle.loads(kit)
            if key not in _kits:
                return KIT, ""
            for path in [] if sure else [path for work in job.works for path in work.paths]:
                if "://" not in path and not os.path.lexists(path):
                    return UNSEEN, path
            done = do_in(job, lambda: _make_context(config, _kits[key]))
            gc.collect()
            return DONE, pickle.dumps(done)
    except Exception as error:  # noqa: BLE001 - a fault of Backline; the other cases are read
        return BROKEN, describe_fault(f"{type(error).__name__}: {str(error)[:200]}")


def _make_context(config: RunConfig, kit: Kit) -> WorkerContext:
    """Return what the jobs of a run need; raises ConfigError when the rules that were sent make another catalog."""

    if config not in _contexts:
        sources: list[Path | RuleSource] = []
        for one in kit.sources:
            sources += rules.default_paths() if one.kind == "shipped" else [one.rule_source()]
        thresholds = kit.settings.thresholds
        catalog = rules.load(
            sources,
            limits=config.options.limits,
            drafts=config.options.drafts,
            thresholds=thresholds,
        )
        if tuple(map(str, catalog.broken)) != kit.broken:
            raise ConfigError(
                "the rules that were sent to a worker read differently there",
                why=next(iter({*map(str, catalog.broken)} ^ {*kit.broken})).splitlines()[0],
                do="Fix the rule file and start again.",
            )
        _contexts.clear()
        _contexts[config] = context_of(config, Local(kit.settings, packs=False), catalog)
    return _contexts[config]


def fatal_of(answer: Answer, worker: str) -> BacklineError:
    """Return the error that ends a run because of what a worker is."""
    kind, detail = answer
    same = "Install the same wheel of Backline and the same Python on all machines, and start the workers again."
    if kind == TOOL:
        ours, theirs = tool_print().split(), str(detail).split()
        names = ("Backline", "Python")
        differing = [
            f"{name} {b} there, {a} here"
            for name, a, b in zip(names, ours, theirs, strict=False)
            if a != b
        ]
        why = ", ".join(differing) or f"both are version {ours[0]}, but their files differ"
        return ConfigError("a worker has another Backline", where=worker, why=why, do=same)
    if kind == MISSING:
        return ConfigError(
            "a worker cannot start Backline", where=worker, why=str(detail)[:200], do=same
        )
    return ConfigError(
        "a worker cannot read the files of a case", where=worker, why=f"there is no {detail}",
        do="Put the cases on a storage that all machines reach (s3://…, or a network folder of the same path).",
    )  # fmt: skip

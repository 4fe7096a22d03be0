"""What is sent to a batch worker and what comes back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from analyzer.runtime.errors import BacklineError

if TYPE_CHECKING:
    from analyzer.archive.entry import Stored
    from analyzer.ingest.file_hashes import Hashed

HASH, READ, JUDGE, FAIL = "hash", "read", "judge", "fail"
OK, PARTIAL, REFUSED, FAILED = "ok", "partial", "refused", "failed"
GONE, HASHED, LOST = "gone", "hashed", "lost"


@dataclass(frozen=True, slots=True)
class Work:
    """One case of a job: where it is read from, or the stored case that is judged again.

    source  absolute path or URL; paths: what is read; size: bytes on the disk
    """

    name: str
    source: str
    paths: tuple[str, ...] = ()
    size: int = 0
    stored: Stored | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """What a process is asked to do at once: read one case (or hash, or note its failure), or judge many again.

    why    with FAIL: what happened to the case
    again  ms since 1970; what this job, or another run, has stored of the case since then is not stored twice
    """

    number: int
    act: str
    works: tuple[Work, ...]
    why: str = ""
    again: int = 0

    @property
    def case_count(self) -> int:
        """How many cases it has."""
        return len(self.works)

    def note_start(self, at: int) -> Self:
        """Return the job to be done again, after a process died that was given it `at`."""
        return replace(self, again=self.again or at)

    def split_cases(self) -> list[Self]:
        """Return a job for each case, where many are judged at once."""
        return (
            [replace(self, works=(work,)) for work in self.works]
            if self.act == JUDGE and self.case_count > 1
            else []
        )

    def give_up(self, why: str) -> Done:
        """Return the answer when the process died over it, or was ended."""
        return Done(
            self.number,
            self.act,
            tuple(Result(work.source, work.name, LOST, why) for work in self.works),
        )

    @property
    def disk_size(self) -> int:
        """Bytes on the disk that are read."""
        return sum(work.size for work in self.works) if self.act != JUDGE else 0


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one case.

    state       ok, partial, refused, failed; hashed: only its hashes were asked for; gone: its facts are not there;
                lost: the process died (told by the runner), nothing is stored
    id          what the case is, "" when that is not known
    rules       rules that matched, with the number of findings
    unsearched  signatures that its stored facts were never searched for
    bytes       size of what was stored
    """

    source: str
    name: str
    state: str
    why: str = ""
    id: str = ""
    rules: tuple[tuple[str, int], ...] = ()
    unsearched: tuple[str, ...] = ()
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class Done:
    """What became of a job, or of some of its cases.

    hashes  of the files that were read; seconds: wall time
    fatal   why the whole run must end, with the exit code of its kind; None when it need not
    """

    number: int
    act: str
    results: tuple[Result, ...] = ()
    hashes: tuple[Hashed, ...] = ()
    seconds: float = 0.0
    fatal: BacklineError | None = None

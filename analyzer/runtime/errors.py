"""Errors that speak to the engineer: what, where, why, what to do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from analyzer.runtime.text import one_line


class BacklineError(Exception):
    """An error the user is shown as one sentence, never as a traceback.

    what   what could not be done
    where  file, `archive!member:line` or option it concerns
    why    the cause, in plain words
    do     the next step
    """

    exit_code = 3
    choices: Sequence[str] = ()  # what can be given instead, a line each

    def __init__(self, what: str, *, where: str = "", why: str = "", do: str = "") -> None:
        super().__init__(what)
        self.what, self.where, self.why, self.do = what, where, why, do

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}" if self.where else self.what
        if self.why:
            text += f" ({self.why})"
        return f"{text}. {self.do}" if self.do else text

    def describe_cause(self) -> str:
        """Return what could not be done and why, without place and next step."""
        return f"{self.what}: {self.why}" if self.why else self.what

    def show_parts(self) -> dict[str, str]:
        """Return the four parts, safe to show."""
        parts = {"what": self.what, "where": self.where, "why": self.why, "do": self.do}
        return {name: one_line(text, 1000) for name, text in parts.items()}


class UsageError(BacklineError):
    """The command line asks for something that does not exist; `choices` are what does, a line each."""

    exit_code = 2

    def __init__(
        self,
        what: str,
        *,
        where: str = "",
        why: str = "",
        do: str = "",
        choices: Sequence[str] = (),
    ) -> None:
        super().__init__(what, where=where, why=why, do=do)
        self.choices = choices


class RefusedError(BacklineError):
    """Nothing readable came in; there is no report."""

    exit_code = 3


class WriteError(BacklineError):
    """What was found cannot be written: disk full, read-only, no permission, a folder in its place."""

    exit_code = 6


class RuleFileError(BacklineError):
    """A rule file is invalid; carries place and caret in its text."""

    exit_code = 4


def failure_text(error: Exception) -> str:
    """Return what went wrong with a case, for the engineer; of a fault of ours also where in our code."""
    if isinstance(error, BacklineError):
        return str(error)
    if isinstance(error, MemoryError):
        return "not enough memory"
    return describe_fault(find_error_place(error))


def describe_fault(said: str) -> str:
    """Return the sentence for an error inside Backline."""
    return f"internal error, please report it ({said})"


def find_error_place(error: Exception) -> str:
    """Return where in our code an error arose, and what it says."""
    import traceback  # noqa: PLC0415 - only for the error

    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{Path(place.filename).name}:{place.lineno}: {error!r:.200}"

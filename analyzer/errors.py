"""Errors that speak to the engineer: what, where, why, what to do."""

from __future__ import annotations


class BacklineError(Exception):
    """An error the user is shown as one sentence, never as a traceback.

    what   what could not be done
    where  file, `archive!member:line` or option it concerns
    why    the cause, in plain words
    do     the next step
    """

    exit_code = 3

    def __init__(self, what: str, *, where: str = "", why: str = "", do: str = "") -> None:
        super().__init__(what)
        self.what, self.where, self.why, self.do = what, where, why, do

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}" if self.where else self.what
        if self.why:
            text += f" ({self.why})"
        return f"{text}. {self.do}" if self.do else text


class UsageError(BacklineError):
    """The command line asks for something that does not exist."""

    exit_code = 2


class RefusedError(BacklineError):
    """Nothing readable came in; there is no report."""

    exit_code = 3


class RuleFileError(BacklineError):
    """A rule file is invalid; carries place and caret in its text."""

    exit_code = 4

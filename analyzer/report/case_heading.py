"""What an engineer adds to the head of a note or a mail: the number of the service request, the customer's name."""

from __future__ import annotations

from typing import NamedTuple

from analyzer.case.document import CaseDocument
from analyzer.runtime.errors import UsageError
from analyzer.runtime.text import UNSAFE

HEADED = ("note", "jira", "markdown", "mail")  # the forms that have such a head
LONGEST = 80  # characters of either


class CaseHeading(NamedTuple):
    """Both are one line of visible text (`check_heading`), "" for none; neither is kept in case.json."""

    sr: str = ""
    customer: str = ""


NO_HEADING = CaseHeading()


def check_heading(option: str, text: str) -> str:
    """Return what was given for an option of the heading, without blanks around it; UsageError when it cannot be one."""
    text = text.strip()
    if not text:
        raise UsageError(f"{option} is empty", do="Write it behind the option, or leave it out.")
    if len(text) > LONGEST:
        raise UsageError(f"{option} has {len(text):,} characters; {LONGEST} are the most")
    if "\n" in text or "\t" in text or UNSAFE.search(text):
        raise UsageError(
            f"{option} holds a line end, a tab or a control character", do="Write it on one line."
        )
    return text


def name_case(doc: CaseDocument, heading: CaseHeading, unnamed: str) -> str:
    """Return what a case is called: number of the request, name of the case, customer; each only once."""
    parts = []
    if heading.sr:
        named = heading.sr[:2].casefold() == "sr"
        parts.append(heading.sr if named else f"SR {heading.sr}")
    parts.append(doc.case.name or unnamed)
    if heading.customer and heading.customer != doc.case.name:
        parts.append(heading.customer)
    return ", ".join(parts)

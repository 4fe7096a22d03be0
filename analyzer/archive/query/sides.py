"""A stored case as a side of a comparison: its rows, judged anew by the rules of the other sides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from analyzer.archive.entry import Stored
from analyzer.archive.query import browse
from analyzer.archive.restore.recall import recall_case
from analyzer.archive.store import Archive
from analyzer.case.document import CaseDocument
from analyzer.compare.sides import Recall

if TYPE_CHECKING:
    from analyzer.pipeline.case_data import CaseData
    from analyzer.scan.hits import Signature


def stored_side(archive: Archive, stored: Stored) -> Recall:
    """Return what recalls a stored case; where a judgement alone is stored, its document."""

    def recall_side(signatures: Sequence[Signature]) -> CaseData | CaseDocument:
        document = browse.read_document(archive, stored)
        return document if stored.facts is None else recall_case(archive, stored, signatures)

    return recall_side

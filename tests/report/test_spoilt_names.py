"""Every form of a case can be made when its names were changed, removed or doubled: no stage relies on a name."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analyzer.case.document import CaseDocument
from analyzer.compare.document import compare_cases
from analyzer.compare.sides import CaseSide
from analyzer.redact.redaction import Redaction
from analyzer.report import comparison
from analyzer.report.objects import list_objects
from analyzer.report.site import draw_site
from tests.kit import archive_kit
from tests.kit.case_factory import hostile_case, quiet_case, rich_case
from tests.kit.every_form import render_forms
from tests.kit.spoilt_names import CHANGES, Step, copy_document, spoil_document

STEPS = st.lists(
    st.builds(
        Step,
        st.sampled_from(sorted(CHANGES)),
        st.integers(0, 1 << 20),
        st.integers(0, 1 << 20),
    ),
    min_size=1,
    max_size=12,
)


@cache
def judge_site() -> CaseDocument:
    """Return the document of the sample site, which has a picture."""
    return archive_kit.judged(archive_kit.sample("nsx-633-site")).document


DOCUMENTS: dict[str, Callable[[], CaseDocument]] = {
    "rich": cache(rich_case),
    "site": judge_site,
    "hostile": cache(hostile_case),
    "quiet": cache(quiet_case),
}


def _redact_nodes(doc: CaseDocument) -> CaseDocument:
    """Return a case in which the names that its machines have now are pseudonyms."""
    redaction = Redaction()
    taking = redaction.begin_taking()
    for node in doc.nodes:
        taking.take_cell("host", node.name)
    return redaction.redact_document(doc)


@pytest.mark.size
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(sorted(DOCUMENTS)), STEPS, st.booleans())
def test_every_form_of_a_case_with_spoilt_names(name: str, steps: list[Step], hosts: bool) -> None:
    """All forms, also of the redacted case, the objects and the comparison with the sound case are made."""
    sound = DOCUMENTS[name]()
    spoilt = spoil_document(sound, steps)
    render_forms(copy_document(spoilt))
    render_forms(_redact_nodes(copy_document(spoilt)))
    list_objects(copy_document(spoilt))
    sides = [CaseSide("one", copy_document(sound)), CaseSide("two", spoilt)]
    compared = compare_cases(sides, hosts=hosts)
    assert comparison.render_html(compared)
    assert comparison.render_markdown(compared)
    assert comparison.dump_document(compared)


def test_a_site_with_a_kind_that_is_none_is_drawn() -> None:
    """A member of an unknown kind has a box behind all others, and is listed where it is missing."""
    doc = copy_document(judge_site())
    members = [row for row in doc.site if row.what == "member"]
    members[0].channel = "host-02"
    members[0].state = "not in the case"
    picture = draw_site(doc)
    assert picture is not None
    assert picture.missing[-1].channel == "host-02"
    assert max(picture.boxes, key=lambda box: box.x).kind == "host-02"


def test_a_machine_called_like_a_kind_leaves_the_kinds_of_a_redacted_site() -> None:
    """A host with the name `controller` gets its pseudonym, and the kinds of members stay what they are."""
    doc = copy_document(judge_site())
    kinds = [row.channel for row in doc.site if row.what == "member"]
    assert "controller" in kinds
    doc.nodes[0].name = "controller"
    redaction = Redaction()
    redaction.begin_taking().take_cell("host", "controller")
    made = redaction.redact_document(doc)
    assert made.nodes[0].name != "controller"
    assert [row.channel for row in made.site if row.what == "member"] == kinds
    assert draw_site(made) is not None

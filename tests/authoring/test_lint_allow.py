"""Comments that allow a complaint: where they hold, what they must say, and that they silence nothing else."""

from __future__ import annotations

import pytest

from analyzer.authoring.lint import run as lint
from tests.kit.lint_kit import codes, laid, told


def test_a_comment_on_the_line_above_allows_one_complaint() -> None:
    """The next line that is no comment is meant; a blank line and further comments may stand between."""
    assert codes("# lint: allow R024 because the row is the sign\nwhen: true") == []
    assert codes("# lint: allow R024 because the row is the sign\n\n# why\nwhen: true") == []
    assert codes("when: true") == ["R024"]


def test_a_comment_at_the_end_of_a_line_allows_what_is_wrong_there() -> None:
    """It holds for its own line and not for the next."""
    assert codes("when: true # lint: allow R024 because the row is the sign") == []
    assert codes("subject: '{n.pnic}' # lint: allow R024 because of the next line\nwhen: true") == [
        "R091",
        "R024",
    ]


def test_a_comment_above_the_first_key_holds_for_the_whole_file() -> None:
    """Complaints about what is missing have no line of their own; the head of the file is their place."""
    piece = "# lint: allow R062, R064 because this rule only notes a fact\nrule: damaged-frames\nfix: []\nnot_this: []\nask: ''"

    assert codes(piece) == ["R065"]


def test_a_comment_above_a_folded_text_holds_for_all_of_it() -> None:
    """The words of a block stand below the line of its key, where no comment can be."""
    piece = "# lint: allow R067 because the host prints TODO\nabout: >-\n  One sentence.\n  Another with a TODO in it."

    assert codes(piece) == []


def test_one_comment_names_several_codes() -> None:
    """Commas part them; each must be of use."""
    both = "outcomes:\n  # lint: allow R033, R034 because the title says it all\n  - when: true\n    severity: info"

    assert codes(both) == []
    assert codes(both.replace("R034", "R055")) == ["R091", "R034"]


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("# lint: allow R024", "gives no reason"),
        ("# lint: allow R024 because", "gives no reason"),
        ("# lint: allow R024 because <…>", "gives no reason"),
        ("# lint: allow R999 because it is so", "there is no code `R999`"),
        ("# lint: allow everything because it is so", "there is no code `everything`"),
        ("# lint: ignore R024", "is not understood"),
        ("# lint:", "is not understood"),
        (
            "# lint: allow R011 because it is so",
            "R011 cannot be allowed: a file with it is not used",
        ),
        ("# lint: allow R091 because it is so", "R091 cannot be allowed"),
        ("# lint: allow R024 R027 because it is so", "is not understood"),
    ],
)
def test_a_comment_that_is_wrong_is_a_complaint_and_allows_nothing(
    comment: str, message: str
) -> None:
    """Without a reason, with a code that is none or that keeps the rule from loading: told, and nothing is silenced."""
    found = told(f"{comment}\nwhen: true")

    assert [one.code for one in found] == ["R090", "R024"]
    assert message in found[0].message
    assert found[0].source == comment


def test_what_keeps_a_rule_from_loading_cannot_be_allowed() -> None:
    """The comment does not make the file one that can be used."""
    assert codes("# lint: allow R011 because the column comes soon\nwhen: n.nothing > 0") == [
        "R090",
        "R011",
    ]


def test_a_comment_that_allows_nothing_is_told() -> None:
    """The place is the code in the comment."""
    (found,) = told("# lint: allow R024 because the row is the sign\nwhen: n.rx_crc_errors > 3")

    assert (found.code, found.level) == ("R091", "warning")
    assert found.source[found.place.column - 1 :][: found.place.width] == "R024"


def test_nothing_is_said_of_codes_that_were_not_asked_for() -> None:
    """Without --thorough no threshold was moved; in a rule that does not load no condition was looked at."""
    assert (
        codes("# lint: allow R073 because it is the factor of a unit\nwhen: n.rx_crc_errors > 0")
        == []
    )
    assert codes("# lint: allow R024 because the row is the sign\nwhen: n.nothing") == ["R011"]


def test_text_of_a_host_is_no_comment() -> None:
    """What looks like a comment inside a text, quoted or in a block, allows nothing and is not complained of."""
    for piece in (
        'about: "One sentence. # lint: allow R057 because it is so"',
        "about: >-\n  One sentence with\n  # lint: allow R057",
        "about: |\n  One sentence with\n  # lint: ignore this\n",
        "about: 'One sentence over\n\n  # lint: allow R057 because it is so'",
    ):
        assert "R090" not in codes(piece)
        assert "R091" not in codes(piece)
    assert (
        codes('about: "One sentence. # lint: allow R057 because it is so"') == []
    )  # two sentences


def test_a_comment_behind_the_sign_of_a_block_is_one() -> None:
    """`about: >- # lint: …` is a comment in YAML, and holds for the block."""
    assert codes("about: >- # lint: allow R057 because one says both\n  One sentence") == []


def test_capital_letters_and_blanks_do_not_matter() -> None:
    """People write as they write."""
    assert codes("#lint:allow r024 BECAUSE the row is the sign\nwhen: true") == []


def test_line_ends_of_windows_change_nothing() -> None:
    """A file from an editor on Windows is heard as well."""
    text = laid("# lint: allow R024 because the row is the sign\nwhen: true").replace("\n", "\r\n")

    assert lint.check_text(text, "damaged-frames.yaml") == []

"""Level and component of a log line, as `backline log` shows them."""

from __future__ import annotations

from analyzer.artefacts.parsing import registry
from analyzer.artefacts.tables import Block, Row
from analyzer.merged_log.entry import COMPONENT_WORDS, COMPONENTS, component_of
from tests.kit.sample_kit import ALL, Sample
from tests.kit.together import together

LOGS = [
    one for one in ALL if registry()[one.parser].log and registry()[one.parser].words is not None
]


@together("sample", LOGS, ids=str, parts=2)
def test_words_of_a_line_are_those_of_its_row(sample: Sample) -> None:
    """The short way to the level and component of a line gives what the parser of its log gives."""
    parser = registry()[sample.parser]
    assert parser.words is not None
    for line in sample.text.read_text(encoding="utf-8", errors="surrogateescape").splitlines():
        found = parser.words(line)
        if found is not None:
            rows = [item for item in parser.parse(Block([line])) if isinstance(item, Row)]
            values = rows[0].values
            assert (found["LEVEL"], component_of(found, COMPONENT_WORDS)) == (
                values.get("level") or "",
                component_of(values, COMPONENTS),
            )


def test_most_lines_of_samples_go_the_short_way() -> None:
    """Of the lines of all log samples at least four in five are told without a run of the template."""
    short = [
        registry()[one.parser].words(line) is not None  # type: ignore[misc]
        for one in LOGS
        for line in one.text.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    ]
    assert sum(short) >= 0.8 * len(short)

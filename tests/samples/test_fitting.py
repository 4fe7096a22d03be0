"""Whether an output is of the form of a parser is told by a quick look that agrees with the parser itself."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from analyzer.artefacts import parsing
from analyzer.artefacts.parsing import Parser
from analyzer.artefacts.tables import Block, Row
from analyzer.ingest.artefacts import run_parser
from analyzer.ingest.reader import BEGINNING, LEAST, fits_output
from tests.kit.sample_kit import list_samples

FORMS = [one for one in parsing.registry().values() if one.template]
TEXTS = [
    path for one in FORMS for path in list_samples(one.name) if path.suffix in (".txt", ".json")
]


@st.composite
def outputs(draw: st.DrawFn) -> tuple[Parser, list[str]]:
    """A parser and lines of its own samples, or of those of two others."""
    parser = draw(st.sampled_from(FORMS))
    own = [path for path in TEXTS if path.parent.name == parser.name] or TEXTS
    texts = draw(st.lists(st.sampled_from(own) | st.sampled_from(TEXTS), min_size=1, max_size=2))
    lines = [
        line
        for path in texts
        for line in path.read_text("utf-8", "replace").splitlines()[:BEGINNING]
    ]
    return parser, draw(st.permutations(lines)) if draw(st.booleans()) else lines


@pytest.mark.size
@settings(max_examples=120, deadline=None)
@given(outputs())
def test_the_quick_look_says_what_the_whole_parser_says(output: tuple[Parser, list[str]]) -> None:
    """Of lines of outputs, its own and others', mixed: a parser fits them exactly when it makes a row of them."""
    parser, lines = output
    block = Block([line for line in lines if line.strip()], 1, "commands/some.txt")
    long = block.lines * (LEAST // max(1, len(block.lines)) + 1)
    block = replace(block, lines=long)
    event(str(said := any(isinstance(item, Row) for item in run_parser(parser, block))))
    assert fits_output(parser, block) == said

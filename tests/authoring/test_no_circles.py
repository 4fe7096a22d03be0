"""What judging makes goes when it is done, without Python looking for circles: it would look through every case."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from analyzer.authoring.proof.prove import RuleProof, prove_rules
from analyzer.authoring.select import select_rules
from analyzer.rules.run_catalog import Local

EACH = 20  # objects in circles that an example may leave: those of the search of its log text
RULES = ("kb-2039495", "vm-stopped", "cpu-contention", "beacon-probing")


@pytest.fixture
def uncollected() -> Iterator[None]:
    """Leave it to the test when circles are looked for."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.size
def test_examples_leave_no_circles(uncollected: None) -> None:
    """The functions, tables and facts of an example are freed with it: it left a thousand objects in circles before."""
    catalog = select_rules(RULES, (), local=Local(packs=False))
    prove_rules(catalog)  # what is made once
    gc.collect()

    proofs: list[RuleProof] = prove_rules(catalog)
    left = gc.collect()

    examples = sum(len(one.results) for one in proofs)
    assert examples > 50 and not any(one.failed for one in proofs)
    assert left < EACH * examples, f"{left / examples:.0f} objects an example"

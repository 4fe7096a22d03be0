"""`backline rules test`: the examples of rules, judged by the real judge."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from analyzer.authoring.proof import printing as proof_text
from analyzer.authoring.proof.mutation import find_survivors
from analyzer.authoring.proof.prove import prove_rules
from analyzer.authoring.select import select_rules
from analyzer.commands.local import RuleChoice, kb_option, local_options
from analyzer.commands.places import RuleName
from analyzer.commands.plain import BROKEN_RULE, DONE, FAILED, speak_plainly
from analyzer.runtime.errors import UsageError
from analyzer.runtime.text import for_terminal

if TYPE_CHECKING:
    from analyzer.authoring.proof.mutation import Survivor
    from analyzer.authoring.proof.prove import RuleProof
    from analyzer.rules import Catalog


@click.command("test")
@click.argument("rules", nargs=-1, type=RuleName(), metavar="[RULES]...")
@kb_option
@click.option(
    "-k", "pattern", metavar="TEXT", default="", help="Only examples with TEXT in `rule: name`."
)
@click.option("--mutate", is_flag=True, help="Also move every number: some example must notice.")
@click.option("-v", "--verbose", is_flag=True, help="Name every example.")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@local_options
@speak_plainly
def command(
    rules: tuple[str, ...],
    pattern: str,
    mutate: bool,
    verbose: bool,
    as_json: bool,
    choice: RuleChoice,
) -> None:
    """Run the examples of rules.

    RULES are ids, files or folders; without them, all rules.
    An example that is not as expected is shown with the difference and the trace. Exits with 1 when
    there is one, with 4 when a file is broken.

    \b
    Example:
      backline rules test my-rules/kb-2039495.yaml -v
      backline rules test kb-2039495 -k "ring one"
      backline rules test my-rules --mutate
    """

    catalog = select_rules(rules, choice.kb, local=choice.load_local())
    start = time.monotonic()
    proofs = prove_rules(catalog, pattern)
    if not proofs and not catalog.broken:
        why = f"no example has {pattern!r} in `rule: name`" if pattern else "no rule was found"
        raise UsageError("nothing to test", why=why, do="`backline rules list` shows the rules.")
    left = {proof.rule.id: find_survivors(proof.rule) for proof in proofs} if mutate else {}
    if as_json:
        click.echo(proof_text.write_json(proofs, left, catalog), nl=False)
    else:
        for line in _write_lines(proofs, left, catalog, verbose=verbose):
            click.echo(line)
        click.echo(f"{time.monotonic() - start:.1f} s", err=True)
    failed = any(proof.failures for proof in proofs) or any(left.values())
    click.get_current_context().exit(BROKEN_RULE if catalog.broken else FAILED if failed else DONE)


def _write_lines(
    proofs: Sequence[RuleProof],
    left: Mapping[str, Sequence[Survivor]],
    catalog: Catalog,
    *,
    verbose: bool,
) -> Iterator[str]:
    """Yield what is printed for people: broken files, examples, and how many of each."""

    yield from (for_terminal(str(error)) for error in catalog.broken)
    for proof in proofs:
        yield from proof_text.write_lines(proof, left.get(proof.rule.id, ()), verbose=verbose)
    yield proof_text.write_summary(proofs, left, len(catalog.broken))

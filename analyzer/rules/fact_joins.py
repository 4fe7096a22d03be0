"""How a rule names rows of the catalog: the joins that may, and the key `fact`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analyzer.artefacts.tables import Table
from analyzer.rules.language.rulefile import RuleItem, RuleText, did_you_mean
from analyzer.rules.model import Join
from analyzer.rules.values import Values


def check_join(text: RuleText, table: Table, rows: str, keys: Mapping[str, RuleItem]) -> None:
    """Refuse a join that asks of a table what goes with tables of the catalog alone, or not with them."""
    if rows == "each" and table.given is None:
        advice = (
            "`each` above says what gets one verdict; `rows: each` adds the rows of a table kb.…"
        )
        raise text.error(
            f"`rows: each` does not go with `{table.spoken_name}`", keys["rows"].place, advice
        )
    if rows == "each" and "where" in keys:
        raise text.error(
            "`where` does not go with `rows: each`",
            keys["where"].place,
            "put it into `only` or `when`",
        )
    if table.given is not None and "nodes" in keys:
        raise text.error(
            f"`{table.spoken_name}` belongs to no node", keys["nodes"].place, "leave `nodes` out"
        )


def fact_alias(values: Values, item: RuleItem | None, joins: Sequence[Join]) -> str:
    """Return the alias under `fact`, else that of the join with `rows: each`, else ""."""
    own = {
        join.alias.name: join
        for join in joins
        if join.alias.table.given is not None and not join.alias.many
    }
    spread = [name for name, join in own.items() if join.each]
    if len(spread) > 1:
        place = item.place if item is not None else values.text.tree().value["join"].place
        raise values.text.error("only one join has `rows: each`", place, "split the rule in two")
    if item is None:
        return spread[0] if spread else ""
    name = values.text.string(item, "fact")
    if name not in own:
        near = did_you_mean(name, own) or "name a join of a table kb.… with one row"
        raise values.text.error(f"no row of the catalog is called `{name[:60]}`", item.place, near)
    if spread and name not in spread:
        raise values.text.error(f"`{spread[0]}` has `rows: each`: it is the fact", item.place)
    return name

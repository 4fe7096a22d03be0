"""Rules: how a file becomes a rule, every mistake with its caret, and the catalog that holds them."""

from __future__ import annotations

from analyzer.rules.catalog import Catalog, build, default_paths, load, parse
from analyzer.rules.language.rulefile import BadRuleError, RuleText
from analyzer.rules.model import (
    STATUSES,
    USED,
    Example,
    Grade,
    HitTable,
    Join,
    LogDef,
    Note,
    Outcome,
    Population,
    Rule,
    SeenDef,
    Step,
    ThresholdError,
    Thresholds,
)

__all__ = [
    "STATUSES",
    "USED",
    "BadRuleError",
    "Catalog",
    "Example",
    "Grade",
    "HitTable",
    "Join",
    "LogDef",
    "Note",
    "Outcome",
    "Population",
    "Rule",
    "RuleText",
    "SeenDef",
    "Step",
    "ThresholdError",
    "Thresholds",
    "build",
    "default_paths",
    "load",
    "parse",
]

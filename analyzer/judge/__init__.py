"""The judge: rules over the facts of a case. It reads facts and writes none."""

from __future__ import annotations

from analyzer.judge.choosing import grade_severity
from analyzer.judge.node_coverage import kinds_of
from analyzer.judge.rule_evaluation import verdict_of
from analyzer.judge.whole_catalog import (
    EvidencePlace,
    JudgementBuilder,
    OnJudged,
    judge,
    judge_cases,
    judge_many,
    judge_nothing,
    judge_rule,
    list_places,
)

__all__ = [
    "EvidencePlace",
    "JudgementBuilder",
    "OnJudged",
    "grade_severity",
    "judge",
    "judge_cases",
    "judge_many",
    "judge_nothing",
    "judge_rule",
    "kinds_of",
    "list_places",
    "verdict_of",
]

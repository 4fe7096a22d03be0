"""The judge: rules over the facts of a case. It reads facts and writes none."""

from __future__ import annotations

from analyzer.judge.whole_catalog import (
    JudgementBuilder,
    OnJudged,
    alone,
    graded,
    judge,
    judge_cases,
    judge_many,
    kinds_of,
    unjudged,
    verdict_of,
)

__all__ = [
    "JudgementBuilder",
    "OnJudged",
    "alone",
    "graded",
    "judge",
    "judge_cases",
    "judge_many",
    "kinds_of",
    "unjudged",
    "verdict_of",
]

"""The keys of a rule file, in the order of a well-kept one, with one line of meaning each."""

from __future__ import annotations

import re

# Key -> one line of meaning; the order is the order of a well-kept file.
KEYS = {
    "rule": "id of the rule, the stem of its file; never used again for another rule",
    "title": "the fault in one line",
    "kb": "numbers of KB articles",
    "issues": "numbers of known issues of a product",
    "source": "where the facts and thresholds come from: records {title, url or article, checked, mark}, or plain texts",
    "checked": "date on which the sources were last read",
    "owner": "who answers for the rule: a team or an address",
    "tags": "words to find rules by",
    "status": "draft, test, stable or retired",
    "proven": "proof for a stable rule: the back-test or captures it was right on, with their day and number",
    "replaced_by": "id of the rule that took over from a retired one",
    "replaces": "ids of rules it replaces; their labels and stored findings count as its own",
    "revised": "date of the last change",
    "needs": "lowest version of the tool",
    "about": "cause, in two to four sentences",
    "product": "nsx or nsxt, where the rule is about that product but its table is one of the host",
    "unasked": "true: where the case holds nothing of the table of `each`, the rule does not apply and asks for nothing",
    "sign": "short form: the lines of the trouble: {in, match, columns, where, per, at_least, within, distinct}",
    "cleared": "short form: the line that ends it: a pattern, or {match, longer_than, severity, confidence, say}",
    "each": "`alias in table`: one verdict for each row; or `alias in signature per group`",
    "join": "rows of other tables beside it: alias -> {table, by, rows, nodes, where}",
    "fact": "joined row of the catalog (kb.…) that gives each finding its title, KB, text and source",
    "population": "rows that list every subject there should be: {table, as, by, where, subject}",
    "subject": "text that names what is affected",
    "object": "name of the affected thing, the same in other rules; in a list, what it rests on comes after it",
    "logs": "signatures in logs: name -> {in, match, ignore_case, columns, otherwise, where, keep, nodes}",
    "seen": "questions to the hits: count, window, sequence, silence",
    "affected": "versions that have the fault: product -> ranges; for others the rule does not apply",
    "fixed_in": "versions that have the fix: product -> versions",
    "only": "condition under which the rule applies at all",
    "let": "named values, in order",
    "when": "the condition",
    "severity": "short form: how severe the one answer is",
    "confidence": "short form: how sure the one answer is",
    "say": "short form: the one answer in words",
    "grade": "severities for outcomes that name none, the first true one is taken: {when, severity}",
    "outcomes": "answers, the first true one is taken: {when, severity, confidence, say}",
    "notes": "sentences added to a finding, each when its condition holds: {when, say}",
    "evidence": "values whose lines are shown",
    "chart": "columns of samples to draw",
    "fix": "steps of the remedy: {when, unsure, where, run or do, note, caution}",
    "caution": "caution that holds whatever the steps are; what one step interrupts goes to `caution` of that step",
    "not_this": "what looks the same but is not",
    "explained_by": "rules whose finding on the same object or line explains this one; `*`: all on the same lines",
    "ask": 'what to request when the answer is "cannot tell"',
    "examples": "cases the rule must judge correctly",
}
NEEDED = ("rule", "title", "each", "when", "outcomes")
JOIN_KEYS = ("table", "by", "rows", "nodes", "where")
OUTCOME_KEYS = ("when", "severity", "confidence", "say")
POPULATION_KEYS = ("table", "as", "by", "where", "subject")
GRADE_KEYS = ("when", "severity")
NOTE_KEYS = ("when", "say")
FIX_KEYS = ("when", "releases", "unsure", "where", "run", "do", "note", "caution")
ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*$")  # of a rule

"""From material to the case document: triage, the parts of the document, host cards and the site."""

"""Sources: everything a case holds, read in one forward pass and never unpacked to disk."""

from analyzer.sources.ledger import Damage, Ledger, SourceRecord
from analyzer.sources.member import Member
from analyzer.sources.walker import walk

__all__ = ["Damage", "Ledger", "Member", "SourceRecord", "walk"]

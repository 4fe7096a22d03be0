"""Signs of trouble that no rule knows: what lines, cells and answers say, weighed, ranked and never judged."""

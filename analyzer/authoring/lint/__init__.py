"""The reviewer of rule files: codes, checks, allowances, how complaints are printed."""

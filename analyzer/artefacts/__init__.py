"""How an artefact is declared and read: tables, parsers, templates, samples, times, hosts and builds."""

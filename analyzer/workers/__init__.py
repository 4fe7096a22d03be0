"""Child processes: a pool that does jobs, a process that talks in lines of JSON, their bounds and their end."""

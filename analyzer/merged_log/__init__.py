"""The lines of all logs of a case, merged by their time in UTC; `backline log`."""

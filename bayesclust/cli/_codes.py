"""The exit codes of the command line."""

REFUSED, MISUSED, INTERRUPTED = 1, 2, 130

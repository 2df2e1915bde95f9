"""Minimal weighted modification of a partition under constraints (IAC).

`modify` finds anchors, super-instances and what moving them costs; `program` solves the constraint
program, and explains where nothing satisfies it.
"""

"""Minimal weighted modification of a partition under constraints (IAC): `modify`, `program`."""

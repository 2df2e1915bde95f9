"""The whole table of public entries."""

from tests.robustness.entries import TABLE as FIRST
from tests.robustness.further_entries import FURTHER

TABLE = {**FIRST, **FURTHER}

"""The numbers that the slides on IAC print, and the seconds published with it."""

from __future__ import annotations

from types import MappingProxyType

__all__ = ["SECONDS", "TABLE_2", "WINS"]

_SCORES = (
    "quality_ari",
    "quality_ami",
    "quality_fmi",
    "similarity_ari",
    "similarity_ami",
    "similarity_fmi",
)
_ROWS = {
    "iac-0-10": ((9, 1), (10, 1), (9, 1), (0, 0), (0, 0), (0, 0)),
    "iac-0-30": ((2, 0), (1, 0), (1, 0), (3, 1), (2, 0), (1, 1)),
    "iac-0-50": ((0, 0), (0, 0), (0, 0), (6, 3), (6, 2), (4, 2)),
    "iac-0-100": ((0, 0), (4, 1), (3, 0), (9, 9), (9, 9), (9, 9)),
    "iac-5-10": ((10, 3), (10, 3), (10, 3), (1, 0), (1, 0), (1, 0)),
    "iac-5-30": ((7, 3), (5, 3), (7, 3), (4, 2), (4, 1), (3, 1)),
    "iac-5-50": ((1, 0), (2, 0), (1, 0), (6, 4), (6, 3), (4, 2)),
    "iac-5-100": ((5, 2), (4, 0), (5, 1), (9, 9), (9, 9), (9, 9)),
    "iac-20-10": ((10, 7), (10, 6), (10, 6), (1, 1), (2, 1), (1, 0)),
    "iac-20-30": ((8, 3), (6, 3), (7, 3), (4, 2), (4, 2), (3, 1)),
    "iac-20-50": ((4, 1), (3, 1), (4, 1), (6, 5), (6, 4), (6, 4)),
    "iac-20-100": ((5, 2), (7, 3), (5, 1), (9, 9), (9, 9), (9, 9)),
}

WINS = MappingProxyType({name: dict(zip(_SCORES, row, strict=True)) for name, row in _ROWS.items()})
"""By setting and score: how many of the other settings it beats, and how many of these clearly (in parentheses there)."""

TABLE_2 = MappingProxyType(
    {
        ("iac-20-100", "conflicts"): {
            "quality_ari": 0.576,
            "similarity_ari": 0.075,
            "seconds": 5.262,
            "given_up": 49.7,
        },
        ("iac-20-30", "conflicts"): {
            "quality_ari": 0.760,
            "similarity_ari": 0.024,
            "seconds": 4.868,
            "given_up": 49.83,
        },
        ("pck", "conflicts"): {
            "quality_ari": 0.081,
            "similarity_ari": 0.051,
            "seconds": 3.639,
            "given_up": 149.3,
        },
        ("mpck", "conflicts"): {
            "quality_ari": 0.078,
            "similarity_ari": 0.017,
            "seconds": 29.27,
            "given_up": 159.9,
        },
        ("iac-20-100", "relaxed"): {
            "quality_ari": 0.309,
            "similarity_ari": 0.177,
            "seconds": 3.051,
            "given_up": 60.1,
        },
        ("iac-20-30", "relaxed"): {
            "quality_ari": 0.393,
            "similarity_ari": 0.108,
            "seconds": 2.972,
            "given_up": 60.1,
        },
        ("pck", "relaxed"): {
            "quality_ari": 0.375,
            "similarity_ari": 0.045,
            "seconds": 2.834,
            "given_up": 66.5,
        },
        ("mpck", "relaxed"): {
            "quality_ari": 0.406,
            "similarity_ari": 0.019,
            "seconds": 26.98,
            "given_up": 61.2,
        },
    }
)
"""On mk2, by method and case. Similarity is to the k-means partition; given_up counts constraints."""

SECONDS = MappingProxyType(
    {("letter", "pairs"): (201.0, 302.0), ("letter", "triplets"): (132.0, 617.0)}
)
"""Published for 1000 constraints on letters with alpha = 0, beta = 100%, by data and kind: the least and the most."""

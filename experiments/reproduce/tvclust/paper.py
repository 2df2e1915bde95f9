"""The numbers that the TVClust paper prints, by its table numbers.

Khashabi, Wieting, Liu, Liang: Clustering With Side Information: From a Probabilistic Model to a
Deterministic Algorithm, section 5. Each entry is pairwise F, adjusted Rand index and NMI. Figures 2
to 4 come without numbers.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["ALL", "METHODS", "TABLE_1", "TABLE_2", "TABLE_3", "TABLE_4", "Scores"]


class Scores(NamedTuple):
    """Agreement with the classes.

    Parameters
    ----------
    f : float
        Pairwise F.
    rand : float
        Adjusted Rand index.
    nmi : float
        Normalised mutual information.
    """

    f: float
    rand: float
    nmi: float


METHODS = ("K-means", "DP-means", "TVClust (variational)", "RDP-means", "MPCKMeans", "LCVQE")
ALL = "averaged over datasets"

# (method, data set), over all p and r
_TABLE_1 = """
                  .81 .71 .74 | .59 .36 .42 | .61 .50 .63 | .57 .47 .71 | .47 .14 .12 | .61 .44 .52
                  .74 .57 .69 | .63 .37 .44 | .71 .61 .64 | .53 .29 .45 | .31 .12 .21 | .58 .39 .48
                  .91 .85 .90 | .56 .45 .53 | .85 .79 .76 | .42 .22 .42 | .94 .92 .91 | .74 .64 .70
                  .86 .80 .80 | .81 .73 .72 | .90 .86 .82 | .82 .76 .73 | .94 .92 .88 | .87 .81 .79
                  .53 .29 .30 | .54 .30 .30 | .57 .33 .33 | .46 .30 .36 | .70 .26 .28 | .56 .30 .31
                  .73 .58 .60 | .57 .35 .39 | .61 .52 .61 | .64 .55 .66 | .62 .38 .37 | .64 .48 .53
"""
# (method, p), over all data sets and r
_TABLE_2 = """
                  .61 .44 .53 | .60 .43 .52 | .61 .43 .53 | .61 .43 .52
                  .58 .39 .49 | .59 .39 .48 | .59 .40 .49 | .58 .38 .48
                  .77 .69 .74 | .75 .66 .72 | .73 .63 .69 | .68 .56 .64
                  .93 .90 .89 | .92 .89 .87 | .87 .82 .79 | .75 .65 .62
                  .94 .91 .90 | .46 .14 .17 | .44 .10 .12 | .41 .04 .07
                  .83 .76 .79 | .64 .48 .53 | .58 .39 .45 | .50 .27 .35
"""
# (r, method, p), over all data sets
_TABLE_3 = {
    0.01: """
                  .62 .45 .53 | .62 .45 .53 | .61 .44 .53 | .60 .43 .52
                  .58 .39 .48 | .59 .39 .48 | .58 .38 .48 | .58 .38 .48
                  .72 .62 .69 | .69 .57 .65 | .66 .52 .60 | .58 .43 .53
                  .84 .77 .76 | .79 .71 .68 | .69 .58 .57 | .56 .39 .41
                  .83 .76 .73 | .52 .23 .29 | .49 .16 .21 | .44 .07 .12
                  .73 .62 .66 | .69 .56 .59 | .62 .46 .49 | .52 .32 .36
    """,
    0.03: """
                  .60 .43 .52 | .60 .42 .52 | .61 .44 .53 | .61 .45 .53
                  .59 .39 .49 | .58 .39 .49 | .59 .39 .48 | .58 .38 .47
                  .78 .70 .75 | .77 .69 .74 | .76 .68 .73 | .70 .59 .67
                  .98 .98 .96 | .98 .97 .94 | .93 .90 .86 | .77 .69 .63
                  .99 .99 .97 | .43 .07 .10 | .41 .04 .06 | .40 .02 .04
                  .86 .81 .85 | .62 .47 .52 | .57 .38 .45 | .48 .25 .33
    """,
    0.05: """
                  .62 .45 .54 | .59 .42 .52 | .60 .43 .52 | .60 .42 .51
                  .58 .39 .49 | .59 .39 .48 | .60 .42 .50 | .58 .38 .48
                  .81 .74 .79 | .79 .72 .77 | .78 .70 .75 | .74 .66 .72
                  .96 .96 .95 | .99 .99 .98 | .98 .97 .94 | .91 .87 .82
                  1.00 1.00 .99 | .44 .12 .13 | .41 .08 .09 | .38 .03 .05
                  .88 .84 .86 | .60 .42 .47 | .55 .34 .41 | .50 .25 .34
    """,
}
_ACCURACIES = (1.0, 0.95, 0.9, 0.8)


def _scores(text: str) -> list[list[Scores]]:
    """Rows of a table, by method."""
    rows = [line.split("|") for line in text.strip().splitlines()]
    return [[Scores(*map(float, entry.split())) for entry in row] for row in rows]


TABLE_1 = {
    (method, data): scores
    for method, row in zip(METHODS, _scores(_TABLE_1), strict=True)
    for data, scores in zip(("iris", "wine", "ecoli", "glass", "balance", ALL), row, strict=True)
}
"""(method, data set) -> scores, over all p and r."""

TABLE_2 = {
    (method, p): scores
    for method, row in zip(METHODS, _scores(_TABLE_2), strict=True)
    for p, scores in zip(_ACCURACIES, row, strict=True)
}
"""(method, p) -> scores, over all data sets and r."""

TABLE_3 = {
    (r, method, p): scores
    for r, text in _TABLE_3.items()
    for method, row in zip(METHODS, _scores(text), strict=True)
    for p, scores in zip(_ACCURACIES, row, strict=True)
}
"""(r, method, p) -> scores, over all data sets."""

TABLE_4 = {
    ("DP-means", "Gaussian"): 0.18,
    ("DP-means", "multinomial"): 0.22,
    ("K-means", "Gaussian"): 0.18,
    ("K-means", "multinomial"): 0.25,
    ("RDP-means", "Gaussian"): 0.20,
    ("RDP-means", "multinomial"): 0.44,
}
"""(method, model) -> F on 1000 ImageNet images as counts of 1000 visual words, ten categories, mean of ten runs."""

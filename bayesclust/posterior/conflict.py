"""Do data and answers agree? Each answer against what everything else says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust.posterior.answers import confusions
from bayesclust.posterior.tree import chain_partitions, group, stored_views
from bayesclust.typing import FloatArray

if TYPE_CHECKING:
    import pandas as pd

    from bayesclust.constraints.dataset import StoredConstraints
    from bayesclust.posterior.labels import Labels

__all__ = ["held_out_probabilities", "view_conflict"]

SURPRISING = -3.0
TINY = float(np.finfo(np.float64).tiny)


def view_conflict(posterior: Any) -> pd.DataFrame:
    """Return how well the answers of each source are predicted by the data and all other answers.

    Every answer is left out in turn, by weighting the draws with 1 / p(answer | partition, noise)
    (Gelman 1996), and the probabilities that the others give to all possible answers are averaged
    over the draws, not the answers simulated (Rao-Blackwell). Two numbers come of it for each
    source: whether its answers are worse predicted than the posterior itself expects, and whether
    anything is gained by holding that they are about this partition at all.

    Parameters
    ----------
    posterior : DataTree or fitted estimator
        Of a fit with constraints that kept the noise.

    Returns
    -------
    pandas.DataFrame
        One row per view and source that gave answers:

        - answers: how many;
        - elpd_loo: mean log probability of an answer given all the rest, in nats;
        - expected: what elpd_loo would be on average if the rest were right about the
          probabilities;
        - z_score: (elpd_loo - expected) in standard deviations; far below 0 where answers go against
          the rest;
        - gain_over_marginal: elpd_loo less that of a source whose answers have nothing to do with the items, only
          with how often it gives each (of which each answer is left out likewise), in nats; up to 0
          where its answers tell nothing;
        - finding: "agrees", "conflicts with the rest" (z_score below -3) or "is uninformative" (gain_over_marginal
          of at most 0).

    Raises
    ------
    ValueError, TypeError
        If there are no draws, no constraints or no noise parameters in what is passed.

    See Also
    --------
    bayesclust.leave_view_out : refits without each view, and so sees what this does not: many answers that agree with each
        other, but not with the data, predict each other well.
    constraint_ppc : how the answers differ from what the noise model makes of them.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesclust as bc
    >>> from bayesclust.posterior.tree import to_datatree
    >>> y = np.repeat([0, 1], 20)
    >>> good = bc.PairwiseConstraints.sample(y, size=40, error_rate=0.1, seed=0)
    >>> noise = bc.PairwiseConstraints.sample(y, size=40, error_rate=0.5, seed=1, name="coin")
    >>> at = {"p": 0.9, "q": 0.9, "p_coin": 0.9, "q_coin": 0.9}
    >>> draws = {"z": np.tile(y, (1, 8, 1))} | {name: np.full((1, 8, 1), value) for name, value in at.items()}
    >>> bc.view_conflict(to_datatree(draws, constraints=[good, noise]))[["view", "finding"]]
        view                   finding
    0  links                    agrees
    1   coin  conflicts with the rest
    """
    import pandas as pd

    z, variables = chain_partitions(posterior), group(posterior, "posterior")
    stacked = z.reshape(-1, z.shape[-1])
    rows: list[dict[str, Any]] = []
    for view in stored_views(posterior):
        confusion = confusions(view, variables)
        log_p = np.log(
            np.maximum(
                held_out_probabilities(view, stacked, confusion.reshape(-1, *confusion.shape[2:])),
                TINY,
            )
        )
        score = log_p[np.arange(len(view)), view.answers]
        expected = (np.exp(log_p) * log_p).sum(axis=1)
        variance = (np.exp(log_p) * (log_p - expected[:, None]) ** 2).sum(axis=1)
        for source in np.unique(view.source).tolist():
            own = view.source == source
            spread = max(float(np.sqrt(variance[own].sum())), 1e-9)
            z_score = float((score[own] - expected[own]).sum()) / spread
            gain = float((score[own] - _by_habit(view, own)).mean())
            finding = (
                "conflicts with the rest"
                if z_score < SURPRISING
                else "agrees"
                if gain > 0
                else "is uninformative"
            )
            about = {
                "view": view.name,
                "source": source,
                "answers": int(own.sum()),
                "elpd_loo": float(score[own].mean()),
            }
            numbers = {
                "expected": float(expected[own].mean()),
                "z_score": z_score,
                "gain_over_marginal": gain,
            }
            rows.append(about | numbers | {"finding": finding})
    return pd.DataFrame(rows)


def held_out_probabilities(view: StoredConstraints, z: Labels, confusion: FloatArray) -> FloatArray:
    """Return the probability of each possible answer to each question, given the data and all other answers.

    Parameters
    ----------
    view : StoredConstraints
    z : (draws, n) array of int
    confusion : (draws, source, truth, answer) array of float

    Returns
    -------
    (m, answers) array of float
        Rows sum to 1.
    """
    total, weights = np.zeros((len(view), view.n_answers)), np.zeros(len(view))
    rows = np.arange(len(view))
    for labels, table in zip(z, confusion, strict=True):
        p = table[view.source, view.truths(labels)]
        weight = 1 / np.maximum(p[rows, view.answers], 1e-200)
        total += weight[:, None] * p
        weights += weight
    probabilities: FloatArray = total / weights[:, None]
    return probabilities


def _by_habit(view: StoredConstraints, own: Labels) -> FloatArray:
    """Log probability of each answer by how often the source gave it otherwise, one of each assumed before any."""
    answers = view.answers[own]
    times = np.bincount(answers, minlength=view.n_answers)
    value: FloatArray = np.log(times[answers] / (len(answers) - 1 + view.n_answers))
    return value

"""Which answers to believe: the posterior probability that each of them is right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayesclust.posterior.answers import confusions, log_likelihoods
from bayesclust.posterior.batches import batches, error_of_means
from bayesclust.posterior.labels import as_labels
from bayesclust.posterior.tree import chain_partitions, group, stored_views
from bayesclust.typing import ArrayLike, FloatArray

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from bayesclust.constraints.dataset import StoredConstraints
    from bayesclust.posterior.labels import Labels


def constraint_credibility(posterior: Any, *, labels: ArrayLike | None = None) -> pd.DataFrame:
    """Return, for every answer, the posterior probability that it is right.

    An answer is right where the partition agrees with it: a may-link whose items are together, a
    may-not-link whose items are apart, a triplet answer that its items' pattern implies. Averaged
    over draws, that is P(answer is right | data, all answers), with the noise of its source taken
    into account by the sampler.

    Parameters
    ----------
    posterior : DataTree or fitted estimator
        Of a fit with constraints.
    labels : (n,) array of int, optional
        A partition whose clusters the items are shown with; by default the `labels_` of the
        estimator, if it is one.

    Returns
    -------
    pandas.DataFrame
        One row an answer, in the order given: view, the items i, j and, for triplets, k (missing
        for pairs), answer (in words), source, credibility, mcse (its Monte Carlo standard error, by
        batch means within chains) and likely (the answer with the highest posterior probability).
        Where the noise was kept, also credibility_loo (the credibility that the answer would have by the
        data and all other answers alone; much less than credibility where nothing but the answer
        itself speaks for it) and elpd_loo (log probability of the answer given all the rest, in
        nats; its sum over answers is the expected log predictive density of leave-one-out
        cross-validation). Where a concentration was sampled, bayes_factor: how many times likelier to be
        right than wrong it has become, all told, over what the Chinese restaurant process says of
        any items (TVClust Eq. 2; half a draw is added on both sides, so that it stays finite). With
        labels, cluster_i, cluster_j and, for triplets, cluster_k.

    Notes
    -----
    Leaving an answer out weighs the draws by 1 / p(answer | partition, noise) (Gelfand 1996). Where
    a few draws take all the weight, the two columns are uncertain; ``arviz.loo`` on
    `constraint_log_likelihood` tells by its k-hat.

    Raises
    ------
    TypeError, ValueError
        If there are no draws or no constraints in what is passed, or labels are of other items.

    Examples
    --------
    >>> import bayesclust as bc
    >>> from bayesclust.posterior.tree import to_datatree
    >>> links = bc.PairwiseConstraints([(0, 1), (0, 2)], [True, True], n_items=3)
    >>> z = [[[0, 0, 1], [0, 0, 1], [0, 0, 0], [0, 0, 1]]]
    >>> tree = to_datatree({"z": z}, {"log_joint": [[0, 0, 0, 0]]}, constraints=[links])
    >>> bc.constraint_credibility(tree)[["i", "j", "answer", "credibility", "likely"]]
       i  j answer  credibility     likely
    0  0  1   same         1.00       same
    1  0  2   same         0.25  different
    """
    import pandas as pd

    z, draws = chain_partitions(posterior), group(posterior, "posterior")
    tables = [_table(view, z, draws) for view in stored_views(posterior)]
    table = pd.concat(tables, ignore_index=True)
    if "k" in table:  # where pairs come first, concatenation puts it last
        table.insert(3, "k", table.pop("k"))
    shown = getattr(posterior, "labels_", None) if labels is None else labels
    if shown is not None:
        partition = as_labels(shown, "labels")
        if len(partition) != z.shape[2]:
            raise ValueError(
                f"labels has {len(partition)} items, but the posterior has {z.shape[2]}: pass one per item."
            )
        for item in (name for name in "ijk" if name in table):
            table[f"cluster_{item}"] = (
                table[item].map(dict(enumerate(partition.tolist()))).astype(table[item].dtype)
            )
    return table


def _table(view: StoredConstraints, z: Labels, draws: xr.Dataset) -> pd.DataFrame:
    import pandas as pd

    kept = all(name in draws for name in view.parameters.values())
    tally = _tally(view, z, confusions(view, draws) if kept else None)
    words = np.array(view.vocabulary)
    columns: dict[str, Any] = {"view": view.name}
    columns |= {
        name: view.items[:, column] for column, name in enumerate("ijk"[: view.items.shape[1]])
    }
    frame = pd.DataFrame(columns, index=range(len(view)))
    if "k" in frame:
        frame["k"] = frame["k"].astype("Int64")
    frame["answer"] = words[view.answers]
    frame["source"] = view.source
    frame["credibility"] = tally.shares[np.arange(len(view)), view.answers]
    frame["mcse"] = tally.error
    frame["likely"] = words[tally.shares.argmax(axis=1)]
    if tally.left_out is not None:
        frame["credibility_loo"], frame["elpd_loo"] = tally.left_out
    if "concentration" in draws:
        prior = _prior_shares(view, draws["concentration"].values.ravel())[view.answers]
        right, number = frame["credibility"] * z[..., 0].size, z[..., 0].size
        frame["bayes_factor"] = (right + 0.5) / (number - right + 0.5) * (1 - prior) / prior
    return frame


def _prior_shares(view: StoredConstraints, alpha: FloatArray) -> FloatArray:
    """Probability of each true answer about any items under the Chinese restaurant process, (answers,)."""
    if view.items.shape[1] == 2:
        patterns = np.stack([np.ones_like(alpha), alpha]) / (1 + alpha)
    else:
        patterns = np.stack([np.full_like(alpha, 2.0), alpha, alpha, alpha, alpha**2]) / (
            (1 + alpha) * (2 + alpha)
        )
    shares: FloatArray = np.bincount(view.truth, patterns.mean(axis=1), view.n_answers)
    return shares


class _Tally(NamedTuple):
    """What the draws say of the answers of a view.

    Attributes
    ----------
    shares : (m, answers) array
        Posterior probability of each true answer.
    error : (m,) array
        Standard error of that of the answer given.
    left_out : two (m,) arrays, or None where the noise was not kept
        What the rest says of each answer: the probability that it is right, and that it is given
        (log).
    """

    shares: FloatArray
    error: FloatArray
    left_out: tuple[FloatArray, FloatArray] | None


def _tally(view: StoredConstraints, z: Labels, confusion: FloatArray | None) -> _Tally:
    """Go once through the draws, with the confusion matrix of each of them if it was kept."""
    shares, means = np.zeros((len(view), view.n_answers)), []
    weight, weight_right = np.full((2, len(view)), -np.inf)
    for c, first, last in batches(*z.shape[:2]):
        truths = view.truths(z[c, first:last])
        right = truths == view.answers
        for answer in range(view.n_answers):
            shares[:, answer] += (truths == answer).sum(axis=0)
        means.append(right.mean(axis=0))
        if confusion is not None:
            log_weight = -log_likelihoods(view, truths, confusion[c, first:last])
            weight = np.logaddexp(weight, np.logaddexp.reduce(log_weight))
            weight_right = np.logaddexp(
                weight_right, np.logaddexp.reduce(np.where(right, log_weight, -np.inf))
            )
    number = z.shape[0] * z.shape[1]
    left_out = (
        None if confusion is None else (np.exp(weight_right - weight), np.log(number) - weight)
    )
    return _Tally(shares / number, error_of_means(means), left_out)

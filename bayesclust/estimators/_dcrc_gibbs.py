"""What ``DCRC(inference="gibbs")`` does after variational EM has found the weights."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.optimize import linear_sum_assignment

from bayesclust.checks import check_choice, check_int
from bayesclust.constraints.base import Constraints
from bayesclust.estimators._draws import check_room, draws_tree
from bayesclust.inference.checkpoint import Checkpoint
from bayesclust.inference.dcrc_gibbs import DCRCChain, DCRCProblem
from bayesclust.inference.runner import Draws, Schedule, run_chains
from bayesclust.inference.variational_em.fit import EMFit
from bayesclust.inference.variational_em.settings import EMSettings
from bayesclust.models.dcrc_weights import WeightPrior
from bayesclust.posterior.credibility import INTERVAL, confusions
from bayesclust.posterior.losses import check_additive
from bayesclust.posterior.point_estimate import point_estimate
from bayesclust.posterior.tree import stored_views
from bayesclust.typing import FloatArray, IntArray

GIBBS, MODE, SAMPLE = "gibbs", "mode", "sample"
PRECISION_PRIOR = (2.0, 0.5)
"""Shape and rate of the Gamma prior of the weights' precision where `penalty` is None; its mean is what EM takes.

Learned, it is what keeps drawn weights from losing accuracy: spread over all that a precision of 4
allows, classifiers blur classes that the one at the mode tells apart. Mean F on iris, ionosphere
and balance at 0.05, 0.15 and 0.3 n triplets, three draws each: weights at their mode .797, drawn
under a precision of 4 .787, under a learned one .831.
"""
BIAS_SCALE = 10.0
"""Standard deviation of the biases where weights are drawn; the paper leaves them free, which is no prior to draw under."""
MATCHING_ROUNDS = 20
MOST_CLASSIFIERS = 200
"""Draws of the weights over which predictions are averaged."""


class SampledLabels:
    """Drawing labels, noise and perhaps weights, and the attributes that follow from the draws."""

    def _check_sampling(self: Any, checkpoint: Any) -> Schedule | None:
        """Refuse settings that do not go together; None where nothing is to be sampled."""
        check_choice(self.weights, "weights", (MODE, SAMPLE))
        if self.loss is not None:
            check_additive(self.loss)
        check_int(self.num_chains, "num_chains")
        schedule = Schedule(
            check_int(self.num_warmup, "num_warmup", least=0),
            check_int(self.num_samples, "num_samples"),
        )
        if self.inference != GIBBS:
            if checkpoint is not None:
                raise ValueError(
                    f"checkpoint keeps the draws of chains, and inference={self.inference!r} has none: leave it out."
                )
            if self.weights == SAMPLE:
                raise ValueError(
                    'weights="sample" needs chains, but inference is not "gibbs": set inference="gibbs".'
                )
            return None
        if self.noise is not None and self.noise == 0:
            raise ValueError(
                'noise=0 makes answers binding, and labels that are tied cannot be drawn one by one: with inference="gibbs" '
                "give a small error rate such as 0.01."
            )
        if self.temperature != 1:
            raise ValueError(
                f'temperature={self.temperature!r} is of the mean field, and inference="gibbs" draws from the posterior '
                "itself: leave temperature=1.0."
            )
        if self.weights == SAMPLE and self.penalty == 0:
            raise ValueError(
                'penalty=0 leaves the weights without a prior: with weights="sample" give a positive one.'
            )
        return schedule

    def _sample(
        self: Any,
        points: FloatArray,
        items: FloatArray,
        constraints: Sequence[Constraints],
        fit: EMFit,
        chosen: EMSettings,
        schedule: Schedule,
        store: Checkpoint | None,
        rng: Generator,
    ) -> None:
        """Set what follows from draws."""
        check_room(len(items), self.num_chains, schedule.num_samples)
        prior = (
            weight_prior(chosen, fit, sum(map(len, constraints)), self.penalty is None)
            if self.weights == SAMPLE
            else None
        )
        problem = DCRCProblem(points, tuple(constraints), fit.W, prior)
        starts = [partial(DCRCChain, problem, own) for own in rng.spawn(self.num_chains)]
        draws = run_chains(
            starts,
            schedule,
            progress=self.progress,
            n_jobs=self.n_jobs,
            checkpoint=store,
            spread=True,
        )
        number, z = len(fit.W), draws.posterior["z"].reshape(-1, len(items))
        matched = np.tile(np.arange(number), (len(z), 1))
        if prior is not None:
            matched = match_classes(z, fit.q.argmax(axis=1), number)
        proba = class_shares(z, matched)
        if prior is None:
            free = DCRCChain(problem, rng)
            proba[free.free] = np.exp(free.log_p[free.free])
        labels = proba.argmax(axis=1)
        if self.loss is not None:
            labels = point_estimate(
                z, self.loss, max_clusters=number, seed=int(rng.integers(2**31)), n_jobs=self.n_jobs
            )
        used, self.labels_ = np.unique(labels, return_inverse=True)
        self.n_clusters_ = len(used)
        order = best_columns(proba, self.labels_)
        self.proba_ = proba[:, order]
        W = draws.posterior.pop("W", None)
        if W is None:
            self._classifiers = fit.W[None, order]
        else:
            rows = np.argsort(matched, axis=1)[:, order]
            W = np.take_along_axis(W.reshape(len(z), *fit.W.shape), rows[:, :, None], axis=1)
            self._classifiers = W[:: -(-len(W) // MOST_CLASSIFIERS)]
        self.proportions_ = None if fit.proportions is None else fit.proportions[order]
        self._tree = self._chains_tree(draws, W, items, constraints)
        self._learn_confusion(self._tree)

    def _chains_tree(
        self: Any,
        draws: Draws,
        W: FloatArray | None,
        items: FloatArray,
        constraints: Sequence[Constraints],
    ) -> Any:
        import xarray as xr

        tree = draws_tree(draws, constraints, items, self.get_params(deep=False))
        if W is not None:
            shape = draws.posterior["z"].shape[:2]
            names = ("chain", "draw", "cluster", "coefficient")
            tree["classifier"] = xr.DataTree(
                xr.Dataset({"W": (names, W.reshape(*shape, *W.shape[1:]))})
            )
        return tree

    def _learn_confusion(self: Any, tree: Any) -> None:
        draws = tree["posterior"].to_dataset()
        drawn = (
            {view.name: confusions(view, draws) for view in stored_views(tree)}
            if "constant_data" in tree
            else {}
        )
        self.confusion_ = {name: values.mean(axis=(0, 1)) for name, values in drawn.items()}
        self.confusion_intervals_ = {
            name: np.quantile(values, INTERVAL, axis=(0, 1)) for name, values in drawn.items()
        }


def weight_prior(chosen: EMSettings, fit: EMFit, n_answers: int, learn: bool) -> WeightPrior:
    """Return the prior whose density EM has climbed, with biases that have a prior too.

    Parameters
    ----------
    chosen : EMSettings
    fit : EMFit
    n_answers : int
    learn : bool
        Whether the precision is learned.

    Returns
    -------
    WeightPrior
    """
    m = max(n_answers, 1)
    sizes = None if fit.proportions is None else tuple(fit.proportions.tolist())
    precision = PRECISION_PRIOR if learn else 2 * m * chosen.penalty
    return WeightPrior(
        precision, BIAS_SCALE, m * chosen.tau, m * chosen.tau * chosen.balance, sizes
    )


def match_classes(z: IntArray, reference: IntArray, number: int) -> IntArray:
    """Number the classes of every draw alike, where they are known up to their order alone.

    Each draw's classes are assigned to those of a reference so that most labels agree, and the
    reference becomes every item's commonest class, until it stays: a partition from which the draws
    differ in few labels, on average, under the best numbering of each.

    Parameters
    ----------
    z : ndarray of shape (draws, n)
    reference : ndarray of shape (n,)
        Labels to begin with.
    number : int
        K.

    Returns
    -------
    ndarray of shape (draws, K)
        The common number of each draw's class.
    """
    for _ in range(MATCHING_ROUNDS):
        cells = [
            np.bincount(row.astype(np.int64) * number + reference, minlength=number**2) for row in z
        ]
        matched = np.array(
            [linear_sum_assignment(-cell.reshape(number, number))[1] for cell in cells]
        )
        before, reference = reference, class_shares(z, matched).argmax(axis=1)
        if (reference == before).all():
            break
    return matched


def class_shares(z: IntArray, matched: IntArray) -> FloatArray:
    """Return in which share of the draws each item is in each class, shape (n, K).

    Parameters
    ----------
    z : ndarray of shape (draws, n)
    matched : ndarray of shape (draws, K)

    Returns
    -------
    ndarray of shape (n, K)
    """
    shares, items = np.zeros((z.shape[1], matched.shape[1])), np.arange(z.shape[1])
    for labels, names in zip(z, matched, strict=True):
        shares[items, names[labels]] += 1
    return shares / len(z)


def best_columns(proba: FloatArray, labels: IntArray) -> IntArray:
    """Return the columns of `proba` (n, K) that the labels 0..L-1 are, then all others.

    Parameters
    ----------
    proba : ndarray of shape (n, K)
    labels : ndarray of int, shape (n,)

    Returns
    -------
    ndarray of int, shape (K,)
    """
    together = np.eye(proba.shape[1])[labels].T @ proba
    order: IntArray = linear_sum_assignment(-together)[1]
    return order


__all__ = ["SampledLabels", "best_columns", "class_shares", "match_classes", "weight_prior"]

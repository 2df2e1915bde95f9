"""Constraints as data: which are right, their likelihood, and how reliable their sources are."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from inspect import isabstract
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from bayesclust.checks import check_random_state
from bayesclust.constraints.base import draw_answers
from bayesclust.constraints.noise import NoiseModel
from bayesclust.constraints.queries import HARD, confusion_of
from bayesclust.constraints.stored import StoredConstraints, StoredRules
from bayesclust.names import MEMBERS
from bayesclust.posterior.diagnosis import DiagnosisWarning
from bayesclust.posterior.n_clusters import batches, error_of_means
from bayesclust.posterior.tree import (
    MOVED_BY,
    Labels,
    chain_partitions,
    check_leaves_out,
    group,
    item_names,
    numbered,
    process_prior,
    source_names,
    stored_constraints,
    tree_of,
)
from bayesclust.typing import BoolArray, FloatArray, Seed

INCREDIBLE = 0.05
"""Credibility below which an answer is taken for wrong, which draws must be good for."""
INTERVAL = (0.05, 0.95)
SURPRISING = -3.0
"""z-score below which a source conflicts with the rest."""
IMPOSSIBLE = 1e-200
TINY = float(np.finfo(np.float64).tiny)
"""Least probabilities of an answer: in weights, and under logarithms."""


def constraint_credibility(posterior: Any) -> pd.DataFrame:
    """Return, for every constraint, the posterior probability that it is right.

    A constraint is right where the partition agrees with it; the average over draws is P(it is
    right | data, all constraints), under the noise of its source. A label is right where the class
    of its item's cluster is the one that it names.

    Parameters
    ----------
    posterior : DataTree or fitted estimator
        A fit with constraints.

    Returns
    -------
    pandas.DataFrame
        One row a constraint, in the order given (i is the smaller item of a pair):

        - view, the items i, j and, for triplets, k (of labels i alone; by the index of a DataFrame,
          if X was one with names, else by number), or rule (what a rule says), answer (in words),
          source (its name, if any);
        - credibility, mcse (its Monte Carlo standard error, by batch means within chains) and
          likely (the answer of highest posterior probability);
        - where queries may be hard, hard (the probability that its query is);
        - where the noise was kept, credibility_loo (leave-one-out: by the data and all other
          constraints) and elpd_loo (its log probability given all the rest, in nats), unless it
          is a fit of `DCRC`, a classifier or a mean field, which know the constraint otherwise;
        - of a fit under a Dirichlet or Pitman-Yor process, bayes_factor: posterior odds that it is
          right (half a draw added on both sides) over the prior odds of any items (TVClust Eq. 2),
          learned parameters of the process averaged over their prior.

    Warns
    -----
    DiagnosisWarning
        If credibilities are below 0.05 and `diagnose` did not trust the draws when they were made.

    Notes
    -----
    Leaving a constraint out weights the draws by 1 / p(answer | partition, noise) (Gelfand 1996).
    Where few draws take all the weight, as the k-hat of ``arviz.loo`` on
    `constraint_log_likelihood` shows, the two columns are uncertain.

    Examples
    --------
    >>> import bayesclust as bc
    >>> links = bc.PairwiseConstraints([(0, 1), (0, 2)], [True, True], n_items=3)
    >>> draws = {"z": [[[0, 0, 1], [0, 0, 1], [0, 0, 0], [0, 0, 1]]]}
    >>> tree = bc.posterior.to_datatree(draws, constraints=[links])
    >>> bc.constraint_credibility(tree)[["i", "j", "answer", "credibility", "likely"]]
       i  j answer  credibility     likely
    0  0  1   same         1.00       same
    1  0  2   same         0.25  different
    """
    table = credibility_table(posterior)
    doubted = tree_of(posterior).attrs.get("diagnosis")
    if doubted and (table["credibility"] < INCREDIBLE).any():
        warnings.warn(
            f"answers of credibility below {INCREDIBLE:g} may be right all the same, since the "
            f"draws are not to be trusted: {doubted}",
            DiagnosisWarning,
            stacklevel=2,
        )
    names = item_names(posterior)
    if names != [str(number) for number in range(len(names))]:
        for member in table.columns.intersection([*MEMBERS]):
            table[member] = [None if pd.isna(item) else names[item] for item in table[member]]
    return table


def credibility_table(posterior: Any) -> pd.DataFrame:
    """Return the table of `constraint_credibility`, items by number, without a warning."""
    z = chain_partitions(posterior)
    draws = group(posterior, "posterior")
    process, names = process_prior(posterior), item_names(posterior)
    left_out = MOVED_BY not in getattr(tree_of(posterior), "attrs", {})
    views = stored_constraints(posterior)
    tables = [_table(view, z, draws, process, names, left_out) for view in views]
    table = pd.concat(tables, ignore_index=True)
    # where constraints of fewer items come first, concatenation puts further columns last
    there = [name for name in (*MEMBERS, "rule") if name in table]
    for place, name in enumerate(there, start=1):
        own = table.pop(name)
        whole = name in MEMBERS and own.isna().any()
        table.insert(place, name, own.astype("Int64") if whole else own)
    return with_source_names(posterior, table)


def _table(
    view: StoredConstraints,
    z: Labels,
    draws: xr.Dataset,
    process: tuple[FloatArray, FloatArray] | None,
    items: Sequence[str],
    left_out: bool,
) -> pd.DataFrame:
    kept = all(name in draws for name in view.parameters.values())
    tally = _tally(view, z, confusions(view, draws) if kept else None)
    names = MEMBERS[: view.items.shape[1]]
    given = np.arange(len(view)), view.answers
    said = np.arange(len(view)), view.said
    columns = {"view": view.name} | dict(zip(names, view.items.T, strict=True))
    if isinstance(view, StoredRules):
        columns["rule"] = view.in_words(items)
    columns |= {"answer": np.array(view.vocabulary)[view.answers], "source": view.source}
    columns |= {"credibility": tally.shares[said], "mcse": tally.error}
    columns["likely"] = np.array(view.truth_words)[tally.shares.argmax(axis=1)]
    frame = pd.DataFrame(columns, index=range(len(view)))
    if "k" in frame:
        frame["k"] = frame["k"].astype("Int64")
    if tally.hard is not None:
        frame["hard"] = tally.hard
    if kept and left_out:
        frame["credibility_loo"] = tally.right
        frame["elpd_loo"] = np.log(np.maximum(tally.predicted[given], TINY))
    prior_shares = None if process is None else view.prior_shares(*process)
    if prior_shares is not None:
        prior = prior_shares[view.said]
        number = z[..., 0].size
        right = frame["credibility"] * number
        frame["bayes_factor"] = (right + 0.5) / (number - right + 0.5) * (1 - prior) / prior
    return frame


class _Tally(NamedTuple):
    """What the draws say of m constraints; `right`, `predicted` without the constraint itself."""

    shares: FloatArray  # (m, T): posterior probability of each truth
    error: FloatArray  # (m,): standard error of that of the answer given
    right: FloatArray  # (m,): credibility
    predicted: FloatArray  # (m, answers): probability of each answer
    hard: FloatArray | None  # (m,): probability that its query is hard, if any may be


def _tally(view: StoredConstraints, z: Labels, confusion: FloatArray | None) -> _Tally:
    """Go once through the draws; without an answer, they weigh 1 / p(answer | partition, noise)."""
    shares = np.zeros((len(view), len(view.truth_words)))
    predicted = np.zeros((len(view), view.n_answers))
    total, right_total = np.zeros((2, len(view)))
    rows = np.arange(len(view))
    means, hard, is_hard = [], np.zeros(len(view)), None
    for c, first, last in batches(*z.shape[:2]):
        noise = None if confusion is None else confusion[c, first:last]
        truth, without, p, is_hard = view.read(z[c, first:last], noise)
        shares += truth.sum(axis=0)
        means.append(truth[:, rows, view.said].mean(axis=0))
        if is_hard is not None:
            hard += is_hard.sum(axis=0)
        if confusion is not None:
            weight = 1 / np.maximum(p[:, rows, view.answers], IMPOSSIBLE)
            total += weight.sum(axis=0)
            right_total += (weight * without[:, rows, view.said]).sum(axis=0)
            predicted += np.einsum("bm,bma->ma", weight, p)
    number = z.shape[0] * z.shape[1]
    shares /= number
    if confusion is not None:
        right_total /= total
        predicted /= total[:, None]
    shown = None if is_hard is None else hard / number
    return _Tally(shares, error_of_means(means), right_total, predicted, shown)


def forecasts(posterior: Any) -> tuple[FloatArray, BoolArray]:
    """Probability (m,) of the likeliest answer by all else, and whether it was given."""
    check_leaves_out(posterior)
    z, draws = chain_partitions(posterior), group(posterior, "posterior")
    claimed, met = [], []
    for view in stored_constraints(posterior):
        predicted = _tally(view, z, confusions(view, draws)).predicted
        claimed.append(predicted.max(axis=1))
        met.append(predicted.argmax(axis=1) == view.answers)
    return np.concatenate(claimed), np.concatenate(met)


def constraint_log_likelihood(posterior: Any, *, seed: Seed = 0) -> xr.DataTree:
    """Return the posterior with a group `log_likelihood` of its constraints, for ``arviz.loo``.

    Given partition and noise each constraint is a datum of its own: ``arviz.loo(tree,
    var_name="links")`` estimates how well the others and the data predict them.

    Parameters
    ----------
    posterior : DataTree or fitted estimator
        A fit with constraints that kept the noise.
    seed : int, Generator or None, default 0
        Seed of the replicates.

    Returns
    -------
    xarray.DataTree
        A copy with the group: by the constraints' names (chain, draw, <name>_answer_id), in nats.
        `posterior_predictive` has replicated answers, `observed_data` those given.

    Examples
    --------
    >>> import bayesclust as bc
    >>> links = bc.PairwiseConstraints([(0, 1), (0, 2)], [True, True], n_items=3)
    >>> draws = {"z": [[[0, 0, 1], [0, 0, 0]]], "p": [[[0.9], [0.8]]], "q": [[[0.7], [0.6]]]}
    >>> tree = bc.posterior.to_datatree(draws, constraints=[links])
    >>> bc.constraint_log_likelihood(tree)["log_likelihood"]["links"].values[0, 0].round(3)
    array([-0.105, -1.204])
    """
    rng = check_random_state(seed, "seed")
    draws, given = group(posterior, "posterior"), stored_constraints(posterior)
    tree: xr.DataTree = tree_of(posterior).copy()
    likelihood, replicated = xr.Dataset(), xr.Dataset()
    observed = tree["observed_data"].to_dataset() if "observed_data" in tree else xr.Dataset()
    for view, table in zip(given, answer_tables(posterior), strict=True):
        rows = f"{view.name}_answer_id"
        p = np.maximum(table[..., np.arange(len(view)), view.answers], TINY)
        likelihood[view.name] = (("chain", "draw", rows), np.log(p))
        anew = draw_answers(table, rng).astype(np.int64)
        replicated[view.name] = (("chain", "draw", rows), anew)
        observed[view.name] = ((rows,), view.answers.astype(np.int64))
    groups = {"log_likelihood": likelihood, "posterior_predictive": replicated}
    for name, data in (groups | {"observed_data": observed}).items():
        coords = {dim: draws[dim] for dim in ("chain", "draw") if dim in data.dims}
        tree[name] = xr.DataTree(numbered(data.assign_coords(coords)))
    return tree


def answer_tables(posterior: Any, others: Sequence[Any] | None = None) -> list[FloatArray]:
    """p(answer | partition, noise), (chain, draw, m, answers), or to the questions of others."""
    # Labels of a cluster are dependent: those of each are given all others.
    z, draws = chain_partitions(posterior), group(posterior, "posterior")
    views = stored_constraints(posterior)
    tables = []
    for view, other in zip(views, others or [None] * len(views), strict=True):
        parts = zip(z, confusions(view, draws), strict=True)
        if other is None:
            tables.append(np.array([view.read(*part).p for part in parts]))
        else:
            tables.append(np.array([view.forecast(other, *part) for part in parts]))
    return tables


def source_reliability(posterior: Any) -> pd.DataFrame:
    """Return how reliable each source of constraints is.

    Parameters
    ----------
    posterior : DataTree or fitted estimator
        A fit with constraints that kept the noise.

    Returns
    -------
    pandas.DataFrame
        One row for each noise parameter of each source: view, source, parameter (p, q, noise or
        confusion[truth, answer]; of labels accuracy, common to all classes, and confusion), mean,
        sd, lower and upper (ends of the central 90% interval), answers (how many the source
        gave) and wrong (how many of them are, on posterior average). Of
        graded answers one row for each grade: parameter together[grade], the probability that such
        a pair, among those asked about, is of one cluster; answers and wrong are of the grade.

    Examples
    --------
    >>> import bayesclust as bc
    >>> links = bc.PairwiseConstraints([(0, 1), (0, 2)], [True, True], n_items=3)
    >>> draws = {"z": [[[0, 0, 1], [0, 0, 0]]], "p": [[[0.9], [0.8]]], "q": [[[0.7], [0.6]]]}
    >>> tree = bc.posterior.to_datatree(draws, constraints=[links])
    >>> bc.source_reliability(tree)[["view", "source", "parameter", "mean", "answers", "wrong"]]
        view  source parameter  mean  answers  wrong
    0  links       0         p  0.85        2    0.5
    1  links       0         q  0.65        2    0.5
    """
    z = chain_partitions(posterior)
    draws = group(posterior, "posterior")
    rows: list[dict[str, Any]] = []
    for view in stored_constraints(posterior):
        noise = {n: own for n, own in _noise(view, draws).items() if not n.startswith(HARD)}
        rows_of: tuple[Any, ...] = (view.source,)
        size: tuple[int, ...] = (view.n_sources,)
        parts = zip(z, confusions(view, draws), strict=True)
        missed = np.mean([view.wrong(*part) for part in parts], axis=0)
        if view.sides:
            noise = {"together": _calibrated(view, z, confusions(view, draws))}
            rows_of += (view.answers,)
            size += (view.n_answers,)
        given = np.zeros(size, dtype=np.int64)
        np.add.at(given, rows_of, 1)
        wrong = np.zeros(size)
        np.add.at(wrong, rows_of, missed)
        for source, (parameter, values) in product(range(view.n_sources), noise.items()):
            for cell in np.ndindex(values.shape[3:]):
                drawn = values[(slice(None), slice(None), source, *cell)]
                words = [*view.vocabulary, *view.truth_words[view.n_answers :]]
                where = f"[{', '.join(words[k] for k in cell)}]" if cell else ""
                lower, upper = np.quantile(drawn, INTERVAL)
                about = {"view": view.name, "source": source, "parameter": parameter + where}
                spread = {"mean": drawn.mean(), "sd": drawn.std(), "lower": lower, "upper": upper}
                at = (source, *cell)[: len(size)]
                rows.append(about | spread | {"answers": given[at], "wrong": wrong[at]})
    return with_source_names(posterior, pd.DataFrame(rows))


def _calibrated(view: StoredConstraints, z: Labels, confusion: FloatArray) -> FloatArray:
    """P(together | grade) among the pairs asked about, (chain, draw, source, grade)."""
    together = np.array([view.truths(part).mean(axis=-1) for part in z])[..., None, None]
    joint = confusion * np.stack([1 - together, together], axis=-2)
    return np.asarray(joint[..., 1, :] / joint.sum(axis=-2))


def with_source_names(posterior: Any, table: pd.DataFrame) -> pd.DataFrame:
    """The table with names in place of the numbers of sources, for constraints that have them."""
    for own in stored_constraints(posterior):
        names = source_names(posterior, own.name, own.n_sources)
        if names != [str(number) for number in range(own.n_sources)]:
            rows = (table["view"] == own.name) & table["source"].notna()
            named = [names[source] for source in table.loc[rows, "source"]]
            table["source"] = table["source"].astype(object)
            table.loc[rows, "source"] = named
    return table


def sources_in_words(posterior: Any, table: pd.DataFrame) -> list[str]:
    """The name of the source of each row of a table, or "source 3" of several; else nothing."""
    alone = {own.name for own in stored_constraints(posterior) if own.n_sources == 1}
    words = ["" if pd.isna(source) else str(source) for source in table["source"]]
    return [
        word if not word.isdecimal() else "" if view in alone else f"source {word}"
        for view, word in zip(table["view"], words, strict=True)
    ]


def answers_in_words(posterior: Any, table: pd.DataFrame) -> pd.DataFrame:
    """A table of answers with `about` (items' names, or the words of a rule) and source names."""
    names = item_names(posterior)
    rules = table.get("rule", pd.Series(index=table.index, dtype=object))
    members = table.reindex(columns=[*MEMBERS]).itertuples(index=False)
    about = [
        [names[int(i)] for i in row if pd.notna(i)] if pd.isna(rule) else [rule]
        for row, rule in zip(members, rules, strict=True)
    ]
    named = table.assign(source=sources_in_words(posterior, table))
    named["about"] = about
    return named


def view_conflict(posterior: Any) -> pd.DataFrame:
    """Return how well the constraints of each source are predicted by the data and all the others.

    Every answer is left out in turn, as in `constraint_credibility`. Two numbers result for each
    source: whether its answers are predicted worse than the posterior expects, and whether anything
    is gained by taking them to be about this partition at all.

    Parameters
    ----------
    posterior : DataTree or fitted estimator
        A fit with constraints that kept the noise; not of `DCRC`, a classifier or a mean field.

    Returns
    -------
    pandas.DataFrame
        One row per view and source that gave answers:

        - answers: how many; elpd_loo: mean log probability of an answer given all the rest, in
          nats; expected: its mean if the rest were right about the probabilities;
        - z_score: (elpd_loo - expected) in standard deviations;
        - gain_over_marginal: elpd_loo less that of a source whose answers depend only on how often
          it gives each, in nats;
        - finding: "agrees", "conflicts with the rest" (z_score below -3) or "is uninformative"
          (gain_over_marginal of at most 0).

    Examples
    --------
    >>> import numpy as np
    >>> import bayesclust as bc
    >>> y = np.repeat([0, 1], 20)
    >>> good = bc.PairwiseConstraints.sample(y, size=40, error_rate=0.1, seed=0)
    >>> noise = bc.PairwiseConstraints.sample(y, size=40, error_rate=0.5, seed=1, name="coin")
    >>> draws = dict.fromkeys(("p", "q", "p_coin", "q_coin"), np.full((1, 8, 1), 0.9))
    >>> draws["z"] = np.tile(y, (1, 8, 1))
    >>> tree = bc.posterior.to_datatree(draws, constraints=[good, noise])
    >>> bc.view_conflict(tree)[["view", "finding"]]
        view                  finding
    0  links                   agrees
    1   coin  conflicts with the rest
    """
    check_leaves_out(posterior)
    z = chain_partitions(posterior)
    draws = group(posterior, "posterior")
    rows: list[dict[str, Any]] = []
    for view in stored_constraints(posterior):
        p = _tally(view, z, confusions(view, draws)).predicted
        log_p = np.log(np.maximum(p, TINY))
        elpd = log_p[np.arange(len(view)), view.answers]
        expected = (p * log_p).sum(axis=1)
        variance = (p * (log_p - expected[:, None]) ** 2).sum(axis=1)
        for source in np.unique(view.source).tolist():
            own = view.source == source
            # by how often the source gave each answer otherwise, one of each added
            answers = view.answers[own]
            times = np.bincount(answers, minlength=view.n_answers)
            log_marginal = np.log(times[answers] / (len(answers) - 1 + view.n_answers))
            spread = max(np.sqrt(variance[own].sum()), 1e-9)
            z_score = (elpd[own] - expected[own]).sum() / spread
            gain = (elpd[own] - log_marginal).mean()
            finding = "agrees" if gain > 0 else "is uninformative"
            if z_score < SURPRISING:
                finding = "conflicts with the rest"
            row: dict[str, Any] = {"view": view.name, "source": source, "answers": len(answers)}
            row |= {"elpd_loo": elpd[own].mean(), "expected": expected[own].mean()}
            row |= {"z_score": z_score, "gain_over_marginal": gain, "finding": finding}
            rows.append(row)
    return with_source_names(posterior, pd.DataFrame(rows))


def confusions(view: StoredConstraints, draws: xr.Dataset) -> FloatArray:
    """Confusion matrices (chain, draw, source, truth, answer), and the two of `confusion_of`."""
    return confusion_of(_noise_model(view), _noise(view, draws))


def _noise_model(view: StoredConstraints) -> NoiseModel:
    """With default settings: confusion matrices follow from the parameters, not from priors."""
    waiting = NoiseModel.__subclasses__()
    wanted = (view.noise_kind, {name for name in view.parameters if not name.startswith(HARD)})
    for model in waiting:
        waiting.extend(model.__subclasses__())
        # what all of a kind share has no parameters of its own
        if not isabstract(model) and (model.kind, set(model.parameters)) == wanted:
            return model()
    raise ValueError(
        f"the answers {view.name!r} are of the kind {view.kind!r}, whose noise has the parameters "
        f"{', '.join(view.parameters)}, and no such noise model is loaded: "
        "import the file that defines it first."
    )


def _noise(view: StoredConstraints, draws: xr.Dataset) -> dict[str, FloatArray]:
    """Draws of the noise parameters by their own names, (chain, draw, source, ...)."""
    missing = [name for name in view.parameters.values() if name not in draws]
    if missing:
        raise ValueError(
            f"the group posterior has no {', '.join(missing)}: "
            "pass the posterior_ of a sampler's fit."
        )
    return {
        own: draws[name].transpose("chain", "draw", ...).values
        for own, name in view.parameters.items()
    }

"""Posterior predictive checks of constraints: answers against those that the noise model gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from bayesclust.checks import check_int, check_random_state
from bayesclust.constraints.base import draw_answers
from bayesclust.constraints.entailment import must_link_components
from bayesclust.constraints.queries import asked_alone, draw_sources
from bayesclust.constraints.stored import StoredConstraints, StoredRules
from bayesclust.posterior.credibility import INTERVAL, confusions, with_source_names
from bayesclust.posterior.tree import chain_partitions, evenly_spread, group, stored_constraints
from bayesclust.typing import BoolArray, CodeArray, FloatArray, IntArray, Seed

EXTREME = 0.025
PAIR = 2


def constraint_ppc(posterior: Any, *, num_draws: int = 200, seed: Seed = 0) -> pd.DataFrame:
    """Compare the constraints with answers that the fitted noise model generates.

    For some draws of partition and noise, all questions are answered again as the model says, a
    source erring independently and equally often everywhere, and statistics of the observed and the
    generated answers are compared (Gelman, Meng and Stern 1996):

    - share of an answer, in words: sources that say "same", or "dnk", too often;
    - wrong answers: informative where the noise is known or its prior strong;
    - contradictions, of pairs: answers "different" between items that a chain of answers "same" of
      the same source joins;
    - disagreements: pairs of different answers to one question. Fewer than expected mean that
      errors are shared, which makes sources look more reliable than they are;
    - wrong answers by item: pairs of wrong answers about the same item, which is hard or misplaced;
    - wrong answers by cluster: squared surplus of wrong answers over what is expected, by the
      clusters that questions are about: a source divides the items in another way.

    Parameters
    ----------
    posterior : DataTree or fitted estimator
        A fit with constraints that kept the noise.
    num_draws : int, default 200
        Draws that are replicated, evenly spread.
    seed : int, Generator or None, default 0

    Returns
    -------
    pandas.DataFrame
        One row per view, source (missing for all of a view together) and check: observed (mean over
        draws), expected, lower and upper (mean and central 90% of the replicates), p (probability
        that a replicate has more than was observed, ties counted half) and finding: "as expected",
        or "more" or "less than the noise model expects" where p is within 0.025 of an end.

    Notes
    -----
    The model has seen the answers, so extreme p-values are rarer than they say. What the noise can
    absorb, by a low p or q, is not found here: `source_reliability` shows it.

    Examples
    --------
    Three answers "same" and one "different" among four items that are together in every draw:

    >>> import numpy as np
    >>> import bayesclust as bc
    >>> pairs, same = [(0, 1), (1, 2), (2, 3), (0, 3)], [True, True, True, False]
    >>> links = bc.PairwiseConstraints(pairs, same, n_items=4)
    >>> sure = {"z": np.zeros((1, 50, 4), int)} | dict.fromkeys("pq", np.full((1, 50, 1), 0.999))
    >>> table = bc.constraint_ppc(bc.posterior.to_datatree(sure, constraints=[links]))
    >>> table.set_index("check").loc["contradictions", ["observed", "expected", "finding"]]
    observed                                  1.0
    expected                                  0.0
    finding     more than the noise model expects
    Name: contradictions, dtype: object
    """
    number = check_int(num_draws, "num_draws")
    rng = check_random_state(seed)
    z = chain_partitions(posterior)
    variables = group(posterior, "posterior")
    stacked = z.reshape(-1, z.shape[-1])
    chosen = evenly_spread(number, len(stacked))
    rows: list[dict[str, Any]] = []
    for view in filter(len, stored_constraints(posterior)):
        confusion = confusions(view, variables)
        question = _questions(view)
        given: list[dict[Any, float]] = []
        made: list[dict[Any, float]] = []
        for at in chosen:
            table = confusion[np.unravel_index(at, z.shape[:2])]
            truths = view.draw_truths(stacked[at], table, rng)
            said = view.said_by(np.arange(table.shape[2]))
            right = said == np.arange(table.shape[1])[:, None]
            alone = asked_alone(table, view.n_sources)
            error_rate = 1 - (alone * right).sum(axis=-1)[view.source, truths]
            # by the source and the items' clusters, in any order
            names = np.sort(stacked[at][view.items], axis=1).astype(np.int64)
            sizes = (view.n_sources, *[view.n_items] * names.shape[1])
            kinds = np.ravel_multi_index((view.source, *names.T), sizes)
            cell = np.unique(kinds, return_inverse=True)[1]
            source = draw_sources(view, table, question, rng)
            answers = draw_answers(table[source, truths], rng)
            for part, own in ((given, view.answers), (made, answers)):
                part.append(_statistics(view, own, truths, error_rate, cell, question))
        rows += _rows(view, given, made)
    found = pd.DataFrame(rows)
    return with_source_names(posterior, found.astype({"source": "Int64"})) if rows else found


def _questions(view: StoredConstraints) -> IntArray:
    """What each answer is about, as a number: items, of a pair in any order, or a rule, (m,)."""
    if isinstance(view, StoredRules):
        return np.unique(view.in_words(range(view.n_items)), return_inverse=True)[1]
    items = np.sort(view.items, axis=1) if view.items.shape[1] == PAIR else view.items
    return np.unique(items, axis=0, return_inverse=True)[1].ravel()


def _statistics(
    view: StoredConstraints,
    answers: CodeArray,
    truths: IntArray,
    error_rate: FloatArray,
    cell: IntArray,
    question: IntArray,
) -> dict[Any, float]:
    """Statistics of answers (m,) by check and source, which is None for all together."""
    sources = range(view.n_sources)
    said = view.said_by(answers)
    wrong = said != truths
    number = np.maximum(np.bincount(view.source, minlength=view.n_sources), 1)
    by_source: dict[str, Any] = {}
    for code, word in enumerate(view.vocabulary):
        if code or view.n_answers > PAIR:  # of two answers, one share tells both
            times = np.bincount(view.source, answers == code, view.n_sources)
            by_source[f'share of "{word}"'] = times / number
    by_source["wrong answers"] = np.bincount(view.source, wrong, view.n_sources)
    together: dict[str, float] = {}
    if view.items.shape[1] == PAIR:
        own = [view.source == source for source in sources]
        by_source["contradictions"] = [_contradictions(view, said, one) for one in own]
        if view.n_sources > 1:
            everything = np.ones(len(view), np.bool_)
            together["contradictions"] = _contradictions(view, said, everything)
    if question.max() + 1 < len(question):  # some were asked again
        together["disagreements"] = _disagreements(question, answers)
    by_source["wrong answers by item"] = _by_item(view, wrong)
    by_source["wrong answers by cluster"] = _by_cluster(view, wrong, error_rate, cell)
    found = {
        (check, source): float(values[source])
        for check, values in by_source.items()
        for source in sources
    }
    return found | {(check, None): float(value) for check, value in together.items()}


def _contradictions(view: StoredConstraints, said: CodeArray, chosen: BoolArray) -> int:
    """Count answers "different" between items that the answers "same" among those chosen join."""
    pairs = view.items[chosen]
    same = said[chosen] == 1
    component = must_link_components(pairs[same], view.n_items)
    apart = component[pairs[~same]]
    return int((apart[:, 0] == apart[:, 1]).sum())


def _disagreements(question: IntArray, answers: CodeArray) -> int:
    """Pairs of different answers to one question."""
    times = np.bincount(question)
    alike = np.bincount(question * (int(answers.max()) + 1) + answers)
    return int(times @ times - alike @ alike) // 2


def _by_item(view: StoredConstraints, wrong: BoolArray) -> FloatArray:
    """Pairs of wrong answers of each source that share an item, summed over items."""
    where = (view.source[wrong, None] * view.n_items + view.items[wrong]).ravel()
    times = np.bincount(where, minlength=view.n_sources * view.n_items).reshape(view.n_sources, -1)
    return (times * (times - 1)).sum(axis=1) / 2


def _by_cluster(
    view: StoredConstraints, wrong: BoolArray, error_rate: FloatArray, cell: IntArray
) -> FloatArray:
    """Squared surplus of wrong answers by source, summed over combinations of clusters."""
    expected = np.bincount(cell, error_rate)
    surplus = (np.bincount(cell, wrong) - expected) ** 2 / np.maximum(expected, 1e-12)
    owner = np.zeros(len(expected), np.int64)
    owner[cell] = view.source
    return np.bincount(owner, surplus, view.n_sources)


def _rows(
    view: StoredConstraints, given: list[dict[Any, float]], made: list[dict[Any, float]]
) -> list[dict[str, Any]]:
    rows = []
    for check, source in given[0]:
        seen, replicates = (
            np.array([one[check, source] for one in part]) for part in (given, made)
        )
        p = float((replicates > seen).mean() + (replicates == seen).mean() / 2)
        finding = "as expected"
        if p < EXTREME or p > 1 - EXTREME:
            finding = f"{'more' if p < EXTREME else 'less'} than the noise model expects"
        lower, upper = np.quantile(replicates, INTERVAL)
        about = {"view": view.name, "source": source, "check": check, "observed": seen.mean()}
        spread = {"expected": replicates.mean(), "lower": lower, "upper": upper}
        rows.append(about | spread | {"p": p, "finding": finding})
    return rows

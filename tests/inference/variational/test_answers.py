"""What answers say under uncertain labels, against going through all labels."""

import numpy as np
import pytest

from bayesclust.constraints.factor_graph import stack_tables
from bayesclust.inference.variational.answers import SoftAnswers
from tests.exactness.cases import all_views, links, triplets
from tests.inference.variational import plain


def views_of(kind, rng, n=7):
    return {
        "both": all_views(n, rng),
        "links": (links(n, rng),),
        "triplets": (triplets(n, rng),),
        "none": (),
    }[kind]


@pytest.mark.parametrize("kind", ["both", "links", "triplets", "none"])
def test_messages_and_counts(kind, rng):
    views, r = views_of(kind, rng), rng.dirichlet(np.ones(3), size=7)
    noise = [view.noise.sample_prior(view.n_sources, rng) for view in views]
    tables = [view.noise.log_table(params) for view, params in zip(views, noise, strict=True)]
    answers = SoftAnswers(views, 7)
    answers.use_table(stack_tables(views, noise))
    seen = []
    for step in answers.steps:
        said = step.messages(r)
        seen.extend(step.items)
        for i, message in zip(step.items, said, strict=True):
            values = []
            for k in range(3):
                hard = r.copy()
                hard[i] = np.arange(3) == k
                values.append(plain.expected_log_answers(views, tables, hard))
            # up to a constant
            np.testing.assert_allclose(
                message - message[0], np.array(values) - values[0], atol=1e-10
            )
    assert sorted(seen) == list(range(7))
    for view, counts in zip(views, answers.counts(r), strict=True):
        np.testing.assert_allclose(counts, plain.soft_counts(view, r), atol=1e-12)


def test_items_of_one_step_share_no_answer(rng):
    views = all_views(12, rng)
    for step in SoftAnswers(views, 12).steps:
        for view in views:
            assert np.isin(view.items, step.items).sum(axis=1).max(initial=0) <= 1


def test_counts_of_a_partition_are_whole(rng):
    views, z = all_views(7, rng), np.array([0, 1, 1, 2, 0, 2, 1])
    for view, counts in zip(views, SoftAnswers(views, 7).counts(np.eye(3)[z]), strict=True):
        assert np.array_equal(counts, view.counts(z))

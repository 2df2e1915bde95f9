"""Updates in the limits of DCRC."""

import numpy as np
from scipy.special import softmax

import bayesclust as bc
from bayesclust.inference.dcrc.em import agreement_table, max_compatible, most_probable


def test_eq_14_is_where_eq_13_tends(rng):
    F, log_p = (
        rng.integers(0, 3, size=(50, 4)).astype(float),
        np.log(rng.dirichlet(np.ones(4), size=50)),
    )
    exact = max_compatible(F, log_p)
    np.testing.assert_allclose(exact.sum(axis=1), 1.0)
    assert ((exact > 0) == (F.max(axis=1, keepdims=True) == F)).all()
    for eps, least, most in ((0.1, 0.1, 1.0), (1e-12, 1e-12, 1e-9)):
        soft = softmax(F * np.log(2 * (1 - eps) / eps) + log_p, axis=1)
        assert least < np.abs(soft - exact).max() < most


def test_certain_labels_are_where_low_temperatures_tend(rng):
    logits = rng.normal(size=(30, 4))
    np.testing.assert_allclose(softmax(logits / 1e-5, axis=1), most_probable(logits), atol=1e-12)


def test_agreement_table_counts_broken_answers():
    z = np.array([0, 0, 1, 1, 2])
    triplets = bc.RelativeConstraints(
        [(0, 1, 2), (0, 1, 2), (0, 2, 4), (2, 0, 3)],
        ["yes", "no", "dnk", "dnk"],
        n_items=5,
        source=[0, 1, 1, 0],
    )
    links = bc.PairwiseConstraints([(0, 1), (0, 2), (2, 3)], [False, False, True], n_items=5)
    table = agreement_table([triplets, links], -1.0)
    assert table.shape == (8, 5)
    broken = (triplets.counts(z) * table[:6]).sum(), (links.counts(z) * table[6:, :2]).sum()
    assert broken == (-2.0, -1.0)

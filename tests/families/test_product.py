"""Products: nothing but the sum of their parts, and what they say of columns that do not fit."""

import numpy as np
import pytest

from bayesclust.families import (
    Bernoulli,
    Categorical,
    DiagonalGaussian,
    FullGaussian,
    Multinomial,
    Poisson,
    Product,
    SphericalGaussian,
)
from tests.families.reference import binary_data, coded_data, count_data


@pytest.fixture
def X(rng):
    blocks = [
        rng.normal(size=(20, 3)),
        coded_data(20, 2, rng),
        count_data(20, 1, rng),
        binary_data(20, 1, rng),
    ]
    return np.concatenate(blocks, axis=1)


PARTS = [
    (FullGaussian(strength="learn", mean_precision=0.1), [2, 0]),
    (Categorical(concentration=0.7), slice(3, 5)),
    ("poisson", 5),
    (DiagonalGaussian(strength=4.0, mean_precision="learn"), [1]),
    ("bernoulli", [-1]),
]


def test_is_the_sum_of_its_parts(X, rng):
    family = Product(PARTS).bind(X)
    alone = [
        FullGaussian(strength="learn", mean_precision=0.1).bind(X[:, [2, 0]]),
        Categorical(concentration=0.7).bind(X[:, 3:5]),
        Poisson().bind(X[:, 5:6]),
        DiagonalGaussian(strength=4.0, mean_precision="learn").bind(X[:, 1:2]),
        Bernoulli().bind(X[:, 6:]),
    ]
    hyper = family.sample_hyper(rng)
    hypers = np.split(hyper, np.cumsum([len(part.hyper_priors) for part in alone])[:-1])
    for rows in (slice(0, 20), slice(3, 4), slice(0, 0)):
        expected = sum(
            part.log_marginal(part.X[rows], own) for part, own in zip(alone, hypers, strict=True)
        )
        assert family.log_marginal(family.X[rows], hyper) == pytest.approx(
            expected, rel=1e-12, abs=1e-12
        )
    assert family.log_constant == pytest.approx(sum(part.log_constant for part in alone))
    np.testing.assert_allclose(family.row_constants(family.X).sum(), family.log_constant)
    np.testing.assert_allclose(family.transform(X[4:9]), family.X[4:9])


def test_hyper_parameters_of_one_name_get_numbers(X):
    family = Product(PARTS).bind(X)
    assert [prior.name for prior in family.hyper_priors] == [
        "base_scale",
        "base_strength",
        "base_mean_precision",
        "base_concentration",
        "base_shape",
        "base_scale_2",
        "base_strength_2",
        "base_mean_precision_2",
        "base_strength_3",
    ]
    # the first mean precision, the concentration and the second strength are fixed
    assert family.free.tolist() == [0, 1, 4, 5, 7, 8]
    assert family.hyper_priors[7].lower == 1e-4


def test_a_product_of_one_is_the_family(X):
    family, alone = (
        Product([(SphericalGaussian(), [0, 1, 2])]).bind(X[:, :3]),
        SphericalGaussian().bind(X[:, :3]),
    )
    hyper = alone.initial_hyper()
    assert family.log_marginal(family.X[:7], hyper) == alone.log_marginal(alone.X[:7], hyper)


def test_constant_columns_leave_every_part(X):
    wide = np.insert(X, [0, 4], 3.0, axis=1)
    parts = [
        (DiagonalGaussian(), [0, 1, 2, 3]),
        ("categorical", [4, 5, 6]),
        ("poisson", 7),
        ("bernoulli", 8),
    ]
    family = Product(parts).bind(wide)
    assert family.widths == (3, 2, 1, 1)
    assert family.columns(wide).shape == (20, 7)
    assert family.transform(wide[:3]).shape == (3, 7)


def test_every_part_has_a_say_in_the_embedding(X):
    # large units of one part would otherwise decide alone
    X = X * [1, 1, 1, 1, 1, 100, 1]
    parts = [
        (DiagonalGaussian(), [0, 1, 2]),
        ("categorical", [3, 4]),
        ("poisson", 5),
        ("bernoulli", 6),
    ]
    points = Product(parts).bind(X).embedding()
    assert points.var(axis=0).sum() == pytest.approx(7)
    sizes = [3, 3 + 4, 1, 1]
    shares = [block.var(axis=0).sum() for block in np.split(points, np.cumsum(sizes)[:-1], axis=1)]
    np.testing.assert_allclose(shares, [3, 2, 1, 1])


@pytest.mark.parametrize(
    ("parts", "error", "sentence"),
    [
        ([], TypeError, r"parts=\[\] is no list of pairs; give \[\(family, columns\), ...\]"),
        ("gaussian", TypeError, "parts='gaussian' is no list of pairs; give"),
        (
            [FullGaussian()],
            TypeError,
            r"parts\[0\] is FullGaussian.*; give a pair of a family and its columns",
        ),
        ([("normal", [0])], ValueError, "family='normal' is not known; choose one of"),
        (
            [(Product([("poisson", 0)]), [0])],
            TypeError,
            r"parts\[0\] is itself a Product; write its parts into this one",
        ),
        (
            [("gaussian", [0, 1])],
            ValueError,
            r"the columns \[2, 3, 4, 5, 6\] of X are used by no part; give them a family",
        ),
        (
            [("gaussian", [0, 1, 2]), ("poisson", [2, 3, 4, 5, 6])],
            ValueError,
            r"the columns \[2\] of X are used more",
        ),
        (
            [("gaussian", [0, 7])],
            ValueError,
            r"parts\[0\] asks for the columns \[0, 7\], but X has the columns 0 to 6;",
        ),
        (
            [("gaussian", ["age"])],
            ValueError,
            r"parts\[0\] asks for the columns \['age'\], but X has the columns 0 to 6",
        ),
        (
            [("gaussian", []), ("gaussian", range(7))],
            ValueError,
            r"parts\[0\] has no columns; give it some or leave it out",
        ),
    ],
)
def test_parts_that_do_not_fit(X, parts, error, sentence):
    with pytest.raises(error, match=f"^{sentence}"):
        Product(parts).bind(X)


def test_what_a_part_refuses_is_said_of_its_columns(X):
    with pytest.raises(
        ValueError,
        match=r"^In the columns \[1, 2\], numbered from 0 among themselves: X has values other",
    ):
        Product([("gaussian", [0]), ("bernoulli", [1, 2])]).bind(X[:, :3])
    family = Product([("gaussian_diagonal", [0, 1, 2]), ("categorical", [3, 4])]).bind(X[:, :5])
    with pytest.raises(
        ValueError,
        match=r"^In the columns \[3, 4\], numbered from 0 among themselves: X has codes beyond",
    ):
        family.transform([[0.0, 0.0, 0.0, 0, 77]])


def test_missing_cells_where_the_part_needs_all():
    X = np.array([[1.0, 0, 2], [2.0, 1, np.nan], [4.0, 1, 3]])
    assert Product([("gaussian", 0), ("bernoulli", 1)]).takes_missing
    assert not Product([("gaussian", 0), (Multinomial(), 1)]).takes_missing
    assert Product([("gaussian", 0), ("bernoulli", 1), ("poisson", 2)]).bind(X).parts[
        0
    ].X.shape == (3, 1)
    with pytest.raises(
        ValueError,
        match=r"^X has missing values in column 2, row 1: FullGaussian takes none: give these",
    ):
        Product([("bernoulli", 1), ("gaussian", [0, 2])]).bind(X)

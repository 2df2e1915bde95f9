"""Tables of several kinds of columns: products are the sum of their parts, hurdles two families."""

import re

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import betaln

from bayesclust.families import (
    Bernoulli,
    Categorical,
    DiagonalGaussian,
    FullGaussian,
    HurdleGaussian,
    Mixed,
    Multinomial,
    Poisson,
    Product,
    get_family,
)
from bayesclust.families.discrete import Recoded
from bayesclust.families.mixed import by_kind
from tests.families.reference import binary_data, coded_data, count_data

ATOMS = [[0.0], [1.0, -1.0], []]


@pytest.fixture
def inflated(rng):
    """Three columns: one of many zeros, one clipped at both ends, one without atoms."""
    values = rng.normal(size=(20, 3))
    values[rng.random(20) < 0.4, 0] = 0.0
    values[:, 1] = values[:, 1].clip(-1, 1)
    values[3, 0] = values[5, 1] = np.nan
    return values


@pytest.fixture
def X(rng, inflated):
    """Three real columns, two of codes, one of counts, one of zeros and ones, three inflated."""
    blocks = [
        rng.normal(size=(20, 3)),
        coded_data(20, 2, rng),
        count_data(20, 1, rng),
        binary_data(20, 1, rng),
        inflated,
    ]
    return np.concatenate(blocks, axis=1)


PARTS = [
    (FullGaussian(strength="learn", mean_precision=0.1), [2, 0]),
    (Categorical(concentration=0.7), slice(3, 5)),
    ("poisson", 5),
    (DiagonalGaussian(strength=4.0, mean_precision="learn"), [1]),
    ("bernoulli", [6]),
    (HurdleGaussian(ATOMS), [7, 8, 9]),
]
SINGLE = [PARTS[0][0], PARTS[1][0], Poisson(), PARTS[3][0], Bernoulli(), PARTS[5][0]]


def test_product_is_the_sum_of_its_parts(X, rng):
    family = Product(PARTS).bind(X)
    places = [np.atleast_1d(np.arange(10)[columns]) for _, columns in PARTS]
    alone = [own.bind(X[:, place]) for own, place in zip(SINGLE, places, strict=True)]
    hyper = family.sample_hyper(rng)
    ends = np.cumsum([len(part.hyper_priors) for part in alone])[:-1]
    pairs = list(zip(alone, np.split(hyper, ends), strict=True))
    for rows in (slice(0, 20), slice(3, 4), slice(0, 0)):
        expected = sum(part.log_marginal(part.X[rows], own) for part, own in pairs)
        found = family.log_marginal(family.X[rows], hyper)
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert family.log_constant == pytest.approx(sum(part.log_constant for part in alone))
    np.testing.assert_allclose(family.row_constants(family.X).sum(), family.log_constant)
    np.testing.assert_allclose(family.transform(X[4:9]), family.X[4:9])


def test_hyper_parameters_of_one_name_get_numbers(X):
    family = Product(PARTS[:5]).bind(X[:, :7])
    names = "scale strength mean_precision concentration shape"
    again = "scale_2 strength_2 mean_precision_2 strength_3"
    expected = [f"base_{name}" for name in f"{names} {again}".split()]
    assert [prior.name for prior in family.hyper_priors] == expected
    # the first mean precision, the concentration and the second strength are fixed
    assert family.free.tolist() == [0, 1, 4, 5, 7, 8]
    assert family.hyper_priors[7].lower == 1e-4


FOUR = [(DiagonalGaussian(), [0, 1, 2]), ("categorical", [3, 4]), ("poisson", 5), ("bernoulli", 6)]


def test_constant_columns_leave_every_part(X):
    wide = np.insert(X[:, :7], [0, 4], 3.0, axis=1)
    columns = [[0, 1, 2, 3], [4, 5, 6], 7, 8]
    parts = [(family, own) for (family, _), own in zip(FOUR, columns, strict=True)]
    family = Product(parts).bind(wide)
    assert family.widths == (3, 2, 1, 1)
    assert family.columns(wide).shape == (20, 7)
    assert family.transform(wide[:3]).shape == (3, 7)


def test_parts_of_constants_alone_are_left_out(X):
    codes = X[:, 3:5]
    wide = np.column_stack([codes, np.full((20, 2), [7.0, np.nan])])
    plain = get_family("categorical").bind(codes)
    for part in ("gaussian_diagonal", HurdleGaussian(0.0), "poisson"):
        family = Product([("categorical", [0, 1]), (part, [2, 3])]).bind(wide)
        hyper = family.initial_hyper()
        assert hyper.tolist() == plain.initial_hyper().tolist()
        assert family.log_marginal(family.X[:9], hyper) == plain.log_marginal(plain.X[:9], hyper)
        assert family.transform(wide[:3]).shape == family.X[:3].shape
    nothing = Product([("poisson", [0]), ("gaussian_diagonal", [1])]).bind(np.full((5, 2), 3.0))
    assert [type(part).__name__ for part in nothing.parts] == ["BoundPoisson"]
    with pytest.raises(ValueError, match="negative counts in column 1"):
        Product([("gaussian", 0), ("poisson", 1)]).bind(np.c_[np.arange(5.0), np.full(5, -1.0)])


def test_units_of_a_part_do_not_decide_the_embedding(X):
    points = Product(FOUR).bind(X[:, :7] * [1, 1, 1, 1, 1, 100, 1]).embedding()
    blocks = np.split(points, np.cumsum([3, 3 + 4, 1]), axis=1)
    np.testing.assert_allclose([block.var(axis=0).sum() for block in blocks], [3, 2, 1, 1])


@pytest.mark.parametrize(
    ("parts", "error", "sentence"),
    [
        ((), TypeError, r"parts=\(\) are not pairs: give \[\(family, columns\), ...\]"),
        ([FullGaussian()], TypeError, r"parts=\[FullGaussian.* are not pairs: give "),
        (
            [(Product([("poisson", 0)]), [0])],
            TypeError,
            r"parts\[0\] is a Product, which cannot be",
        ),
        ([("gaussian_tied", [0, 1])], TypeError, r"parts\[0\] is a TiedGaussian, which cannot be"),
        (
            [("gaussian", [0, 1])],
            ValueError,
            r"the columns \[2, 3\] of X are used \[0, 0\] times: ",
        ),
        (
            [("gaussian", [0, 1, 2]), ("poisson", [2, 3])],
            ValueError,
            r"the columns \[2\] of X are used \[2\] times: ",
        ),
        ([("gaussian", [0, 7])], ValueError, r"parts\[0\] has the columns \[0, 7\], but X has"),
    ],
)
def test_parts_that_do_not_fit_are_refused(X, parts, error, sentence):
    with pytest.raises(error, match=f"^{sentence}"):
        Product(parts).bind(X[:, :4])


def test_errors_of_a_part_name_its_columns(X):
    own = r"^X has {} in column {}, row"
    with pytest.raises(ValueError, match=own.format("values other than 0 and 1", 1)):
        Product([("gaussian", [0]), ("bernoulli", [1, 2])]).bind(X[:, :3])
    family = Product(FOUR[:2]).bind(X[:, :5])
    with pytest.raises(ValueError, match=own.format("values that the first data have not", 4)):
        family.transform([[0.0, 0.0, 0.0, 0, 77]])


def test_missing_cells_are_refused_where_a_part_needs_all():
    X = np.array([[1.0, 0, 2], [2.0, 1, np.nan], [4.0, 1, 3]])
    assert Product([("gaussian", 0), ("bernoulli", 1)]).takes_missing
    assert not Product([("gaussian", 0), (Multinomial(), 1)]).takes_missing
    bound = Product([("gaussian", 0), ("bernoulli", 1), ("poisson", 2)]).bind(X)
    assert bound.parts[0].X.shape == (3, 1)
    sentence = r"^X has missing values in column 2, row 1: FullGaussian takes none: give these"
    with pytest.raises(ValueError, match=sentence):
        Product([("bernoulli", 1), ("gaussian", [0, 2])]).bind(X)


def one_cluster(x, strength, hyper):
    """log p of a column with an atom at 0 in one cluster, mean and variance on a grid."""
    scale, weight, kappa0 = hyper
    x = x[~np.isnan(x)]
    rest, zeros = x[x != 0], (x == 0).sum()
    centre, spread = rest.mean(), rest.std()
    yes = strength * (zeros + 1) / (len(x) + 2)
    value = betaln(yes + zeros, strength - yes + len(rest)) - betaln(yes, strength - yes)
    floor = np.median(np.diff(np.unique(rest))) ** 2 / 12
    v = spread**2 * np.exp(np.linspace(-5, 5, 601))
    means = centre + spread * np.linspace(-6, 6, 601)[:, None]
    prior = stats.invgamma(1 + weight / 2, scale=weight / 2 * (scale * spread**2 + floor))
    log_joint = prior.logpdf(v) + stats.norm.logpdf(means, centre, np.sqrt(v / kappa0))
    log_joint += sum(stats.norm.logpdf(x_i, means, np.sqrt(v)) for x_i in rest)
    top = log_joint.max()
    inner = integrate.trapezoid(np.exp(log_joint - top), means[:, 0], axis=0)
    return value + top + np.log(integrate.trapezoid(inner, v))


def test_hurdle_density_is_that_of_the_formula(rng):
    x = np.where(rng.random(12) < 0.4, 0.0, rng.normal(2, 1, size=12))
    x[4] = np.nan
    family = HurdleGaussian(0.0, scale=0.5, strength=4.0, mean_precision=0.3, atom_strength=3.0)
    bound = family.bind(x[:, None])
    exact = bound.log_marginal(bound.X, bound.initial_hyper()) + bound.log_constant
    assert exact == pytest.approx(one_cluster(x, 3.0, (0.5, 4.0, 0.3)), abs=1e-3)


def test_items_at_an_atom_have_no_value_and_no_later_atom(inflated):
    X, bound = inflated, HurdleGaussian(ATOMS).bind(inflated)
    values, indicators = np.split(bound.columns(X), [3], axis=1)
    assert np.array_equal(np.isnan(values[:, 0]), np.isnan(X[:, 0]) | (X[:, 0] == 0))
    assert np.array_equal(np.isnan(values[:, 1]), np.isnan(X[:, 1]) | (np.abs(X[:, 1]) == 1))
    expected = [(X[:, 0] == 0).sum(), (X[:, 1] == 1).sum(), (X[:, 1] == -1).sum()]
    assert np.nansum(indicators, axis=0).tolist() == expected
    assert np.isnan(indicators[X[:, 1] == 1, 2]).all()
    assert [prior.name for prior in bound.hyper_priors][-1] == "base_atom_strength"


def test_units_and_origin_of_hurdles_do_not_matter(inflated):
    atoms = [[5 - 3 * atom for atom in own] for own in ATOMS]
    first, second = (
        HurdleGaussian(ATOMS).bind(inflated),
        HurdleGaussian(atoms).bind(5 - 3 * inflated),
    )
    hyper = first.sample_hyper(np.random.default_rng(0))
    for rows in (slice(0, 9), slice(9, 20)):
        value = second.log_marginal(second.X[rows], hyper)
        assert first.log_marginal(first.X[rows], hyper) == pytest.approx(value, rel=1e-8)


def test_two_values_mean_the_same_in_any_coding(rng):
    first, second = np.repeat([0.0, 1.0], [35, 25]), np.repeat([1.0, 0.0], [35, 25])
    table = np.column_stack([rng.permutation(first), rng.permutation(second)])
    coded, plain = HurdleGaussian().bind(1.0 + table), Bernoulli().bind(table)
    hyper = plain.initial_hyper()
    value = plain.log_marginal(plain.X[:9], hyper)
    assert coded.log_marginal(coded.X[:9], hyper) == pytest.approx(value)
    with pytest.raises(ValueError, match="values that the first data have not in column 0"):
        Mixed().bind(1.0 + table).transform(np.array([[7.0, 1.0]]))


def test_hurdles_leave_out_what_does_not_vary():
    two = np.tile([0.48, 1.0, 0.48, 0.48], 10)[:, None]
    bound, plain = HurdleGaussian().bind(two), Bernoulli().bind((two == 0.48).astype(float))
    hyper = np.array([1.7])
    expected = pytest.approx(plain.log_marginal(plain.X[:9], hyper))
    assert bound.log_marginal(bound.X[:9], hyper) == expected
    none = HurdleGaussian([[]]).bind(np.arange(9.0)[:, None])
    plain = DiagonalGaussian().bind(np.arange(9.0)[:, None])
    hyper = plain.initial_hyper()
    assert none.log_marginal(none.X[:4], hyper) == plain.log_marginal(plain.X[:4], hyper)


@pytest.mark.parametrize("atoms", [[[0.0]], "zero", [0.0, 1.0, 2.0], [["a"], [], []], None])
def test_bad_atoms_are_refused(inflated, atoms):
    sentence = f"atoms={atoms!r} must be 'data', a number, or a list of values for each of the 3 "
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}"):
        HurdleGaussian(atoms).bind(inflated)


def parts_of(family):
    return {type(own).__name__: columns for own, columns in family.parts}


def test_mixed_gives_every_column_the_family_of_its_kind(rng):
    n = 300
    table = np.column_stack(
        [
            rng.normal(size=n),
            rng.random(n) < 0.3,
            rng.poisson(6, size=n),
            rng.normal(size=n).clip(min=0),
            rng.normal(size=n),
            rng.choice([1.0, 2.0, 3.0, 7.5], size=n),
            np.where(rng.random(n) < 0.5, 2.0, 3.0),
        ]
    )
    expected = {
        "FullGaussian": [0, 4],
        "HurdleGaussian": [3, 6],
        "Poisson": [2],
        "Bernoulli": [1],
        "Recoded": [5],
    }
    assert parts_of(by_kind(table, ())) == expected
    hole = np.where(np.arange(n * 7).reshape(n, 7) == 4, np.nan, table)
    assert parts_of(by_kind(hole, ()))["HurdleGaussian"] == [0, 3, 4, 6]
    assert by_kind(table[:, [0, 4]], ()) == FullGaussian()
    np.testing.assert_array_equal(Mixed().bind(table).X, by_kind(table, ()).bind(table).X)
    assert by_kind(table[:, [5]], ()) == by_kind(table[:, [0]], [0]) == Recoded()

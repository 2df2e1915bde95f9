"""Hard queries, against sums, written out, over which of the queries are hard."""

from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy import stats
from scipy.special import betaln, gammaln, logsumexp

import bayesclust as bc
from bayesclust._io import load_netcdf, write_netcdf
from bayesclust.constraints import ConfusionNoise, LinkNoise, RuleNoise, UniformNoise
from bayesclust.constraints.queries import QueryNoise
from bayesclust.inference.chain import Moves, TVClustProblem
from bayesclust.inference.samplers import SAMPLERS, collapsed_chain
from bayesclust.partition_priors import DirichletProcess
from tests.exactness import exact
from tests.exactness.cases import bound_case, fixed, partitions_drawn, triplets
from tests.exactness.generative import assert_agree, assert_noticed
from tests.exactness.test_blocked import bundle, draws_of
from tests.exactness.test_enumeration import MOVES
from tests.exactness.test_geweke import marginal_conditional, z_scores

HARD = (2.0, 3.0)
PAIRS = [(0, 1), (1, 0), (0, 1), (2, 3), (3, 2), (1, 4), (4, 1), (1, 4), (0, 2), (3, 4), (3, 4)]
SAME = [1, 1, 0, 0, 1, 1, 1, 1, 0, 0, 0]
WHO = [0, 1, 2, 0, 1, 0, 1, 2, 2, 0, 2]
TRIPLETS = [(0, 1, 2), (0, 1, 2), (0, 1, 2), (3, 4, 1), (3, 4, 1), (0, 2, 1)]
WORDS = [0, 0, 1, 2, 0, 1]


def pairs(noise=None):
    noise = LinkNoise(p=(5.0, 1.0), q=(4.0, 1.0), hard=HARD) if noise is None else noise
    return bc.PairwiseConstraints(PAIRS, SAME, 5, source=WHO, noise=noise)


def triples(noise):
    return bc.RelativeConstraints(TRIPLETS, WORDS, 5, source=[0, 1, 2, 0, 1, 0], noise=noise)


NOISES = {
    "pairs": pairs(),
    "pairs, pooled": pairs(LinkNoise(hard=(1.0, 2.0), pooled=True)),
    "pairs, known": pairs(LinkNoise(p=0.9, q=0.8, hard=0.3)),
    "one error rate": triples(UniformNoise(eps=(1.0, 6.0), hard=HARD)),
    "confusion": triples(ConfusionNoise(hard=HARD)),
}
each_noise = pytest.mark.parametrize("view", NOISES.values(), ids=NOISES)


def queries_of(view):
    """The numbers of the answers to each query, by its items in their order."""
    found = {}
    for at, items in enumerate(map(tuple, view.items.tolist())):
        found.setdefault(items, []).append(at)
    return list(found.values())


def confusion_by_hand(view, params, hard=False):
    """p(answer | truth) of each source, or of hard queries."""
    values = {name: params[f"hard_{name}"][None] if hard else params[name] for name in own(view)}
    if "p" in values:
        p, q = values["p"], values["q"]
        return np.array([[[b, 1 - b], [1 - a, a]] for a, b in zip(p, q, strict=True)])
    if "noise" in values:
        return np.array(
            [np.full((3, 3), e / 2) + (1 - 1.5 * e) * np.eye(3) for e in values["noise"]]
        )
    return values["confusion"]


def own(view):
    return view.noise.parameters


def joint_by_hand(view, z, params):
    """p(easy or hard, answers to each query), (U, 2), and of each answer given that, (m, 2)."""
    truths = view.truths(z)
    easy, (hard,) = (confusion_by_hand(view, params, hard) for hard in (False, True))
    each = [
        (easy[source, truth, answer], hard[truth, answer])
        for source, truth, answer in zip(view.source, truths, view.answers, strict=True)
    ]
    share = float(params["hard_share"])
    rows = [np.prod([each[at] for at in query], axis=0) for query in queries_of(view)]
    return np.array(rows) * [1 - share, share], np.array(each)


@each_noise
def test_log_prob_is_a_sum_over_hard_and_easy(view, rng):
    used = view.evidence()
    for _ in range(5):
        z = rng.integers(3, size=5)
        params = used.noise.sample_prior(used.n_sources, rng)
        by_query = np.log(joint_by_hand(view, z, params)[0].sum(axis=1))
        assert view.log_prob(z, params) == pytest.approx(by_query.sum())
        table = used.noise.log_table(params)
        assert table[np.arange(len(used)), used.patterns(z)] == pytest.approx(by_query)


def log_beta(weights):
    return gammaln(weights).sum(axis=-1) - gammaln(np.sum(weights, axis=-1))


def log_rows(counts, prior):
    """log p(answers) of rows with Dirichlet weights, by counts of each answer."""
    return (log_beta(prior + counts) - log_beta(prior)).sum()


def log_given(view, z, is_hard):
    """log p(answers, which queries are hard | z), all parameters integrated out."""
    noise, T = view.noise, int(max(view.truth)) + 1
    counts = np.zeros((view.n_sources + 1, T, view.n_answers))
    for query, hard in zip(queries_of(view), is_hard, strict=True):
        for at in query:
            source = view.n_sources if hard else view.source[at]
            counts[source, view.truths(z)[at], view.answers[at]] += 1
    a, b = noise.hard
    number = sum(is_hard)
    value = betaln(a + number, b + len(is_hard) - number) - betaln(a, b)
    if isinstance(noise, LinkNoise):
        easy = np.array([noise.q, noise.p[::-1]])
        return value + log_rows(counts[:-1], easy) + log_rows(counts[-1], np.full((2, 2), 5.0))
    if isinstance(noise, UniformNoise):
        right = np.trace(counts, axis1=1, axis2=2)
        wrong = counts.sum(axis=(1, 2)) - right
        both = np.stack([wrong, right], axis=-1)
        value += log_rows(both[:-1], np.array(noise.eps)) - wrong.sum() * np.log(2)
        return value + log_rows(both[-1], np.array([20 / 3, 10 / 3]))
    hard = np.full((3, 3), 10 / 3)
    return value + log_rows(counts[:-1], np.array(noise.prior)) + log_rows(counts[-1], hard)


def log_joint_of_queries(view, z):
    """log p(answers, which are hard | z) of every choice of hard queries, and the choices."""
    choices = list(product((0, 1), repeat=len(queries_of(view))))
    return np.array([log_given(view, z, choice) for choice in choices]), np.array(choices)


KINDS = {
    "pairs": (NOISES["pairs"],),
    "beside triplets": (NOISES["pairs"], triplets(5, np.random.default_rng(0))),
    "one error rate": (NOISES["one error rate"],),
    "pairs and a confusion": (NOISES["pairs"], NOISES["confusion"]),
}


@cache
def problem(kind):
    bound = bound_case("gaussian", 5, 2, np.random.default_rng(3), fixed)
    views = tuple(view.evidence() for view in KINDS[kind])
    return TVClustProblem(bound, views, DirichletProcess((2.0, 1.0)))


@cache
def enumerated(kind):
    """Every partition and its log posterior, all parameters and all queries summed out."""
    case = problem(kind)
    known = [view for view in KINDS[kind] if view.noise.hard is None]
    states, values = exact.log_posterior(case.family, known, case.partition_prior)
    for view in KINDS[kind]:
        if view.noise.hard is not None:
            values = values + [logsumexp(log_joint_of_queries(view, z)[0]) for z in states]
    return states, values


def assert_exact(draws, kind):
    result = exact.compare(draws, *enumerated(kind))
    assert result.agrees, result
    assert result.number >= 5, "hardly any partition was compared"
    return result


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sampler", SAMPLERS.values(), ids=SAMPLERS)
def test_partitions_are_exact(kind, sampler):
    assert_exact(partitions_drawn(problem(kind), Moves(), 5000, 1, sampler=sampler), kind)


@pytest.mark.parametrize("moves", MOVES)
def test_every_move_is_exact(moves):
    kind = "beside triplets"
    assert_exact(partitions_drawn(problem(kind), MOVES[moves], 4000, 2), kind)


def test_the_blocked_sampler_is_exact():
    assert_exact(draws_of(bundle(problem("pairs"), 1), 600), "pairs")


def test_answers_taken_one_by_one_are_noticed():
    easy = replace(problem("pairs"), constraints=(pairs(LinkNoise((5.0, 1.0), (4.0, 1.0))),))
    result = exact.compare(partitions_drawn(easy, Moves(), 4000, 1), *enumerated("pairs"))
    assert not result.agrees


def test_share_and_hard_queries_are_those_of_the_enumeration():
    view = NOISES["pairs"]
    states, values = enumerated("pairs")
    weights = np.exp(values - logsumexp(values))
    hard = np.zeros(len(queries_of(view)))
    for z, weight in zip(states, weights, strict=True):
        log_p, choices = log_joint_of_queries(view, z)
        hard += weight * np.exp(log_p - logsumexp(log_p)) @ choices
    share = (HARD[0] + hard.sum()) / (sum(HARD) + len(hard))
    table, shares = drawn_table(np.random.default_rng(5), 6000)
    by_query = table.groupby([*"ij"], sort=False)["hard"].first()
    assert by_query.to_numpy() == pytest.approx(hard, abs=0.02)
    assert shares.mean() == pytest.approx(share, abs=4 * 0.2 / np.sqrt(1500))


def drawn_table(rng, number):
    """The table of credibilities of a chain's draws, and the share of hard queries in each."""
    case = problem("pairs")
    chain = collapsed_chain(case, np.zeros(5, np.int64), rng, Moves())
    for _ in range(100):
        chain.sweep(adapt=True)
    rows = []
    for _ in range(number):
        chain.sweep()
        rows.append(chain.state.draw())
    draws = {name: np.array([[row[name] for row in rows]]) for name in rows[0]}
    draws["z"] = np.array([[np.unique(row["z"], return_inverse=True)[1] for row in rows]])
    tree = bc.posterior.to_datatree(draws, constraints=list(case.constraints))
    return bc.constraint_credibility(tree), draws["hard_share"]


def template():
    rng = np.random.default_rng(11)
    noise = LinkNoise(p=(3.0, 2.0), q=(2.0, 2.0), hard=(1.5, 6.0))
    views = (pairs(noise).evidence(), triples(UniformNoise((2.0, 3.0), hard=(1.5, 6.0))).evidence())
    return TVClustProblem(bound_case("gaussian", 5, 2, rng), views, DirichletProcess((2.0, 1.0)))


@cache
def independent():
    return marginal_conditional(template(), 4000, np.random.default_rng(0))


@pytest.mark.parametrize("sampler", SAMPLERS.values(), ids=SAMPLERS)
def test_joint_distribution(sampler):
    drawn = independent()
    assert_agree(z_scores(template(), 4000, 1, sampler=sampler, independent=drawn))


@pytest.mark.parametrize(
    ("assumed", "sign"),
    [({"hard_share": np.array(0.5)}, 1), ({}, -1)],
    ids=["as if equally shared", "the wrong way round"],
)
def test_faulty_draws_of_hard_queries_are_noticed(assumed, sign, monkeypatch):
    def fault(self, counts, params, rng):
        easy, hard = self._log_parts(params | assumed)
        odds = sign * (counts * (hard - easy)).sum(axis=-1)
        return (rng.random(odds.shape) < 1 / (1 + np.exp(-odds))) * counts.sum(axis=-1)

    drawn = independent()
    monkeypatch.setattr(QueryNoise, "draw_hard", fault)
    assert_noticed(z_scores(template(), 4000, 1, independent=drawn))


@each_noise
def test_log_prior_is_that_of_each_parameter(view, rng):
    used = view.evidence()
    noise, params = used.noise, used.noise.sample_prior(used.n_sources, rng)
    expected = view.noise.log_prior({name: params[name] for name in own(view)})
    if not isinstance(view.noise.hard, float):
        expected += stats.beta(*view.noise.hard).logpdf(params["hard_share"])
    if isinstance(view.noise, LinkNoise):
        chance = stats.beta(5, 5)
        expected += chance.logpdf(params["hard_p"]) + chance.logpdf(params["hard_q"])
    elif isinstance(view.noise, UniformNoise):
        expected += stats.beta(20 / 3, 10 / 3).logpdf(params["hard_noise"])
    else:
        rows = stats.dirichlet([10 / 3] * 3)
        expected += sum(map(rows.logpdf, params["hard_confusion"]))
    assert noise.log_prior(params) == pytest.approx(expected)


def stored(view, rng, number=4):
    """Draws of partition and noise as a posterior, and each draw by itself."""
    used = view.evidence()
    z = rng.integers(3, size=(number, 5))
    each = [used.noise.sample_prior(used.n_sources, rng) for _ in range(number)]
    draws = {name: np.array([[one[name] for one in each]]) for name in each[0]}
    return bc.posterior.to_datatree(draws | {"z": z[None]}, constraints=[used]), z, each


@each_noise
def test_tables_use_the_other_answers_to_a_query(view, rng):
    tree, z, each = stored(view, rng)
    table = bc.constraint_credibility(tree)
    hard = np.zeros(len(view))
    log_p = np.zeros((len(z), len(view)))
    for row, (labels, params) in enumerate(zip(z, each, strict=True)):
        joint, by_answer = joint_by_hand(view, labels, params)
        for query, both in zip(queries_of(view), joint, strict=True):
            hard[query] += both[1] / both.sum() / len(z)
            for at in query:
                others = both / by_answer[at]
                log_p[row, at] = np.log(both.sum() / others.sum())
    assert table["hard"].to_numpy() == pytest.approx(hard)
    found = bc.constraint_log_likelihood(tree)["log_likelihood"][view.name].values[0]
    assert found == pytest.approx(log_p)
    elpd = -logsumexp(-log_p, axis=0) + np.log(len(z))
    assert table["elpd_loo"].to_numpy() == pytest.approx(elpd)
    right = (view.truths(z) == view.said).mean(axis=0)
    assert table["credibility"].to_numpy() == pytest.approx(right)
    assert set(bc.source_reliability(tree)["parameter"].str.split("[").str[0]) == set(own(view))


def test_answers_held_out_are_given_those_kept(rng):
    view = NOISES["pairs"]
    kept, held = view.select(slice(0, 6)), view.select(slice(6, None))
    tree, z, each = stored(kept, rng)
    (found,) = bc.posterior.credibility.answer_tables(tree, [held])
    for row, (labels, params) in enumerate(zip(z, each, strict=True)):
        joint, _ = joint_by_hand(kept, labels, params)
        known = dict(zip([tuple(kept.items[q[0]]) for q in queries_of(kept)], joint, strict=True))
        easy, (hard,) = (confusion_by_hand(view, params, both) for both in (False, True))
        share = float(params["hard_share"])
        for at, items in enumerate(map(tuple, held.items)):
            a, b = known.get(items, (1 - share, share))
            truth = held.truths(labels)[at]
            expected = (a * easy[held.source[at], truth] + b * hard[truth]) / (a + b)
            assert found[0, row, at] == pytest.approx(expected)


def test_simulated_errors_are_shared(rng):
    items = np.repeat([(i, j) for i in range(40) for j in range(i)], 4, axis=0)
    noise = LinkNoise(hard=HARD)
    asked = bc.PairwiseConstraints(
        items, np.zeros(len(items), int), 40, source=np.arange(len(items)) % 4, noise=noise
    )
    z = np.arange(40) % 3
    params = {"p": np.full(4, 0.9), "q": np.full(4, 0.9), "hard_share": np.array(0.3)}
    params |= {"hard_p": np.array(0.5), "hard_q": np.array(0.4)}
    wrong = asked.simulate(z, params, rng).flipped.reshape(-1, 4).sum(axis=1)
    truth = asked.truths(z).reshape(-1, 4)[:, 0]
    for value, right in ((1, 0.5), (0, 0.4)):
        found = np.bincount(wrong[truth == value], minlength=5)
        easy, hard = (stats.binom(4, rate).pmf(range(5)) for rate in (0.1, 1 - right))
        expected = (0.7 * easy + 0.3 * hard) * found.sum()
        assert stats.chisquare(found, expected).pvalue > 1e-3


def crowd(seed, share, n=60, number=80, apart=2.0, least=0.75):
    """Three clusters that overlap, and five annotators; about hard pairs they toss coins."""
    rng = np.random.default_rng([seed, 77])
    y = np.repeat([0, 1, 2], n // 3)
    X = rng.normal(size=(n, 2)) + apart * np.array([[0, 0], [1, 0], [0.5, 0.87]])[y]
    asked = np.array([rng.choice(n, 2, replace=False) for _ in range(number)])
    reliability = rng.uniform(least, 0.95, size=5)
    is_hard = rng.random(number) < share
    right = rng.random((number, 5)) < np.where(is_hard[:, None], 0.5, reliability)
    same = (y[asked[:, :1]] == y[asked[:, 1:]]) == right
    links = bc.PairwiseConstraints(
        np.repeat(asked, 5, axis=0), same.ravel(), n, source=np.tile(np.arange(5), number)
    )
    return X, y, links, is_hard


SHORT = {"num_chains": 2, "num_warmup": 100, "num_samples": 100, "random_state": 0, "n_jobs": 1}


@cache
def fitted():
    X, _, links, is_hard = crowd(1, 0.35)
    links = links.with_noise(LinkNoise(hard=(1, 9)))
    est = bc.TVClust(cluster_model="single", progress=False, **SHORT).fit(X, constraints=links)
    return est, X, links, is_hard


def test_a_fit_tells_hard_queries_and_keeps_them_in_files(tmp_path):
    est, _, _links, is_hard = fitted()
    table = bc.constraint_credibility(est)
    chosen = np.repeat(is_hard, 5)
    assert table["hard"][chosen].mean() > table["hard"][~chosen].mean() + 0.2
    draws = est.posterior_["posterior"]
    assert draws["p"].dims == ("chain", "draw", "links_source")
    assert draws["hard_share"].dims == draws["hard_p"].dims == ("chain", "draw")
    write_netcdf(est.posterior_, tmp_path / "run.nc")
    again = bc.constraint_credibility(load_netcdf(tmp_path / "run.nc"))
    assert (again["hard"] == table["hard"]).all()
    checks = bc.constraint_ppc(est).set_index("check")
    assert checks.loc["disagreements", "finding"] == "as expected"
    assert len(bc.active.suggest_queries(est, size=2)) == 2
    assert not hasattr(est, "log_joint")
    assert len(est.to_arviz()["prior"]["hard_share"].dims) == 2


def test_a_posterior_is_extended_by_answers_to_known_queries():
    _, X, links, _ = fitted()
    more = bc.PairwiseConstraints(
        links.items[:3], [True, True, True], len(X), source=[0, 1, 2], noise=links.noise
    )
    other = bc.TVClust(cluster_model="single", progress=False, **SHORT)
    other.fit(X, constraints=links).extend(constraints=more, num_samples=5)
    assert len(bc.constraint_credibility(other)) == len(links) + 3


def test_a_killed_run_resumes(tmp_path):
    _, X, links, _ = fitted()
    whole = bc.TVClust(cluster_model="single", progress=False, **(SHORT | {"num_samples": 20}))
    part = bc.TVClust(cluster_model="single", progress=False, **(SHORT | {"num_samples": 10}))
    part.fit(X, constraints=links, checkpoint=tmp_path / "run.zarr")
    resumed = whole.fit(X, constraints=links, checkpoint=tmp_path / "run.zarr").posterior_
    straight = whole.fit(X, constraints=links).posterior_
    for name in ("z", "p", "hard_p", "hard_share"):
        assert (resumed["posterior"][name] == straight["posterior"][name]).all(), name


def test_constraints_are_held_out_and_models_compared():
    _, X, links, _ = fitted()
    tiny = SHORT | {"num_warmup": 20, "num_samples": 20}
    table = bc.cross_validate(
        bc.TVClust(cluster_model="single", progress=False, **tiny), X, links, n_folds=2
    )
    assert table["answers"].sum() == len(links)
    assert np.isfinite(table["log_score"]).all()
    chosen = bc.TVClust(progress=False, **tiny).fit(X, constraints=links)
    assert chosen.model_scores_["held"].max() > 0
    assert "hard" in bc.constraint_credibility(chosen)


REFUSED = {
    "mean field": lambda X, links: bc.TVClust("variational").fit(X, constraints=links),
    "this method": lambda X, links: bc.DCRC(3).fit(X, constraints=links),
    "leave_view_out": lambda X, links: bc.leave_view_out(fitted()[0], X, links),
    "PosteriorQueries": lambda X, links: bc.active.PosteriorQueries(noise=None).update(
        bc.active.QueryState(X, np.zeros(len(X), int), [links], []), np.random.default_rng(0)
    ),
}


@pytest.mark.parametrize("method", REFUSED)
def test_methods_that_cannot_take_hard_queries_refuse(method):
    _, X, links, _ = fitted()
    with pytest.raises(TypeError, match=f"'links' has hard queries, which {method} does not take"):
        REFUSED[method](X, links)


def test_shares_that_are_none_are_refused():
    with pytest.raises(ValueError, match=r"hard is 1\.5: pass a Beta prior|hard.*\(0, 1\)"):
        LinkNoise(hard=1.5)
    with pytest.raises(ValueError, match="rules are no queries"):
        RuleNoise(hard=(1, 9))


def half_width(values):
    return stats.t(len(values) - 1).ppf(0.975) * np.std(values, ddof=1) / np.sqrt(len(values))


@pytest.mark.slow
def test_hard_queries_are_worth_knowing_and_cost_nothing():
    gain, closer = {}, {}
    for share in (0.35, 0.0):
        found = []
        for seed in range(100, 110):
            X, y, links, _ = crowd(seed, share, number=200, apart=2.5, least=0.85)
            same = y[:, None] == y
            for noise in (LinkNoise(), LinkNoise(hard=(1, 9))):
                est = bc.TVClust(cluster_model="single", progress=False, **SHORT)
                est.set_params(num_warmup=300, num_samples=300, random_state=seed)
                est.fit(X, constraints=links.with_noise(noise))
                brier = np.square(bc.similarity_matrix(est) - same)[np.triu_indices(60, 1)].mean()
                found.append((bc.metrics.pairwise_f(est.labels_, y), brier))
        plain, told = np.array(found).reshape(10, 2, 2).swapaxes(0, 1)
        gain[share], closer[share] = (told - plain).T
    assert gain[0.35].mean() > half_width(gain[0.35])
    assert closer[0.35].mean() < -half_width(closer[0.35])
    assert abs(gain[0.0].mean()) < 0.005

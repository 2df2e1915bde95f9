"""Places of items, colours of blocks, terms of the answers on devices, weights."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bayesclust.constraints.factor_graph import item_graph, stack_tables
from bayesclust.inference.blocked.layout import Incidences, make_layout
from bayesclust.inference.blocked.step import Given, site_logits, uniforms
from tests.exactness.cases import all_views, links

N, K = 23, 4


@pytest.mark.parametrize("n_devices", [1, 3])
@pytest.mark.parametrize("block_size", [1, 2, 100])
def test_every_item_has_one_place(n_devices, block_size, rng):
    views = (links(60, rng, size=25),)
    layout = make_layout(views, 60, n_devices, block_size)
    places = np.concatenate([layout.free.ravel(), layout.answered.ravel()])
    assert sorted(places[places < 60]) == list(range(60))
    assert len(layout.free) % n_devices == 0
    assert layout.free.shape[1] <= block_size
    assert layout.answered.shape[1] % n_devices == 0
    assert layout.answered.shape[1] <= block_size * n_devices
    asked = set(views[0].items.ravel())
    assert {i for i in layout.answered.ravel() if i < 60} == asked
    start, neighbour = item_graph([one.items for one in views], 60)
    for block in layout.answered:
        items = set(block[block < 60])
        assert items
        assert not any(items & set(neighbour[start[i] : start[i + 1]]) for i in items)


@pytest.mark.parametrize("step", [None, 2])
def test_site_logits_are_those_of_the_views(step, rng):
    views = all_views(N, rng)
    noises = [view.noise.sample_prior(view.n_sources, rng) for view in views]
    table = stack_tables(views, noises)
    layout = make_layout(views, N, 1, 100)
    z = np.r_[rng.integers(K, size=N), 0]
    gains = jnp.asarray(table[:, :1] - table), jnp.asarray(table - table[:, -1:])
    given = Given(None, jnp.zeros(K + 1), jnp.zeros(K + 1), 0.0, (), *gains, None, None)
    at, step = jnp.asarray(z[layout.answered.ravel()]), step or layout.slice
    compiled = jax.jit(site_logits, static_argnums=(1, 5))
    inc = Incidences(*(jnp.asarray(array[0]) for array in layout.incidences))
    for block, items in enumerate(layout.answered):
        found = compiled(inc, step, given, at, block, len(items))
        for i, logits in zip(items, np.asarray(found), strict=True):
            if i == N:
                assert (logits == 0).all()
                continue
            tried = np.tile(z[:-1], (K + 1, 1))
            tried[:, i] = np.arange(K + 1)
            pairs = zip(views, noises, strict=True)
            values = sum(view.log_prob(tried, noise) for view, noise in pairs)
            np.testing.assert_allclose(logits, values - values[-1], atol=1e-10)
    assert (layout.answered < N).sum() > 10


def test_random_numbers_are_uniform_and_belong_to_the_item():
    key, items = jnp.array([1, 2], dtype=jnp.uint32), jnp.arange(20_000)
    u, v = np.asarray(uniforms(key, items, 0)), np.asarray(uniforms(key, items, 1))
    for values in (u, v):
        assert values.min() >= 0
        assert values.max() < 1
        tally = np.histogram(values, bins=20, range=(0, 1))[0]
        assert (
            (tally - 1000) ** 2 / 1000
        ).sum() < 50  # chi-squared of 19 degrees of freedom: once in 10^4
    assert abs(np.corrcoef(u, v)[0, 1]) < 0.03
    assert abs(np.corrcoef(u[1:], u[:-1])[0, 1]) < 0.03
    np.testing.assert_array_equal(uniforms(key, items[500:600], 0), u[500:600])
    chains = jax.vmap(uniforms, in_axes=(0, None, None))(
        jnp.array([[1, 2], [1, 3]], dtype=jnp.uint32), items, 0
    )
    np.testing.assert_array_equal(chains[0], u)
    assert abs(np.corrcoef(u, chains[1])[0, 1]) < 0.03

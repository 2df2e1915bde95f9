# %% [markdown]
# # Composing with a NumPyro model
#
# Each of 120 people took some dose of a drug, and their response was measured. There are three
# kinds of people, and in each kind the response grows with the dose in its own way: *clusterwise
# regression*. `TVClust` has no such family. But any model that can be written in NumPyro can take
# answers about pairs: `PartitionGibbs` draws its partition, and NUTS everything else.

# %%
import arviz as az
import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS, Gibbs

import bayesclust as bc

rng = np.random.default_rng(3)
kind = rng.integers(3, size=120)
dose = rng.uniform(-1, 1, size=120)
response = (
    np.array([0.0, 0.3, -0.3])[kind]
    + np.array([1.5, 0.0, -1.5])[kind] * dose
    + 0.25 * rng.normal(size=120)
)

# %% [markdown]
# Where the lines cross, the response says nothing about the kind. Somebody was asked about some
# pairs whether both are of one kind, and was wrong in one answer of ten.

# %%
links = bc.PairwiseConstraints.sample(kind, size=250, error_rate=0.1, seed=2)
links

# %% [markdown]
# The model is an ordinary one of NumPyro. Two things make the partition update possible: what
# belongs to one person stands in the plate `item`, and `bc.constraint_sites` lets the answers
# depend on the labels. It adds the reliability of the answers, `p` for two of one kind and `q` for
# two of different kinds.

# %%
def responses(dose, response, links, kinds=3):
    weight = numpyro.sample("weight", dist.Dirichlet(jnp.ones(kinds)))
    scatter = numpyro.sample("scatter", dist.LogNormal(-1, 0.5))
    with numpyro.plate("component", kinds):
        level = numpyro.sample("level", dist.Normal(0, 1))
        slope = numpyro.sample("slope", dist.Normal(0, 2))
    with numpyro.plate("item", len(dose)):
        z = numpyro.sample("z", dist.Categorical(weight))
        numpyro.sample("response", dist.Normal(level[z] + slope[z] * dose, scatter), obs=response)
    bc.constraint_sites(links, z)

# %% [markdown]
# NumPyro's `Gibbs` takes blocks in turn: the labels by `PartitionGibbs`, exactly and many at once,
# given everything else; all other sites, with the labels held, by NUTS. `jax.vmap` runs four chains
# side by side; `moved` is the share of labels that changed.

# %%
kernel = Gibbs([(bc.PartitionGibbs(responses, links), ["z"]), (NUTS(responses), None)])
mcmc = MCMC(
    kernel,
    num_warmup=200,
    num_samples=1000,
    num_chains=4,
    chain_method=jax.vmap,
    progress_bar=False,
)
mcmc.run(jax.random.key(0), dose, response, links, extra_fields=("block_states.0.moved",))
draws = mcmc.get_samples(group_by_chain=True)
moved = mcmc.get_extra_fields(group_by_chain=True)["block_states.0.moved"]
print(f"{float(moved.mean()):.0%} of the labels move in a step")

# %% [markdown]
# `to_datatree` puts the draws into the form of a `TVClust` posterior, and all of the package's
# tools work on it. The numbers of the labels mean nothing (chains name the kinds
# differently), so diagnosis looks at partitions.

# %%
tree = bc.posterior.to_datatree(
    {name: np.asarray(draws[name]) for name in ("z", "p", "q", "scatter")}, constraints=[links]
)
print(bc.diagnose(tree))

# %%
az.plot_trace_dist(tree, var_names=["p", "q", "scatter"]);

# %%
found = bc.point_estimate(tree)
f = bc.metrics.pairwise_f(found, kind)
print(f"{found.max() + 1} kinds; pairwise F against the truth {f:.2f}")
for name in ("p", "q", "scatter"):
    low, high = np.quantile(tree["posterior"][name], [0.05, 0.95])
    print(
        f"{name}: {float(tree['posterior'][name].mean()):.2f}, 90% interval {low:.2f} to {high:.2f}"
    )

# %% [markdown]
# The lines of some draws, with the people coloured by the point estimate. Circles are the ones
# whose kind is wrong: most are where lines cross.

# %%
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ends = np.array([-1.0, 1.0])
level, slope = (np.asarray(draws[name])[:, ::20].ravel() for name in ("level", "slope"))
ax.plot(ends, level + slope * ends[:, None], color="0.6", alpha=0.15, linewidth=1)
ax.scatter(dose, response, c=found, cmap="viridis", s=18, zorder=2)
match = np.array(
    [np.bincount(kind[found == cluster]).argmax() for cluster in range(found.max() + 1)]
)
wrong = match[found] != kind
ax.scatter(
    dose[wrong],
    response[wrong],
    s=70,
    facecolors="none",
    edgecolors="tab:red",
    label=f"{wrong.sum()} wrong",
)
ax.set(xlabel="dose", ylabel="response", title="Three kinds of response")
ax.legend(frameon=False);

# %% [markdown]
# Who belongs together, and how sure that is:

# %%
bc.plots.similarity(tree, labels=found);

# %% [markdown]
# The credibility of the answers; crosses mark the wrong ones.

# %%
bc.plots.credibility(tree, flipped=links.flipped);

# %%
credibility = bc.constraint_credibility(tree)["credibility"]
suspect = credibility < 0.5
print(
    f"{(suspect & links.flipped).sum()} of {links.flipped.sum()} wrong answers are suspect,",
    end=" ",
)
print(f"and {(suspect & ~links.flipped).sum()} of {(~links.flipped).sum()} right ones")

# %% [markdown]
# **What to take away.** The answers, the partition and the tools for a posterior do not depend on
# `TVClust`. Write the likelihood in NumPyro, put `bc.constraint_sites` into it, and let
# `bc.PartitionGibbs` draw the labels.

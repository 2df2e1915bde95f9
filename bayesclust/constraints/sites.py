"""All views merged into one factor graph, in the form that compiled samplers walk.

Every answer is a factor on two or three items whose value depends on their equality pattern alone:
row `code` of a table log p(answer | pattern), rebuilt whenever the noise changes. Samplers ask for
two things: how putting item i in each cluster changes log p(s | z) (*site logits*), and the value
of the factors that touch a set of items.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesclust._numba import FAST, device, kernel
from bayesclust.constraints.base import Constraints

UNPLACED = -1
N_PATTERNS = 5


class Sites(NamedTuple):
    """Factors of all views, and for each item the factors that name it (compressed rows)."""

    start: NDArray[np.int64]  # (n + 1,)
    factor: NDArray[np.int64]  # (sum of degrees,)
    member: NDArray[np.int64]  # (F, 3), third member -1 for pairs
    code: NDArray[np.int64]  # (F,) row of the table


def compile_sites(constraints: Sequence[Constraints], n_items: int) -> Sites:
    """Merge views into one factor graph.

    Parameters
    ----------
    constraints : sequence of Constraints
    n_items : int

    Returns
    -------
    Sites
    """
    members, codes, offset = [np.zeros((0, 3), np.int64)], [np.zeros(0, np.int64)], 0
    for view in constraints:
        padded = np.full((len(view), 3), UNPLACED, dtype=np.int64)
        padded[:, : view.items.shape[1]] = view.items
        members.append(padded)
        codes.append(offset + view.source * view.n_answers + view.answers)
        offset += view.n_sources * view.n_answers
    member, code = np.concatenate(members), np.concatenate(codes)
    factor, column = np.nonzero(member >= 0)
    item = member[factor, column]
    order = np.argsort(item, kind="stable")
    start = np.searchsorted(item[order], np.arange(n_items + 1)).astype(np.int64)
    return Sites(start, factor[order].astype(np.int64), member, code)


def stack_tables(
    constraints: Sequence[Constraints], noises: Sequence[Mapping[str, Any]]
) -> NDArray[np.float64]:
    """One table log p(answer | pattern) for all views, shape (codes, 5); pairs use the first two columns."""
    tables = [view.noise.log_table(noise) for view, noise in zip(constraints, noises, strict=True)]
    stacked, first = np.zeros((sum(map(len, tables)), N_PATTERNS)), 0
    for table in tables:
        stacked[first : first + len(table), : table.shape[1]] = table
        first += len(table)
    return stacked


@device(fastmath=FAST, no_refcount=True)
def triplet_pattern(a: int, b: int, c: int) -> int:
    """Equality pattern of three labels: 0 all same, 1 ab|c, 2 ac|b, 3 bc|a, 4 all different."""
    if a == b:
        return 0 if b == c else 1
    if a == c:
        return 2
    return 3 if b == c else 4


@device(fastmath=FAST, no_refcount=True)
def factor_pattern(sites: Sites, z: NDArray[np.int64], f: int) -> int:
    """Equality pattern of the items of answer f."""
    a, b = z[sites.member[f, 0]], z[sites.member[f, 1]]
    if sites.member[f, 2] < 0:
        return 0 if a == b else 1
    pattern: int = triplet_pattern(a, b, z[sites.member[f, 2]])
    return pattern


@device(fastmath=FAST, no_refcount=True)
def factor_value(sites: Sites, table: NDArray[np.float64], z: NDArray[np.int64], f: int) -> float:
    """Return log p(answer f | z)."""
    value: float = table[sites.code[f], factor_pattern(sites, z, f)]
    return value


@kernel(no_refcount=True)
def count_answers(sites: Sites, z: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
    """Add to counts[code, pattern] how often each answer was given under each pattern."""
    for f in range(len(sites.code)):
        counts[sites.code[f], factor_pattern(sites, z, f)] += 1


@device(fastmath=FAST, no_refcount=True)
def _add_triplet(
    row: NDArray[np.float64], place: int, a: int, b: int, c: int, logits: NDArray[np.float64]
) -> None:
    """Add to logits[k] what an answer about a triplet says of one member in k, where the two others have labels."""
    if place == 0:
        left, right, with_left, with_right, apart = b, c, 1, 2, 3
    elif place == 1:
        left, right, with_left, with_right, apart = a, c, 1, 3, 2
    else:
        left, right, with_left, with_right, apart = a, b, 2, 3, 1
    if left < 0 or right < 0:
        return
    if left == right:
        logits[left] += row[0] - row[apart]
    else:
        logits[left] += row[with_left] - row[4]
        logits[right] += row[with_right] - row[4]


@device(fastmath=FAST, no_refcount=True)
def add_site_logits(
    sites: Sites,
    table: NDArray[np.float64],
    z: NDArray[np.int64],
    i: int,
    logits: NDArray[np.float64],
) -> None:
    """Add to logits[k] what putting item i in k changes in log p(s | z), relative to a new cluster.

    Answers that name another unplaced item (label -1) are passed over.
    """
    for entry in range(sites.start[i], sites.start[i + 1]):
        f = sites.factor[entry]
        row = table[sites.code[f]]
        first, second, third = sites.member[f, 0], sites.member[f, 1], sites.member[f, 2]
        if third < 0:
            other = z[second if first == i else first]
            if other >= 0:
                logits[other] += row[0] - row[1]
            continue
        place = 0 if first == i else 1 if second == i else 2
        _add_triplet(row, place, z[first], z[second], z[third], logits)


@device(fastmath=FAST, no_refcount=True)
def add_block_logits(
    sites: Sites,
    table: NDArray[np.float64],
    z: NDArray[np.int64],
    items: NDArray[np.int64],
    bonded: bool,
    logits: NDArray[np.float64],
) -> None:
    """Add to logits[k] what putting a whole block in k changes in log p(s | z), relative to a new cluster.

    The items of the block are the ones without a label (-1). Given bonds
    (`bayesclust.inference.link_blocks`), answers that favour "same" drop out.
    """
    for i in items:
        for entry in range(sites.start[i], sites.start[i + 1]):
            f = sites.factor[entry]
            row = table[sites.code[f]]
            first, second, third = sites.member[f, 0], sites.member[f, 1], sites.member[f, 2]
            a, b = z[first], z[second]
            if third < 0:
                other = max(a, b)
                if other >= 0 and not (bonded and row[0] > row[1]):
                    logits[other] += row[0] - row[1]
                continue
            c = z[third]
            inside = (a < 0) + (b < 0) + (c < 0)
            if inside == 1:
                _add_triplet(row, 0 if a < 0 else 1 if b < 0 else 2, a, b, c, logits)
            elif inside == 2 and i == (first if a < 0 else second):  # once, not for either member
                apart = 1 if c >= 0 else 2 if b >= 0 else 3
                logits[max(a, b, c)] += row[0] - row[apart]


@kernel(fastmath=FAST, no_refcount=True)
def log_prob_touching(
    sites: Sites,
    table: NDArray[np.float64],
    z: NDArray[np.int64],
    items: NDArray[np.int64],
    mark: NDArray[np.int64],
) -> float:
    """Sum of log p(answer | z) over the answers that name at least one of `items`, each once.

    `mark` is scratch of length n, all zero before and after.
    """
    for position in range(len(items)):
        mark[items[position]] = 1
    value = 0.0
    for position in range(len(items)):
        i = items[position]
        for entry in range(sites.start[i], sites.start[i + 1]):
            f = sites.factor[entry]
            owner = sites.member[f, 0]
            if mark[owner] == 0:
                owner = sites.member[f, 1]
            if mark[owner] == 0:
                owner = sites.member[f, 2]
            if owner == i:
                value += factor_value(sites, table, z, f)
    for position in range(len(items)):
        mark[items[position]] = 0
    return value

"""All constraints merged into one factor graph, in the form that compiled samplers walk.

Every answer is a factor on two or three items whose value depends on their equality pattern alone:
row `code` of a table log p(answer | pattern), rebuilt whenever the noise changes; of limits, a
table of costs. Samplers ask how putting item i in each cluster changes log p(s | z) (*site
logits*), and for the value of the factors that touch a set of items. Items of one *colour* share no
factor. Noise that is made of Dirichlet rows is also laid out to be integrated out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import accumulate, chain, pairwise, permutations
from typing import Any, NamedTuple

import numpy as np

from bayesclust._numba import FAST, device, kernel
from bayesclust.constraints.base import N_PATTERNS, Constraints, equality_patterns
from bayesclust.constraints.statements import Formula, items_of
from bayesclust.typing import CodeArray, FloatArray, IntArray

UNPLACED = -1

GIVEN = -1
PASSED_OVER = -2
"""`Dirichlets.kind` of answers with a known probability, and of those whose noise is known."""


class LabelSites(NamedTuple):
    """Class labels of M items as evidence about C classes of clusters: see `constraints.labels`."""

    row: IntArray  # (n,) row of each item below, or -1; (0,) where there are no labels
    item: IntArray  # (M,)
    evidence: FloatArray  # (M, C) log p(labels of the item | class), which follows from the noise
    log_class: FloatArray  # (C,) log p(class)


NO_LABELS = LabelSites(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((0, 1)), np.zeros(1))


class GroupSites(NamedTuple):
    """Factors on many items, each true or false of a partition: see `constraints.rules`."""

    # a factor is true if all its clauses are, a clause if one of its atoms is; an atom says that
    # its items are in at most `most` clusters, or in more

    start: IntArray  # (n + 1,); (0,) where there are none
    factor: IntArray  # the factors of each item, in rows by item
    code: IntArray  # (F,) row of the table, whose first columns are of true and false
    scope: Rows  # the items of each factor, each once
    clause: IntArray  # (F + 1,) the clauses of factor f are clause[f] : clause[f + 1]
    atom: IntArray  # (clauses + 1,)
    most: IntArray  # (atoms,)
    few: IntArray  # (atoms,) 1 for "at most", 0 for more
    member: Rows  # the items of each atom


class Rows(NamedTuple):
    """Lists one behind the other: row r is value[start[r] : start[r + 1]]."""

    start: IntArray
    value: IntArray


def rows_of(lists: Sequence[Sequence[int]]) -> Rows:
    """Lists of integers as `Rows`."""
    start = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    return Rows(start, np.array([*chain.from_iterable(lists)], np.int64))


_EMPTY = np.zeros(0, np.int64)
_NO_ROWS = Rows(_EMPTY, _EMPTY)
NO_GROUPS = GroupSites(_EMPTY, _EMPTY, _EMPTY, _NO_ROWS, _EMPTY, _EMPTY, _EMPTY, _EMPTY, _NO_ROWS)


class Sites(NamedTuple):
    """Factors of all constraints, and for each item the factors that name it (compressed rows)."""

    start: IntArray  # (n + 1,)
    factor: IntArray  # (sum of degrees,)
    member: IntArray  # (F, 3), third member -1 for pairs
    code: IntArray  # (F,) row of the table
    labels: LabelSites = NO_LABELS
    groups: GroupSites = NO_GROUPS

    def patterns(self, labels: IntArray) -> CodeArray:
        """Return the equality pattern of each factor's items, shape (F,)."""
        names = labels[self.member]
        pairs = equality_patterns(names[:, :2])
        return np.asarray(np.where(self.member[:, 2] < 0, pairs, equality_patterns(names)))

    def inside(self, labels: IntArray, table: Any) -> float:
        """Return the sum of table[code, pattern] over the factors."""
        return float(table[self.code, self.patterns(labels)].sum())

    def between(self, labels: IntArray, n_clusters: int, table: Any) -> FloatArray:
        """Return what merging each two clusters would add to `inside`, shape (K, K)."""
        names = labels[self.member]
        pattern = self.patterns(labels)
        rows = table[self.code]
        pair = self.member[:, 2] < 0
        total = np.zeros((n_clusters, n_clusters))

        def add(chosen: Any, first: int, second: int, after: int) -> None:
            change = rows[chosen, after] - rows[chosen, pattern[chosen]]
            np.add.at(total, (names[chosen, first], names[chosen, second]), change)

        add(pair & (pattern == 1), 0, 1, 0)
        # ij|k, ik|j and jk|i: the two clusters that hold the three become one
        for before, (first, second) in enumerate(((0, 2), (0, 1), (0, 1)), start=1):
            add(~pair & (pattern == before), first, second, 0)
        for after, (first, second) in enumerate(((0, 1), (0, 2), (1, 2)), start=1):
            add(~pair & (pattern == 4), first, second, after)
        return total + total.T

    def reordered(self, order: IntArray) -> Sites:
        """Return the factors of the items order[0], order[1], ... numbered 0, 1, ..."""
        place = np.full(len(order) + 1, UNPLACED)
        place[order] = np.arange(len(order))
        degree = np.diff(self.start)[order]
        start = np.concatenate([[0], np.cumsum(degree)]).astype(np.int64)
        entry = np.repeat(self.start[order] - start[:-1], degree) + np.arange(start[-1])
        return Sites(start, self.factor[entry], place[self.member], self.code)


def compile_sites(constraints: Sequence[Constraints], n_items: int) -> Sites:
    """Merge constraints into one factor graph, their codes one after the other."""
    members = [np.zeros((0, 3), np.int64)]
    codes = [np.zeros(0, np.int64)]
    formulas: list[Formula] = []
    code_of_formula: list[int] = []
    for one, (rows, _) in zip(constraints, table_parts(constraints), strict=True):
        if not one.members:
            formulas += one.formulas
            code_of_formula += (rows.start + one.codes).tolist()
        if not one.members or not one.has_table:
            continue
        padded = np.full((len(one), 3), UNPLACED, dtype=np.int64)
        padded[:, : one.items.shape[1]] = one.items
        members.append(padded)
        codes.append(rows.start + one.codes)
    sites = sites_of(np.concatenate(members), np.concatenate(codes), n_items)
    return sites._replace(groups=group_sites(formulas, code_of_formula, n_items))


def with_labels(
    sites: Sites, constraints: Sequence[Any], noises: Sequence[Mapping[str, Any]]
) -> Sites:
    """The factors with what labels among the constraints, if any, say under their noise."""
    for one, noise in zip(constraints, noises, strict=True):
        if not one.has_table:
            sites = sites._replace(labels=one.sites(noise))
    return sites


def group_sites(formulas: Sequence[Formula], codes: Sequence[int], n_items: int) -> GroupSites:
    """Factors on many items, from what they say."""
    if not formulas:
        return NO_GROUPS
    clauses = [clause for formula in formulas for clause in formula]
    atoms = [atom for clause in clauses for atom in clause]
    scope = rows_of([sorted(items_of(formula)) for formula in formulas])
    owner = np.repeat(np.arange(len(formulas)), np.diff(scope.start))
    start, order = grouped(scope.value, n_items)
    return GroupSites(
        start,
        owner[order],
        np.array(codes, np.int64),
        scope,
        np.cumsum([0, *map(len, formulas)]),
        np.cumsum([0, *map(len, clauses)]),
        np.array([atom.most for atom in atoms], np.int64),
        np.array([atom.few for atom in atoms], np.int64),
        rows_of([atom.items for atom in atoms]),
    )


def sites_of(member: IntArray, code: IntArray, n_items: int) -> Sites:
    """Factors on the items `member` (F, 3), in rows by item."""
    factor, column = np.nonzero(member >= 0)
    start, order = grouped(member[factor, column], n_items)
    return Sites(start, factor[order].astype(np.int64), member, code)


def grouped(item: IntArray, n_items: int) -> tuple[IntArray, IntArray]:
    """Where items' entries start (n + 1,) if entries (m,) are in the order returned, stable."""
    number = max(len(item), 1)
    start = np.zeros(n_items + 1, dtype=np.int64)
    np.cumsum(np.bincount(item, minlength=n_items), out=start[1:])
    # keys that differ need no stable sort, which takes several times as long
    key = item * number
    key += np.arange(len(item))
    key.sort()
    key %= number
    return start, key


def table_parts(constraints: Sequence[Constraints]) -> list[tuple[slice, slice]]:
    """Codes and patterns of each of the constraints, in a table (codes, 5) of all of them."""
    ends = accumulate((one.n_sources * one.n_answers for one in constraints), initial=0)
    return [
        (slice(first, end), slice(one.n_patterns))
        for one, (first, end) in zip(constraints, pairwise(ends), strict=True)
    ]


def stack_tables(
    constraints: Sequence[Constraints], noises: Sequence[Mapping[str, Any]]
) -> FloatArray:
    """One table log p(answer | pattern), (codes, 5); pairs use the first two columns."""
    tables = []
    for one, noise in zip(constraints, noises, strict=True):
        tables.append(one.noise.log_table(noise))
        shape = one.n_sources * one.n_answers, one.n_patterns
        if np.shape(tables[-1]) != shape:  # kernels would read beyond its end
            raise ValueError(
                f"the noise of {one.name!r} gives a table of shape {np.shape(tables[-1])}, not "
                f"{shape}: correct its parameters, or log_table of the noise model."
            )
    return stack_padded(tables)


def stack_padded(tables: Sequence[Any]) -> FloatArray:
    """Tables (codes, patterns) as one, (all codes, 5 or more), padded with zeros to the widest."""
    width = max([N_PATTERNS, *(np.shape(table)[1] for table in tables)])
    stacked = np.zeros((sum(map(len, tables)), width))
    first = 0
    for table in tables:
        codes, patterns = np.shape(table)
        stacked[first : first + codes, :patterns] = table
        first += codes
    return stacked


@device(fastmath=FAST, no_refcount=True)
def factor_pattern(sites: Sites, z: IntArray, f: int) -> int:
    """Equality pattern of the items of answer f, as `equality_patterns` numbers it."""
    a = z[sites.member[f, 0]]
    b = z[sites.member[f, 1]]
    if sites.member[f, 2] < 0:
        return 0 if a == b else 1
    c = z[sites.member[f, 2]]
    if a == b:
        return 0 if b == c else 1
    if a == c:
        return 2
    return 3 if b == c else 4


@device(fastmath=FAST, no_refcount=True)
def _few_clusters(member: Rows, z: IntArray, a: int, most: int, i: int, k: int) -> bool:
    """Whether the items of atom a are in at most so many clusters, i and unplaced ones in k."""
    number = 0
    first = member.start[a]
    for at in range(first, member.start[a + 1]):
        j = member.value[at]
        own = k if j == i or z[j] < 0 else z[j]
        new = True
        for before in range(first, at):
            j = member.value[before]
            if own == (k if j == i or z[j] < 0 else z[j]):
                new = False
                break
        number += new
        if number > most:
            return False
    return True


@device(fastmath=FAST, no_refcount=True)
def group_pattern(groups: GroupSites, z: IntArray, f: int, i: int, k: int) -> int:
    """0 where factor f is true, else 1, with item i and those without a cluster in k."""
    for c in range(groups.clause[f], groups.clause[f + 1]):
        met = False
        for a in range(groups.atom[c], groups.atom[c + 1]):
            few = _few_clusters(groups.member, z, a, groups.most[a], i, k)
            if few == (groups.few[a] == 1):
                met = True
                break
        if not met:
            return 1
    return 0


@device(fastmath=FAST, no_refcount=True)
def _add_group_logits(
    groups: GroupSites, table: FloatArray, z: IntArray, f: int, i: int, logits: FloatArray
) -> None:
    """Add what factor f says of item i, and those without a cluster, in k instead of alone."""
    scope = groups.scope
    row = table[groups.code[f]]
    alone = row[group_pattern(groups, z, f, i, len(logits))]
    for at in range(scope.start[f], scope.start[f + 1]):
        j = scope.value[at]
        k = z[j]
        if j == i or k < 0:
            continue
        seen = False
        for before in range(scope.start[f], at):
            other = scope.value[before]
            if other != i and z[other] == k:
                seen = True
                break
        if not seen:
            logits[k] += row[group_pattern(groups, z, f, i, k)] - alone


@device(fastmath=FAST, no_refcount=True)
def _first_unplaced(scope: Rows, z: IntArray, f: int, i: int) -> int:
    """The first item of factor f, but i, without a cluster; -1 if all have one."""
    for at in range(scope.start[f], scope.start[f + 1]):
        j = scope.value[at]
        if j != i and z[j] < 0:
            return int(j)
    return UNPLACED


@kernel(nogil=False, no_refcount=True)
def count_answers(sites: Sites, z: IntArray, counts: IntArray) -> None:
    """Add to counts[code, pattern] how often each answer was given under each pattern."""
    for f in range(len(sites.code)):
        counts[sites.code[f], factor_pattern(sites, z, f)] += 1
    for f in range(len(sites.groups.code)):
        counts[sites.groups.code[f], group_pattern(sites.groups, z, f, UNPLACED, 0)] += 1


@device(fastmath=FAST, no_refcount=True)
def _add_triplet(row: FloatArray, place: int, a: int, b: int, c: int, logits: FloatArray) -> None:
    """Add to logits[k] what a triplet says of one member in k, where the others have labels."""
    left = b if place == 0 else a
    right = b if place == 2 else c
    # patterns in which the member is with the left one alone, with the right one, with neither
    with_left = 2 if place == 2 else 1
    with_right = 2 if place == 0 else 3
    apart = 3 - place
    if left < 0 or right < 0:
        return
    if left == right:
        logits[left] += row[0] - row[apart]
    else:
        logits[left] += row[with_left] - row[4]
        logits[right] += row[with_right] - row[4]


@device(fastmath=FAST, no_refcount=True)
def add_site_logits(
    sites: Sites, table: FloatArray, z: IntArray, i: int, logits: FloatArray
) -> None:
    """Add to logits[k] what item i in k, instead of alone, changes in log p(s | z)."""
    for entry in range(sites.start[i], sites.start[i + 1]):
        f = sites.factor[entry]
        row = table[sites.code[f]]
        first = sites.member[f, 0]
        second = sites.member[f, 1]
        third = sites.member[f, 2]
        if third < 0:
            other = z[second if first == i else first]
            if other >= 0:
                logits[other] += row[0] - row[1]
            continue
        place = 0 if first == i else 1 if second == i else 2
        _add_triplet(row, place, z[first], z[second], z[third], logits)


@device(fastmath=FAST, no_refcount=True)
def _log_mixed(log_class: FloatArray, mass: FloatArray, own: FloatArray) -> float:
    """log sum_c exp(log_class_c + mass_c + own_c)."""
    largest = log_class[0] + mass[0] + own[0]
    for c in range(1, len(log_class)):
        largest = max(largest, log_class[c] + mass[c] + own[c])
    total = 0.0
    for c in range(len(log_class)):
        total += math.exp(log_class[c] + mass[c] + own[c] - largest)
    return largest + math.log(total)


@device(fastmath=FAST)
def _label_masses(labels: LabelSites, z: IntArray, slots: int) -> tuple[int, IntArray, FloatArray]:
    """(number, slot, mass): the clusters with labels, and the evidence about each, (M, C)."""
    place = np.full(slots, UNPLACED)
    slot = np.zeros(len(labels.item), np.int64)
    mass = np.zeros(labels.evidence.shape)
    number = 0
    for m in range(len(labels.item)):
        k = z[labels.item[m]]
        if k < 0:
            continue
        if place[k] < 0:
            place[k] = number
            slot[number] = k
            number += 1
        for c in range(mass.shape[1]):
            mass[place[k], c] += labels.evidence[m, c]
    return number, slot, mass


@device(fastmath=FAST)
def _add_label_logits(labels: LabelSites, z: IntArray, own: FloatArray, logits: FloatArray) -> None:
    """Add log f(n_k + own) - log f(n_k) - log f(own) for each cluster that has labels."""
    number, slot, mass = _label_masses(labels, z, len(logits))
    nothing = np.zeros(len(own))
    alone = _log_mixed(labels.log_class, nothing, own)
    for a in range(number):
        gain = _log_mixed(labels.log_class, mass[a], own)
        logits[slot[a]] += gain - _log_mixed(labels.log_class, mass[a], nothing) - alone


@device(fastmath=FAST, no_refcount=True)
def add_set_logits(
    sites: Sites, table: FloatArray, z: IntArray, i: int, logits: FloatArray
) -> None:
    """Add to logits[k] what item i in k, instead of alone, changes by labels and groups."""
    labels = sites.labels
    if len(labels.row) > 0 and labels.row[i] >= 0:
        _add_label_logits(labels, z, labels.evidence[labels.row[i]], logits)
    groups = sites.groups
    if len(groups.start) > 0:
        for entry in range(groups.start[i], groups.start[i + 1]):
            f = groups.factor[entry]
            if _first_unplaced(groups.scope, z, f, i) < 0:
                _add_group_logits(groups, table, z, f, i, logits)


@device(fastmath=FAST)
def add_block_set_logits(
    sites: Sites, table: FloatArray, z: IntArray, items: IntArray, logits: FloatArray
) -> None:
    """Add the same of a whole block, all items without a cluster."""
    labels = sites.labels
    if len(labels.row) > 0:
        own = np.zeros(len(labels.log_class))
        for i in items:
            if labels.row[i] >= 0:
                for c in range(len(own)):
                    own[c] += labels.evidence[labels.row[i], c]
        _add_label_logits(labels, z, own, logits)
    groups = sites.groups
    if len(groups.start) > 0:
        for i in items:
            for entry in range(groups.start[i], groups.start[i + 1]):
                f = groups.factor[entry]
                if _first_unplaced(groups.scope, z, f, UNPLACED) == i:  # once a factor
                    _add_group_logits(groups, table, z, f, UNPLACED, logits)


@device(fastmath=FAST)
def _log_prob_labels(labels: LabelSites, z: IntArray) -> float:
    """log p(labels | z), the class of each cluster summed over."""
    slots = 0
    for i in labels.item:
        slots = max(slots, z[i] + 1)
    number, _, mass = _label_masses(labels, z, slots)
    nothing = np.zeros(len(labels.log_class))
    value = 0.0
    for a in range(number):
        value += _log_mixed(labels.log_class, mass[a], nothing)
    return value


@device(fastmath=FAST, no_refcount=True)
def add_block_logits(
    sites: Sites, table: FloatArray, z: IntArray, items: IntArray, bonded: bool, logits: FloatArray
) -> None:
    """Add the same of a whole block, all items without a label; `bonded`, "same" drops out."""
    for i in items:
        for entry in range(sites.start[i], sites.start[i + 1]):
            f = sites.factor[entry]
            row = table[sites.code[f]]
            first = sites.member[f, 0]
            second = sites.member[f, 1]
            third = sites.member[f, 2]
            a = z[first]
            b = z[second]
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
    add_block_set_logits(sites, table, z, items, logits)


@kernel(fastmath=FAST, no_refcount=True)
def log_prob_touching(
    sites: Sites, table: FloatArray, z: IntArray, items: IntArray, mark: IntArray
) -> float:
    """Sum of log p(answer | z) over answers that name one of `items`; `mark` (n,) is scratch, 0."""
    # Labels and groups count whole.
    for i in items:
        mark[i] = 1
    value = 0.0
    for i in items:
        for entry in range(sites.start[i], sites.start[i + 1]):
            f = sites.factor[entry]
            owner = sites.member[f, 0]
            if mark[owner] == 0:
                owner = sites.member[f, 1]
            if mark[owner] == 0:
                owner = sites.member[f, 2]
            if owner == i:
                value += table[sites.code[f], factor_pattern(sites, z, f)]
    for i in items:
        mark[i] = 0
    if len(sites.labels.row) > 0:
        value += _log_prob_labels(sites.labels, z)
    groups = sites.groups
    for f in range(len(groups.code)):
        value += table[groups.code[f], group_pattern(groups, z, f, UNPLACED, 0)]
    return value


def item_graph(tuples: Sequence[IntArray], n_items: int) -> Rows:
    """The neighbours of each item, which tuples (m, t) of items name together with it."""
    arcs = [np.empty(0, dtype=np.int64)]
    for items in tuples:
        for a, b in permutations(range(items.shape[1]), 2):
            arcs.append(items[:, a] * n_items + items[:, b])
    tail, neighbour = np.divmod(np.unique(np.concatenate(arcs)), n_items)
    return Rows(np.searchsorted(tail, np.arange(n_items + 1)).astype(np.int64), neighbour)


def greedy_coloring(constraints: Sequence[Constraints], n_items: int) -> IntArray:
    """Colours of the items, those with most neighbours first (Welsh and Powell 1967)."""
    # Given everything else, items of one colour are independent under any model whose items meet
    # only in the answers.
    start, neighbour = item_graph([one.items for one in constraints], n_items)
    degree = np.diff(start)
    colors = np.full(n_items, -1)
    taken_by = np.full(int(degree.max(initial=0)) + 2, -1)
    _color_in_turn(start, neighbour, np.argsort(-degree, kind="stable"), colors, taken_by)
    return colors


@kernel
def _color_in_turn(start: Any, neighbour: Any, order: Any, colors: Any, taken_by: Any) -> None:
    """Give items in this order the first colour that no neighbour has; -1 is none."""
    for i in order:
        for e in range(start[i], start[i + 1]):
            color = colors[neighbour[e]]
            if color >= 0:
                taken_by[color] = i
        free = 0
        while taken_by[free] == i:
            free += 1
        colors[i] = free


class Dirichlets(NamedTuple):
    """Rows of all sources of all constraints; C kinds of answers in all, R rows."""

    weight: FloatArray  # (C,) prior weight of each kind
    start: IntArray  # (R + 1,) row r has the kinds start[r] : start[r + 1]
    kind: IntArray  # (codes, 5), or `GIVEN` or `PASSED_OVER`
    factor: FloatArray  # (codes, 5) logarithm of its known factor


NONE = Dirichlets(
    np.zeros(0),
    np.zeros(1, np.int64),
    np.full((0, N_PATTERNS), PASSED_OVER),
    np.zeros((0, N_PATTERNS)),
)
"""Those of no constraints."""


def stack_dirichlets(constraints: Sequence[Constraints]) -> Dirichlets | None:
    """The rows of all noise that is learned, or None if some has no such form."""
    weights: list[Sequence[float]] = []
    kinds = [NONE.kind]
    factors = [NONE.factor]
    n_kinds = 0
    for one in constraints:
        shape = one.n_sources, one.n_answers, N_PATTERNS
        kind = np.full(shape, PASSED_OVER)
        factor = np.zeros(shape)
        noise = one.noise
        rows = noise.dirichlet_rows() if noise.free and one.has_table else None
        if noise.free and one.has_table and rows is None:
            return None
        if rows is not None:
            truth = list(noise.truth)
            kinds_of_one = sum(map(len, rows.weights))
            first = n_kinds + kinds_of_one * np.arange(one.n_sources)[:, None, None]
            own = rows.kind[truth].T
            kind[..., : len(truth)] = np.where(own >= 0, own + first, GIVEN)
            factor[..., : len(truth)] = rows.log_factor[truth].T
            weights.extend(rows.weights * one.n_sources)
            n_kinds += kinds_of_one * one.n_sources
        kinds.append(kind.reshape(-1, N_PATTERNS))
        factors.append(factor.reshape(-1, N_PATTERNS))
    start = np.cumsum([0, *map(len, weights)])
    flat = np.array([weight for row in weights for weight in row], dtype=np.float64)
    return Dirichlets(flat, start, np.concatenate(kinds), np.concatenate(factors))


@device(fastmath=FAST, no_refcount=True)
def integrated_surplus(
    rows: Dirichlets, sites: Sites, table: FloatArray, z: IntArray, mass: FloatArray
) -> float:
    """log p(answers | z) - log p(answers | z, noise of `table`), up to what z does not change."""
    for c in range(len(rows.weight)):
        mass[c] = rows.weight[c]
    value = 0.0
    groups = sites.groups
    number = len(sites.code)
    for f in range(number + len(groups.code)):
        if f < number:
            code = sites.code[f]
            pattern = factor_pattern(sites, z, f)
        else:
            code = groups.code[f - number]
            pattern = group_pattern(groups, z, f - number, UNPLACED, 0)
        kind = rows.kind[code, pattern]
        if kind != PASSED_OVER:
            value += rows.factor[code, pattern] - table[code, pattern]
        if kind >= 0:
            mass[kind] += 1.0
    for r in range(len(rows.start) - 1):
        total = 0.0
        for c in range(rows.start[r], rows.start[r + 1]):
            total += mass[c]
            value += math.lgamma(mass[c])
        value -= math.lgamma(total)
    return value

"""The farthest pair of points, without looking at all pairs: boxes of a tree that are too near to hold it are left out."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesclust._numba import device, kernel
from bayesclust.typing import FloatArray

LEAF = 24


@kernel
def squared_gap(points: Any, i: int, j: int) -> Any:
    """Squared distance of two points."""
    total = 0.0
    for f in range(points.shape[1]):
        total += (points[i, f] - points[j, f]) ** 2
    return total


@kernel
def crossing(points: Any, middle: Any) -> Any:
    """Return two points far apart: from the mean to the farthest point, from there to the farthest, until nothing grows."""
    n, best, i, j = len(points), -1.0, 0, 0
    for p in range(n):
        far = 0.0
        for f in range(points.shape[1]):
            far += (points[p, f] - middle[f]) ** 2
        if far > best:
            best, i = far, p
    best, j = -1.0, i
    while True:
        next_one, far = j, best
        for p in range(n):
            gap = squared_gap(points, i, p)
            if gap > far:
                far, next_one = gap, p
        if far <= best:
            return i, j
        best, j = far, next_one
        i, j = j, i


@device
def halve(points: Any, side: int, order: Any, first: int, middle: int, last: int) -> None:
    """Let no point of order[first:middle] lie beyond one of order[middle:last] along a side (Hoare 1961, Algorithm 65)."""
    left, right, number = first, last - 1, 1
    while left < right:
        # as good as random, since every fixed place is the worst one for points in some order, as
        # those along a curve
        number = (number * 1103515245 + 12345) % 2147483648
        pivot = points[order[left + number % (right - left + 1)], side]
        i, j = left, right
        while i <= j:
            while points[order[i], side] < pivot:
                i += 1
            while points[order[j], side] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i, j = i + 1, j - 1
        if middle <= j:
            right = j
        elif middle >= i:
            left = i
        else:
            return


@kernel
def grow_tree(
    points: Any,
    radius: Any,
    order: Any,
    begin: Any,
    end: Any,
    child: Any,
    low: Any,
    high: Any,
    reach: Any,
) -> int:
    """Halve the points along the widest side of their box until few are left; returns the number of nodes."""
    d, count, node = points.shape[1], 1, 0
    begin[0], end[0] = 0, len(points)
    while node < count:
        first, last = begin[node], end[node]
        for f in range(d):
            low[node, f], high[node, f] = np.inf, -np.inf
        reach[node] = 0.0
        for at in range(first, last):
            p = order[at]
            reach[node] = max(reach[node], radius[p])
            for f in range(d):
                low[node, f] = min(low[node, f], points[p, f])
                high[node, f] = max(high[node, f], points[p, f])
        child[node] = -1
        if last - first > LEAF:
            side, middle = 0, (first + last) // 2
            for f in range(1, d):
                if high[node, f] - low[node, f] > high[node, side] - low[node, side]:
                    side = f
            halve(points, side, order, first, middle, last)
            child[node] = count
            begin[count], end[count] = first, middle
            begin[count + 1], end[count + 1] = middle, last
            count += 2
        node += 1
    return count


@device
def farthest_bound(low: Any, high: Any, reach: Any, a: int, b: int) -> Any:
    """No point of node a is farther from a point of node b: by their boxes, and by their distances from the mean."""
    box = 0.0
    for f in range(low.shape[1]):
        side = max(high[a, f] - low[b, f], high[b, f] - low[a, f])
        box += side * side
    return min(box, (reach[a] + reach[b]) ** 2)


@kernel
def search_tree(
    points: Any,
    order: Any,
    begin: Any,
    end: Any,
    child: Any,
    low: Any,
    high: Any,
    reach: Any,
    found: Any,
) -> Any:
    """Improve on the pair `found`, in place, through all pairs of nodes that may hold a better one."""
    best = squared_gap(points, found[0], found[1])
    stack = [(0, 0)]
    while len(stack) > 0:
        a, b = stack.pop()
        if farthest_bound(low, high, reach, a, b) <= best:
            continue
        if child[a] < 0 and child[b] < 0:
            for at in range(begin[a], end[a]):
                for to in range(begin[b], end[b]):
                    gap = squared_gap(points, order[at], order[to])
                    if gap > best:
                        best = gap
                        found[0], found[1] = order[at], order[to]
        elif a == b:
            stack.append((child[a], child[a]))
            stack.append((child[a] + 1, child[a] + 1))
            stack.append((child[a], child[a] + 1))
        elif child[b] < 0 or (child[a] >= 0 and end[a] - begin[a] >= end[b] - begin[b]):
            stack.append((child[a], b))
            stack.append((child[a] + 1, b))
        else:
            stack.append((a, child[b]))
            stack.append((a, child[b] + 1))
    return best


def farthest_pair(points: FloatArray) -> tuple[int, int, float]:
    """Return two points that are farthest apart, and their squared distance.

    Exact. Only points so far from the mean that they can be one of the pair are looked at, through
    a tree. What is left grows with the number of points near the surface of a ball around all: few
    in two or three dimensions, most of them where points lie on a sphere in many dimensions.

    Parameters
    ----------
    points : (n, d) array, C-contiguous

    Returns
    -------
    i, j : int
    squared : float

    Examples
    --------
    >>> farthest_pair(np.array([[0.0], [5.0], [2.0], [-1.0]]))
    (1, 3, 36.0)
    """
    middle = points.mean(axis=0)
    i, j = crossing(points, middle)
    radius = np.sqrt(np.square(points - middle).sum(axis=1))
    best = float(squared_gap(points, i, j))
    kept = np.flatnonzero(radius >= (1 - 1e-12) * np.sqrt(best) - radius.max())
    chosen = np.ascontiguousarray(points[kept])
    found = np.searchsorted(kept, [i, j])
    nodes = 4 * (len(kept) // LEAF + 1)
    order, begin, end = np.arange(len(kept)), np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    child, reach = np.empty(nodes, np.int64), np.empty(nodes)
    low, high = np.empty((nodes, points.shape[1])), np.empty((nodes, points.shape[1]))
    tree = (order, begin, end, child, low, high, reach)
    grow_tree(chosen, radius[kept], *tree)
    best = search_tree(chosen, *tree, found)
    first, second = np.sort(kept[found]).tolist()
    return first, second, float(best)

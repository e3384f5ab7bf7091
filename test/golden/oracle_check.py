"""Self-check of the oracle (see oracle.py): cells of every statistic against their definitions in rational arithmetic
(fractions.Fraction, one window at a time), by a way that shares nothing with oracle_statistics.py but its names."""

import math
import random
from fractions import Fraction

import numpy as np

from oracle_statistics import STATISTICS


def midpoints(r):
    """The real interval that rounds to the finite double r, and whether its ends belong to it (r even)."""
    even = int.from_bytes(np.float64(r).tobytes(), "little") % 2 == 0
    near = [np.nextafter(r, -np.inf), np.nextafter(r, np.inf)]
    big = Fraction(2) ** 1024
    near = [Fraction(float(v)) if math.isfinite(v) else (big if v > 0 else -big) for v in near]
    return (near[0] + Fraction(r)) / 2, (near[1] + Fraction(r)) / 2, even


def rounds_to(v, r):
    """Is r the double nearest to the rational v (ties to even)?"""
    if math.isinf(r):
        return (v if r > 0 else -v) >= Fraction(2) ** 1024 - Fraction(2) ** 970
    if math.isnan(r):
        return False
    lo, hi, closed = midpoints(r)
    return lo <= v <= hi if closed else lo < v < hi


class Root:
    """sign * sqrt(v)"""

    def __init__(self, sign, v):
        self.sign, self.v = sign, v

    def rounds_to(self, r):
        """Squares of the midpoints decide: no root is taken."""
        if self.sign == 0 or self.v == 0:
            return r == 0
        if self.sign < 0:
            r = -r
        if math.isinf(r):
            return r > 0 and self.v >= (Fraction(2) ** 1024 - Fraction(2) ** 970) ** 2
        if math.isnan(r) or r < 0:
            return False
        lo, hi, closed = midpoints(r)
        lo = max(lo, Fraction(0))
        return lo * lo <= self.v <= hi * hi if closed else lo * lo < self.v < hi * hi


def agrees(want, got):
    """want: None = null, an infinity, a Root, or an exact number."""
    if want is None:
        return math.isnan(got)
    if isinstance(want, Root):
        return want.rounds_to(got)
    if isinstance(want, float):
        return got == want
    return rounds_to(want, got)


def infinity(values):
    """What the infinities among the values add up to: None if both signs occur."""
    signs = {v for v in values if math.isinf(v)}
    return None if len(signs) == 2 else signs.pop()


def deviations(v):
    v = [Fraction(a) for a in v]
    mean = sum(v) / len(v)
    return [a - mean for a in v]


def dot(a, b):
    return sum(p * q for p, q in zip(a, b))


def tiny(values):
    """Does the standard deviation, rounded, not exceed the double 2e-5?"""
    if len(values) < 2 or any(map(math.isinf, values)):
        return False
    a = deviations(values)
    hi, closed = midpoints(2e-5)[1:]
    v = dot(a, a) / (len(a) - 1)
    return v <= hi * hi if closed else v < hi * hi


def average_rank(values, me):
    below, ties = sum(v < me for v in values), sum(v == me for v in values)
    return Fraction(sum(range(below + 1, below + ties + 1)), ties) / len(values)


def pairs(name, x, y, whole, skip):
    """x, y: lists of a window; only rows where both have a value take part."""
    both = [(a, b) for a, b in zip(x, y) if not math.isnan(a) and not math.isnan(b)]
    if len(both) < 2 or any(map(math.isinf, sum(both, ()))) or name != "regbeta" and len(both) < (int(skip) or whole):
        return None
    a, b = (deviations(side) for side in zip(*both))
    if name == "cov":
        return dot(a, b) / (len(both) - 1)
    if name == "regresid":  # deviations from the means at today's row, if it takes part
        if math.isnan(x[-1]) or math.isnan(y[-1]) or not any(b):
            return None
        return a[-1] - dot(a, b) / dot(b, b) * b[-1]
    if name in ("regbeta", "beta"):  # x is the dependent side
        return dot(a, b) / dot(b, b) if any(b) else None
    if skip is True and any(tiny([v for v in side if not math.isnan(v)]) for side in (x, y)):
        return None
    if not any(a) or not any(b):
        return None
    c = dot(a, b)
    return Root((c > 0) - (c < 0), c * c / (dot(a, a) * dot(b, b)))


def on_rows(name, w, skip):
    """w: a window with nulls. Regression on the row number by the normal equations."""
    there = [(p, v) for p, v in enumerate(w) if not math.isnan(v)]
    if len(there) < 2 or any(math.isinf(v) for _, v in there):
        return None
    p, v = deviations([k for k, _ in there]), deviations([v for _, v in there])
    slope = dot(p, v) / dot(p, p)
    if name == "slope":
        return slope
    if name == "rsquare":
        if not any(v) or skip is True and tiny([v for _, v in there]):
            return None
        return dot(p, v) ** 2 / (dot(p, p) * dot(v, v))
    # deviations from the means at today's row, which is the last of the window
    return None if math.isnan(w[-1]) else v[-1] - slope * p[-1]


def order(name, w, q):
    if name == "ts_min":
        return min(w)
    if name == "ts_max":
        return max(w)
    w, p = sorted(w), (0.5 if name == "median" else q) * (len(w) - 1)
    i, part = math.floor(p), Fraction(p) - math.floor(p)
    if part == 0:
        return w[i] if math.isinf(w[i]) else Fraction(w[i])
    if math.isinf(w[i]) or math.isinf(w[i + 1]):
        return infinity(w[i:i + 2])
    return Fraction(w[i]) + (Fraction(w[i + 1]) - Fraction(w[i])) * part


def standard(values, me):
    """(me - mean) / standard deviation"""
    if len(values) < 2 or any(map(math.isinf, values)) or len(set(values)) == 1:
        return None
    a, mean = deviations(values), sum(map(Fraction, values)) / len(values)
    c = Fraction(me) - mean
    return Root((c > 0) - (c < 0), c * c * (len(a) - 1) / dot(a, a))


def across_pairs(name, t, j, first, second):
    both = [(a, b) for a, b in zip(first[t].tolist(), second[t].tolist()) if not math.isnan(a) and not math.isnan(b)]
    me = float(first[t, j]), float(second[t, j])
    if any(map(math.isnan, me)) or any(map(math.isinf, sum(both, ()))):
        return None
    a, b = ([Fraction(v) for v in side] for side in zip(*both))
    p, q = map(Fraction, me)
    if name == "regression_neut":
        p, q = p - sum(a) / len(a), q - sum(b) / len(b)
        a, b = deviations(a), deviations(b)
    return p - q * dot(a, b) / dot(b, b) if any(b) else None


def across(name, t, j, x, extra):
    me, row = float(x[t, j]), x[t].tolist()
    there = [v for v in row if not math.isnan(v)]
    if math.isnan(me):
        return None
    if name == "zscore":
        return standard(there, me)
    if name == "demean":
        name, extra = "indneutralize", np.zeros(len(row), dtype=int)
    if isinstance(extra, np.ndarray) and extra.ndim == 2:
        extra = extra[t]
    if name == "rank":
        return average_rank(there, me)
    if name == "scale":
        if any(map(math.isinf, there)):
            return None if math.isinf(me) else 0
        total = sum(abs(Fraction(v)) for v in there)
        return None if total == 0 else Fraction(me) * Fraction(extra) / total
    if extra[j] < 0:
        return None
    mates = [v for v, g in zip(row, extra) if g == extra[j] and not math.isnan(v)]
    if name == "group_rank":
        return average_rank(mates, me)
    if name == "group_zscore":
        return standard(mates, me)
    if name == "group_mean":
        return infinity(mates) if any(map(math.isinf, mates)) else sum(map(Fraction, mates)) / len(mates)
    if any(map(math.isinf, mates)):
        mean = infinity(mates)
        return None if mean is None or me == mean else -mean
    return Fraction(me) - sum(map(Fraction, mates)) / len(mates)


def moments(name, v, today, k):
    n, a = len(v), deviations(v)
    power = lambda k: sum(p ** k for p in a) / n  # 0 ** 0 is 1
    if name == "moment":
        return power(int(k))
    if n < {"skew": 3, "kurt": 4}.get(name, 2) or not any(a):
        return None
    if name == "ts_zscore":
        return None if math.isnan(today) else standard(v, today)
    if name == "ir":
        mean = sum(map(Fraction, v)) / n
        return Root((mean > 0) - (mean < 0), mean * mean / (power(2) * n / (n - 1)))
    if name == "skew":  # G1 of Joanes and Gill
        g = power(3)
        return Root((g > 0) - (g < 0), g * g / power(2) ** 3 * n * (n - 1) / (n - 2) ** 2)
    g2 = power(4) / power(2) ** 2 - 3  # G2
    return Fraction(n - 1, (n - 2) * (n - 3)) * ((n + 1) * g2 + 6)


def expected(name, t, j, args, skip):
    """The cell by definition. args as in STATISTICS, without the rule `skip`."""
    x = args[0]
    if name in ("regression_neut", "vector_neut"):
        return across_pairs(name, t, j, *args)
    if name in ("rank", "scale", "indneutralize", "zscore", "demean", "group_mean", "group_rank", "group_zscore"):
        return across(name, t, j, x, args[-1])
    if name in ("sma", "sumac"):
        y = None
        for v in x[:t + 1, j].tolist():
            if not math.isnan(v):
                if y is None:
                    y = v
                elif name == "sumac":
                    y = y + v
                else:
                    y = (args[2] * v + (args[1] - args[2]) * y) / args[1]
        return None if y is None or math.isnan(y) else y
    if name == "affine_recurrence":
        y = 1.0  # None: unknown
        for p, q, c in zip(*(a[:t + 1, j].tolist() for a in args)):
            if c == 0 or math.isnan(c):
                y = q if c == 0 and not math.isnan(q) else None
            elif y is not None and not math.isnan(p * y + q):
                y = p * y + q
        return y
    d = next(a for a in args if isinstance(a, int))
    if t + 1 < d and not skip:
        return None
    w, *others = [a[max(0, t + 1 - d):t + 1, j].tolist() for a in args if isinstance(a, np.ndarray)]
    if name in ("cov", "corr", "regbeta", "beta", "regresid"):
        return pairs(name, w, others[0], d, skip)
    if name in ("count", "sumif"):
        cond = others[0] if others else w
        if any(map(math.isnan, cond)):
            return None
        w = [v for v, c in zip(w, cond) if c != 0]
        if name == "count":
            return Fraction(len(w))
        name = "sum"
        if not w:
            return Fraction(0)
    if any(map(math.isnan, w)) and not skip or sum(v == v for v in w) < max(1, int(skip)):
        return None
    if name in ("slope", "rsquare", "resid"):
        return on_rows(name, w, skip)
    there = [v for v in w if not math.isnan(v)]
    n, endless = len(there), any(map(math.isinf, there))
    if name in ("moment", "skew", "kurt", "ir", "ts_zscore"):
        return None if endless else moments(name, there, w[-1], args[-1])
    if name in ("std", "var", "mad"):
        if endless or n < 2 and name != "mad":
            return None
        a = deviations(there)
        if name == "mad":
            return sum(map(abs, a)) / n
        return Root(1, dot(a, a) / (n - 1)) if name == "std" else dot(a, a) / (n - 1)
    if name in ("sum", "mean", "decay_linear", "wma09"):
        if endless:
            return infinity(there)
        weights = {"decay_linear": list(range(1, n + 1)),
                   "wma09": [Fraction(9, 10) ** k for k in reversed(range(n))]}.get(name, [1] * n)
        total = dot(weights, map(Fraction, there))
        return total / (1 if name == "sum" else sum(weights))
    if name == "product":
        if endless:
            return None if 0.0 in w else math.copysign(math.inf, math.prod(math.copysign(1, v) for v in there))
        p = Fraction(1)
        for v in there:
            p *= Fraction(v)
        return p
    if name == "ts_rank":
        return None if math.isnan(w[-1]) else average_rank(there, w[-1])
    if name in ("nan_argmax", "nan_argmin"):
        if any(map(math.isnan, w)):
            return Fraction(1 + [math.isnan(v) for v in w].index(True))
        name = name.replace("nan", "ts")
    if name in ("ts_argmax", "ts_argmin"):
        return Fraction(1 + w.index((max if name == "ts_argmax" else min)(there)))
    if name in ("highday", "lowday"):
        extreme = (max if name == "highday" else min)(w)
        return Fraction(max(age for age, v in enumerate(reversed(w)) if v == extreme))
    if name in ("ts_min", "ts_max", "median", "quantile"):
        return order(name, there, args[-1])
    raise NameError(name)


class Check:
    """per_call: how many random cells of each result to check; None = all."""

    def __init__(self, per_call, seed=101):
        self.per_call, self.random, self.done = per_call, random.Random(seed), {}

    def sample(self, name, out, args, skip):
        rows, lanes = out.shape
        if self.per_call is None:
            cells = [(t, j) for t in range(rows) for j in range(lanes)]
        else:
            cells = [(self.random.randrange(rows), self.random.randrange(lanes)) for _ in range(self.per_call)]
            bare = np.argwhere(np.isnan(out) | (out == 0) | (np.abs(out) == 1))  # where special cases hide
            for _ in range(min(len(bare), self.per_call // 4)):
                cells.append(tuple(bare[self.random.randrange(len(bare))].tolist()))
        for t, j in cells:
            got = float(out[t, j])
            if not agrees(expected(name, t, j, args, skip), got):
                raise AssertionError(f"{name}{f' skip {skip}' if skip else ''}: row {t} lane {j} gives {got!r}")
            if name in ("corr", "rsquare") and abs(got) > 1:
                raise AssertionError(f"{name}: {got!r}")
        key = name + " (skip)" * bool(skip)
        self.done[key] = self.done.get(key, 0) + len(cells)


def nasty_panel(rng, rows=60, lanes=12):
    """Ties, constants, ranks, signed zeros, spikes of 1e15, near-cancellation, tiny and huge values, null, Inf."""
    x = rng.normal(size=(rows, lanes))
    x[:, 1] = rng.integers(0, 3, rows)
    x[:, 2] = 0.1
    x[:, 3] = rng.integers(1, 100, rows) / 99
    x[:, 4] = 1e9 + rng.integers(0, 4, rows) * 2.0 ** -20
    x[::7, 5] = 1e15
    x[:, 6] *= 1e-160
    x[:, 7] = np.where(rng.random(rows) < 0.5, 0.0, -0.0)
    x[:, 8] = rng.integers(-2, 3, rows) * 5e-324
    x[:, 9] *= 1e150
    x[:, 10] = np.where(rng.random(rows) < 0.8, 0.3, x[:, 10])
    x[:, 11] = 3 + rng.integers(0, 2, rows) * 4e-5  # standard deviations around 2e-5
    x[rng.random((rows, lanes)) < 0.03] = np.nan
    x[rng.random((rows, lanes)) < 0.02] = np.inf
    x[rng.random((rows, lanes)) < 0.01] = -np.inf
    x[20:30, 0] = np.nan
    x[:15, 3] = np.nan
    return x


def check_statistics():
    """Every statistic with both window rules on nasty panels, all cells."""
    check, rng = Check(None), np.random.default_rng(7)
    for turn in range(3):
        x, y = nasty_panel(rng), nasty_panel(rng)
        y[:, 0] = 1 - 2 * x[:, 0]
        group = np.array([0, 1, 0, 1, 2, 2, 0, 1, -1, 3, 2, 0])
        cells = rng.integers(-1, 4, x.shape)
        cond = np.where(np.isnan(y), np.nan, (y > 0).astype(float))
        without = np.where(np.isinf(x), np.nan, x)
        zeros = without * (np.arange(len(x)) % 2)[:, None]  # rows of zeros: scale is null
        with np.errstate(all="ignore"):
            for name, (f, letters) in STATISTICS.items():
                if "d" in letters:
                    for d in (1, 2, 3, 7):
                        calls = [(x, y, d), (x, x, d)] if "y" in letters else [(cond, d)] if name == "count" else \
                            [(x, d, cond)] if name == "sumif" else [(x, d, 0.2), (x, d, 0.8), (x, d, 1.0)] \
                            if name == "quantile" else [(x, d, k) for k in (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)] \
                            if name == "moment" else [(x, d)]
                        for args in calls:
                            for skip in ((False, True, 1, 2, 4) if letters[-1] == "s" else (False,)):
                                rule = (skip,) if letters[-1] == "s" else ()
                                check.sample(name, f(*args, *rule), args, skip)
                elif name == "scale":
                    for a in (1.0, 0.1, -3.0):
                        for v in (x, without, zeros):
                            check.sample(name, f(v, a), (v, a), False)
                elif name == "sma":
                    for v in (x, without):
                        check.sample(name, f(v, 13.0, 2.0), (v, 13.0, 2.0), False)
                elif name == "sumac":
                    check.sample(name, f(without), (without,), False)
                elif name == "affine_recurrence":
                    for args in [(x, y, zeros), (y / 2, without, cond), (np.ones(x.shape), x, cond)]:
                        check.sample(name, f(*args), args, False)
                else:
                    calls = [(x, group), (without, group), (x, cells)] if letters == "xg" else \
                        [(x, y), (without, y), (without, np.where(np.isinf(y), np.nan, y))] if len(letters) == 2 \
                        else [(x,), (without,), (zeros,)]
                    for args in calls:
                        check.sample(name, f(*args), args, False)
    print("synthetic self-check passed, cells:", sum(check.done.values()), check.done)

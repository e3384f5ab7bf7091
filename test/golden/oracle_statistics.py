"""The statistics of the oracle (see oracle.py): exact real results of double inputs, rounded once.

Each double is an integer times a power of two, so a lane (or row) becomes Python big integers on a common
exponent. Prefix sums of big integers do not drift: a window is one exact difference of two of them. The last
step is one correctly rounded operation on integers: int / int (CPython rounds it correctly) or rn_sqrt below.

x, y, c are arrays [rows x lanes] with NaN for null; d is a window in rows. `skip` chooses between the window rules:
False (alpha101, gtja191, native) null until d rows exist and while any of them is null; True (qlib) the last d rows,
fewer at the start of the panel, nulls left out, null when nothing is left; a number m (native, min_periods=m) the
same, null for fewer than m values, and without qlib's rule for sides that hardly move.
"""

import math
from collections import OrderedDict
from itertools import accumulate

import numpy as np

TINY = 2e-5  # qlib: a side whose standard deviation is this or less has no correlation


# ---------------------------------------------------------------------------------------------------------
# Exact arithmetic on doubles
# ---------------------------------------------------------------------------------------------------------

def to_integers(values):
    """1-d array -> (ints, e) with value = int * 2**e exactly; null and infinite values become 0."""
    ok = np.isfinite(values)
    mantissa, exponent = np.frexp(np.where(ok, values, 0.0))
    mantissa = np.ldexp(mantissa, 53).astype(np.int64)  # exact: |mantissa| < 1 has 53 bits
    used = mantissa != 0
    if not used.any():
        return [0] * len(values), 0
    e = int(exponent[used].min()) - 53
    shift = np.where(used, exponent - 53 - e, 0)
    return [m << s for m, s in zip(mantissa.tolist(), shift.tolist())], e


def rn_ratio(p, q, e=0):
    """p / q * 2**e rounded once, q > 0. CPython's int / int is correctly rounded, subnormals included."""
    if e >= 0:
        p <<= e
    else:
        q <<= -e
    try:
        return p / q
    except OverflowError:
        return math.inf if p > 0 else -math.inf


def rn_sqrt(p, q, e=0):
    """sqrt(p / q) * 2**e rounded once, p >= 0, q > 0."""
    if p == 0:
        return 0.0
    s = 116 - p.bit_length() + q.bit_length()  # (p << s) / q has at least 115 bits, its root at least 57
    s += s & 1
    n, rest = divmod(p << s, q) if s >= 0 else divmod(p, q << -s)
    root = math.isqrt(n)
    sticky = rest != 0 or root * root != n
    # 2 root + sticky lies on the same side of every 54-bit midpoint as the true root
    return rn_ratio(2 * root + sticky, 1, e - s // 2 - 1)


class Lane:
    """One lane of an array as integers with prefix sums (index t: the sum over rows before t; nulls add 0)."""

    def __init__(self, values):
        self.x, self.e = to_integers(values)
        self.there = np.isfinite(values).tolist()
        self.sums = {}

    def prefix(self, name, terms):
        if name not in self.sums:
            self.sums[name] = list(accumulate(terms(), initial=0))
        return self.sums[name]

    def s(self):
        return self.prefix("s", lambda: self.x)

    def ss(self):
        return self.prefix("ss", lambda: [v * v for v in self.x])

    def ws(self):  # weighted by the row number
        return self.prefix("ws", lambda: [t * v for t, v in enumerate(self.x)])

    def p(self):  # row numbers of the values
        return self.prefix("p", lambda: [t * ok for t, ok in enumerate(self.there)])

    def pp(self):
        return self.prefix("pp", lambda: [t * t * ok for t, ok in enumerate(self.there)])


class Lanes:
    """The lanes of recently used arrays (integers are bulky: only some are kept)."""

    def __init__(self, keep=16):
        self.keep, self.cache = keep, OrderedDict()

    def of(self, x):
        key = id(x)
        if key in self.cache:
            self.cache.move_to_end(key)
            return self.cache[key][1]
        lanes = [Lane(x[:, j]) for j in range(x.shape[1])]
        self.cache[key] = (x, lanes)  # holding x keeps its id from being reused
        if len(self.cache) > self.keep:
            self.cache.popitem(last=False)
        return lanes


LANES = Lanes()


# ---------------------------------------------------------------------------------------------------------
# Windows
# ---------------------------------------------------------------------------------------------------------

def window_count(mask, d):
    """How many of the last d rows are set, of those that exist."""
    total = np.zeros((len(mask) + 1, mask.shape[1]), dtype=np.int64)
    np.cumsum(mask, axis=0, out=total[1:])
    return total[1:] - total[np.maximum(np.arange(len(mask)) + 1 - d, 0)]


def usable(x, d, skip):
    """(how many values each window has, whether they are enough for a value); infinities are values."""
    n = window_count(~np.isnan(x), d)
    return n, n >= (int(skip) if skip else d)


def fill(x, n, rows_of, d, one):
    """one(lane, lo, hi, n) for the windows chosen by rows_of: rows lo .. hi-1 of the lane with n values."""
    out = np.full(x.shape, np.nan)
    for j, lane in enumerate(LANES.of(x)):
        rows = np.flatnonzero(rows_of[:, j])
        counts = n[rows, j].tolist()
        out[rows, j] = [one(lane, max(0, t + 1 - d), t + 1, k) for t, k in zip(rows.tolist(), counts)]
    return out


def over_finite(x, d, skip, one, least=1):
    """Windows with an infinity are null."""
    n, ok = usable(x, d, skip)
    return fill(x, n, ok & (n >= least) & (window_count(np.isinf(x), d) == 0), d, one)


def with_infinities(x, d, skip, one):
    """Windows with infinities are that infinity, or null if both signs occur."""
    n, ok = usable(x, d, skip)
    plus, minus = window_count(x == np.inf, d) > 0, window_count(x == -np.inf, d) > 0
    out = fill(x, n, ok & ~plus & ~minus, d, one)
    out[ok & plus & ~minus] = np.inf
    out[ok & minus & ~plus] = -np.inf
    return out


def shifted(x, d):
    """The d shifted arrays of a window, oldest first; rows before the first are null."""
    padded = np.vstack([np.full((d - 1, x.shape[1]), np.nan), x])
    return [padded[k:k + len(x)] for k in range(d)]


# ---------------------------------------------------------------------------------------------------------
# Sums and moments
# ---------------------------------------------------------------------------------------------------------

def ts_sum(x, d, skip=False):
    def one(lane, lo, hi, n):
        s = lane.s()
        return rn_ratio(s[hi] - s[lo], 1, lane.e)
    return with_infinities(x, d, skip, one)


def ts_mean(x, d, skip=False):
    def one(lane, lo, hi, n):
        s = lane.s()
        return rn_ratio(s[hi] - s[lo], n, lane.e)
    return with_infinities(x, d, skip, one)


def decay_linear(x, d):
    weights = d * (d + 1) // 2

    def one(lane, lo, hi, n):  # row r of the window has the weight r - lo + 1
        s, ws = lane.s(), lane.ws()
        return rn_ratio(ws[hi] - ws[lo] - (lo - 1) * (s[hi] - s[lo]), weights, lane.e)
    return with_infinities(x, d, False, one)


def wma09(x, d):
    """Weights (9/10)**k, k = 0 today, over their sum; on the denominator 10**(d-1) they are integers."""
    weights = [9 ** k * 10 ** (d - 1 - k) for k in reversed(range(d))]
    total = sum(weights)

    def one(lane, lo, hi, n):
        return rn_ratio(sum(w * v for w, v in zip(weights, lane.x[lo:hi])), total, lane.e)
    return with_infinities(x, d, False, one)


def spread(lane, lo, hi, n):
    s, ss = lane.s(), lane.ss()
    a = s[hi] - s[lo]
    return n * (ss[hi] - ss[lo]) - a * a  # n times the sum of squared deviations


def std(x, d, skip=False):
    return over_finite(x, d, skip, lambda lane, lo, hi, n: rn_sqrt(spread(lane, lo, hi, n), n * (n - 1), lane.e), 2)


def var(x, d, skip=False):
    return over_finite(x, d, skip, lambda lane, lo, hi, n:
                       rn_ratio(spread(lane, lo, hi, n), n * (n - 1), 2 * lane.e), 2)


def mad(x, d, skip=False):
    """Mean absolute deviation from the mean."""
    def one(lane, lo, hi, n):
        s = lane.s()
        total = s[hi] - s[lo]
        return rn_ratio(sum(abs(n * lane.x[r] - total) for r in range(lo, hi) if lane.there[r]), n * n, lane.e)
    return over_finite(x, d, skip, one)


def central(lane, lo, hi, n, k):
    """n**(k+1) times the k-th central moment, as an integer."""
    s = lane.s()
    total = s[hi] - s[lo]
    return sum((n * lane.x[r] - total) ** k for r in range(lo, hi) if lane.there[r])


def moment(x, d, k, skip=False):
    k = int(k)
    return over_finite(x, d, skip, lambda lane, lo, hi, n:
                       rn_ratio(central(lane, lo, hi, n, k), n ** (k + 1), k * lane.e))


def skew(x, d, skip=False):
    """G1 = sqrt(n (n-1)) / (n-2) * m3 / m2**1.5"""
    def one(lane, lo, hi, n):
        m2, m3 = central(lane, lo, hi, n, 2), central(lane, lo, hi, n, 3)
        if m2 == 0:
            return math.nan
        g = rn_sqrt(m3 * m3 * n * n * (n - 1), (n - 2) ** 2 * m2 ** 3)
        return -g if m3 < 0 else g
    return over_finite(x, d, skip, one, 3)


def kurt(x, d, skip=False):
    """G2 = (n-1) / ((n-2) (n-3)) * ((n+1) (m4 / m2**2 - 3) + 6)"""
    def one(lane, lo, hi, n):
        m2, m4 = central(lane, lo, hi, n, 2), central(lane, lo, hi, n, 4)
        if m2 == 0:
            return math.nan
        return rn_ratio((n - 1) * ((n + 1) * n * m4 - 3 * (n - 1) * m2 * m2), (n - 2) * (n - 3) * m2 * m2)
    return over_finite(x, d, skip, one, 4)


def ir(x, d, skip=False):
    """mean / std"""
    def one(lane, lo, hi, n):
        s = lane.s()
        total, v = s[hi] - s[lo], spread(lane, lo, hi, n)
        if v == 0:
            return math.nan
        r = rn_sqrt(total * total * (n - 1), n * v)
        return -r if total < 0 else r
    return over_finite(x, d, skip, one, 2)


def ts_zscore(x, d, skip=False):
    """(today's value - mean) / std"""
    def one(lane, lo, hi, n):
        s, v = lane.s(), spread(lane, lo, hi, n)
        if v == 0 or not lane.there[hi - 1]:
            return math.nan
        a = n * lane.x[hi - 1] - (s[hi] - s[lo])
        r = rn_sqrt(a * a * (n - 1), n * v)
        return -r if a < 0 else r
    return over_finite(x, d, skip, one, 2)


def joint(x, y, d, least, finish):
    """finish(n, C, Vx, Vy, ex, ey) over the rows where both have a value, at least `least` (and 2) of them;
    C = n Sxy - Sx Sy and so on as integers."""
    both = ~np.isnan(x) & ~np.isnan(y)
    if not np.array_equal(both, ~np.isnan(x)):
        x = np.where(both, x, np.nan)
    if not np.array_equal(both, ~np.isnan(y)):
        y = np.where(both, y, np.nan)
    n = window_count(both, d)
    ok = (n >= max(2, least)) & (window_count(np.isinf(x) | np.isinf(y), d) == 0)
    out = np.full(x.shape, np.nan)
    for j, (lx, ly) in enumerate(zip(LANES.of(x), LANES.of(y))):
        rows = np.flatnonzero(ok[:, j]).tolist()
        if not rows:
            continue
        sx, sy, sxx, syy = lx.s(), ly.s(), lx.ss(), ly.ss()
        sxy = list(accumulate([a * b for a, b in zip(lx.x, ly.x)], initial=0))
        counts = n[:, j].tolist()
        for t in rows:
            u, v, k = t + 1, max(0, t + 1 - d), counts[t]
            a, b = sx[u] - sx[v], sy[u] - sy[v]
            out[t, j] = finish(k, k * (sxy[u] - sxy[v]) - a * b,
                               k * (sxx[u] - sxx[v]) - a * a,
                               k * (syy[u] - syy[v]) - b * b, lx.e, ly.e)
    return out


def cov(x, y, d, skip=False):
    return joint(x, y, d, int(skip) or d, lambda n, c, vx, vy, ex, ey: rn_ratio(c, n * (n - 1), ex + ey))


def corr(x, y, d, skip=False):
    def one(n, c, vx, vy, ex, ey):
        if vx == 0 or vy == 0:
            return math.nan
        r = rn_sqrt(c * c, vx * vy)
        return -r if c < 0 else r
    out = joint(x, y, d, int(skip) or d, one)
    if skip is True:  # qlib looks at each side alone: at all of its values, also those without a partner
        out[(std(x, d, True) <= TINY) | (std(y, d, True) <= TINY)] = np.nan
    return out


def regbeta(y, x, d):
    """Slope of the regression of y on x over the rows where both have a value; null until d rows exist."""
    out = joint(y, x, d, 2, lambda n, c, vy, vx, ey, ex: rn_ratio(c, vx, ey - ex) if vx else math.nan)
    out[:d - 1] = np.nan
    return out


def beta(y, x, d, skip=False):
    """Slope of the regression of y on x (native): window rules as everywhere."""
    return joint(y, x, d, int(skip) or d, lambda n, c, vy, vx, ey, ex: rn_ratio(c, vx, ey - ex) if vx else math.nan)


def regresid(y, x, d, skip=False):
    """Today's residual of that regression: y - mean(y) - slope * (x - mean(x))."""
    out = np.full(x.shape, np.nan)
    both = ~np.isnan(x) & ~np.isnan(y)
    ok = both & (window_count(both, d) >= max(2, int(skip) or d))
    ok &= window_count(both & (np.isinf(x) | np.isinf(y)), d) == 0
    for t, j in np.argwhere(ok).tolist():
        rows = slice(max(0, t + 1 - d), t + 1)
        out[t, j] = residuals(*(np.where(both[rows, j], side[rows, j], np.nan) for side in (y, x)))[-1]
    return out


def residuals(y, x):
    """Residuals of the line of y on x over the places where both have a value, each rounded once; null if x is
    constant. 1-d arrays, null in both or in neither, no infinities."""
    out = np.full(len(x), np.nan)
    at = np.flatnonzero(~np.isnan(x)).tolist()
    (a, ea), (b, _) = to_integers(y[at]), to_integers(x[at])
    n, sa, sb = len(at), sum(a), sum(b)
    c = n * sum(p * q for p, q in zip(a, b)) - sa * sb
    v = n * sum(q * q for q in b) - sb * sb
    if v:
        out[at] = [rn_ratio((n * p - sa) * v - (n * q - sb) * c, n * v, ea) for p, q in zip(a, b)]
    return out


# ---------------------------------------------------------------------------------------------------------
# Regression on the row number: only rows with a value take part
# ---------------------------------------------------------------------------------------------------------

def line(lane, lo, hi, n):
    """(A, B): the slope is A / B * 2**e, and B = n times the sum of squared deviations of the row numbers."""
    s, ws, p, pp = lane.s(), lane.ws(), lane.p(), lane.pp()
    a, b = s[hi] - s[lo], p[hi] - p[lo]
    return n * (ws[hi] - ws[lo]) - a * b, n * (pp[hi] - pp[lo]) - b * b


def slope(x, d, skip=False):
    def one(lane, lo, hi, n):
        a, b = line(lane, lo, hi, n)
        return rn_ratio(a, b, lane.e)
    return over_finite(x, d, skip, one, 2)


def rsquare(x, d, skip=False):
    def one(lane, lo, hi, n):
        a, b = line(lane, lo, hi, n)
        v = spread(lane, lo, hi, n)
        if v == 0 or skip is True and rn_sqrt(v, n * (n - 1), lane.e) <= TINY:
            return math.nan
        return rn_ratio(a * a, b * v)
    return over_finite(x, d, skip, one, 2)


def resid(x, d, skip=False):
    """Today's value minus the line's value today."""
    def one(lane, lo, hi, n):
        t = hi - 1
        if not lane.there[t]:
            return math.nan
        a, b = line(lane, lo, hi, n)
        s, p = lane.s(), lane.p()
        return rn_ratio(b * (n * lane.x[t] - s[hi] + s[lo]) - a * (n * t - p[hi] + p[lo]), n * b, lane.e)
    return over_finite(x, d, skip, one, 2)


# ---------------------------------------------------------------------------------------------------------
# Order statistics: infinities are values
# ---------------------------------------------------------------------------------------------------------

def ts_min(x, d, skip=False):
    return np.where(usable(x, d, skip)[1], np.fmin.reduce(shifted(x, d)), np.nan)


def ts_max(x, d, skip=False):
    return np.where(usable(x, d, skip)[1], np.fmax.reduce(shifted(x, d)), np.nan)


def ts_rank(x, d, skip=False):
    """Average rank of today's value / number of values."""
    n, ok = usable(x, d, skip)
    less, equal = np.zeros(x.shape), np.zeros(x.shape)
    for v in shifted(x, d):
        less += v < x
        equal += v == x  # counts itself
    return np.where(ok & ~np.isnan(x), (less + (equal + 1) / 2) / np.maximum(n, 1), np.nan)


def ts_arg(x, d, skip, better):
    """Position of the extreme, 1 = the oldest row of the window that exists."""
    best, at = np.full(x.shape, np.nan), np.zeros(x.shape)
    for k, v in enumerate(shifted(x, d), 1):
        take = better(v, best) | (np.isnan(best) & ~np.isnan(v))  # strictly: the first of ties from the oldest stays
        best[take], at[take] = v[take], k
    at -= np.maximum(d - 1 - np.arange(len(x)), 0)[:, None]
    return np.where(usable(x, d, skip)[1], at, np.nan)


def ts_argmax(x, d, skip=False):
    return ts_arg(x, d, skip, np.greater)


def ts_argmin(x, d, skip=False):
    return ts_arg(x, d, skip, np.less)


def nan_arg(x, d, arg):
    """As numpy: the first null of the window wins; null if the window has nothing else."""
    rows = np.arange(len(x))[:, None]
    first_null = np.full(x.shape, d + 1)
    for k in range(d, 0, -1):  # row k of the window is d - k rows ago
        past = np.isnan(delay(x, d - k)) & (rows >= d - k)
        first_null[past] = k
    first_null = first_null - np.maximum(d - 1 - rows, 0)
    return np.where(first_null <= np.minimum(rows + 1, d), np.where(np.isnan(arg), np.nan, first_null), arg)


def nan_argmax(x, d, skip=False):
    return nan_arg(x, d, ts_argmax(x, d, skip))


def nan_argmin(x, d, skip=False):
    return nan_arg(x, d, ts_argmin(x, d, skip))


def highday(x, d):
    return d - ts_argmax(x, d)


def lowday(x, d):
    return d - ts_argmin(x, d)


def quantile(x, d, q, skip=False):
    """Linear between the two sorted values around the double product q * (n - 1)."""
    n, ok = usable(x, d, skip)
    plain = np.where(np.isnan(x), 0.0, x)

    def one(lane, lo, hi, n):
        values = sorted(lane.order[r] for r in range(lo, hi) if lane.order[r] is not None)
        p = q * (n - 1)
        i = math.floor(p)
        f = p - i  # exact
        a = values[i]
        b = values[i + 1] if f else a
        if isinstance(a, float) or isinstance(b, float):  # an infinity: a (1 - f) + b f
            ends = [a] if not f else [a, b]
            return sum(v for v in ends if isinstance(v, float))
        fn, fd = f.as_integer_ratio()
        return rn_ratio(a * fd + (b - a) * fn, fd, lane.e)

    for j, lane in enumerate(LANES.of(x)):  # integers compare with infinities as they should
        lane.order = [None if null else i if math.isfinite(v) else v
                      for null, i, v in zip(np.isnan(x[:, j]).tolist(), lane.x, plain[:, j].tolist())]
    return fill(x, n, ok, d, one)


def median(x, d, skip=False):
    return quantile(x, d, 0.5, skip)


# ---------------------------------------------------------------------------------------------------------
# Others over time
# ---------------------------------------------------------------------------------------------------------

def product(x, d, skip=False):
    out = np.full(x.shape, np.nan)
    full = usable(x, d, skip)[1]
    for j in range(x.shape[1]):
        for t in np.flatnonzero(full[:, j]).tolist():
            window = [v for v in x[max(0, t + 1 - d):t + 1, j].tolist() if v == v]
            if any(map(math.isinf, window)):
                v = math.prod(math.copysign(1.0, w) for w in window) * math.inf
                out[t, j] = math.nan if 0.0 in window else v
                continue
            p, q = 1, 1
            for w in window:
                n, m = w.as_integer_ratio()
                p, q = p * n, q * m
            out[t, j] = rn_ratio(p, q)
    return out


def delay(x, d):
    out = np.full(x.shape, np.nan)
    out[d:] = x[:max(len(x) - d, 0)]
    return out


def choose(c, a, b):
    return np.where(np.isnan(c), np.nan, np.where(c != 0, a, b))


def count_true(c, d):
    return ts_sum(choose(c, 1.0, 0.0), d)


def sumif(x, d, c):
    """Null while the condition is null in the window, or x where it is true."""
    return ts_sum(choose(c, x, 0.0), d)


def recursive(x, step):
    """Seeded by the first value; a null carries the last result over; step(y', x) in IEEE arithmetic."""
    out = np.full(x.shape, np.nan)
    y, started = np.full(x.shape[1], np.nan), np.zeros(x.shape[1], dtype=bool)
    for t, v in enumerate(x):
        there = ~np.isnan(v)
        y = np.where(there, np.where(started, step(y, v), v), y)
        started |= there
        out[t] = y
    return out


def sma_cn(x, n, m):
    return recursive(x, lambda y, v: (m * v + (n - m) * y) / n)


def sumac(x):
    return recursive(x, lambda y, v: y + v)


def affine_recurrence(p, q, c):
    """p * y + q of the last result y, 1 before the first row, in IEEE arithmetic, and y itself where that is null.
    Where c is 0 it starts again as q. Whether it does is unknown where c is null: then nothing is known until it does."""
    out, y = np.full(q.shape, np.nan), np.ones(q.shape[1])
    with np.errstate(all="ignore"):
        for t in range(len(q)):
            new = p[t] * y + q[t]
            y = np.where(np.isnan(new), y, new)
            y = np.where(c[t] == 0, q[t], np.where(np.isnan(c[t]), np.nan, y))
            out[t] = y
    return out


# ---------------------------------------------------------------------------------------------------------
# Over the lanes of a row
# ---------------------------------------------------------------------------------------------------------

def rank(x):
    out = np.full(x.shape, np.nan)
    for t, row in enumerate(x):
        at = np.flatnonzero(~np.isnan(row))
        v = row[at]
        less = (v[None, :] < v[:, None]).sum(axis=1)
        equal = (v[None, :] == v[:, None]).sum(axis=1)
        out[t, at] = (less + (equal + 1) / 2) / len(at) if len(at) else []
    return out


def scale(x, a=1.0):
    """x * a / sum of abs(x) over the row, rounded once."""
    out = np.full(x.shape, np.nan)
    an, ad = float(a).as_integer_ratio()
    for t, row in enumerate(x):
        if np.isinf(row).any():  # x * a / Inf: 0 for a finite x, null for an infinite one
            out[t] = row * a / np.inf
            continue
        ints, _ = to_integers(row)
        total = sum(map(abs, ints)) * ad
        if total:
            for j in np.flatnonzero(~np.isnan(row)).tolist():
                out[t, j] = rn_ratio(ints[j] * an, total)
    return out


def indneutralize(x, group):
    """x minus the mean of its group in the row, rounded once. group: an id per lane or per cell, -1 = null."""
    out = np.full(x.shape, np.nan)
    for t, row in enumerate(x):
        there, group_of = ~np.isnan(row), group[t] if group.ndim == 2 else group
        for g in np.unique(group_of[group_of >= 0]):
            at = np.flatnonzero(there & (group_of == g))
            v = row[at]
            if np.isinf(v).any():  # the mean is that infinity, or null if both signs occur
                with np.errstate(invalid="ignore"):
                    out[t, at] = v - np.sum(v[np.isinf(v)])
                continue
            ints, e = to_integers(v)
            n, total = len(ints), sum(ints)
            out[t, at] = [rn_ratio(n * i - total, n, e) for i in ints]
    return out


def by_row(x, one):
    """one(the values of a row without nulls) -> their results."""
    out = np.full(x.shape, np.nan)
    for t, row in enumerate(x):
        at = np.flatnonzero(~np.isnan(row))
        if len(at):
            out[t, at] = one(row[at])
    return out


def by_group(x, group, one):
    """by_row within each group; null where the group is null."""
    out = np.full(x.shape, np.nan)
    group = np.broadcast_to(group, x.shape)
    for g in np.unique(group[group >= 0]):
        out = np.where(group == g, by_row(np.where(group == g, x, np.nan), one), out)
    return out


def row_mean(v):
    endless = set(v[np.isinf(v)].tolist())
    if endless:
        return math.nan if len(endless) == 2 else endless.pop()
    ints, e = to_integers(v)
    return rn_ratio(sum(ints), len(v), e)


def row_zscore(v):
    if np.isinf(v).any():
        return math.nan
    ints, _ = to_integers(v)
    n, s = len(ints), sum(ints)
    spread_of = n * sum(i * i for i in ints) - s * s
    if spread_of == 0:
        return math.nan
    sizes = [rn_sqrt((n * i - s) ** 2 * (n - 1), n * spread_of) for i in ints]
    return [-r if n * i < s else r for r, i in zip(sizes, ints)]


def zscore(x):
    return by_row(x, row_zscore)


def demean(x):
    return indneutralize(x, np.zeros(x.shape[1], dtype=int))


def group_mean(x, group):
    return by_group(x, group, row_mean)


def group_rank(x, group):
    return by_group(x, group, lambda v: rank(v[None, :])[0])


def group_zscore(x, group):
    return by_group(x, group, row_zscore)


def pairs_of_rows(x, y):
    """Rows of x and y with null in both where either is null; None for a row with an infinity left."""
    null = np.isnan(x) | np.isnan(y)
    for a, b in zip(np.where(null, np.nan, x), np.where(null, np.nan, y)):
        yield None if np.isinf(a).any() or np.isinf(b).any() else (a, b)


def regression_neut(y, x):
    nothing = np.full(x.shape[1], np.nan)
    return np.array([residuals(*row) if row else nothing for row in pairs_of_rows(y, x)])


def vector_neut(x, y):
    """x - y * (x . y) / (y . y)"""
    out = np.full(x.shape, np.nan)
    for t, row in enumerate(pairs_of_rows(x, y)):
        if row is None:
            continue
        (a, ea), (b, _) = to_integers(row[0]), to_integers(row[1])  # nulls are 0 and add nothing
        ab, bb = sum(p * q for p, q in zip(a, b)), sum(q * q for q in b)
        if bb:
            out[t] = [rn_ratio(p * bb - q * ab, bb, ea) for p, q in zip(a, b)]
            out[t, np.isnan(row[0])] = np.nan
    return out


# name -> (function, its arguments: x y c arrays, d window, g group, other letters numbers, s the rule `skip`)
STATISTICS = {
    "sum": (ts_sum, "xds"), "mean": (ts_mean, "xds"), "std": (std, "xds"), "var": (var, "xds"), "mad": (mad, "xds"),
    "cov": (cov, "xyds"), "corr": (corr, "xyds"), "regbeta": (regbeta, "yxd"),
    "decay_linear": (decay_linear, "xd"), "wma09": (wma09, "xd"), "product": (product, "xds"),
    "moment": (moment, "xdks"), "skew": (skew, "xds"), "kurt": (kurt, "xds"), "ir": (ir, "xds"),
    "ts_zscore": (ts_zscore, "xds"), "beta": (beta, "yxds"), "regresid": (regresid, "yxds"),
    "slope": (slope, "xds"), "rsquare": (rsquare, "xds"), "resid": (resid, "xds"),
    "ts_min": (ts_min, "xds"), "ts_max": (ts_max, "xds"), "ts_rank": (ts_rank, "xds"),
    "ts_argmax": (ts_argmax, "xds"), "ts_argmin": (ts_argmin, "xds"),
    "nan_argmax": (nan_argmax, "xds"), "nan_argmin": (nan_argmin, "xds"), "highday": (highday, "xd"),
    "lowday": (lowday, "xd"), "quantile": (quantile, "xdqs"), "median": (median, "xds"),
    "count": (count_true, "cd"), "sumif": (sumif, "xdc"), "sma": (sma_cn, "xnm"), "sumac": (sumac, "x"),
    "affine_recurrence": (affine_recurrence, "xyc"),
    "rank": (rank, "x"), "scale": (scale, "xa"), "indneutralize": (indneutralize, "xg"),
    "zscore": (zscore, "x"), "demean": (demean, "x"), "group_mean": (group_mean, "xg"),
    "group_rank": (group_rank, "xg"), "group_zscore": (group_zscore, "xg"),
    "regression_neut": (regression_neut, "yx"), "vector_neut": (vector_neut, "xy"),
}

# Those across the row: an instrument without a row in the bars is not there, and counts in none of them.
ACROSS = {"rank", "scale", "indneutralize", "zscore", "demean", "group_mean", "group_rank", "group_zscore",
          "regression_neut", "vector_neut"}

#!/usr/bin/python3
"""Independent oracle for the 101 formulas of Kakushadze (2015) on the real bars; writes the golden file.

What it is
    A second, deliberately plain implementation of the dialect `alpha101`, written from the written
    semantics alone (SEMANTICS.md and the "Exactness" paragraph of DESIGN.md). It shares nothing with
    the engine: no code, no parser, no numeric scheme, no language.

How to run (Debian: apt-get install -y --no-install-recommends python3-numpy)
    /usr/bin/python3 test/golden/alpha101_oracle.py FORMULAS BARS SECTORS OUT.json.gz [--self-check]
                                                    [--dates D1,D2,...]
    for example
    /usr/bin/python3 test/golden/alpha101_oracle.py examples/alpha101.factors \\
        examples/data/sp100_daily.csv.gz examples/data/sp100_sectors.csv test/golden/alpha101.json.gz
    --self-check  first tests every statistic on a nasty synthetic panel (all cells), then, during the run
                  on the real bars, tests a random sample of cells of every statistic in every formula,
                  each against the definition in rational arithmetic (class Check). Any failure raises.
    --dates       other sample dates than DATES below.

How it computes
    The panel is dense: rows are all dates of the file ascending, lanes are all symbols in code-unit order,
    NaN is null. Elementwise arithmetic is numpy's IEEE double arithmetic, one rounding per operation, in
    the order of the formula; log and pow are those of C libm, through `math`.
    Every rolling, cross-section and group statistic is the exact real result of its double inputs, rounded
    once to nearest, ties to even. There is no floating-point fast path: each double is an integer times a
    power of two, so a lane (or row) becomes Python big integers on a common exponent; prefix sums of
    big integers do not drift, and a window is one exact difference of two of them. The last step is
    one correctly rounded operation on integers: int / int (CPython rounds it correctly) or rn_sqrt below.

Format of OUT
    {"dates": [...], "symbols": [...], "note": "...", "factors": {name: [[value | null per symbol] per date]}}
    null: no value, or an infinity, or no such (date, symbol) row in the bars. -0 is written as 0.
"""

import csv
import gzip
import json
import math
import random
import re
import sys
import time
from collections import OrderedDict
from fractions import Fraction
from itertools import accumulate

import numpy as np

# Rows of the default bars, chosen to bite.
DATES = [
    "2013-03-25",  # row 30: short windows have just filled, adv30 and longer ones not
    "2013-05-21",  # row 70
    "2013-06-07",  # row 82: BMY has no row on this day, but a delayed value of it still has its place in a rank
    "2013-09-13",  # row 150: adv120 and adv150 exist, adv180 does not
    "2013-11-18",  # row 196: first bar of ALLE
    "2014-02-25",  # row 262: windows of 250 have just filled
    "2014-10-14",  # row 423: 15th bar of CFG
    "2015-06-12",  # row 589
    "2017-07-26",  # row 1123: BHF has a row with empty open, high, low and volume 3, its 8th
    "2017-09-15",  # short windows of BHF have filled again
    "2018-02-06",  # row 1257
    "2018-02-07",  # row 1258: the last
]


# ---------------------------------------------------------------------------------------------------------
# Parser: text -> nested tuples
#   ("num", float) ("name", str) ("group", str) ("neg", a) ("not", a) ("bin", op, a, b) ("if", c, a, b)
#   ("call", lower-case name, args)
# ---------------------------------------------------------------------------------------------------------

TOKEN = re.compile(r"""\s*(?:
    (?P<num>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
  | (?P<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?)
  | (?P<op><=|>=|==|!=|&&|\|\||[-+*/^<>!?:(),])
)""", re.X)


def tokenize(text):
    out, at = [], 0
    text = text.rstrip()
    while at < len(text):
        m = TOKEN.match(text, at)
        if not m:
            raise SyntaxError(f"cannot read {text[at:at + 20]!r}")
        out.append((m.lastgroup, m.group(m.lastgroup)))
        at = m.end()
    out.append(("end", ""))
    return out


class Parser:
    """Precedence, loosest first: ?:  ||  &&  == !=  < <= > >=  + -  * /  unary - !  ^ (right-associative)."""

    LEVELS = [["||"], ["&&"], ["==", "!="], ["<", "<=", ">", ">="], ["+", "-"], ["*", "/"]]

    def __init__(self, text):
        self.tokens, self.i = tokenize(text), 0

    def peek(self):
        return self.tokens[self.i][1] if self.tokens[self.i][0] == "op" else None

    def eat(self, op):
        if self.peek() != op:
            raise SyntaxError(f"expected {op!r}, found {self.tokens[self.i][1]!r}")
        self.i += 1

    def parse(self):
        node = self.ternary()
        if self.tokens[self.i][0] != "end":
            raise SyntaxError(f"unexpected {self.tokens[self.i][1]!r}")
        return node

    def ternary(self):
        cond = self.binary(0)
        if self.peek() != "?":
            return cond
        self.eat("?")
        a = self.ternary()
        self.eat(":")
        return ("if", cond, a, self.ternary())

    def binary(self, level):
        if level == len(self.LEVELS):
            return self.unary()
        left = self.binary(level + 1)
        while self.peek() in self.LEVELS[level]:
            op = self.peek()
            self.eat(op)
            left = ("bin", op, left, self.binary(level + 1))
        return left

    def unary(self):
        if self.peek() == "-":
            self.eat("-")
            return ("neg", self.unary())
        if self.peek() == "!":
            self.eat("!")
            return ("not", self.unary())
        return self.power()

    def power(self):
        base = self.atom()
        if self.peek() == "^":
            self.eat("^")
            return ("bin", "^", base, self.unary())  # right side: unary -> power, hence right-associative
        return base

    def atom(self):
        kind, text = self.tokens[self.i]
        self.i += 1
        if kind == "num":
            return ("num", float(text))
        if kind == "name":
            if "." in text:
                prefix, level = text.split(".")
                if prefix.lower() != "indclass":
                    raise SyntaxError(f"unknown prefix {prefix!r}")
                return ("group", level)
            if self.peek() == "(":
                self.eat("(")
                args = [self.ternary()]
                while self.peek() == ",":
                    self.eat(",")
                    args.append(self.ternary())
                self.eat(")")
                return ("call", text.lower(), tuple(args))
            return ("name", text)
        if text == "(" and kind == "op":
            node = self.ternary()
            self.eat(")")
            return node
        raise SyntaxError(f"unexpected {text!r}")


def read_formulas(path):
    """-> (lets, factors): ordered dicts of name -> parsed expression. A line goes on while a ( is open."""
    lets, factors, held = {}, {}, ""
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        held += " " + line.split("#")[0].strip()
        if held.count("(") > held.count(")") or not held.strip():
            continue
        line, held = held.strip(), ""
        if re.fullmatch(r"dialect\s+\w+", line):
            if line.split()[1] != "alpha101":
                raise SyntaxError(f"line {number}: this oracle knows the dialect alpha101 only")
            continue
        m = re.fullmatch(r"(let\s+)?([A-Za-z_]\w*)\s*=(?!=)\s*(.*)", line)
        if not m:
            raise SyntaxError(f"line {number}: {line!r}")
        try:
            (lets if m.group(1) else factors)[m.group(2)] = Parser(m.group(3)).parse()
        except SyntaxError as e:
            raise SyntaxError(f"line {number}: {e}") from None
    return lets, factors


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
    """One lane of an array as integers with prefix sums (index t: the sum over rows before t)."""

    def __init__(self, values):
        self.x, self.e = to_integers(values)
        self._s = self._ss = self._ws = None

    def s(self):
        if self._s is None:
            self._s = list(accumulate(self.x, initial=0))
        return self._s

    def ss(self):
        if self._ss is None:
            self._ss = list(accumulate([v * v for v in self.x], initial=0))
        return self._ss

    def ws(self):  # weighted by the row number
        if self._ws is None:
            self._ws = list(accumulate([t * v for t, v in enumerate(self.x)], initial=0))
        return self._ws


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
# Statistics. x, y: arrays [rows x lanes]; d: window in rows
# ---------------------------------------------------------------------------------------------------------

def count_in_window(mask, d):
    """How many of the last d rows are set; -1 where d rows do not exist yet."""
    out = np.full(mask.shape, -1, dtype=np.int64)
    if d <= len(mask):
        total = np.zeros((len(mask) + 1, mask.shape[1]), dtype=np.int64)
        np.cumsum(mask, axis=0, out=total[1:])
        out[d - 1:] = total[d:] - total[:-d]
    return out


def full_windows(x, d):
    """True where all d values of the window exist and are not null (infinities allowed)."""
    return count_in_window(np.isnan(x), d) == 0


def with_infinities(x, d, fill):
    """Shared part of sum, mean, decay_linear: the infinity rule; fill(lane, rows, out) does finite windows."""
    full = full_windows(x, d)
    plus, minus = count_in_window(x == np.inf, d), count_in_window(x == -np.inf, d)
    out = np.full(x.shape, np.nan)
    out[full & (plus > 0) & (minus == 0)] = np.inf
    out[full & (minus > 0) & (plus == 0)] = -np.inf
    finite = full & (plus == 0) & (minus == 0)
    for j, lane in enumerate(LANES.of(x)):
        rows = np.flatnonzero(finite[:, j])
        out[rows, j] = [fill(lane, int(t)) for t in rows]
    return out


def ts_sum(x, d):
    def one(lane, t):
        s = lane.s()
        return rn_ratio(s[t + 1] - s[t + 1 - d], 1, lane.e)
    return with_infinities(x, d, one)


def ts_mean(x, d):
    def one(lane, t):
        s = lane.s()
        return rn_ratio(s[t + 1] - s[t + 1 - d], d, lane.e)
    return with_infinities(x, d, one)


def decay_linear(x, d):
    weights = d * (d + 1) // 2

    def one(lane, t):  # row r of the window has the weight r - (t - d)
        s, ws = lane.s(), lane.ws()
        total = ws[t + 1] - ws[t + 1 - d] - (t - d) * (s[t + 1] - s[t + 1 - d])
        return rn_ratio(total, weights, lane.e)
    return with_infinities(x, d, one)


def stddev(x, d):
    out = np.full(x.shape, np.nan)
    if d < 2:
        return out
    finite = count_in_window(~np.isfinite(x), d) == 0
    for j, lane in enumerate(LANES.of(x)):
        s, ss = lane.s(), lane.ss()
        for t in np.flatnonzero(finite[:, j]).tolist():
            a = s[t + 1] - s[t + 1 - d]
            out[t, j] = rn_sqrt(d * (ss[t + 1] - ss[t + 1 - d]) - a * a, d * (d - 1), lane.e)
    return out


def joint(x, y, d, finish):
    """Shared part of covariance and correlation: finish(C, Vx, Vy, e) with C = d Sxy - Sx Sy, scaled ints."""
    out = np.full(x.shape, np.nan)
    if d < 2:
        return out
    finite = count_in_window(~(np.isfinite(x) & np.isfinite(y)), d) == 0
    for j, (lx, ly) in enumerate(zip(LANES.of(x), LANES.of(y))):
        rows = np.flatnonzero(finite[:, j]).tolist()
        if not rows:
            continue
        sx, sy, sxx, syy = lx.s(), ly.s(), lx.ss(), ly.ss()
        sxy = list(accumulate([a * b for a, b in zip(lx.x, ly.x)], initial=0))
        for t in rows:
            u, v = t + 1, t + 1 - d
            a, b = sx[u] - sx[v], sy[u] - sy[v]
            out[t, j] = finish(d * (sxy[u] - sxy[v]) - a * b,
                               d * (sxx[u] - sxx[v]) - a * a,
                               d * (syy[u] - syy[v]) - b * b, lx.e + ly.e)
    return out


def covariance(x, y, d):
    return joint(x, y, d, lambda c, vx, vy, e: rn_ratio(c, d * (d - 1), e))


def correlation(x, y, d):
    def one(c, vx, vy, e):
        if vx == 0 or vy == 0:
            return math.nan
        r = rn_sqrt(c * c, vx * vy)
        return -r if c < 0 else r
    return joint(x, y, d, one)


def product(x, d):
    out = np.full(x.shape, np.nan)
    full = full_windows(x, d)
    for j in range(x.shape[1]):
        for t in np.flatnonzero(full[:, j]).tolist():
            window = x[t + 1 - d:t + 1, j].tolist()
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


def windows(x, d):
    """The d shifted arrays of a window, oldest first, each with rows d-1 .. end."""
    n = len(x)
    return [x[k:n - d + 1 + k] for k in range(d)]


def over_windows(x, d, reduce):
    """reduce(list of shifted arrays) where the window is full; null elsewhere."""
    out = np.full(x.shape, np.nan)
    if d <= len(x):
        out[d - 1:] = reduce(windows(x, d))
        out[~full_windows(x, d)] = np.nan
    return out


def ts_min(x, d):
    return over_windows(x, d, lambda w: np.minimum.reduce(w))


def ts_max(x, d):
    return over_windows(x, d, lambda w: np.maximum.reduce(w))


def ts_rank(x, d):
    def average_rank(w):
        last = w[-1]
        less, equal = np.zeros(last.shape), np.zeros(last.shape)
        for v in w:
            less += v < last
            equal += v == last  # counts itself
        return (less + (equal + 1) / 2) / d
    return over_windows(x, d, average_rank)


def ts_arg(x, d, better):
    def position(w):
        best, at = w[0].copy(), np.ones(w[0].shape)
        for k, v in enumerate(w[1:], 2):
            take = better(v, best)  # strictly: the first of ties from the oldest stays
            best[take], at[take] = v[take], k
        return at
    return over_windows(x, d, position)


def ts_argmax(x, d):
    return ts_arg(x, d, np.greater)


def ts_argmin(x, d):
    return ts_arg(x, d, np.less)


def delay(x, d):
    out = np.full(x.shape, np.nan)
    out[d:] = x[:len(x) - d]
    return out


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
    """x minus the mean of its group in the row, rounded once. group: an id per lane, -1 = null."""
    out = np.full(x.shape, np.nan)
    for t, row in enumerate(x):
        there = ~np.isnan(row)
        for g in np.unique(group[group >= 0]):
            at = np.flatnonzero(there & (group == g))
            v = row[at]
            if np.isinf(v).any():  # the mean is that infinity, or null if both signs occur
                with np.errstate(invalid="ignore"):
                    out[t, at] = v - np.sum(v[np.isinf(v)])
                continue
            ints, e = to_integers(v)
            n, total = len(ints), sum(ints)
            out[t, at] = [rn_ratio(n * i - total, n, e) for i in ints]
    return out


# ---------------------------------------------------------------------------------------------------------
# Elementwise
# ---------------------------------------------------------------------------------------------------------

def c_log(v):
    if v > 0:
        return math.log(v)
    return -math.inf if v == 0 else math.nan


def c_pow(a, b):
    if a != a or b != b:
        return math.nan  # null in, null out
    try:
        return math.pow(a, b)
    except OverflowError:
        return -math.inf if a < 0 and b == math.floor(b) and b % 2 == 1 else math.inf
    except ValueError:  # 0 to a negative power: x / 0; a negative base with a fractional exponent: null
        if a == 0:
            return math.copysign(math.inf, a) if b == math.floor(b) and b % 2 == 1 else math.inf
        return math.nan


def map1(f, x):
    return np.array([f(v) for v in x.ravel().tolist()]).reshape(x.shape)


def map2(f, x, y):
    return np.array([f(a, b) for a, b in zip(x.ravel().tolist(), y.ravel().tolist())]).reshape(x.shape)


def power(x, y, literal):
    if literal == 2:
        return x * x
    if literal == 3:
        return (x * x) * x
    return map2(c_pow, x, y)


def nulls(*xs):
    out = np.isnan(xs[0])
    for x in xs[1:]:
        out = out | np.isnan(x)
    return out


def truth(value, null):
    return np.where(null, np.nan, value.astype(float))


COMPARE = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal,
           "==": np.equal, "!=": np.not_equal}
ARITHMETIC = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}


def binary(op, a, b, literal):
    if op in ARITHMETIC:
        return ARITHMETIC[op](a, b)
    if op == "^":
        return power(a, b, literal)
    if op in COMPARE:
        return truth(COMPARE[op](a, b), nulls(a, b))
    at, bt = ~np.isnan(a) & (a != 0), ~np.isnan(b) & (b != 0)
    if op == "&&":
        return truth(at & bt, nulls(a, b) & ~((a == 0) | (b == 0)))
    if op == "||":
        return truth(at | bt, nulls(a, b) & ~(at | bt))
    raise ValueError(op)


def choose(c, a, b):
    return np.where(np.isnan(c), np.nan, np.where(c != 0, a, b))


# ---------------------------------------------------------------------------------------------------------
# Evaluation
# ---------------------------------------------------------------------------------------------------------

ROLLING1 = {"sum": ts_sum, "ts_sum": ts_sum, "mean": ts_mean, "ts_mean": ts_mean, "stddev": stddev,
            "product": product, "decay_linear": decay_linear, "ts_min": ts_min, "ts_max": ts_max,
            "ts_rank": ts_rank, "ts_argmax": ts_argmax, "ts_argmin": ts_argmin}
ROLLING2 = {"correlation": correlation, "covariance": covariance}


def resolve(node, lets, fields):
    """Names to what they stand for: let, panel field, built-in, in this order. IndClass.x to a group column."""
    kind = node[0]
    if kind == "name":
        name = node[1]
        if name in lets:
            return resolve(lets[name], {k: v for k, v in lets.items() if k != name}, fields)
        if name in fields:
            return ("field", name)
        if name == "returns":
            return resolve(Parser("close / delay(close, 1) - 1").parse(), lets, fields)
        m = re.fullmatch(r"adv(\d+)", name)
        if m:
            return resolve(Parser(f"ts_mean(close * volume, {m.group(1)})").parse(), lets, fields)
        raise NameError(name)
    if kind == "group":
        level = node[1]
        while level in lets:  # `let industry = sector`
            if lets[level][0] != "name":
                raise NameError(f"IndClass.{level}: the definition of {level} is not a group column")
            level = lets[level][1]
        return ("group", level)
    if kind == "num":
        return node
    if kind == "call":
        return ("call", node[1], tuple(resolve(a, lets, fields) for a in node[2]))
    return tuple(resolve(p, lets, fields) if isinstance(p, tuple) else p for p in node)


class Evaluator:
    def __init__(self, shape, fields, groups, lets, check=None):
        self.shape, self.fields, self.groups, self.lets, self.check = shape, fields, groups, lets, check
        self.ids, self.nodes, self.uses, self.memo = {}, [], [], {}
        self.calls = {}  # statistic -> cells with a value

    def intern(self, node):
        """Equal expressions become one node: the children of a stored node are ids."""
        kind = node[0]
        if kind == "call":
            key = (kind, node[1]) + tuple(self.intern(a) for a in node[2])
        else:
            key = tuple(self.intern(p) if isinstance(p, tuple) else p for p in node)
            if kind == "num":
                key = (kind, node[1].hex())
        if key not in self.ids:
            self.ids[key] = len(self.nodes)
            self.nodes.append(key)
            self.uses.append(0)
            for child in self.children(key):
                self.uses[child] += 1
        return self.ids[key]

    @staticmethod
    def children(key):
        return () if key[0] in ("num", "field", "group") else tuple(p for p in key[1:] if isinstance(p, int))

    def add(self, expression):
        i = self.intern(resolve(expression, self.lets, self.fields))
        self.uses[i] += 1
        return i

    def number(self, i):
        return float.fromhex(self.nodes[i][1]) if self.nodes[i][0] == "num" else None

    def value(self, i):
        if i not in self.memo:
            with np.errstate(all="ignore"):
                self.memo[i] = self.compute(self.nodes[i])
        out = self.memo[i]
        self.uses[i] -= 1
        if self.uses[i] == 0:
            del self.memo[i]  # no other expression needs it
        return out

    def window(self, i):
        n = self.number(i)
        if n is None or math.floor(n) < 0:
            raise ValueError("a window must be a literal >= 0")
        return math.floor(n)

    def compute(self, node):
        kind = node[0]
        if kind == "num":
            return np.full(self.shape, float.fromhex(node[1]))
        if kind == "field":
            return self.fields[node[1]]
        if kind == "neg":
            return -self.value(node[1])
        if kind == "not":
            a = self.value(node[1])
            return truth(a == 0, np.isnan(a))
        if kind == "if":
            return choose(*(self.value(i) for i in node[1:]))
        if kind == "bin":
            return binary(node[1], self.value(node[2]), self.value(node[3]), self.number(node[3]))
        name, args = node[1], node[2:]
        if name in ("min", "max"):
            if self.number(args[1]) is None:
                return (np.minimum if name == "min" else np.maximum)(self.value(args[0]), self.value(args[1]))
            name = "ts_" + name
        if name == "abs":
            return np.abs(self.value(*args))
        if name == "sign":
            return np.sign(self.value(*args))
        if name == "log":
            return map1(c_log, self.value(*args))
        if name == "signedpower":
            x, a = self.value(args[0]), self.value(args[1])
            literal = self.number(args[1])
            return np.sign(x) * power(np.abs(x), a, 2 if literal == 2 else None)
        if name == "delay":
            return delay(self.value(args[0]), self.window(args[1]))
        if name == "delta":
            x = self.value(args[0])
            return x - delay(x, self.window(args[1]))
        if name == "rank":
            x = self.value(*args)
            return self.stat(name, rank(x), x)
        if name == "scale":
            x = self.value(args[0])
            a = self.number(args[1]) if len(args) > 1 else 1.0
            return self.stat(name, scale(x, a), x, a)
        if name == "indneutralize":
            x, group = self.value(args[0]), self.groups[self.nodes[args[1]][1]]
            return self.stat(name, indneutralize(x, group), x, group)
        if name in ROLLING1:
            x, d = self.value(args[0]), self.window(args[1])
            return self.stat(name, ROLLING1[name](x, d), x, d)
        if name in ROLLING2:
            x, y, d = self.value(args[0]), self.value(args[1]), self.window(args[2])
            return self.stat(name, ROLLING2[name](x, y, d), x, y, d)
        raise NameError(name)

    def stat(self, name, out, *args):
        calls, cells = self.calls.get(name, (0, 0))
        self.calls[name] = (calls + 1, cells + int((~np.isnan(out)).sum()))
        if self.check:
            self.check.sample(name, out, *args)
        return out


# ---------------------------------------------------------------------------------------------------------
# Self-check: cells against their definitions in rational arithmetic, by a way that shares nothing with the above
# ---------------------------------------------------------------------------------------------------------

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


def root_rounds_to(sign, v, r):
    """Is r the double nearest to sign * sqrt(v)?  Squares of the midpoints decide: no root is taken."""
    if sign == 0 or v == 0:
        return r == 0
    if sign < 0:
        r = -r
    if not math.isfinite(r):
        return False
    lo, hi, closed = midpoints(r)
    if r <= 0:
        return False
    lo = max(lo, Fraction(0))
    return lo * lo <= v <= hi * hi if closed else lo * lo < v < hi * hi


class Check:
    def __init__(self, per_call, seed=101):
        self.per_call, self.random, self.done = per_call, random.Random(seed), {}

    def sample(self, name, out, *args):
        rows, lanes = out.shape
        if self.per_call is None:
            cells = [(t, j) for t in range(rows) for j in range(lanes)]
        else:
            cells = [(self.random.randrange(rows), self.random.randrange(lanes)) for _ in range(self.per_call)]
            bare = np.argwhere(np.isnan(out) | (out == 0) | (np.abs(out) == 1))  # where special cases hide
            for _ in range(min(len(bare), self.per_call // 4)):
                cells.append(tuple(bare[self.random.randrange(len(bare))].tolist()))
        for t, j in cells:
            if not self.cell(name, t, j, float(out[t, j]), *args):
                raise AssertionError(f"{name}: row {t} lane {j} gives {out[t, j]!r}")
        self.done[name] = self.done.get(name, 0) + len(cells)

    def cell(self, name, t, j, got, *args):
        x = args[0]
        null = math.isnan(got)
        if name in ("rank", "scale", "indneutralize"):
            me, there = float(x[t, j]), [float(v) for v in x[t] if not math.isnan(v)]
            if math.isnan(me):
                return null
            if name == "rank":
                below = sum(v < me for v in there)
                ties = sum(v == me for v in there)
                ranks = range(below + 1, below + ties + 1)
                return rounds_to(Fraction(sum(ranks), ties) / len(there), got)
            if name == "scale":
                a = args[1]
                if any(map(math.isinf, there)):
                    return null if math.isinf(me) else got == 0
                total = sum(abs(Fraction(v)) for v in there)
                return null if total == 0 else rounds_to(Fraction(me) * Fraction(a) / total, got)
            group = args[1]
            if group[j] < 0:
                return null
            mates = [float(v) for v, g in zip(x[t], group) if g == group[j] and not math.isnan(v)]
            signs = {v for v in mates if math.isinf(v)}
            if signs:
                return null if len(signs) == 2 or me in signs else got == -signs.pop()
            return rounds_to(Fraction(me) - sum(map(Fraction, mates)) / len(mates), got)
        d = args[-1]
        if t + 1 < d:
            return null
        w = x[t + 1 - d:t + 1, j].tolist()
        v = args[1][t + 1 - d:t + 1, j].tolist() if len(args) == 3 else w
        if any(map(math.isnan, w + v)):
            return null
        signs = {a for a in w + v if math.isinf(a)}
        if name in ("stddev", "covariance", "correlation"):
            if signs or d < 2:
                return null
            fw, fv = list(map(Fraction, w)), list(map(Fraction, v))
            mw, mv = sum(fw) / d, sum(fv) / d
            cov = sum((a - mw) * (b - mv) for a, b in zip(fw, fv))
            if name == "covariance":
                return rounds_to(cov / (d - 1), got)
            if name == "stddev":
                return root_rounds_to(1, cov / (d - 1), got)
            vw, vv = sum((a - mw) ** 2 for a in fw), sum((b - mv) ** 2 for b in fv)
            if vw == 0 or vv == 0:
                return null
            if d == 2 and abs(got) != 1 or abs(got) > 1:
                return False
            return root_rounds_to((cov > 0) - (cov < 0), cov * cov / (vw * vv), got)
        if name in ("sum", "ts_sum", "mean", "ts_mean", "decay_linear"):
            if signs:
                return null if len(signs) == 2 else got in signs
            weights = range(1, d + 1) if name == "decay_linear" else [1] * d
            total = sum(k * Fraction(a) for k, a in zip(weights, w))
            return rounds_to(total / (1 if name.endswith("sum") else sum(weights)), got)
        if name == "product":
            if signs:
                return null if 0.0 in w else math.isinf(got)
            p = Fraction(1)
            for a in w:
                p *= Fraction(a)
            return rounds_to(p, got)
        if name == "ts_rank":
            below, ties = sum(a < w[-1] for a in w), sum(a == w[-1] for a in w)
            return rounds_to(Fraction(sum(range(below + 1, below + ties + 1)), ties) / d, got)
        if name == "ts_min":
            return got == min(w)
        if name == "ts_max":
            return got == max(w)
        if name == "ts_argmax":
            return got == 1 + w.index(max(w))
        if name == "ts_argmin":
            return got == 1 + w.index(min(w))
        raise NameError(name)


def nasty_panel(rng, rows=60, lanes=11):
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
    x[rng.random((rows, lanes)) < 0.03] = np.nan
    x[rng.random((rows, lanes)) < 0.02] = np.inf
    x[rng.random((rows, lanes)) < 0.01] = -np.inf
    return x


def self_check():
    for text, want in [("-2 ^ 2", -4.0), ("2 ^ 3 ^ 2", 512.0), ("2 ^ -1", 0.5), ("1 - 2 - 3", -4.0),
                       ("8 / 4 / 2", 1.0), ("1 + 2 * 3", 7.0), ("1 < 2 == 1", 1.0), ("0 ? 1 : 0 ? 2 : 3", 3.0),
                       ("1 || 0 && 0", 1.0), ("0 || 0 / 0 < 1 ? 5 : 6", math.nan), ("1 || 0/0", 1.0),
                       ("0 && 0/0", 0.0), ("0/0 && 0", 0.0), ("!0", 1.0), ("-(2.)*.5", -1.0),
                       ("SignedPower(-3, 2)", -9.0), ("min(3, 1)", 3.0), ("min(3, 1 + 0)", 1.0), ("log(0)", -math.inf),
                       ("1/0", math.inf), ("0/0", math.nan), ("(-1)^0.5", math.nan), ("sum(3, 1.9)", 3.0)]:
        e = Evaluator((1, 1), {}, {}, {})
        got = float(e.value(e.add(Parser(text).parse()))[0, 0])
        assert got == want or (got != got and want != want), (text, got, want)
    check, rng = Check(None), np.random.default_rng(7)
    for turn in range(3):
        x, y = nasty_panel(rng), nasty_panel(rng)
        y[:, 0] = 1 - 2 * x[:, 0]
        group = np.array([0, 1, 0, 1, 2, 2, 0, 1, -1, 3, 2])
        with np.errstate(all="ignore"):
            for d in (1, 2, 3, 7):
                for name, f in ROLLING1.items():
                    check.sample(name, f(x, d), x, d)
                for name, f in ROLLING2.items():
                    check.sample(name, f(x, y, d), x, y, d)
                    check.sample(name, f(x, x, d), x, x, d)
            check.sample("rank", rank(x), x)
            check.sample("indneutralize", indneutralize(x, group), x, group)
            for a in (1.0, 0.1, -3.0):
                check.sample("scale", scale(x, a), x, a)
                x2 = np.where(np.isinf(x), np.nan, x)
                check.sample("scale", scale(x2, a), x2, a)
                x3 = x2 * (np.arange(len(x2)) % 2)[:, None]  # rows of zeros: null
                check.sample("scale", scale(x3, a), x3, a)
    print("synthetic self-check passed, cells:", sum(check.done.values()), check.done)


# ---------------------------------------------------------------------------------------------------------
# Data and main
# ---------------------------------------------------------------------------------------------------------

def read_bars(path):
    with gzip.open(path, "rt", newline="") as f:
        rows = list(csv.DictReader(f))
    dates, symbols = sorted({r["date"] for r in rows}), sorted({r["symbol"] for r in rows})
    at, lane = {d: i for i, d in enumerate(dates)}, {s: i for i, s in enumerate(symbols)}
    fields = {c: np.full((len(dates), len(symbols)), np.nan) for c in rows[0] if c not in ("date", "symbol")}
    exists = np.zeros((len(dates), len(symbols)), dtype=bool)
    for r in rows:
        t, j = at[r["date"]], lane[r["symbol"]]
        exists[t, j] = True
        for c, x in fields.items():
            if r[c] != "":
                x[t, j] = float(r[c])
    return dates, symbols, fields, exists


def read_groups(path, symbols):
    with open(path, newline="") as f:
        rows = list(csv.DictReader(f))
    out = {}
    for column in rows[0]:
        if column != "symbol":
            names = {r["symbol"]: r[column] for r in rows if r[column]}
            ids = {n: i for i, n in enumerate(sorted(set(names.values())))}
            out[column] = np.array([ids[names[s]] if s in names else -1 for s in symbols])
    return out


def main(argv):
    started = time.time()
    checking = "--self-check" in argv
    argv = [a for a in argv if a != "--self-check"]
    sample_dates = DATES
    if "--dates" in argv:
        i = argv.index("--dates")
        sample_dates = argv[i + 1].split(",")
        del argv[i:i + 2]
    if len(argv) != 4:
        sys.exit(__doc__)
    if checking:
        self_check()
    lets, factors = read_formulas(argv[0])
    dates, symbols, fields, exists = read_bars(argv[1])
    groups = read_groups(argv[2], symbols)
    rows = [dates.index(d) for d in sample_dates]
    check = Check(40) if checking else None
    ev = Evaluator(exists.shape, fields, groups, lets, check)
    roots = {name: ev.add(e) for name, e in factors.items()}
    out = {}
    print(f"{len(dates)} rows, {len(symbols)} lanes, {len(factors)} factors, {len(ev.nodes)} distinct expressions")
    print("factor    seconds  non-null  infinite (whole panel)   null, infinite (sample)")
    for name, root in roots.items():
        t0 = time.time()
        x = np.where(exists, ev.value(root), np.nan)
        s = x[rows]
        print(f"{name}  {time.time() - t0:7.2f}  {int((~np.isnan(x)).sum()):8d}  {int(np.isinf(x).sum()):8d}"
              f"                 {int((~np.isfinite(s)).sum()):5d}  {int(np.isinf(s).sum()):5d}", flush=True)
        out[name] = [[v + 0.0 if math.isfinite(v) else None for v in row] for row in s.tolist()]
    golden = {
        "dates": sample_dates,
        "symbols": symbols,
        "note": "Written by test/golden/alpha101_oracle.py, independently of the engine: 101 Formulaic Alphas"
                " (Kakushadze 2015) on sp100_daily.csv.gz. Statistics are exact, rounded once; log and pow are C libm."
                " null: no value, infinite, or no such row in the bars; -0 is written as 0.",
        "factors": out,
    }
    data = json.dumps(golden, separators=(",", ":"), allow_nan=False).encode()
    packed = gzip.compress(data, 9, mtime=0)
    with open(argv[3], "wb") as f:
        f.write(packed)
    print("statistics (calls, cells with a value):", ev.calls)
    if check:
        print("self-check on the bars passed, cells:", sum(check.done.values()), check.done)
    print(f"{argv[3]}: {len(data)} bytes, {len(packed)} packed; {time.time() - started:.1f} s")


if __name__ == "__main__":
    main(sys.argv[1:])

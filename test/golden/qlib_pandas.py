#!/usr/bin/python3
"""Formulas of Qlib, evaluated after Qlib's definitions of its operators over pandas and numpy.

Independent of the engine and of oracle.py: formulas are read by Python's own parser, as Qlib reads them. Definitions:
qlib/data/ops.py and qlib/data/_libs/rolling.pyx of Microsoft Qlib, pandas 1.5 (core/window/rolling.py). Every window is
computed on its own, in long doubles: the running sums of pandas and Qlib keep traces of what has left the window.

stdin    {"folder", "rows", "lanes", "fields": [name], "starts": [first row of each lane],
          "factors": {name: formula}, "lets": {name: formula}, "control": [field]}
         and FIELD.f64 in the folder, doubles by row and lane.
FACTOR.f64  the values; rows before a lane's start are NaN.
stdout   {"pandas": version, "control": {operator: {"cells", "nullsDiffer", "valuesDiffer"}}}: how far the windows
         computed here agree with `pandas.rolling` itself, called as Qlib calls it, on each field of "control".
"""

import ast
import json
import os
import re
import sys
import warnings

import numpy as np
import pandas as pd

TINY = 2e-5  # Corr and Rsquare are NaN where a standard deviation is not above it
NAN = np.longdouble(np.nan)


def finite(x):
    """pandas turns infinities into NaN before it rolls."""
    return np.where(np.isinf(x), np.nan, x)


def windows(x, n):
    """[rows x n], the current row last; NaN stands before the first row."""
    return np.lib.stride_tricks.sliding_window_view(np.concatenate([np.full(n - 1, np.nan), x]), n)


def own_windows(x, n):
    """The windows without what stands before the first row."""
    return [x[max(0, t + 1 - n):t + 1] for t in range(len(x))]


def counted(w):
    return (~np.isnan(w)).sum(axis=1)


def mean_of(w):
    return np.nansum(w.astype(np.longdouble), axis=1) / np.where(counted(w) > 0, counted(w), NAN)


def moment(w, k):
    """Sum of the powers of deviations from the mean. A constant window deviates by nothing."""
    off = w - mean_of(w)[:, None]
    is_constant = np.nanmin(w, axis=1) == np.nanmax(w, axis=1)
    return np.where(is_constant, 0, np.nansum(off ** k, axis=1))


def total(x, n):
    w = windows(finite(x), n)
    return np.where(counted(w) > 0, np.nansum(w.astype(np.longdouble), axis=1), NAN)


def average(x, n):
    return mean_of(windows(finite(x), n))


def var(x, n):
    w = windows(finite(x), n)
    return np.where(counted(w) > 1, moment(w, 2) / (counted(w) - 1), NAN)


def std(x, n):
    return np.sqrt(var(x, n))


def skew(x, n):
    w = windows(finite(x), n)
    k, m2 = counted(w).astype(np.longdouble), moment(w, 2)
    g = moment(w, 3) / k / (m2 / k) ** np.longdouble(1.5)
    return np.where((k > 2) & (m2 > 0), np.sqrt(k * (k - 1)) / (k - 2) * g, NAN)


def kurt(x, n):
    w = windows(finite(x), n)
    k, m2 = counted(w).astype(np.longdouble), moment(w, 2)
    g = moment(w, 4) / k / (m2 / k) ** 2
    return np.where((k > 3) & (m2 > 0), (k - 1) / ((k - 2) * (k - 3)) * ((k + 1) * g - 3 * (k - 1)), NAN)


def each(x, n, of):
    """`of` one window, where the window has a value (min_periods=1)."""
    return np.array([of(w) if (~np.isnan(w)).any() else np.nan for w in own_windows(finite(x), n)])


def known(w):
    return w[~np.isnan(w)].astype(np.longdouble)


def quantile(x, n, q):
    def of(w):
        v = np.sort(known(w))
        at = np.longdouble(q) * (len(v) - 1)
        low = int(np.floor(at))
        return v[low] if at == low else v[low] + (v[low + 1] - v[low]) * (at - low)
    return each(x, n, of)


def rank(x, n):
    def of(w):
        v = known(w)
        return np.nan if np.isnan(w[-1]) else ((v < w[-1]).sum() + ((v == w[-1]).sum() + 1) / 2) / len(v)
    return each(x, n, of)


def weighted(w):
    weights = np.arange(1, len(w) + 1, dtype=np.longdouble)
    return np.nanmean(weights / weights.sum() * w)


def ema(x, n):
    out, above, below, mean = [], np.longdouble(0), np.longdouble(0), NAN
    keep = 1 - np.longdouble(2) / (n + 1)
    for v in finite(x):
        above, below = above * keep, below * keep
        if not np.isnan(v):
            above, below = above + v, below + 1
            mean = above / below
        out.append(mean)
    return np.array(out)


def both(x, y, n):
    """Windows of the pairs of which neither side is missing."""
    x, y = finite(x), finite(y)
    missing = np.isnan(x) | np.isnan(y)
    return windows(np.where(missing, np.nan, x), n), windows(np.where(missing, np.nan, y), n)


def codeviation(wx, wy):
    constant = (np.nanmin(wx, axis=1) == np.nanmax(wx, axis=1)) | (np.nanmin(wy, axis=1) == np.nanmax(wy, axis=1))
    return np.where(constant, 0, np.nansum((wx - mean_of(wx)[:, None]) * (wy - mean_of(wy)[:, None]), axis=1))


def cov(x, y, n):
    wx, wy = both(x, y, n)
    return np.where(counted(wx) > 1, codeviation(wx, wy) / (counted(wx) - 1), NAN)


def corr(x, y, n):
    wx, wy = both(x, y, n)
    below = np.sqrt(moment(wx, 2)) * np.sqrt(moment(wy, 2))
    r = np.where((counted(wx) > 1) & (below > 0), codeviation(wx, wy) / below, NAN)
    return np.where((std(x, n) <= TINY) | (std(y, n) <= TINY), NAN, r)


def regression(x, n):
    """Windows on 1..n of Qlib's own code: infinities stay, the sums of such a window are no numbers."""
    w = windows(x, n).astype(np.longdouble)
    w[np.isinf(w).any(axis=1)] = np.nan
    at = np.where(np.isnan(w), np.nan, np.arange(1, n + 1))
    enough = counted(w) > 1
    slope = np.where(enough, codeviation(at, w) / np.where(enough, moment(at, 2), 1), NAN)
    return w, at, slope


def resi(x, n):
    w, at, slope = regression(x, n)
    return w[:, -1] - (slope * n + mean_of(w) - slope * mean_of(at))


def rsquare(x, n):
    w, at, slope = regression(x, n)
    above, of_x, of_y = codeviation(at, w), moment(at, 2), moment(w, 2)
    r = np.where((counted(w) > 1) & (of_y > 0), above / np.sqrt(of_x) / np.sqrt(of_y), NAN)
    return np.where(std(x, n) <= TINY, NAN, r * r)


def shift(x, n):
    return np.concatenate([np.full(min(n, len(x)), np.nan), x[:len(x) - n]]) if n > 0 else np.full(len(x), x[0])


OPERATORS = {
    "Abs": np.abs, "Sign": np.sign, "Log": np.log, "Not": lambda c: ~c,
    "Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide, "Power": np.power,
    "Greater": np.maximum, "Less": np.minimum, "And": lambda a, b: a & b, "Or": lambda a, b: a | b,
    "Gt": np.greater, "Ge": np.greater_equal, "Lt": np.less, "Le": np.less_equal, "Eq": np.equal, "Ne": np.not_equal,
    "If": np.where, "Ref": shift, "Delta": lambda x, n: x - shift(x, n),
    "Sum": total, "Mean": average, "Var": var, "Std": std, "Skew": skew, "Kurt": kurt,
    "Max": lambda x, n: each(x, n, np.nanmax), "Min": lambda x, n: each(x, n, np.nanmin),
    "IdxMax": lambda x, n: each(x, n, np.argmax) + 1, "IdxMin": lambda x, n: each(x, n, np.argmin) + 1,
    "Med": lambda x, n: quantile(x, n, 0.5), "Quantile": quantile, "Rank": rank,
    "Mad": lambda x, n: each(x, n, lambda w: np.abs(known(w) - known(w).mean()).mean()),
    "Count": lambda x, n: np.array([(~np.isnan(w)).sum() for w in own_windows(x, n)]),
    "WMA": lambda x, n: each(x, n, weighted), "EMA": ema,
    "Slope": lambda x, n: regression(x, n)[2], "Resi": resi, "Rsquare": rsquare, "Corr": corr, "Cov": cov,
}
INFIX = {ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply, ast.Div: np.divide,
         ast.BitAnd: lambda a, b: a & b, ast.BitOr: lambda a, b: a | b,
         ast.Gt: np.greater, ast.GtE: np.greater_equal, ast.Lt: np.less, ast.LtE: np.less_equal,
         ast.Eq: np.equal, ast.NotEq: np.not_equal}


def rolled(x, n):
    return pd.Series(x).rolling(n, min_periods=1)


# As Qlib calls pandas.
PANDAS = {
    "Sum": lambda x, n: rolled(x, n).sum(), "Mean": lambda x, n: rolled(x, n).mean(),
    "Var": lambda x, n: rolled(x, n).var(), "Std": lambda x, n: rolled(x, n).std(),
    "Skew": lambda x, n: rolled(x, n).skew(), "Kurt": lambda x, n: rolled(x, n).kurt(),
    "Max": lambda x, n: rolled(x, n).max(), "Min": lambda x, n: rolled(x, n).min(),
    "IdxMax": lambda x, n: rolled(x, n).apply(lambda w: w.argmax() + 1, raw=True),
    "IdxMin": lambda x, n: rolled(x, n).apply(lambda w: w.argmin() + 1, raw=True),
    "Med": lambda x, n: rolled(x, n).median(), "Rank": lambda x, n: rolled(x, n).rank(pct=True),
    "Quantile": lambda x, n: rolled(x, n).quantile(0.8), "Count": lambda x, n: rolled(x, n).count(),
    "EMA": lambda x, n: pd.Series(x).ewm(span=n, min_periods=1).mean(),
    "Cov": lambda x, n: rolled(x, n).cov(pd.Series(np.roll(x, 3))),
    "Corr": lambda x, n: rolled(x, n).corr(pd.Series(np.roll(x, 3))),
}
PAIRS = ("Cov", "Corr")


def control(fields):
    """How far real pandas agrees on these series [rows]: where it has a value, and at 1e-6."""
    out = {}
    for name, call in PANDAS.items():
        cells = nulls = values = 0
        for x in fields:
            for n in (1, 2, 5, 20):
                args = (x, np.roll(x, 3), n) if name in PAIRS else (x, n, 0.8) if name == "Quantile" else (x, n)
                here = OPERATORS[name](*args)
                here, there = np.asarray(here, float), call(x, n).to_numpy(float)
                cells += len(x)
                nulls += int((np.isnan(here) != np.isnan(there)).sum())
                # pandas carries its sum of squares from window to window: the root of its trace is a thousand times that.
                nearly = 1e-6 if name == "Std" else 1e-9
                values += int((np.abs(here - there) > 1e-6 * np.abs(here) + nearly).sum())
        out[name] = {"cells": cells, "nullsDiffer": nulls, "valuesDiffer": values}
    return out


class Lane:
    """The formulas on the history of one instrument; equal parts are computed once."""

    def __init__(self, fields, lets):
        self.fields, self.memo = dict(fields), {}
        for name, formula in lets.items():
            self.fields[name] = self.of(formula)

    def of(self, formula):
        return self.value(ast.parse(re.sub(r"\$(\w+)", r"\1", formula.strip()), mode="eval").body)

    def value(self, node):
        key = ast.dump(node)
        if key not in self.memo:
            x = self.compute(node)
            self.memo[key] = x.astype(float) if getattr(x, "dtype", None) == np.longdouble else x
        return self.memo[key]

    def compute(self, node):
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return self.fields[node.id]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self.value(node.operand)
        if isinstance(node, ast.BinOp):
            return INFIX[type(node.op)](self.value(node.left), self.value(node.right))
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return INFIX[type(node.ops[0])](self.value(node.left), self.value(node.comparators[0]))
        if isinstance(node, ast.Call):
            return OPERATORS[node.func.id](*map(self.value, node.args))
        raise SyntaxError(ast.dump(node))


def main():
    ask = json.load(sys.stdin)
    shape = (ask["rows"], ask["lanes"])
    path = lambda name: os.path.join(ask["folder"], f"{name}.f64")
    fields = {name: np.fromfile(path(name)).reshape(shape) for name in ask["fields"]}
    out = {name: np.full(shape, np.nan) for name in ask["factors"]}
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # windows without a value
        for lane, start in enumerate(ask["starts"]):
            history = Lane({name: x[start:, lane] for name, x in fields.items()}, ask["lets"])
            for name, formula in ask["factors"].items():
                out[name][start:, lane] = history.of(formula)
        checked = control([fields[name][:, lane] for name in ask["control"] for lane in range(shape[1])])
    for name, x in out.items():
        x.tofile(path(name))
    json.dump({"pandas": pd.__version__, "control": checked}, sys.stdout)


if __name__ == "__main__":
    main()

#!/usr/bin/python3
"""Independent oracle for formula files in the dialects alpha101, qlib, gtja191 and native; writes golden files.

What it is
    A second, deliberately plain implementation, written from the written semantics alone (SEMANTICS.md and the
    "Exactness" paragraph of DESIGN.md). It shares nothing with the engine: no code, no parser, no numeric scheme,
    no language. oracle_statistics.py holds the statistics, oracle_check.py the check against their definitions.

How to run (Debian: apt-get install -y --no-install-recommends python3-numpy)
    /usr/bin/python3 test/golden/oracle.py FORMULAS BARS SECTORS OUT.json.gz [--self-check] [--dates D1,D2,...]
                                           [--only REGEX]
    --self-check  first tests every statistic on a nasty synthetic panel (all cells), then, during the run
                  on the bars, tests a random sample of cells (all of a small panel) of every statistic in every
                  formula, each against the definition in rational arithmetic. Any failure raises.
    --dates       other sample dates than DATES below; "all" for all of them.
    --only        only the factors whose whole name matches.
    The golden files; the dates left out keep each file under 900 KB:
    B="examples/data/sp100_daily.csv.gz examples/data/sp100_sectors.csv"
    oracle.py examples/alpha101.factors $B test/golden/alpha101.json.gz
    oracle.py examples/alpha158.factors $B test/golden/alpha158.json.gz --dates \\
        2013-03-25,2013-06-07,2013-11-18,2014-10-14,2017-07-26,2017-09-15,2018-02-06,2018-02-07
    oracle.py examples/alpha360.factors $B test/golden/alpha360.json.gz --only '[A-Z]+(0|1|2|3|5|10|20|30|40|58|59)'
    oracle.py examples/gtja191.factors $B test/golden/gtja191.json.gz --dates \\
        2013-03-25,2013-06-07,2014-02-25,2014-10-14,2017-07-26,2017-09-15,2018-02-07
    Exact statistics on hostile input, a made-up panel with its groups in a column of the bars (SECTORS is "-"):
    oracle_adversarial.py test/golden/adversarial.csv
    oracle.py test/golden/adversarial.factors test/golden/adversarial.csv - test/golden/adversarial.json.gz \\
        --dates all

How it computes
    The panel is dense: rows are all dates of the file ascending, lanes are all symbols in code-unit order,
    NaN is null. Elementwise arithmetic is numpy's IEEE double arithmetic, one rounding per operation, in
    the order of the formula; log and pow are those of C libm, through `math`. Recursive operators (SMA, SUMAC,
    SELF) are IEEE too. Every rolling, cross-section and group statistic is the exact real result of its double
    inputs, rounded once to nearest, ties to even; there is no floating-point fast path. Across the row a symbol
    without a row in the bars does not count, whatever value the formula has for it there.

Format of OUT
    {"dates": [...], "symbols": [...], "note": "...", "factors": {name: [[value | null per symbol] per date]}}
    null: no value, or an infinity, or no such (date, symbol) row in the bars. -0 is written as 0.
"""

import csv
import gzip
import json
import math
import os
import re
import sys
import time

import numpy as np

from oracle_check import Check, check_statistics
from oracle_statistics import ACROSS, STATISTICS, choose, delay

# Rows of the default bars, chosen to bite.
DATES = [
    "2013-03-25",  # row 30: short windows have just filled, adv30 and longer ones not
    "2013-05-21",  # row 70
    "2013-06-07",  # row 82: BMY has no row on this day: no rank counts it, though a delayed value of it exists
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
# Dialects. Functions: name -> (one name for all dialects, its arguments: x y c arrays, d window, g group, f a number)
# ---------------------------------------------------------------------------------------------------------

ALPHA101 = {
    "abs": ("abs", "x"), "sign": ("sign", "x"), "log": ("log", "x"), "signedpower": ("signedpower", "xy"),
    "min": ("less", "xy"), "max": ("greater", "xy"), "delay": ("delay", "xd"), "delta": ("delta", "xd"),
    "sum": ("sum", "xd"), "ts_sum": ("sum", "xd"), "mean": ("mean", "xd"), "ts_mean": ("mean", "xd"),
    "stddev": ("std", "xd"), "product": ("product", "xd"), "decay_linear": ("decay_linear", "xd"),
    "ts_min": ("ts_min", "xd"), "ts_max": ("ts_max", "xd"), "ts_rank": ("ts_rank", "xd"),
    "ts_argmax": ("ts_argmax", "xd"), "ts_argmin": ("ts_argmin", "xd"),
    "correlation": ("corr", "xyd"), "covariance": ("cov", "xyd"),
    "rank": ("rank", "x"), "scale": ("scale", "xf"), "indneutralize": ("indneutralize", "xg"),
}
QLIB = {
    "Abs": ("abs", "x"), "Sign": ("sign", "x"), "Log": ("log", "x"),
    "Greater": ("greater", "xy"), "Less": ("less", "xy"), "Ref": ("delay", "xd"), "Delta": ("delta", "xd"),
    "Sum": ("sum", "xd"), "Mean": ("mean", "xd"), "Std": ("std", "xd"), "Var": ("var", "xd"), "Mad": ("mad", "xd"),
    "Max": ("ts_max", "xd"), "Min": ("ts_min", "xd"), "IdxMax": ("nan_argmax", "xd"), "IdxMin": ("nan_argmin", "xd"),
    "Rank": ("ts_rank", "xd"), "Quantile": ("quantile", "xdf"), "Med": ("median", "xd"),
    "Corr": ("corr", "xyd"), "Cov": ("cov", "xyd"),
    "Slope": ("slope", "xd"), "Rsquare": ("rsquare", "xd"), "Resi": ("resid", "xd"),
}
GTJA191 = {
    "ABS": ("abs", "x"), "SIGN": ("sign", "x"), "LOG": ("log", "x"), "FILTER": ("filter", "xc"),
    "MIN": ("less", "xy"), "MAX": ("greater", "xy"), "DELAY": ("delay", "xd"), "DELTA": ("delta", "xd"),
    "SUM": ("sum", "xd"), "MEAN": ("mean", "xd"), "MA": ("mean", "xd"), "STD": ("std", "xd"),
    "PROD": ("product", "xd"), "DECAYLINEAR": ("decay_linear", "xd"), "WMA": ("wma09", "xd"),
    "TSMIN": ("ts_min", "xd"), "TSMAX": ("ts_max", "xd"), "TSRANK": ("ts_rank", "xd"),
    "HIGHDAY": ("highday", "xd"), "LOWDAY": ("lowday", "xd"), "CORR": ("corr", "xyd"), "COVIANCE": ("cov", "xyd"),
    "COUNT": ("count", "cd"), "SUMIF": ("sumif", "xdc"), "SMA": ("sma", "xff"), "SUMAC": ("sumac", "x"),
    "REGBETA": ("regbeta", "yxd"), "SEQUENCE": ("sequence", "f"), "RANK": ("rank", "x"),
}
NATIVE = {
    "abs": ("abs", "x"), "sign": ("sign", "x"), "min": ("less", "xy"), "max": ("greater", "xy"),
    "delay": ("delay", "xd"), "delta": ("delta", "xd"),
    "ts_sum": ("sum", "xd"), "ts_mean": ("mean", "xd"), "ts_product": ("product", "xd"), "ts_std": ("std", "xd"),
    "ts_var": ("var", "xd"), "covariance": ("cov", "xyd"), "correlation": ("corr", "xyd"),
    "decay_linear": ("decay_linear", "xd"), "wma_decay": ("wma09", "xd"), "ts_skew": ("skew", "xd"),
    "ts_kurt": ("kurt", "xd"), "ts_moment": ("moment", "xdf"), "ts_median": ("median", "xd"),
    "ts_quantile": ("quantile", "xdf"), "ts_mad": ("mad", "xd"), "ts_zscore": ("ts_zscore", "xd"),
    "ts_ir": ("ir", "xd"), "ts_slope": ("slope", "xd"), "ts_rsquare": ("rsquare", "xd"), "ts_resid": ("resid", "xd"),
    "ts_regbeta": ("beta", "yxd"), "ts_regresid": ("regresid", "yxd"), "ts_rank": ("ts_rank", "xd"),
    "ts_argmax": ("ts_argmax", "xd"), "ts_argmin": ("ts_argmin", "xd"), "ts_min": ("ts_min", "xd"),
    "ts_max": ("ts_max", "xd"), "rank": ("rank", "x"), "scale": ("scale", "xf"), "zscore": ("zscore", "x"),
    "demean": ("demean", "x"), "regression_neut": ("regression_neut", "yx"), "vector_neut": ("vector_neut", "xy"),
    "group_neutralize": ("indneutralize", "xg"), "group_mean": ("group_mean", "xg"),
    "group_rank": ("group_rank", "xg"), "group_zscore": ("group_zscore", "xg"),
    "affine_recurrence": ("affine_recurrence", "xyc"),
}
GTJA191_NAMES = {
    "RET": "CLOSE / DELAY(CLOSE, 1) - 1",
    "VOL": "VOLUME",
    "HD": "HIGH - DELAY(HIGH, 1)",
    "LD": "DELAY(LOW, 1) - LOW",
    "TR": "MAX(MAX(HIGH - LOW, ABS(HIGH - DELAY(CLOSE, 1))), ABS(LOW - DELAY(CLOSE, 1)))",
    "DTM": "OPEN <= DELAY(OPEN, 1) ? 0 : MAX(HIGH - OPEN, OPEN - DELAY(OPEN, 1))",
    "DBM": "OPEN >= DELAY(OPEN, 1) ? 0 : MAX(OPEN - LOW, OPEN - DELAY(OPEN, 1))",
}


class Dialect:
    def __init__(self, name, functions, operators, fold, names):
        self.name, self.functions, self.operators, self.fold, self.names = name, functions, operators, fold, names
        self.skip = name == "qlib"  # nulls are left out of windows


SAME = {op: op for op in ["<=", ">=", "==", "!=", "<", ">", "+", "-", "*", "/", "(", ")", ","]}
MORE = SAME | {op: op for op in ["&&", "||", "!", "?", ":", "^"]}
DIALECTS = {d.name: d for d in [
    Dialect("alpha101", ALPHA101, MORE, str.lower, {"returns": "close / delay(close, 1) - 1"}),
    Dialect("qlib", QLIB, SAME, str, {}),
    Dialect("native", NATIVE, MORE | {"=": "="}, str.lower, {}),  # "=" only in named arguments
    Dialect("gtja191", GTJA191, MORE | {"=": "==", "&": "&&", "|": "||"}, str, GTJA191_NAMES),
]}


# ---------------------------------------------------------------------------------------------------------
# Parser: text -> nested tuples
#   ("num", float) ("name", str) ("group", str) ("neg", a) ("not", a) ("bin", op, a, b) ("if", c, a, b)
#   ("call", name as the dialect folds it, args), in native args may end with ("min_periods", m); null is a NaN
# ---------------------------------------------------------------------------------------------------------

TOKEN = re.compile(r"""\s*(?:
    (?P<num>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
  | (?P<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?)
  | (?P<field>\$[A-Za-z_]\w*)
  | (?P<op><=|>=|==|!=|&&|\|\||[-+*/^<>!?:(),=&|])
)""", re.X)


def tokenize(text, dialect):
    out, at = [], 0
    text = text.rstrip()
    while at < len(text):
        m = TOKEN.match(text, at)
        if not m:
            raise SyntaxError(f"cannot read {text[at:at + 20]!r}")
        kind, token = m.lastgroup, m.group(m.lastgroup)
        if kind == "op":
            if token not in dialect.operators:
                raise SyntaxError(f"{token!r} is no operator of {dialect.name}")
            token = dialect.operators[token]
        if kind == "field":
            if dialect.name != "qlib":
                raise SyntaxError(f"{token!r}: only qlib has fields with $")
        out.append((kind, token))
        at = m.end()
    out.append(("end", ""))
    return out


class Parser:
    """Precedence, loosest first: ?:  ||  &&  == !=  < <= > >=  + -  * /  unary - !  ^ (right-associative)."""

    LEVELS = [["||"], ["&&"], ["==", "!="], ["<", "<=", ">", ">="], ["+", "-"], ["*", "/"]]

    def __init__(self, text, dialect):
        self.dialect, self.tokens, self.i = dialect, tokenize(text, dialect), 0

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
            return ("bin", "^", base, self.unary())  # right side: unary -> power, so it is right-associative
        return base

    def argument(self):
        node = self.ternary()
        if self.peek() != "=":
            return node
        self.eat("=")
        if node != ("name", "min_periods"):
            raise SyntaxError(f"{node}: only min_periods may be named")
        return ("min_periods", self.ternary())

    def atom(self):
        kind, text = self.tokens[self.i]
        self.i += 1
        if kind == "num":
            return ("num", float(text))
        if kind == "field":
            return ("name", text[1:])
        if kind == "name":
            if "." in text:
                prefix, level = text.split(".")
                if prefix.lower() != "indclass" or self.dialect.name != "alpha101":
                    raise SyntaxError(f"unknown prefix {prefix!r}")
                return ("group", level)
            if self.peek() == "(":
                self.eat("(")
                args = [self.argument()]
                while self.peek() == ",":
                    self.eat(",")
                    args.append(self.argument())
                self.eat(")")
                return ("call", self.dialect.fold(text), tuple(args))
            if self.dialect.name == "qlib":
                raise SyntaxError(f"{text!r}: a field needs $")
            if self.dialect.name == "native" and text == "null":
                return ("num", math.nan)
            return ("name", text)
        if text == "(" and kind == "op":
            node = self.ternary()
            self.eat(")")
            return node
        raise SyntaxError(f"unexpected {text!r}")


def read_formulas(path):
    """-> (dialect, lets, factors): ordered dicts of name -> parsed expression. A line goes on while a ( is open."""
    dialect, lets, factors, held = None, {}, {}, ""
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        held += " " + line.split("#")[0].strip()
        if held.count("(") > held.count(")") or not held.strip():
            continue
        line, held = held.strip(), ""
        if dialect is None:
            m = re.fullmatch(r"dialect\s+(\w+)", line)
            if not m or m.group(1) not in DIALECTS:
                raise SyntaxError(f"line {number}: the first statement must name a dialect: {' '.join(DIALECTS)}")
            dialect = DIALECTS[m.group(1)]
            continue
        m = re.fullmatch(r"(let\s+)?([A-Za-z_]\w*)\s*=(?!=)\s*(.*)", line)
        if not m:
            raise SyntaxError(f"line {number}: {line!r}")
        try:
            (lets if m.group(1) else factors)[m.group(2)] = Parser(m.group(3), dialect).parse()
        except SyntaxError as e:
            raise SyntaxError(f"line {number}: {e}") from None
    return dialect, lets, factors


# ---------------------------------------------------------------------------------------------------------
# Resolving: names to what they stand for, functions to their one name
# ---------------------------------------------------------------------------------------------------------

def resolve(node, dialect, lets, fields):
    """Names: let, panel field, built-in, in this order. IndClass.x to a group column."""
    kind = node[0]
    again = lambda n: resolve(n, dialect, lets, fields)
    if kind == "name":
        name = node[1]
        if name in lets:
            return resolve(lets[name], dialect, {k: v for k, v in lets.items() if k != name}, fields)
        for field in fields:
            if name == field or dialect.name == "gtja191" and name.lower() == field.lower():
                return ("field", field)
        if name in dialect.names:
            return again(Parser(dialect.names[name], dialect).parse())
        m = re.fullmatch(r"adv(\d+)", name)
        if m and dialect.name == "alpha101":
            return again(Parser(f"ts_mean(close * volume, {m.group(1)})", dialect).parse())
        if name == "SELF" and dialect.name == "gtja191":
            return ("self",)
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
        return resolve_call(node[1], node[2], dialect, again)
    return tuple(again(p) if isinstance(p, tuple) else p for p in node)


def resolve_call(name, args, dialect, again):
    if name not in dialect.functions:
        raise NameError(f"{name} is no function of {dialect.name}")
    to, letters = dialect.functions[name]
    if to == "regbeta" and args[1:] and args[1] == ("name", "SEQUENCE"):  # REGBETA(y, SEQUENCE, n)
        to, letters, args = "slope", "xd", (args[0],) + args[2:]
    elif to == "regbeta" and args[1:] and args[1][:2] == ("call", "SEQUENCE"):  # REGBETA(y, SEQUENCE(n))
        to, letters, args = "slope", "xd", (args[0],) + args[1][2] + args[2:]
    least_values = ()
    if args[-1][0] == "min_periods":
        args, m = args[:-1], args[-1][1]
        if STATISTICS[to][1][-1] != "s" or m[0] != "num" or m[1] < 1 or m[1] != math.floor(m[1]):
            raise ValueError(f"{name}: min_periods")
        least_values = (m,)
    if dialect.name == "native" and letters[-1] == "g" and len(args) == len(letters) and args[-1][0] == "name":
        args = args[:-1] + (("group", args[-1][1]),)
    if to == "scale" and len(args) == 1:
        args += (("num", 1.0),)
    if to == "delay" and len(args) == 1 and dialect.name == "gtja191":
        args += (("num", 1.0),)
    if len(args) != len(letters):
        raise TypeError(f"{name} takes {len(letters)} arguments, not {len(args)}")
    if to in ("less", "greater") and dialect.name not in ("qlib", "native") and args[1][0] == "num" and args[1][1] >= 1:
        to, letters = ("ts_min" if to == "less" else "ts_max"), "xd"
    args = tuple(again(a) for a in args)
    least = 0 if to in ("delay", "delta") and dialect.name != "qlib" else 1  # Ref(x, 0) is the first value of history
    for letter, a in zip(letters, args):
        if letter == "d" and (a[0] != "num" or math.floor(a[1]) < least):
            raise ValueError(f"{name}: a window must be a literal >= {least}")
        if letter == "f" and a[0] != "num":
            raise ValueError(f"{name}: a literal number is wanted")
    if to == "delta":
        return ("bin", "-", args[0], ("call", "delay", args))
    return ("call", to, args + least_values)


# ---------------------------------------------------------------------------------------------------------
# Elementwise
# ---------------------------------------------------------------------------------------------------------

def c_log(v):
    if v > 0:
        return math.log(v)
    return -math.inf if v == 0 else math.nan


def c_pow(a, b):
    """Exponents 1, 2 and 3 are products, computed ones too."""
    if a != a or b != b:
        return math.nan  # null in, null out
    if b == 1:
        return a
    if b == 2:
        return a * a
    if b == 3:
        return (a * a) * a
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


def binary(op, a, b, skip):
    if op in ARITHMETIC:
        return ARITHMETIC[op](a, b)
    if op == "^":
        return map2(c_pow, a, b)
    if op in COMPARE:
        out = truth(COMPARE[op](a, b), nulls(a, b))
        return np.where(np.isnan(out), float(op == "!="), out) if skip else out  # qlib: as numpy beside a null
    at, bt = ~np.isnan(a) & (a != 0), ~np.isnan(b) & (b != 0)
    if op == "&&":
        return truth(at & bt, nulls(a, b) & ~((a == 0) | (b == 0)))
    if op == "||":
        return truth(at | bt, nulls(a, b) & ~(at | bt))
    raise ValueError(op)


ELEMENTWISE = {
    "abs": np.abs, "sign": np.sign, "log": lambda x: map1(c_log, x),
    "less": np.minimum, "greater": np.maximum,  # null beside a null
    "signedpower": lambda x, a: np.sign(x) * map2(c_pow, np.abs(x), a),
    "filter": lambda x, c: choose(c, x, np.nan),
}


# ---------------------------------------------------------------------------------------------------------
# Evaluation
# ---------------------------------------------------------------------------------------------------------

LEAVES = ("num", "field", "group", "self")


class Evaluator:
    def __init__(self, dialect, shape, fields, groups, lets, check=None, exists=None):
        self.dialect, self.shape, self.fields, self.groups = dialect, shape, fields, groups
        self.lets, self.check, self.exists = lets, check, exists
        self.ids, self.nodes, self.uses, self.memo = {}, [], [], {}
        self.calls = {}  # statistic -> calls, cells with a value

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
        return () if key[0] in LEAVES else tuple(p for p in key[1:] if isinstance(p, int))

    def add(self, expression):
        i = self.intern(resolve(expression, self.dialect, self.lets, self.fields))
        self.uses[i] += 1
        return i

    def below(self, i):
        """The node and all it needs."""
        seen, todo = set(), [i]
        while todo:
            i = todo.pop()
            if i not in seen:
                seen.add(i)
                todo.extend(self.children(self.nodes[i]))
        return seen

    def inexact(self, root):
        """Which operators below may differ in the last bit or depend on where history starts."""
        found = set()
        for key in map(self.nodes.__getitem__, self.below(root)):
            if key[0] == "call" and key[1] in ("log", "sma", "sumac"):
                found.add(key[1])
            elif key[0] == "self":
                found.add("self")
            elif key[0] == "bin" and key[1] == "^" or key[:2] == ("call", "signedpower"):
                if self.number(key[3]) not in (1, 2, 3):
                    found.add("pow")
        return found

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

    def compute(self, node):
        kind = node[0]
        if kind == "num":
            return np.full(self.shape, float.fromhex(node[1]))
        if kind == "field":
            return self.fields[node[1]]
        if kind == "call" and node[1] == "delay":
            return delay(self.value(node[2]), math.floor(self.number(node[3])))
        if kind == "call" and node[1] in STATISTICS:
            return self.statistic(node[1], node[2:])
        return self.elementwise(node, [self.value(i) for i in self.children(node)])

    def elementwise(self, node, values):
        kind = node[0]
        if kind == "neg":
            return -values[0]
        if kind == "not":
            return truth(values[0] == 0, np.isnan(values[0]))
        if kind == "if":
            return choose(*values)
        if kind == "bin":
            return binary(node[1], *values, self.dialect.skip)
        if kind == "call" and node[1] in ELEMENTWISE:
            return ELEMENTWISE[node[1]](*values)
        raise NameError(f"{node[:2]} has no value")

    def statistic(self, name, ids):
        f, letters = STATISTICS[name]
        rule = (self.dialect.skip,) if letters[-1] == "s" else ()
        if rule and len(ids) == len(letters):  # min_periods
            rule = (int(self.number(ids[-1])),)
        args = []
        for letter, i in zip(letters[:-1] if rule else letters, ids):
            if letter in "xyc":
                x = self.value(i)
                # pandas turns infinities into NaN before it rolls; the regressions of Qlib are not of pandas
                is_null = self.dialect.name == "qlib" and name not in ("slope", "rsquare", "resid")
                args.append(np.where(np.isinf(x), np.nan, x) if is_null else x)
            elif letter == "g":
                args.append(self.groups[self.nodes[i][1]])
            else:
                args.append(math.floor(self.number(i)) if letter == "d" else self.number(i))
        if name in ACROSS and self.exists is not None:
            args[0] = np.where(self.exists, args[0], np.nan)
        out = f(*args, *rule)
        calls, cells = self.calls.get(name, (0, 0))
        self.calls[name] = (calls + 1, cells + int((~np.isnan(out)).sum()))
        if self.check:
            self.check.sample(name, out, tuple(args), rule[0] if rule else False)
        return out

    def recursion(self, root):
        """A factor with SELF, its own value in the previous row: 1 before the first row; where the formula gives
        null the previous value is carried over."""
        depends = {i for i in self.below(root) if any(self.nodes[k] == ("self",) for k in self.below(i))}
        known = {k: self.value(k) for i in depends for k in self.children(self.nodes[i]) if k not in depends}

        def row(i, t, y):
            if i in known:
                return known[i][t]
            if self.nodes[i] == ("self",):
                return y
            return self.elementwise(self.nodes[i], [row(k, t, y) for k in self.children(self.nodes[i])])

        out, y = np.full(self.shape, np.nan), np.ones(self.shape[1])
        with np.errstate(all="ignore"):
            for t in range(self.shape[0]):
                new = row(root, t, y)
                y = np.where(np.isnan(new), y, new)
                out[t] = y
        return out

    def factor(self, root):
        return self.recursion(root) if "self" in self.inexact(root) else self.value(root)


# ---------------------------------------------------------------------------------------------------------
# Self-check of reading and elementwise rules (the statistics: oracle_check.py)
# ---------------------------------------------------------------------------------------------------------

def check_expressions():
    nan, inf = math.nan, math.inf
    cases = {
        "alpha101": [
            ("-2 ^ 2", -4.0), ("2 ^ 3 ^ 2", 512.0), ("2 ^ -1", 0.5), ("1 - 2 - 3", -4.0),
            ("8 / 4 / 2", 1.0), ("1 + 2 * 3", 7.0), ("1 < 2 == 1", 1.0), ("0 ? 1 : 0 ? 2 : 3", 3.0),
            ("1 || 0 && 0", 1.0), ("0 || 0 / 0 < 1 ? 5 : 6", nan), ("1 || 0/0", 1.0),
            ("0 && 0/0", 0.0), ("0/0 && 0", 0.0), ("!0", 1.0), ("-(2.)*.5", -1.0),
            ("SignedPower(-3, 2)", -9.0), ("min(3, 1)", 3.0), ("min(3, 1 + 0)", 1.0), ("log(0)", -inf),
            ("1/0", inf), ("0/0", nan), ("(-1)^0.5", nan), ("sum(3, 1.9)", 3.0),
            ("0.1 ^ (1 + 2)", 0.1 * 0.1 * 0.1)],
        "gtja191": [
            ("1 + 1 = 2", 1.0), ("1 = 2 | 3 > 2 & 1 == 1", 1.0), ("1=0/0", nan), ("1 ? 2 : 0/0", 2.0),
            ("MAX(0, 3)", nan), ("MAX(0, 3 + 0)", 3.0), ("MAX(0 - 1, 0)", 0.0), ("MAX(2, 1)", 2.0),
            ("DELAY(1)", nan), ("DELAY(1, 0)", 1.0), ("FILTER(3, 1 > 2)", nan), ("SUMIF(3, 1, 1 > 2)", 0.0),
            ("SUMIF(0/0, 1, 1 > 2)", 0.0), ("COUNT(5, 1)", 1.0), ("SMA(7, 3, 1)", 7.0),
            ("20 * (20-1 )^1.5", 20 * 19 ** 1.5), ("-20* 2^2", -80.0)],
        "native": [
            ("max(0 - 5, 3)", 3.0), ("min(5, 2)", 2.0), ("null", nan), ("1 > null", nan), ("0 && null", 0.0),
            ("1 < 2 ? null : 1", nan), ("ts_sum(3, 2)", nan), ("ts_sum(3, 2, min_periods=1)", 3.0),
            ("TS_STD(3, 2, min_periods=1)", nan), ("ts_sum(null, 1)", nan), ("1 == 2 || 1", 1.0),
            ("2 ^ -1", 0.5), ("1/0", inf)],
        "qlib": [
            ("1 > 0/0", 0.0), ("1 != 0/0", 1.0), ("1 == 0/0", 0.0), ("Mean(1/0, 3)", nan), ("IdxMax(1/0, 3)", nan), ("Greater(1, 0/0)", nan), ("Sum(0/0, 3)", nan),
            ("Sum(2, 3)", 2.0), ("Std(2, 3)", nan), ("Ref(2, 1)", nan), ("1/0 + 1", inf)],
    }
    for name, text, want in [(name, *case) for name in cases for case in cases[name]]:
        dialect = DIALECTS[name]
        e = Evaluator(dialect, (1, 1), {}, {}, {})
        got = float(e.value(e.add(Parser(text, dialect).parse()))[0, 0])
        assert got == want or (got != got and want != want), (name, text, got, want)
    for name, text in [("native", "ts_sum(1, 2, 3)"), ("native", "decay_linear(1, 2, min_periods=1)"),
                       ("native", "ts_sum(1, min_periods=1)"), ("native", "ts_sum(1, 2, m=1)"), ("native", "1 = 1"),
                       ("qlib", "Ref(2, 0)"), ("qlib", "$a & 1"), ("qlib", "a"), ("qlib", "2 ^ 2"),
                       ("gtja191", "SMA(1, 2)"), ("gtja191", "MAX(1)"), ("gtja191", "SUM(1, 0)"), ("gtja191", "HGIH"),
                       ("gtja191", "Sum(1, 1)"), ("alpha101", "delay(1, -1)"), ("alpha101", "$close"),
                       ("alpha101", "1 = 1")]:
        try:
            Evaluator(DIALECTS[name], (1, 1), {}, {}, {}).add(Parser(text, DIALECTS[name]).parse())
        except (SyntaxError, ValueError, NameError, TypeError):
            continue
        raise AssertionError((name, text, "no error"))
    close = np.array([[10.0, 10], [11, 9], [nan, 9], [13, 18], [11, nan], [12.1, 9]])
    e = Evaluator(DIALECTS["gtja191"], close.shape, {"close": close}, {}, {})
    text = "CLOSE>DELAY(CLOSE,1)?(CLOSE-DELAY(CLOSE,1))/DELAY(CLOSE,1)*SELF:SELF"
    a = (11 - 10) / 10 * 1.0
    b = (12.1 - 11) / 11 * a
    want = np.array([[1, 1], [a, 1], [a, 1], [a, (18 - 9) / 9 * 1.0], [a, 1], [b, 1]])
    assert np.array_equal(e.factor(e.add(Parser(text, DIALECTS["gtja191"]).parse())), want)


# ---------------------------------------------------------------------------------------------------------
# Data and main
# ---------------------------------------------------------------------------------------------------------

def is_text(values):
    try:
        return not [float(v) for v in values if v != ""]
    except ValueError:
        return True


def read_bars(path):
    """-> dates, symbols, fields, groups (the columns of text: an id per cell, -1 = null), which rows exist"""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", newline="") as f:
        rows = list(csv.DictReader(f))
    dates, symbols = sorted({r["date"] for r in rows}), sorted({r["symbol"] for r in rows})
    at, lane = {d: i for i, d in enumerate(dates)}, {s: i for i, s in enumerate(symbols)}
    columns = [c for c in rows[0] if c not in ("date", "symbol")]
    labels = {c: sorted({r[c] for r in rows} - {""}) for c in columns if is_text([r[c] for r in rows])}
    fields = {c: np.full((len(dates), len(symbols)), np.nan) for c in columns if c not in labels}
    groups = {c: np.full((len(dates), len(symbols)), -1) for c in labels}
    exists = np.zeros((len(dates), len(symbols)), dtype=bool)
    for r in rows:
        t, j = at[r["date"]], lane[r["symbol"]]
        exists[t, j] = True
        for c, x in fields.items():
            if r[c] != "":
                x[t, j] = float(r[c])
        for c, g in groups.items():
            if r[c] != "":
                g[t, j] = labels[c].index(r[c])
    return dates, symbols, fields, groups, exists


def read_groups(path, symbols):
    if path == "-":
        return {}
    with open(path, newline="") as f:
        rows = list(csv.DictReader(f))
    out = {}
    for column in rows[0]:
        if column != "symbol":
            names = {r["symbol"]: r[column] for r in rows if r[column]}
            ids = {n: i for i, n in enumerate(sorted(set(names.values())))}
            out[column] = np.array([ids[names[s]] if s in names else -1 for s in symbols])
    return out


def note(path, bars, dialect):
    start = (f"Written by test/golden/oracle.py, independently of the engine: {os.path.basename(path)} (dialect"
             f" {dialect.name}) on {os.path.basename(bars)}.")
    if dialect.name == "alpha101":  # the bytes of this golden file are older than the script's name
        start = ("Written by test/golden/alpha101_oracle.py, independently of the engine: 101 Formulaic Alphas"
                 " (Kakushadze 2015) on sp100_daily.csv.gz.")
    return (start + " Statistics are exact, rounded once; log and pow are C libm."
            " null: no value, infinite, or no such row in the bars; -0 is written as 0.")


def option(argv, name):
    if name not in argv:
        return None
    i = argv.index(name)
    value = argv[i + 1]
    del argv[i:i + 2]
    return value


def main(argv):
    started = time.time()
    argv = list(argv)
    sample_dates, only = option(argv, "--dates"), option(argv, "--only")
    checking = "--self-check" in argv
    argv = [a for a in argv if a != "--self-check"]
    if len(argv) != 4:
        sys.exit(__doc__)
    sample_dates = sample_dates.split(",") if sample_dates else DATES
    if checking:
        check_expressions()
        check_statistics()
    dialect, lets, factors = read_formulas(argv[0])
    dates, symbols, fields, groups, exists = read_bars(argv[1])
    groups |= read_groups(argv[2], symbols)
    if sample_dates == ["all"]:
        sample_dates = dates
    rows = [dates.index(d) for d in sample_dates]
    check = Check(40 if exists.size > 1000 else None) if checking else None  # small panels: all cells
    ev = Evaluator(dialect, exists.shape, fields, groups, lets, check, exists)
    roots = {name: ev.add(e) for name, e in factors.items() if not only or re.fullmatch(only, name)}
    out, bare, summary = {}, int((~exists[rows]).sum()), []
    print(f"{dialect.name}: {len(dates)} rows, {len(symbols)} lanes, {len(roots)} factors, {len(ev.nodes)} distinct"
          " expressions")
    print("factor    seconds  non-null  infinite (whole panel)   null, infinite (sample)")
    for name, root in roots.items():
        t0 = time.time()
        x = np.where(exists, ev.factor(root), np.nan)
        s = x[rows]
        null = int((~np.isfinite(s)).sum())
        print(f"{name}  {time.time() - t0:7.2f}  {int((~np.isnan(x)).sum()):8d}  {int(np.isinf(x).sum()):8d}"
              f"                 {null:5d}  {int(np.isinf(s).sum()):5d}", flush=True)
        summary.append((null, int(np.isinf(x).sum()), name))
        out[name] = [[v + 0.0 if math.isfinite(v) else None for v in row] for row in s.tolist()]
    golden = {"dates": sample_dates, "symbols": symbols, "note": note(argv[0], argv[1], dialect), "factors": out}
    data = json.dumps(golden, separators=(",", ":"), allow_nan=False).encode()
    packed = gzip.compress(data, 9, mtime=0)
    with open(argv[3], "wb") as f:
        f.write(packed)
    print("statistics (calls, cells with a value):", ev.calls)
    if check:
        print("self-check on the bars passed, cells:", sum(check.done.values()), check.done)
    cells = len(rows) * len(symbols)
    print(f"sample: {cells} cells a factor, {bare} of them without a row in the bars; null in all:"
          f" {sum(n for n, _, _ in summary)} of {cells * len(summary)}; factors with infinite cells:"
          f" {[name for _, k, name in summary if k]}; factors without any value:"
          f" {[name for n, _, name in summary if n == cells]}; most null: {sorted(summary, reverse=True)[:8]}")
    for kind in ("log", "pow", "sma", "sumac", "self"):
        print(f"{kind}:", *[name for name, root in roots.items() if kind in ev.inexact(root)])
    print(f"{argv[3]}: {len(data)} bytes, {len(packed)} packed; {time.time() - started:.1f} s")


if __name__ == "__main__":
    main(sys.argv[1:])

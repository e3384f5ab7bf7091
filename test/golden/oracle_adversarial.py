#!/usr/bin/python3
"""Writes the panel of adversarial.json.gz (see oracle.py): columns date, symbol, x, y, g made to break floating-point
shortcuts. Fixed seed, only integer draws of `random`: the same bytes on every machine.

    /usr/bin/python3 test/golden/oracle_adversarial.py test/golden/adversarial.csv
"""

import csv
import datetime
import math
import random
import sys

ROWS = 60
ULP = 2.0 ** -52
TINY = 5e-324  # the least subnormal
LEAST = 2.2250738585072014e-308  # the least normal
MOST = sys.float_info.max
INF = math.inf


def spikes(r):
    """Prices with 1e15 that enters and leaves windows."""
    x = [r.randrange(9500, 10500) / 100 for _ in range(ROWS)]
    y = [r.randrange(9500, 10500) / 100 for _ in range(ROWS)]
    for t in (7, 30, 31, 50):
        x[t] = 1e15
    y[12] = y[31] = 1e15
    return x, y


def opposite_spikes(r):
    """+1e15 and -1e15 in one window; y the same spikes on other prices, so that correlations round to 1."""
    x = [r.randrange(9500, 10500) / 100 for _ in range(ROWS)]
    y = [r.randrange(100, 200) / 10 for _ in range(ROWS)]
    for t, v in ((10, 1e15), (12, -1e15), (38, 1e15), (39, -1e15)):
        x[t], y[t] = v, v
    return x, y


def offset(r):
    """1e9 + small integers; y the same with fractions down to the last bit, 2**-23."""
    return ([1e9 + r.randrange(0, 8) for _ in range(ROWS)],
            [1e9 + r.randrange(0, 8) + r.randrange(0, 4) * 2.0 ** -23 for _ in range(ROWS)])


def scales(r):
    """x: 1e-300 and 1e300 side by side. y: near the greatest double, sums overflow where means do not; both signs."""
    x = [r.randrange(-999, 1000) / 100 * (1e300 if (t // 4) % 2 else 1e-300) for t in range(ROWS)]
    y = [r.randrange(900, 1797) * 1e305 * (-1 if r.randrange(3) == 0 else 1) for _ in range(ROWS)]
    y[20] = y[21] = y[22] = MOST
    y[23] = -MOST
    y[24:30] = [1e-300 * r.randrange(1, 9) for _ in range(6)]
    return x, y


def constants(r):
    """x: 0.1 throughout but for a few last bits. y: stretches of constants that no binary fraction hits."""
    x = [0.1] * ROWS
    x[25] = math.nextafter(0.1, 1)
    x[44] = math.nextafter(0.1, 0)
    return x, [[0.3, 1e-7, 1.1, 123456.789, 0.0][t // 12] for t in range(ROWS)]


def ties(r):
    """Few values, both zeros among those of y."""
    return ([r.choice([0.1, 0.2, 0.3]) for _ in range(ROWS)],
            [r.choice([0.0, -0.0, 1.0, -1.0]) for _ in range(ROWS)])


def subnormals(r):
    """x: a few times the least subnormal. y: around the least normal double, of both signs."""
    return ([r.randrange(-3, 4) * TINY for _ in range(ROWS)],
            [(LEAST + r.randrange(-8, 9) * TINY) * r.choice([1, 1, -1, 0.5]) for _ in range(ROWS)])


def cancelling(r):
    """Alternating signs: the large parts of neighbours cancel and leave last bits. y: sums are exactly 0 at times."""
    x = [(-1) ** t * (1e16 + 2 * r.randrange(0, 3)) if t % 5 else r.randrange(1, 10) / 10 for t in range(ROWS)]
    return x, [(-1) ** t * (0.1 + 0.2 * (t // 2 % 3)) for t in range(ROWS)]


def rounding_ties(r):
    """x: 1 + k ulps, so that means of two lie half-way between doubles. y: 1, halves of its ulp and a little more."""
    y = [[1.0, 2.0 ** -53, 3 * 2.0 ** -54, 2.0 ** -53 + 2.0 ** -105, 2.0 ** -54, -(2.0 ** -54), 2.0 ** 53, 1 + ULP,
          -(2.0 ** -106)][r.randrange(9)] for _ in range(ROWS)]
    return [1 + r.randrange(0, 6) * ULP for _ in range(ROWS)], y


def infinities(r):
    """Both signs, alone and together in windows; y has its own."""
    x = [r.randrange(-50, 50) / 7 for _ in range(ROWS)]
    y = [r.randrange(-50, 50) / 7 for _ in range(ROWS)]
    for t, v in ((9, INF), (20, -INF), (22, INF), (23, INF), (41, -INF), (42, -INF)):
        x[t] = v
    y[9], y[15], y[33] = -INF, INF, -INF
    return x, y


def holes(r):
    """Nulls alone, in runs and at the ends, of x and y apart and together; every second value a spike at one place."""
    x = [r.randrange(1, 400) / 3 for _ in range(ROWS)]
    y = [x[t] * 2 + r.randrange(-5, 6) for t in range(ROWS)]
    x[25], x[27] = 1e15, -1e15
    for t in [0, 5, 6, 7, 17, 26, 28, 34, 36, 38, 40, 59] + list(range(46, 54)):
        x[t] = None
    for t in [1, 5, 18, 26, 35, 36, 37, 38, 47, 58]:
        y[t] = None
    x[44], y[18] = INF, None  # y is there beside an infinite x ...
    y[34] = INF  # ... and an infinite y beside a null x
    return x, y


def late(r):
    """First row 23. x is a line; y depends on it exactly until row 45, then but for one last bit."""
    x = [0.25 * t - 3 for t in range(ROWS)]
    y = [3 * v + 1 for v in x]
    for t in range(45, ROWS, 4):
        y[t] = math.nextafter(y[t], INF)
    return x, y


LANES = [  # symbol, group, values
    ("CANC", "a", cancelling), ("CONS", "b", constants), ("HOLE", "", holes), ("INFS", "c", infinities),
    ("LATE", "b", late), ("OFFS", "a", offset), ("OPPO", "a", opposite_spikes), ("SCAL", "c", scales),
    ("SPIK", "a", spikes), ("SUBN", "c", subnormals), ("TIES", "b", ties), ("ULPS", "b", rounding_ties),
]


def group(symbol, usual, t):
    if symbol == "TIES" and 20 <= t < 23 or symbol == "SPIK" and t == 30:
        return ""
    if symbol == "LATE" and t >= 40:
        return "a"
    if symbol == "HOLE" and t >= 50:
        return "d"  # alone in its group
    return usual


def missing(symbol, t):
    """(date, symbol) pairs without a row."""
    return symbol == "LATE" and t < 23 or symbol == "HOLE" and t in (13, 14) or symbol == "OFFS" and t == 55


def main(path):
    made = {symbol: values(random.Random(f"adversarial {symbol}")) for symbol, _, values in LANES}
    text = lambda v: "" if v is None else repr(float(v))
    with open(path, "w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["date", "symbol", "x", "y", "g"])
        for t in range(ROWS):
            date = datetime.date(2024, 1, 1) + datetime.timedelta(days=t)
            for symbol, usual, _ in LANES:
                if not missing(symbol, t):
                    x, y = (side[t] for side in made[symbol])
                    out.writerow([date.isoformat(), symbol, text(x), text(y), group(symbol, usual, t)])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])

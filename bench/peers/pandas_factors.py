"""The factors of bench/peers/factors.ts in pandas: every field is a frame of rows x lanes.

Aligned with the engine: windows need all their rows (the default of rolling(d)), ddof 1 (the default), ties share their
average rank (the default). `where` takes its second branch where the condition is unknown, so such cells are masked.
decay_linear is a sum of shifts, which is many times as fast as rolling(d).apply.
"""

import numpy as np


def rank(x):
    return x.rank(axis=1, pct=True)


def corr(x, y, d):
    return x.rolling(d).corr(y)


def scale(x):
    return x.div(x.abs().sum(axis=1), axis=0)


def decay_linear(x, d):
    return sum((d - age) * x.shift(age) for age in range(d)) / (d * (d + 1) / 2)


def alpha009(b):
    change = b.close.diff(1)
    low, high = change.rolling(5).min(), change.rolling(5).max()
    return change.where((low > 0) | (high < 0), -change).where(low.notna())


def alpha020(b):
    parts = [rank(b.open - x.shift(1)) for x in (b.high, b.close, b.low)]
    return -parts[0] * parts[1] * parts[2]


def alpha023(b):
    mean = b.high.rolling(20).mean()
    return (-b.high.diff(2)).where(mean < b.high, 0).where(mean.notna())


def alpha028(b):
    adv20 = (b.close * b.volume).rolling(20).mean()
    return scale(corr(adv20, b.low, 5) + (b.high + b.low) / 2 - b.close)


def rsv20(b):
    low = b.low.rolling(20).min()
    return (b.close - low) / (b.high.rolling(20).max() - low + 1e-12)


FACTORS = {
    "alpha004": lambda b: -rank(b.low).rolling(9).rank(pct=True),
    "alpha006": lambda b: -corr(b.open, b.volume, 10),
    "alpha009": alpha009,
    "alpha012": lambda b: np.sign(b.volume.diff(1)) * -b.close.diff(1),
    "alpha020": alpha020,
    "alpha023": alpha023,
    "alpha028": alpha028,
    "alpha033": lambda b: rank(-(1 - b.open / b.close)),
    "alpha040": lambda b: -rank(b.high.rolling(10).std()) * corr(b.high, b.volume, 10),
    "alpha041": lambda b: (b.high * b.low) ** 0.5 - b.vwap,
    "alpha042": lambda b: rank(b.vwap - b.close) / rank(b.vwap + b.close),
    "alpha044": lambda b: -corr(b.high, rank(b.volume), 5),
    "alpha054": lambda b: -((b.low - b.close) * b.open**5) / ((b.low - b.high) * b.close**5),
    "alpha101": lambda b: (b.close - b.open) / (b.high - b.low + 0.001),
    "decay10": lambda b: decay_linear(b.close, 10),
    "ma20": lambda b: b.close.rolling(20).mean() / b.close,
    "roc60": lambda b: b.close.shift(60) / b.close,
    "rsv20": rsv20,
    "std20": lambda b: b.close.rolling(20).std() / b.close,
    "vma60": lambda b: b.volume.rolling(60).mean() / (b.volume + 1e-12),
}

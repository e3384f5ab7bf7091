"""Computes factors with pandas: JSON on stdin says what, JSON on stdout how long it took.

Fields and results are files FOLDER/NAME.f64 of doubles, rows x lanes; NaN is null.
"""

import json
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd

from pandas_factors import FACTORS

request = json.load(sys.stdin)
folder = Path(request["folder"])


def read(field):
    values = np.fromfile(folder / f"{field}.f64").reshape(request["rows"], request["lanes"])
    return pd.DataFrame(values)


bars = SimpleNamespace(**{field: read(field) for field in request["fields"]})


def compute():
    return {name: FACTORS[name](bars) for name in request["factors"]}


for name, values in compute().items():
    values.to_numpy(dtype=float).tofile(folder / f"{name}.f64")
del values

wall_ms = []
for _ in range(request["runs"]):
    started = time.perf_counter()
    compute()
    wall_ms.append((time.perf_counter() - started) * 1000)
json.dump({"version": pd.__version__, "wallMs": wall_ms}, sys.stdout)

import type { Arithmetic } from "../../../src/elementary/arithmetic.ts";
import { log1p } from "../../../src/elementary/log1p.ts";
import { scalarArithmetic } from "../../../src/elementary/scalar.ts";
import { defineOperator } from "../../../src/operator/definition.ts";

/** `sign(x) * ln(1 + abs(x))`. */
export function signedLog1p<V, M>(on: Arithmetic<V, M>, x: V): V {
  return on.orBits(log1p(on, on.abs(x)), on.andBits(x, on.number(-0)));
}

export const operator = defineOperator({
  name: "s_log_1p",
  axis: "elementwise",
  parameters: [{ name: "x", kind: "series" }],
  result: "series",
  unit: "none",
  summary: "Sign of x times the logarithm of 1 + abs(x): compresses large values and keeps order and sign.",
  nulls: "Null if the value is null.",
  source: "s_log_1p(x) of the WorldQuant BRAIN operators: sign(x) * log(1 + abs(x))",
  costNs: () => 20,
  nullWhere: {},
  reference: (x) => signedLog1p(scalarArithmetic, x),
  lower: (on, x) => on.outline("s_log_1p", signedLog1p, x),
  examples: [
    {
      formula: "s_log_1p(x)",
      inputs: { x: [3, -3, 0, null, -Infinity] },
      output: [1.3862943611198906, -1.3862943611198906, 0, null, -Infinity],
    },
    { formula: "s_log_1p(x)", inputs: { x: [1e-20, -1e-20] }, output: [1e-20, -1e-20] },
  ],
});

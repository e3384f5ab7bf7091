import { defineOperator } from "../../../src/operator/definition.ts";

/** Names, in the environment of executors, a file with the milliseconds that a row takes. */
export const PATIENCE_VARIABLE = "FACTORLOOM_TEST_PATIENCE";

/** `patient(x)` gives `x`. Executors take their time over each row, without work: tasks last as long on any machine. */
export const patient = defineOperator({
  name: "patient",
  axis: "cross_section",
  parameters: [{ name: "x", kind: "series" }],
  result: "series",
  unit: "other",
  summary: "Gives x after a while.",
  nulls: "Null where x is null.",
  source: "This test.",
  costNs: () => 100,
  examples: [{ formula: "patient(x)", inputs: { x: [1, null] }, output: [1, null] }],
  nullWhere: {},
  reference: ([values], _settings, target) => {
    target.set(values!);
    const file = process.env["FACTORLOOM_TEST_PATIENCE"];
    if (file === undefined) return;
    const ms = Number(process.getBuiltinModule("node:fs").readFileSync(file, "utf8"));
    if (ms > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  },
});

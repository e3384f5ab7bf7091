import { defineOperator } from "../../../src/operator/definition.ts";

/**
 * `stuck(x)` gives `x`. In executors it does not return while the folder of the gate has a file `stuck-always`; the first one
 * that finds `stuck-once` removes it and never returns.
 */
export const stuck = defineOperator({
  name: "stuck",
  axis: "cross_section",
  parameters: [{ name: "x", kind: "series" }],
  result: "series",
  unit: "other",
  summary: "Gives x unless it does not return.",
  nulls: "Null where x is null.",
  source: "This test.",
  costNs: () => 100,
  examples: [{ formula: "stuck(x)", inputs: { x: [1, null] }, output: [1, null] }],
  nullWhere: {},
  reference: ([values], _settings, target) => {
    target.set(values!);
    const folder = process.env["FACTORLOOM_TEST_GATE"];
    if (folder === undefined) return;
    const fs = process.getBuiltinModule("node:fs");
    const wasOnce = () => {
      try {
        fs.renameSync(`${folder}/stuck-once`, `${folder}/stuck`);
        return true;
      } catch {
        return false;
      }
    };
    const isForEver = wasOnce();
    const clock = new Int32Array(new SharedArrayBuffer(4));
    while (isForEver || fs.existsSync(`${folder}/stuck-always`)) Atomics.wait(clock, 0, 0, 20);
  },
});

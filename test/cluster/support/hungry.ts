import { defineOperator } from "../../../src/operator/definition.ts";

/**
 * `hungry(x)` gives `x`. In executors it allocates without end while the folder of the gate has a file `hungry-always`;
 * the first one that finds `hungry-once` removes it and does the same, with a number in it up to that many MiB.
 */
export const hungry = defineOperator({
  name: "hungry",
  axis: "cross_section",
  parameters: [{ name: "x", kind: "series" }],
  result: "series",
  unit: "other",
  summary: "Gives x unless it takes all memory.",
  nulls: "Null where x is null.",
  source: "This test.",
  costNs: () => 100,
  examples: [{ formula: "hungry(x)", inputs: { x: [1, null] }, output: [1, null] }],
  nullWhere: {},
  reference: ([values], _settings, target) => {
    target.set(values!);
    const folder = process.env["FACTORLOOM_TEST_GATE"];
    if (folder === undefined) return;
    const fs = process.getBuiltinModule("node:fs");
    const enough = () => {
      if (fs.existsSync(`${folder}/hungry-always`)) return Number.POSITIVE_INFINITY;
      try {
        fs.renameSync(`${folder}/hungry-once`, `${folder}/eaten`);
        return Number(fs.readFileSync(`${folder}/eaten`, "utf8")) || Number.POSITIVE_INFINITY;
      } catch {
        return 0;
      }
    };
    const mebibytes = enough();
    const clock = new Int32Array(new SharedArrayBuffer(4));
    const held: Uint8Array[] = [];
    while (32 * held.length < mebibytes) {
      held.push(new Uint8Array(32 * 2 ** 20).fill(1));
      Atomics.wait(clock, 0, 0, 100);
      // The test is to fail, not the machine.
      if (held.length === 100) throw new Error("nothing stopped it at 3 GiB");
    }
  },
});

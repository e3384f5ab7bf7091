import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { syntheticPanel } from "../../../src/bench/synthetic_panel.ts";
import { panelSource } from "../../../src/data/panel/panel_source.ts";
import { compile, defineOperator, Engine, type EvaluateOptions } from "../../../src/index.ts";
import { MANAGED_ONLY } from "../../support/managed_only.ts";
import { Seeded } from "../../support/seeded.ts";
import { trials } from "../../support/trials.ts";

/** Whoever hears that a call has ended finds its memory given back: the next call fits. */

const panel = syntheticPanel({ lanes: 200, rows: 400, nullShare: 0.01 });
const fields = [...panel.fields.keys()];
const program = compile(
  `a = ts_rank(correlation(rank(close), rank(volume), 9), 12) + ts_std(close, 17)
   b = ema(rank(ts_mean(volume, 21)), 5)
   c = ts_rank(correlation(rank(open), rank(low), 9), 12) + ts_std(high, 17)`,
  { fields },
);
const options: EvaluateOptions = { blockRows: 16 };
const random = new Seeded();

/** Bytes that an engine manages while it evaluates. */
async function bytesOfOne(): Promise<number> {
  await using engine = await Engine.start({ threads: 2, memoryLimit: "2GiB", costs: "default" });
  let bytes = 0;
  const onProgress = () => {
    bytes = engine.memory.managedBytes;
  };
  await engine.evaluate(program, panel, { ...options, onProgress });
  return bytes;
}

let engine: Engine;
let bytes: number;
beforeAll(async () => {
  bytes = await bytesOfOne();
  // Too little for two, and for a block of another size no call asks.
  engine = await Engine.start({
    threads: 2,
    memoryLimit: 1.2 * bytes,
    memoryThresholds: MANAGED_ONLY,
    costs: "default",
  });
});
afterAll(() => engine.close());

describe("under a limit that holds one evaluation", () => {
  test(`after each of ${trials(20, 300)} aborts the next evaluation succeeds at once`, async () => {
    let aborts = 0;
    for (let time = 0; time < trials(20, 300); time++) {
      const controller = new AbortController();
      const after = random.below(24);
      let blocks = 0;
      const onProgress = () => {
        if (blocks++ === after) controller.abort(new Error("enough"));
      };
      const call = engine.evaluate(program, panel, { ...options, signal: controller.signal, onProgress });
      if (time % 3 === 0) setImmediate(() => controller.abort(new Error("enough")));
      const error = await call.then(
        () => null,
        (reason: Error) => reason,
      );
      expect(engine.memory.managedBytes, `time ${time}, seed ${random.seed}`).toBe(0);
      if (error) {
        expect(error.message).toBe("enough");
        aborts++;
      }
      const { table: next } = await engine.evaluate(program, panel, options);
      expect(next.numRows).toBeGreaterThan(0);
    }
    expect(aborts).toBeGreaterThan(trials(20, 300) / 2);
  });

  test(`${trials(12, 60)} streams that are left early hold nothing`, async () => {
    for (let time = 0; time < trials(12, 60); time++) {
      const controller = new AbortController();
      const { signal } = controller;
      let batches = 0;
      const leaving = async () => {
        const stream = await engine.openStream(program, panelSource(panel), { ...options, signal });
        for await (const _ of stream.blocks()) {
          if (batches++ < time % 5) continue;
          if (time % 3 === 0) return;
          if (time % 3 === 1) throw new Error("enough");
          controller.abort(new Error("enough"));
        }
      };
      const left = leaving();
      if (time % 3 === 0) await left;
      else if (time % 3 === 1) await expect(left).rejects.toThrow("enough");
      // What is given last may be there already.
      else await left.catch((error: Error) => expect(error.message).toBe("enough"));
      expect(engine.memory.managedBytes, `time ${time}`).toBe(0);
    }
    expect((await engine.evaluate(program, panel, options)).table.numRows).toBeGreaterThan(0);
  });

  test("many calls that are left early hold nothing", async () => {
    const scaled = compile("param k = 1\na = k * ts_std(close, 17)", { fields });
    const calls = [1, 2, 3].map((k) => ({ params: { k } }));
    for (let time = 0; time < 9; time++) {
      const controller = new AbortController();
      const { signal } = controller;
      const leaving = async () => {
        let tables = 0;
        for await (const _ of engine.evaluateMany(scaled, panel, calls, { ...options, signal })) {
          if (tables++ < (time / 3) % 2) continue;
          if (time % 3 === 0) return;
          if (time % 3 === 1) throw new Error("enough");
          controller.abort(new Error("enough"));
        }
      };
      const left = leaving();
      if (time % 3 === 0) await left;
      else if (time % 3 === 1) await expect(left).rejects.toThrow("enough");
      // What is given last may be there already.
      else await left.catch((error: Error) => expect(error.message).toBe("enough"));
      const { managedBytes, keptBytes, spilledBytes } = engine.memory;
      expect({ managedBytes, keptBytes, spilledBytes }).toEqual({
        managedBytes: 0,
        keptBytes: 0,
        spilledBytes: 0,
      });
    }
  });

  test("a call that comes with an aborted signal begins nothing", async () => {
    const signal = AbortSignal.abort();
    await expect(engine.evaluate(program, panel, { signal })).rejects.toMatchObject({ name: "AbortError" });
    expect(engine.memory.managedBytes).toBe(0);
  });

  test("an aborted call whose operator does not return ends with its thread, and others go on", async () => {
    const operator = defineOperator({
      name: "for_ever",
      axis: "elementwise",
      parameters: [{ name: "x", kind: "series" }],
      result: "series",
      unit: "other",
      nulls: "Null where x is null.",
      source: "made for a test",
      summary: "Does not return for values of a panel.",
      costNs: () => 1,
      examples: [{ formula: "x", inputs: { x: [1] }, output: [1] }],
      nullWhere: {},
      reference: (x) => {
        while (x !== 1);
        return x;
      },
    });
    const stuck = compile("y = for_ever(close)", { fields, operators: [operator] });
    await expect(
      engine.evaluate(stuck, panel, { ...options, signal: AbortSignal.timeout(100) }),
    ).rejects.toMatchObject({ name: "TimeoutError" });
    expect(engine.memory.managedBytes).toBe(0);
    expect((await engine.evaluate(program, panel, options)).table.numRows).toBeGreaterThan(0);
  });
});

import { expect, test } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import { calibrate } from "../../src/bench/calibrate.ts";
import { machineName } from "../../src/evaluation/stored_costs.ts";
import { kernelOperators } from "../../src/operator/definition.ts";
import { checkCostModel } from "../../src/plan/cost_model.ts";

test("a calibration gives every operator with code of its own a cost, rolling ones for several windows", async () => {
  const progress: number[] = [];
  const onProgress = (done: number, total: number) => progress.push(done / total);
  const calibration = await calibrate({ lanes: 11, blockRows: 16, onProgress });
  const { machine, node, lanes, measuredAt, operators } = checkCostModel(calibration) as typeof calibration;
  expect({ machine, node, lanes }).toEqual({ machine: machineName(), node: process.version, lanes: 11 });
  expect(new Date(measuredAt).toISOString()).toBe(measuredAt);
  const lowered = kernelOperators(builtInRegistry.operators).filter(({ lower }) => lower);
  expect(Object.keys(operators).sort()).toEqual(lowered.map(({ name }) => name).sort());
  for (const { name, axis } of lowered) {
    const rows = operators[name]!.map(({ windowRows }) => windowRows);
    expect(rows.length, name).toBe(axis === "rolling" ? 4 : 1);
  }
  expect(operators["ts_rank"]!.map(({ windowRows }) => windowRows)).toEqual([5, 20, 60, 240]);
  expect(operators["delay"]!.map(({ windowRows }) => windowRows)).toEqual([6, 21, 61, 241]);
  expect(progress).toEqual([...progress].sort((a, b) => a - b));
  expect(progress.at(-1)).toBe(1);
});

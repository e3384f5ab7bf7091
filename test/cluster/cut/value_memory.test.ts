import { expect, test } from "vitest";
import { choosePartition } from "../../../src/cluster/cut/partition.ts";
import { valueBytes } from "../../../src/cluster/cut/value_memory.ts";

const GIGABYTE = 1e9;
const spec = {
  laneCount: 5000,
  rowCount: 100_000,
  threadCount: 4,
  stages: [
    { kind: "lanes", nsPerCell: 20, exportCount: 3, importCount: 8 },
    { kind: "rows", nsPerCell: 10, exportCount: 3, importCount: 3 },
  ],
  windowRows: 30,
  panelSeries: 8,
  factorCount: 3,
} as const;

test("tiles of a slab take a quarter of the workers' memory, a task a part of its thread's", () => {
  const workers = Array.from({ length: 2 }, () => ({ threads: 2, memoryLimitBytes: 4 * GIGABYTE }));
  const { slabBytesMax, taskBytesMax } = valueBytes(workers);
  expect(slabBytesMax).toBe(2 * GIGABYTE);
  expect(taskBytesMax).toBe(GIGABYTE / 16);
  const { slabRows, shardLanes, blockRows } = choosePartition({ ...spec, slabBytesMax, taskBytesMax });
  const rows = slabRows[1]!;
  expect(rows * spec.laneCount * (8 + 3 + 3) * 8).toBeLessThanOrEqual(1.01 * slabBytesMax);
  expect(rows).toBeGreaterThan(30 * 8);
  expect(rows * shardLanes * (3 + 8) * 8).toBeLessThanOrEqual(1.1 * taskBytesMax);
  expect(blockRows * spec.laneCount * 8 * 8).toBeLessThanOrEqual(1.01 * taskBytesMax);
});

test("the worker with the least memory for a thread counts; one without a limit, and none, count as 4 GiB", () => {
  const small = { threads: 4, memoryLimitBytes: GIGABYTE };
  const large = { threads: 1, memoryLimitBytes: GIGABYTE };
  expect(valueBytes([small, large]).taskBytesMax).toBe(GIGABYTE / 128);
  const unlimited = { slabBytesMax: 2 ** 30, taskBytesMax: 2 ** 27 };
  expect(valueBytes([{ threads: 1, memoryLimitBytes: 0 }])).toEqual(unlimited);
  expect(valueBytes([])).toEqual(unlimited);
});

import { readdirSync, readFileSync } from "node:fs";
import { totalmem } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { allocateBlocks } from "../../src/data/panel/block_cells.ts";
import { defaultMemoryLimit } from "../../src/evaluation/start_host.ts";
import { Engine } from "../../src/index.ts";
import { machineMemoryBytes } from "../../src/limits.ts";

/** A container has less memory than the machine that it runs on. */

afterEach(() => vi.restoreAllMocks());

const GIB = 2 ** 30;
const containerOf = (bytes: number | undefined) =>
  vi.spyOn(process, "constrainedMemory").mockReturnValue(bytes as number);

test.each([
  ["a container", GIB, GIB],
  ["no limit, as cgroups say it", 2 ** 64, totalmem()],
  ["a limit above the machine's memory", 2 * totalmem(), totalmem()],
  ["a system that does not say", 0, totalmem()],
  ["a system without such limits", undefined, totalmem()],
])("the memory of %s", (_, constrained, bytes) => {
  containerOf(constrained);
  expect(machineMemoryBytes()).toBe(bytes);
  expect(defaultMemoryLimit()).toBe(0.6 * bytes);
});

test("in a container an engine takes its share of the container's memory", async () => {
  containerOf(GIB);
  await using engine = await Engine.start({ threads: 1, costs: "default" });
  expect(engine.memory.limitBytes).toBe(0.6 * GIB);
});

test("in a container a panel must fit into the container", () => {
  containerOf(2 ** 20);
  const shape = { laneCount: 1000, fieldCount: 1, groupCount: 0 };
  expect(() => allocateBlocks("bars.csv", 1, 1000, shape)).toThrow(/^E441 /);
  allocateBlocks("bars.csv", 1, 100, shape);
});

test("no other file asks for the memory of the machine alone", () => {
  const root = join(import.meta.dirname, "../../src");
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((file) => /\.ts$/.test(file));
  const asking = files.filter((file) => readFileSync(join(root, file), "utf8").includes("totalmem"));
  expect(asking).toEqual(["limits.ts"]);
});

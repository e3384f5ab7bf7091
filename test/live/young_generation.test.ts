import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

const MODULE = new URL("../../src/live/young_generation.ts", import.meta.url).href;

/**
 * Prints the resident bytes of the young generation before it is touched, after that, and after 96 MB of garbage. V8 makes
 * it large because of the objects that stay, as a program that is compiled leaves many.
 */
const PROGRAM = `
  import { getHeapSpaceStatistics } from "node:v8";
  import { touchYoungGeneration } from ${JSON.stringify(MODULE)};
  const resident = () => getHeapSpaceStatistics().find((space) => space.space_name === "new_space").physical_space_size;
  const kept = [];
  for (let i = 0; i < 2_000; i++) kept.push(Array.from({ length: 1_000 }, () => ({ i })));
  const sizes = [resident()];
  touchYoungGeneration();
  sizes.push(resident());
  for (let i = 0; i < 1500; i++) globalThis.last = new Array(8_000).fill(i);
  sizes.push(resident());
  console.log(JSON.stringify(sizes));
`;

function sizesWith(...flags: readonly string[]): [number, number, number] {
  const args = [...flags, "--input-type=module", "-e", PROGRAM];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" }));
}

test("what is made afterwards takes no memory that was not in use", () => {
  const [before, after, later] = sizesWith();
  expect(after - before).toBeGreaterThan(8 * 2 ** 20);
  expect(later - after).toBeLessThan(2 ** 20);
});

test("a young generation that was made small stays small", () => {
  const [, after, later] = sizesWith("--max-semi-space-size=4");
  expect(after).toBeLessThan(16 * 2 ** 20);
  expect(later - after).toBeLessThan(2 ** 20);
});

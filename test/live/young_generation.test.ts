import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

const MODULE = new URL("../../src/live/young_generation.ts", import.meta.url).href;

/** Prints the resident bytes of the young generation before the touch, after it, and after 96 MB of garbage. */
const PROGRAM = `
  import { getHeapSpaceStatistics } from "node:v8";
  import { preTouchYoungGeneration } from ${JSON.stringify(MODULE)};
  const resident = () => getHeapSpaceStatistics().find((space) => space.space_name === "new_space").physical_space_size;
  const sizes = [resident()];
  preTouchYoungGeneration();
  sizes.push(resident());
  for (let i = 0; i < 1500; i++) globalThis.last = new Array(8_000).fill(i);
  sizes.push(resident());
  console.log(JSON.stringify(sizes));
`;

const MEBI = 2 ** 20;

/** The young generation is two spaces. Their size is set here; by itself V8 makes them as large as it needs. */
test.each([4, 16, 32])("of two spaces of %i MiB all is in use afterwards, and no more", (spaceMiB) => {
  const flags = [`--min-semi-space-size=${spaceMiB}`, `--max-semi-space-size=${spaceMiB}`];
  const args = [...flags, "--input-type=module", "-e", PROGRAM];
  const sizes: number[] = JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" }));
  const [before, after, later] = sizes.map((bytes) => bytes / MEBI) as [number, number, number];
  expect(before).toBeLessThan(spaceMiB);
  expect(after).toBeGreaterThan(1.9 * spaceMiB);
  expect(later).toBeLessThan(after + 1);
});

import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { parseByteSize } from "../../../src/text/byte_size.ts";
import { fileFolder } from "../../support/file_folder.ts";

/** What the process takes under a memory limit, on several workloads, each in a process of its own. */

const OWN = 300 * 2 ** 20;
const script = join(import.meta.dirname, "../fixtures/memory_workloads.ts");
const folder = fileFolder();

interface Outcome {
  readonly steps: number;
  readonly refusal: string | null;
  readonly peakBytes: number;
}

async function run(name: string, limit: string, variables: NodeJS.ProcessEnv = {}): Promise<Outcome> {
  const env = { ...process.env, TMPDIR: folder, ...variables };
  const { stdout } = await promisify(execFile)(process.execPath, [script, name, limit, folder], { env });
  return JSON.parse(stdout.trimEnd().split("\n").at(-1)!) as Outcome;
}

describe("a process stays within its memory limit and 300 MiB", () => {
  test.each([
    // Four tables of 385 MiB, one after the other, each let go: 962 MiB are managed at a time.
    ["table", "1200MiB", 4],
    // A file of bars to a file of factors.
    ["eval", "512MiB", 1],
    // 60 tables of 23 MiB that are computed together: 240 MiB may wait in memory.
    ["many", "400MiB", 60],
    ["nulls", "512MiB", 1],
  ])("%s with %s", async (name, limit, steps) => {
    const outcome = await run(name, limit);
    expect(outcome).toMatchObject({ refusal: null, steps });
    expect(outcome.peakBytes).toBeLessThanOrEqual(parseByteSize(limit) + OWN);
  });
});

test.each([
  0,
  100 * 2 ** 20,
])("of 50 small calls under 64 MiB none is refused beside %i bytes of another allocation", async (otherBytes) => {
  const outcome = await run("small", "64MiB", { OTHER_BYTES: String(otherBytes) });
  expect(outcome).toMatchObject({ refusal: null, steps: 50 });
  // Below 64 MiB of what calls have left no garbage is collected at once.
  expect(outcome.peakBytes).toBeLessThanOrEqual(2 * parseByteSize("64MiB") + OWN + otherBytes);
});

describe("a limit that is too small is refused with need and limit", () => {
  test.each([
    ["table", "800MiB"],
    ["many", "80MiB"],
    ["nulls", "100MiB"],
    ["session", "100MiB"],
  ])("%s with %s", async (name, limit) => {
    const { steps, refusal } = await run(name, limit);
    expect(steps).toBe(0);
    expect(refusal).toMatch(/^E401 the evaluation needs [\d.]+ MiB \(.+\), the limit is [\d.]+ MiB\n/);
  });
});

import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const script = join(import.meta.dirname, "fixtures/unclosed.ts");

/** A process that does not end by itself is killed, which rejects. */
const LIMIT_MS = 50_000;

test.each([
  "nothing",
  "evaluate",
  "stream",
  "many",
  "session",
  "aborted",
])("a process that closes no engine ends by itself, when all is done: %s", async (doing) => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [script, doing], {
    timeout: LIMIT_MS,
  });
  expect(stderr).toBe("");
  expect(stdout).toBe("done, 1073741824 bytes\n");
});

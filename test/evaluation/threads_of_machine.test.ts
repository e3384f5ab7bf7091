import { expect, test } from "vitest";
import { startHost } from "../../src/evaluation/start_host.ts";
import { threadsOfMachine, threadsStarted } from "../../src/evaluation/threads_of_machine.ts";

test("executors take a core each, and leave one where there are more than three", () => {
  expect([1, 2, 3, 4, 16, 257, 500].map(threadsOfMachine)).toEqual([1, 2, 3, 3, 15, 256, 256]);
});

test("no more executors start than there are cores", async () => {
  expect([1, 2, 3, 64].map((asked) => threadsStarted(asked, 2))).toEqual([1, 2, 2, 2]);
  const { pool, threads } = await startHost({ threads: 64, cores: 2 });
  expect(threads).toBe(2);
  await pool.close();
});

import { expect, test } from "vitest";
import { threadsOfMachine } from "../../src/evaluation/threads_of_machine.ts";

test("executors take a core each, and leave one where there are more than three", () => {
  expect([1, 2, 3, 4, 16, 257, 500].map(threadsOfMachine)).toEqual([1, 2, 3, 3, 15, 256, 256]);
});

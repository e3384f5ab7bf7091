import { cpus, hostname } from "node:os";
import { expect, test } from "vitest";
import { machineName } from "../../src/evaluation/stored_costs.ts";

test("a machine is its host and its first processor", () => {
  expect(machineName()).toBe(`${hostname()}, ${cpus()[0]!.model.trim()}`);
});

import { expect, test, vi } from "vitest";
import { machineName } from "../../src/evaluation/stored_costs.ts";

vi.mock("node:os", async (original) => ({
  ...(await original<typeof import("node:os")>()),
  hostname: () => "host",
  cpus: () => [{ model: " a processor " }, { model: "another one" }],
}));

test("a machine is its host and its first processor", () => {
  expect(machineName()).toBe("host, a processor");
});

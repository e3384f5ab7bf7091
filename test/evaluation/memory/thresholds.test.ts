import { expect, test } from "vitest";
import { type MemoryThresholds, memoryShares } from "../../../src/evaluation/memory/thresholds.ts";

test("shares are what is given, else what the environment says, else the defaults", () => {
  expect(memoryShares({}, {})).toEqual({ target: 0.6, spill: 0.7, pause: 0.8, refuse: 0.95 });
  const environment = {
    FACTORLOOM_MEMORY_SPILL: " 0.5 ",
    FACTORLOOM_MEMORY_PAUSE: "0",
    FACTORLOOM_MEMORY_TARGET: "",
  };
  expect(memoryShares({ spill: 0.4, refuse: 1.5 }, environment)).toEqual({
    target: 0.6,
    spill: 0.4,
    pause: 0,
    refuse: 1.5,
  });
});

test.each([
  [{ pause: -0.1 }, {}, "E573 memoryThresholds.pause is -0.1\n"],
  [{ spill: Number.NaN }, {}, "E573 memoryThresholds.spill is NaN\n"],
  [{ refuse: "0.9" as never }, {}, "E573 memoryThresholds.refuse is 0.9\n"],
  [{}, { FACTORLOOM_MEMORY_TARGET: "60%" }, "E573 FACTORLOOM_MEMORY_TARGET is 60%\n"],
  [{ terminate: 1 } as MemoryThresholds, {}, "E527 unknown option terminate of memoryThresholds"],
])("%j and %j are refused", (given, environment, message) => {
  expect(() => memoryShares(given, environment)).toThrow(message);
});

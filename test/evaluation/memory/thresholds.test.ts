import { expect, test } from "vitest";
import { memoryShares } from "../../../src/evaluation/memory/thresholds.ts";

test("shares are what is given, else what the environment says, else the defaults", () => {
  expect(memoryShares({}, {})).toEqual({ target: 0.6, spill: 0.7, pause: 0.8, refuse: 0 });
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

test("a text is no share", () => {
  expect(() => memoryShares({}, { FACTORLOOM_MEMORY_TARGET: "60%" })).toThrow(
    "E528 FACTORLOOM_MEMORY_TARGET is 60%\n",
  );
  expect(() => memoryShares({ refuse: "0.9" as never }, {})).toThrow(
    'E528 memoryThresholds.refuse is "0.9"\n',
  );
});

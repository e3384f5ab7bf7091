import { expect, test } from "vitest";
import { secondsText } from "./seconds.ts";

test("the seconds of a run are shown by folder and by file, the slowest first", () => {
  const files = [
    { file: "dag/print.test.ts", seconds: 0.25 },
    { file: "live/session/why.test.ts", seconds: 10.04 },
    { file: "dag/laws.test.ts", seconds: 3 },
  ];
  expect(secondsText(files)).toBe(`\
seconds by folder (files)
    10.0  live (1)
     3.3  dag (2)
seconds of the slowest 3 files
    10.0  live/session/why.test.ts
     3.0  dag/laws.test.ts
     0.3  dag/print.test.ts`);
});

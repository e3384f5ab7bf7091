import { expect, test } from "vitest";
import { NEEDS } from "../needs.ts";
import { leftOutText } from "./left_out.ts";

test("tests that are left out are named by their files, with the way to have them run", () => {
  expect(leftOutText(new Map(), NEEDS)).toBeNull();
  expect(leftOutText(new Map([["test/a.test.ts", 1]]), [])).toBe("left out: 1 test\n  test/a.test.ts (1)");
  const counts = new Map([
    ["test/a.test.ts", 1],
    ["test/b.test.ts", 29],
  ]);
  expect(leftOutText(counts, NEEDS.slice(0, 2))).toBe(
    "left out: 30 tests, for this machine lacks Dask, pandas\n  test/a.test.ts (1)\n  test/b.test.ts (29)\n" +
      "`npm test -- --install` brings what is missing, on Debian and Ubuntu",
  );
});

import { expect, test } from "vitest";
import { leftOutText } from "./left_out.ts";
import { NEEDS } from "./needs.ts";

test("tests that are left out are counted, with the way to have them run", () => {
  expect(leftOutText(0, NEEDS)).toBeNull();
  expect(leftOutText(1, [])).toBe("1 test was left out");
  expect(leftOutText(30, NEEDS.slice(0, 1))).toBe(
    "30 tests were left out, for this machine lacks Dask (install it: .ci/install_dask)",
  );
});

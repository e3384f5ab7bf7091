import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Seeded } from "../support/seeded.ts";
import { triesAll } from "../support/trials.ts";
import { dataOf, smallPlan, waves } from "./small_plan.ts";
import { withPool } from "./test_pool.ts";

/** Changes of shared words while a thread runs its parts of the plan below. */
const CHANGES = 90;

test("a thread may be lost before any change of the words that it shares: no part is left out, and none counts twice", async () => {
  const { below } = new Seeded();
  const all = Array.from({ length: CHANGES }, (_, change) => change);
  const drawn = triesAll ? all : Array.from({ length: 12 }, () => below(CHANGES));
  const plan = smallPlan(
    {
      a: { operator: "lose_at_change", reads: ["x"], partCount: 2 },
      b: { operator: "cum_sum", reads: ["a"], partCount: 2 },
      c: { operator: "add_one", reads: ["b"] },
      d: { operator: "add", reads: ["c", "a"], partCount: 3 },
      e: { operator: "add_one", reads: ["d"], isOutput: true },
    },
    2,
    3,
  );
  const expected = new Float64Array(6);
  waves(6, 1).forEach((value, cell) => {
    const before = cell < 3 ? 0 : expected[cell - 3]! - (waves(6, 1)[cell - 3]! + 1) - 2;
    expected[cell] = before + (value + 1) + 2 + (value + 1);
  });
  for (const change of drawn)
    await withPool({ threads: 1 + (change % 2) }, async ({ runOnce, folder }) => {
      writeFileSync(join(folder, "change"), `${change}`);
      const [e] = await runOnce(dataOf(plan));
      expect([...e!], `lost before change ${change}`).toEqual([...expected].map((x) => expect.closeTo(x, 9)));
    });
});

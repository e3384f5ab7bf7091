import type { Reporter, TestModule } from "vitest/node";
import { NEEDS, type Need } from "./needs.ts";

/** What to say of tests that were left out; null where there are none. */
export function leftOutText(count: number, missing: readonly Need[]): string | null {
  if (count === 0) return null;
  const tests = count === 1 ? "1 test was" : `${count} tests were`;
  const how = missing.map(({ name, install }) => `${name} (install it: ${install})`).join(" and ");
  return how === "" ? `${tests} left out` : `${tests} left out, for this machine lacks ${how}`;
}

/** Says at the end how many tests were left out, and what this machine lacks for them. */
class LeftOut implements Reporter {
  async onTestRunEnd(modules: readonly TestModule[]): Promise<void> {
    const count = modules.reduce((sum, { children }) => sum + [...children.allTests("skipped")].length, 0);
    const isMissing = await Promise.all(NEEDS.map(async ({ isThere }) => !(await isThere())));
    const text = leftOutText(
      count,
      NEEDS.filter((_, index) => isMissing[index]),
    );
    if (text !== null) console.log(`\n${text}\n`);
  }
}

// Vitest takes a reporter by the default export of its module.
// biome-ignore lint/style/noDefaultExport: see above
export default LeftOut;

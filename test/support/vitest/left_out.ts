import { relative } from "node:path";
import type { Reporter, TestModule } from "vitest/node";
import { missingNeeds, type Need } from "../needs.ts";

const root = `${import.meta.dirname}/../../..`;

/** What to say of tests that were left out, by the count of each file; null where there are none. */
export function leftOutText(counts: ReadonlyMap<string, number>, missing: readonly Need[]): string | null {
  if (counts.size === 0) return null;
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const lacking = missing.map(({ name }) => name).join(", ");
  return [
    `left out: ${total} ${total === 1 ? "test" : "tests"}${lacking && `, for this machine lacks ${lacking}`}`,
    ...[...counts].map(([file, count]) => `  ${file} (${count})`),
    ...(lacking ? ["`npm test -- --install` brings what is missing, on Debian and Ubuntu"] : []),
  ].join("\n");
}

/** Says at the end which tests were left out, and what this machine lacks for them. */
class LeftOut implements Reporter {
  async onTestRunEnd(modules: readonly TestModule[]): Promise<void> {
    const counts = new Map<string, number>();
    for (const { moduleId, children } of modules) {
      const count = [...children.allTests("skipped")].length;
      if (count > 0) counts.set(relative(root, moduleId), count);
    }
    if (counts.size > 0) console.log(`\n${leftOutText(counts, await missingNeeds())}\n`);
  }
}

// Vitest takes a reporter by the default export of its module.
// biome-ignore lint/style/noDefaultExport: see above
export default LeftOut;

import type { Command } from "commander";
import type { FigureComparison } from "../../bench/budget/compare.ts";
import { EXIT_CODES } from "../../errors.ts";
import { numberWhere } from "../terminal/option_values.ts";
import { print, printNote } from "../terminal/terminal.ts";
import { tableOf } from "../terminal/text_table.ts";

interface CompareFlags {
  readonly threshold: number;
  readonly json?: true;
}

export function addCompare(bench: Command): void {
  bench
    .command("compare")
    .description("tell whether B is slower than A: exit code 1 if it is, by more than the threshold")
    .argument(
      "<a>",
      "results: a file of `bench budget`, or what `bench NAME --json` printed, once or several times",
    )
    .argument("<b>", "results of the same workloads")
    .option("--threshold <ratio>", "smaller differences do not matter", parseThreshold, 1.05)
    .option("--json", "print as JSON")
    .action(runCompare);
}

async function runCompare(a: string, b: string, { threshold, json }: CompareFlags): Promise<void> {
  const { compareResults } = await import("../../bench/budget/compare.ts");
  const { readResultFile } = await import("../../bench/budget/result_file.ts");
  const comparison = compareResults(await readResultFile(a), await readResultFile(b), threshold);
  for (const warning of comparison.warnings) printNote(`warning: ${warning}`);
  print(json ? JSON.stringify(comparison) : comparisonText(comparison.figures));
  if (comparison.figures.some(({ verdict }) => verdict === "slower")) process.exitCode = EXIT_CODES.input;
}

function comparisonText(figures: readonly FigureComparison[]): string {
  const table = tableOf(figures, {
    workload: ({ workload }) => workload,
    figure: ({ figure }) => figure,
    "B by A": ({ ratio }) => ratio.toFixed(3),
    "99 % interval": ({ interval }) =>
      interval?.map((end) => end.toFixed(3)).join(" .. ") ?? "give 3 runs or more",
    "": ({ verdict }) => verdict,
  });
  const counts = Map.groupBy(figures, ({ verdict }) => verdict);
  const summary = [...counts].map(([verdict, all]) => `${all.length} ${verdict}`).join(", ");
  return `${table}\n\n${summary}`;
}

const parseThreshold = numberWhere(
  /^\d{1,6}(\.\d+)?$/,
  (ratio) => ratio >= 1,
  "A ratio of 1 or more, such as 1.05.",
);

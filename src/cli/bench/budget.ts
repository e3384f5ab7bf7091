import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import type { BudgetResult } from "../../bench/budget/budget.ts";
import { threadsOfMachine, threadsStarted } from "../../evaluation/threads_of_machine.ts";
import { writing } from "../../files/writing.ts";
import { THREADS_MAX } from "../../limits.ts";
import { countTo, someNames } from "../terminal/option_values.ts";
import { withProgress } from "../terminal/progress.ts";
import { print } from "../terminal/terminal.ts";
import { tableOf } from "../terminal/text_table.ts";

const LANES_DEFAULT = [512, 1024, 2048, 4096, 5000];
const LANES_MAX = 100_000;

interface BudgetFlags {
  readonly lanes: readonly number[];
  readonly formulas?: readonly string[];
  readonly threads?: readonly number[];
  readonly calls: number;
  readonly out: string;
  readonly name?: string;
  readonly json?: true;
}

export function addBudget(bench: Command): void {
  bench
    .command("budget")
    .description("one-row calls over a grid of lanes, formula sets and threads: what fits into 100 ms")
    .option("--lanes <counts>", "instruments", parseCountsTo(LANES_MAX), LANES_DEFAULT)
    .option(
      "--formulas <sets>",
      "e.g. alpha101,all:200,all (default: three sets, all and parts of all)",
      someNames("formula set"),
    )
    .option(
      "--threads <counts>",
      "executor threads (default: one, and as many as eval takes)",
      parseCountsTo(THREADS_MAX),
    )
    .option("--calls <count>", "calls that are measured in each cell", countTo(), 300)
    .option("--out <folder>", "write NAME.json and NAME.html there", "results")
    .option("--name <name>", "of the files (default: budget and the time)", parseFileName)
    .option("--json", "print as JSON, with the time of every call")
    .action((flags: BudgetFlags) => runBudget(flags, bench.parent?.version() ?? ""));
}

async function runBudget(
  { lanes, calls, out, name, json, ...flags }: BudgetFlags,
  version: string,
): Promise<void> {
  const { measureBudget } = await import("../../bench/budget/budget.ts");
  const { FORMULA_SETS_DEFAULT } = await import("../../bench/budget/formula_sets.ts");
  const { budgetPage, FIGURES } = await import("../../pages/budget/budget_page.ts");
  const { formulas = FORMULA_SETS_DEFAULT } = flags;
  const asked = flags.threads ?? [1, threadsOfMachine()];
  const threads = [...new Set(asked.map((count) => threadsStarted(count)))];
  const path = join(out, name ?? `budget-${new Date().toISOString().slice(0, 19).replace(/[-:]/g, "")}`);
  // What takes minutes should not fail at its end.
  await writing(out, () => mkdir(out, { recursive: true }));
  const write = async (result: BudgetResult) => {
    const page = budgetPage(result);
    await writing(path, async () => {
      await writeFile(`${path}.json`, `${JSON.stringify(result)}\n`);
      await writeFile(`${path}.html`, page);
    });
  };
  const result = await withProgress("budget", (onProgress) =>
    measureBudget({ lanes, formulas, threads, calls }, { version, onProgress, onResult: write }),
  );
  if (json) {
    print(JSON.stringify(result));
    return;
  }
  print(`${tableOf(result.cells, FIGURES)}\n\n${path}.json, ${path}.html`);
}

function parseCountsTo(countMax: number): (text: string) => number[] {
  return (text) => {
    const counts = text.split(",").map((one) => (/^\d{1,6}$/.test(one) ? Number(one) : 0));
    if (counts.some((count) => count < 1 || count > countMax))
      throw new InvalidArgumentError(`Whole numbers from 1 to ${countMax}, with commas between them.`);
    return [...new Set(counts)].sort((a, b) => a - b);
  };
}

function parseFileName(text: string): string {
  // A point at the beginning would hide the files, and `..` leave the folder.
  if (!/^[\w-][\w.-]{0,99}$/.test(text)) throw new InvalidArgumentError("Letters, digits, points, hyphens.");
  return text;
}

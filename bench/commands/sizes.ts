import type { Command } from "commander";
import { withProgress } from "../../src/cli/terminal/progress.ts";
import { print } from "../../src/cli/terminal/terminal.ts";
import { formatTable } from "../../src/cli/terminal/text_table.ts";
import { formatBytes } from "../../src/evaluation/memory/memory_need.ts";

const SETS = ["alpha101", "alpha158", "gtja191", "all:100", "all:200", "all:400", "all"];

const PUSHED_FORMULAS = [250, 500, 1000, 2000, 4000];

interface SizesFlags {
  readonly lanes: number;
  readonly threads: number;
  readonly json?: true;
}

export function addSizes(bench: Command, parseCount: (text: string) => number): void {
  bench
    .command("sizes")
    .description("what a session of each published set takes, by the measured costs of operators")
    .option("--lanes <count>", "instruments", parseCount, 5000)
    .option("--threads <count>", "executor threads", parseCount, 16)
    .option("--json", "print as JSON")
    .action(runSizes);
  bench
    .command("pushes")
    .description("what a push costs the main thread, by the number of formulas")
    .option("--lanes <count>", "instruments", parseCount, 5000)
    .option("--json", "print as JSON")
    .action(runPushes);
}

async function runPushes({ json, lanes }: Omit<SizesFlags, "threads">): Promise<void> {
  const { measurePushes } = await import("../schedule/push_cost.ts");
  const costs = await withProgress("pushes", (onProgress) =>
    measurePushes(PUSHED_FORMULAS, lanes, onProgress),
  );
  if (json) {
    print(JSON.stringify({ lanes, costs }));
    return;
  }
  const rows = costs.map(({ formulas, mainMs, pushMs }) => [
    formulas,
    `${mainMs.toFixed(2)} ms`,
    `${((1000 * mainMs) / formulas).toFixed(1)} us`,
    `${pushMs.toFixed(2)} ms`,
  ]);
  print(formatTable(["formulas", "main thread", "a formula", "push"], rows));
}

async function runSizes({ json, ...options }: SizesFlags): Promise<void> {
  const { sessionSize } = await import("../simulation/sizes.ts");
  const sizes = await Promise.all(SETS.map((set) => sessionSize(set, options)));
  if (json) {
    print(JSON.stringify({ ...options, sizes }));
    return;
  }
  const header = [
    "set",
    "formulas",
    "nodes",
    "parts",
    "work",
    "a formula",
    "path",
    "arena",
    "a formula",
    "state",
  ];
  const rows = sizes.map(({ set, formulas, nodes, parts, workNs, pathNs, arenaBytes, stateBytes }) => [
    set,
    formulas,
    nodes,
    parts,
    `${(workNs / 1e6).toFixed(2)} ms`,
    `${(workNs / formulas / 1e3).toFixed(1)} us`,
    `${(pathNs / 1e6).toFixed(2)} ms`,
    formatBytes(arenaBytes),
    formatBytes(arenaBytes / formulas),
    formatBytes(stateBytes),
  ]);
  const { lanes, threads } = options;
  print(
    `one row of a session, ${lanes.toLocaleString("en")} instruments, ${threads} threads\n\n${formatTable(header, rows)}`,
  );
}

import { spawnSync } from "node:child_process";
import { availableParallelism, cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { threadCounts } from "../src/bench/scaling/thread_counts.ts";
import { formatTable } from "../src/cli/terminal/text_table.ts";

/**
 * Measures a machine of many cores with two checkouts in turns, so that both meet the same load: rows of a session and
 * history by the number of threads; then, with the second one, where time is lost and what handing out costs. 15 minutes on
 * 16 cores:
 *
 * ```
 * node bench/many_cores.ts BEFORE AFTER [--rounds 2]
 * ```
 */
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: "string", default: "2" } },
});
const [before, after] = positionals;
const rounds = Number(values.rounds);
if (before === undefined || after === undefined || positionals.length > 2 || !(rounds >= 1))
  throw new Error(
    "node bench/many_cores.ts BEFORE AFTER [--rounds COUNT]: two checkouts with their modules installed",
  );

const cores = availableParallelism();
const threads = [...new Set([...threadCounts(cores), Math.round((3 * cores) / 4), cores - 1])]
  .filter((count) => count >= 1)
  .sort((a, b) => a - b);
const WORKLOADS = [
  { name: "live-alpha101", arguments: ["--calls", "600"], msOf: (result: Result) => result.msPerRow.p50 },
  { name: "history-alpha101", arguments: ["--rows", "512"], msOf: (result: Result) => result.msPerRow.mean },
] as const;

interface Result {
  readonly msPerRow: Readonly<Record<"mean" | "p50" | "p99" | "p999", number>>;
}

console.log(
  `${cpus()[0]?.model}, ${cores} cores, load ${loadavg()[0]?.toFixed(1)}, ${new Date().toISOString()}`,
);
for (const { name, arguments: own, msOf } of WORKLOADS) {
  const rows = threads.map((count) => {
    const results = { before: [] as Result[], after: [] as Result[] };
    for (let round = 0; round < rounds; round++)
      for (const which of round % 2 === 0 ? (["before", "after"] as const) : (["after", "before"] as const)) {
        const root = which === "before" ? before : after;
        results[which].push(
          JSON.parse(run(root, ["bench", name, "--threads", `${count}`, ...own, "--json"])),
        );
      }
    const least = (list: readonly Result[]) => Math.min(...list.map(msOf));
    const tail = (list: readonly Result[]) => Math.min(...list.map(({ msPerRow }) => msPerRow.p99));
    return {
      count,
      before: least(results.before),
      after: least(results.after),
      p99: [tail(results.before), tail(results.after)],
    };
  });
  const table = rows.map((row) => [
    row.count,
    ...[row.before, row.after, row.before / row.after].map(figure),
    ...[rows[0]!.before / row.before, rows[0]!.after / row.after].map(figure),
    ...row.p99.map(figure),
  ]);
  const header = ["threads", "before ms", "after ms", "gain", "speed-up", "after", "p99 before", "after"];
  console.log(`\n${name}, ms a row, least of ${rounds}\n\n${formatTable(header, table)}`);
}
for (const words of [["scaling"], ["scaling", "--live"]])
  console.log(`\n${words.join(" ")}\n\n${run(after, ["bench", ...words])}`);
console.log(spawnSync(process.execPath, [`${after}/bench/main.ts`, "schedule"], { encoding: "utf8" }).stdout);

function run(root: string, words: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [`${root}/src/cli/main.ts`, ...words], {
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  if (status !== 0) throw new Error(`${root}: ${words.join(" ")}: ${stderr}`);
  return stdout;
}

function figure(value: number): string {
  return value.toPrecision(3);
}

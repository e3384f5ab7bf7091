import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { print } from "../../src/cli/terminal/terminal.ts";

interface OutputFlags {
  readonly before: string;
  readonly lanes: number;
  readonly rows: number;
  readonly runs: number;
  readonly folder: string;
}

/** Least of all runs. */
interface Figures {
  seconds: number;
  cpuSeconds: number;
  /** By calls of the system, files of temporary data included. */
  writtenBytes: number;
  fileBytes: number;
}

/** The `eval` of `npm run demo`, below a checkout. */
const DEMO =
  "examples/alpha101.factors --data examples/data/sp100_daily.csv.gz --groups examples/data/sp100_sectors.csv";

export function addOutput(bench: Command, parseCount: (text: string) => number): void {
  bench
    .command("output")
    .description(
      "`eval` to Parquet beside another checkout that is built: time, bytes written, size of the file",
    )
    .requiredOption("--before <folder>", "the other checkout, e.g. one of `git worktree`")
    .option("--lanes <count>", "instruments", parseCount, 2500)
    .option("--rows <count>", "times of the panel", parseCount, 2000)
    .option("--runs <count>", "runs of each, in turns", parseCount, 5)
    .option("--folder <path>", "for bars and results", tmpdir())
    .action(measureOutput);
}

async function measureOutput({ before, lanes, rows, runs, folder }: OutputFlags): Promise<void> {
  const scratch = mkdtempSync(join(folder, "factorloom-output-"));
  try {
    const bars = join(scratch, "bars.parquet");
    const groups = join(scratch, "groups.csv");
    await writeBars(bars, groups, lanes, rows);
    const large = `examples/alpha101.factors --data ${bars} --groups ${groups} --threads 2`;
    const checkouts = { before: resolve(before), now: resolve(import.meta.dirname, "../..") };
    for (const [name, args] of Object.entries({ "npm run demo": DEMO, [`${rows} x ${lanes}`]: large })) {
      const figures = new Map<string, Figures>();
      for (let run = 0; run < runs; run += 1)
        for (const [checkout, path] of Object.entries(checkouts))
          figures.set(checkout, least(figures.get(checkout), evaluate(path, args, scratch)));
      for (const [checkout, { seconds, cpuSeconds, writtenBytes, fileBytes }] of figures)
        print(
          `${name}, ${checkout}: ${seconds.toFixed(2)} s, ${cpuSeconds.toFixed(2)} s of processors, ${writtenBytes} bytes written, ${fileBytes} of the file`,
        );
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Bars without gaps, and groups of some sizes. */
async function writeBars(bars: string, groups: string, lanes: number, rows: number): Promise<void> {
  const { syntheticPanel } = await import("../../src/bench/synthetic_panel.ts");
  const { openFactorWriter } = await import("../../src/data/write/factor_writer.ts");
  const { time, symbols, present, fields } = syntheticPanel({ lanes, rows, nullShare: 0 });
  const writer = await openFactorWriter(bars, { time, symbols, factors: [...fields.keys()] });
  await writer.append({ rowCount: rows, times: time.values, present, columns: fields });
  await writer.commit();
  const lines = symbols.map((symbol, lane) => `${symbol},s${lane % 11},i${lane % 67},u${lane % 150}`);
  writeFileSync(groups, `symbol,sector,industry,subindustry\n${lines.join("\n")}\n`);
}

/** Runs `eval` as a process. The shell counts what its children wrote, on Linux. */
function evaluate(checkout: string, args: string, scratch: string): Figures {
  const [out, io] = [join(scratch, "out.parquet"), join(scratch, "io.txt")];
  const command = `"${process.execPath}" dist/src/cli/main.js eval ${args} --out ${out} > /dev/null && cat /proc/$$/io > ${io}; times`;
  const start = performance.now();
  const { status, stdout, stderr } = spawnSync("bash", ["-c", command], { cwd: checkout, encoding: "utf8" });
  const seconds = (performance.now() - start) / 1000;
  if (status !== 0) throw new Error(stderr);
  // The second line has the children's times: 0m1.234s 0m0.100s.
  const cpu = [
    ...stdout
      .trim()
      .split("\n")
      .at(-1)!
      .matchAll(/(\d+)m([\d.]+)s/g),
  ];
  const result = {
    seconds,
    cpuSeconds: cpu.reduce((sum, [, minutes, rest]) => sum + 60 * Number(minutes) + Number(rest), 0),
    writtenBytes: Number(/^wchar: (\d+)/m.exec(readFileSync(io, "utf8"))?.[1]),
    fileBytes: statSync(out).size,
  };
  rmSync(out);
  return result;
}

function least(first: Figures | undefined, second: Figures): Figures {
  if (first === undefined) return second;
  return {
    seconds: Math.min(first.seconds, second.seconds),
    cpuSeconds: Math.min(first.cpuSeconds, second.cpuSeconds),
    writtenBytes: Math.min(first.writtenBytes, second.writtenBytes),
    fileBytes: second.fileBytes,
  };
}

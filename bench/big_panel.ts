import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { openDatabase } from "../src/data/duckdb/database.ts";
import { formatBytes } from "../src/evaluation/memory/memory_need.ts";

/**
 * A Parquet panel larger than memory through `eval --out`: minute bars of 5,000 symbols, eight columns of doubles,
 * sorted by time, and three factors over them, by a process of its own under a memory limit. Prints the rows a second
 * of each tenth of the way, which should not fall, and the peak resident size of that process, which should not grow
 * with the panel. Memory and progress are read from /proc, so it runs on Linux only.
 *
 * Usage: npm run bench:big-panel -- [GB] [--memory-limit 1GiB] [--symbols 5000] [--folder /tmp] [--json]
 *
 * Default size: the largest power of two in GB that fits into half of the free disk, at most 16.
 */
const GIGABYTE = 1e9;
const GIGABYTES_MAX = 20;

/** Of the Parquet file, measured: eight doubles of random bits hardly get smaller, times and symbols nearly vanish. */
const BYTES_PER_ROW = 63;

/** What DuckDB may hold while it writes the panel. */
const WRITER_MEMORY_BYTES = 512 * 2 ** 20;

const SAMPLE_MS = 100;
const SLICES = 10;

const FACTORS = `momentum = rank(close / delay(close, 30) - 1)
reversal = -rank(ts_mean(close, 60) / vwap) * ts_std(returns, 60)
pressure = correlation(close, volume, 60)
`;

/** What the child had done and held at a time. */
interface Sample {
  readonly ms: number;
  readonly writtenBytes: number;
  readonly peakRssBytes: number;
}

function gigabytesDefault(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  const gigabytesFree = (bavail * bsize) / GIGABYTE;
  return 2 ** Math.floor(Math.log2(Math.min(GIGABYTES_MAX, gigabytesFree / 2)));
}

/** Writes the panel; each number follows from its minute and symbol alone, so that it needs no memory. */
async function writePanel(path: string, rowCount: number, symbols: number): Promise<void> {
  using database = await openDatabase({ memoryBytes: WRITER_MEMORY_BYTES });
  const uniform = (column: number) => `(hash(i * 8 + ${column}) / 18446744073709551616.0)`;
  await database.connection.run(`
    COPY (
      SELECT time, symbol, open, greatest(open, close) * (1 + 0.002 * u3) AS high,
             least(open, close) * (1 - 0.002 * u4) AS low, close, volume,
             (open + close) / 2 * (1 + 0.0001 * u5) AS vwap, volume * close AS amount, close * (1e6 + lane) AS cap
      FROM (
        SELECT TIMESTAMP '2020-01-01' + to_minutes(i // ${symbols}) AS time,
               'S' || lpad((i % ${symbols})::VARCHAR, 6, '0') AS symbol, i % ${symbols} AS lane,
               level * (1 + 0.01 * ${uniform(1)}) AS open, level * (1 + 0.01 * ${uniform(2)}) AS close,
               ${uniform(3)} AS u3, ${uniform(4)} AS u4, ${uniform(5)} AS u5,
               exp(8 + 3 * ${uniform(6)}) AS volume
        FROM (
          SELECT i, (20 + i % ${symbols} / 50) * exp(0.2 * sin(i // ${symbols} / 97 + i % ${symbols})) AS level
          FROM range(${rowCount}) AS rows(i)
        )
      )
    ) TO '${path.replaceAll("'", "''")}' (FORMAT parquet)`);
}

/** Watches a process until it ends. */
async function watch(child: ChildProcess): Promise<Sample[]> {
  const samples: Sample[] = [];
  const started = performance.now();
  const timer = setInterval(() => {
    try {
      const io = readFileSync(`/proc/${child.pid}/io`, "utf8");
      const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
      samples.push({
        ms: performance.now() - started,
        writtenBytes: Number(/^wchar: (\d+)/m.exec(io)?.[1] ?? 0),
        peakRssBytes: 1024 * Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0),
      });
    } catch {
      // It has ended.
    }
  }, SAMPLE_MS);
  const { promise, resolve, reject } = Promise.withResolvers<number | null>();
  child.on("error", reject);
  child.on("exit", resolve);
  const exitCode = await promise.finally(() => clearInterval(timer));
  if (exitCode !== 0) throw new Error(`factorloom eval ended with exit code ${exitCode}`);
  return samples.filter(({ peakRssBytes }) => peakRssBytes > 0);
}

/**
 * Rows a second of each tenth of what was written: the output's bytes stand for its rows. Output comes in pieces, so
 * times between two pieces are interpolated; the first tenth holds the start of the process.
 */
function rowsPerSecond(samples: readonly Sample[], rowCount: number): number[] {
  const total = samples.at(-1)?.writtenBytes ?? 0;
  const pieces = samples.filter((sample, i) => sample.writtenBytes > (samples[i - 1]?.writtenBytes ?? 0));
  const times = Array.from({ length: SLICES + 1 }, (_, slice) => timeAt(pieces, (slice / SLICES) * total));
  return times
    .slice(1)
    .map((ms, slice) => Math.round((1000 * rowCount) / SLICES / (ms - (times[slice] as number))));
}

function timeAt(pieces: readonly Sample[], bytes: number): number {
  const after = pieces.findIndex(({ writtenBytes }) => writtenBytes >= bytes);
  const end = pieces[after];
  const start = pieces[after - 1] ?? { ms: 0, writtenBytes: 0 };
  if (!end || bytes === 0) return 0;
  const share = (bytes - start.writtenBytes) / (end.writtenBytes - start.writtenBytes);
  return start.ms + share * (end.ms - start.ms);
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      "memory-limit": { type: "string", default: "1GiB" },
      symbols: { type: "string", default: "5000" },
      folder: { type: "string", default: tmpdir() },
      json: { type: "boolean", default: false },
    },
  });
  const gigabytes = Number(positionals[0] ?? gigabytesDefault(values.folder));
  const symbols = Number(values.symbols);
  const rowCount = symbols * Math.ceil((gigabytes * GIGABYTE) / BYTES_PER_ROW / symbols);
  const folder = mkdtempSync(join(values.folder, "factorloom-big-"));
  try {
    const [panel, formulas, out] = ["panel.parquet", "three.factors", "out.parquet"].map((name) =>
      join(folder, name),
    ) as [string, string, string];
    writeFileSync(formulas, FACTORS);
    const writing = performance.now();
    await writePanel(panel, rowCount, symbols);
    const started = performance.now();
    const cli = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));
    const limit = values["memory-limit"];
    const args = ["eval", formulas, "--data", panel, "--out", out, "--memory-limit", limit, "--json"];
    const child = spawn(process.execPath, [cli, ...args], { stdio: ["ignore", "ignore", "inherit"] });
    const samples = await watch(child);
    const evalMs = performance.now() - started;
    const result = {
      rows: rowCount,
      symbols,
      panelBytes: statSync(panel).size,
      outputBytes: statSync(out).size,
      writePanelMs: started - writing,
      memoryLimit: limit,
      evalMs,
      rowsPerSecond: Math.round((1000 * rowCount) / evalMs),
      rowsPerSecondOfTenths: rowsPerSecond(samples, rowCount),
      peakRssBytes: Math.max(...samples.map(({ peakRssBytes }) => peakRssBytes)),
    };
    process.stdout.write(`${values.json ? JSON.stringify(result) : textOf(result)}\n`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function textOf(result: Readonly<Record<string, number | string | number[] | null>>): string {
  const lines = Object.entries(result).map(([name, value]) => {
    if (Array.isArray(value)) return [name, value.map((each) => each.toLocaleString("en")).join(" ")];
    if (typeof value !== "number") return [name, String(value)];
    return [name, name.endsWith("Bytes") ? formatBytes(value) : Math.round(value).toLocaleString("en")];
  });
  return lines.map(([name, value]) => `${name?.padEnd(22)} ${value}`).join("\n");
}

await main();

/** Reads a file of jobs and reports every mistake in it at once. */
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { THREADS } from "../../evaluation/options.ts";
import type { HangOptions } from "../../execution/watch/hang_watch.ts";
import { realPath } from "../../files/real_path.ts";
import { parseByteSize } from "../../text/byte_size.ts";
import { noSuchFile } from "../../text/no_such_file.ts";
import { type JobConfig, LOG_LEVELS, type RunConfig, type SinkConfig } from "./config.ts";
import { type ConfigNode, ConfigReport, parseConfig } from "./config_text.ts";
import { readDuration } from "./duration.ts";
import { readsOwnOutput } from "./own_output.ts";
import { readJob } from "./read_job.ts";

const TOP_KEYS = ["jobs", "log", "metrics", "journal", "engine"] as const;

/**
 * Reads the configuration; its paths are relative to its folder.
 *
 * @throws ConfigError E530 with every mistake; UsageError E508 if there is no such file.
 */
export async function readRunConfig(file: string): Promise<RunConfig> {
  const text = await readFile(file, "utf8").catch(({ code }: NodeJS.ErrnoException) => {
    const problem = code === "ENOENT" ? "no such file" : `cannot be read (${code})`;
    throw noSuchFile(`${file}: ${problem}`, "give the path of a YAML file of jobs");
  });
  const report = new ConfigReport(file, text.replace(/^\ufeff/, ""));
  const root = parseConfig(report);
  const config = await readRoot(root, file);
  report.check();
  return config;
}

async function readRoot(root: ConfigNode, file: string): Promise<RunConfig> {
  const folder = dirname(resolve(file));
  const { jobs, log, metrics, journal, engine } = root.fields(TOP_KEYS, ["jobs", "journal"]);
  const journalPath = journal?.text();
  const limits = engine ? readEngine(engine) : {};
  return {
    file,
    jobs: (jobs ? await readJobs(jobs, folder) : []).map((job) => {
      // The engine's limit holds for DuckDB too, as with `eval --memory-limit`.
      const { memoryLimitBytes } = limits;
      return memoryLimitBytes ? { ...job, source: { ...job.source, memoryLimitBytes } } : job;
    }),
    logLevel: log?.fields(["level"]).level?.oneOf(LOG_LEVELS) ?? "info",
    metricsPort: metrics?.fields(["port"], ["port"]).port?.integer(0, 65_535) ?? null,
    journal: resolve(folder, journalPath ?? "."),
    engine: limits,
  };
}

async function readJobs(node: ConfigNode, folder: string): Promise<JobConfig[]> {
  const nodes = node.list();
  if (node.isList && nodes.length === 0) node.wrong("no job in this list", "add - name: ...");
  const jobs: JobConfig[] = [];
  const names = new Set<string>();
  const sinks = new Map<string, string>();
  for (const item of nodes) {
    const job = await readJob(item, folder);
    if (names.has(job.name)) item.wrong(`a second job is called ${job.name}`, "give each job its own name");
    if (job.name !== "") names.add(job.name);
    const sink = identityOf(job.sink);
    const other = sinks.get(sink);
    if (other !== undefined)
      item.wrong(`its sink is that of job ${other}`, "give each job a sink of its own");
    const own = readsOwnOutput(job);
    if (own !== null) item.wrong(own, "give the sink a folder of its own, beside that of the source");
    if (isWhole(job.sink)) sinks.set(sink, job.name || item.path);
    jobs.push(job);
  }
  return jobs;
}

/** Equal for sinks that hold the same files or rows, links resolved. */
function identityOf(sink: SinkConfig): string {
  if (sink.kind !== "duckdb") return realPath(sink.folder);
  return JSON.stringify([realPath(sink.database), sink.table.toLowerCase()]);
}

/** Missing parts have been reported: two jobs that lack them do not share a sink. */
function isWhole(sink: SinkConfig): boolean {
  return Object.values(sink).every((part) => part !== "");
}

function readEngine(node: ConfigNode): RunConfig["engine"] {
  const { threads, memoryLimit, hang } = node.fields(["threads", "memoryLimit", "hang"]);
  return {
    threads: threads?.integer(THREADS.min, THREADS.max),
    memoryLimitBytes: memoryLimit && readSize(memoryLimit),
    hang: hang && readHang(hang),
  };
}

/** `{ limit: 10s, replaces: true }`, or false. */
function readHang(node: ConfigNode): HangOptions | false | undefined {
  if (!node.isMap)
    return node.boolean() ? node.wrong("true says no limit", "write false, or { limit: 10s }") : false;
  const { limit, replaces } = node.fields(["limit", "replaces"]);
  return {
    limitMs: limit && readDuration(limit, "write e.g. 10s or 5m", 1),
    replaces: replaces?.boolean(),
  };
}

function readSize(node: ConfigNode): number | undefined {
  const value = node.scalar();
  if (value === undefined) return undefined;
  try {
    const bytes = parseByteSize(String(value));
    return bytes > 0 ? bytes : node.wrong("a memory limit of 0", "write e.g. 4GiB or 500MB");
  } catch {
    return node.wrong(`${JSON.stringify(value)} is not a size of memory`, "write e.g. 4GiB or 500MB");
  }
}

/** Reads one job of the configuration. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { isTimezone } from "../../data/time/dates.ts";
import type {
  CalendarConfig,
  FileSource,
  JobConfig,
  QuerySource,
  RetryConfig,
  ScheduleConfig,
  Session,
  SinkConfig,
} from "./config.ts";
import type { ConfigNode } from "./config_text.ts";
import { cronMistake } from "./cron.ts";
import { readDuration } from "./duration.ts";
import { keysOf, readSpecs, texts } from "./read_options.ts";

/** Keys of a job beside those of the table of options. */
const JOB_KEYS = [
  "name",
  "formulas",
  "source",
  "sink",
  "schedule",
  "overlap",
  "retries",
  "missed",
  "bad_input",
  "changes",
  "limit",
  "drop",
] as const;
/** Of earlier versions. */
const WINDOWS = "windows";
const REQUIRED = ["name", "formulas", "source", "sink", "schedule"] as const;
const RETRIES_MAX = 100;
/** Values that take about ten seconds. */
const LIMIT_DEFAULT = 10_000_000;
/** Names of jobs are names of folders. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Reads a job. A value that is wrong is reported and replaced by a default. */
export async function readJob(node: ConfigNode, folder: string): Promise<JobConfig> {
  const keys: Partial<Record<string, ConfigNode>> = node.fields(
    [...JOB_KEYS, ...keysOf(""), WINDOWS],
    REQUIRED,
  );
  const formulas = keys["formulas"]?.isMap
    ? keys["formulas"].fields(["files", ...keysOf("formulas")], ["files"])
    : { files: keys["formulas"] };
  const source = keys["source"]?.fields([...SOURCE_KEYS, ...keysOf("source")]) ?? {};
  const specs = readSpecs({ "": keys, formulas, source }, folder);
  const { groups, ...names } = specs.source;
  keys[WINDOWS]?.wrong(
    "windows is no key any more",
    'write restarts: { sessions: [["09:30", "16:00"]], timezone: America/New_York }, or leave it out',
  );
  return {
    name: readName(keys["name"]),
    formulas: { files: formulas.files ? files(formulas.files, folder) : [] },
    program: specs.program,
    source: { ...readSource(keys["source"], source, folder), ...names },
    ...(groups === undefined ? {} : { groups }),
    call: specs.call,
    sink: readSink(keys["sink"], folder),
    schedule: await readSchedule(keys["schedule"], folder),
    overlap: keys["overlap"]?.oneOf(["skip", "queue", "cancel"]) ?? "skip",
    missed: keys["missed"]?.oneOf(["run_once", "skip", "run_all"]) ?? "run_once",
    badInput: keys["bad_input"]?.oneOf(["fail", "skip"]) ?? "fail",
    retries: readRetries(keys["retries"]),
    changes: keys["changes"]?.oneOf(["fail", "rebuild"]) ?? "rebuild",
    limit: keys["limit"]?.integer(0, Number.MAX_SAFE_INTEGER) ?? LIMIT_DEFAULT,
    drop: keys["drop"]?.boolean() ?? false,
  };
}

function readName(node: ConfigNode | undefined): string {
  const name = node?.text();
  if (name !== undefined && !NAME.test(name))
    node?.wrong(`${name} is not a valid name of a job`, "use up to 64 letters, digits, - _ and .");
  return name ?? "";
}

function files(node: ConfigNode, folder: string): string[] {
  return texts(node).map((file) => resolve(folder, file));
}

const SOURCE_KEYS = ["folder", "files", "duckdb"] as const;

function readSource(
  node: ConfigNode | undefined,
  keys: Partial<Record<(typeof SOURCE_KEYS)[number], ConfigNode>>,
  folder: string,
): FileSource | QuerySource {
  const given = SOURCE_KEYS.filter((kind) => keys[kind] !== undefined);
  if (node?.isMap && given.length !== 1)
    node.wrong("a source is one of folder, files, duckdb", "give exactly one of them");
  if (keys.duckdb) {
    const { database, query } = keys.duckdb.fields(["database", "query"], ["database", "query"]);
    return { kind: "duckdb", database: pathOf(database, folder), query: query?.text() ?? "" };
  }
  if (keys.files) return { kind: "files", pattern: pathOf(keys.files, folder) };
  return { kind: "files", folder: pathOf(keys.folder, folder) };
}

function readSink(node: ConfigNode | undefined, folder: string): SinkConfig {
  const keys = node?.fields(["parquet", "arrow", "duckdb"]) ?? {};
  if (node?.isMap && Object.keys(keys).length !== 1)
    node.wrong("a sink is one of parquet, arrow, duckdb", "give exactly one of them");
  if (keys.duckdb) {
    const { database, table } = keys.duckdb.fields(["database", "table"], ["database", "table"]);
    return { kind: "duckdb", database: pathOf(database, folder), table: table?.text() ?? "" };
  }
  if (keys.arrow) return { kind: "arrow", folder: pathOf(keys.arrow, folder) };
  return { kind: "parquet", folder: pathOf(keys.parquet, folder) };
}

/** Resolves a path against the folder; empty if no path is given. */
function pathOf(node: ConfigNode | undefined, folder: string): string {
  const path = node?.text();
  return path === undefined ? "" : resolve(folder, path);
}

async function readSchedule(node: ConfigNode | undefined, folder: string): Promise<ScheduleConfig> {
  const keys = node?.fields(["cron", "timezone", "calendar"], ["cron"]) ?? {};
  const timezone = keys.timezone?.text() ?? "UTC";
  if (!isTimezone(timezone))
    keys.timezone?.wrong(`unknown time zone ${timezone}`, "give an IANA name, e.g. America/New_York");
  const cron = keys.cron?.text() ?? "";
  const mistake = keys.cron && cron !== "" ? cronMistake(cron) : null;
  if (mistake !== null) keys.cron?.wrong(`this is not a cron pattern: ${mistake}`, "e.g. 30 16 * * 1-5");
  const calendar: CalendarConfig = keys.calendar
    ? await readCalendar(keys.calendar, folder)
    : { sessions: [], holidays: new Set() };
  return { cron, timezone, calendar };
}

async function readCalendar(node: ConfigNode, folder: string): Promise<CalendarConfig> {
  const { sessions, holidays } = node.fields(["sessions", "holidays"]);
  const read = sessions?.list().map(readSession) ?? [];
  for (const [index, session] of read.entries()) {
    const before = read[index - 1];
    if (before && session.startMinute <= before.endMinute)
      sessions?.wrong("sessions overlap or are out of order", "write them in the order of the day");
  }
  return { sessions: read, holidays: new Set(holidays && (await readHolidays(holidays, folder))) };
}

function readSession(node: ConfigNode): Session {
  const [start, end, ...others] = node.list();
  const startMinute = start && minuteOf(start);
  const endMinute = end && minuteOf(end);
  if (startMinute === undefined || endMinute === undefined || others.length > 0) {
    if (node.isList && (!start || !end || others.length > 0))
      node.wrong("a session is a start and an end", 'write ["09:30", "16:00"]');
  } else if (endMinute <= startMinute) node.wrong("the session ends before it starts", "write start, end");
  return { startMinute: startMinute ?? 0, endMinute: endMinute ?? 0 };
}

function minuteOf(node: ConfigNode): number | undefined {
  const text = node.text();
  const match = text === undefined ? null : /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text);
  if (match) return Number(match[1]) * 60 + Number(match[2]);
  return text === undefined ? undefined : node.wrong(`${text} is not a time of day`, 'write "09:30"');
}

/** A list of days, or a file with one day per line. */
async function readHolidays(node: ConfigNode, folder: string): Promise<string[]> {
  if (node.isList) return node.list().map((day) => dayOf(day, day.text()));
  const file = node.text();
  if (file === undefined) return [];
  const text = await readFile(resolve(folder, file), "utf8").catch(() => null);
  if (text === null) node.wrong(`${file}: no such file`, "give a file with one day per line");
  return (text ?? "")
    .split(/\r?\n/)
    .map((line) => line.replace(/#.*/, "").trim())
    .filter((line) => line !== "")
    .map((line) => dayOf(node, line));
}

/** `Date.parse` takes the 31st of February for a day of March. */
function isDay(text: string): boolean {
  const ms = DAY.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text);
}

function dayOf(node: ConfigNode, text: string | undefined): string {
  if (text !== undefined && !isDay(text)) node.wrong(`${text} is not a day`, "write 2024-12-25");
  return text ?? "";
}

function readRetries(node: ConfigNode | undefined): RetryConfig {
  const keys = node?.fields(["count", "backoff"]) ?? {};
  const backoffMs = keys.backoff && readDuration(keys.backoff, "write e.g. 500ms, 10s, 5m or 1h");
  return { count: keys.count?.integer(0, RETRIES_MAX) ?? 0, backoffMs: backoffMs ?? 1_000 };
}

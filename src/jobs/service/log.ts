/** The one place that knows the library for logs: lines on stderr. */
import { pino } from "pino";
import { visibleLines } from "../../text/visible.ts";
import type { RunConfig } from "../config/config.ts";

export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** `json` for machines, `text` for eyes. */
export type LogFormat = "json" | "text";

export function openLog(level: RunConfig["logLevel"], format: LogFormat): Log {
  // Synchronous: the last lines before the process ends matter most.
  const destination = pino.destination({ dest: 2, sync: true });
  return pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    // JSON escapes less than terminals obey.
    { write: (line) => destination.write(visibleLines(format === "json" ? line : textLine(line))) },
  );
}

/** `09:30:00 info  evaluated job=daily rows=500`. */
function textLine(line: string): string {
  const { level, time, msg, pid: _, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const texts = Object.entries(fields).map(([name, value]) => `${name}=${fieldText(value)}`);
  return `${[String(time).slice(11, 19), String(level).padEnd(5), msg, ...texts].join(" ")}\n`;
}

function fieldText(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value);
  return /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
}

/** The one place that knows the library for logs: JSON lines on stderr. */
import { pino } from "pino";
import { visibleLines } from "../../text/visible.ts";
import type { RunConfig } from "../config/config.ts";

export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export function openLog(level: RunConfig["logLevel"]): Log {
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
    { write: (line) => destination.write(visibleLines(line)) },
  );
}

/** The one place that knows the cron library. */
import { Cron } from "croner";

/** Why the text is not a cron pattern that fires; null if it is one. */
export function cronMistake(text: string): string | null {
  try {
    const cron = new Cron(text, { paused: true, timezone: "UTC", mode: "5-or-6-parts" });
    return cron.nextRun() === null ? "it never fires" : null;
  } catch (error) {
    return (error as Error).message
      .replace(/^CronPattern: /, "")
      .replace(/^./, (letter) => letter.toLowerCase());
  }
}

/**
 * Finds the next moment after the given one, in ms since 1970; null if no moment follows. A pattern of a fixed time fires
 * once a day also where clocks change: at the hour after a gap, and at the first of two equal times.
 */
export function nextOf(pattern: string, timezone: string): (afterMs: number) => number | null {
  const cron = new Cron(pattern, { paused: true, timezone, mode: "5-or-6-parts" });
  return (afterMs) => cron.nextRun(new Date(afterMs))?.getTime() ?? null;
}

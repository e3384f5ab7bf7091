/** What clocks on the wall of a time zone show. */
export interface WallTime {
  /** `YYYY-MM-DD`. */
  readonly day: string;
  readonly minuteOfDay: number;
}

/** Reads the wall clock of a time zone at a moment in ms since 1970. */
export function wallClock(timezone: string): (ms: number) => WallTime {
  const format = new Intl.DateTimeFormat("en-CA", {
    timeZone: timezone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
  });
  return (ms) => {
    const parts = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, value]));
    return {
      day: `${parts["year"]}-${parts["month"]}-${parts["day"]}`,
      minuteOfDay: Number(parts["hour"]) * 60 + Number(parts["minute"]),
    };
  };
}
